//! Every kind of credential against every operation and route, beside a second opinion.

use serde_json::{Value, json};

use super::{Device, GRANTS, assert_bare_refusal, dispatch_as, offer, paired, poll, redeem};
use crate::service::{Ask, Service, turn};

/// An operation, and the grant that a device needs for it; none is the operator's alone.
const OPERATIONS: &[(&str, &str)] = &[
    ("account_open", ""),
    ("config_reload", ""),
    ("conversation_get", "terminal_control"),
    ("conversation_list", "terminal_control"),
    ("conversation_tail", "terminal_control"),
    ("device_approve", "device_admin"),
    ("device_list", "device_admin"),
    ("device_pair_begin", ""),
    ("device_revoke", "device_admin"),
    ("handoff_cancel", "steer"),
    ("handoff_get", "observe"),
    ("handoff_list", "observe"),
    ("input_answer", "terminal_control"),
    ("input_cancel", "terminal_control"),
    ("input_get", "terminal_control"),
    ("input_list", "terminal_control"),
    ("mark_seen", "terminal_control"),
    ("owner_update_dismiss", "terminal_control"),
    ("owner_update_list", "terminal_control"),
    ("owner_update_read", "terminal_control"),
    ("rooms_list", "observe"),
    ("token_create", ""),
    ("token_list", ""),
    ("token_revoke", ""),
    ("token_rotate", ""),
];

/// A route, and who passes beside the operator: kinds and grants.
const ROUTES: &[(&str, &[&str])] = &[
    ("GET /operator/v1/handoffs", &["operator", "observe"]),
    ("GET /operator/v1/handoffs/00000000-0000-7000-8000-000000000000", &["operator", "observe"]),
    ("GET /operator/v1/handoffs/00000000-0000-7000-8000-000000000000/transcript", &["operator", "observe"]),
    ("GET /operator/v1/handoffs/00000000-0000-7000-8000-000000000000/files/0", &["operator", "observe"]),
    ("POST /operator/v1/handoffs/00000000-0000-7000-8000-000000000000/cancel", &["operator", "steer"]),
    ("GET /operator/v1/status", &["operator", "observe"]),
    ("GET /rooms/v1/lab/messages", &["operator", "account", "observe", "chat"]),
    ("POST /rooms/v1/lab/messages", &["account", "chat"]),
    ("POST /ingress/v1/turns", &["lane-text", "lane-voice"]),
    ("GET /ingress/v1/turns/lab/m1", &["lane-text", "lane-voice"]),
    ("GET /ingress/v1/rooms/lab/messages", &["lane-text", "lane-voice"]),
];

/// Who calls: a name, what it holds, and its token.
struct Who {
    name: String,
    holds: Vec<&'static str>,
    token: String,
}

fn everybody(service: &Service) -> Vec<Who> {
    let mut all = vec![Who { name: "operator".into(), holds: vec!["operator"], token: service.operator().into() }];
    for kind in ["captain", "lane-text", "lane-voice", "account"] {
        let token = service.token(kind, &format!("a-{kind}"));
        all.push(Who { name: kind.into(), holds: vec![kind], token });
    }
    for grant in GRANTS {
        let Device { token, .. } = paired(service, grant, &[grant]);
        all.push(Who { name: format!("device with {grant}"), holds: vec![grant], token });
    }
    let Device { token, .. } = paired(service, "everything", &GRANTS);
    all.push(Who { name: "device with everything".into(), holds: GRANTS.to_vec(), token });
    all
}

/// Whoever may not gets 403 and nothing else, whatever the call holds; whoever may gets further. A
/// wrong call is used, so that nothing changes on the way.
#[test]
fn b83_b87_every_credential_reaches_exactly_what_its_kind_and_grants_allow() {
    let service = Service::start("");
    let all = everybody(&service);
    let tokens = || service.dispatch(json!({"op": "token_list"}))["tokens"].as_array().unwrap().len();
    let before = tokens();
    for Who { name, holds, token } in &all {
        for (op, grant) in OPERATIONS {
            let allowed = holds.contains(&"operator") || holds.contains(grant);
            let answer = dispatch_as(&service, token, &json!({"op": op, "no_such_field": 1}));
            if allowed {
                assert!(matches!(answer.status, 200 | 400), "{name} {op}: {answer:?}");
            } else {
                assert_bare_refusal(&answer, &format!("{name} {op}"));
                assert_eq!(answer.status, 403, "{name} {op}");
            }
        }
        for (route, reach) in ROUTES {
            let allowed = holds.iter().any(|held| reach.contains(held));
            let (method, path) = route.split_once(' ').unwrap();
            let ask = Ask::new(method, path).token(token);
            let answer = service.send(&if method == "POST" { ask.json(&json!({"no_such_field": 1})) } else { ask });
            if allowed {
                assert!(matches!(answer.status, 200 | 400 | 404), "{name} {route}: {answer:?}");
            } else {
                assert_bare_refusal(&answer, &format!("{name} {route}"));
            }
        }
    }
    assert_eq!(tokens(), before);
    assert!(service.handoffs()["handoffs"].as_array().unwrap().is_empty());
}

/// The captain learns nothing by asking: not that there is mail, not how much, not which fields a call has.
#[test]
fn the_agents_own_credential_gets_neither_content_nor_counts() {
    let service = Service::start("");
    service.settle(&turn("lab", "m1", "ann", "a word that only the owner reads"));
    let captain = service.token("captain", "agent");
    for (op, _) in OPERATIONS {
        let answer = dispatch_as(&service, &captain, &json!({"op": op}));
        assert_eq!(answer.status, 403, "{op}");
        assert_bare_refusal(&answer, op);
    }
    for body in ["", "{", "[]", r#"{"schema_version":1,"op":"no_such"}"#] {
        let answer = service.send(&Ask::post("/operator/v1/dispatch").token(&captain).text(body));
        assert_eq!(answer.status, 403, "{body:?}");
        assert_bare_refusal(&answer, body);
    }
}

/// The feed's ids count what happens, so who may read nothing of it does not get one.
#[test]
fn the_feed_is_closed_to_who_may_read_nothing_of_it() {
    let service = Service::start("");
    let mut tokens: Vec<String> =
        ["captain", "lane-text", "lane-voice", "account"].map(|kind| service.token(kind, &format!("a-{kind}"))).into();
    tokens.extend(["chat", "steer", "device_admin"].map(|grant| paired(&service, grant, &[grant]).token));
    for token in tokens {
        let answer = service.send(&Ask::get("/operator/v1/events").token(&token));
        assert_eq!(answer.status, 403, "{answer:?}");
        assert_bare_refusal(&answer, "the feed");
    }
}

/// A field, a query or a header that claims a scope is refused or ignored; it never adds one.
#[test]
fn declared_scopes_roles_and_identities_change_nothing() {
    let service = Service::start("");
    let device = paired(&service, "reader", &["observe"]);
    for claim in ["scopes", "scope", "role", "kind", "grants", "device_id", "actor_id", "principal", "admin"] {
        let call = json!({"op": "handoff_list", claim: "operator"});
        let answer = dispatch_as(&service, &device.token, &call);
        assert_eq!((answer.status, answer.json()["field"].as_str()), (400, Some(claim)), "{claim}");
        let answer = service.send(&Ask::get(&format!("/operator/v1/handoffs?{claim}=operator")).token(&device.token));
        assert_eq!(answer.status, 400, "{claim}");
        let header = format!("x-clankie-{}", claim.replace('_', "-"));
        let ask = Ask::post("/operator/v1/dispatch").token(&device.token).header(&header, "operator");
        let answer = service.send(&ask.json(&json!({"schema_version": 1, "op": "token_list"})));
        assert_eq!(answer.status, 403, "{claim}");
        let redeem = json!({"code": "BBBB-BBBB", "name": "x", claim: ["device_admin"]});
        assert_eq!(service.send(&Ask::post("/pair/v1/redeem").json(&redeem)).status, 400, "{claim}");
    }
    let cookie = Ask::post("/operator/v1/dispatch").header("cookie", &format!("token={}", service.operator()));
    let answer = service.send(&cookie.json(&json!({"schema_version": 1, "op": "token_list"})));
    assert_eq!(answer.status, 401, "a cookie is no credential");
}

/// A device talks as itself: under a name of its own that no person has, whatever it calls itself.
#[test]
fn i8_a_device_talks_as_itself_and_cannot_take_a_persons_name() {
    let service = Service::start("[grants]\nowners = [\"local:ann\"]");
    let ann = service.token("account", "ann");
    let device = paired(&service, "ann", &["chat"]);
    assert_eq!(device.account, "device-ann");
    let say = |token: &str, id: &str| {
        let said = json!({"delivery_id": id, "text": "hello"});
        service.send(&Ask::post("/rooms/v1/lab/messages").token(token).header("prefer", "wait=60").json(&said)).json()
    };
    say(&device.token, "m1");
    say(&ann, "m2");
    let plan = |id: &str| {
        let record = service.record(id).unwrap();
        (record["actor"].clone(), record["grant"]["plan"].clone())
    };
    assert_eq!(plan("m1"), (json!("local:device-ann"), json!("social")));
    assert_eq!(plan("m2"), (json!("local:ann"), json!("owner")));
    let taken = service.dispatch(json!({"op": "account_open", "name": "device-ann"}));
    assert_eq!(taken["reason"], "name_taken");
}

/// What a device reads and cancels, it does in its own name.
#[test]
fn a_device_that_steers_is_named_in_the_record() {
    let service = Service::start("");
    let device = paired(&service, "phone", &["steer"]);
    let id = service.admit(&turn("lab", "m1", "ann", "!wait-steer 600000"));
    service.running("m1");
    let path = format!("/operator/v1/handoffs/{id}/cancel");
    assert!(matches!(service.send(&Ask::post(&path).token(&device.token)).status, 200 | 202));
    let result = service.result("lab", "m1");
    assert_eq!(result["by"], json!({"kind": "device", "id": device.id}));
    let again = service.send(&Ask::post(&path).token(&device.token));
    assert_eq!((again.status, &again.json()["result"]), (200, &Value::Null), "who may not read is told no result");
}

/// A device that approves others gives what was offered and no more, nor anything to itself.
#[test]
fn a_device_that_approves_others_cannot_widen_itself() {
    let service = Service::start("");
    let admin = paired(&service, "admin", &["device_admin"]);
    let as_admin = |operation: Value| dispatch_as(&service, &admin.token, &operation).json();
    let wider = as_admin(json!({"op": "device_approve", "device_id": admin.id, "grants": ["device_admin", "observe"]}));
    assert_eq!(wider["reason"], "widening_needs_operator");
    let redeemed = redeem(&service, &offer(&service, &["observe"]), "phone").json();
    let id = redeemed["device_id"].clone();
    let more = as_admin(json!({"op": "device_approve", "device_id": id, "grants": ["observe", "terminal_control"]}));
    assert_eq!(more["reason"], "grants_not_offered");
    let given = as_admin(json!({"op": "device_approve", "device_id": id, "grants": ["observe"]}));
    assert_eq!((&given["status"], &given["grants"]), (&json!("ready"), &json!(["observe"])));
    assert_eq!(poll(&service, redeemed["poll_token"].as_str().unwrap()).json()["status"], "approved");
    let operators = service.dispatch(json!({"op": "token_list"}));
    let tokens = operators["tokens"].as_array().unwrap();
    let operator = tokens.iter().find(|token| token["kind"] == "operator").unwrap();
    let other = as_admin(json!({"op": "device_revoke", "device_id": operator["id"]}));
    assert_eq!(other["reason"], "unknown_device", "an operator is no device");
}
