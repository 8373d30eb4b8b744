//! What the mailbox does while a commit is under way: a room that is busy, a credential that goes
//! meanwhile, and callers who come faster than anything becomes durable.

use clankie_actors::domain::admission::room::Answer as Admitted;
use clankie_actors::domain::ask::Resolution;
use clankie_actors::domain::ids::ConversationId;
use clankie_actors::domain::mailbox::{Answerer, MailRefusal};
use clankie_actors::domain::request::Source;
use clankie_actors::domain::result::{Approval, TurnResult};
use clankie_actors::domain::session::{Outcome, Reply};
use clankie_actors::mail::MailReply;

use crate::env::{Env, request};
use crate::mailbox::{aim, ann_asks, asks, choose, decision, only, operator, refusal};
use crate::tap::Tap;

/// Turns that every task that is ready is given: many times what any of them takes to come to where it
/// waits for the storage.
const TURNS: usize = 500;
/// Calls that wait while one commit of their conversation is made.
const LINE: usize = 64;

async fn others_go_on() {
    for _ in 0..TURNS {
        tokio::task::yield_now().await;
    }
}

/// Returns when the mailbox has handled everything that it was told before: it answers in order.
async fn the_mailbox_comes_so_far(env: &Env, owner: &Answerer) {
    let elsewhere = ConversationId::parse(&format!("room-{}", "0".repeat(24))).unwrap();
    let view = only(env);
    let reply = env.clankie.answer(&elsewhere, aim(&view), choose(&view, 0), owner.clone()).await.unwrap();
    assert_eq!(refusal(reply), MailRefusal::UnknownConversation);
}

/// The mailbox has accepted an answer and the room is busy; the credential goes; the room comes to it.
#[tokio::test]
async fn m2_an_answer_of_a_credential_that_goes_before_its_commit_is_not_accepted() {
    let tap = Tap::default();
    let mut env = Env::behind(&tap).await;
    let (owner, other) = (operator(&env, "o").await, operator(&env, "p").await);
    let view = ann_asks(&mut env, decision()).await;
    tap.shut();
    let (clankie, busy) = (env.clankie.clone(), request("r", "m2", "bob", "hold"));
    let busy = tokio::spawn(async move { clankie.submit(busy).await.unwrap() });
    others_go_on().await;

    let (clankie, given, by) = (env.clankie.clone(), (aim(&view), choose(&view, 0)), owner.clone());
    let conversation = view.entry.ask.conversation.clone();
    let answering = tokio::spawn(async move { clankie.answer(&conversation, given.0, given.1, by).await.unwrap() });
    others_go_on().await;
    the_mailbox_comes_so_far(&env, &other).await;
    let (clankie, token) = (env.clankie.clone(), owner.token);
    let revoking = tokio::spawn(async move { clankie.revoke_token(token).await.unwrap() });
    others_go_on().await;
    assert!(![busy.is_finished(), answering.is_finished(), revoking.is_finished()].contains(&true), "all of them wait");
    tap.open();

    assert!(matches!(busy.await.unwrap(), Admitted::Accepted { .. }));
    assert!(revoking.await.unwrap().is_some_and(|token| token.revoked_at.is_some()));
    assert_eq!(refusal(answering.await.unwrap()), MailRefusal::OwnerUnavailable);
    let now = only(&env);
    assert_eq!((now.entry.resolution, now.entry.claim, now.head), (Resolution::Pending, None, view.head.clone()));
    assert!(env.clankie.answers_shown(&view.entry.ask.conversation, 0, 10).unwrap().is_empty());
    assert!(env.states().iter().all(|(delivery, _)| !delivery.starts_with("clankie:")), "{:?}", env.states());
    assert_eq!(env.ready().await.spec.source, Source::Text);
    // Whoever still may answers the same ask as it was read.
    let reply = env.clankie.answer(&view.entry.ask.conversation, aim(&view), choose(&view, 1), other).await.unwrap();
    assert!(matches!(reply, MailReply::Resolved(_)), "{reply:?}");
}

/// A run ends with an ask while a commit holds its conversation: the actor of the run is gone long
/// before the ask is filed, and what it said counts all the same.
#[tokio::test]
async fn b39_an_end_with_an_ask_is_not_overtaken_by_the_end_of_its_session() {
    let tap = Tap::default();
    let mut env = Env::behind(&tap).await;
    let owner = operator(&env, "o").await;
    let view = ann_asks(&mut env, decision()).await;
    let id = env.accept("r", "m2", "ann", "deploy").await;
    let session = env.ready().await;
    tap.shut();
    let (clankie, conversation, aimed) = (env.clankie.clone(), view.entry.ask.conversation.clone(), aim(&view));
    let cancelling = tokio::spawn(async move { clankie.cancel_ask(&conversation, aimed, owner).await.unwrap() });
    others_go_on().await;
    let (prompt, approval) = ("May I deploy?".to_owned(), Approval::Required);
    session.settle(Outcome::Completed(Reply::WaitingUser { prompt, approval })).await;
    others_go_on().await;
    assert!(!cancelling.is_finished());
    tap.open();
    assert!(matches!(env.result(id).await, TurnResult::WaitingUser { approval: Approval::Required, .. }));
    assert!(matches!(cancelling.await.unwrap(), MailReply::Resolved(_)));
    assert_eq!(asks(&env).len(), 2);
}

/// One commit holds the conversation; as many calls as there are places wait, and the rest are told so.
#[tokio::test]
async fn m3_a_full_line_says_busy_and_changes_nothing() {
    let tap = Tap::default();
    let mut env = Env::behind(&tap).await;
    let owner = operator(&env, "o").await;
    let view = ann_asks(&mut env, decision()).await;
    tap.shut();
    let (conversation, request) = (view.entry.ask.conversation.clone(), view.entry.ask.request);
    let (clankie, aimed, by) = (env.clankie.clone(), aim(&view), owner.clone());
    let cancelling = tokio::spawn(async move { clankie.cancel_ask(&conversation, aimed, by).await.unwrap() });
    others_go_on().await;
    let beyond = 3;
    let calls: Vec<_> = (0..LINE + beyond)
        .map(|_| {
            let (clankie, by) = (env.clankie.clone(), owner.clone());
            tokio::spawn(async move { clankie.mark_seen(request, by).await.unwrap() })
        })
        .collect();
    others_go_on().await;
    // Another conversation is not held.
    the_mailbox_comes_so_far(&env, &owner).await;
    let (told, wait): (Vec<_>, Vec<_>) = calls.into_iter().partition(|call| call.is_finished());
    assert_eq!((told.len(), wait.len()), (beyond, LINE));
    for call in told {
        assert_eq!(refusal(call.await.unwrap()), MailRefusal::Busy);
    }
    assert!(!cancelling.is_finished());
    tap.open();
    assert!(matches!(cancelling.await.unwrap(), MailReply::Resolved(_)));
    for call in wait {
        assert_eq!(refusal(call.await.unwrap()), MailRefusal::NothingToSee);
    }
    assert_eq!(asks(&env).len(), 1);
}
