//! Pairing as its owner, its device and its attacker use it.

use std::fs;
use std::thread;

use serde_json::json;

use super::{approve, assert_bare_refusal, dispatch_as, offer, paired, poll, redeem};
use crate::service::{Ask, Service};

fn waiting(service: &Service) -> usize {
    let list = service.dispatch(json!({"op": "device_list"}));
    list["devices"].as_array().unwrap().iter().filter(|device| device["state"] == "pending").count()
}

#[test]
fn a_device_is_offered_redeemed_compared_approved_and_told() {
    let service = Service::start("");
    let offered = service.dispatch(json!({"op": "device_pair_begin", "grants": ["observe", "steer"]}));
    let code = offered["code"].as_str().unwrap();
    assert!(offered["url"].as_str().unwrap().ends_with("/pair/v1/redeem"), "{offered}");
    let redeemed = redeem(&service, &code.to_lowercase().replace('-', " "), "Ann's\u{202e} phone").json();
    let (id, secret) = (redeemed["device_id"].as_str().unwrap(), redeemed["poll_token"].as_str().unwrap());
    assert_eq!(poll(&service, secret).json(), json!({"status": "pending", "interval_s": 5}));
    assert_eq!(poll(&service, secret).json(), json!({"status": "slow_down", "interval_s": 10}));
    let list = service.dispatch(json!({"op": "device_list"}));
    let device = &list["devices"][0];
    assert_eq!((&device["device_id"], &device["state"]), (&json!(id), &json!("pending")));
    assert_eq!((&device["reported_name"], &device["address"]), (&json!("Ann's phone"), &json!("127.0.0.1")));
    assert_eq!(approve(&service, id, &["steer", "terminal_control"])["reason"], "grants_not_offered");
    assert_eq!(approve(&service, id, &[])["reason"], "no_grants");
    assert_eq!(approve(&service, id, &["observe"])["state"], "active");
    let told = poll(&service, secret).json();
    assert_eq!((&told["status"], &told["grants"]), (&json!("approved"), &json!(["observe"])));
    let token = told["token"].as_str().unwrap();
    assert_eq!(service.send(&Ask::get("/operator/v1/handoffs").token(token)).status, 200);
    assert_eq!(poll(&service, secret).json(), told, "a lost answer is asked for again");
}

/// A code that was used, was never made or was burned gets one and the same answer.
#[test]
fn a_code_is_used_once_and_five_wrong_ones_burn_it() {
    let service = Service::start("");
    let refused = |code: &str| {
        let answer = redeem(&service, code, "thief");
        assert_eq!(answer.status, 401, "{answer:?}");
        answer.body
    };
    let (used, kept) = (offer(&service, &["observe"]), offer(&service, &["observe"]));
    assert_eq!(redeem(&service, &used, "phone").status, 200);
    let said = refused(&used);
    assert_eq!(said, refused("BBBB-BBBB"));
    assert_eq!(said, refused("0000-0000"));
    assert_eq!(said, refused(""));
    assert_eq!(said, refused("nonsense of another length"));
    assert_eq!(said, refused(&kept), "five wrong ones burned it");
    assert_eq!(waiting(&service), 1);
    assert_eq!(redeem(&service, &offer(&service, &["observe"]), "tablet").status, 200, "a new one works");
}

#[test]
fn fifty_redemptions_at_once_never_exceed_three_pending_and_use_no_code_twice() {
    let service = Service::start("");
    let codes: Vec<String> = (0..3).map(|_| offer(&service, &["observe"])).collect();
    let fourth = service.dispatch(json!({"op": "device_pair_begin", "grants": ["observe"]}));
    assert_eq!(fourth["reason"], "too_many_pairings");
    let won: Vec<usize> = thread::scope(|scope| {
        let tries: Vec<_> = (0..50)
            .map(|n| {
                let (service, code) = (&service, &codes[n % 3]);
                scope.spawn(move || (redeem(service, code, &format!("phone {n}")).status == 200).then_some(n % 3))
            })
            .collect();
        tries.into_iter().filter_map(|one| one.join().unwrap()).collect()
    });
    assert!(!won.is_empty() && won.len() <= 3, "{won:?}");
    assert!(codes.iter().enumerate().all(|(code, _)| won.iter().filter(|used| **used == code).count() <= 1));
    assert_eq!(waiting(&service), won.len());
    let fourth = service.dispatch(json!({"op": "device_pair_begin", "grants": ["observe"]}));
    assert_eq!(fourth["status"] == "ready", won.len() < 3, "{fourth}");
}

/// B81: a secret belongs to one device; under another one's id it is nothing, and it is no token.
#[test]
fn b81_a_poll_secret_is_bound_to_its_device_and_opens_nothing_else() {
    let service = Service::start("");
    let redeemed = |name: &str| redeem(&service, &offer(&service, &["observe"]), name).json();
    let (one, other) = (redeemed("one"), redeemed("other"));
    let text = |of: &serde_json::Value, field: &str| of[field].as_str().unwrap().to_owned();
    let crossed = text(&one, "poll_token").replace(&text(&one, "device_id"), &text(&other, "device_id"));
    approve(&service, &text(&other, "device_id"), &["observe"]);
    let answer = poll(&service, &crossed);
    assert_bare_refusal(&answer, "another's secret");
    let pending = text(&one, "poll_token");
    for token in [pending.clone(), pending.replacen("clk_pair_", "clk_device_", 1)] {
        let answer = service.send(&Ask::get("/operator/v1/handoffs").token(&token));
        assert_eq!(answer.status, 401, "a device that waits holds no token yet");
    }
    let device = paired(&service, "third", &["observe"]);
    assert_bare_refusal(&poll(&service, &device.token), "a token does not poll");
    assert_bare_refusal(&service.send(&Ask::get("/pair/v1/poll")), "nobody");
    assert_eq!(service.send(&Ask::get(&format!("/pair/v1/poll?poll_token={pending}"))).status, 401);
}

#[test]
fn a_denied_device_hears_so_and_a_restart_ends_what_was_open_but_no_approval() {
    let mut service = Service::start("");
    let denied = redeem(&service, &offer(&service, &["observe"]), "denied").json();
    let revoked = service.dispatch(json!({"op": "device_revoke", "device_id": denied["device_id"]}));
    assert_eq!(revoked["state"], "denied");
    let secret = |of: &serde_json::Value| of["poll_token"].as_str().unwrap().to_owned();
    assert_eq!(poll(&service, &secret(&denied)).json(), json!({"status": "denied"}));
    let open = redeem(&service, &offer(&service, &["observe"]), "open").json();
    let told_late = redeem(&service, &offer(&service, &["observe"]), "told late").json();
    approve(&service, told_late["device_id"].as_str().unwrap(), &["observe"]);
    let code = offer(&service, &["observe"]);
    service.kill();
    service.launch();
    assert_eq!(poll(&service, &secret(&open)).status, 401);
    assert_eq!(redeem(&service, &code, "late").status, 401);
    assert_eq!(poll(&service, &secret(&told_late)).json()["status"], "approved");
}

/// B106: a pairing code, a poll secret and a device's token are in no log at any level, no list and
/// no byte of the store; nor is the secret that a rotation made.
#[test]
fn b106_codes_and_secrets_of_devices_are_found_nowhere() {
    let mut service = Service::start("[log]\nfilter = \"trace\"");
    let code = offer(&service, &["observe", "chat"]);
    assert_eq!(redeem(&service, "BCDF-GHJK", "thief").status, 401);
    let redeemed = redeem(&service, &code, "phone").json();
    let id = redeemed["device_id"].as_str().unwrap();
    poll(&service, redeemed["poll_token"].as_str().unwrap());
    approve(&service, id, &["observe"]);
    let told = poll(&service, redeemed["poll_token"].as_str().unwrap()).json();
    let token = told["token"].as_str().unwrap().to_owned();
    service.send(&Ask::get("/operator/v1/handoffs").token(&token));
    let rotated = service.dispatch(json!({"op": "token_rotate", "id": id}))["secret"].as_str().unwrap().to_owned();
    service.send(&Ask::get("/operator/v1/handoffs").token(&rotated));
    let mut seen = service.dispatch(json!({"op": "device_list"})).to_string();
    seen.push_str(&service.dispatch(json!({"op": "token_list"})).to_string());
    seen.push_str(&service.send(&Ask::get("/metrics")).body);
    assert_eq!(service.stop(), Some(0));
    let log = service.log();
    assert!(log.contains(" TRACE "), "nothing was left out");
    let store = fs::read(service.state_dir().join("clankie.redb")).unwrap();
    let bare = code.replace('-', "");
    for secret in [&code, &bare, &token[token.len() - 16..].to_owned(), &rotated[rotated.len() - 16..].to_owned()] {
        assert!(!seen.contains(secret.as_str()), "in an answer");
        assert!(!log.contains(secret.as_str()), "in the log");
        assert!(!store.windows(secret.len()).any(|window| window == secret.as_bytes()), "in the store");
    }
}

#[test]
fn the_command_line_pairs_lists_approves_and_revokes() {
    let service = Service::start("");
    let ran = service.cli(&["devices", "pair", "--grants", "observe,steer"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let code = ran.out.trim();
    assert!(ran.err.contains(code) && ran.err.contains("/pair/v1/redeem before "), "{ran:?}");
    assert!(ran.err.contains("devices approve"), "{ran:?}");
    let short = service.cli(&["devices", "revoke", "01a22fe8"]);
    assert!(short.code == Some(2) && short.err.contains("a whole id of 32 hexadecimal digits"), "{short:?}");
    let redeemed = redeem(&service, code, "phone").json();
    let id = redeemed["device_id"].as_str().unwrap();
    let list = service.cli(&["devices", "list", "--json"]).data();
    assert_eq!((&list["devices"][0]["state"], &list["devices"][0]["device_id"]), (&json!("pending"), &json!(id)));
    let more = service.cli(&["devices", "approve", id, "--grants", "device_admin"]);
    assert_eq!(more.code, Some(1), "{more:?}");
    let approved = service.cli(&["devices", "approve", id]).data();
    assert_eq!(approved["grants"], json!(["steer", "observe"]));
    let narrowed = service.cli(&["devices", "approve", id, "--grants", "steer"]).data();
    assert_eq!(narrowed["grants"], json!(["steer"]));
    assert_eq!(service.cli(&["devices", "revoke", id]).data()["state"], "revoked");
    for command in [["devices", "approve", id].as_slice(), &["devices", "approve", id, "--grants", "observe"]] {
        assert_eq!(service.cli(command).code, Some(3), "a revoked device comes back under no name");
    }
    let nobody = "00000000-0000-4000-8000-000000000000";
    assert_eq!(service.cli(&["devices", "revoke", nobody]).code, Some(3));
    assert_eq!(service.cli(&["devices", "pair", "--grants", "everything"]).code, Some(2));
    for _ in 0..3 {
        offer(&service, &["observe"]);
    }
    assert_eq!(service.cli(&["devices", "pair"]).code, Some(6), "three pairings are open");
}

#[test]
fn a_device_is_made_by_pairing_alone() {
    let service = Service::start("");
    let made = dispatch_as(&service, service.operator(), &json!({"op": "token_create", "kind": "device", "name": "x"}));
    assert_eq!((made.status, made.json()["field"].as_str()), (400, Some("kind")));
}
