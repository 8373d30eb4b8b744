//! Owners hear by direct message that something waits; nobody else does, and nothing said there answers.

use serde_json::{Value, json};

use crate::fake::{Calls, FakeDiscord, Fault, Happening, Posted};
use crate::scene::Scene;
use crate::service::until;

/// What stands in somebody's direct conversation with the bot.
fn heard(fake: &FakeDiscord, who: &str) -> Vec<Posted> {
    fake.replies(fake.direct(fake.people(who)))
}

/// A scene whose owner is `owner`, with this in `[notify]`.
fn scene(notify: &str) -> Scene {
    let scene = Scene::prepare("", "");
    let owner = scene.fake.people("owner");
    scene.configure("", &format!("[grants]\nowners = [\"discord:user:{owner}\"]\n[notify]\n{notify}"));
    let mut scene = scene;
    scene.service.launch();
    scene.connected();
    scene
}

fn pending(scene: &Scene) -> Vec<Value> {
    let all = scene.service.dispatch(json!({"op": "input_list", "status": "pending"}));
    all["questions"].as_array().unwrap().clone()
}

fn decision(prompt: &str) -> Value {
    json!({
        "purpose": "decision", "kind": "choice", "prompt": prompt, "options": [{"label": "yes"}, {"label": "no"}],
        "recommendation": "yes", "waiting_on": "the way",
    })
}

fn told(scene: &Scene, count: usize) -> Vec<Posted> {
    until("the owner to be told", || Some(heard(&scene.fake, "owner")).filter(|posts| posts.len() >= count))
}

/// B68: an ask that is raised in a room is told to the owner alone; the room and whoever asked hear
/// nothing of it but the agent's own reply.
#[test]
fn b68_an_ask_is_told_to_owners_alone_and_mentions_nobody() {
    let scene = scene("");
    let prompt = "Shall I tell @everyone about [this](https://evil.example)?";
    let asked = scene.ask("ann", &format!("hi\n!ask {}", decision(prompt)));
    let replies = scene.replies(asked);
    let id = pending(&scene)[0]["request_id"].as_str().unwrap().to_owned();
    let posts = told(&scene, 1);
    let wanted = format!(
        "**A decision waits for you**\ndecision · asked just now\n\
         > Shall I tell \\@everyone about \\[this\\]\\(https://evil.example\\)?\n`clankie asks show {id}`"
    );
    assert_eq!(posts.iter().map(|post| post.content.as_str()).collect::<Vec<_>>(), [wanted]);
    let pings = &posts[0].pings;
    assert_eq!((pings.everyone, pings.people.len(), pings.roles.len()), (false, 0, 0));
    assert_eq!(heard(&scene.fake, "ann").len(), 0);
    for said in replies {
        assert!(!said.contains(&id) && !said.contains("evil.example"), "{said}");
    }
}

/// B75: the words of a step that needs approval are in no message to anybody.
#[test]
fn b75_a_step_that_needs_approval_is_told_without_its_words() {
    let scene = scene("");
    let draft = json!({"purpose": "approval", "prompt": "git push canary", "gate": "push", "waiting_on": "the push"});
    let asked = scene.ask("ann", &format!("hi\n!ask {draft}"));
    scene.over(asked);
    let posts = told(&scene, 1);
    assert!(posts[0].content.starts_with("**An approval waits for you**\napproval · asked "), "{posts:?}");
    let posted = |what: &Happening| matches!(what, Happening::Posted { content, .. } if content.contains("canary"));
    assert_eq!(scene.fake.count(posted), 0);
}

/// B59: what a person says in that conversation is a message like any other, and answers nothing.
#[test]
fn b59_a_reply_to_a_notification_answers_nothing() {
    let scene = scene("");
    let asked = scene.ask("ann", &format!("hi\n!ask {}", decision("Left?")));
    scene.over(asked);
    let post = told(&scene, 1).remove(0);
    let owner = scene.fake.people("owner");
    let said = scene.fake.reply_to(post.id, owner, "yes");
    assert_eq!(scene.replies(said), ["demo: yes"]);
    assert_eq!(pending(&scene).len(), 1);
}

/// A post whose answer is lost is repeated with its nonce: the owner has one message.
#[test]
fn a_lost_answer_makes_no_second_notification() {
    let scene = scene("");
    scene.fake.fault(Calls::posts(), Fault::CutAfter);
    scene.fake.dm(scene.fake.people("owner"), &format!("!silent\n!ask {}", decision("Left?")));
    until("a try to fail", || {
        let sinks = scene.service.read("/operator/v1/status")["notify"].clone();
        (sinks[0]["failures"].as_u64()? >= 1 && sinks[0]["told"].as_u64()? >= 1).then_some(())
    });
    assert_eq!(heard(&scene.fake, "owner").len(), 1);
    assert_eq!(scene.fake.count(|what| matches!(what, Happening::Repeated { .. })), 1);
}

/// Who is no owner is told nothing, and a bot that was told not to writes to nobody.
#[test]
fn a_bot_that_is_not_to_notify_writes_to_nobody() {
    let scene = scene("discord = false");
    let asked = scene.ask("ann", &format!("hi\n!ask {}", decision("Left?")));
    scene.over(asked);
    assert_eq!(scene.service.read("/operator/v1/status").get("notify"), None);
    assert_eq!(heard(&scene.fake, "owner").len(), 0);
}

/// B42: the answer to an ask comes back as a reply that quotes the message from which it began.
#[test]
fn b42_a_continuation_quotes_the_message_that_began_it() {
    let scene = scene("discord = false");
    let asked = scene.ask("ann", &format!("hi\n!ask {}", decision("Left?")));
    scene.over(asked);
    let later = scene.ask("ben", "something else");
    scene.over(later);
    let before = scene.fake.replies_to(asked).len();
    let ask = &pending(&scene)[0];
    let told = scene.service.dispatch(json!({
        "op": "input_answer", "conversation_id": ask["conversation_id"], "request_id": ask["request_id"],
        "incarnation_id": ask["incarnation_id"], "expected_revision": ask["revision"],
        "answer": {"kind": "choice", "option_id": ask["options"][0]["option_id"]},
    }));
    assert_eq!(told["status"], "resolved", "{told}");
    let replies = until("the answer to come back", || {
        Some(scene.fake.replies_to(asked)).filter(|replies| replies.len() > before)
    });
    let last = &replies[replies.len() - 1];
    assert!(last.content.starts_with("demo: answered: "), "{last:?}");
    assert_eq!(last.pings.people, [scene.fake.people("ann")]);
}
