//! Exact names: what is one, and what the calls carry.

use serde_json::{Value, json};

use super::*;
use crate::cli::exit::Exit;
use crate::cli::peer::{Reply, peer};

const UUID: &str = "01a22f0d-88a8-7236-8e27-1da1651f0ee7";

#[test]
fn a_conversation_is_a_rooms_or_a_uuid() {
    let table = [
        ("room-dcf0bdac60b09940fe94124a", true),
        (UUID, true),
        ("room-DCF0BDAC60B09940FE94124A", false),
        ("room-dcf0bdac60b09940fe94124", false),
        ("room-dcf0bdac60b09940fe94124ab", false),
        ("01a22f0d88a872368e271da1651f0ee7", false),
        ("lab", false),
        ("", false),
    ];
    for (text, sound) in table {
        assert_eq!(conversation_id(text).is_ok(), sound, "{text}");
    }
}

fn names() -> AskNames {
    let uuid: Uuid = UUID.parse().unwrap();
    AskNames { conversation: "room-a".into(), request: uuid, incarnation: uuid, revision: 9 }
}

async fn ran(command: ConversationsCommand, reply: Value) -> (Exit, Value) {
    let (client, service) = peer(vec![Reply::Value(reply)]).await;
    let screen = Screen::of_process(Some(Form::Json));
    let exit = run(command, &client, &screen).await.map_or_else(|failure| failure.exit(), |()| Exit::Done);
    (exit, service.await.unwrap().remove(0).1)
}

#[tokio::test]
async fn an_exact_answer_is_one_call_that_reads_nothing_first() {
    let option = Some(UUID.parse().unwrap());
    let answer = ExactAnswer { option, text: None, stdin: false, worker_stdin: false };
    let command = ConversationsCommand::Answer { ask: names(), answer };
    let (exit, call) = ran(command, json!({"status": "resolved"})).await;
    let expected = json!({
        "schema_version": 1, "op": "input_answer", "conversation_id": "room-a", "request_id": UUID,
        "incarnation_id": UUID, "expected_revision": 9, "answer": {"kind": "choice", "option_id": UUID},
    });
    assert_eq!((exit, call), (Exit::Done, expected));
}

#[tokio::test]
async fn a_cancel_carries_no_answer() {
    let command = ConversationsCommand::CancelQuestion { ask: names() };
    let (exit, call) = ran(command, json!({"status": "revision_conflict", "revision": 10})).await;
    assert_eq!((exit, &call["op"], call.get("answer")), (Exit::Conflict, &json!("input_cancel"), None));
}

#[tokio::test]
async fn an_ask_that_is_not_there_is_not_found() {
    let request = Some(UUID.parse().unwrap());
    let arguments = QuestionsArguments { conversation: None, request, status: Some(Status::Pending) };
    let empty =
        json!({"status": "ready", "questions": [], "counts": {"asks": 0, "updates": 0}, "cursor": "e-1", "next": null});
    let (exit, call) = ran(ConversationsCommand::Questions(arguments), empty).await;
    assert_eq!((exit, call), (Exit::NotFound, json!({"schema_version": 1, "op": "input_list", "status": "pending"})));
}
