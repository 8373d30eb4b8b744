//! What the clients did and heard, with the rules that hold for one answer after another.
//!
//! Whatever a client was promised stays: an acknowledged delivery is known from then on, under one
//! handoff, and a result once heard is the only one that is ever heard.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::Value;

use crate::api::Answer;
use crate::words::{self, Manner};

/// Violations that are kept in full; after these, one more says nothing new.
const KEPT: usize = 40;

/// A delivery, by the lane's short name of its room and its id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) room: String,
    pub(crate) delivery: String,
}

/// What a client does with a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verb {
    /// Hand it in with its text of that number.
    Post(usize),
    /// Hand it in with words that were never its own.
    OtherBody,
    /// Edit it to its text of that number.
    Put(usize),
    /// Cancel it as its speaker.
    Delete,
    /// Ask for it.
    Get,
}

/// One attempt and what came of it.
#[derive(Debug, Clone)]
struct Attempt {
    verb: Verb,
    life: u64,
    began_ms: u128,
    took_ms: u128,
    heard: String,
}

/// One delivery as its client knows it.
#[derive(Debug, Clone)]
pub(crate) struct Delivery {
    /// Whose it is.
    pub(crate) actor: String,
    /// Its texts; the first is what was handed in first.
    pub(crate) texts: Vec<String>,
    /// The handoff that it was acknowledged under.
    pub(crate) handoff: Option<String>,
    /// Whether an answer showed that it is kept, though none named its handoff: an edit of it was
    /// taken, or its first words conflict with what an edit made of it.
    pub(crate) kept: bool,
    /// Whether anybody tried to cancel it.
    pub(crate) cancel_asked: bool,
    attempts: Vec<Attempt>,
}

/// A broken rule.
#[derive(Debug, Clone)]
pub(crate) struct Violation {
    pub(crate) rule: &'static str,
    pub(crate) what: String,
    pub(crate) key: Option<Key>,
}

/// How much of everything there was.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) compared: usize,
    pub(crate) cancels: usize,
    pub(crate) edits: usize,
    pub(crate) busy: usize,
    pub(crate) unanswered: usize,
    pub(crate) violations: usize,
}

/// Taken before an attempt, given back with its answer.
#[derive(Debug, Clone)]
pub(crate) struct Begun {
    life: u64,
    at: Instant,
    handoff: Option<String>,
}

#[derive(Debug, Default)]
struct Inner {
    deliveries: BTreeMap<Key, Delivery>,
    results: BTreeMap<String, Value>,
    owner_cancels: BTreeSet<String>,
    /// Acknowledged deliveries, in the order in which that was heard.
    known: Vec<Key>,
    open: BTreeSet<(Key, Verb)>,
    violations: Vec<Violation>,
    counts: Counts,
}

/// The history of a whole run.
#[derive(Debug)]
pub(crate) struct History {
    began: Instant,
    inner: Mutex<Inner>,
}

impl History {
    /// Nothing yet.
    pub(crate) fn new() -> Self {
        Self { began: Instant::now(), inner: Mutex::default() }
    }

    /// A new delivery of `actor`.
    pub(crate) fn open(&self, key: &Key, actor: &str, manner: Manner) {
        let texts = vec![words::body(&words::text_id(&key.delivery, 0), manner)];
        let delivery = Delivery {
            actor: actor.to_owned(),
            texts,
            handoff: None,
            kept: false,
            cancel_asked: false,
            attempts: Vec::new(),
        };
        self.inner().deliveries.insert(key.clone(), delivery);
    }

    /// Adds an edited text to a delivery and gives its number.
    pub(crate) fn edit(&self, key: &Key, manner: Manner) -> usize {
        let mut inner = self.inner();
        inner.counts.edits += 1;
        let texts = inner.deliveries.get_mut(key).map(|delivery| &mut delivery.texts);
        texts.map_or(0, |texts| {
            texts.push(words::body(&words::text_id(&key.delivery, texts.len()), manner));
            texts.len() - 1
        })
    }

    /// An attempt begins.
    pub(crate) fn begin(&self, key: &Key, verb: Verb, life: u64) -> Begun {
        let mut inner = self.inner();
        let delivery = inner.deliveries.get_mut(key);
        let handoff = delivery.and_then(|delivery| {
            delivery.cancel_asked |= verb == Verb::Delete;
            delivery.handoff.clone()
        });
        inner.counts.cancels += usize::from(verb == Verb::Delete);
        Begun { life, at: Instant::now(), handoff }
    }

    /// An attempt got its answer, or none.
    pub(crate) fn heard(&self, key: &Key, verb: Verb, begun: Begun, answer: &Answer) {
        let (began_ms, took_ms) = (begun.at.duration_since(self.began).as_millis(), begun.at.elapsed().as_millis());
        let attempt = Attempt { verb, life: begun.life, began_ms, took_ms, heard: answer.brief() };
        let mut inner = self.inner();
        if let Some(delivery) = inner.deliveries.get_mut(key) {
            delivery.attempts.push(attempt);
        }
        inner.take(key, verb, begun.handoff.as_deref(), answer);
    }

    /// The owner asks to cancel a handoff.
    pub(crate) fn owner_cancels(&self, handoff: &str) {
        let mut inner = self.inner();
        inner.owner_cancels.insert(handoff.to_owned());
        inner.counts.cancels += 1;
    }

    /// Whether anybody asked to cancel this delivery or its handoff.
    pub(crate) fn was_cancelled(&self, key: Option<&Key>, handoff: &str) -> bool {
        let inner = self.inner();
        let by_speaker = key.and_then(|key| inner.deliveries.get(key)).is_some_and(|delivery| delivery.cancel_asked);
        by_speaker || inner.owner_cancels.contains(handoff)
    }

    /// A result that a record shows; it must be the one that was heard, if one was.
    pub(crate) fn shown(&self, key: Option<&Key>, handoff: &str, result: &Value) {
        self.inner().result(key, handoff, result);
    }

    /// A rule is broken.
    pub(crate) fn violation(&self, rule: &'static str, what: impl Into<String>, key: Option<&Key>) {
        self.inner().violation(rule, what.into(), key);
    }

    /// One delivery.
    pub(crate) fn delivery(&self, key: &Key) -> Option<Delivery> {
        self.inner().deliveries.get(key).cloned()
    }

    /// Every delivery.
    pub(crate) fn deliveries(&self) -> BTreeMap<Key, Delivery> {
        self.inner().deliveries.clone()
    }

    /// How many deliveries are acknowledged.
    pub(crate) fn acknowledged(&self) -> usize {
        self.inner().known.len()
    }

    /// The deliveries that were acknowledged from the `first`th on.
    pub(crate) fn acknowledged_from(&self, first: usize) -> Vec<(Key, Delivery)> {
        let inner = self.inner();
        let known = inner.known.get(first..).unwrap_or_default();
        known.iter().filter_map(|key| Some((key.clone(), inner.deliveries.get(key)?.clone()))).collect()
    }

    /// The `number`th acknowledged delivery.
    pub(crate) fn acknowledged_at(&self, number: usize) -> Option<(Key, Delivery)> {
        let inner = self.inner();
        let key = inner.known.get(number)?;
        Some((key.clone(), inner.deliveries.get(key)?.clone()))
    }

    /// Attempts whose outcome is unknown, so that they must be made again.
    pub(crate) fn unknown(&self) -> Vec<(Key, Verb)> {
        self.inner().open.iter().cloned().collect()
    }

    /// Counts so far.
    pub(crate) fn counts(&self) -> Counts {
        self.inner().counts
    }

    /// Notes that so many retries were compared with what was saved.
    pub(crate) fn compared(&self, many: usize) {
        self.inner().counts.compared += many;
    }

    /// Every violation, with what happened to its delivery.
    pub(crate) fn report(&self) -> Vec<String> {
        let inner = self.inner();
        let mut lines = Vec::new();
        for Violation { rule, what, key } in &inner.violations {
            lines.push(format!("VIOLATION {rule}: {what}"));
            let Some((key, delivery)) = key.as_ref().and_then(|key| Some((key, inner.deliveries.get(key)?))) else {
                continue;
            };
            lines.push(format!("  {}/{} of {}", key.room, key.delivery, delivery.actor));
            for attempt in &delivery.attempts {
                let Attempt { verb, life, began_ms, took_ms, heard } = attempt;
                lines.push(format!("    life {life} at {began_ms} ms for {took_ms} ms {verb:?}: {heard}"));
            }
        }
        lines
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn take(&mut self, key: &Key, verb: Verb, known: Option<&str>, answer: &Answer) {
        match answer {
            Answer::Lost(_) | Answer::Unavailable(_) => {
                self.counts.unanswered += 1;
                if matches!(verb, Verb::Post(_) | Verb::Put(_)) {
                    self.open.insert((key.clone(), verb));
                }
                return;
            }
            Answer::Unexpected(status, body) => {
                self.violation("contract", format!("{verb:?} was answered {status} {body}"), Some(key));
            }
            Answer::Accepted { handoff, .. } => self.named(key, verb, handoff),
            Answer::Settled { handoff, result } => {
                self.named(key, verb, handoff);
                self.result(Some(key), handoff, result);
            }
            Answer::Busy => {
                self.counts.busy += 1;
                self.refused(key, verb, known, "busy");
            }
            Answer::Forgotten => self.refused(key, verb, known, "forgotten"),
            Answer::NotFound => self.refused(key, verb, known, "not found"),
            Answer::Conflict => self.conflict(key, verb),
        }
        self.open.remove(&(key.clone(), verb));
    }

    /// An answer names the handoff: one delivery, one handoff.
    fn named(&mut self, key: &Key, verb: Verb, handoff: &str) {
        if matches!(verb, Verb::Put(_)) {
            return self.kept(key);
        }
        if verb == Verb::OtherBody {
            self.violation("I3 conflict", format!("other words under a known key became {handoff}"), Some(key));
            return;
        }
        let Some(delivery) = self.deliveries.get_mut(key) else { return };
        match &delivery.handoff {
            Some(known) if known != handoff => {
                let what = format!("it was {known} and now it is {handoff}");
                self.violation("I2 one record", what, Some(key));
            }
            Some(_) => {}
            None => {
                delivery.handoff = Some(handoff.to_owned());
                self.known.push(key.clone());
            }
        }
    }

    /// A refusal is right only for what was not acknowledged before. A late edit is a try of its own.
    fn refused(&mut self, key: &Key, verb: Verb, known: Option<&str>, how: &str) {
        let own_try = matches!(verb, Verb::Put(_)) && how != "not found";
        if let Some(known) = known
            && !own_try
        {
            self.violation("I2 nothing acknowledged is lost", format!("{known} is {how} for {verb:?}"), Some(key));
        }
    }

    /// Words that were ever the delivery's own conflict only when an edit may have replaced them.
    fn conflict(&mut self, key: &Key, verb: Verb) {
        let edited = self.deliveries.get(key).is_some_and(|delivery| delivery.texts.len() > 1);
        if verb != Verb::OtherBody && !edited {
            self.violation("I3 conflict", format!("its own words conflict for {verb:?}"), Some(key));
        }
        self.kept(key);
    }

    fn kept(&mut self, key: &Key) {
        if let Some(delivery) = self.deliveries.get_mut(key) {
            delivery.kept = true;
        }
    }

    fn result(&mut self, key: Option<&Key>, handoff: &str, result: &Value) {
        match self.results.get(handoff) {
            Some(known) if known != result => {
                let what = format!("{handoff} ended as {known} and now as {result}");
                self.violation("I3 one result", what, key);
            }
            Some(_) => {}
            None => {
                self.results.insert(handoff.to_owned(), result.clone());
            }
        }
    }

    /// The same one is noted once, however often it is found.
    fn violation(&mut self, rule: &'static str, what: String, key: Option<&Key>) {
        if self.violations.iter().any(|known| known.rule == rule && known.what == what) {
            return;
        }
        self.counts.violations += 1;
        if self.violations.len() < KEPT {
            self.violations.push(Violation { rule, what, key: key.cloned() });
        }
    }
}
