//! The real program with a room, an owner's notifications and a feed, and what the story does with them.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::book::Book;
use crate::service::{Answer, Ask, Service, turn, until};
use crate::sink::Place;

/// What the agent says when an answer woke it.
const WOKEN: &str = "demo: answered: ";
/// The states of a continuation after which nothing more happens to it.
const SETTLED: [&str; 3] = ["delivered", "uncertain", "returned"];

/// One service over all its lives.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) service: Service,
    pub(crate) book: Book,
    pub(crate) ntfy: Place,
    /// Everything that the feed said, over all lives.
    pub(crate) feed: Arc<Mutex<Vec<u8>>>,
    /// Everything that the command line printed.
    pub(crate) printed: String,
    /// Every room in which an agent asked.
    pub(crate) rooms: Vec<String>,
}

impl Scene {
    /// A running service that logs everything it can and tells a phone of every ask.
    pub(crate) fn start() -> Self {
        let ntfy = Place::start();
        let mut service = Service::prepare("");
        service.variable("CLANKIE_PUBLIC_URL", "https://owner.example");
        let sink = format!("[notify]\n[notify.ntfy]\nurl = \"{}\"\ntopic = \"owner\"", ntfy.url("/"));
        service.configure("demo", &format!("{sink}\n[log]\nfilter = \"trace\""));
        service.launch();
        let (book, feed, printed, rooms) = (Book::default(), Arc::default(), String::new(), Vec::new());
        let scene = Self { service, book, ntfy, feed, printed, rooms };
        scene.listen();
        scene
    }

    /// Hears the feed of this life to its end.
    fn listen(&self) {
        let mut stream = TcpStream::connect(self.service.address()).unwrap();
        let (host, token) = (self.service.address(), self.service.operator());
        let head = format!("GET /operator/v1/events HTTP/1.0\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let feed = Arc::clone(&self.feed);
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(size @ 1..) = stream.read(&mut piece) {
                feed.lock().unwrap().extend_from_slice(&piece[..size]);
            }
        });
    }

    /// Ends this life as a power cut would and begins another, in which that fail-point is armed.
    pub(crate) fn cut(&mut self, point: &str) {
        self.service.kill();
        self.book.count("kills with SIGKILL");
        self.begin(point);
    }

    /// Begins a life after one that ended by itself.
    pub(crate) fn begin(&mut self, point: &str) {
        self.arm(point);
        self.service.launch();
        self.book.count("restarts");
        self.listen();
    }

    /// What the next life finds in its environment.
    pub(crate) fn arm(&mut self, point: &str) {
        let points = if point.is_empty() { String::new() } else { format!("{point}=return") };
        self.service.variable("FAILPOINTS", &points);
    }

    /// Lets the agent raise these asks in that room, in one turn, and gives them in the order of the drafts.
    pub(crate) fn ask(&mut self, room: &str, drafts: &[Value]) -> Vec<Value> {
        let lines: Vec<String> = drafts.iter().map(|draft| format!("!ask {draft}")).collect();
        self.service.settle(&turn(room, &format!("{room}-asks"), "ann", &lines.join("\n")));
        let found = self.raised(room);
        let of = |draft: &Value| found.iter().find(|ask| ask["prompt"] == draft["prompt"]).cloned();
        drafts.iter().map(|draft| of(draft).unwrap_or_else(|| panic!("{draft} is not in {found:?}"))).collect()
    }

    /// Every ask of that room, whatever became of it.
    pub(crate) fn raised(&mut self, room: &str) -> Vec<Value> {
        if !self.rooms.iter().any(|known| known == room) {
            self.rooms.push(room.to_owned());
        }
        let (full, mut found, mut after) = (format!("ingress:t:{room}"), Vec::new(), Value::Null);
        loop {
            let mut list = json!({"op": "input_list"});
            if !after.is_null() {
                list["after"] = after;
            }
            let page = self.service.dispatch(list);
            let asks = page["questions"].as_array().unwrap().clone();
            found.extend(asks.into_iter().filter(|ask| ask["origin"]["room"] == *full));
            after = page["next"].clone();
            if after.is_null() {
                return found;
            }
        }
    }

    /// The whole ask as it stands.
    pub(crate) fn shown(&self, ask: &Value) -> Value {
        let (conversation, request) = (&ask["conversation_id"], &ask["request_id"]);
        let get = json!({"op": "input_get", "conversation_id": conversation, "request_id": request});
        self.service.dispatch(get)["question"].clone()
    }

    /// An operation in the name of whoever holds `token`; none when the service died of it.
    pub(crate) fn dispatch_as(&self, token: &str, operation: &Value) -> Option<Answer> {
        let mut operation = operation.clone();
        operation["schema_version"] = json!(1);
        Ask::post("/operator/v1/dispatch").token(token).json(&operation).attempt(self.service.address())
    }

    /// A command of the command line: its exit code and what it printed on standard output.
    pub(crate) fn command(&mut self, input: &str, arguments: &[&str]) -> (Option<i32>, Value) {
        let ran = self.service.cli_told(input, arguments);
        self.printed.push_str(&ran.out);
        self.printed.push_str(&ran.err);
        (ran.code, serde_json::from_str(&ran.out).unwrap_or(Value::Null))
    }

    /// Waits until every answer of these asks is settled and nothing runs, waits or is owed.
    pub(crate) fn rest(&self, asks: &[Value]) {
        until("every answer to be settled and everything to end", || {
            let settled = |ask: &Value| {
                let shown = self.shown(ask);
                shown["continuation"]["state"].as_str().is_some_and(|state| SETTLED.contains(&state))
            };
            let counts = &self.service.handoffs()["counts"];
            let idle = ["running", "waiting", "owed"].iter().all(|name| counts[name] == 0);
            (idle && asks.iter().all(settled)).then_some(())
        });
    }

    /// With what words answers woke the agent in that room.
    pub(crate) fn woken(&self, room: &str) -> Vec<String> {
        let said = self.service.said(room);
        let texts = said.iter().filter_map(|one| one["text"].as_str()?.strip_prefix(WOKEN));
        texts.map(str::to_owned).collect()
    }

    /// Gives a device those grants and returns its id and its token.
    pub(crate) fn pair(&self, name: &str, grants: &[&str]) -> (String, String) {
        let offer = self.service.dispatch(json!({"op": "device_pair_begin", "grants": grants}));
        let redeem = json!({"code": offer["code"], "name": name});
        let redeemed = self.service.send(&Ask::post("/pair/v1/redeem").json(&redeem)).json();
        let id = redeemed["device_id"].as_str().unwrap().to_owned();
        self.service.dispatch(json!({"op": "device_approve", "device_id": id, "grants": grants}));
        let poll = Ask::get("/pair/v1/poll").token(redeemed["poll_token"].as_str().unwrap());
        let told = self.service.send(&poll).json();
        (id, told["token"].as_str().unwrap_or_else(|| panic!("{told}")).to_owned())
    }
}

/// `input_answer` of that ask, as it was read.
pub(crate) fn answering(ask: &Value, answer: &Value) -> Value {
    json!({
        "op": "input_answer", "conversation_id": ask["conversation_id"], "request_id": ask["request_id"],
        "incarnation_id": ask["incarnation_id"], "expected_revision": ask["revision"], "answer": answer,
    })
}

/// The option of that number.
pub(crate) fn option(ask: &Value, number: usize) -> Value {
    json!({"kind": "choice", "option_id": ask["options"][number]["option_id"]})
}

/// A decision between `go-TAG` and `no-TAG`.
pub(crate) fn decision(tag: &str) -> Value {
    let (go, no) = (format!("go-{tag}"), format!("no-{tag}"));
    json!({
        "purpose": "decision", "kind": "choice", "prompt": format!("Which way, {tag}?"),
        "options": [{"label": go}, {"label": no}], "recommendation": go, "waiting_on": "the way",
    })
}

/// An approval of a push.
pub(crate) fn approval(tag: &str) -> Value {
    json!({"purpose": "approval", "prompt": format!("Push {tag}?"), "gate": "push", "waiting_on": "the push"})
}

/// A step that only the owner can do, answered in words.
pub(crate) fn step(tag: &str) -> Value {
    json!({
        "purpose": "owner_action", "kind": "text", "prompt": format!("Sign in for {tag}"), "steps": ["sign in"],
        "waiting_on": "the sign-in",
    })
}

/// The same, with an answer that is private.
pub(crate) fn secret(tag: &str) -> Value {
    let mut draft = step(tag);
    draft["prompt"] = json!(format!("The private code of {tag}"));
    draft["secret"] = json!(true);
    draft
}
