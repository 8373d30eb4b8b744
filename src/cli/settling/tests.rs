//! What an answer sends, and what each result of it means. One call, never a second.

use serde_json::{Value, json};

use super::*;
use crate::cli::exit::Exit;
use crate::cli::peer::{Reply, peer};

fn aim() -> Aim {
    Aim { conversation: "room-a".into(), request: "r1".into(), incarnation: "i1".into(), revision: 4 }
}

fn text() -> (AnswerBody, Privacy) {
    (AnswerBody::Text { text: "words".into() }, Privacy::Open)
}

/// The exit code of one answer that got this reply, and the calls that it made.
async fn answered(reply: Reply) -> (Exit, Vec<Value>) {
    let (client, service) = peer(vec![reply]).await;
    let screen = Screen::of_process(Some(Form::Json));
    let exit = answer(aim(), text(), &client, &screen).await.map_or_else(|failure| failure.exit(), |()| Exit::Done);
    let asked = service.await.unwrap();
    (exit, asked.into_iter().map(|(_, body)| body).collect())
}

#[tokio::test]
async fn an_answer_names_exactly_what_was_read() {
    let (exit, asked) = answered(Reply::Value(json!({"status": "resolved"}))).await;
    let call = json!({"schema_version": 1, "op": "input_answer", "conversation_id": "room-a", "request_id": "r1",
                      "incarnation_id": "i1", "expected_revision": 4, "answer": {"kind": "text", "text": "words"}});
    assert_eq!((exit, asked), (Exit::Done, vec![call]));
}

#[tokio::test]
async fn every_result_has_its_exit_code_and_is_followed_by_no_second_call() {
    let refused = |reason: &str| json!({"status": "refused", "reason": reason, "detail": "d"});
    let table = [
        (json!({"status": "ready"}), Exit::Done),
        (json!({"status": "resolved"}), Exit::Done),
        (json!({"status": "revision_conflict", "revision": 5}), Exit::Conflict),
        (refused("conflicting_answer"), Exit::Conflict),
        (refused("stale_request"), Exit::NotFound),
        (refused("unknown_conversation"), Exit::NotFound),
        (refused("question_owner_unavailable"), Exit::NotAuthorised),
        (refused("question_state_unavailable"), Exit::Failure),
        (refused("native_driver_active"), Exit::Failure),
        (refused("invalid_answer"), Exit::Failure),
        (refused("invalid_worker_answer"), Exit::Failure),
        (refused("answer_in_progress"), Exit::Failure),
        (refused("worker_question_resolved"), Exit::Failure),
        (refused("owner_context_lost"), Exit::Failure),
        (json!({"status": "later"}), Exit::Failure),
    ];
    for (reply, expected) in table {
        // The peer has one reply only: a second call would find nobody.
        let (exit, asked) = answered(Reply::Value(reply.clone())).await;
        assert_eq!((exit, asked.len()), (expected, 1), "{reply}");
    }
}

#[tokio::test]
async fn without_a_receipt_the_outcome_is_unknown_and_the_same_call_is_said_to_be_safe() {
    for cut in [Reply::Cut, Reply::Bytes("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{")] {
        let (client, _service) = peer(vec![cut]).await;
        let screen = Screen::of_process(Some(Form::Json));
        let failure = answer(aim(), text(), &client, &screen).await.unwrap_err();
        assert_eq!(failure.exit(), Exit::OutcomeUnknown);
        let said = failure.to_string();
        let advice = "do not retry blindly: run `clankie asks show r1`. The same call again is safe";
        assert!(said.contains(advice), "{said}");
    }
}

#[tokio::test]
async fn a_look_without_an_answer_changed_nothing() {
    let (client, _service) = peer(vec![Reply::Cut]).await;
    assert_eq!(read("room-a", "r1", &client).await.unwrap_err().exit(), Exit::NotReachable);
}

#[test]
fn a_conflict_says_to_read_again() {
    let conflict = json!({"status": "revision_conflict", "revision": 5});
    let failure = outcome(&serde_json::from_value(conflict).unwrap()).unwrap_err();
    let said =
        "its mailbox moved on to revision 5 since it was read, and nothing was taken: read the ask again, then decide";
    assert_eq!(failure.to_string(), said);
}
