//! What owners called and heard, and every ask and update as it was last read.
//!
//! Readers cross, so each read carries the moment at which it was asked for: only what was asked
//! for after something was known must agree with it.

use std::collections::{BTreeMap, BTreeSet};

use super::shapes::{Act, Ask, By, Call, Heard, Update};
use crate::checker::mail;
use crate::history::History;

/// What was read last of something, and when that was known.
#[derive(Debug, Clone)]
pub(crate) struct Known<T> {
    pub(crate) now: T,
    pub(crate) at: u64,
}

/// How much of everything owners did.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MailCounts {
    pub(crate) answers: usize,
    pub(crate) cancels: usize,
    pub(crate) conflicts: usize,
    pub(crate) moved: usize,
    pub(crate) repeated: usize,
    pub(crate) seen: usize,
}

/// The history of the mailbox.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    clock: u64,
    pub(crate) principals: BTreeSet<By>,
    pub(crate) asks: BTreeMap<String, Known<Ask>>,
    pub(crate) updates: BTreeMap<String, Known<Update>>,
    /// Everything that was ever wanted of an ask or an update.
    wanted: BTreeMap<String, Vec<Act>>,
    /// What was taken of it.
    taken: BTreeMap<String, Vec<Act>>,
    /// Calls whose outcome is unknown.
    open: Vec<Call>,
    /// Conversations that were read since they were last listed as a whole.
    touched: BTreeSet<String>,
    pub(crate) counts: MailCounts,
}

impl Ledger {
    /// The moment at which something is asked for.
    pub(crate) fn moment(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// A call begins.
    pub(crate) fn begin(&mut self, call: &Call) -> u64 {
        let wanted = self.wanted.entry(call.about.clone()).or_default();
        if !wanted.contains(&call.act) {
            wanted.push(call.act.clone());
        }
        self.moment()
    }

    /// A call came to that.
    pub(crate) fn heard(&mut self, call: &Call, began: u64, heard: Heard, history: &History) {
        let before = self.open.len();
        self.open.retain(|open| open != call);
        self.counts.repeated += before - self.open.len();
        for (rule, what) in mail::heard(call, &heard, self) {
            history.violation(rule, format!("{call:?}: {what}"), None);
        }
        match heard {
            Heard::Lost => self.open.push(call.clone()),
            Heard::Resolved(ask) => {
                self.take(call);
                self.read(*ask, began, history);
            }
            Heard::Moved(ask) => {
                self.counts.moved += 1;
                self.read(*ask, began, history);
            }
            Heard::Refused(reason, ask) => {
                self.counts.conflicts += usize::from(reason == "conflicting_answer");
                if let Some(ask) = ask {
                    self.read(*ask, began, history);
                }
            }
            Heard::Updated(update) => self.read_update(*update, began, history),
        }
    }

    fn take(&mut self, call: &Call) {
        let taken = self.taken.entry(call.about.clone()).or_default();
        if taken.contains(&call.act) {
            return;
        }
        taken.push(call.act.clone());
        match call.act {
            Act::Answer(_) => self.counts.answers += 1,
            Act::Cancel => self.counts.cancels += 1,
            Act::Seen => self.counts.seen += 1,
            Act::Read | Act::Dismiss => {}
        }
    }

    /// One ask, asked for at `began`.
    pub(crate) fn read(&mut self, ask: Ask, began: u64, history: &History) {
        let now = self.moment();
        self.touched.insert(ask.conversation_id.clone());
        for (rule, what) in mail::read(&ask, began, self) {
            history.violation(rule, format!("{}: {what}", ask.request_id), None);
        }
        let older = self.asks.get(&ask.request_id).is_some_and(|known| mail::rank(&ask) < mail::rank(&known.now));
        if !older {
            self.asks.insert(ask.request_id.clone(), Known { now: ask, at: now });
        }
    }

    /// One update, asked for at `began`.
    pub(crate) fn read_update(&mut self, update: Update, began: u64, history: &History) {
        let now = self.moment();
        self.touched.insert(update.conversation_id.clone());
        for (rule, what) in mail::read_update(&update, began, self) {
            history.violation(rule, format!("{}: {what}", update.id), None);
        }
        let known = self.updates.get(&update.id);
        if known.is_none_or(|known| mail::update_rank(&update) >= mail::update_rank(&known.now)) {
            self.updates.insert(update.id.clone(), Known { now: update, at: now });
        }
    }

    /// What was ever wanted of that.
    pub(crate) fn wanted(&self, about: &str) -> &[Act] {
        self.wanted.get(about).map(Vec::as_slice).unwrap_or_default()
    }

    /// What was taken of that.
    pub(crate) fn taken(&self, about: &str) -> &[Act] {
        self.taken.get(about).map(Vec::as_slice).unwrap_or_default()
    }

    /// The calls whose outcome is unknown.
    pub(crate) fn unknown(&self) -> Vec<Call> {
        self.open.clone()
    }

    /// The conversations that were read since this was last asked.
    pub(crate) fn touched(&mut self) -> BTreeSet<String> {
        std::mem::take(&mut self.touched)
    }
}
