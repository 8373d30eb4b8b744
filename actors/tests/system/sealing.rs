//! The keys of secret answers: made for what is taken, and kept no longer than somebody needs the words.

use clankie_actors::domain::ids::IncarnationId;
use clankie_actors::domain::mailbox::{Aim, MailRefusal};
use clankie_actors::mail::MailReply;
use serde_json::json;
use uuid::Uuid;

use crate::env::Env;
use crate::mailbox::{aim, ann_asks, answer, one_at_a_time, operator, refusal, words};

/// What is refused, or was never taken, leaves no key behind with which its words could be read.
#[tokio::test(start_paused = true)]
async fn m7_an_answer_that_is_not_taken_leaves_no_key() {
    let mut env = Env::inline(one_at_a_time()).await;
    let owner = operator(&env, "o").await;
    let draft = json!({"purpose": "owner_action", "prompt": "The key?", "steps": ["Make one"], "waiting_on": "it",
        "kind": "text", "secret": true});
    let view = ann_asks(&mut env, draft).await;
    let (conversation, request) = (view.entry.ask.conversation.clone(), view.entry.ask.request);
    let moved = Aim { revision: aim(&view).revision + 1, ..aim(&view) };
    let reply = env.clankie.answer(&conversation, moved, words("hunter22"), owner.clone()).await.unwrap();
    assert!(matches!(reply, MailReply::RevisionConflict(_)), "{reply:?}");
    let other = Aim { incarnation: IncarnationId(Uuid::nil()), ..aim(&view) };
    let reply = env.clankie.answer(&conversation, other, words("hunter22"), owner.clone()).await.unwrap();
    assert_eq!(refusal(reply), MailRefusal::StaleRequest);
    assert_eq!(refusal(answer(&env, &view, words("pin  "), &owner).await), MailRefusal::InvalidAnswer);
    assert_eq!((env.vault_keys(), env.vault_digests()), (Vec::new(), Vec::new()));
    // As after a commit that failed.
    env.seal(request, "hunter22");
    tokio::time::sleep(std::time::Duration::from_secs(3_700)).await;
    assert_eq!(env.vault_keys(), [request], "it may still be on its way");
    env.clankie.cancel_ask(&conversation, aim(&view), owner.clone()).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_secs(3_700)).await;
    assert_eq!((env.vault_keys(), env.vault_digests()), (Vec::new(), Vec::new()));
}
