//! Whole cards, also of text that was written to deceive.

use serde_json::{Value, json};

use super::*;
use crate::cli::words;
use crate::owner::wire::{OwnerUpdateBody, QuestionBody};

const NOW: &str = "2030-01-01T00:03:00Z";
const REQUEST: &str = "01a22f0d-88a8-7236-8e27-1da1651f0ee7";

fn question(changes: Value) -> QuestionBody {
    let mut wire = json!({
        "request_id": REQUEST, "conversation_id": "room-dcf0bdac60b09940fe94124a",
        "incarnation_id": "01a22f0d-8891-757f-a10c-781911ff0342", "revision": 4, "purpose": "decision",
        "kind": "choice", "prompt": "Ship it?",
        "options": [
            {"option_id": "01a22f0d-8891-757f-a10c-781abfeff5ef", "label": "Now"},
            {"option_id": "01a22f0d-8891-757f-a10c-781b14c32a06", "label": "Monday", "description": "after the weekend"},
        ],
        "allow_freeform": false, "recommendation": "Monday", "waiting_on": "the release", "steps": [], "gate": null,
        "secret": false, "issue": null, "worker_question": null, "workspace": null, "context": null,
        "provenance": null,
        "origin": {"handoff_id": "01a22f0d-8870-74c2-ae4a-e3cbffaf7fe9", "run_id": "01a22f0d-8870-74c2-ae4a-e3cc4aaab44d",
                   "actor": "local:ann", "actor_name": "Ann", "room": "local:lab"},
        "created_at": "2030-01-01T00:00:00Z", "status": "pending", "answer": null, "resolved_at": null,
        "resolved_by": null, "reason": null, "continuation": null,
    });
    for (key, value) in changes.as_object().unwrap() {
        wire[key] = value.clone();
    }
    serde_json::from_value(wire).unwrap()
}

fn shown(changes: Value) -> Vec<String> {
    ask(&question(changes), NOW.parse().unwrap())
}

#[test]
fn a_decision_shows_everything_that_it_is_about() {
    let issue = json!({"tracker": "github", "key": "#12", "url": "https://github.com@evil.example/12"});
    let card = shown(json!({"issue": issue, "allow_freeform": true}));
    let expected = "\
? waiting on you · decision · 3 min old
ask           01a22f0d-88a8-7236-8e27-1da1651f0ee7
room          local:lab
person        Ann (local:ann)
source        handoff 01a22f0d-8870-74c2-ae4a-e3cbffaf7fe9
conversation  room-dcf0bdac60b09940fe94124a
incarnation   01a22f0d-8891-757f-a10c-781911ff0342
revision      4
issue         github #12, evil.example: https://github.com@evil.example/12

asks:
  Ship it?

what waits:
  the release

options:
  1  Now
     01a22f0d-8891-757f-a10c-781abfeff5ef
* 2  Monday
     after the weekend
     01a22f0d-8891-757f-a10c-781b14c32a06
* is what the agent recommends
or your own words

answer  clankie asks answer 01a22f0d-88a8-7236-8e27-1da1651f0ee7 --option NUMBER
cancel  clankie asks cancel 01a22f0d-88a8-7236-8e27-1da1651f0ee7";
    assert_eq!(card.join("\n"), expected);
}

/// Nothing that another wrote moves the cursor, hides, turns round, or stands where we speak.
#[test]
fn hostile_text_stays_inside_its_own_lines() {
    let long = format!("{}options: 1 Approve", "x ".repeat(60));
    let card = shown(json!({
        "purpose": "approval", "gate": "push",
        "prompt": format!("\u{1b}[2J\u{1b}]0;t\u{7}Push\r?\noptions:\n* 1  Approve\n{long}"),
        "options": [
            {"option_id": "a", "label": "Approve\n\nanswer:\n  yes", "role": "approve"},
            {"option_id": "b\u{202e}", "label": "\u{202e}enilceD", "role": "decline"},
        ],
        "recommendation": "Approve\u{9b}1m now", "waiting_on": "\u{2066}x\u{2069}\n✓ answered",
        "issue": {"tracker": "t\n? waiting", "key": "k", "url": "javascript:alert(1)"},
        "steps": ["open\n2  nothing", "rest"], "context": "said\tso", "provenance": "the host",
    }));
    let expected = "\
? waiting on you · approval · push · 3 min old
ask           01a22f0d-88a8-7236-8e27-1da1651f0ee7
room          local:lab
person        Ann (local:ann)
source        handoff 01a22f0d-8870-74c2-ae4a-e3cbffaf7fe9
conversation  room-dcf0bdac60b09940fe94124a
incarnation   01a22f0d-8891-757f-a10c-781911ff0342
revision      4
issue         t ? waiting k, no web address: javascript:alert(1)
context by    the host

asks:
  Push?
  options:
  * 1  Approve
  x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x
  x x x x x x x x x x x x x x x x x x x x x x options: 1 Approve

what waits:
  x
  ✓ answered

context:
  said    so

the agent recommends:
  Approve now

what only you can do:
  1  open
     2  nothing
  2  rest

options:
  1  Approve

     answer:
       yes
     a
  2  enilceD
     b

answer  clankie asks answer 01a22f0d-88a8-7236-8e27-1da1651f0ee7 --approve (or --decline)
cancel  clankie asks cancel 01a22f0d-88a8-7236-8e27-1da1651f0ee7";
    assert_eq!(card.join("\n"), expected);
}

#[test]
fn a_workers_question_shows_every_question_and_hides_private_answers() {
    let card = shown(json!({
        "purpose": "decision", "kind": "text", "options": [], "recommendation": null, "waiting_on": null,
        "worker_question": {"seat_id": "s1", "session_id": "x", "request_id": 7, "questions": [
            {"id": "q1", "text": "Which branch?", "options": ["main", "next"], "secret": false},
            {"id": "q2", "text": "Token?", "options": [], "secret": true},
        ]},
        "status": "submitted", "resolved_at": "2030-01-01T00:02:00Z", "resolved_by": {"kind": "device", "id": "d1"},
        "answer": {"kind": "worker", "answers": {"q1": ["main"], "q2": []}},
        "continuation": {"run_id": "r", "handoff_id": null, "state": "claimed", "reason_code": null, "seen": false, "at": NOW},
    }));
    let expected = "\
asks:
  Ship it?

questions of the worker s1:
  [q1]
     Which branch?
     - main
     - next
  [q2] · private answer
     Token?

answer:
  [q1] main
  [q2] Private answer

resolved 2030-01-01T00:02:00Z by device d1";
    assert_eq!(card[0], "… sending · decision · 3 min old");
    assert!(card.join("\n").ends_with(expected), "{}", card.join("\n"));
}

fn submitted(state: &str, reason: Value, seen: Value) -> Value {
    json!({
        "status": "submitted", "answer": {"kind": "choice", "option_id": "o", "label": "Now"},
        "resolved_at": NOW, "resolved_by": {"kind": "operator", "id": "t1"},
        "continuation": {"run_id": "r", "handoff_id": "h", "state": state, "reason_code": reason, "seen": seen, "at": NOW},
    })
}

#[test]
fn every_state_has_its_word_and_its_sign() {
    let by = json!({"kind": "service", "id": "clankie"});
    let table = [
        (json!({}), "? waiting on you"),
        (submitted("claimed", Value::Null, json!(false)), "… sending"),
        (submitted("dispatching", Value::Null, json!(false)), "… sending"),
        (submitted("delivered", Value::Null, json!(false)), "✓ answered"),
        (submitted("uncertain", Value::Null, json!(false)), "! unconfirmed"),
        (submitted("uncertain", Value::Null, json!(true)), "! unconfirmed, seen"),
        (submitted("returned", json!("authority_revoked"), json!(false)), "⇄ returned (authority_revoked)"),
        (
            json!({"status": "cancelled", "reason": "context_reset", "resolved_by": by}),
            "⊘ cancelled (context_reset, by service clankie)",
        ),
        (json!({"status": "cancelled"}), "⊘ cancelled (no reason was given)"),
    ];
    for (changes, word) in table {
        assert_eq!(words::ask(&question(changes.clone())), word, "{changes}");
    }
}

/// B49: a card that is over offers no answer; one that is unconfirmed offers its source and a mark, and
/// never to send again.
#[test]
fn b49_what_is_over_or_unknown_is_not_offered_again() {
    let offers = |changes: Value| -> Vec<String> {
        let known = ["answer  ", "cancel  ", "open source", "mark as seen"];
        shown(changes).into_iter().filter(|line| known.iter().any(|one| line.starts_with(one))).collect()
    };
    let source = "open source   clankie handoffs show 01a22f0d-8870-74c2-ae4a-e3cbffaf7fe9".to_owned();
    let seen = format!("mark as seen  clankie asks seen {REQUEST}");
    assert_eq!(offers(json!({})).len(), 2);
    for state in ["uncertain", "returned"] {
        assert_eq!(offers(submitted(state, Value::Null, json!(false))), [source.clone(), seen.clone()], "{state}");
        assert!(offers(submitted(state, Value::Null, json!(true))).is_empty(), "{state}");
    }
    for state in ["claimed", "dispatching", "delivered"] {
        assert!(offers(submitted(state, Value::Null, json!(false))).is_empty(), "{state}");
    }
    assert!(offers(json!({"status": "cancelled"})).is_empty());
    assert!(!shown(submitted("uncertain", Value::Null, json!(false))).join("\n").contains("again"));
}

/// M5: a cancelled ask shows no answer, and none of its options as chosen.
#[test]
fn m5_a_cancelled_ask_is_no_answer() {
    let by = json!({"kind": "operator", "id": "t1"});
    let card =
        shown(json!({"status": "cancelled", "reason": "owner_cancelled", "resolved_at": NOW, "resolved_by": by}));
    assert!(card[0].starts_with("⊘ cancelled (owner_cancelled, by operator t1) · "), "{}", card[0]);
    assert!(!card.iter().any(|line| line == "answer:" || line.contains('✓')), "{card:?}");
}

#[test]
fn how_it_is_answered_fits_the_ask() {
    let role = |role: &str| json!({"option_id": "o", "label": role, "role": role});
    let table = [
        (json!({}), "--option NUMBER"),
        (json!({"options": [role("approve"), role("decline")]}), "--approve (or --decline)"),
        (json!({"options": [], "kind": "text"}), "--text TEXT"),
        (json!({"options": [], "kind": "text", "secret": true}), "--stdin"),
        (
            json!({"worker_question": {"seat_id": "s", "session_id": "x", "request_id": "r", "questions": []}}),
            "--worker-stdin",
        ),
    ];
    for (changes, how) in table {
        let line = format!("answer  clankie asks answer {REQUEST} {how}");
        assert!(shown(changes.clone()).contains(&line), "{changes}");
    }
}

#[test]
fn an_update_shows_where_its_links_lead() {
    let wire = json!({
        "id": REQUEST, "title": "Done\u{1b}[2J", "body": "All\nwell", "conversation_id": "room-a",
        "source": {"conversation_id": "room-a", "seat_id": "s1"},
        "links": [{"label": "example.org", "url": "http://evil.example/"}],
        "media": [{"url": "https://a.example/p.png", "mime_type": "image/png", "alt": "a graph"}],
        "issue": null, "at": "2030-01-01T00:00:00Z", "state": "unread", "read_at": null, "dismissed_at": null,
    });
    let wire: OwnerUpdateBody = serde_json::from_value(wire).unwrap();
    let expected = "\
unread · 3 min old
update            01a22f0d-88a8-7236-8e27-1da1651f0ee7
conversation      room-a
seat, as it says  s1

title:
  Done

news:
  All
  well

links:
  example.org
    evil.example: http://evil.example/
  image/png, a graph
    a.example: https://a.example/p.png

read      clankie updates read 01a22f0d-88a8-7236-8e27-1da1651f0ee7
put away  clankie updates dismiss 01a22f0d-88a8-7236-8e27-1da1651f0ee7";
    assert_eq!(update(&wire, NOW.parse().unwrap()).join("\n"), expected);
}
