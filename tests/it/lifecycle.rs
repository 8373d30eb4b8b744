//! How the service begins, reads its configuration again, and ends.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::service::{Ask, Service, turn, until};

#[test]
fn a_ready_service_says_where_it_is_to_its_owner_alone() {
    let mut service = Service::start("");
    let file = service.state_dir().join("service.json");
    let said: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let keys: BTreeSet<&str> = said.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, BTreeSet::from(["pid", "started_at", "url", "version"]));
    assert_eq!(said["pid"], service.pid());
    for (name, mode) in [("", 0o700), ("service.json", 0o600), ("operator.token", 0o600), ("clankie.redb", 0o600)] {
        let about = fs::metadata(service.state_dir().join(name)).unwrap();
        assert_eq!(about.permissions().mode() & 0o777, mode, "{name}");
    }
    assert!(service.operator().starts_with("clk_operator_"));
    for path in ["/healthz", "/readyz", "/metrics"] {
        assert_eq!(service.send(&Ask::get(path)).status, 200, "{path}");
    }
    let log = service.log();
    for word in ["is ready at http://127.0.0.1:", "demo", "lab", "operator.token"] {
        assert!(log.contains(word), "{word}: {log}");
    }
    let operator = service.operator().to_owned();
    assert_eq!(service.stop(), Some(0));
    assert!(!file.exists(), "nobody is there any more");
    service.launch();
    assert_eq!(service.operator(), operator, "the owner keeps the token");
}

/// B10: what runs gets its grace, what waits is kept, and nothing new is taken meanwhile.
#[test]
fn b10_a_stop_lets_work_finish_and_keeps_what_waits() {
    let mut service = Service::start("[limits]\nrunning = 1\nrunning_per_room = 1\n[shutdown]\ngrace = \"60s\"");
    service.admit(&turn("r", "runs", "ann", "!sleep 5000\n!say finished"));
    service.running("runs");
    service.admit(&turn("r", "waits", "bob", "!say later"));
    service.signal(Signal::TERM);
    until("the stop to begin", || service.log().contains("nothing new is admitted").then_some(()));
    let refused = service.submit(&turn("r", "late", "cy", "hello"));
    assert_eq!((refused.status, refused.problem().as_str()), (503, "shutting-down"), "{refused:?}");
    assert!(refused.header("retry-after").is_some(), "{refused:?}");
    assert_eq!(service.send(&Ask::get("/readyz")).status, 503);
    assert_eq!(service.send(&Ask::get("/healthz")).status, 200);
    assert_eq!(service.ended(), Some(0));
    assert!(service.log().contains("1 finished, 0 interrupted"), "{}", service.log());
    service.launch();
    assert_eq!(service.reply("r", "runs"), "demo:\nfinished");
    assert_eq!(service.reply("r", "waits"), "demo:\nlater");
    assert_eq!(service.record("late"), None);
    assert_eq!(service.settle(&turn("r", "late", "cy", "hello")).json()["result"]["text"], "demo: hello");
}

#[test]
fn what_does_not_finish_within_its_grace_is_interrupted() {
    let grace = "[shutdown]\ngrace = \"200ms\"\n[sessions]\nstop_grace = \"200ms\"";
    let mut service = Service::start(grace);
    for (room, words) in [("a", "!sleep 600000"), ("b", "!hang")] {
        service.admit(&turn(room, room, "ann", words));
        service.running(room);
    }
    assert_eq!(service.stop(), Some(0));
    assert!(service.log().contains("0 finished, 2 interrupted"), "{}", service.log());
    service.launch();
    for room in ["a", "b"] {
        assert_eq!(service.result(room, room), json!({"kind": "failed", "code": "interrupted"}));
    }
}

#[test]
fn a_second_signal_stops_at_once() {
    let mut service = Service::start("[shutdown]\ngrace = \"1h\"");
    service.admit(&turn("r", "runs", "ann", "!sleep 600000"));
    service.running("runs");
    service.signal(Signal::TERM);
    until("the stop to begin", || service.log().contains("nothing new is admitted").then_some(()));
    service.signal(Signal::TERM);
    assert_eq!(service.ended(), Some(1));
    assert!(service.log().contains("stopped at once"), "{}", service.log());
    service.launch();
    assert_eq!(service.result("r", "runs"), json!({"kind": "failed", "code": "interrupted"}));
}

/// In a room of its own, so that none of them joins another.
fn as_machine(delivery: &str, words: &str) -> Value {
    let mut turn = turn(delivery, delivery, "ann", words);
    turn["grant"] = json!("machine");
    turn
}

/// I8: authority that goes away in the file stops what runs on it; a broken file changes nothing.
#[test]
fn i8_a_grant_that_shrinks_in_the_file_stops_what_runs_on_it() {
    const GRANTED: &str = "[grants]\nmachine_actors = [\"ingress:t:ann\"]";
    let service = Service::start(GRANTED);
    service.admit(&as_machine("m1", "!sleep 600000\n!say done"));
    assert_eq!(service.running("m1")["grant"]["plan"], "machine");

    service.configure("demo", "[grants]\nmachine_actors = nonsense");
    until("the broken file to be said", || service.log().contains("last good one stays in force").then_some(()));
    let refused = service.dispatch(json!({"op": "config_reload"}));
    assert_eq!((&refused["status"], &refused["reason"]), (&json!("refused"), &json!("config_refused")));
    assert!(refused["detail"].as_str().unwrap().contains("clankie.toml:8"), "{refused}");
    assert_eq!(service.record("m1").unwrap()["state"], "running");
    service.settle(&as_machine("m2", "hello"));
    assert_eq!(service.record("m2").unwrap()["grant"]["plan"], "machine");

    service.configure("demo", "");
    assert_eq!(service.result("m1", "m1"), json!({"kind": "failed", "code": "authority_revoked"}));
    service.settle(&as_machine("m3", "hello"));
    assert_eq!(service.record("m3").unwrap()["grant"]["plan"], "social");
}

#[test]
fn a_reload_says_what_is_in_force_and_what_waits_for_a_restart() {
    let service = Service::start("");
    let reload = || service.dispatch(json!({"op": "config_reload"}));
    assert_eq!(reload(), json!({"status": "ready", "changed": []}));
    // The watcher may be first: then this reload finds nothing new, and the log has it.
    service.configure("demo", "[[rooms.local]]\nname = \"den\"\n[limits]\nwaiting = 7");
    let told = reload()["changed"].to_string() + &service.log();
    for line in ["rooms: in force", "limits: after a restart"] {
        assert!(told.contains(line), "{line}: {told}");
    }
    let account = service.token("account", "ann");
    let say = Ask::post("/rooms/v1/den/messages").token(&account).json(&json!({"delivery_id": "m", "text": "hi"}));
    assert_eq!(service.send(&say).status, 202, "the new room is open");
    service.configure("demo", "");
    service.signal(Signal::HUP);
    until("the room to be closed", || {
        let say = Ask::post("/rooms/v1/den/messages").token(&account);
        (service.send(&say.json(&json!({"delivery_id": "m2", "text": "hi"}))).status == 404).then_some(())
    });
}

/// Whoever waits when the service stops gets an answer: the saved result, or that it is stopping.
#[test]
fn whoever_waits_for_a_stop_is_answered_and_saved_results_are_given_to_the_end() {
    let mut service = Service::start("[limits]\nrunning = 1\nrunning_per_room = 1\n[shutdown]\ngrace = \"60s\"");
    let done = turn("q", "done", "dee", "hello");
    let saved = service.settle(&done).json()["result"].clone();
    service.admit(&turn("r", "runs", "ann", "!wait-steer 60000\n!say finished"));
    service.running("runs");
    service.admit(&turn("r", "waits", "bob", "!say later"));
    let lane = service.lane("t");
    let address = service.address().to_owned();
    let waiting = std::thread::spawn(move || Ask::get("/ingress/v1/turns/r/waits?wait=60").token(&lane).send(&address));
    let token = service.lane("t");
    service.signal(Signal::TERM);
    until("the stop to begin", || service.log().contains("nothing new is admitted").then_some(()));
    let again = service.send(&Ask::post("/ingress/v1/turns").token(&token).json(&done));
    assert_eq!((again.status, &again.json()["result"]), (200, &saved), "{again:?}");
    let cancel = serde_json::json!({"actor": {"id": "ann"}});
    let _ = service.send(&Ask::new("DELETE", "/ingress/v1/turns/r/runs").token(&token).json(&cancel));
    service.signal(Signal::INT);
    let answer = waiting.join().unwrap();
    assert_eq!((answer.status, answer.problem().as_str()), (503, "shutting-down"), "{answer:?}");
    service.ended();
}

/// One lane that leaves its bodies and waits open cannot keep the owner out.
#[test]
fn a_lane_that_holds_connections_keeps_nobody_out() {
    use std::io::Write;
    let service = Service::start("");
    let lane = service.lane("t");
    let held: Vec<_> = (0..300)
        .filter_map(|_| {
            let mut stream = std::net::TcpStream::connect(service.address()).ok()?;
            let head = format!(
                "POST /ingress/v1/turns HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {lane}\r\n\
                 Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{",
                service.address()
            );
            stream.write_all(head.as_bytes()).ok()?;
            Some(stream)
        })
        .collect();
    assert_eq!(held.len(), 300);
    let operator = service.operator().to_owned();
    let answer = service.send(&Ask::get("/operator/v1/handoffs").token(&operator));
    assert_eq!(answer.status, 200, "{answer:?}");
}

/// Whoever read the log is gone: every line fails, a panic's too, and the service goes on, counts
/// the lines, and ends in order.
#[test]
fn a_log_that_nobody_reads_any_more_ends_nothing() {
    for format in ["text", "json"] {
        let mut service = Service::prepare(&format!("[log]\nfilter = \"trace\"\nformat = \"{format}\""));
        drop(service.launch_into_pipe());
        for number in 0..3 {
            let asked = turn("r", &format!("{format} {number}"), "ann", "hello");
            assert_eq!(service.settle(&asked).json()["result"]["text"], "demo: hello");
        }
        let scrape = service.send(&Ask::get("/metrics")).body;
        let lost = scrape.lines().find_map(|line| line.strip_prefix("clankie_log_lines_lost_total "));
        assert!(lost.is_some_and(|lost| lost != "0"), "{format}: {scrape}");
        assert_eq!(service.stop(), Some(0), "{format}");
    }
}
