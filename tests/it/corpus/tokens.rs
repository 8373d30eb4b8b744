//! Credentials that are none, do not stand any more, or do not reach so far.

use serde_json::json;

use super::{Row, World};
use crate::service::{Ask, turn};

/// Everything that only the owner may do.
const OWNERS: &[&str] = &[
    "GET /operator/v1/handoffs",
    "GET /operator/v1/handoffs/00000000-0000-7000-8000-000000000000",
    "GET /operator/v1/handoffs/00000000-0000-7000-8000-000000000000/transcript",
    "POST /operator/v1/handoffs/00000000-0000-7000-8000-000000000000/cancel",
    "GET /operator/v1/events",
    "GET /operator/v1/status",
    "POST /operator/v1/dispatch",
];

/// Everything that only a lane may do.
const LANES: &[&str] =
    &["POST /ingress/v1/turns", "GET /ingress/v1/turns/lab/good", "GET /ingress/v1/rooms/lab/messages"];

pub(super) fn rows(world: &World) -> Vec<Row> {
    let (owner, lane) = (world.service.operator().to_owned(), world.lane());
    let mut rows = Vec::new();
    for (what, header) in malformed(&lane, &revoked(world)) {
        let ask = header.iter().fold(submission(), |ask, value| ask.header("authorization", value));
        rows.push(refused(what, ask, 401));
    }
    for route in OWNERS {
        rows.push(refused(&format!("nobody: {route}"), asked(route), 401));
        let lesser = [
            ("captain", &world.captain),
            ("text lane", &lane),
            ("voice lane", &world.voice),
            ("account", &world.account),
        ];
        for (who, token) in lesser {
            rows.push(refused(&format!("{who}: {route}"), asked(route).token(token), 403));
        }
    }
    for route in LANES {
        for (who, token) in [("captain", &world.captain), ("account", &world.account), ("owner", &owner)] {
            rows.push(refused(&format!("{who}: {route}"), asked(route).token(token), 403));
        }
    }
    for (who, token) in [("text lane", &lane), ("captain", &world.captain), ("owner", &owner)] {
        rows.push(refused(&format!("{who} in a local room"), asked("POST /rooms/v1/lab/messages").token(token), 403));
    }
    rows
}

/// What is wrong, and the `Authorization` headers.
fn malformed(good: &str, revoked: &str) -> Vec<(&'static str, Vec<String>)> {
    let bearer = |token: &str| vec![format!("Bearer {token}")];
    let other = good.replacen("lanetext", "operator", 1);
    assert_ne!(other, good);
    let last = if good.ends_with('A') { "B" } else { "A" };
    vec![
        ("nothing", vec![]),
        ("no scheme", vec![good.to_owned()]),
        ("another scheme", vec![format!("Basic {good}")]),
        ("no token", bearer("")),
        ("another program's token", bearer("sk-0123456789")),
        ("a token that is cut", bearer(&good[..good.len() - 1])),
        ("a token with another end", bearer(&format!("{}{last}", &good[..good.len() - 1]))),
        ("a token that says another kind", bearer(&other)),
        ("a token with more behind it", bearer(&format!("{good} x"))),
        ("two tokens", vec![format!("Bearer {good}"), format!("Bearer {good}")]),
        ("a revoked token", bearer(revoked)),
    ]
}

fn revoked(world: &World) -> String {
    let made = world.service.dispatch(json!({"op": "token_create", "kind": "lane-text", "name": "gone"}));
    world.service.dispatch(json!({"op": "token_revoke", "id": made["token"]["id"]}));
    made["secret"].as_str().unwrap().to_owned()
}

fn refused(what: &str, ask: Ask, status: u16) -> Row {
    let problem = if status == 401 { "unauthorized" } else { "forbidden" };
    Row { what: what.to_owned(), ask, status, problem, field: "" }
}

fn asked(route: &str) -> Ask {
    let (method, path) = route.split_once(' ').unwrap();
    let ask = Ask::new(method, path);
    if method == "POST" { ask.json(&turn("lab", "forbidden", "ann", "hello")) } else { ask }
}

fn submission() -> Ask {
    asked(LANES[0])
}
