//! What must hold once nothing lives: over the history, the records and the model's log together.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::tracker::Tracker;
use crate::api::{Message, Record};
use crate::history::{Delivery, History, Key};
use crate::load::{full_room, key_of};
use crate::model::Run;
use crate::words;

/// Everything that is judged together.
#[derive(Debug)]
pub(crate) struct Settled<'a> {
    pub(crate) history: &'a History,
    pub(crate) tracker: &'a Tracker,
    pub(crate) deliveries: BTreeMap<Key, Delivery>,
    pub(crate) runs: Vec<Run>,
    /// By the first text: the runs that were begun with it.
    opened: BTreeMap<String, Vec<usize>>,
    /// By the delivery's own id, which no two rooms share here.
    named: BTreeMap<String, Key>,
}

/// How many of each end there were.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ends {
    pub(crate) records: usize,
    pub(crate) absorbed: usize,
    pub(crate) owed: usize,
    pub(crate) cancelled: usize,
    pub(crate) interrupted: usize,
}

impl<'a> Settled<'a> {
    /// Puts what is known together.
    pub(crate) fn new(history: &'a History, tracker: &'a Tracker, runs: Vec<Run>) -> Self {
        let mut opened: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (number, run) in runs.iter().enumerate() {
            for text in &run.opening {
                opened.entry(text.clone()).or_default().push(number);
            }
        }
        let deliveries = history.deliveries();
        let named = deliveries.keys().map(|key| (key.delivery.clone(), key.clone())).collect();
        Self { history, tracker, deliveries, runs, opened, named }
    }

    /// Judges everything.
    pub(crate) fn judge(&self) -> Ends {
        let mut ends = Ends::default();
        for record in self.tracker.records() {
            self.record(record);
            ends.records += 1;
            ends.absorbed += usize::from(record.state == "absorbed");
            ends.owed += usize::from(!record.is_fresh());
            ends.cancelled += usize::from(record.state == "cancelled");
            ends.interrupted += usize::from(record.code() == Some("interrupted") && record.joined.is_none());
        }
        self.runs();
        self.kept();
        ends
    }

    /// Every acknowledged delivery has its record; one that was only refused has none.
    fn kept(&self) {
        for (key, delivery) in &self.deliveries {
            let record = self.tracker.of(&full_room(&key.room), &key.delivery);
            match (&delivery.handoff, record) {
                (Some(handoff), Some(record)) if record.id == *handoff => {}
                (None, found) if delivery.kept == found.is_some() => {}
                (handoff, found) if handoff.is_some() || delivery.kept => {
                    let what = format!("acknowledged as {handoff:?}, kept as {:?}", found.map(|record| &record.id));
                    self.wrong("I2 nothing acknowledged is lost", what, Some(key));
                }
                (_, found) => {
                    let what =
                        format!("it was only ever refused and has the record {:?}", found.map(|record| &record.id));
                    self.wrong("I2 a refused one has no record", what, Some(key));
                }
            }
        }
    }

    /// No text is put to the model by two runs, and each run has one.
    fn runs(&self) {
        for (text, runs) in &self.opened {
            if runs.len() > 1 {
                self.wrong("I3 one execution", format!("{text} was run as {runs:?}"), self.key_of_text(text));
            }
        }
        for (number, run) in self.runs.iter().enumerate() {
            let [opening] = run.opening.as_slice() else {
                self.wrong("isolation", format!("run {number} was begun with {:?}", run.opening), None);
                continue;
            };
            let owner = self.owner(opening);
            for steer in run.steers.iter().filter(|steer| self.owner(steer) != owner) {
                let what = format!("run {number} of {opening} was steered by {steer}");
                self.wrong("I4 only one's own thread", what, self.key_of_text(opening));
            }
        }
    }

    fn record(&self, record: &Record) {
        // What an answer woke is judged with its ask.
        if record.wakes().is_some() {
            return;
        }
        let Some((key, text)) = key_of(&record.room, &record.request) else {
            return self.wrong("I8 words", format!("{} has unknown words {:?}", record.id, record.request), None);
        };
        let Some(delivery) = self.deliveries.get(&key) else {
            return self.wrong("I2 a record has a request", format!("{} has no delivery", record.id), None);
        };
        if record.actor != format!("ingress:{}:{}", crate::world::LANE, delivery.actor) {
            self.wrong("I8 actor", format!("{} is {}", record.id, record.actor), Some(&key));
        }
        if record.grant["plan"] != "social" {
            self.wrong("I8 grant", format!("{} has {}", record.id, record.grant), Some(&key));
        }
        let words = record.request.trim_start_matches("(edited) ");
        if !delivery.texts.iter().any(|text| text == words) {
            self.wrong("I8 words", format!("{} says {words:?}", record.id), Some(&key));
        }
        let runs = self.opened.get(&text).map(Vec::as_slice).unwrap_or_default();
        if let Err((rule, what)) = self.end(record, &key, &text, runs) {
            self.wrong(rule, format!("{} ({}): {what}", record.id, record.state), Some(&key));
        }
    }

    /// One record's end against the model's log.
    fn end(&self, record: &Record, key: &Key, text: &str, runs: &[usize]) -> Result<(), (&'static str, String)> {
        let never_ran = |rule| if runs.is_empty() { Ok(()) } else { Err((rule, format!("it ran as {runs:?}"))) };
        if record.started_at.is_none() {
            never_ran("I3 only what started ran")?;
        }
        match record.state.as_str() {
            "completed" => self.completed(record, text, runs),
            "absorbed" => {
                never_ran("I3 absorbed is no run")?;
                self.absorbed(record, key, text)
            }
            "failed" => {
                let never_began = record.started_at.is_none() && record.joined.is_none();
                match record.code() {
                    Some("interrupted") if never_began => Err(("I9 pending keeps its place", "never ran".to_owned())),
                    Some("interrupted") => self.with_target(record, runs),
                    code => Err(("only kills fail runs", format!("{code:?}"))),
                }
            }
            "cancelled" if record.joined.is_some() => {
                never_ran("I3 a cancelled joiner is no run").and_then(|()| self.cancelled(record, key))
            }
            "cancelled" => self.cancelled(record, key),
            state => Err(("I9 everything ends", format!("it is still {state}"))),
        }
    }

    fn completed(&self, record: &Record, text: &str, runs: &[usize]) -> Result<(), (&'static str, String)> {
        let said = record.result.as_ref().and_then(|result| result["text"].as_str()).unwrap_or_default();
        match (words::reply_of(said), runs) {
            (Some((run, about)), [only]) if run == *only && about == *text => Ok(()),
            (named, _) => Err(("isolation", format!("its reply is {said:?}, {named:?}, its runs are {runs:?}"))),
        }
    }

    /// An absorbed delivery names the run that read it, and that run did.
    fn absorbed(&self, record: &Record, key: &Key, text: &str) -> Result<(), (&'static str, String)> {
        const RULE: &str = "I9 absorbed was read";
        let id = record.joined.clone().unwrap_or_default();
        let Some(target) = self.tracker.get(&id) else { return Err((RULE, format!("{id} is unknown"))) };
        let named =
            json!({ "kind": "absorbed", "reply_delivery_id": target.delivery_id, "joined_handoff_id": target.id });
        if record.result.as_ref() != Some(&named) {
            return Err((RULE, format!("its result is {:?} and not {named}", record.result)));
        }
        if (&target.room, &target.actor) != (&record.room, &record.actor) || target.state != "completed" {
            return Err(("I4 only one's own thread", format!("it joined {target:?} from {}", key.room)));
        }
        let run = key_of(&target.room, &target.request).and_then(|(_, first)| self.opened.get(&first)?.first());
        match run.and_then(|run| self.runs.get(*run)) {
            Some(run) if run.steers.contains(text) => Ok(()),
            run => Err((RULE, format!("{text} never reached its run {run:?}"))),
        }
    }

    /// A joiner that failed did so with its target and never ran.
    fn with_target(&self, record: &Record, runs: &[usize]) -> Result<(), (&'static str, String)> {
        let Some(joined) = &record.joined else { return Ok(()) };
        let target = self.tracker.get(joined).and_then(|target| target.result.clone());
        if target != record.result {
            return Err(("I9 with its target", format!("its target ended as {}", target.unwrap_or(Value::Null))));
        }
        if runs.is_empty() { Ok(()) } else { Err(("I3 interrupted is not replayed", format!("it ran as {runs:?}"))) }
    }

    /// Nothing is cancelled that nobody cancelled: itself, or the run that had read it.
    fn cancelled(&self, record: &Record, key: &Key) -> Result<(), (&'static str, String)> {
        let asked = |record: &Record, key: Option<&Key>| self.history.was_cancelled(key, &record.id);
        let target = record.joined.as_ref().and_then(|id| self.tracker.get(id));
        let of_target = target.is_some_and(|target| {
            let key = key_of(&target.room, &target.request).map(|(key, _)| key);
            asked(target, key.as_ref())
        });
        let fine = asked(record, Some(key)) || of_target;
        if fine { Ok(()) } else { Err(("nobody cancelled it", record.result.clone().unwrap_or_default().to_string())) }
    }

    /// What a room heard: each reply once, as its record has it, and at most one word on the way.
    pub(crate) fn heard(&self, room: &str, messages: &[Message]) {
        let mut ids: BTreeMap<&str, usize> = BTreeMap::new();
        let mut updates: BTreeMap<&str, usize> = BTreeMap::new();
        for message in messages {
            *ids.entry(&message.id).or_default() += 1;
            *updates.entry(&message.handoff_id).or_default() += usize::from(message.kind == "update");
            let Some(record) = self.tracker.get(&message.handoff_id) else {
                self.wrong("a room hears of records", format!("{room}: {message:?}"), None);
                continue;
            };
            let told = record.result.as_ref().and_then(|result| result["text"].as_str());
            let reply = message.kind != "reply" || told == Some(message.text.as_str());
            if !reply || message.reply_to.as_deref().is_some_and(|to| to != record.quoted()) {
                self.wrong("a room hears the result", format!("{message:?} of {record:?}"), None);
            }
        }
        for (id, _) in ids.iter().chain(&updates).filter(|(_, many)| **many > 1) {
            self.wrong("a room hears it once", format!("{room}: {id}"), None);
        }
        let replied = |record: &&Record| record.room == full_room(room) && record.state == "completed";
        let has = |record: &Record| messages.iter().any(|one| one.kind == "reply" && one.handoff_id == record.id);
        for record in self.tracker.records().filter(replied).filter(|record| !has(record)) {
            self.wrong("a room hears every reply", format!("{room}: {}", record.id), None);
        }
    }

    fn owner(&self, text: &str) -> Option<(&str, &str)> {
        let key = self.key_of_text(text)?;
        Some((&key.room, &self.deliveries.get(key)?.actor))
    }

    fn key_of_text(&self, text: &str) -> Option<&Key> {
        self.named.get(words::delivery_of(text))
    }

    fn wrong(&self, rule: &'static str, what: String, key: Option<&Key>) {
        self.history.violation(rule, what, key);
    }
}
