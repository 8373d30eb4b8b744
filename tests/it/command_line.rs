//! The command line against a running service: what it prints, and the exit codes that scripts rely on.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};

use serde_json::{Value, json};

use crate::service::{Service, turn, until};

const NOBODY: &str = "00000000-0000-7000-8000-000000000000";

#[test]
fn handoffs_are_listed_shown_followed_and_cancelled() {
    let service = Service::start("");
    service.settle(&turn("r", "done", "ann", "!say hello\n!tool list_handoffs"));
    let id = service.admit(&turn("r", "runs", "bob", "!wait-steer 60000\n!sleep 600000"));
    service.running("runs");

    let all = service.cli(&["handoffs", "list"]).data();
    assert_eq!(all["handoffs"].as_array().unwrap().len(), 2);
    assert_eq!(all["counts"]["running"], 1);
    let running = service.cli(&["handoffs", "list", "--state", "running", "--room", "ingress:t:r"]).data();
    assert_eq!(running["handoffs"][0]["id"], id.as_str());
    assert_eq!(running["handoffs"].as_array().unwrap().len(), 1);
    let one = service.cli(&["handoffs", "show", &id]).data();
    assert_eq!(
        (&one["delivery_id"], &one["actor"], &one["executor"]),
        (&json!("runs"), &json!("ingress:t:bob"), &json!("demo"))
    );

    let cancelled = service.cli(&["handoffs", "cancel", &id]).data();
    assert_eq!(cancelled["handoff_id"], id.as_str());
    let result = service.result("r", "runs");
    assert_eq!((&result["kind"], &result["by"]["kind"]), (&json!("cancelled"), &json!("operator")));
    let again = service.cli(&["handoffs", "cancel", &id]).data();
    assert_eq!((&again["outcome"], &again["result"]), (&json!("ended"), &result), "what is over stays as it ended");

    let done = service.record("done").unwrap()["id"].as_str().unwrap().to_owned();
    let told = service.cli(&["handoffs", "tail", &done]);
    assert_eq!(told.code, Some(0), "{told:?}");
    let lines: Vec<Value> = told.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: BTreeSet<&str> = lines.iter().map(|line| line["kind"].as_str().unwrap()).collect();
    assert!(kinds.is_superset(&BTreeSet::from(["given", "text", "tool", "note"])), "{kinds:?}");
    assert!(lines.iter().all(|line| line["schema_version"] == 1), "{}", told.out);
}

/// The beginning of an id names its handoff as long as only one begins so; it is never guessed.
#[test]
fn a_handoff_is_named_by_the_beginning_of_its_id() {
    let service = Service::start("");
    let first = service.admit(&turn("r", "m1", "ann", "one"));
    service.result("r", "m1");
    let second = service.admit(&turn("r", "m2", "ann", "two"));
    service.result("r", "m2");
    let digits = |id: &str| id.replace('-', "");
    let alike = digits(&first).bytes().zip(digits(&second).bytes()).take_while(|(a, b)| a == b).count();
    for id in [&first, &second] {
        let shown = service.cli(&["handoffs", "show", &digits(id)[..=alike].to_uppercase()]).data();
        assert_eq!(shown["id"], id.as_str());
    }
    assert_eq!(service.cli(&["handoffs", "tail", &digits(&first)[..=alike]]).code, Some(0));
    let ambiguous = service.cli(&["handoffs", "cancel", &digits(&first)[..6]]);
    assert_eq!(ambiguous.code, Some(2), "{ambiguous:?}");
    assert!(ambiguous.err.contains(&first) && ambiguous.err.contains(&second), "{ambiguous:?}");
    assert_eq!(service.cli(&["handoffs", "show", "ffffff"]).code, Some(3));
}

/// A reply that stands where it was meant to is not posted once more, and nobody else's wish counts.
#[test]
fn only_what_did_not_arrive_is_posted_once_more() {
    let service = Service::start("");
    let id = service.admit(&turn("r", "m1", "ann", "hello"));
    service.result("r", "m1");
    let refused = service.dispatch(json!({"op": "handoff_repost", "handoff_id": id}));
    assert_eq!((&refused["status"], &refused["reason"]), (&json!("refused"), &json!("nothing_to_repost")));
    let ran = service.cli(&["handoffs", "repost", &id]);
    assert!(ran.code == Some(5) && ran.out.is_empty(), "{ran:?}");
    assert_eq!(service.cli(&["handoffs", "repost", NOBODY]).code, Some(3));
    let wish = json!({"schema_version": 1, "op": "handoff_repost", "handoff_id": id});
    let lane = crate::service::Ask::post("/operator/v1/dispatch").token(&service.lane("x")).json(&wish);
    assert_eq!(service.send(&lane).status, 403);
    assert_eq!(service.said("r").iter().filter(|one| one["kind"] == "reply").count(), 1);
}

/// A transcript is read while it is written: a line is there before its run has ended.
#[test]
fn a_running_handoff_is_followed_live() {
    let service = Service::start("");
    let id = service.admit(&turn("r", "m1", "ann", "!say on my way\n!wait-steer 600000\n!say done"));
    let mut tail = service.cli_begun(&["handoffs", "tail", &id]);
    let mut lines = BufReader::new(tail.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("on my way")));
    assert_eq!(service.record("m1").unwrap()["state"], "running", "it was said before the end");
    service.admit(&turn("r", "m2", "ann", "go on"));
    assert!(lines.any(|line| line.contains("go on")), "and so is what joins it");
    drop(lines);
    assert!(until("the end to be followed", || tail.try_wait().unwrap()).code().is_some());
    assert_eq!(service.reply("r", "m1"), "demo:\non my way\ngo on\ndone");
}

#[test]
fn tokens_are_made_once_listed_without_secrets_and_revoked_at_once() {
    let service = Service::start("");
    let made = service.cli(&["tokens", "create", "--kind", "lane-text", "--name", "bridge"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let secret = made.out.trim().to_owned();
    assert!(secret.starts_with("clk_") && secret.lines().count() == 1, "{made:?}");
    let list = service.cli(&["tokens", "list"]);
    assert!(!list.out.contains(secret.rsplit('_').next().unwrap()), "{list:?}");
    let tokens = list.data()["tokens"].as_array().unwrap().clone();
    let bridge = tokens.iter().find(|token| token["name"] == "bridge").unwrap();
    assert_eq!(bridge["kind"], "lane-text");

    let read = crate::service::Ask::get("/ingress/v1/rooms/lab/messages").token(&secret);
    assert_eq!(service.send(&read).status, 200);
    let revoked = service.cli(&["tokens", "revoke", bridge["id"].as_str().unwrap()]).data();
    assert!(revoked["revoked_at"].is_string(), "{revoked}");
    assert_eq!(service.send(&read).status, 401);
    let again = service.cli(&["tokens", "create", "--kind", "lane-text", "--name", "bridge"]);
    assert_eq!(again.code, Some(5), "a retired name is not used again: {again:?}");
}

#[test]
fn status_rooms_configuration_and_completions_are_printed() {
    let service = Service::start("[limits]\nwaiting = 7");
    let status = service.cli(&["status"]).data();
    assert_eq!((&status["pid"], &status["draining"]), (&json!(service.pid()), &json!(false)));
    assert_eq!(status["counts"]["limits"]["waiting"], 7);
    assert_eq!(status["routes"], json!({"social": "demo", "machine": "demo", "owner": "demo"}));
    let rooms = service.cli(&["rooms"]).data();
    assert_eq!(rooms["rooms"][0]["room"], "local:lab");

    let file = service.config_file();
    let shown = service.cli(&["config", "show", "--origin", "--config", file.to_str().unwrap()]).data();
    let keys = shown["keys"].as_array().unwrap();
    let origin = |key: &str| keys.iter().find(|row| row["key"] == key).unwrap()["origin"].clone();
    assert_eq!(origin("limits.waiting"), format!("{}:8", file.display()));
    assert_eq!((origin("limits.running"), origin("state_dir")), (json!("default"), json!("--state-dir")));
    for shell in ["bash", "zsh", "fish"] {
        let script = service.cli(&["completions", shell]);
        assert!(script.code == Some(0) && script.out.contains("handoffs"), "{shell}: {}", script.err);
    }
}

/// B11, B43: what is said in a pipe is answered in that pipe, also when others talk in the room.
#[test]
fn b11_b43_a_piped_line_gets_its_own_reply() {
    let service = Service::start("");
    let people = ["ann", "bob", "cy"];
    std::thread::scope(|scope| {
        let talks = people.map(|name| {
            let service = &service;
            scope.spawn(move || service.cli_told(&format!("I am {name}\n"), &["chat", "lab", "--as", name]))
        });
        for (name, talk) in people.iter().zip(talks) {
            let said = talk.join().unwrap();
            assert_eq!(
                (said.code, said.out.as_str()),
                (Some(0), format!("clankie: demo: I am {name}\n").as_str()),
                "{said:?}"
            );
        }
    });
    let again = service.cli_told("\nme again\n", &["chat", "lab", "--as", "ann", "--json"]).data();
    assert_eq!((&again["kind"], &again["text"]), (&json!("reply"), &json!("demo: me again")));
    let all = service.read("/rooms/v1/lab/messages");
    let authors: BTreeSet<&str> =
        all["messages"].as_array().unwrap().iter().filter_map(|one| one["author"].as_str()).collect();
    assert_eq!(authors, BTreeSet::from(["local:ann", "local:bob", "local:cy"]));
}

#[test]
fn every_refusal_has_its_exit_code() {
    let mut service = Service::start("[limits]\nrunning = 1\nrunning_per_room = 1\nwaiting = 1");
    let lane = service.lane("x");
    let wrong = service.scratch().join("lane.token");
    std::fs::write(&wrong, lane).unwrap();
    let (url, wrong) = (format!("http://{}", service.address()), wrong.display().to_string());
    for (n, room) in ["a", "b"].iter().enumerate() {
        service.admit(&turn(room, &format!("m{n}"), "ann", "!sleep 600000"));
    }
    let table: [(i32, &[&str]); 9] = [
        (2, &["handoffs", "show", "not-an-id"]),
        (2, &["fly"]),
        (2, &["chat", "lab", "--as", "../ann"]),
        (3, &["handoffs", "show", NOBODY]),
        (3, &["handoffs", "cancel", NOBODY]),
        (3, &["tokens", "revoke", NOBODY]),
        (4, &["status", "--url", &url, "--token-file", &wrong]),
        (5, &["tokens", "create", "--kind", "lane-voice", "--name", "x"]),
        (1, &["tokens", "create", "--kind", "account", "--name", "a:b"]),
    ];
    for (code, arguments) in table {
        let ran = service.cli(arguments);
        assert_eq!(ran.code, Some(code), "{arguments:?}: {ran:?}");
        assert!(ran.out.is_empty() && !ran.err.is_empty(), "words go to standard error: {ran:?}");
    }
    let busy = service.cli_told("hello\n", &["chat", "lab", "--as", "bob"]);
    assert_eq!(busy.code, Some(6), "{busy:?}");
    let unknown = service.cli_told("hello\n", &["chat", "attic", "--as", "bob"]);
    assert_eq!(unknown.code, Some(3), "{unknown:?}");
    assert_eq!(service.cli(&["demo", "--no-such-flag"]).code, Some(2));
    service.kill();
    let gone = service.cli(&["status"]);
    assert!(gone.code == Some(8) && gone.err.contains("not reachable"), "{gone:?}");
}
