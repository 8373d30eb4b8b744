//! How handoffs are listed and shown, whatever is in their words.

use serde_json::{Value, json};

use super::*;

fn record(changes: Value) -> HandoffBody {
    let transport = json!({"gateway": "local", "lane": "ann"});
    let mut wire = json!({
        "id": "0192f0c1-0000-7000-8000-0000aaaa0001", "conversation_id": null, "room": "local:lab",
        "delivery_id": "m-1", "actor": "local:ann", "actor_name": "Ann", "source": "text", "class": "fresh",
        "run_id": "0192f0c1-0000-7000-8000-0000bbbb0001", "state": "pending", "phase": null,
        "transport": transport, "request": "hello", "attachments": [],
        "grant": {"plan": "social", "owner_standing": "none", "machine_standing": "none",
                  "verified_owner_proof": false, "transport": transport, "tools": []},
        "doing": "", "executor": null, "native_child": null, "result": null,
        "room_delivery": {"state": "none", "ids": []}, "joined": null, "joiner_count": 0,
        "usage": {"input_tokens": 0, "output_tokens": 0, "cost_micros": 0, "tool_calls": 0, "bytes": 0},
        "created_at": "2030-01-01T00:00:00Z", "started_at": null, "ended_at": null, "revision": 1, "reason_code": null,
    });
    for (key, value) in changes.as_object().unwrap() {
        wire[key] = value.clone();
    }
    serde_json::from_value(wire).unwrap()
}

fn page(handoffs: Vec<HandoffBody>, waiting: usize) -> Handoffs {
    let counts = json!({"running": 1, "waiting": waiting, "owed": 1, "limits": {"running": 4, "running_per_room": 2, "waiting": 32}});
    Handoffs { handoffs, counts: serde_json::from_value(counts).unwrap(), cursor: "e-1".to_owned() }
}

#[test]
fn every_state_has_its_words() {
    let joined = "0192f0c1-0000-7000-8000-0000cccc0002";
    let table = [
        (json!({}), "waiting 3/32"),
        (json!({"class": {"owed": "unread"}}), "waiting, promised"),
        (json!({"state": "running"}), "running"),
        (json!({"state": "joined", "joined": joined}), "joined cccc0002"),
        (json!({"state": "absorbed", "joined": joined}), "absorbed into cccc0002"),
        (json!({"state": "waiting_user"}), "? waiting on you"),
        (json!({"state": "completed"}), "done"),
        (json!({"state": "completed", "room_delivery": {"state": "confirmed", "ids": ["1"]}}), "done"),
        (json!({"state": "completed", "room_delivery": {"state": "pending", "part": 0, "ids": []}}), "delivering"),
        (
            json!({"state": "completed", "room_delivery": {"state": "uncertain", "ids": []}}),
            "done, delivery unconfirmed",
        ),
        (json!({"state": "failed", "result": {"kind": "failed", "code": "stalled"}}), "failed: stalled"),
        (
            json!({"state": "failed", "result": {"kind": "failed", "code": "native_uncertain"}}),
            "taken by native child, outcome unknown",
        ),
        (
            json!({"state": "cancelled", "result": {"kind": "cancelled", "by": {"kind": "speaker", "id": "local:ann"}}}),
            "cancelled by speaker local:ann",
        ),
    ];
    let counts = page(vec![], 3).counts;
    for (changes, expected) in table {
        assert_eq!(words::handoff(&record(changes.clone()), Some(3), Some(&counts)), expected, "{changes}");
    }
}

#[test]
fn the_list_counts_places_from_the_oldest_and_cleans_what_strangers_wrote() {
    let newest =
        record(json!({"id": "3", "request": "\u{1b}]0;x\u{7}two\nlines \u{202e}and far too many words for one line"}));
    let running = record(json!({"id": "2", "state": "running", "request": "work"}));
    let oldest = record(json!({"id": "1", "actor": "ingress:b:\u{9b}2Ju"}));
    let lines = rows(&page(vec![newest, running, oldest], 2));
    let expected = [
        "ID  STATE         ROOM       ACTOR        CREATED               REQUEST",
        "3   waiting 2/32  local:lab  local:ann    2030-01-01T00:00:00Z  two lines and far too many words for on…",
        "2   running       local:lab  local:ann    2030-01-01T00:00:00Z  work",
        "1   waiting 1/32  local:lab  ingress:b:u  2030-01-01T00:00:00Z  hello",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn a_reply_is_shown_whole_and_harmless() {
    let media = json!([
        {"url": "kept:1/0", "mime_type": "text/plain", "name": "a\u{1b}[2J.txt", "size": 7},
        {"url": "https://a/b", "mime_type": "image/png"},
    ]);
    let result = json!({"kind": "settled", "text": "one\n\u{1b}[2Jtwo", "media": media});
    let lines = facts(&record(json!({"state": "completed", "result": result})));
    let expected = ["reply:", "one\ntwo", "file: a.txt (text/plain, 7 bytes)", "file: https://a/b (image/png)"];
    assert_eq!(lines[lines.len() - 4..], expected.map(str::to_owned));
    assert!(lines.contains(&"actor     local:ann (Ann)".to_owned()), "{lines:?}");
}

#[test]
fn a_transcript_line_cannot_move_the_cursor() {
    let entry = json!({"seq": 7, "at": "2030-01-01T00:00:00Z", "kind": "tool", "call_id": "c", "name": "react",
                       "phase": "ended", "detail": "ok\u{1b}[H\nmore"});
    let entry: TranscriptEntry = serde_json::from_value(entry).unwrap();
    assert_eq!(transcript_line(&entry), "    7 · react ended ok more");
}
