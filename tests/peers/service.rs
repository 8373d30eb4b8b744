//! The real program, run as its owner runs it: a process, a directory of its own, HTTP and the command line.
//!
//! A service listens on a free port, inherits nothing of the environment, and is ended when it is
//! dropped. The only waiting of these tests is [`until`], which looks at a fact again and again.

#![allow(dead_code, reason = "each test binary uses its own part of this peer")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "it stops at what it did not expect")]

#[path = "service/http.rs"]
mod http;
#[path = "service/process.rs"]
mod process;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::Mutex;

use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) use http::{Answer, Ask, encoded};
pub(crate) use process::until;

/// The lane that speaks unless another one is named.
pub(crate) const LANE: &str = "t";

/// One state directory and configuration, and the process that serves them while one runs.
#[derive(Debug)]
pub(crate) struct Service {
    dir: TempDir,
    child: Option<Child>,
    address: String,
    operator: String,
    variables: BTreeMap<String, String>,
    lanes: Mutex<BTreeMap<String, String>>,
}

impl Service {
    /// A running service with the demo agent; `extra` is put at the end of its configuration.
    pub(crate) fn start(extra: &str) -> Self {
        let mut service = Self::prepare(extra);
        service.launch();
        service
    }

    /// The same, not started.
    pub(crate) fn prepare(extra: &str) -> Self {
        let service = Self {
            dir: tempfile::tempdir().unwrap(),
            child: None,
            address: String::new(),
            operator: String::new(),
            variables: BTreeMap::new(),
            lanes: Mutex::default(),
        };
        service.configure("demo", extra);
        service
    }

    /// Writes the configuration: which executor runs everything, and whatever else.
    pub(crate) fn configure(&self, executor: &str, extra: &str) {
        let state = self.state_dir();
        let text = format!(
            "state_dir = {state:?}\nlisten = \"127.0.0.1:0\"\n[executor]\ndefault = \"{executor}\"\n\
             [[rooms.local]]\nname = \"lab\"\n{extra}\n"
        );
        std::fs::write(self.config_file(), text).unwrap();
    }

    /// Sets a variable of the environment of whatever is started from here on.
    pub(crate) fn variable(&mut self, name: &str, value: &str) {
        self.variables.insert(name.to_owned(), value.to_owned());
    }

    /// Where its state stands.
    pub(crate) fn state_dir(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    /// Its configuration file.
    pub(crate) fn config_file(&self) -> PathBuf {
        self.dir.path().join("clankie.toml")
    }

    /// A directory that is gone with the service.
    pub(crate) fn scratch(&self) -> &Path {
        self.dir.path()
    }

    /// Host and port.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// The operator's token.
    pub(crate) fn operator(&self) -> &str {
        &self.operator
    }

    /// Everything that it said on standard error and output so far, over all its starts.
    pub(crate) fn log(&self) -> String {
        let bytes = std::fs::read(self.log_file()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// One request, on a connection of its own.
    pub(crate) fn send(&self, ask: &Ask) -> Answer {
        ask.send(&self.address)
    }

    /// Makes a token and returns it.
    pub(crate) fn token(&self, kind: &str, name: &str) -> String {
        let made = self.dispatch(json!({"op": "token_create", "kind": kind, "name": name}));
        made["secret"].as_str().unwrap_or_else(|| panic!("no token: {made}")).to_owned()
    }

    /// The token of a text lane, made when it is first asked for.
    pub(crate) fn lane(&self, name: &str) -> String {
        let mut lanes = self.lanes.lock().unwrap();
        lanes.entry(name.to_owned()).or_insert_with(|| self.token("lane-text", name)).clone()
    }

    /// An owner operation that must get an answer of the contract.
    pub(crate) fn dispatch(&self, mut operation: Value) -> Value {
        operation["schema_version"] = json!(1);
        let answer = self.send(&Ask::post("/operator/v1/dispatch").token(&self.operator).json(&operation));
        assert_eq!(answer.status, 200, "{operation}: {answer:?}");
        answer.json()
    }

    /// Hands a turn in and does not wait for its end.
    pub(crate) fn submit(&self, turn: &Value) -> Answer {
        self.send(&Ask::post("/ingress/v1/turns").token(&self.lane(LANE)).json(turn))
    }

    /// Hands a turn in that must be admitted.
    pub(crate) fn admit(&self, turn: &Value) -> String {
        let answer = self.submit(turn);
        assert!(matches!(answer.status, 200 | 202), "{turn}: {answer:?}");
        answer.json()["handoff_id"].as_str().unwrap().to_owned()
    }

    /// Hands a turn in and waits for its end.
    pub(crate) fn settle(&self, turn: &Value) -> Answer {
        let ask = Ask::post("/ingress/v1/turns").token(&self.lane(LANE)).header("prefer", "wait=60");
        let answer = self.send(&ask.json(turn));
        assert_eq!(answer.status, 200, "{turn}: {answer:?}");
        answer
    }

    /// The typed result of a delivery, waited for.
    pub(crate) fn result(&self, room: &str, delivery: &str) -> Value {
        let path = format!("/ingress/v1/turns/{}/{}?wait=60", encoded(room), encoded(delivery));
        let answer = self.send(&Ask::get(&path).token(&self.lane(LANE)));
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        answer.json()["result"].clone()
    }

    /// The text of a delivery's reply, waited for.
    pub(crate) fn reply(&self, room: &str, delivery: &str) -> String {
        let result = self.result(room, delivery);
        assert_eq!(result["kind"], "settled", "{room}/{delivery}: {result}");
        result["text"].as_str().unwrap().to_owned()
    }

    /// A resource of the operator.
    pub(crate) fn read(&self, path: &str) -> Value {
        let answer = self.send(&Ask::get(path).token(&self.operator));
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        answer.json()
    }

    /// All handoffs, newest first, and the counts.
    pub(crate) fn handoffs(&self) -> Value {
        self.read("/operator/v1/handoffs?limit=1000")
    }

    /// The record of a delivery, if there is one.
    pub(crate) fn record(&self, delivery: &str) -> Option<Value> {
        let all = self.handoffs();
        all["handoffs"].as_array().unwrap().iter().find(|one| one["delivery_id"] == delivery).cloned()
    }

    /// Waits until a delivery's session has begun.
    pub(crate) fn running(&self, delivery: &str) -> Value {
        until(&format!("{delivery} to run"), || {
            self.record(delivery).filter(|one| one["state"] == "running" && one["phase"] == "started")
        })
    }

    /// Every line of a handoff's transcript so far.
    pub(crate) fn transcript(&self, handoff: &str) -> Vec<Value> {
        let (mut lines, mut after) = (Vec::new(), 0);
        loop {
            let page = self.read(&format!("/operator/v1/handoffs/{handoff}/transcript?after={after}"));
            let more = page["entries"].as_array().unwrap().clone();
            if more.is_empty() {
                return lines;
            }
            lines.extend(more);
            after = page["next"].as_u64().unwrap();
        }
    }

    /// What the agent said in a room of the lane.
    pub(crate) fn said(&self, room: &str) -> Vec<Value> {
        let path = format!("/ingress/v1/rooms/{}/messages", encoded(room));
        let answer = self.send(&Ask::get(&path).token(&self.lane(LANE)));
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        answer.json()["messages"].as_array().unwrap().clone()
    }
}

/// One turn of a person in a room of the lane.
pub(crate) fn turn(room: &str, delivery: &str, actor: &str, body: &str) -> Value {
    json!({
        "schema_version": 1, "room": room, "delivery_id": delivery, "source": "text",
        "actor": {"id": actor, "name": actor}, "body": body,
    })
}
