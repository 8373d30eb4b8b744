//! What became of words while the bot was away, and what is noted of those that it does not answer.

use std::time::Duration;

use clankie_actors::store::{Store, Txn, Write};
use uuid::Uuid;

use crate::fake::{Calls, Fault, Happening, Message};
use crate::scene::{ONE_AT_A_TIME, Scene};
use crate::service::until;

const HOUR: Duration = Duration::from_secs(3_600);
const MINUTE: Duration = Duration::from_secs(60);

/// A mention that was said a while ago.
fn asked_before(scene: &Scene, text: &str, age: Duration) -> Message {
    let text = format!("{} {text}", scene.fake.mention());
    scene.fake.said_before(scene.general, scene.fake.people("ann"), &text, age)
}

fn talk_before(scene: &Scene, count: u32, age: Duration) {
    for n in 0..count {
        let age = age.saturating_sub(Duration::from_millis(u64::from(n)));
        scene.fake.said_before(scene.general, scene.fake.people("ben"), &format!("talk {n}"), age);
    }
}

/// Nothing was seen of the channel from this message on.
fn unseen_from(scene: &Scene, message: Message) {
    let store = Store::open(&scene.service.state_dir(), Uuid::now_v7()).unwrap();
    let mark = |name: String, value: u64| Write::Bookmark { name, value: value.to_string() };
    let seen = mark(format!("discord:seen:{}", scene.general), message.0 - 1);
    store.commit_now(Txn::changes([]).and(mark("discord:born".into(), 5)).and(seen)).unwrap();
    store.close();
}

/// B13: what is too old is noted and not run, also behind more than a page of talk.
#[test]
fn b13_an_old_mention_behind_much_talk_is_noted_and_not_run() {
    let mut scene = Scene::start("catch_up_age = \"15m\"", "");
    scene.service.stop();
    let old = asked_before(&scene, "old", HOUR);
    talk_before(&scene, 150, 2 * MINUTE);
    let recent = asked_before(&scene, "recent", MINUTE);
    unseen_from(&scene, old);
    scene.service.launch();
    assert_eq!(scene.replies(recent), ["demo: recent"]);
    until("the old one to be noted", || (scene.stands()["missed"] == 1).then_some(()));
    assert!(scene.service.record(&old.to_string()).is_none());
}

/// Where there is more than is read back, that is said and counted.
#[test]
fn b13_a_backlog_beyond_what_is_read_back_is_noted() {
    let mut scene = Scene::start("", "");
    scene.service.stop();
    let lost = asked_before(&scene, "lost", 3 * MINUTE);
    talk_before(&scene, 1_100, 2 * MINUTE);
    let recent = asked_before(&scene, "recent", MINUTE);
    unseen_from(&scene, lost);
    scene.service.launch();
    assert_eq!(scene.replies(recent), ["demo: recent"]);
    until("the rest to be noted", || (scene.stands()["missed"] == 1).then_some(()));
    assert!(scene.service.record(&lost.to_string()).is_none());
}

/// What comes live while a channel cannot be read is no missed message, and is always answered.
#[test]
fn what_comes_live_while_a_channel_cannot_be_read_is_answered_beyond_every_bound() {
    let mut scene = Scene::start("catch_up_count = 0", "");
    scene.over(scene.ask("ann", "before"));
    scene.service.stop();
    let away = scene.ask("ann", "away");
    scene.comes_back_unread();
    let live = ["ben", "cat"].map(|who| scene.ask(who, &format!("of {who}")));
    scene.fake.heal();
    assert_eq!(live.map(|message| scene.replies(message)), [["demo: of ben"], ["demo: of cat"]]);
    until("the missed one to be noted", || (scene.stands()["missed"] == 1).then_some(()));
    assert!(scene.service.record(&away.to_string()).is_none());
}

/// A message that comes before the bot listens, and after its channel was announced, is answered.
#[test]
fn a_message_between_the_announcement_of_its_channel_and_the_first_that_is_heard_is_answered() {
    let mut scene = Scene::start("", "");
    let before = scene.ask("ann", "before");
    scene.over(before);
    scene.service.stop();
    let answer = scene.fake.replies_to(before)[0].id;
    scene.fake.announce_newest(before);
    let between = scene.ask("ben", "between");
    assert!(answer < between);
    scene.service.launch();
    assert_eq!(scene.replies(between), ["demo: between"]);
}

/// What was deleted or edited while the bot was away, and still waits, does not run as it was.
#[test]
fn words_that_wait_are_taken_back_or_changed_while_the_bot_is_away() {
    let scene = Scene::start("", ONE_AT_A_TIME);
    let (_, gone, changed) = scene.two_wait();
    scene.fake.down();
    scene.fake.forget_sessions();
    scene.fake.delete(gone);
    scene.fake.edit(changed, &format!("{} new words", scene.fake.mention()));
    scene.fake.up();
    assert_eq!(scene.over(gone)["result"]["kind"], "cancelled");
    until("the new words", || (scene.service.record(&changed.to_string())?["request"] == "new words").then_some(()));
    scene.ask("ann", "go on");
    assert_eq!(scene.replies(changed), ["demo: new words"]);
    let record = scene.service.record(&gone.to_string()).unwrap();
    assert!(record["started_at"].is_null(), "{record}");
}

/// A busy sentence whose answers were lost is not said again once Discord has forgotten its nonce.
#[test]
fn a_busy_sentence_that_stands_in_the_room_is_not_said_again_after_the_window() {
    let mut scene = Scene::start("", "[limits]\nrunning = 1\nrunning_per_room = 1\nwaiting = 1");
    let slow = scene.ask("ann", "slow\n!sleep 60000");
    scene.service.running(&slow.to_string());
    let waiting = scene.ask("ben", "waiting");
    scene.reacted(waiting, "👀");
    scene.fake.fault(Calls::posts_saying("too much to do").times(2), Fault::CutAfter);
    let told = scene.ask("cat", "too much");
    scene.fake.wait("both answers to be lost", |log| {
        let lost = log.iter().filter(|entry| matches!(entry.what, Happening::Faulted { .. })).count();
        (lost == 2).then_some(())
    });
    assert_eq!(scene.fake.replies_to(told).len(), 1);
    scene.service.kill();
    scene.fake.forget_nonces();
    scene.service.launch();
    assert_eq!(scene.replies(waiting), ["demo: waiting"]);
    let owed = |scene: &Scene| {
        let store = Store::open(&scene.service.state_dir(), Uuid::now_v7()).unwrap();
        let kept = store.snapshot().unwrap().bookmark("discord:owed_signs").unwrap().unwrap_or_default();
        store.close();
        kept
    };
    scene.service.stop();
    assert_eq!((owed(&scene).as_str(), scene.fake.replies_to(told).len()), ("", 1));
}
