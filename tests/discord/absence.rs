//! Times away: what was missed, what was too old, and a Discord that is not there.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clankie_actors::store::{Store, Txn, Write};
use uuid::Uuid;

use crate::fake::{Calls, Close, Fault, Gate, Happening};
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

/// A time away that cannot be read yet is not passed over by what is said meanwhile.
#[test]
fn a_live_message_waits_for_what_was_said_while_away() {
    let mut scene = Scene::start("", "");
    scene.over(scene.ask("ann", "before"));
    scene.service.stop();
    let away = scene.ask("ann", "away");
    scene.comes_back_unread();
    let live = scene.ask("ben", "live");
    // The channel's lane comes to its next read past the live message.
    scene.a_read_fails();
    assert!(scene.service.record(&live.to_string()).is_none());
    scene.fake.heal();
    assert_eq!((scene.replies(away), scene.replies(live)), (vec!["demo: away".into()], vec!["demo: live".into()]));
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

/// The process dies after the place moved over a message that was told busy and before anybody was
/// told: the message is not run later, and its author gets the sign.
#[test]
fn a_busy_sign_that_was_owed_is_given_after_a_kill_and_its_message_is_not_run() {
    let limits = "[limits]\nrunning = 1\nrunning_per_room = 1\nwaiting = 1";
    let mut scene = Scene::start("", limits);
    let slow = scene.ask("ann", "slow\n!sleep 60000");
    scene.service.running(&slow.to_string());
    let waiting = scene.ask("ben", "waiting");
    scene.reacted(waiting, "👀");
    let gate = Gate::new();
    scene.fake.fault(Calls::of("PUT", "⏳"), Fault::HeldBefore(gate.clone()));
    let told = scene.ask("cat", "too much");
    scene.fake.wait("the sign to be on its way", |log| {
        log.iter().any(|entry| matches!(entry.what, Happening::Faulted { .. })).then_some(())
    });
    scene.service.kill();
    gate.open();
    assert_eq!(scene.fake.replies_to(told).len(), 0);
    scene.service.launch();
    scene.reacted(told, "⏳");
    let busy = until("the sentence", || scene.fake.replies_to(told).pop());
    assert!(busy.content.contains("1 running and 1 waiting"), "{}", busy.content);
    assert_eq!(scene.replies(waiting), ["demo: waiting"]);
    // Neither the sign nor the message comes again.
    scene.service.stop();
    scene.service.launch();
    scene.connected();
    scene.over(scene.ask("ann", "after"));
    assert!(scene.service.record(&told.to_string()).is_none());
    assert_eq!(scene.fake.replies_to(told).len(), 1);
}

/// How soon the service answers over HTTP after the start of its process: the promise.
const READY_WITHIN: Duration = Duration::from_secs(1);
/// The same with the answers to two further processes, the command line's: none of the programs of
/// a test is optimised, and other tests share the processor.
const UP_WITHIN: Duration = Duration::from_secs(2);

/// Slow start: HTTP, the command line and a local room answer at once, whatever Discord does.
fn up_at_once(scene: &mut Scene) {
    let began = Instant::now();
    scene.service.launch();
    let ready = began.elapsed();
    let status = scene.service.cli(&["status"]).data();
    assert_ne!(status["discord"]["link"], "ready");
    let said = scene.service.cli_told("hello\n", &["chat", "lab", "--as", "ann"]);
    assert_eq!((said.code, said.out.as_str()), (Some(0), "clankie: demo: hello\n"), "{said:?}");
    let all = began.elapsed();
    assert!(ready < READY_WITHIN && all < UP_WITHIN, "ready after {ready:?}, everything answered after {all:?}");
}

/// Slow start: nothing else waits for Discord, and the bot joins by itself once it can be reached.
#[test]
fn the_service_is_up_without_discord_and_joins_by_itself() {
    let mut scene = Scene::prepare("", "");
    scene.fake.down();
    up_at_once(&mut scene);
    until("a try that failed", || scene.stands()["trouble"].as_str().map(drop));
    assert_eq!(scene.service.read("/operator/v1/handoffs")["counts"]["running"], 0);
    scene.fake.up();
    scene.connected();
    let asked = scene.ask("ann", "hello");
    assert_eq!(scene.replies(asked), ["demo: hello"]);
}

/// Slow start: a Discord that takes the call and never answers holds up nothing either.
#[test]
fn the_service_is_up_with_a_discord_that_never_answers_and_joins_by_itself() {
    let mut scene = Scene::prepare("", "");
    let gate = Gate::new();
    scene.fake.fault(Calls::of("GET", "/gateway").always(), Fault::HeldBefore(gate.clone()));
    up_at_once(&mut scene);
    scene.fake.wait("a call without an answer", |log| {
        log.iter().any(|entry| matches!(entry.what, Happening::Faulted { .. })).then_some(())
    });
    assert_eq!((scene.stands()["link"].as_str(), scene.fake.identifies()), (Some("connecting"), 0));
    scene.fake.heal();
    gate.open();
    scene.connected();
    let asked = scene.ask("ann", "hello");
    assert_eq!(scene.replies(asked), ["demo: hello"]);
}

/// Connections that end in any way come back, and nothing said meanwhile is lost or answered twice.
#[test]
fn no_end_of_a_connection_loses_or_doubles_a_message() {
    let scene = Scene::start("", "");
    for (n, how) in [Close::Cut, Close::Reconnect, Close::InvalidResumable, Close::Invalid, Close::Code(4009)]
        .into_iter()
        .enumerate()
    {
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

/// B91: the library identifies again by itself when a session is invalid. Once Discord's day is
/// spent up to what a person needs, the bot waits, says so, and a restart changes nothing of it.
#[test]
fn b91_identifies_of_the_library_itself_end_with_the_budget_that_discord_told() {
    let mut scene = Scene::prepare("", "");
    scene.fake.identify_budget(1_000, 51, Duration::from_secs(7_200));
    scene.service.launch();
    scene.connected();
    assert_eq!(scene.stands()["identifies_left"], 50);
    scene.fake.end_connections(Close::Invalid);
    spent(&mut scene, 2);
    assert_eq!(scene.stands()["identifies"], 2);
}

/// B91: the same with the budget of our own, most of which an earlier process spent.
#[test]
fn b91_the_own_budget_of_identifies_is_kept_over_restarts() {
    let mut scene = Scene::start("", "");
    scene.service.stop();
    let hour = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() / 3_600;
    let store = Store::open(&scene.service.state_dir(), Uuid::now_v7()).unwrap();
    let value = format!("{}:499", hour - 2);
    store.commit_now(Txn::changes([]).and(Write::Bookmark { name: "discord:identifies".into(), value })).unwrap();
    store.close();
    scene.service.launch();
    scene.connected();
    assert_eq!((scene.stands()["identifies"].as_u64(), scene.fake.identifies()), (Some(500), 2));
    scene.fake.end_connections(Close::Invalid);
    spent(&mut scene, 3);
    assert_eq!(scene.stands()["identifies"], 501);
}

/// The budget is spent with this many identifies: there is a word about it, and no further one is
/// made, by this process or the next.
fn spent(scene: &mut Scene, identifies: usize) {
    let said = |scene: &Scene| {
        until("the word about the budget", || {
            let stands = scene.stands();
            let why = stands["trouble"].as_str().unwrap_or_default().to_owned();
            (why.contains("identifies are used up") && stands["link"] == "waiting").then_some(())
        });
    };
    said(scene);
    assert_eq!(scene.fake.identifies(), identifies);
    scene.service.kill();
    scene.service.launch();
    said(scene);
    // It looks again and again, and goes on waiting.
    let asked = |scene: &Scene| {
        scene.fake.count(|what| matches!(what, Happening::Called { call } if call.contains("/gateway")))
    };
    let before = asked(scene);
    until("another look", || (asked(scene) > before).then_some(()));
    said(scene);
    assert_eq!(scene.fake.identifies(), identifies);
}
