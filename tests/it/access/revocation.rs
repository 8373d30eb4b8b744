//! What was revoked, narrowed or rotated: from when on, and who notices.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::thread;

use serde_json::{Value, json};

use super::{Device, approve, assert_bare_refusal, dispatch_as, paired};
use crate::service::{Ask, Service, turn, until};

/// A long wait of that device is open: the service has noted that its token was used.
fn until_used(service: &Service, device: &Device) {
    until("the wait to begin", || {
        let list = service.dispatch(json!({"op": "device_list"}));
        let devices = list["devices"].as_array().unwrap();
        devices.iter().any(|one| one["device_id"] == device.id && one["last_used_at"].is_string()).then_some(())
    });
}

/// Lets a device wait for a minute, changes something meanwhile, and gives what the wait ended with.
fn while_it_waits(change: impl FnOnce(&Service, &Device)) -> crate::service::Answer {
    let service = Service::start("");
    let device = paired(&service, "phone", &["observe", "steer"]);
    let id = service.admit(&turn("lab", "m1", "ann", "!wait-steer 600000"));
    service.running("m1");
    let path = format!("/operator/v1/handoffs/{id}/transcript?after=1000&wait=60");
    thread::scope(|scope| {
        let open = scope.spawn(|| service.send(&Ask::get(&path).token(&device.token)));
        until_used(&service, &device);
        change(&service, &device);
        open.join().unwrap()
    })
}

#[test]
fn an_open_wait_ends_when_its_device_is_revoked() {
    let answer = while_it_waits(|service, device| {
        service.dispatch(json!({"op": "device_revoke", "device_id": device.id}));
    });
    assert_bare_refusal(&answer, "revoked");
    assert_eq!(answer.status, 401);
}

#[test]
fn an_open_wait_ends_when_its_device_is_narrowed() {
    let answer = while_it_waits(|service, device| drop(approve(service, &device.id, &["steer"])));
    assert_bare_refusal(&answer, "narrowed");
    assert_eq!(answer.status, 403);
}

#[test]
fn a_revoked_device_is_refused_on_the_next_call_and_stays_revoked_after_a_restart() {
    let mut service = Service::start("");
    let device = paired(&service, "phone", &["observe"]);
    let read = |service: &Service| service.send(&Ask::get("/operator/v1/handoffs").token(&device.token)).status;
    assert_eq!(read(&service), 200);
    service.dispatch(json!({"op": "device_revoke", "device_id": device.id}));
    assert_eq!(read(&service), 401);
    assert_eq!(approve(&service, &device.id, &["observe"])["reason"], "unknown_device");
    service.kill();
    service.launch();
    assert_eq!(read(&service), 401);
}

#[test]
fn a_rotated_token_works_beside_the_one_before_until_it_is_revoked() {
    let service = Service::start("");
    let made = service.dispatch(json!({"op": "token_create", "kind": "lane-text", "name": "bridge"}));
    let (id, old) = (made["token"]["id"].as_str().unwrap(), made["secret"].as_str().unwrap());
    let new = service.cli(&["tokens", "rotate", id]);
    assert_eq!(new.code, Some(0), "{new:?}");
    let new = new.out.trim();
    let read = |token: &str| service.send(&Ask::get("/ingress/v1/rooms/lab/messages").token(token)).status;
    assert_eq!((read(old), read(new)), (200, 200));
    service.dispatch(json!({"op": "token_revoke", "id": id}));
    assert_eq!((read(old), read(new)), (401, 401));
    assert_eq!(service.cli(&["tokens", "rotate", id]).code, Some(3), "nothing brings a revoked token back");
    assert_eq!(service.dispatch(json!({"op": "token_rotate", "id": id}))["reason"], "unknown_token");
}

/// The operator's own file follows a rotation, so the next command is still the owner.
#[test]
fn the_operators_file_follows_a_rotation_and_stays_private() {
    let service = Service::start("");
    let tokens = service.dispatch(json!({"op": "token_list"}));
    let mut tokens = tokens["tokens"].as_array().unwrap().iter();
    let operator = tokens.find(|token| token["kind"] == "operator").unwrap();
    let made = service.dispatch(json!({"op": "token_rotate", "id": operator["id"]}));
    let file = service.state_dir().join("operator.token");
    assert_eq!(fs::read_to_string(&file).unwrap().trim(), made["secret"].as_str().unwrap());
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    assert_eq!(service.cli(&["status"]).code, Some(0));
    let before = dispatch_as(&service, service.operator(), &json!({"op": "token_list"}));
    assert_eq!(before.status, 200, "the secret before works a minute more");
    let device = paired(&service, "phone", &["observe"]);
    service.dispatch(json!({"op": "token_rotate", "id": device.id}));
    assert_eq!(fs::read_to_string(&file).unwrap().trim(), made["secret"].as_str().unwrap(), "others are not put there");
}

/// Guesses from one browser lock its address whatever proxies are said to be in between, and lock
/// nobody out who holds a right credential.
#[test]
fn forwarded_headers_of_strangers_are_ignored() {
    let service = Service::start("");
    let own = format!("http://{}", service.address());
    let guess = |n: usize, token: &str| {
        let ask = Ask::get("/operator/v1/handoffs").header("origin", &own).token(token);
        let ask = ask.header("x-forwarded-for", &format!("198.51.100.{n}")).header("x-real-ip", "127.0.0.1");
        service.send(&ask.header("forwarded", &format!("for=198.51.100.{n};host=evil.example")))
    };
    let wrong = service.lane("t").replacen("lanetext", "operator", 1);
    let statuses: Vec<u16> = (0..11).map(|n| guess(n, &wrong).status).collect();
    assert_eq!(statuses, [[401; 10].as_slice(), &[429]].concat());
    assert_eq!(guess(99, service.operator()).status, 200, "a right one is never refused");
    let codes: Vec<u16> = (0..2)
        .map(|_| {
            let ask = Ask::post("/pair/v1/redeem").header("origin", &own);
            service.send(&ask.json(&json!({"code": "BBBB-BBBB", "name": "x"}))).status
        })
        .collect();
    assert_eq!(codes, [429, 429], "codes and credentials are guessed at together");
    let host = Ask::get("/healthz").header("host", "evil.example").header("x-forwarded-host", service.address());
    assert_eq!(service.send(&host).status, 421);
    let _: Value = service.handoffs();
}
