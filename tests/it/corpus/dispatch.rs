//! Owner operations that are none.

use serde_json::{Value, json};

use super::{Row, World};
use crate::service::Ask;

pub(super) mod answers;
pub(super) mod mail;

/// The body and the field that the answer names.
const TABLE: &[(&str, &str)] = &[
    (r#"{"schema_version":1}"#, "op"),
    (r#"{"schema_version":1,"op":7}"#, "op"),
    (r#"{"schema_version":1,"op":"become_owner"}"#, "op"),
    (r#"{"schema_version":1,"op":"Token_List"}"#, "op"),
    (r#"{"op":"token_list"}"#, "schema_version"),
    (r#"{"schema_version":0,"op":"token_list"}"#, "schema_version"),
    (r#"{"schema_version":1,"op":"token_list","op":"token_revoke"}"#, "op"),
    (r#"{"schema_version":1,"op":"token_list","all":true}"#, "all"),
    (r#"{"schema_version":1,"op":"config_reload","file":"/etc/passwd"}"#, "file"),
    (r#"{"schema_version":1,"op":"token_create","kind":"lane-text"}"#, ""),
    (r#"{"schema_version":1,"op":"token_create","kind":"god","name":"x"}"#, "kind"),
    (r#"{"schema_version":1,"op":"token_create","kind":"lane-text","name":"a:b"}"#, "name"),
    (r#"{"schema_version":1,"op":"token_create","kind":"lane-text","name":""}"#, "name"),
    (r#"{"schema_version":1,"op":"token_create","kind":"lane-text","name":"../x"}"#, "name"),
    (r#"{"schema_version":1,"op":"token_create","kind":"lane-text","name":"x","expires_at":"soon"}"#, "expires_at"),
    (r#"{"schema_version":1,"op":"token_create","kind":"lane-text","name":"x","secret":"mine"}"#, "secret"),
    (r#"{"schema_version":1,"op":"token_revoke","id":"1"}"#, "id"),
    (r#"{"schema_version":1,"op":"token_revoke","id":["1"]}"#, "id"),
    (r#"{"schema_version":1,"op":"account_open","name":"a b"}"#, "name"),
    (r#"{"schema_version":1,"op":"handoff_get","handoff_id":"1"}"#, "handoff_id"),
    (r#"{"schema_version":1,"op":"handoff_cancel","handoff_id":null}"#, "handoff_id"),
    (r#"{"schema_version":1,"op":"handoff_cancel"}"#, ""),
    (r#"{"schema_version":1,"op":"handoff_repost","handoff_id":"../x"}"#, "handoff_id"),
    (r#"{"schema_version":1,"op":"handoff_list","limit":-1}"#, "limit"),
    (r#"{"schema_version":1,"op":"handoff_list","limit":1001}"#, "limit"),
    (r#"{"schema_version":1,"op":"handoff_list","state":"finished"}"#, "state"),
    ("[]", ""),
    (r#""token_list""#, ""),
    ("{", ""),
];

/// Well-formed operations that cannot be done, and the reason code of the value that says so.
const REFUSED: &[(&str, &str)] = &[
    (r#"{"op":"handoff_get","handoff_id":"00000000-0000-7000-8000-000000000000"}"#, "unknown_handoff"),
    (r#"{"op":"handoff_cancel","handoff_id":"00000000-0000-7000-8000-000000000000"}"#, "unknown_handoff"),
    (r#"{"op":"handoff_repost","handoff_id":"00000000-0000-7000-8000-000000000000"}"#, "unknown_handoff"),
    (r#"{"op":"token_revoke","id":"00000000000040008000000000000000"}"#, "unknown_token"),
    (r#"{"op":"token_create","kind":"lane-text","name":"t"}"#, "name_taken"),
    (r#"{"op":"token_create","kind":"lane-voice","name":"t"}"#, "name_taken"),
    (r#"{"op":"account_open","name":"ann"}"#, "name_taken"),
];

pub(super) fn rows(world: &World) -> Vec<Row> {
    let owner = world.service.operator();
    let row = |(body, field): &(&'static str, &'static str)| Row {
        what: (*body).to_owned(),
        ask: Ask::post("/operator/v1/dispatch").token(owner).text(body),
        status: 400,
        problem: "bad-request",
        field,
    };
    TABLE.iter().map(row).collect()
}

/// What cannot be done is a value of the contract, says what to do, and changes nothing.
pub(super) fn refusals_are_values(world: &World) {
    let before = world.state();
    for (operation, reason) in REFUSED {
        let operation: Value = serde_json::from_str(operation).unwrap();
        let answer = world.service.dispatch(operation.clone());
        assert_eq!(
            (&answer["status"], &answer["reason"]),
            (&json!("refused"), &json!(reason)),
            "{operation}: {answer}"
        );
        assert!(answer["detail"].as_str().is_some_and(|detail| detail.len() > 10), "{operation}: {answer}");
        assert_eq!(world.state(), before, "{operation}");
    }
}
