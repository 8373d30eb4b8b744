//! The stream of events: in order, without a gap or with a word about it, and only for who may hear it.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use redb::{Database, ReadableTable, TableDefinition};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::service::{Answer, Ask, Service, turn, until};

/// Only a hung service meets this.
const SAFETY_NET: Duration = Duration::from_secs(60);
/// A revoked credential has its stream for one second; a busy machine is given one more.
const LATE: Duration = Duration::from_secs(2);
/// The feed as the store keeps it.
const EVENTS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("events");

/// One event as it came.
#[derive(Debug, Clone, PartialEq)]
struct Event {
    id: String,
    name: String,
    data: Value,
}

impl Event {
    fn seq(&self) -> u64 {
        self.id.rsplit_once('-').unwrap().1.parse().unwrap()
    }
}

/// An open stream. It speaks HTTP/1.0, whose bodies come without a frame.
struct Stream(BufReader<TcpStream>);

impl Stream {
    /// Opens one, or says what came instead.
    fn open(service: &Service, token: &str, path: &str, last: Option<&str>) -> Result<Self, String> {
        let mut stream = TcpStream::connect(service.address()).unwrap();
        stream.set_read_timeout(Some(SAFETY_NET)).unwrap();
        let last = last.map(|id| format!("last-event-id: {id}\r\n")).unwrap_or_default();
        let host = service.address();
        let head = format!("GET {path} HTTP/1.0\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n{last}\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut stream = Self(BufReader::new(stream));
        let mut head = Vec::new();
        while let Some(line) = stream.line().filter(|line| !line.is_empty()) {
            head.push(line.to_ascii_lowercase());
        }
        if head.first().is_some_and(|status| status.contains(" 200 ")) {
            assert!(head.contains(&"content-type: text/event-stream".to_owned()), "{head:?}");
            return Ok(stream);
        }
        Err(head.first().cloned().unwrap_or_default())
    }

    fn after(service: &Service, cursor: &str) -> Self {
        let path = format!("/operator/v1/events?after={cursor}");
        Self::open(service, service.operator(), &path, None).unwrap()
    }

    /// One line; none at the end of the stream.
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.0.read_line(&mut line).unwrap();
        (read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned())
    }

    /// The next event; none at the end of the stream.
    fn next(&mut self) -> Option<Event> {
        let (mut id, mut name, mut data) = (String::new(), String::new(), Value::Null);
        loop {
            let line = self.line()?;
            match line.split_once(": ") {
                Some(("id", value)) => id = value.to_owned(),
                Some(("event", value)) => name = value.to_owned(),
                Some(("data", value)) => data = serde_json::from_str(value).unwrap(),
                Some(_) | None if line.is_empty() && !name.is_empty() => return Some(Event { id, name, data }),
                Some(_) | None => {}
            }
        }
    }

    /// Events up to the one that is wanted.
    fn until(&mut self, wanted: impl Fn(&Event) -> bool) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            let event = self.next().unwrap_or_else(|| panic!("the stream ended after {events:?}"));
            events.push(event);
            if events.last().is_some_and(&wanted) {
                return events;
            }
        }
    }
}

fn cursor(service: &Service) -> String {
    service.handoffs()["cursor"].as_str().unwrap().to_owned()
}

fn completed(event: &Event) -> bool {
    event.name == "handoff" && event.data["state"] == "completed"
}

#[test]
fn a_reader_that_comes_back_goes_on_without_a_gap() {
    let service = Service::start("");
    let start = cursor(&service);
    let mut stream = Stream::after(&service, &start);
    service.settle(&turn("lab", "m-1", "ann", "hello"));
    let whole = stream.until(completed);
    assert!(whole.iter().any(|event| event.name == "message"), "{whole:?}");
    let seqs: Vec<u64> = whole.iter().map(Event::seq).collect();
    assert!(seqs.windows(2).all(|two| two[1] == two[0] + 1), "every change is heard once: {seqs:?}");
    for (n, event) in whole.iter().enumerate().take(whole.len() - 1) {
        let path = format!("/operator/v1/events?after={start}");
        let mut again = Stream::open(&service, service.operator(), &path, Some(&event.id)).unwrap();
        assert_eq!(again.until(completed), whole[n + 1..], "after {}", event.id);
    }
}

#[test]
fn a_reader_without_a_cursor_hears_what_happens_from_now_on() {
    let service = Service::start("");
    service.settle(&turn("lab", "before", "ann", "hello"));
    let mut stream = Stream::open(&service, service.operator(), "/operator/v1/events", None).unwrap();
    let first = stream.line().unwrap();
    assert_eq!(first, format!("id: {}", cursor(&service)), "it can come back to here");
    service.settle(&turn("lab", "after", "ann", "hello"));
    let heard = stream.until(completed);
    let id = service.record("after").unwrap()["id"].clone();
    assert!(heard.iter().filter(|event| event.name == "handoff").all(|event| event.data["handoff_id"] == id));
}

#[test]
fn a_cursor_of_another_store_resets_and_then_goes_on() {
    let service = Service::start("");
    service.settle(&turn("lab", "m-1", "ann", "hello"));
    let now = cursor(&service);
    let (epoch, seq) = now.rsplit_once('-').unwrap();
    let ahead = format!("{epoch}-{}", seq.parse::<u64>().unwrap() + 1);
    for (n, last) in [&ahead, "00000000-0000-4000-8000-000000000001-1", "1", "nonsense"].iter().enumerate() {
        let now = cursor(&service);
        let mut stream = Stream::open(&service, service.operator(), "/operator/v1/events", Some(last)).unwrap();
        let reset = stream.next().unwrap();
        assert_eq!((reset.name.as_str(), &reset.data), ("reset", &json!({"cursor": now})), "{last}");
        assert_eq!(reset.id, now);
        service.settle(&turn("lab", &format!("live-{n}"), "ann", "hello"));
        assert!(stream.until(completed).iter().all(|event| event.name != "reset"), "{last}");
    }
    let path = "/operator/v1/events?after=1";
    let answer = service.send(&Ask::get(path).token(service.operator()));
    assert_eq!((answer.status, answer.json()["field"].as_str()), (400, Some("after")), "{answer:?}");
}

#[test]
fn a_cursor_before_what_is_kept_resets() {
    let mut service = Service::start("");
    let start = cursor(&service);
    service.settle(&turn("lab", "m-1", "ann", "hello"));
    assert_eq!(service.stop(), Some(0));
    let kept = forget(&service, 3);
    service.launch();
    let mut stream = Stream::after(&service, &start);
    assert_eq!(stream.next().unwrap().name, "reset");
    let edge = format!("{}-{}", start.rsplit_once('-').unwrap().0, kept - 1);
    let mut stream = Stream::after(&service, &edge);
    assert_eq!(stream.next().map(|event| (event.seq(), event.name == "reset")), Some((kept, false)));
}

/// Removes the oldest events, as time does, and returns the first that is left.
fn forget(service: &Service, count: usize) -> u64 {
    let database = Database::open(service.state_dir().join("clankie.redb")).unwrap();
    let write = database.begin_write().unwrap();
    let mut events = write.open_table(EVENTS).unwrap();
    for _ in 0..count {
        events.pop_first().unwrap().unwrap();
    }
    let first = events.first().unwrap().unwrap().0.value();
    drop(events);
    write.commit().unwrap();
    first
}

#[test]
fn a_revoked_credential_loses_its_open_stream() {
    let service = Service::start("");
    let made = service.dispatch(json!({"op": "token_create", "kind": "operator", "name": "tablet"}));
    let (id, token) = (made["token"]["id"].clone(), made["secret"].as_str().unwrap().to_owned());
    let mut stream = Stream::open(&service, &token, "/operator/v1/events", None).unwrap();
    let mut other = Stream::open(&service, service.operator(), "/operator/v1/events", None).unwrap();
    service.dispatch(json!({"op": "token_revoke", "id": id}));
    let revoked = Instant::now();
    while stream.next().is_some() {}
    assert!(revoked.elapsed() < LATE, "it ended after {:?}", revoked.elapsed());
    assert_eq!(
        Stream::open(&service, &token, "/operator/v1/events", None).err().as_deref(),
        Some("http/1.0 401 unauthorized")
    );
    service.settle(&turn("lab", "m-1", "ann", "hello"));
    assert!(!other.until(completed).is_empty(), "nobody else lost theirs");
}

fn refusal(service: &Service) -> Answer {
    service.send(&Ask::get("/operator/v1/events").token(service.operator()))
}

#[test]
fn a_ninth_stream_is_refused_and_gets_in_once_another_has_gone() {
    let service = Service::start("");
    let open = || Stream::open(&service, service.operator(), "/operator/v1/events", None);
    let mut streams: Vec<_> = (0..8).map(|_| open().unwrap()).collect();
    let refused = refusal(&service);
    assert_eq!((refused.status, refused.problem().as_str()), (429, "too-many-streams"), "{refused:?}");
    assert!(refused.header("retry-after").is_some(), "{refused:?}");
    service.settle(&turn("lab", "m-1", "ann", "eight readers that read nothing keep nobody waiting"));
    assert!(streams.iter_mut().all(|stream| !stream.until(completed).is_empty()));
    streams.pop();
    until("a place for a stream", || open().ok());
}

#[test]
fn a_stop_ends_the_streams_and_opens_none() {
    let mut service = Service::start("[shutdown]\ngrace = \"60s\"");
    service.admit(&turn("lab", "runs", "ann", "!sleep 5000\n!say finished"));
    service.running("runs");
    let mut stream = Stream::open(&service, service.operator(), "/operator/v1/events", None).unwrap();
    service.signal(Signal::TERM);
    while stream.next().is_some() {}
    let refused = refusal(&service);
    assert_eq!((refused.status, refused.problem().as_str()), (503, "shutting-down"), "{refused:?}");
    assert_eq!(service.ended(), Some(0));
}

#[test]
fn the_description_needs_no_credential_and_is_the_committed_one() {
    let service = Service::start("");
    let answer = service.send(&Ask::get("/openapi.json"));
    assert_eq!(answer.header("content-type"), Some("application/json"));
    // Two long documents are not worth printing: the test beside the routes says how to make them one.
    assert!(answer.body == include_str!("../../docs/openapi.json"), "docs/openapi.json is not what is served");
    assert!(answer.json()["openapi"].as_str().is_some_and(|version| version.starts_with("3.1")));
    let foreign = service.send(&Ask::get("/openapi.json").header("host", "evil.example"));
    assert_eq!((foreign.status, foreign.problem().as_str()), (421, "host-refused"));
}

/// B49: whoever shows an ask hears that it was resolved, by whichever surface and however.
#[test]
fn b49_an_ask_and_its_end_reach_every_reader() {
    let service = Service::start("");
    let start = cursor(&service);
    let mut readers: Vec<_> = (0..3).map(|_| Stream::after(&service, &start)).collect();
    let draft = json!({"purpose": "decision", "kind": "choice", "prompt": "which way?", "recommendation": "left",
        "options": [{"label": "left"}, {"label": "right"}], "waiting_on": "the road"});
    service.settle(&turn("lab", "m-1", "ann", &format!("!ask {draft}")));
    let question = service.dispatch(json!({"op": "input_list"}))["questions"][0].clone();
    let cancelled = service.dispatch(json!({"op": "input_cancel", "conversation_id": question["conversation_id"],
        "request_id": question["request_id"], "incarnation_id": question["incarnation_id"],
        "expected_revision": question["revision"]}));
    assert_eq!(cancelled["status"], "resolved", "{cancelled}");
    for reader in &mut readers {
        let events = reader.until(|event| event.name == "input_resolved");
        let requested = events.iter().find(|event| event.name == "input_requested").unwrap();
        let expected = json!({"conversation_id": question["conversation_id"], "request_id": question["request_id"],
            "incarnation_id": question["incarnation_id"], "kind": "choice", "prompt": "which way?",
            "options": question["options"], "created_at": question["created_at"], "purpose": "decision",
            "waiting_on": "the road", "recommendation": "left", "steps": []});
        assert_eq!(requested.data, expected, "strict clients know these fields and no others");
        let resolved = json!({"conversation_id": question["conversation_id"],
            "request_id": question["request_id"], "outcome": "cancelled"});
        assert_eq!(events.last().unwrap().data, resolved);
    }
}

/// B51: who asks the wrong service is told which one this is.
#[test]
fn b51_an_answer_to_another_services_ask_says_which_service_this_is() {
    let service = Service::start("");
    let id = "00000000-0000-7000-8000-000000000001";
    let answer = service.dispatch(json!({"op": "input_answer", "conversation_id": "room-0123456789abcdef01234567",
        "request_id": id, "incarnation_id": id, "expected_revision": 1, "answer": {"kind": "text", "text": "yes"}}));
    assert_eq!((&answer["status"], &answer["reason"]), (&json!("refused"), &json!("unknown_conversation")));
    let detail = answer["detail"].as_str().unwrap();
    assert!(detail.contains(service.address()), "{detail}");
}
