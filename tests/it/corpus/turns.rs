//! Turns that are no turns: each replaces one part of a good one.

use super::{Row, World, written_out};
use crate::service::Ask;

/// A good turn; its delivery is admitted in no row.
const GOOD: &str = r#"{"schema_version":1,"room":"lab","delivery_id":"bad","source":"text","actor":{"id":"u1","name":"Ann"},"body":"hello","attachments":[],"context":[]}"#;

/// A good attachment.
pub(super) const FILE: &str =
    r#"{"id":"f1","name":"a.png","mime_type":"image/png","size":1,"url":"https://files.example/a.png"}"#;

/// Where a reader stops that goes no deeper than any request of the contract needs.
const DEEP_LIST: &str = "context.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0";
const DEEP_OBJECT: &str = "context.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a";

/// What is wrong, what is replaced, by what, and the field that the answer names.
const TABLE: &[(&str, &str, &str, &str)] = &[
    ("an unknown key", r#""context":[]"#, r#""context":[],"wish":1"#, "wish"),
    ("an unknown key deep inside", r#""name":"Ann""#, r#""name":"Ann","admin":true"#, "actor.admin"),
    ("a key twice", r#""body":"hello""#, r#""body":"hello","body":"other""#, "body"),
    ("a key twice deep inside", r#""name":"Ann""#, r#""id":"u2""#, "actor.id"),
    ("a key twice, once escaped", r#""body":"hello""#, r#""body":"hello","bod\u0079":"other""#, "body"),
    ("a key twice in an unknown object", r#""context":[]"#, r#""x":{"a":1,"a":2}"#, "x.a"),
    ("no schema version", r#""schema_version":1,"#, "", ""),
    ("a later schema version", r#""schema_version":1"#, r#""schema_version":2"#, "schema_version"),
    ("a schema version as text", r#""schema_version":1"#, r#""schema_version":"1""#, "schema_version"),
    ("a fractional schema version", r#""schema_version":1"#, r#""schema_version":1.0"#, "schema_version"),
    ("no room", r#""room":"lab","#, "", ""),
    ("an empty room", r#""room":"lab""#, r#""room":"""#, "room"),
    ("a room that climbs", r#""room":"lab""#, r#""room":"a/../b""#, "room"),
    ("a room from the root", r#""room":"lab""#, r#""room":"/lab""#, "room"),
    ("a room that is too long", r#""room":"lab""#, r#""room":"<129>""#, "room"),
    ("a room with a space", r#""room":"lab""#, r#""room":"la b""#, "room"),
    ("a room with an umlaut", r#""room":"lab""#, r#""room":"läb""#, "room"),
    ("a room with a look-alike letter", r#""room":"lab""#, r#""room":"l\u0430b""#, "room"),
    ("a room with a NUL", r#""room":"lab""#, r#""room":"l\u0000b""#, "room"),
    ("a room as a number", r#""room":"lab""#, r#""room":7"#, "room"),
    ("no room but null", r#""room":"lab""#, r#""room":null"#, "room"),
    ("no delivery id", r#""delivery_id":"bad","#, "", ""),
    ("an empty delivery id", r#""delivery_id":"bad""#, r#""delivery_id":"""#, "delivery_id"),
    ("a blank delivery id", r#""delivery_id":"bad""#, r#""delivery_id":"  ""#, "delivery_id"),
    ("a delivery id that is too long", r#""delivery_id":"bad""#, r#""delivery_id":"<513>""#, "delivery_id"),
    ("a delivery id with a tab", r#""delivery_id":"bad""#, r#""delivery_id":"b\tad""#, "delivery_id"),
    ("a delivery id with a line end", r#""delivery_id":"bad""#, r#""delivery_id":"b\u2028ad""#, "delivery_id"),
    ("no source", r#""source":"text","#, "", ""),
    ("an unknown source", r#""source":"text""#, r#""source":"smell""#, "source"),
    ("a source in capitals", r#""source":"text""#, r#""source":"Text""#, "source"),
    ("a source that only the service mints", r#""source":"text""#, r#""source":"continuation""#, "source"),
    ("no actor", r#""actor":{"id":"u1","name":"Ann"},"#, "", ""),
    ("an actor as text", r#"{"id":"u1","name":"Ann"}"#, r#""u1""#, "actor"),
    ("an actor as a list of its fields", r#"{"id":"u1","name":"Ann"}"#, r#"["u1","Ann"]"#, "actor"),
    ("an actor without an id", r#""id":"u1","#, "", "actor"),
    ("an empty actor id", r#""id":"u1""#, r#""id":"""#, "actor.id"),
    ("an actor id that is too long", r#""id":"u1""#, r#""id":"<513>""#, "actor.id"),
    ("an actor id with an escape", r#""id":"u1""#, r#""id":"u\u001b[31m1""#, "actor.id"),
    ("an actor name as a number", r#""name":"Ann""#, r#""name":7"#, "actor.name"),
    ("no body", r#""body":"hello","#, "", ""),
    ("an empty body", r#""body":"hello""#, r#""body":"""#, "body"),
    ("a blank body", r#""body":"hello""#, r#""body":" \n\t""#, "body"),
    ("a body one byte too long", r#""body":"hello""#, r#""body":"<16385>""#, "body"),
    ("a body too long in bytes alone", r#""body":"hello""#, r#""body":"<umlauts 8193>""#, "body"),
    ("a body with a NUL", r#""body":"hello""#, r#""body":"a\u0000b""#, "body"),
    ("a body with half a character", r#""body":"hello""#, r#""body":"a\ud800b""#, "body"),
    ("a body with the other half", r#""body":"hello""#, r#""body":"a\udc00b""#, "body"),
    ("a body as a list", r#""body":"hello""#, r#""body":["hello"]"#, "body"),
    ("attachments as an object", r#""attachments":[]"#, r#""attachments":{}"#, "attachments"),
    ("too many attachments", r#""attachments":[]"#, r#""attachments":[<files 11>]"#, "attachments"),
    ("an attachment of another kind", r#""attachments":[]"#, r#""attachments":[1]"#, "attachments.0"),
    ("an unknown grant", r#""context":[]"#, r#""grant":"admin""#, "grant"),
    ("a grant as a switch", r#""context":[]"#, r#""grant":true"#, "grant"),
    ("too many quotes", r#""context":[]"#, r#""context":[<quotes 51>]"#, "context"),
    ("a quote that is too long", r#""context":[]"#, r#""context":[{"author":"a","text":"<16385>"}]"#, "context.0.text"),
    ("a depth bomb of lists", r#""context":[]"#, r#""context":<lists 20000>"#, DEEP_LIST),
    ("a depth bomb of objects", r#""context":[]"#, r#""context":<open 5000>"#, DEEP_OBJECT),
    ("a number beyond all numbers", r#""schema_version":1"#, r#""schema_version":1e999"#, "schema_version"),
    ("no JSON at all", GOOD, "hello", ""),
    ("nothing", GOOD, "", ""),
    ("a list", GOOD, "[]", ""),
    ("null", GOOD, "null", ""),
    ("two objects", GOOD, "{}{}", ""),
    ("JSON that ends early", r#""context":[]}"#, r#""context":["#, "context.0"),
    ("a trailing comma", r#""context":[]"#, r#""context":[],"#, ""),
    ("a comment", r#""context":[]"#, r#""context":[]/*x*/"#, ""),
];

/// What is wrong with an attachment, what is replaced in a good one, by what, and its field.
const FILES: &[(&str, &str, &str, &str)] = &[
    ("a file name that climbs", "a.png", "../a.png", "attachments.0.name"),
    ("a file name with a line", "a.png", r"a\n.png", "attachments.0.name"),
    ("a media type that is none", "image/png", "picture", "attachments.0.mime_type"),
    ("a script for an address", "https://files", "javascript:files", "attachments.0.url"),
    ("a file for an address", "https://files.example", "file:///etc", "attachments.0.url"),
    ("an address with a line", "/a.png\"}", r#"/a\r\nx: y"}"#, "attachments.0.url"),
    ("a negative size", r#""size":1"#, r#""size":-1"#, "attachments.0.size"),
    ("an empty file id", "f1", "", "attachments.0.id"),
];

pub(super) fn rows(world: &World) -> Vec<Row> {
    let (lane, voice) = (world.lane(), &world.voice);
    let post = |what: &str, body: &str, field: &'static str| Row {
        what: what.to_owned(),
        ask: Ask::post("/ingress/v1/turns").token(&lane).text(body),
        status: 400,
        problem: "bad-request",
        field,
    };
    let mut rows = Vec::new();
    for (what, old, new, field) in TABLE {
        let body = if *old == GOOD { (*new).to_owned() } else { replaced(GOOD, old, &written_out(new)) };
        rows.push(post(what, &body, field));
    }
    for (what, old, new, field) in FILES {
        let file = replaced(FILE, old, new);
        rows.push(post(what, &replaced(GOOD, r#""attachments":[]"#, &format!(r#""attachments":[{file}]"#)), field));
    }
    let forbidden = |what: &str, token: &str, body: &str| Row {
        status: 403,
        problem: "forbidden",
        ask: Ask::post("/ingress/v1/turns").token(token).text(body),
        ..post(what, "", "")
    };
    rows.push(forbidden("voice on a text lane", &lane, &replaced(GOOD, r#""text""#, r#""voice""#)));
    rows.push(forbidden("text on a voice lane", voice, GOOD));
    let bytes = [GOOD.as_bytes().split_at(100).0, b"\xff\xfe", GOOD.as_bytes().split_at(100).1].concat();
    let ask = Ask::post("/ingress/v1/turns").token(&lane).header("content-type", "application/json").bytes(&bytes);
    rows.push(Row { ask, ..post("bytes that are no text", "", "actor") });
    rows
}

fn replaced(good: &str, old: &str, new: &str) -> String {
    assert!(good.contains(old), "{old} is not in {good}");
    good.replacen(old, new, 1)
}
