//! Which option is meant, and what needs a confirmation.

use serde_json::{Value, json};

use super::*;
use crate::cli::asks::tests::question;
use crate::cli::exit::Exit;
use crate::cli::peer::{Reply, peer};

const OPTION: &str = "01a22f0d-8891-757f-a10c-781abfeff5ef";

fn options() -> Value {
    json!([
        {"option_id": OPTION, "label": "Now"},
        {"option_id": "o2", "label": "1"},
        {"option_id": "o3", "label": "On Monday"},
    ])
}

fn approval() -> Value {
    json!({"purpose": "approval", "options": [
        {"option_id": "yes", "label": "Approve", "role": "approve"},
        {"option_id": "no", "label": "Decline", "role": "decline"},
    ]})
}

#[test]
fn an_option_is_named_by_number_label_or_id_and_never_guessed() {
    let question = question(json!({"options": options()}));
    let table = [
        ("2", Some("o2")),
        ("3", Some("o3")),
        ("Now", Some(OPTION)),
        ("On Monday", Some("o3")),
        (&OPTION.to_uppercase(), Some(OPTION)),
        ("1", None),
        ("4", None),
        ("0", None),
        ("now", None),
        ("Mon", None),
        ("", None),
    ];
    for (name, expected) in table {
        let found = option(&question, name).ok().map(|option| option.option_id.as_str());
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn an_approval_is_one_by_its_role_and_not_by_its_words() {
    let choice = |id: &str| AnswerBody::Choice { option_id: id.to_owned() };
    let (asked, spoken) = (question(approval()), AnswerBody::Text { text: "approve".into() });
    assert!(approves(&asked, &choice("yes")));
    assert!(!approves(&asked, &choice("no")) && !approves(&asked, &spoken));
    let decision =
        question(json!({"options": [{"option_id": "yes", "label": "Approve"}, {"option_id": "b", "label": "B"}]}));
    assert!(!approves(&decision, &choice("yes")));
    assert_eq!(with_role(&decision, APPROVE).unwrap_err().exit(), Exit::Usage);
}

fn arguments(line: &str) -> AnswerArguments {
    use clap::Parser;
    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        answer: AnswerArguments,
    }
    Only::parse_from(std::iter::once("answer").chain(line.split_whitespace())).answer
}

/// Runs it against an ask that stands so. Tests have no terminal.
async fn ran(changes: Value, line: &str, further: Vec<Reply>) -> (Exit, Vec<Value>) {
    let question = serde_json::to_value(question(changes)).unwrap();
    let list = json!({"status": "ready", "questions": [question], "counts": {"asks": 1, "updates": 0}, "cursor": "e-1", "next": null});
    let ready = json!({"status": "ready", "question": question});
    let replies = [Reply::Value(list), Reply::Value(ready)].into_iter().chain(further).collect();
    let (client, service) = peer(replies).await;
    let screen = Screen::of_process(Some(Form::Json));
    let exit = run(arguments(line), &client, &screen).await.map_or_else(|failure| failure.exit(), |()| Exit::Done);
    if exit == Exit::Usage {
        service.abort();
        return (exit, Vec::new());
    }
    (exit, service.await.unwrap().into_iter().map(|(_, body)| body).collect())
}

#[tokio::test]
async fn an_answer_is_bound_to_the_ask_that_was_just_read() {
    let resolved = vec![Reply::Value(json!({"status": "resolved"}))];
    let (exit, asked) = ran(json!({"options": options(), "revision": 7}), "01a22f0d-88a8 --option 3", resolved).await;
    assert_eq!(exit, Exit::Done);
    let last = &asked[2];
    assert_eq!((&last["op"], &last["expected_revision"]), (&json!("input_answer"), &json!(7)));
    assert_eq!(last["answer"], json!({"kind": "choice", "option_id": "o3"}));
}

/// A conflict ends the command: it reads nothing again and sends nothing again.
#[tokio::test]
async fn a_conflict_is_never_sent_again() {
    let conflict = vec![Reply::Value(json!({"status": "revision_conflict", "revision": 8}))];
    let (exit, asked) = ran(json!({"options": [], "kind": "text"}), "01a22f0d-88a8 --text words", conflict).await;
    let ops: Vec<&str> = asked.iter().filter_map(|call| call["op"].as_str()).collect();
    assert_eq!((exit, ops), (Exit::Conflict, vec!["input_list", "input_get", "input_answer"]));
}

#[tokio::test]
async fn without_a_terminal_an_approval_names_what_was_read() {
    let (exit, _) = ran(approval(), "01a22f0d-88a8 --approve", vec![]).await;
    assert_eq!(exit, Exit::Usage);
    let (exit, _) = ran(approval(), "01a22f0d-88a8 --option 1", vec![]).await;
    assert_eq!(exit, Exit::Usage, "an option that approves is an approval");
    let resolved = || vec![Reply::Value(json!({"status": "resolved"}))];
    let named = "01a22f0d-88a8 --approve --incarnation 01a22f0d-8891-757f-a10c-781911ff0342 --revision 3";
    let (exit, asked) = ran(approval(), named, resolved()).await;
    assert_eq!(
        (exit, &asked[2]["expected_revision"]),
        (Exit::Done, &json!(3)),
        "what was named, not what is there now"
    );
    let (exit, _) = ran(approval(), "01a22f0d-88a8 --decline", resolved()).await;
    assert_eq!(exit, Exit::Done);
}

#[tokio::test]
async fn a_private_answer_stands_on_no_command_line() {
    let secret = json!({"options": [], "kind": "text", "secret": true});
    assert_eq!(ran(secret, "01a22f0d-88a8 --text hunter2", vec![]).await.0, Exit::Usage);
}
