//! Stop words that come at a bad moment: late, after a time away, or while the service drains.

use rustix::process::Signal;

use crate::fake::{Close, Happening};
use crate::scene::Scene;
use crate::service::until;

/// One run at a time: who comes second waits.
const ONE_AT_A_TIME: &str = "[limits]\nrunning = 1\nrunning_per_room = 1\nwaiting = 4";

fn reads(scene: &Scene) -> usize {
    let path = format!("GET /channels/{}/messages", scene.general);
    scene.fake.count(|what| matches!(what, Happening::Called { call } if call.starts_with(&path)))
}

/// A stop word that a stopping service cannot deal with any more is dealt with by the next start.
#[test]
fn a_stop_word_that_comes_while_the_service_drains_counts_at_the_next_start() {
    let mut scene = Scene::start("", ONE_AT_A_TIME);
    let slow = scene.ask("ann", "slow\n!sleep 60000");
    scene.service.running(&slow.to_string());
    let waiting = scene.ask("ben", "waiting\n!sleep 60000");
    until("ben to wait", || scene.service.record(&waiting.to_string()).map(drop));
    scene.reacted(waiting, "👀");
    scene.service.signal(Signal::TERM);
    until("the service to drain", || scene.service.log().contains("nothing new is admitted").then_some(()));
    let before = reads(&scene);
    scene.fake.say(scene.general, scene.fake.people("ben"), "stop");
    let after = scene.ask("cat", "after");
    until("the channel to be read once more", || (reads(&scene) > before).then_some(()));
    scene.service.kill();
    scene.service.launch();
    assert_eq!(scene.over(waiting)["result"]["kind"], "cancelled");
    assert_eq!(scene.replies(after), ["demo: after"]);
}

/// A stop word that comes after a newer message ends what it meant all the same.
#[test]
fn a_stop_word_behind_a_newer_message_ends_the_run_that_it_meant() {
    let scene = Scene::start("", "");
    let slow = scene.ask("ann", "slow\n!sleep 60000");
    scene.service.running(&slow.to_string());
    scene.reacted(slow, "👀");
    scene.fake.reorder_next(2);
    scene.fake.say(scene.general, scene.fake.people("ann"), "stop");
    let other = scene.ask("ben", "other");
    assert_eq!(scene.replies(other), ["demo: other"]);
    assert_eq!(scene.over(slow)["result"]["kind"], "cancelled");
}

/// The bounds of a time away are for requests: no stop word is left out for them.
#[test]
fn a_stop_word_is_not_left_out_by_the_bounds_of_a_time_away() {
    let scene = Scene::start("catch_up_count = 1", "");
    let slow = scene.ask("ann", "slow\n!sleep 60000");
    scene.service.running(&slow.to_string());
    scene.fake.down();
    scene.fake.forget_sessions();
    scene.fake.say(scene.general, scene.fake.people("ann"), "stop");
    let asked: Vec<_> = (0..3).map(|n| scene.ask("ben", &format!("ask {n}"))).collect();
    scene.fake.up();
    assert_eq!(scene.over(slow)["result"]["kind"], "cancelled");
    assert_eq!(scene.replies(asked[2]), ["demo: ask 2"]);
    until("the others to be noted", || (scene.stands()["missed"] == 2).then_some(()));
}

/// Where nothing missed is answered, the first word of a session still ends a run.
#[test]
fn a_stop_word_that_comes_first_in_a_session_ends_its_run() {
    let scene = Scene::start("catch_up_count = 0", "");
    let slow = scene.ask("ann", "slow\n!sleep 60000");
    scene.service.running(&slow.to_string());
    scene.reconnect(Close::Invalid);
    scene.fake.say(scene.general, scene.fake.people("ann"), "stop");
    assert_eq!(scene.over(slow)["result"]["kind"], "cancelled");
    assert_eq!(scene.stands()["missed"], 0);
}
