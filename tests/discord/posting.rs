//! Replies on their way into a room, with trouble put in at each step.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::fake::{Calls, Fault, Gate, Happening, Message, Right};
use crate::scene::{Scene, long, posting};
use crate::service::until;

/// B40: a part is awaited before the next one is sent, so parts cannot change places.
#[test]
fn b40_parts_arrive_in_order_however_slow_the_first_one_is() {
    let scene = Scene::start("", "");
    let gate = Gate::new();
    scene.fake.fault(Calls::posts(), Fault::HeldBefore(gate.clone()));
    let text = long(5_000);
    let asked = scene.ask("ann", &text);
    scene.fake.wait("the first part to be held", |log| {
        log.iter().any(|entry| matches!(entry.what, Happening::Faulted { .. })).then_some(())
    });
    assert_eq!(scene.fake.replies(scene.general).len(), 0);
    gate.open();
    whole(&scene, asked, &text);
}

/// B95: 429 is no failure, be it short, of the whole bot, or long: every part stands in the room
/// once, in order. All three meet the second of four parts.
#[test]
fn b95_rate_limits_lose_no_part() {
    let scene = Scene::start("", "");
    scene.fake.fault(Calls::posts().after(1), Fault::RateLimited(Duration::from_millis(300)));
    scene.fake.fault(Calls::posts().after(1), Fault::RateLimitedGlobally(Duration::from_millis(500)));
    scene.fake.fault(Calls::posts().after(1), Fault::RateLimited(Duration::from_secs(4)));
    let text = long(7_000);
    let began = Instant::now();
    let asked = scene.ask("ann", &text);
    whole(&scene, asked, &text);
    assert_eq!(scene.fake.replies_to(asked).len(), 4);
    assert_eq!(scene.fake.count(|what| matches!(what, Happening::Faulted { .. })), 3);
    assert!(began.elapsed() >= Duration::from_secs(4), "Discord's wait was not kept");
}

/// B94: whatever a text says, only its asker is notified.
#[test]
fn b94_a_reply_notifies_nobody_but_its_asker() {
    let scene = Scene::start("", "");
    let (ann, ben) = (scene.fake.people("ann"), scene.fake.people("ben"));
    let asked = scene.ask("ann", &format!("hi @everyone @here <@{ben}> <@&4711> <@{ann}>"));
    scene.over(asked);
    let reply = &scene.fake.replies_to(asked)[0];
    assert!(reply.content.contains("@everyone"));
    assert_eq!((reply.pings.everyone, &reply.pings.people, reply.pings.roles.len()), (false, &vec![ann], 0));
}

/// A post whose answer is lost, garbled or replaced by a gateway's 502 stands in the room once.
#[test]
fn a_lost_answer_is_repeated_with_its_nonce_and_doubles_nothing() {
    let scene = Scene::start("", "");
    for fault in [Fault::CutAfter, Fault::GarbledAfter, Fault::StatusAfter(502), Fault::CutBefore, Fault::Status(503)] {
        scene.fake.fault(Calls::posts(), fault.clone());
        let asked = scene.ask("ann", "hello");
        assert_eq!(scene.replies(asked), ["demo: hello"], "{fault:?}");
        assert_eq!(posting(&scene.over(asked)), "confirmed", "{fault:?}");
    }
}

/// B8, B16: the process dies between a post and its confirmation. The next one finds the message
/// where it stands.
#[test]
fn b16_a_death_between_post_and_confirmation_doubles_nothing() {
    let mut scene = Scene::start("", "");
    let gate = Gate::new();
    scene.fake.fault(Calls::posts(), Fault::HeldAfter(gate.clone()));
    let asked = scene.ask("ann", "hello");
    scene
        .fake
        .wait("the post", |log| log.iter().any(|entry| matches!(entry.what, Happening::Posted { .. })).then_some(()));
    assert_eq!(posting(&scene.service.record(&asked.to_string()).unwrap()), "sending");
    scene.service.kill();
    gate.open();
    scene.service.launch();
    assert_eq!(scene.replies(asked), ["demo: hello"]);
    assert_eq!(posting(&scene.over(asked)), "confirmed");
}

/// B96: a thread that was locked, a channel without the right and one that is gone end visibly.
#[test]
fn b96_what_can_not_be_posted_ends_visibly_with_a_sentence() {
    let scene = Scene::start("", "");
    let (ann, home) = (scene.fake.people("ann"), scene.fake.guild("home"));
    let thread = scene.fake.thread(scene.general, ann, "side");
    let (quiet, gone) = (scene.fake.channel(home, "quiet"), scene.fake.channel(home, "gone"));
    let gate = scene.holds_posts(3);
    let asked = [thread, quiet, gone].map(|channel| scene.fake.ask(channel, ann, "hello"));
    scene.posts_are_held(3);
    scene.fake.lock(thread);
    scene.fake.deny(quiet, Right::Send);
    scene.fake.delete_channel(gone);
    gate.open();
    let whys =
        ["The thread is archived.", "The bot may not write in this channel.", "The channel or thread was deleted."];
    for (message, why) in asked.into_iter().zip(whys) {
        let record = scene.over(message);
        assert_eq!((posting(&record), record["room_delivery"]["why"].as_str()), ("failed", Some(why)));
    }
}

/// The owner has what did not arrive posted once more, from the first part that is missing; what
/// stands there already is not posted again.
#[test]
fn the_owner_has_the_parts_that_were_refused_posted_once_more() {
    let scene = Scene::start("", "");
    scene.fake.fault(Calls::posts().after(1), Fault::Refused(403, 50_013));
    let text = long(5_000);
    let asked = scene.ask("ann", &text);
    let record = scene.over(asked);
    assert_eq!((posting(&record), scene.fake.replies_to(asked).len()), ("failed", 1));
    let id = record["id"].as_str().unwrap();
    let begun = scene.service.cli(&["handoffs", "repost", &id[..18]]).data();
    assert_eq!((&begun["handoff_id"], &begun["room_delivery"]["part"]), (&record["id"], &json!(1)));
    until("the rest to stand", || (posting(&scene.over(asked)) == "confirmed").then_some(()));
    whole(&scene, asked, &text);
    let again = scene.service.cli(&["handoffs", "repost", id]);
    assert!(again.code == Some(5) && again.err.contains("failed or is uncertain"), "{again:?}");
    assert_eq!(scene.service.cli(&["handoffs", "repost", "ffffff"]).code, Some(3));
    let refused = scene.service.dispatch(json!({"op": "handoff_repost", "handoff_id": id}));
    assert_eq!((&refused["status"], &refused["reason"]), (&json!("refused"), &json!("nothing_to_repost")));
}

/// Every part of the reply is there once, in order, quoting its trigger; nothing was lost between them.
fn whole(scene: &Scene, asked: Message, text: &str) {
    let parts = scene.replies(asked);
    assert!(parts.len() > 2 && parts.iter().all(|part| part.chars().count() <= 2_000), "{} parts", parts.len());
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&parts.join(" ")), words(&format!("demo: {text}")));
    assert_eq!(posting(&scene.over(asked)), "confirmed");
}
