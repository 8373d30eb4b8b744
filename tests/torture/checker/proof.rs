//! The judge is judged first: a sound little world passes, and each way to break it is caught.

use serde_json::{Value, json};

use super::settled::Settled;
use super::tracker::{Tracker, pending, running};
use crate::api::{Answer, Counts, Record};
use crate::history::{History, Key, Verb};
use crate::load::full_room;
use crate::model::Run;
use crate::words::{self, Manner};

const ROOM: &str = "lab";

/// A world with one settled delivery `a` and one `b` that it absorbed.
struct Little {
    history: History,
    records: Vec<Record>,
    runs: Vec<Run>,
}

/// One way to break a world, and the rule that must notice.
type Break = (&'static str, fn(&mut Little));

const BREAKS: [Break; 20] = [
    ("I2 nothing acknowledged is lost", |little| drop(little.records.pop())),
    ("I2 a refused one has no record", |little| {
        little.heard("c", Verb::Post(0), Answer::Busy);
        little.records.push(record("c", "u:1"));
    }),
    ("I2 nothing acknowledged is lost", |little| little.heard("a", Verb::Post(0), Answer::Busy)),
    ("I2 one record", |little| {
        let twin = Record { id: "h-twin".to_owned(), ..record("a", "u:1") };
        little.records.push(twin);
    }),
    ("I2 one record", |little| little.heard("a", Verb::Post(0), accepted("h-other"))),
    ("I3 conflict", |little| little.heard("a", Verb::OtherBody, accepted("h-a"))),
    ("I3 conflict", |little| little.heard("a", Verb::Post(0), Answer::Conflict)),
    ("I3 one result", |little| {
        let result = json!({ "kind": "silent" });
        little.heard("a", Verb::Post(0), Answer::Settled { handoff: "h-a".to_owned(), result });
    }),
    ("I3 one execution", |little| little.runs.push(little.runs[0].clone())),
    ("I3 only what started ran", |little| little.runs.push(Run { opening: vec!["b".to_owned()], ..Run::default() })),
    ("I3 absorbed is no run", |little| {
        little.records[1].started_at = little.records[0].started_at.clone();
        little.runs.push(Run { opening: vec!["b".to_owned()], ..Run::default() });
    }),
    ("I9 absorbed was read", |little| little.runs[0].steers.clear()),
    ("I4 only one's own thread", |little| {
        little.history.open(&key("z"), "u:9", Manner::Quick);
        little.runs[0].steers.insert("z".to_owned());
    }),
    ("isolation", |little| little.runs[0].opening.push("b".to_owned())),
    ("I9 everything ends", |little| little.records[0].state = "running".to_owned()),
    ("I9 pending keeps its place", |little| {
        little.records[0].started_at = None;
        little.runs.clear();
        fail(&mut little.records[0], "interrupted");
    }),
    ("only kills fail runs", |little| fail(&mut little.records[0], "executor_failed")),
    ("I9 with its target", |little| {
        fail(&mut little.records[1], "interrupted");
    }),
    ("I8 actor", |little| little.records[0].actor = "ingress:load:u:9".to_owned()),
    ("I8 words", |little| little.records[0].request = words::body("a", Manner::Slow)),
];

/// One change of one record, and the rule that must notice.
type Change = (&'static str, fn(&mut Record));

const CHANGES: [Change; 6] = [
    ("I7 arrows", |record| record.state = "joined".to_owned()),
    ("I2 durable", |record| record.revision = 1),
    ("I7 revisions", |record| record.state = "failed".to_owned()),
    ("I8 fixed", |record| record.grant = json!({ "plan": "owner" })),
    ("I8 fixed", |record| record.room = full_room("elsewhere")),
    ("I8 fixed", |record| record.run_id = "another".to_owned()),
];

/// How many faults were planted and caught, or the one that was not.
pub(crate) fn prove() -> Result<usize, String> {
    let sound = Little::new().judged();
    if !sound.is_empty() {
        return Err(format!("a sound world is refused: {sound:?}"));
    }
    for (rule, spoil) in BREAKS {
        let mut little = Little::new();
        spoil(&mut little);
        noticed(rule, &little.judged())?;
    }
    for (rule, change) in CHANGES {
        let history = History::new();
        let mut tracker = Tracker::default();
        let first = Record { state: "running".to_owned(), result: None, revision: 3, ..record("a", "u:1") };
        let mut next = first.clone();
        tracker.read(first, 1, &history);
        change(&mut next);
        tracker.read(next, 2, &history);
        noticed(rule, &history.report())?;
    }
    limits()?;
    Ok(BREAKS.len() + CHANGES.len() + LIMITS)
}

/// The limits that are broken one by one below.
const LIMITS: usize = 5;

fn limits() -> Result<(), String> {
    let counts = |running, waiting| Counts { running, waiting, owed: 0 };
    let spread =
        |many: usize| (0..many).map(|room| Record { room: format!("r{room}"), ..record("a", "u:1") }).collect();
    let same = |many: usize| vec![record("a", "u:1"); many];
    let judge = |rule: &str, judge: &dyn Fn(&History)| {
        let history = History::new();
        judge(&history);
        noticed(rule, &history.report())
    };
    let five: Vec<Record> = spread(5);
    judge("I1 running:", &|history| running(&five, &counts(5, 0), history))?;
    judge("I1 running per room", &|history| running(&same(3), &counts(3, 0), history))?;
    judge("counts", &|history| running(&same(1), &counts(2, 0), history))?;
    judge("I1 waiting", &|history| pending(&same(33), &counts(0, 33), history))?;
    judge("counts", &|history| pending(&same(3), &counts(0, 2), history))
}

pub(super) fn noticed(rule: &str, report: &[String]) -> Result<(), String> {
    let found = report.iter().any(|line| line.contains(rule));
    if found { Ok(()) } else { Err(format!("a broken {rule:?} goes unnoticed: {report:?}")) }
}

impl Little {
    fn new() -> Self {
        let mut first = record("a", "u:1");
        first.result = Some(json!({ "kind": "settled", "text": words::reply(0, &["a".to_owned()]), "media": [] }));
        let mut second = record("b", "u:1");
        second.state = "absorbed".to_owned();
        second.started_at = None;
        second.joined = Some("h-a".to_owned());
        second.result = Some(json!({ "kind": "absorbed", "reply_delivery_id": "a", "joined_handoff_id": "h-a" }));
        let steers = ["b".to_owned()].into_iter().collect();
        let run = Run { opening: vec!["a".to_owned()], steers, calls: 2, published: None };
        let mut little = Self { history: History::new(), records: vec![first, second], runs: vec![run] };
        little.heard("a", Verb::Post(0), accepted("h-a"));
        little.heard("b", Verb::Post(0), accepted("h-b"));
        let result = little.records[0].result.clone().unwrap_or(Value::Null);
        little.heard("a", Verb::Get, Answer::Settled { handoff: "h-a".to_owned(), result });
        little
    }

    fn heard(&mut self, delivery: &str, verb: Verb, answer: Answer) {
        let key = key(delivery);
        if self.history.delivery(&key).is_none() {
            self.history.open(&key, "u:1", Manner::Quick);
        }
        let begun = self.history.begin(&key, verb, 1);
        self.history.heard(&key, verb, begun, &answer);
    }

    fn judged(self) -> Vec<String> {
        let mut tracker = Tracker::default();
        for record in self.records {
            tracker.read(record, 1, &self.history);
        }
        Settled::new(&self.history, &tracker, self.runs).judge();
        self.history.report()
    }
}

fn key(delivery: &str) -> Key {
    Key { room: ROOM.to_owned(), delivery: delivery.to_owned() }
}

fn accepted(handoff: &str) -> Answer {
    Answer::Accepted { handoff: handoff.to_owned(), state: "pending".to_owned() }
}

fn fail(record: &mut Record, code: &str) {
    record.state = "failed".to_owned();
    record.result = Some(json!({ "kind": "failed", "code": code }));
}

pub(super) fn record(delivery: &str, actor: &str) -> Record {
    let moment = || "2026-01-01T00:00:00Z".to_owned();
    Record {
        id: format!("h-{delivery}"),
        room: full_room(ROOM),
        delivery_id: delivery.to_owned(),
        trigger: None,
        actor: format!("ingress:load:{actor}"),
        class: json!("fresh"),
        run_id: format!("run-of-{delivery}"),
        state: "completed".to_owned(),
        request: words::body(delivery, Manner::Quick),
        grant: json!({ "plan": "social" }),
        result: None,
        joined: None,
        created_at: moment(),
        started_at: Some(moment()),
        ended_at: Some(moment()),
        revision: 5,
    }
}
