//! The mailbox's judge is judged too: a sound little mailbox passes, and each way to break it is caught.

use serde_json::{Value, json};

use super::mailbox::{Lists, Mailbox};
use super::proof::{noticed, record};
use super::tracker::Tracker;
use crate::api::Record;
use crate::history::History;
use crate::mail::ledger::Ledger;
use crate::mail::owners::CANARY;
use crate::mail::shapes::{Act, Ask, By, Call, Choice, Claim, Heard, Origin, Update};
use crate::model::{Run, Woken};
use crate::rounds::mail::holds;
use crate::words;

/// A mailbox with one ask that was answered, one that was cancelled, one that waits, and an update
/// that was read. Their sources are the runs 0 to 3 of the deliveries `a` to `d`.
struct Little {
    history: History,
    ledger: Ledger,
    records: Vec<Record>,
    runs: Vec<Run>,
    woken: Vec<Woken>,
    lists: Lists,
}

const ANSWERED: usize = 0;
const CANCELLED: usize = 1;
const PENDING: usize = 2;

/// One way to break it, and the rule that must notice.
type Break = (&'static str, fn(&mut Little));

const BREAKS: [Break; 36] = [
    ("M1 no answer is left on its way", |little| little.claim().state = "dispatching".to_owned()),
    ("M1 no answer is left on its way", |little| little.claim().state = "claimed".to_owned()),
    ("M1 delivered exactly once", |little| little.woken.push(little.woken[0].clone())),
    ("M1 delivered exactly once", |little| little.woken.clear()),
    ("M1 delivered exactly once", |little| {
        little.claim().state = "uncertain".to_owned();
        little.woken.push(little.woken[0].clone());
    }),
    ("M1 returned reached nobody", |little| little.claim().state = "returned".to_owned()),
    ("M1 the answer itself", |little| little.woken[0].told = "right".to_owned()),
    ("M1 an accepted answer has its claim", |little| little.lists.asks[ANSWERED].continuation = None),
    ("M1 one continuation", |little| drop(little.records.pop())),
    ("M1 one continuation", |little| little.claim().run_id = "another".to_owned()),
    ("M1 the claim moves with its record", |little| {
        little.woken.clear();
        little.claim().state = "returned".to_owned();
    }),
    ("M1 the claim moves with its record", |little| {
        if let Some(record) = little.records.last_mut() {
            (record.state, record.started_at) = ("failed".to_owned(), None);
            record.result = Some(json!({ "kind": "failed", "code": "interrupted" }));
        }
    }),
    ("M1 what was committed stays", |little| little.lists.asks[ANSWERED] = ask(ANSWERED)),
    ("M2 a principal is named", |little| little.lists.asks[ANSWERED].resolved_by = Some(by("somebody"))),
    ("M3 nothing unsettled is forgotten", |little| drop(little.lists.asks.remove(PENDING))),
    ("M3 nothing unsettled is forgotten", |little| little.lists.updates.clear()),
    ("M3 nothing unsettled is forgotten", |little| little.refused(PENDING, choose("left"), "stale_request", None)),
    ("M3 no call is refused for capacity", |little| little.refused(PENDING, choose("left"), "ask_capacity", None)),
    ("M3 what was published is kept", |little| little.runs[PENDING].published = Some("nowhere".to_owned())),
    ("M5 cancelled is never an answer", |little| little.lists.asks[CANCELLED].answer = shown("left")),
    ("M5 a cancelled ask never changes", |little| little.lists.asks[CANCELLED].reason = Some("otherwise".to_owned())),
    ("M5 a cancelled ask wakes nobody", |little| little.wake(CANCELLED)),
    ("M6 only owners resolve", |little| little.lists.asks[PENDING] = delivered(PENDING)),
    ("M6 only owners resolve", |little| little.claim().seen = true),
    ("M6 nobody is woken without an answer", |little| little.wake(PENDING)),
    ("one winner", |little| little.resolved(ANSWERED, choose("right"), delivered(ANSWERED))),
    ("one winner", |little| {
        little.refused(ANSWERED, choose("left"), "conflicting_answer", Some(delivered(ANSWERED)));
    }),
    ("one winner", |little| little.refused(PENDING, choose("left"), "conflicting_answer", Some(ask(PENDING)))),
    ("a receipt shows what was done", |little| little.resolved(PENDING, choose("left"), ask(PENDING))),
    ("a receipt never changes", |little| little.lists.asks[ANSWERED].resolved_at = Some("later".to_owned())),
    ("a conflict has a cause", |little| little.heard(PENDING, choose("left"), Heard::Moved(Box::new(ask(PENDING))))),
    ("an ask is immutable", |little| little.lists.asks[PENDING].options[0].label = "straight on".to_owned()),
    ("one publication", |little| {
        let twin = Ask { request_id: "twin".to_owned(), ..ask(PENDING) };
        little.lists.asks.push(twin);
    }),
    ("one publication", |little| {
        let twin = Update { id: "twin".to_owned(), state: "unread".to_owned(), ..update() };
        little.lists.updates.push(twin);
    }),
    ("an update moves by owners alone", |little| little.lists.updates[0].state = "dismissed".to_owned()),
    ("an update never goes back", |little| little.lists.updates[0].state = "unread".to_owned()),
];

/// Faults that are planted beside those: what holds a secret, and a source that is another's.
const OTHERS: usize = 2;

/// How many faults were planted and caught, or the one that was not.
pub(crate) fn prove() -> Result<usize, String> {
    let sound = Little::new().judged();
    if !sound.is_empty() {
        return Err(format!("a sound mailbox is refused: {sound:?}"));
    }
    for (rule, spoil) in BREAKS {
        let mut little = Little::new();
        spoil(&mut little);
        noticed(rule, &little.judged())?;
    }
    let mut little = Little::new();
    little.records.swap(0, 1);
    (little.records[0].id, little.records[1].id) = (handoff(0), handoff(1));
    noticed("an ask names its source", &little.judged())?;
    let file = format!("words about c and ca, then {CANARY} 3 and more");
    if !holds(file.as_bytes(), CANARY.as_bytes()) || holds(b"canary of torture", CANARY.as_bytes()) {
        return Err("a planted secret goes unnoticed".to_owned());
    }
    Ok(BREAKS.len() + OTHERS)
}

impl Little {
    fn new() -> Self {
        let run = |opening: &str, published: String| Run {
            opening: vec![opening.to_owned()],
            published: Some(published),
            calls: 2,
            ..Run::default()
        };
        let runs = vec![run("a", request(0)), run("b", request(1)), run("c", request(2)), run("d", "u".to_owned())];
        let mut records: Vec<Record> = ["a", "b", "c", "d"].map(|delivery| record(delivery, "u:1")).into();
        let woken = Record {
            delivery_id: format!("clankie:answer:{}", request(ANSWERED)),
            trigger: Some("a".to_owned()),
            class: json!({ "owed": "answer" }),
            request: "(the owner's answer)".to_owned(),
            ..record("woken", "u:1")
        };
        records.push(woken);
        let lists = Lists {
            conversations: ["room-lab".to_owned()].into(),
            asks: vec![delivered(ANSWERED), cancelled(), ask(PENDING)],
            updates: vec![update()],
        };
        let woken = vec![Woken { ask: ANSWERED, told: "left".to_owned() }];
        let (history, mut ledger) = (History::new(), Ledger::default());
        ledger.principals.insert(by("owner"));
        let mut little = Self { history, ledger, records, runs, woken, lists };
        let mut on_its_way = delivered(ANSWERED);
        on_its_way.continuation = on_its_way.continuation.map(|claim| Claim { state: "claimed".to_owned(), ..claim });
        little.resolved(ANSWERED, choose("left"), on_its_way);
        let began = little.ledger.moment();
        little.ledger.read(ask(PENDING), began, &little.history);
        little.resolved(CANCELLED, Act::Cancel, cancelled());
        let call = Call::of(&update(), Act::Read, 0);
        let began = little.ledger.begin(&call);
        little.ledger.heard(&call, began, Heard::Updated(Box::new(update())), &little.history);
        little
    }

    fn heard(&mut self, number: usize, act: Act, heard: Heard) {
        let call = Call::on(&ask(number), act, 0);
        let began = self.ledger.begin(&call);
        self.ledger.heard(&call, began, heard, &self.history);
    }

    fn resolved(&mut self, number: usize, act: Act, as_it_stands: Ask) {
        self.heard(number, act, Heard::Resolved(Box::new(as_it_stands)));
    }

    fn refused(&mut self, number: usize, act: Act, reason: &str, as_it_stands: Option<Ask>) {
        self.heard(number, act, Heard::Refused(reason.to_owned(), as_it_stands.map(Box::new)));
    }

    fn claim(&mut self) -> &mut Claim {
        self.lists.asks[ANSWERED].continuation.get_or_insert_with(|| claim(ANSWERED))
    }

    fn wake(&mut self, number: usize) {
        self.woken.push(Woken { ask: number, told: "left".to_owned() });
    }

    fn judged(mut self) -> Vec<String> {
        let mut tracker = Tracker::default();
        for record in self.records {
            tracker.read(record, 1, &self.history);
        }
        let began = self.ledger.moment();
        for ask in &self.lists.asks {
            self.ledger.read(ask.clone(), began, &self.history);
        }
        for update in &self.lists.updates {
            self.ledger.read_update(update.clone(), began, &self.history);
        }
        Mailbox::new((&self.history, &tracker, &self.ledger), (&self.runs, &self.woken)).judge(&self.lists);
        self.history.report()
    }
}

fn request(number: usize) -> String {
    format!("q-{number}")
}

fn handoff(number: usize) -> String {
    ["h-a", "h-b", "h-c"][number].to_owned()
}

fn by(id: &str) -> By {
    By { kind: "operator".to_owned(), id: id.to_owned() }
}

fn choose(label: &str) -> Act {
    Act::Answer(json!({ "kind": "choice", "option_id": label }))
}

fn shown(label: &str) -> Option<Value> {
    Some(json!({ "kind": "choice", "option_id": label, "label": label }))
}

fn claim(number: usize) -> Claim {
    Claim {
        run_id: format!("answered-{number}"),
        handoff_id: Some("h-woken".to_owned()),
        state: "delivered".to_owned(),
        reason_code: None,
        seen: false,
    }
}

fn ask(number: usize) -> Ask {
    let option = |label: &str| Choice { option_id: label.to_owned(), label: label.to_owned() };
    let source = record("a", "u:1");
    Ask {
        request_id: request(number),
        conversation_id: "room-lab".to_owned(),
        incarnation_id: "life".to_owned(),
        revision: 4,
        purpose: "decision".to_owned(),
        kind: "choice".to_owned(),
        prompt: words::prompt(number),
        options: vec![option("left"), option("right")],
        secret: false,
        origin: Origin {
            handoff_id: handoff(number),
            run_id: format!("run-{number}"),
            actor: source.actor,
            room: source.room,
        },
        created_at: "then".to_owned(),
        status: "pending".to_owned(),
        answer: None,
        resolved_at: None,
        resolved_by: None,
        reason: None,
        continuation: None,
    }
}

fn delivered(number: usize) -> Ask {
    Ask {
        status: "submitted".to_owned(),
        answer: shown("left"),
        resolved_at: Some("now".to_owned()),
        resolved_by: Some(by("owner")),
        continuation: Some(claim(number)),
        ..ask(number)
    }
}

fn cancelled() -> Ask {
    Ask {
        status: "cancelled".to_owned(),
        resolved_at: Some("now".to_owned()),
        resolved_by: Some(by("owner")),
        reason: Some("owner".to_owned()),
        ..ask(CANCELLED)
    }
}

fn update() -> Update {
    Update {
        id: "u".to_owned(),
        title: "mail-3".to_owned(),
        body: "it goes on".to_owned(),
        conversation_id: "room-lab".to_owned(),
        at: "then".to_owned(),
        state: "read".to_owned(),
    }
}
