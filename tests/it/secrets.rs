//! A secret is in the one place where it belongs, and nowhere else that anybody can read.

use std::fs;

use serde_json::json;

use crate::model_peer::{Answer, ModelServer};
use crate::service::{Ask, LANE, Service, turn};

/// A key of the shape that providers give out.
const MODEL_KEY: &str = "sk-proj-canary-9b1f0c77e2d84a5f";

/// B106: the model's key, a lane's token and the operator's are in no log at any level, no record, no
/// transcript, no message, no metric, no answer and no file but the operator's own; not even when the
/// provider says the key back, and not when somebody sends a token where it does not belong.
#[test]
fn b106_planted_secrets_are_found_nowhere() {
    let model = ModelServer::start();
    let refusal = json!({"error": {"message": format!("Incorrect API key provided: {MODEL_KEY}."), "type": "auth"}});
    model.script([Answer::text(["Hello."]), Answer::Refuse { status: 401, body: refusal, retry_after: None }]);
    let mut service = Service::prepare("");
    service.variable("PLANTED_MODEL_KEY", MODEL_KEY);
    let provider = format!("provider = \"openai\"\nmodel = \"scripted\"\nbase_url = \"{}/\"", model.openai_url());
    let extra = format!("[model]\n{provider}\napi_key_env = \"PLANTED_MODEL_KEY\"\n[log]\nfilter = \"trace\"");
    service.configure("builtin", &extra);
    service.launch();
    service.settle(&turn("r", "m1", "ann", "hello"));
    let failed = service.settle(&turn("r", "m2", "ann", "again")).json();
    assert_eq!(failed["result"], json!({"kind": "failed", "code": "model_unavailable"}));
    assert_eq!(model.calls().len(), 2, "the key was really used");

    let (lane, operator) = (service.lane(LANE), service.operator().to_owned());
    let mut seen = misplaced(&service, &lane);
    for id in service.handoffs()["handoffs"].as_array().unwrap() {
        let id = id["id"].as_str().unwrap();
        seen.push_str(&service.read(&format!("/operator/v1/handoffs/{id}")).to_string());
        seen.push_str(&format!("{:?}", service.transcript(id)));
    }
    seen.push_str(&format!("{:?}", service.said("r")));
    seen.push_str(&service.send(&Ask::get("/metrics")).body);
    seen.push_str(&service.dispatch(json!({"op": "token_list"})).to_string());
    for command in [&["status"][..], &["tokens", "list"], &["handoffs", "list"], &["config", "show", "--origin"]] {
        let ran = service.cli(command);
        seen.push_str(&(ran.out + &ran.err));
    }
    let pid = service.pid();
    let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap();
    seen.push_str(&String::from_utf8_lossy(&arguments));
    assert_eq!(service.stop(), Some(0));
    let log = service.log();
    assert!(log.contains(" TRACE ") && log.contains(" DEBUG "), "nothing was left out: {log}");
    let store = fs::read(service.state_dir().join("clankie.redb")).unwrap();
    for (name, secret) in [("model key", MODEL_KEY), ("lane token", &lane), ("operator token", &operator)] {
        let secret = &secret[secret.len() - 16..];
        for (place, text) in [("an answer", seen.as_str()), ("the log", log.as_str())] {
            if let Some(at) = text.find(secret) {
                panic!("the {name} is in {place}: {:?}", &text[at.saturating_sub(300)..at]);
            }
        }
        assert!(!store.windows(secret.len()).any(|window| window == secret.as_bytes()), "the {name} is in the store");
    }
}

/// Sends a lane's token where it does not belong, and gives what was answered.
fn misplaced(service: &Service, token: &str) -> String {
    let asks = [
        Ask::get("/operator/v1/handoffs").token(token),
        Ask::get("/ingress/v1/turns/lab/x").header("authorization", &format!("Basic {token}")),
        Ask::get("/ingress/v1/turns/lab/x").token(&format!("{token}x")),
        Ask::get(&format!("/operator/v1/handoffs?token={token}")).token(service.operator()),
        Ask::get(&format!("/nowhere/{token}")),
        Ask::post("/operator/v1/dispatch").token(service.operator()).text(&format!("{{\"op\":\"{token}\"}}")),
        Ask::post("/operator/v1/dispatch").token(service.operator()).header("cookie", token).text("{}"),
    ];
    asks.iter()
        .map(|ask| service.send(ask))
        .map(|answer| {
            assert!(answer.status >= 400, "{answer:?}");
            answer.body
        })
        .collect()
}
