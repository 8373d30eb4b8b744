//! The owner's mail over the command line of the real program: what it prints, sends, keeps and refuses.

use std::io::{BufRead, BufReader};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::service::{Service, turn, until};

const NOBODY: &str = "00000000-0000-7000-8000-000000000000";
const NOWHERE: &str = "room-000000000000000000000000";

/// A decision with two options, as a directive of the demo agent.
fn decision(prompt: &str) -> String {
    let draft = json!({
        "purpose": "decision", "kind": "choice", "prompt": prompt, "waiting_on": "the release",
        "options": [{"label": "Now"}, {"label": "Monday"}], "recommendation": "Monday",
    });
    format!("!ask {draft}")
}

/// Something that only the owner can do, and that is answered in words.
fn words(prompt: &str) -> Value {
    json!({"purpose": "owner_action", "kind": "text", "prompt": prompt, "waiting_on": "the sign-in",
           "steps": ["Read the letter"]})
}

fn secret(prompt: &str) -> String {
    let mut draft = words(prompt);
    draft["secret"] = json!(true);
    format!("!ask {draft}")
}

/// The asks that wait, newest first, after that many were raised.
fn asked(service: &Service, lines: &[String]) -> Vec<Value> {
    service.settle(&turn("r", "asks", "ann", &lines.join("\n")));
    let list = service.cli(&["asks", "list"]).data();
    let asks = list["questions"].as_array().unwrap().clone();
    assert_eq!(asks.len(), lines.len(), "{list}");
    asks
}

fn text(ask: &Value, key: &str) -> String {
    ask[key].as_str().unwrap_or_else(|| panic!("{key}: {ask}")).to_owned()
}

/// What the exact grammar names an ask by, with the revision that was read.
fn names(ask: &Value) -> Vec<String> {
    let revision = ask["revision"].to_string();
    let mut names = vec![text(ask, "conversation_id"), text(ask, "request_id")];
    names.extend(["--incarnation".to_owned(), text(ask, "incarnation_id"), "--revision".to_owned(), revision]);
    names
}

/// `clankie conversations COMMAND NAMES FURTHER`.
fn exact<'a>(command: &'a str, names: &'a [String], further: &[&'a str]) -> Vec<&'a str> {
    let names = names.iter().map(String::as_str);
    ["conversations", command].into_iter().chain(names).chain(further.iter().copied()).collect()
}

fn delivered(service: &Service, ask: &Value) -> Value {
    let id = text(ask, "request_id");
    until("the answer to be delivered", || {
        let shown = service.cli(&["asks", "show", &id]).data();
        (shown["continuation"]["state"] == "delivered").then_some(shown)
    })
}

/// Answered by exact names, again with the same answer, and otherwise: one receipt, and a conflict.
#[test]
fn an_exact_answer_has_one_receipt_and_every_other_one_is_a_conflict() {
    let service = Service::start("");
    let ask = asked(&service, &[decision("Ship it?")]).remove(0);
    let names = names(&ask);
    let option = |at: usize| text(&ask["options"][at], "option_id");
    let (first, second) = (option(0), option(1));
    let once = service.cli(&exact("answer", &names, &["--option", &first])).data();
    assert_eq!((&once["status"], &once["question"]["status"]), (&json!("resolved"), &json!("submitted")));
    let shown = delivered(&service, &ask);
    assert_eq!(shown["answer"]["label"], "Now");
    let again = service.cli(&exact("answer", &names, &["--option", &first])).data();
    assert_eq!(again["question"]["answer"], once["question"]["answer"], "the same call is safe");
    assert_eq!(again["question"]["continuation"]["run_id"], once["question"]["continuation"]["run_id"]);
    for further in [&["--option", second.as_str()][..], &["--text", "neither"]] {
        let other = service.cli(&exact("answer", &names, further));
        assert_eq!(other.code, Some(5), "{other:?}");
        let result: Value = serde_json::from_str(&other.out).unwrap();
        assert_eq!((&result["schema_version"], &result["reason"]), (&json!(1), &json!("conflicting_answer")));
        assert!(other.err.contains("it was answered otherwise before, by operator "), "{other:?}");
    }
    let cancel = service.cli(&exact("cancel-question", &names, &[]));
    assert_eq!(cancel.code, Some(5), "{cancel:?}");
    let said = service.said("r");
    assert_eq!(said.iter().filter(|one| one["text"] == "demo: answered: Now").count(), 1, "{said:?}");
}

/// B63: after a conflict nothing is sent again, the ask still waits, and the words are said back.
#[test]
fn b63_a_conflict_keeps_the_draft_and_answers_nothing() {
    let service = Service::start("");
    let asks = asked(&service, &[format!("!ask {}", words("Which host?")), decision("Ship it?")]);
    let (other, open) = (&asks[0], &asks[1]);
    let stale = names(open);
    service.cli(&["asks", "cancel", &text(other, "request_id")]).data();
    let conflict = service.cli(&exact("answer", &stale, &["--text", "the second host"]));
    assert_eq!(conflict.code, Some(5), "{conflict:?}");
    assert!(conflict.err.contains("Your words, kept:\nthe second host"), "{conflict:?}");
    assert!(conflict.err.contains("read the ask again"), "{conflict:?}");
    let id = text(open, "request_id");
    assert_eq!(service.cli(&["asks", "show", &id]).data()["status"], "pending");
    let answered = service.cli(&["asks", "answer", &id, "--text", "the second host"]).data();
    assert_eq!(answered["question"]["answer"]["text"], "the second host");
}

/// B46, B72, M5: two asks of the same turn keep their own names and ends; a stale one shows how it ended.
#[test]
fn b46_b72_m5_a_stale_id_shows_its_own_end() {
    let service = Service::start("");
    let asks = asked(&service, &[decision("Ship it?"), decision("Ship that?")]);
    let (newer, older) = (text(&asks[0], "request_id"), text(&asks[1], "request_id"));
    let both = service.cli(&["asks", "show", &newer[..6]]);
    assert_eq!(both.code, Some(2), "a name of both is a name of none: {both:?}");
    service.cli(&["asks", "cancel", &newer]).data();
    service.cli(&["asks", "answer", &older, "--option", "Monday"]).data();
    let cancelled = service.cli(&["asks", "show", &newer]).data();
    assert_eq!((&cancelled["status"], &cancelled["reason"]), (&json!("cancelled"), &json!("owner_cancelled")));
    assert_eq!((&cancelled["answer"], &cancelled["prompt"]), (&Value::Null, &json!("Ship that?")));
    let answered = delivered(&service, &asks[1]);
    assert_eq!((&answered["answer"]["label"], &answered["prompt"]), (&json!("Monday"), &json!("Ship it?")));
    let late = service.cli(&["asks", "answer", &newer, "--option", "1"]);
    assert_eq!(late.code, Some(5), "{late:?}");
    assert!(late.err.contains("it was cancelled by operator "), "{late:?}");
    assert_eq!(service.cli(&["asks", "list"]).data()["questions"], json!([]));
    let all = service.cli(&["conversations", "questions", "--status", "cancelled"]).data();
    assert_eq!(all["questions"].as_array().unwrap().len(), 1);
}

/// Nobody is there to confirm: an approval must name what was read, and nothing that says yes is enough.
#[test]
fn an_approval_without_a_terminal_names_what_was_read() {
    let service = Service::start("");
    let draft = json!({"purpose": "approval", "prompt": "May I push?", "gate": "push", "waiting_on": "the push",
                       "kind": "choice"});
    let ask = asked(&service, &[format!("!ask {draft}")]).remove(0);
    let (id, incarnation) = (text(&ask, "request_id"), text(&ask, "incarnation_id"));
    let revision = ask["revision"].to_string();
    for blind in [&["--approve"][..], &["--option", "Approve"], &["--approve", "--yes"]] {
        let refused = service.cli_told("approve\nyes\n", &[&["asks", "answer", &id][..], blind].concat());
        assert_eq!(refused.code, Some(2), "{refused:?}");
    }
    assert_eq!(service.cli(&["asks", "show", &id]).data()["status"], "pending");
    let named = ["asks", "answer", &id, "--approve", "--incarnation", &incarnation, "--revision", &revision];
    assert_eq!(service.cli(&named).data()["question"]["answer"]["label"], "Approve");
}

/// M7: a private answer is taken from a pipe and is in nothing that the command line says or the store keeps.
#[test]
fn m7_a_private_answer_is_printed_nowhere() {
    let service = Service::start("");
    let ask = asked(&service, &[secret("The key?")]).remove(0);
    let (id, secret) = (text(&ask, "request_id"), "canary-51f0c77e2d84");
    let spoken = service.cli(&["asks", "answer", &id, "--text", "x"]);
    assert_eq!(spoken.code, Some(2), "not on a command line: {spoken:?}");
    let (names, revision) = (names(&ask), ask["revision"].clone());
    let exactly = service.cli(&exact("answer", &names, &["--text", "canary-0d6b51c3f1aa"]));
    assert_eq!((exactly.code, exactly.out.as_str()), (Some(2), ""), "nor under exact names: {exactly:?}");
    assert!(exactly.err.contains("--stdin"), "{exactly:?}");
    let still = service.cli(&["asks", "show", &id]).data();
    assert_eq!((&still["status"], &still["revision"]), (&json!("pending"), &revision), "nothing was sent");
    let short = service.cli_told("  pin  \n", &["asks", "answer", &id, "--stdin"]);
    assert!(short.code == Some(1) && short.err.contains("at least 4 bytes"), "{short:?}");
    let told = service.cli_told(&format!("{secret}\n"), &["asks", "answer", &id, "--stdin"]);
    assert_eq!(told.data()["question"]["answer"], json!({"kind": "private"}));
    let shown = delivered(&service, &ask);
    let other = service.cli_told("canary-9b1f0c77aa01\n", &["asks", "answer", &id, "--stdin"]);
    assert_eq!(other.code, Some(5), "{other:?}");
    let tail = service.cli(&["conversations", "tail", &text(&ask, "conversation_id")]);
    let seen = format!("{exactly:?}{told:?}{shown}{other:?}{tail:?}{:?}{}", service.said("r"), service.log());
    assert!(seen.contains("Private answer") && !seen.contains("canary-"), "{seen}");
}

#[test]
fn updates_are_listed_read_and_put_away_in_both_spellings() {
    let service = Service::start("");
    let mail = |title: &str| format!("!mail {}", json!({"title": title, "body": "All well"}));
    service.settle(&turn("r", "m1", "ann", &[mail("One"), mail("Two")].join("\n")));
    let list = service.cli(&["updates", "list"]).data();
    assert_eq!(list["counts"]["updates"], 2);
    let id = |at: usize| text(&list["updates"][at], "id");
    assert_eq!(service.cli(&["updates", "read", &id(0)]).data()["update"]["state"], "read");
    assert_eq!(service.cli(&["conversations", "dismiss-update", &id(0)]).data()["update"]["state"], "dismissed");
    assert_eq!(service.cli(&["conversations", "read-update", &id(0)]).data()["update"]["state"], "dismissed");
    assert_eq!(service.cli(&["updates", "dismiss", &id(1)]).data()["update"]["state"], "dismissed");
    assert_eq!(service.cli(&["conversations", "updates"]).data()["updates"], json!([]));
    let all = service.cli(&["conversations", "updates", "--state", "all"]).data();
    assert_eq!((all["updates"].as_array().unwrap().len(), &all["counts"]["updates"]), (2, &json!(0)));
    assert_eq!(service.cli(&["asks", "list"]).data()["questions"], json!([]), "an update asks for nothing");
    assert_eq!(service.cli(&["status"]).data()["mail"], json!({"asks": 0, "updates": 0}));
}

#[test]
fn what_is_wrong_has_its_exit_code() {
    let mut service = Service::start("");
    let ask = asked(&service, &[decision("Ship it?")]).remove(0);
    let (names, option) = (names(&ask), text(&ask["options"][0], "option_id"));
    let swapped = |at: usize, with: &str| {
        let mut names = names.clone();
        names[at] = with.to_owned();
        names
    };
    let (elsewhere, unknown, former, moved) =
        (swapped(0, NOWHERE), swapped(1, NOBODY), swapped(3, NOBODY), swapped(5, "99"));
    let choose = ["--option", option.as_str()];
    let table = [
        (2, exact("answer", &names, &[])),
        (2, exact("answer", &names, &["--text", ""])),
        (2, exact("answer", &names, &["--text", "x", "--stdin"])),
        (2, vec!["asks", "show", "0192f"]),
        (3, exact("answer", &elsewhere, &choose)),
        (3, exact("answer", &unknown, &choose)),
        (3, exact("answer", &former, &choose)),
        (3, exact("answer", &unknown, &["--text", "x"])),
        (3, exact("cancel-question", &unknown, &[])),
        (3, vec!["conversations", "questions", NOWHERE]),
        (3, vec!["conversations", "questions", "--request", NOBODY]),
        (3, vec!["conversations", "tail", NOWHERE]),
        (3, vec!["conversations", "read-update", NOBODY]),
        (3, vec!["asks", "show", NOBODY]),
        (3, vec!["updates", "dismiss", NOBODY]),
        (5, exact("answer", &moved, &choose)),
        (1, exact("answer", &names, &["--text", "no option of it"])),
        (1, exact("answer", &names, &["--option", NOBODY])),
    ];
    for (code, arguments) in &table {
        let ran = service.cli(arguments);
        assert_eq!(ran.code, Some(*code), "{arguments:?}: {ran:?}");
        assert!(!ran.err.is_empty(), "{ran:?}");
    }
    let too_long = service.cli_told(&"x".repeat(64_001), &exact("answer", &names, &["--stdin"]));
    assert_eq!(too_long.code, Some(2), "{too_long:?}");
    let no_map = service.cli_told("{\"q\": 1}", &exact("answer", &names, &["--worker-stdin"]));
    assert_eq!(no_map.code, Some(2), "{no_map:?}");
    assert_eq!(service.cli(&["asks", "list"]).data()["counts"]["asks"], 1, "none of it answered anything");
    let captain = service.scratch().join("captain.token");
    std::fs::write(&captain, service.token("captain", "agent")).unwrap();
    let (url, captain) = (format!("http://{}", service.address()), captain.display().to_string());
    let wrong = service.cli(&["asks", "list", "--url", &url, "--token-file", &captain]);
    assert_eq!(wrong.code, Some(4), "the agent's own credential reads no mail: {wrong:?}");
    service.kill();
    assert_eq!(service.cli(&["asks", "list"]).code, Some(8));
    std::fs::remove_file(service.state_dir().join("operator.token")).unwrap();
    let blind = service.cli(&exact("answer", &names, &choose));
    assert_eq!(blind.code, Some(4), "{blind:?}");
}

/// What is there is printed and ends; what follows goes on over a restart of the service, each once.
#[test]
fn events_are_printed_once_each_over_a_restart() {
    let mut service = Service::start("");
    service.settle(&turn("r", "m1", "ann", "hello"));
    let there = service.cli(&["events"]);
    assert_eq!(there.code, Some(0), "{there:?}");
    let events: Vec<Value> = there.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(events.iter().all(|event| event["schema_version"] == 1 && event["cursor"].is_string()), "{events:?}");
    let last = text(events.last().unwrap(), "cursor");
    assert_eq!(service.cli(&["events", "--after", &last]).out, "");

    let first = text(&events[0], "cursor");
    let mut follow = service.cli_begun(&["events", "-f", "--after", &first]);
    let mut lines = BufReader::new(follow.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut seen: Vec<String> = Vec::new();
    let mut until_seen = |seen: &mut Vec<String>, what: &str| {
        for line in lines.by_ref() {
            let found = line.contains(what);
            seen.push(text(&serde_json::from_str(&line).unwrap(), "cursor"));
            if found {
                return;
            }
        }
        panic!("the end came before {what}");
    };
    until_seen(&mut seen, &last);
    assert_eq!(service.stop(), Some(0));
    service.launch();
    service.settle(&turn("r", "m2", "ann", &decision("Ship it?")));
    until_seen(&mut seen, "input_requested");
    let mut once = seen.clone();
    once.dedup();
    assert_eq!((once.len(), seen.contains(&first)), (seen.len(), false), "{seen:?}");
    kill_process(Pid::from_child(&follow), Signal::INT).unwrap();
    assert_eq!(until("the follower to end", || follow.try_wait().unwrap()).code(), Some(130));
}

/// The display shows what was answered, with its receipt, and is followed live.
#[test]
fn a_conversation_is_listed_and_followed() {
    let service = Service::start("");
    let ask = asked(&service, &[decision("Ship it?")]).remove(0);
    let conversation = text(&ask, "conversation_id");
    let list = service.cli(&["conversations", "list"]).data();
    let one =
        list["conversations"].as_array().unwrap().iter().find(|one| one["conversation_id"] == conversation.as_str());
    assert_eq!(one.unwrap()["pending"], 1);
    let mut tail = service.cli_begun(&["conversations", "tail", "-f", &conversation]);
    let mut lines = BufReader::new(tail.stdout.take().unwrap()).lines().map(Result::unwrap);
    service.cli(&["asks", "answer", &text(&ask, "request_id"), "--option", "2"]).data();
    let answered = lines.find(|line| line.contains("\"answered\"")).unwrap();
    let answered: Value = serde_json::from_str(&answered).unwrap();
    assert!(text(&answered, "text").contains("You answered: Monday"), "{answered}");
    assert_eq!(answered["answer_receipt"]["request_id"], ask["request_id"]);
    kill_process(Pid::from_child(&tail), Signal::INT).unwrap();
    assert_eq!(until("the tail to end", || tail.try_wait().unwrap()).code(), Some(130));
}
