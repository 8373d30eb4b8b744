//! What a device that may only look finds of the owner's mail: nothing, in no record, transcript or event.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::{dispatch_as, paired};
use crate::model_peer::{Answer, ModelServer};
use crate::service::{Ask, Service, turn, until};

/// Words of the draft, of its answers and of the update, which the agent itself never says.
const DRAFT: [&str; 4] = ["canary-prompt", "canary-option", "canary-waiting", "canary-news"];
const CHOSEN: &str = "canary-option-go";

/// A service whose agent asks and leaves word, and that says "Well." when an answer woke it.
fn start(model: &ModelServer) -> Service {
    let draft = json!({
        "purpose": "decision", "kind": "choice", "prompt": "canary-prompt", "waiting_on": "canary-waiting",
        "options": [{"label": CHOSEN}, {"label": "canary-option-no"}], "recommendation": CHOSEN,
    });
    let news = json!({"title": "canary-news", "body": "canary-news"});
    model.script([
        Answer::tool("c1", "request_user_input", &draft.to_string()),
        Answer::tool("c2", "mail_owner_update", &news.to_string()),
        Answer::text(["Asked."]),
        Answer::text(["Well."]),
    ]);
    let mut service = Service::prepare("");
    let provider = format!("provider = \"openai\"\nmodel = \"scripted\"\nbase_url = \"{}/\"", model.openai_url());
    service.configure("builtin", &format!("[model]\n{provider}\nretries = 0"));
    service.launch();
    service
}

/// The feed as that credential hears it from the first event on.
fn listen(service: &Service, token: &str, after: &str) -> Arc<Mutex<String>> {
    let mut stream = TcpStream::connect(service.address()).unwrap();
    let (host, feed) = (service.address(), Arc::<Mutex<String>>::default());
    let head = format!(
        "GET /operator/v1/events?after={after} HTTP/1.0\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let heard = Arc::clone(&feed);
    std::thread::spawn(move || {
        let mut piece = [0; 4096];
        while let Ok(size @ 1..) = stream.read(&mut piece) {
            heard.lock().unwrap().push_str(&String::from_utf8_lossy(&piece[..size]));
        }
    });
    feed
}

/// Everything that a credential which reads handoffs can read: lists, records, transcripts, rooms,
/// status and counts.
fn everything(service: &Service, token: &str) -> String {
    let read = |path: &str| service.send(&Ask::get(path).token(token));
    let list = read("/operator/v1/handoffs?limit=1000");
    let mut seen = list.body.clone();
    for one in list.json()["handoffs"].as_array().unwrap() {
        let id = one["id"].as_str().unwrap();
        seen.push_str(&read(&format!("/operator/v1/handoffs/{id}")).body);
        seen.push_str(&read(&format!("/operator/v1/handoffs/{id}/transcript")).body);
        seen.push_str(&dispatch_as(service, token, &json!({"op": "handoff_get", "handoff_id": id})).body);
        seen.push_str(&dispatch_as(service, token, &json!({"op": "handoff_cancel", "handoff_id": id})).body);
    }
    for op in ["handoff_list", "rooms_list", "input_list", "owner_update_list", "conversation_list"] {
        seen.push_str(&dispatch_as(service, token, &json!({"op": op})).body);
    }
    for path in ["/operator/v1/status", "/rooms/v1/lab/messages", "/metrics"] {
        seen.push_str(&read(path).body);
    }
    seen
}

/// Page 60 lets such a device read handoffs and transcripts, and page 20 gives it neither content nor
/// counts of the mailbox.
#[test]
fn b83_a_device_that_only_looks_finds_neither_drafts_nor_asks_nor_answers() {
    let model = ModelServer::start();
    let service = start(&model);
    let begin = service.dispatch(json!({"op": "conversation_list"}))["cursor"].as_str().unwrap().to_owned();
    let looks = paired(&service, "looks", &["observe", "steer", "chat", "device_admin"]);
    let controls = paired(&service, "controls", &["observe", "terminal_control"]);
    let feeds = [&looks, &controls].map(|device| listen(&service, &device.token, &begin));

    service.settle(&turn("lab", "m1", "ann", "what now?"));
    let ask = service.dispatch(json!({"op": "input_list"}))["questions"][0].clone();
    let request = ask["request_id"].as_str().unwrap();
    let answered = service.dispatch(json!({
        "op": "input_answer", "conversation_id": ask["conversation_id"], "request_id": request,
        "incarnation_id": ask["incarnation_id"], "expected_revision": ask["revision"],
        "answer": {"kind": "choice", "option_id": ask["options"][0]["option_id"]},
    }));
    assert_eq!(answered["status"], "resolved", "{answered}");
    let continued = until("the continuation to end", || {
        let all = service.handoffs();
        let found = all["handoffs"].as_array().unwrap().iter().find(|one| one["source"] == "continuation").cloned();
        found.filter(|one| one["state"] == "completed")
    });
    until("both feeds to tell of its end", || {
        let ended = |feed: &Arc<Mutex<String>>| {
            let told = feed.lock().unwrap();
            let of = |line: &&str| line.contains(continued["id"].as_str().unwrap()) && line.contains("completed");
            told.lines().any(|line| of(&line))
        };
        feeds.iter().all(ended).then_some(())
    });

    // One who may read the mailbox finds all of it, so that what the other misses was there to be found.
    let [unseen, seen] = [&looks, &controls].map(|device| everything(&service, &device.token));
    let [unheard, heard] = feeds.map(|feed| feed.lock().unwrap().clone());
    for word in DRAFT.iter().copied().chain([request, CHOSEN]) {
        assert!(seen.contains(word), "{word} is nowhere at all");
        for (place, text) in [("what it reads", &unseen), ("the feed", &unheard)] {
            assert!(!text.contains(word), "{word} is in {place}");
        }
    }
    assert!(heard.contains(request) && heard.contains("input_requested"), "{heard}");
    assert!(!unheard.contains("input_") && !unheard.contains("owner_update"), "{unheard}");
    // What it may read is all there: the record of the continuation, by its own id and its words.
    let path = format!("/operator/v1/handoffs/{}", continued["id"].as_str().unwrap());
    let shown = service.send(&Ask::get(&path).token(&looks.token)).json();
    let wanted = json!({"delivery_id": "clankie:answer:", "text": "Well.", "trigger": "m1"});
    let found = json!({
        "delivery_id": shown["delivery_id"], "text": shown["result"]["text"], "trigger": shown["trigger"],
    });
    assert_eq!(found, wanted, "{shown}");
    let told: Value = service.send(&Ask::get("/operator/v1/status").token(&looks.token)).json();
    assert!(told["mail"].is_null() && told["notify"].is_null(), "{told}");
}
