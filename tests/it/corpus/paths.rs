//! Addresses that name nothing or do not decode, and bodies that contradict them.

use super::{Row, World, written_out};
use crate::service::Ask;

/// Who asks.
#[derive(Clone, Copy)]
enum Who {
    Lane,
    Account,
    Owner,
}
use Who::{Account, Lane, Owner};

const TURN: &str = "/ingress/v1/turns/lab/good";
const CANCEL: &str = r#"{"actor":{"id":"ann"}}"#;
const EDIT: &str = r#"{"actor":{"id":"ann"},"body":"other"}"#;

/// Status, type and field of an answer.
type Wanted = (u16, &'static str, &'static str);

/// Who asks what, with which body, and the status, type and field of the answer.
const TABLE: &[(Who, &str, &str, Wanted)] = &[
    (Lane, "GET /ingress/v1/turns/%ff/m", "", (400, "bad-request", "")),
    (Lane, "GET /ingress/v1/turns/lab/%ff", "", (400, "bad-request", "")),
    (Lane, "GET /ingress/v1/turns/lab/%00", "", (400, "bad-request", "delivery_id")),
    (Lane, "GET /ingress/v1/turns/lab/%20", "", (400, "bad-request", "delivery_id")),
    (Lane, "GET /ingress/v1/turns/..%2Flab/m", "", (400, "bad-request", "room")),
    (Lane, "GET /ingress/v1/turns/%2Flab/m", "", (400, "bad-request", "room")),
    (Lane, "GET /ingress/v1/turns/<129>/m", "", (400, "bad-request", "room")),
    (Lane, "GET /ingress/v1/turns/lab/<513>", "", (400, "bad-request", "delivery_id")),
    (Lane, "GET /ingress/v1/turns/lab/unknown", "", (404, "not-found", "")),
    (Lane, "GET /ingress/v1/turns/ingress:t:lab/good", "", (404, "not-found", "")),
    (Lane, "GET /ingress/v1/turns/lab/", "", (404, "not-found", "")),
    (Lane, "GET /ingress/v1/turns/lab/good/more", "", (404, "not-found", "")),
    (Lane, "GET /ingress/v1/turns", "", (405, "method-not-allowed", "")),
    (Lane, "PATCH /ingress/v1/turns/lab/good", EDIT, (405, "method-not-allowed", "")),
    (Lane, "GET /ingress/v1/turns/lab/good?wait=61", "", (400, "bad-request", "wait")),
    (Lane, "GET /ingress/v1/turns/lab/good?wait=-1", "", (400, "bad-request", "")),
    (Lane, "GET /ingress/v1/turns/lab/good?wait=soon", "", (400, "bad-request", "")),
    (Lane, "GET /ingress/v1/turns/lab/good?wait=1&wait=2", "", (400, "bad-request", "")),
    (Lane, "GET /ingress/v1/turns/lab/good?wiat=1", "", (400, "bad-request", "")),
    (Lane, "GET /ingress/v1/rooms/lab/messages?after=-1", "", (400, "bad-request", "")),
    (Lane, "GET /ingress/v1/rooms/lab/messages?after=1x", "", (400, "bad-request", "")),
    (Lane, "GET /ingress/v1/rooms/lab/messages?since=1", "", (400, "bad-request", "")),
    (Lane, "GET /ingress/v1/rooms/a..b/messages", "", (400, "bad-request", "room")),
    (Lane, "DELETE /ingress/v1/turns/lab/good", "", (415, "unsupported-media-type", "")),
    (Lane, "DELETE /ingress/v1/turns/lab/good", "{}", (400, "bad-request", "")),
    (Lane, "DELETE /ingress/v1/turns/lab/good", r#"{"actor":{"id":""}}"#, (400, "bad-request", "actor.id")),
    (
        Lane,
        "DELETE /ingress/v1/turns/lab/good",
        r#"{"actor":{"id":"a","name":"A"}}"#,
        (400, "bad-request", "actor.name"),
    ),
    (Lane, "DELETE /ingress/v1/turns/lab/unknown", CANCEL, (404, "not-found", "")),
    (Lane, "PUT /ingress/v1/turns/lab/good", r#"{"actor":{"id":"ann"}}"#, (400, "bad-request", "")),
    (
        Lane,
        "PUT /ingress/v1/turns/lab/good",
        r#"{"actor":{"id":"ann"},"body":"x","room":"den"}"#,
        (400, "bad-request", "room"),
    ),
    (Lane, "PUT /ingress/v1/turns/lab/good", r#"{"actor":{"id":"ann"},"body":""}"#, (400, "bad-request", "body")),
    (Account, "POST /rooms/v1/lab/messages", r#"{"delivery_id":"m","text":""}"#, (400, "bad-request", "text")),
    (Account, "POST /rooms/v1/lab/messages", r#"{"delivery_id":"","text":"hi"}"#, (400, "bad-request", "delivery_id")),
    (Account, "POST /rooms/v1/lab/messages", r#"{"delivery_id":"m","text":"<16385>"}"#, (400, "bad-request", "text")),
    (
        Account,
        "POST /rooms/v1/lab/messages",
        r#"{"delivery_id":"m","text":"hi","as":"bob"}"#,
        (400, "bad-request", "as"),
    ),
    (Account, "POST /rooms/v1/..%2Flab/messages", r#"{"delivery_id":"m","text":"hi"}"#, (400, "bad-request", "room")),
    (Account, "POST /rooms/v1/attic/messages", r#"{"delivery_id":"m","text":"hi"}"#, (404, "not-found", "")),
    (Owner, "GET /operator/v1/handoffs?limit=0", "", (400, "bad-request", "limit")),
    (Owner, "GET /operator/v1/handoffs?limit=1001", "", (400, "bad-request", "limit")),
    (Owner, "GET /operator/v1/handoffs?limit=many", "", (400, "bad-request", "")),
    (Owner, "GET /operator/v1/handoffs?state=finished", "", (400, "bad-request", "state")),
    (Owner, "GET /operator/v1/handoffs?before=1", "", (400, "bad-request", "before")),
    (Owner, "GET /operator/v1/handoffs?room=a..b", "", (400, "bad-request", "room")),
    (Owner, "GET /operator/v1/handoffs?rooms=lab", "", (400, "bad-request", "")),
    (Owner, "GET /operator/v1/handoffs/1", "", (400, "bad-request", "id")),
    (Owner, "GET /operator/v1/handoffs/00000000-0000-7000-8000-000000000000", "", (404, "not-found", "")),
    (Owner, "GET /operator/v1/handoffs/1/transcript", "", (400, "bad-request", "id")),
    (Owner, "GET /operator/v1/handoffs/00000000-0000-7000-8000-000000000000/transcript", "", (404, "not-found", "")),
    (Owner, "POST /operator/v1/handoffs/00000000-0000-7000-8000-000000000000/cancel", "", (404, "not-found", "")),
    (
        Owner,
        "GET /operator/v1/handoffs/00000000-0000-7000-8000-000000000000/cancel",
        "",
        (405, "method-not-allowed", ""),
    ),
    (Owner, "GET /operator/v1/dispatch", "", (405, "method-not-allowed", "")),
    (Owner, "GET /operator/v2/handoffs", "", (404, "not-found", "")),
    (Owner, "GET /nowhere", "", (404, "not-found", "")),
];

pub(super) fn rows(world: &World) -> Vec<Row> {
    let mut rows: Vec<Row> = TABLE.iter().map(|row| one(world, row)).collect();
    let lane = world.lane();
    // A preference in a header is read as strictly as a query.
    for preference in ["wait=61", "wait=-1", "wait=soon", "wait=18446744073709551616"] {
        let ask = Ask::get(TURN).token(&lane).header("prefer", preference);
        rows.push(Row { what: preference.to_owned(), ask, status: 400, problem: "bad-request", field: "wait" });
    }
    rows
}

fn one(world: &World, row: &(Who, &str, &str, Wanted)) -> Row {
    let (who, line, body, (status, problem, field)) = *row;
    let (method, path) = line.split_once(' ').unwrap();
    let token = match who {
        Lane => world.lane(),
        Account => world.account.clone(),
        Owner => world.service.operator().to_owned(),
    };
    let ask = Ask::new(method, &written_out(path)).token(&token);
    let ask = if body.is_empty() { ask } else { ask.text(&written_out(body)) };
    Row { what: format!("{line} {body}"), ask, status, problem, field }
}
