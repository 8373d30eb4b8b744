//! Which asks a list shows, how, and how one is found.

use serde_json::{Value, json};

use super::*;
use crate::cli::exit::Exit;
use crate::cli::peer::{Reply, peer};

/// An ask that waits, but for the changes.
pub(super) fn question(changes: Value) -> QuestionBody {
    let mut wire = json!({
        "request_id": "01a22f0d-88a8-7236-8e27-1da1651f0ee7", "conversation_id": "room-dcf0bdac60b09940fe94124a",
        "incarnation_id": "01a22f0d-8891-757f-a10c-781911ff0342", "revision": 4, "purpose": "decision",
        "kind": "choice", "prompt": "Ship it?", "options": [], "allow_freeform": false, "recommendation": null,
        "waiting_on": null, "steps": [], "gate": null, "secret": false, "issue": null, "worker_question": null,
        "workspace": null, "context": null, "provenance": null,
        "origin": {"handoff_id": "h", "run_id": "r", "actor": "local:ann", "actor_name": "Ann", "room": "local:lab"},
        "created_at": "2030-01-01T00:00:00Z", "status": "pending", "answer": null, "resolved_at": null,
        "resolved_by": null, "reason": null, "continuation": null,
    });
    for (key, value) in changes.as_object().unwrap() {
        wire[key] = value.clone();
    }
    serde_json::from_value(wire).unwrap()
}

fn sent(state: &str, seen: Value) -> Value {
    json!({"status": "submitted", "continuation":
        {"run_id": "r", "handoff_id": null, "state": state, "reason_code": null, "seen": seen, "at": "2030-01-01T00:00:00Z"}})
}

/// M1: an answer that did not arrive is in the usual list until the owner has taken note of it.
#[test]
fn m1_what_did_not_arrive_is_listed_until_it_is_seen() {
    let table = [
        (json!({}), true),
        (sent("claimed", json!(false)), false),
        (sent("delivered", json!(false)), false),
        (sent("uncertain", json!(false)), true),
        (sent("returned", json!(false)), true),
        (sent("uncertain", json!(true)), false),
        (json!({"status": "cancelled"}), false),
    ];
    for (changes, listed) in table {
        let question = question(changes.clone());
        assert_eq!((Shown::Open.shows(&question), Shown::All.shows(&question)), (listed, true), "{changes}");
    }
}

#[test]
fn a_list_is_one_line_each_and_clean() {
    let hostile = question(json!({"prompt": "\u{1b}[2Jtwo\nlines", "origin": {"handoff_id": "h", "run_id": "r",
        "actor": "a", "actor_name": "A", "room": "local:\u{202e}lab"}}));
    let expected = [
        "ID                                    STATE             PURPOSE   AGE  ROOM       ASKS",
        "01a22f0d-88a8-7236-8e27-1da1651f0ee7  ? waiting on you  decision  9 s  local:lab  two lines",
    ];
    assert_eq!(rows(&[hostile], "2030-01-01T00:00:09Z".parse().unwrap()), expected);
    assert_eq!(waits(&MailCountsBody { asks: 1, updates: 2 }), "1 ask waiting on you, 2 updates unread");
}

fn page(ids: &[&str], next: Value) -> Reply {
    let questions: Vec<Value> =
        ids.iter().map(|id| serde_json::to_value(question(json!({"request_id": id}))).unwrap()).collect();
    let counts = json!({"asks": 1, "updates": 0});
    Reply::Value(json!({"status": "ready", "questions": questions, "counts": counts, "cursor": "e-1", "next": next}))
}

/// B46: a stale name finds the ask on whichever page, and shows how it ended.
#[tokio::test]
async fn b46_a_stale_id_resolves_to_its_final_state() {
    let over = serde_json::to_value(question(json!({"request_id": "bbbbbb-2", "status": "cancelled"}))).unwrap();
    let replies = vec![
        page(&["aaaaaa-1"], json!("p2")),
        page(&["bbbbbb-2"], Value::Null),
        Reply::Value(json!({"status": "ready", "question": over})),
    ];
    let (client, service) = peer(replies).await;
    let found = find(&"bbbbbb".parse().unwrap(), &client).await.unwrap();
    assert_eq!((found.request_id.as_str(), found.status.as_str()), ("bbbbbb-2", "cancelled"));
    let asked: Vec<Value> = service.await.unwrap().into_iter().map(|(_, body)| body).collect();
    assert_eq!(asked[1], json!({"schema_version": 1, "op": "input_list", "after": "p2"}));
    assert_eq!((&asked[2]["op"], &asked[2]["request_id"]), (&json!("input_get"), &json!("bbbbbb-2")));
}

#[tokio::test]
async fn an_id_that_is_nobodys_is_not_found() {
    let (client, _service) = peer(vec![page(&["aaaaaa-1"], Value::Null)]).await;
    assert_eq!(find(&"bbbbbb".parse().unwrap(), &client).await.unwrap_err().exit(), Exit::NotFound);
}
