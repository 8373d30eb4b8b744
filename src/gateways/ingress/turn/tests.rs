//! What a lane may send, and the field that each refusal names.

use clankie_domain::ids::{LaneName, TokenId};
use clankie_domain::request::ATTACHMENT_ONLY;
use clankie_domain::time::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

use super::*;

fn lane(kind: TokenKind) -> Token {
    Token {
        id: TokenId(Uuid::nil()),
        kind,
        name: LaneName::parse("t").unwrap(),
        reported_name: None,
        grants: std::collections::BTreeSet::new(),
        secret_hash: [0; 32],
        former: None,
        created_at: Timestamp(0),
        expires_at: None,
        last_used_at: None,
        revoked_at: None,
    }
}

fn sent(changes: &[(&str, Value)]) -> TurnBody {
    let mut body = json!({"schema_version": 1, "room": "lab", "delivery_id": "m-1", "source": "text",
        "actor": {"id": "u:7", "name": "Ann"}, "body": "hi", "attachments": [], "context": []});
    for (field, value) in changes {
        body[*field] = value.clone();
    }
    serde_json::from_value(body).unwrap()
}

fn read(changes: &[(&str, Value)]) -> Result<Request, Problem> {
    request(&lane(TokenKind::LaneText), sent(changes))
}

fn file(change: (&str, Value)) -> (&'static str, Value) {
    let mut file = json!({"id": "a", "name": "a.png", "mime_type": "image/png", "size": 1, "url": "https://a/b"});
    file[change.0] = change.1;
    ("attachments", json!([file]))
}

#[test]
fn rooms_and_actors_carry_the_lanes_own_name() {
    let request = read(&[("grant", json!("machine"))]).unwrap();
    assert_eq!((request.room.as_str(), request.actor.as_str()), ("ingress:t:lab", "ingress:t:u:7"));
    assert_eq!((request.wanted, request.actor_name.as_str()), (Some(Plan::Machine), "Ann"));
    let forged = read(&[("room", json!("ingress:other:lab"))]).unwrap();
    assert_eq!(forged.room.as_str(), "ingress:t:ingress:other:lab");
}

#[test]
fn every_field_outside_the_grammar_is_refused_by_name() {
    let quote = |text: &str| json!({"author": "a", "text": text});
    let cases: Vec<((&str, Value), &str)> = vec![
        (("schema_version", json!(2)), "schema_version"),
        (("room", json!("a..b")), "room"),
        (("room", json!("/lab")), "room"),
        (("room", json!("r".repeat(129))), "room"),
        (("delivery_id", json!("")), "delivery_id"),
        (("delivery_id", json!("m".repeat(513))), "delivery_id"),
        (("delivery_id", json!("a\u{7}b")), "delivery_id"),
        (("actor", json!({"id": "", "name": "Ann"})), "actor.id"),
        (("source", json!("email")), "source"),
        (("grant", json!("root")), "grant"),
        (("body", json!("  ")), "body"),
        (("body", json!("x".repeat(16_385))), "body"),
        (("context", json!(vec![quote("x"); 51])), "context"),
        (("context", json!([quote(&"x".repeat(16_385))])), "context.0.text"),
        (file(("id", json!(""))), "attachments.0.id"),
        (file(("name", json!("../a.png"))), "attachments.0.name"),
        (file(("name", json!("c:\\a.png"))), "attachments.0.name"),
        (file(("mime_type", json!("png"))), "attachments.0.mime_type"),
        (file(("mime_type", json!("image/png\n"))), "attachments.0.mime_type"),
        (file(("url", json!("javascript:alert(1)"))), "attachments.0.url"),
        (file(("url", json!("https:///etc/passwd"))), "attachments.0.url"),
        (file(("url", json!("file:///etc/passwd"))), "attachments.0.url"),
        (file(("url", json!("https://a b"))), "attachments.0.url"),
    ];
    for (change, field) in cases {
        let problem = read(std::slice::from_ref(&change)).expect_err(field);
        assert_eq!(problem.body().field.as_deref(), Some(field), "{change:?}");
        assert_eq!(problem.reason(), Reason::BadRequest);
    }
    let eleven = json!(vec![file(("size", json!(1))).1[0].clone(); 11]);
    assert_eq!(read(&[("attachments", eleven)]).unwrap_err().body().field.as_deref(), Some("attachments"));
}

#[test]
fn a_message_of_files_alone_has_a_placeholder() {
    let request = read(&[("body", json!("")), file(("size", json!(7)))]).unwrap();
    assert_eq!((request.text.as_str(), request.attachments.len()), (ATTACHMENT_ONLY, 1));
}

#[test]
fn the_longest_body_is_taken_whole() {
    let longest = "x".repeat(REQUEST_MAX);
    assert_eq!(read(&[("body", json!(longest))]).unwrap().text.len(), REQUEST_MAX);
}

#[test]
fn a_text_lane_brings_no_voice_and_a_voice_lane_no_text() {
    let refused = |kind, source: &str| {
        let body = sent(&[("source", json!(source))]);
        request(&lane(kind), body).err().map(|problem| problem.reason())
    };
    assert_eq!(refused(TokenKind::LaneText, "voice"), Some(Reason::Forbidden));
    assert_eq!(refused(TokenKind::LaneVoice, "text"), Some(Reason::Forbidden));
    assert_eq!(refused(TokenKind::LaneVoice, "voice"), None);
}

fn edit(body: Value) -> Result<Request, Problem> {
    let path = ("a/b".to_owned(), "m-1".to_owned());
    edited(&lane(TokenKind::LaneText), path, serde_json::from_value(body).unwrap())
}

#[test]
fn an_edit_takes_room_and_delivery_from_the_path() {
    let short = edit(json!({"actor": {"id": "u:7"}, "body": "new"})).unwrap();
    assert_eq!((short.room.as_str(), short.delivery.to_string().as_str()), ("ingress:t:a/b", "m-1"));
    assert_eq!((short.text.as_str(), short.actor_name.as_str()), ("new", "u:7"));
    let other = edit(json!({"actor": {"id": "u:7"}, "body": "new", "room": "lab"})).unwrap_err();
    assert_eq!(other.body().field.as_deref(), Some("room"));
    let whole = json!({"schema_version": 1, "room": "a/b", "delivery_id": "m-1", "source": "text",
        "actor": {"id": "u:7", "name": "Ann"}, "body": "new", "attachments": [], "context": []});
    assert!(edit(whole).is_ok());
}
