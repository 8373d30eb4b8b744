//! Well-formed operations of the mailbox that cannot be done: each is a value with its reason.

use serde_json::{Value, json};

use super::World;
use crate::service::{Service, turn, until};

const UNKNOWN: &str = "00000000-0000-7000-8000-000000000001";
const NO_CONVERSATION: &str = "room-0123456789abcdef01234567";

/// What stands in the mailbox: an ask that waits, one that was cancelled, and an update.
struct Mail {
    pending: Value,
    cancelled: Value,
}

/// Everything of the mailbox that a refused operation could have changed.
fn state(service: &Service) -> Value {
    json!({
        "asks": service.dispatch(json!({"op": "input_list"})),
        "updates": service.dispatch(json!({"op": "owner_update_list", "state": "all"})),
        "conversations": service.dispatch(json!({"op": "conversation_list"})),
    })
}

fn asked(service: &Service, delivery: &str, prompt: &str) -> Value {
    let options = json!([{"label": "left"}, {"label": "right"}]);
    let draft = json!({"purpose": "decision", "kind": "choice", "prompt": prompt, "options": options,
        "recommendation": "left", "waiting_on": "the road"});
    service.settle(&turn("lab", delivery, "ann", &format!("!ask {draft}")));
    until("the ask to be listed", || {
        let all = service.dispatch(json!({"op": "input_list"}));
        all["questions"].as_array().unwrap().iter().find(|one| one["prompt"] == prompt).cloned()
    })
}

fn aimed(op: &str, question: &Value) -> Value {
    json!({"op": op, "conversation_id": question["conversation_id"], "request_id": question["request_id"],
        "incarnation_id": question["incarnation_id"], "expected_revision": question["revision"]})
}

/// The operation with some fields put in another one's place.
fn with(mut operation: Value, changed: Value) -> Value {
    for (field, value) in changed.as_object().unwrap() {
        operation[field] = value.clone();
    }
    operation
}

fn mail(service: &Service) -> Mail {
    let first = asked(service, "ask-1", "which way first?");
    let cancel = aimed("input_cancel", &first);
    let cancelled = service.dispatch(cancel)["question"].clone();
    assert_eq!(cancelled["status"], "cancelled", "{cancelled}");
    let update = json!({"title": "news", "body": "it goes on"});
    service.settle(&turn("lab", "mail-1", "ann", &format!("!mail {update}")));
    let pending = asked(service, "ask-2", "which way now?");
    assert_eq!(pending["status"], "pending", "{pending}");
    Mail { pending, cancelled }
}

/// What is asked for, and the status and reason that it comes to.
fn rows(mail: &Mail) -> Vec<(Value, &'static str, &'static str)> {
    let (answer, cancel) = (aimed("input_answer", &mail.pending), aimed("input_cancel", &mail.pending));
    let option = mail.pending["options"][0]["option_id"].clone();
    let choice = json!({"kind": "choice", "option_id": option});
    let chosen = with(answer.clone(), json!({"answer": choice}));
    let text = |text: &str| with(answer.clone(), json!({"answer": {"kind": "text", "text": text}}));
    let worker = |answers: Value| with(answer.clone(), json!({"answer": {"kind": "worker", "answers": answers}}));
    let late = with(aimed("input_answer", &mail.cancelled), json!({"answer": choice}));
    let revision = mail.pending["revision"].as_u64().unwrap();
    let mut rows = vec![
        (with(chosen.clone(), json!({"conversation_id": NO_CONVERSATION})), "refused", "unknown_conversation"),
        (with(cancel.clone(), json!({"conversation_id": NO_CONVERSATION})), "refused", "unknown_conversation"),
        (with(chosen.clone(), json!({"conversation_id": UNKNOWN})), "refused", "unknown_conversation"),
        (with(chosen.clone(), json!({"request_id": UNKNOWN})), "refused", "stale_request"),
        (with(cancel.clone(), json!({"request_id": UNKNOWN})), "refused", "stale_request"),
        (with(chosen.clone(), json!({"incarnation_id": UNKNOWN})), "refused", "stale_request"),
        (with(cancel.clone(), json!({"incarnation_id": UNKNOWN})), "refused", "stale_request"),
        (with(text("words"), json!({"incarnation_id": UNKNOWN})), "refused", "stale_request"),
        (with(text(&"w".repeat(64_001)), json!({"request_id": UNKNOWN})), "refused", "stale_request"),
        (late.clone(), "refused", "conflicting_answer"),
        (with(late.clone(), json!({"expected_revision": 0})), "refused", "conflicting_answer"),
        (text(""), "refused", "invalid_answer"),
        (text(" \n\t"), "refused", "invalid_answer"),
        (text("left"), "refused", "invalid_answer"),
        (text("yes \u{1b}[2K\u{202e}\u{7}"), "refused", "invalid_answer"),
        (text(&"w".repeat(64_000)), "refused", "invalid_answer"),
        (text(&"w".repeat(64_001)), "refused", "invalid_answer"),
        (
            with(answer.clone(), json!({"answer": {"kind": "choice", "option_id": UNKNOWN}})),
            "refused",
            "invalid_answer",
        ),
        (
            with(
                answer.clone(),
                json!({"answer": {"kind": "choice", "option_id": mail.cancelled["options"][0]["option_id"]}}),
            ),
            "refused",
            "invalid_answer",
        ),
        (
            json!({"op": "input_get", "conversation_id": NO_CONVERSATION, "request_id": UNKNOWN}),
            "refused",
            "unknown_conversation",
        ),
        (json!({"op": "input_list", "conversation_id": NO_CONVERSATION}), "refused", "unknown_conversation"),
        (json!({"op": "owner_update_list", "conversation_id": NO_CONVERSATION}), "refused", "unknown_conversation"),
        (json!({"op": "conversation_get", "conversation_id": NO_CONVERSATION}), "refused", "unknown_conversation"),
        (json!({"op": "conversation_tail", "conversation_id": UNKNOWN}), "refused", "unknown_conversation"),
        (
            json!({"op": "input_get", "conversation_id": mail.pending["conversation_id"], "request_id": UNKNOWN}),
            "refused",
            "stale_request",
        ),
        (json!({"op": "owner_update_read", "id": UNKNOWN}), "refused", "unknown_update"),
        (json!({"op": "owner_update_dismiss", "id": UNKNOWN}), "refused", "unknown_update"),
        (json!({"op": "mark_seen", "request_id": mail.pending["request_id"]}), "refused", "nothing_to_see"),
        (json!({"op": "mark_seen", "request_id": mail.cancelled["request_id"]}), "refused", "nothing_to_see"),
    ];
    for answers in [json!({}), json!({"q": ["left"]}), json!({"q": []})] {
        rows.push((worker(answers), "refused", "invalid_answer"));
    }
    for stale in [0, revision - 1, revision + 1, u64::MAX] {
        rows.push((with(chosen.clone(), json!({"expected_revision": stale})), "revision_conflict", ""));
        rows.push((with(cancel.clone(), json!({"expected_revision": stale})), "revision_conflict", ""));
        // The revision is looked at before the answer is.
        rows.push((with(text(""), json!({"expected_revision": stale})), "revision_conflict", ""));
    }
    rows
}

pub(in crate::corpus) fn check(world: &World) {
    let service = &world.service;
    let mail = mail(service);
    let before = state(service);
    let mut faults = Vec::new();
    for (operation, status, reason) in rows(&mail) {
        let answer = service.dispatch(operation.clone());
        let got = (answer["status"].as_str().unwrap_or_default(), answer["reason"].as_str().unwrap_or_default());
        if got != (status, reason) {
            faults.push(format!("{operation}: wanted {status} {reason:?} and got {answer}"));
        }
        if status == "revision_conflict" && answer["revision"] != mail.pending["revision"] {
            faults.push(format!("{operation}: a conflict says the revision as it is: {answer}"));
        }
        if state(service) != before {
            faults.push(format!("{operation} changed something"));
            break;
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    the_same_again_is_the_same_receipt(service, &mail);
}

/// A cancel that is repeated gets its receipt, whatever the revision is by now.
fn the_same_again_is_the_same_receipt(service: &Service, mail: &Mail) {
    let again = with(aimed("input_cancel", &mail.cancelled), json!({"expected_revision": 0}));
    let receipt = service.dispatch(again);
    assert_eq!(receipt["status"], "resolved", "{receipt}");
    for field in ["resolved_at", "resolved_by", "reason", "status", "answer"] {
        assert_eq!(receipt["question"][field], mail.cancelled[field], "{field}: {receipt}");
    }
}
