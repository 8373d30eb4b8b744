//! Files of a workspace through the whole service: who has the tools, and what waits for the owner.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::model_peer::{Answer, ModelServer};
use crate::service::{Service, turn, until};

const TOOLS: &str = r#"["file_list", "file_read", "file_write", "file_delete"]"#;
const DELETE: &str = r#"!tool file_delete {"path":"a.txt"}"#;

fn workspace(service: &Service) -> PathBuf {
    service.scratch().join("workspace")
}

/// A service with a workspace that holds one file, in which ann has machine standing.
fn start(executor: &str, extra: &str) -> Service {
    let mut service = Service::prepare("");
    let dir = workspace(&service);
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("a.txt"), "precious").unwrap();
    let grants = format!("[grants]\nmachine_actors = [\"ingress:t:ann\"]\nmachine_tools = {TOOLS}");
    service.configure(executor, &format!("{grants}\n[workspace]\ndir = {dir:?}\n{extra}"));
    service.launch();
    service
}

/// What each call of that tool came to, in order.
fn heard(service: &Service, delivery: &str, tool: &str) -> Vec<String> {
    let handoff = service.record(delivery).unwrap()["id"].as_str().unwrap().to_owned();
    let lines = service.transcript(&handoff);
    let ended = lines.iter().filter(|line| line["name"] == tool && line["phase"] == "ended");
    ended.map(|line| line["detail"].as_str().unwrap().to_owned()).collect()
}

/// Hands in a turn of a person and waits for its end.
fn say(service: &Service, delivery: &str, actor: &str, body: &str) {
    service.settle(&turn("r", delivery, actor, body));
}

/// Ann tries the deletion, is told that it is closed, and asks; gives the ask as the owner sees it.
fn asked(service: &Service, delivery: &str) -> Value {
    let draft = json!({
        "purpose": "approval", "gate": "destructive", "prompt": format!("May I? ({delivery})"), "waiting_on": "a.txt",
    });
    say(service, delivery, "ann", &format!("{DELETE}\n!ask {draft}"));
    closed(service, delivery);
    let pending = service.dispatch(json!({"op": "input_list", "status": "pending"}));
    let pending = pending["questions"].as_array().unwrap();
    assert_eq!(pending.len(), 1, "{pending:?}");
    pending[0].clone()
}

/// The deletion was refused by name, and the file is there.
fn closed(service: &Service, delivery: &str) {
    let heard = heard(service, delivery, "file_delete");
    let named = |text: &String| text.contains("gate_closed") && text.contains("destructive");
    assert!(heard.len() == 1 && heard.iter().all(named), "{heard:?}");
    assert_eq!(fs::read_to_string(workspace(service).join("a.txt")).unwrap(), "precious");
}

/// The operation on that ask, whose result is a receipt.
fn resolve(service: &Service, ask: &Value, op: &str, answer: Option<Value>) {
    let mut call = json!({
        "op": op, "conversation_id": ask["conversation_id"], "request_id": ask["request_id"],
        "incarnation_id": ask["incarnation_id"], "expected_revision": ask["revision"],
    });
    if let Some(answer) = answer {
        call["answer"] = answer;
    }
    let told = service.dispatch(call);
    assert_eq!(told["status"], "resolved", "{told}");
}

/// The owner chooses the option of that role.
fn choose(service: &Service, ask: &Value, role: &str) {
    let options = ask["options"].as_array().unwrap();
    let option = options.iter().find(|option| option["role"] == role).unwrap_or_else(|| panic!("{ask}"));
    resolve(service, ask, "input_answer", Some(json!({"kind": "choice", "option_id": option["option_id"]})));
}

/// The delivery of the ended continuation that carries the answer of that ask.
fn continued(service: &Service, ask: &Value) -> String {
    let request = ask["request_id"].as_str().unwrap();
    until("the continuation to end", || {
        let all = service.handoffs();
        let mut records = all["handoffs"].as_array().unwrap().iter();
        let found = records.find(|one| one["delivery_id"].as_str().unwrap().contains(request))?;
        assert_ne!(found["state"], "failed", "{found}");
        (found["state"] == "completed").then(|| found["delivery_id"].as_str().unwrap().to_owned())
    })
}

fn approval(service: &Service, delivery: &str, resolved: impl FnOnce(&Service, &Value)) -> Value {
    let ask = asked(service, delivery);
    resolved(service, &ask);
    let later = format!("{delivery}-later");
    say(service, &later, "ann", DELETE);
    closed(service, &later);
    ask
}

/// Whatever the owner says to an ask, the next turn of the same person is told that it is closed.
#[test]
fn b55_a_closed_category_stays_closed_for_all_but_an_approved_continuation() {
    let service = start("demo", "");
    let declined = approval(&service, "m1", |service, ask| choose(service, ask, "decline"));
    continued(&service, &declined);
    let commented = approval(&service, "m2", |service, ask| {
        resolve(service, ask, "input_answer", Some(json!({"kind": "text", "text": "Approve"})));
    });
    continued(&service, &commented);
    let cancelled = approval(&service, "m3", |service, ask| resolve(service, ask, "input_cancel", None));
    let approved = approval(&service, "m4", |service, ask| choose(service, ask, "approve"));
    continued(&service, &approved);
    let said: Vec<Value> = service.said("r").iter().map(|one| one["text"].clone()).collect();
    let answered = said.iter().filter_map(Value::as_str).filter(|text| text.starts_with("demo: answered: "));
    assert_eq!(answered.count(), 3, "{said:?}");
    let shown = service.dispatch(json!({
        "op": "input_get", "conversation_id": cancelled["conversation_id"], "request_id": cancelled["request_id"],
    }));
    assert_eq!(shown["question"]["status"], "cancelled", "{shown}");
}

/// The model tries again in the continuation: the first call deletes, the second is closed.
#[test]
fn m2_an_approval_opens_one_deletion_of_the_continuation_and_no_more() {
    let model = ModelServer::start();
    let draft = r#"{"purpose":"approval","gate":"destructive","prompt":"Delete a.txt?","waiting_on":"a.txt"}"#;
    model.script([
        Answer::tool("c1", "file_delete", r#"{"path":"a.txt"}"#),
        Answer::tool("c2", "request_user_input", draft),
        Answer::text(["Asked."]),
        Answer::tool("c3", "file_delete", r#"{"path":"a.txt"}"#),
        Answer::tool("c4", "file_write", r#"{"path":"b.txt","text":"over","replace":true}"#),
        Answer::tool("c5", "file_write", r#"{"path":"b.txt","text":"fresh"}"#),
        Answer::text(["Gone."]),
    ]);
    let provider = format!("provider = \"openai\"\nmodel = \"scripted\"\nbase_url = \"{}/\"", model.openai_url());
    let service = start("builtin", &format!("[model]\n{provider}\nretries = 0"));
    say(&service, "m1", "ann", "delete it");
    closed(&service, "m1");
    let pending = service.dispatch(json!({"op": "input_list", "status": "pending"}));
    choose(&service, &pending["questions"][0], "approve");
    let continuation = continued(&service, &pending["questions"][0]);
    assert_eq!(heard(&service, &continuation, "file_delete"), ["deleted"]);
    assert!(!workspace(&service).join("a.txt").exists());
    let written = heard(&service, &continuation, "file_write");
    assert!(written.len() == 2 && written[0].contains("gate_closed"), "{written:?}");
    assert_eq!(fs::read_to_string(workspace(&service).join("b.txt")).unwrap(), "fresh");
}

#[test]
fn i8_the_file_tools_are_there_for_machine_standing_only_and_see_the_workspace_alone() {
    let service = start("demo", "");
    let calls = "!tool file_list {\"path\":\".\"}\n!tool file_read {\"path\":\"a.txt\"}\n\
                 !tool file_read {\"path\":\"../state/operator.token\"}\n!tool file_write {\"path\":\"b.txt\",\"text\":\"b\"}";
    say(&service, "m1", "ann", calls);
    let listed: Value = serde_json::from_str(&heard(&service, "m1", "file_list")[0]).unwrap();
    assert_eq!(listed, json!({"entries": [{"name": "a.txt", "kind": "file", "bytes": 8}], "more": false}));
    let read = heard(&service, "m1", "file_read");
    assert!(read[0] == "precious" && read[1].contains("invalid_path"), "{read:?}");
    assert_eq!(heard(&service, "m1", "file_write"), ["wrote 1 bytes"]);
    say(&service, "m2", "bob", calls);
    for tool in ["file_list", "file_read", "file_write"] {
        let heard = heard(&service, "m2", tool);
        assert!(heard.iter().all(|text| text.contains("tool_unavailable")), "{heard:?}");
    }
}

#[test]
fn a_workspace_that_shares_files_with_the_service_refuses_the_start() {
    let service = Service::prepare("");
    fs::create_dir_all(service.state_dir()).unwrap();
    let scratch = service.scratch().to_owned();
    for (dir, what) in [
        (service.state_dir(), "the state directory"),
        (scratch.clone(), "the state directory"),
        (scratch.join("missing"), "make it, or name another one"),
        (service.config_file(), "the configuration"),
    ] {
        service.configure("demo", &format!("[workspace]\ndir = {dir:?}"));
        let ran = service.refused();
        assert!(ran.code != Some(0) && ran.err.contains("workspace.dir") && ran.err.contains(what), "{dir:?}: {ran:?}");
    }
    assert!(!service.state_dir().join("clankie.redb").exists(), "a refused start began work");
}
