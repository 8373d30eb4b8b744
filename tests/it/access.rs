//! Who is let in, and how far: hosts and origins, scopes, pairing, rotation and revocation, over HTTP.
//!
//! docs/access.md says which rule each of these holds.

mod gate;
mod pairing;
mod revocation;
mod scopes;
mod unseen;

use serde_json::{Value, json};

use crate::service::{Answer, Ask, Service};

/// Every grant that a device can have.
const GRANTS: [&str; 5] = ["chat", "steer", "observe", "terminal_control", "device_admin"];

/// A paired device.
#[derive(Debug, Clone)]
struct Device {
    id: String,
    token: String,
    account: String,
}

/// An operation in the name of whoever holds `token`.
fn dispatch_as(service: &Service, token: &str, operation: &Value) -> Answer {
    let mut operation = operation.clone();
    operation["schema_version"] = json!(1);
    service.send(&Ask::post("/operator/v1/dispatch").token(token).json(&operation))
}

/// A code that offers those grants.
fn offer(service: &Service, grants: &[&str]) -> String {
    let offered = service.dispatch(json!({"op": "device_pair_begin", "grants": grants}));
    offered["code"].as_str().unwrap_or_else(|| panic!("no code: {offered}")).to_owned()
}

fn redeem(service: &Service, code: &str, name: &str) -> Answer {
    service.send(&Ask::post("/pair/v1/redeem").json(&json!({"code": code, "name": name})))
}

fn poll(service: &Service, poll_token: &str) -> Answer {
    service.send(&Ask::get("/pair/v1/poll").token(poll_token))
}

fn approve(service: &Service, device: &str, grants: &[&str]) -> Value {
    service.dispatch(json!({"op": "device_approve", "device_id": device, "grants": grants}))
}

/// A device that was offered, redeemed, approved and told.
fn paired(service: &Service, name: &str, grants: &[&str]) -> Device {
    let redeemed = redeem(service, &offer(service, grants), name).json();
    let id = redeemed["device_id"].as_str().unwrap().to_owned();
    assert_eq!(approve(service, &id, grants)["state"], "active");
    let told = poll(service, redeemed["poll_token"].as_str().unwrap()).json();
    assert_eq!(told["status"], "approved", "{told}");
    let text = |field: &str| told[field].as_str().unwrap().to_owned();
    Device { id, token: text("token"), account: text("account") }
}

/// What somebody gets who may not: the kind of refusal and nothing else, neither content nor counts.
fn assert_bare_refusal(answer: &Answer, what: &str) {
    let (kind, title) = match answer.status {
        401 => ("unauthorized", "a valid credential is needed"),
        403 => ("forbidden", "this credential may not do that"),
        _ => panic!("{what}: {answer:?}"),
    };
    let bare = json!({"type": format!("/problems/{kind}"), "title": title, "status": answer.status});
    assert_eq!(answer.json(), bare, "{what}");
}
