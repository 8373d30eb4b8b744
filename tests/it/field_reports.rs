//! Faults that people reported of systems like this one, tried on the real program. A name begins with the report's id.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::service::{Ask, LANE, Service, turn, until};

/// Holds a run until its speaker says one more thing.
const HOLD: &str = "!wait-steer 600000\n!say done";
/// Output of one run in [`b102_the_output_of_tools_does_not_stay_in_memory`], in bytes.
const SPEW: usize = 5 * 1024 * 1024;
/// What the process may gain from twenty MiB of such output, in KiB.
const GAIN_MAX_KIB: u64 = 16 * 1024;
/// An answer that takes longer is starved: a submit is one durable write.
const STARVED: Duration = Duration::from_secs(5);

fn failed(code: &str) -> Value {
    json!({"kind": "failed", "code": code})
}

/// B6: a message during a run neither aborts it nor vanishes.
#[test]
fn b6_a_message_during_a_run_neither_stops_it_nor_vanishes() {
    let service = Service::start("");
    service.admit(&turn("r", "h1", "ann", HOLD));
    service.running("h1");
    assert_eq!(service.settle(&turn("r", "m2", "bob", "and me")).json()["result"]["text"], "demo: and me");
    assert_eq!(service.record("h1").unwrap()["state"], "running");
    service.admit(&turn("r", "m3", "ann", "go on"));
    assert_eq!(service.reply("r", "h1"), "demo:\ngo on\ndone");
    assert_eq!(service.result("r", "m3")["kind"], "absorbed");
}

/// B8: the power goes after each acknowledged step of a handoff, and every one of them is still known.
#[test]
fn b8_every_acknowledged_step_survives_a_kill() {
    let mut service = Service::start("[limits]\nrunning = 1\nrunning_per_room = 1");
    let cut = |service: &mut Service| {
        service.kill();
        service.launch();
    };
    let running = service.admit(&turn("r", "a", "ann", HOLD));
    cut(&mut service);
    assert_eq!(service.result("r", "a"), failed("interrupted"), "admitted");

    service.admit(&turn("r", "b", "ann", HOLD));
    service.running("b");
    service.admit(&turn("r", "b-joins", "ann", "more\n!wait-steer 600000"));
    cut(&mut service);
    for delivery in ["b", "b-joins"] {
        assert_eq!(service.result("r", delivery), failed("interrupted"), "joined: {delivery}");
    }

    service.admit(&turn("r", "c", "ann", "!sleep 600000"));
    service.running("c");
    let waits = service.admit(&turn("r", "waits", "bob", "of bob"));
    service.admit(&turn("r", "waits-joins", "bob", "and more of bob"));
    service.admit(&turn("r", "taken-back", "cy", "of cy"));
    let cancel = Ask::new("DELETE", "/ingress/v1/turns/r/taken-back").token(&service.lane(LANE));
    let cancelled = service.send(&cancel.json(&json!({"actor": {"id": "cy"}}))).json()["result"].clone();
    assert_eq!(cancelled["kind"], "cancelled");
    let edit = Ask::new("PUT", "/ingress/v1/turns/r/waits").token(&service.lane(LANE));
    let edited = service.send(&edit.json(&json!({"actor": {"id": "bob", "name": "bob"}, "body": "edited by bob"})));
    assert_eq!(edited.json()["handoff_id"], waits.as_str(), "{edited:?}");
    cut(&mut service);
    assert_eq!(service.result("r", "c"), failed("interrupted"));
    assert_eq!(service.result("r", "taken-back"), cancelled, "cancelled");
    assert!(service.reply("r", "waits").starts_with("demo: edited by bob"), "edited while it waited");
    let joined = service.result("r", "waits-joins");
    assert!(matches!(joined["kind"].as_str(), Some("absorbed" | "settled")), "{joined}");

    let settled = service.settle(&turn("r", "d", "ann", "hello")).json();
    let said = service.said("r");
    cut(&mut service);
    assert_eq!(service.settle(&turn("r", "d", "ann", "hello")).json(), settled, "settled");
    assert_eq!(service.said("r"), said, "and said once");
    assert_eq!(service.record("a").unwrap()["id"], running.as_str());
}

/// B11: two clients that speak to two handoffs at once each reach their own.
#[test]
fn b11_words_reach_the_handoff_of_their_own_speaker() {
    let service = Service::start("");
    let people = ["ann", "bob"];
    for name in people {
        service.admit(&turn("r", name, name, HOLD));
        service.running(name);
    }
    std::thread::scope(|scope| {
        for name in people {
            let service = &service;
            scope.spawn(move || service.admit(&turn("r", &format!("{name}-2"), name, &format!("of {name}"))));
        }
    });
    for name in people {
        assert_eq!(service.reply("r", name), format!("demo:\nof {name}\ndone"));
        assert_eq!(service.result("r", &format!("{name}-2"))["reply_delivery_id"], name);
    }
}

/// B12, B38: a session that dies is an answer, not silence; it keeps neither the room busy nor a slot.
#[test]
fn b12_b38_a_dead_session_is_said_and_blocks_nothing() {
    let service = Service::start("");
    for n in 0..6 {
        let died = service.settle(&turn("r", &format!("m{n}"), "ann", "!exit")).json();
        assert_eq!(died["result"], failed("executor_failed"));
    }
    assert_eq!(service.said("r").len(), 6, "each was said in the room");
    assert_eq!(service.settle(&turn("r", "alive", "ann", "hello")).json()["result"]["text"], "demo: hello");
    assert_eq!(service.handoffs()["counts"]["running"], 0);
}

/// B28, B29, B38: a session that never settles is stopped after its silence, and until then the other
/// room keeps its slots.
#[test]
fn b28_b29_a_wedged_session_starves_nobody_and_ends() {
    let service = Service::start("[sessions]\nstall_after = \"2s\"\nstop_grace = \"200ms\"");
    for n in 0..2 {
        service.admit(&turn("a", &format!("stuck{n}"), &format!("u{n}"), "!hang"));
        service.running(&format!("stuck{n}"));
    }
    service.admit(&turn("a", "behind", "zoe", "hello"));
    assert_eq!(service.settle(&turn("b", "free", "ann", "hello")).json()["result"]["text"], "demo: hello");
    for n in 0..2 {
        assert_eq!(service.result("a", &format!("stuck{n}")), failed("stalled"));
    }
    assert_eq!(service.reply("a", "behind"), "demo: hello");
}

/// B30: one room that is flooded cannot take every place: another room still has a path.
#[test]
fn b30_a_flooded_room_leaves_a_path_for_another() {
    let service = Service::start("[limits]\nwaiting = 4\nwaiting_per_room = 3");
    for n in 0..2 {
        service.admit(&turn("a", &format!("runs{n}"), &format!("u{n}"), HOLD));
        service.running(&format!("runs{n}"));
    }
    let flood: Vec<_> = (0..8).map(|n| service.submit(&turn("a", &format!("m{n}"), &format!("v{n}"), "hi"))).collect();
    let (taken, busy): (Vec<_>, Vec<_>) = flood.iter().partition(|answer| answer.status == 202);
    assert_eq!((taken.len(), busy.len()), (3, 5), "{flood:?}");
    assert!(busy.iter().all(|answer| answer.json()["limit"] == "waiting_per_room"), "{busy:?}");
    assert_eq!(service.settle(&turn("b", "m", "ann", "hello")).json()["result"]["text"], "demo: hello");
}

/// B39, B57: something that waits for the owner does not block its room or its speaker.
#[test]
fn b39_b57_waiting_for_the_owner_blocks_nobody() {
    let service = Service::start("[limits]\nrunning = 1\nrunning_per_room = 1");
    let waiting = service.settle(&turn("r", "m1", "ann", "!approval deploy to production?")).json();
    assert_eq!(
        (&waiting["result"]["kind"], &waiting["result"]["approval_required"]),
        (&json!("waiting_user"), &json!(true)),
        "{waiting}"
    );
    for actor in ["ann", "bob"] {
        let answer = service.settle(&turn("r", &format!("{actor}-2"), actor, "yes")).json();
        assert_eq!(answer["result"]["text"], "demo: yes", "words in a room approve nothing");
    }
    assert_eq!(service.result("r", "m1"), waiting["result"]);
    let room: String = service.said("r").iter().map(ToString::to_string).collect();
    assert!(!room.contains("production"), "the room does not hear what is asked of the owner: {room}");
}

/// B79: who may not speak does not reach an active run on the busy path either.
#[test]
fn b79_a_stranger_reaches_no_active_run() {
    let service = Service::start("");
    service.admit(&turn("r", "h1", "ann", "!wait-steer 600000\n!tool room_history\n!say done"));
    service.running("h1");
    let made = service.dispatch(json!({"op": "token_create", "kind": "lane-text", "name": "gone"}));
    service.dispatch(json!({"op": "token_revoke", "id": made["token"]["id"]}));
    let strange = turn("r", "s1", "ann", "words of a stranger");
    for (token, status) in [
        (made["secret"].as_str().unwrap().to_owned(), 401),
        (service.token("captain", "cap"), 403),
        (service.token("account", "ann"), 403),
        // Another lane's rooms and people are others, whatever they are called.
        (service.lane("other"), 202),
    ] {
        let answer = service.send(&Ask::post("/ingress/v1/turns").token(&token).json(&strange));
        assert_eq!(answer.status, status, "{answer:?}");
    }
    service.admit(&turn("r", "m2", "ann", "go on"));
    assert_eq!(service.reply("r", "h1"), "demo:\ngo on\nroom_history: done\ndone");
    let id = service.record("h1").unwrap()["id"].as_str().unwrap().to_owned();
    let transcript: String = service.transcript(&id).iter().map(ToString::to_string).collect();
    assert!(!transcript.contains("stranger"), "{transcript}");
    assert!(!service.said("r").iter().any(|said| said.to_string().contains("stranger")));
}

/// B102: four rooms with five MiB of tool output each, and once more, and the process stays as large as it was.
#[test]
fn b102_the_output_of_tools_does_not_stay_in_memory() {
    let service = Service::start("");
    let words = format!("!spew {SPEW}\n!say done");
    let round = |n: usize| {
        let rooms = ["a", "b", "c", "d"];
        rooms.iter().for_each(|room| drop(service.admit(&turn(room, &format!("m{n}"), "ann", &words))));
        rooms.iter().for_each(|room| assert_eq!(service.reply(room, &format!("m{n}")), "demo:\ndone"));
        resident_kib(service.pid())
    };
    // The first round fills the caches that stay.
    let (settled, after) = (round(0), round(1));
    assert!(after < settled + GAIN_MAX_KIB, "{settled} KiB became {after} KiB");
    assert_eq!(service.record("m1").unwrap()["usage"]["bytes"].as_u64().unwrap() / SPEW as u64, 1);
}

/// B102: output without end is ended, by bytes.
#[test]
fn b102_output_without_end_is_ended() {
    let service = Service::start("[sessions]\noutput_max = 100000");
    let ended = service.settle(&turn("r", "m1", "ann", "!spew 1000000000")).json();
    assert_eq!(ended["result"], failed("budget_exhausted"));
}

fn resident_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// B108: whoever asks for the status in a loop starves nobody.
#[test]
fn b108_status_in_a_loop_does_not_starve_submits() {
    let service = Service::start("");
    service.lane(LANE);
    let stop = AtomicBool::new(false);
    let slowest = std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    service.read("/operator/v1/status");
                    assert_eq!(service.send(&Ask::get("/metrics")).status, 200);
                }
            });
        }
        let slowest = (0..40).map(|n| {
            let began = Instant::now();
            service.settle(&turn(&format!("r{n}"), "m", "ann", "hello"));
            began.elapsed()
        });
        let slowest = slowest.max();
        stop.store(true, Ordering::Relaxed);
        slowest.unwrap()
    });
    assert!(slowest < STARVED, "{slowest:?}");
}

/// B104: the executors of this build start no process; whatever runs, there is no child to be left behind.
#[test]
fn b104_no_child_is_left_to_outlive_the_service() {
    let service = Service::start("");
    service.admit(&turn("r", "m1", "ann", "!hang"));
    service.running("m1");
    let pid = service.pid();
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    assert_eq!(children, "");
}

/// B40, B42: replies of one room are each tied to the message that they answer, and seen once.
#[test]
fn b42_parallel_replies_name_what_they_answer() {
    let service = Service::start("");
    let deliveries: Vec<String> = (0..12).map(|n| format!("m{n}")).collect();
    for delivery in &deliveries {
        service.admit(&turn("r", delivery, &format!("of-{delivery}"), &format!("I am {delivery}")));
    }
    let said = until("every reply", || Some(service.said("r")).filter(|said| said.len() == deliveries.len()));
    let pairs: BTreeSet<(String, String)> = said
        .iter()
        .map(|one| (one["reply_to"].as_str().unwrap().to_owned(), one["text"].as_str().unwrap().to_owned()))
        .collect();
    let expected = deliveries.iter().map(|delivery| (delivery.clone(), format!("demo: I am {delivery}")));
    assert_eq!(pairs, expected.collect());
}
