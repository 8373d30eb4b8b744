//! Times away: what was missed, what was too old, and a Discord that is not there.

use std::time::Duration;

use crate::fake::{Calls, Close, Fault};
use crate::scene::Scene;
use crate::service::until;

/// B9: what was said while the service was away is answered when it is back, in order.
#[test]
fn b9_what_was_said_while_away_is_answered_in_order() {
    let mut scene = Scene::start("", "");
    let before = scene.ask("ann", "before");
    scene.over(before);
    scene.service.stop();
    let asked = [("ann", "one"), ("ben", "two"), ("cat", "three")].map(|(who, text)| scene.ask(who, text));
    scene.service.launch();
    let replies: Vec<_> = asked.iter().map(|message| scene.replies(*message)).collect();
    assert_eq!(replies, [["demo: one"], ["demo: two"], ["demo: three"]]);
    let arrivals: Vec<_> = scene.service.handoffs()["handoffs"].as_array().unwrap().iter().rev().cloned().collect();
    let requests: Vec<_> = arrivals.iter().map(|record| record["request"].as_str().unwrap()).collect();
    assert_eq!(requests, ["before", "one", "two", "three"]);
    assert_eq!(scene.replies(before), ["demo: before"]);
}

/// B13: a backlog is no storm: what is too old or too much is noted and not run.
#[test]
fn b13_an_old_backlog_is_noted_and_not_run() {
    let mut scene = Scene::prepare("catch_up_count = 2\ncatch_up_age = \"1h\"", "");
    scene.service.launch();
    scene.connected();
    scene.over(scene.ask("ann", "before"));
    scene.service.stop();
    let recent: Vec<_> = (0..4).map(|n| scene.ask("ann", &format!("recent {n}"))).collect();
    scene.service.launch();
    assert_eq!(scene.replies(recent[3]).len(), 1);
    until("the missed ones to be noted", || (scene.stands()["missed"] == 2).then_some(()));
    assert!(scene.service.record(&recent[1].to_string()).is_none());
    // A restart does not find them again.
    scene.service.stop();
    scene.service.launch();
    scene.connected();
    scene.over(scene.ask("ben", "after"));
    assert_eq!(scene.stands()["missed"], 0);
    assert!(scene.service.record(&recent[1].to_string()).is_none());
}

/// Who was told busy is not run after a restart: the place is kept over such messages.
#[test]
fn a_message_that_was_told_busy_is_not_run_after_a_restart() {
    let limits = "[limits]\nrunning = 1\nrunning_per_room = 1\nwaiting = 1";
    let mut scene = Scene::start("", limits);
    let slow = scene.ask("ann", "slow\n!sleep 60000");
    scene.service.running(&slow.to_string());
    let waiting = scene.ask("ben", "waiting");
    let told = scene.ask("cat", "too much");
    scene.reacted(told, "⏳");
    let busy = until("the sentence", || scene.fake.replies_to(told).pop());
    assert!(busy.content.contains("1 running and 1 waiting"), "{}", busy.content);
    scene.service.kill();
    scene.service.launch();
    assert_eq!(scene.replies(waiting), ["demo: waiting"]);
    assert!(scene.service.record(&told.to_string()).is_none());
    assert_eq!(scene.fake.replies_to(told).len(), 1);
}

/// Slow start: nothing else waits for Discord, and the bot joins by itself once it can be reached.
#[test]
fn the_service_is_up_without_discord_and_joins_by_itself() {
    let mut scene = Scene::prepare("", "");
    scene.fake.down();
    scene.service.launch();
    until("a try that failed", || scene.stands()["trouble"].as_str().map(drop));
    assert_eq!(scene.service.read("/operator/v1/handoffs")["counts"]["running"], 0);
    scene.fake.up();
    scene.connected();
    let asked = scene.ask("ann", "hello");
    assert_eq!(scene.replies(asked), ["demo: hello"]);
}

/// Connections that end in any way come back, and nothing said meanwhile is lost or answered twice.
#[test]
fn no_end_of_a_connection_loses_or_doubles_a_message() {
    let scene = Scene::start("", "");
    for (n, how) in [Close::Cut, Close::Reconnect, Close::Invalid, Close::Code(4009)].into_iter().enumerate() {
        let before = (scene.fake.identifies(), scene.fake.resumes());
        scene.fake.end_connections(how);
        let asked = scene.ask("ann", &format!("after {n}"));
        assert_eq!(scene.replies(asked), [format!("demo: after {n}")], "{how:?}");
        let after = (scene.fake.identifies(), scene.fake.resumes());
        assert_ne!(before, after, "{how:?}");
    }
}

/// B91: with little left of the day's identifies the bot does not spend them, and says so.
#[test]
fn b91_the_identify_budget_is_not_spent_to_its_end() {
    let mut scene = Scene::prepare("", "");
    scene.fake.identify_budget(1_000, 3, Duration::from_secs(7_200));
    scene.service.launch();
    let why = until("the refusal", || scene.stands()["trouble"].as_str().map(str::to_owned));
    assert!(why.contains("identifies are used up"), "{why}");
    assert_eq!((scene.fake.identifies(), &scene.stands()["identifies_left"]), (0, &serde_json::json!(3)));
}

/// B91: the count outlives the process, so a loop of restarts sees what it spends.
#[test]
fn b91_the_count_of_identifies_outlives_the_process() {
    let mut scene = Scene::start("", "");
    for starts in 2..=4 {
        scene.service.kill();
        scene.service.launch();
        scene.connected();
        assert_eq!((scene.stands()["identifies"].as_u64(), scene.fake.identifies()), (Some(starts), starts as usize));
    }
}

/// A configured API base that names no gateway never ends at Discord's own.
#[test]
fn the_real_gateway_is_no_fallback_for_a_configured_one() {
    let mut scene = Scene::prepare("", "");
    scene.fake.fault(Calls::of("GET", "/gateway").always(), Fault::Status(500));
    scene.service.launch();
    until("a try that failed", || scene.stands()["trouble"].as_str().map(drop));
    assert_eq!((scene.stands()["link"].as_str() == Some("ready"), scene.fake.identifies()), (false, 0));
    scene.fake.heal();
    scene.connected();
}
