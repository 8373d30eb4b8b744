//! What must hold of the mailbox once nothing lives: whole lists of some conversations, the records
//! of what answers woke, and the model's log, together.

use std::collections::{BTreeMap, BTreeSet};

use super::tracker::Tracker;
use crate::api::Record;
use crate::history::History;
use crate::mail::ledger::Ledger;
use crate::mail::owners::CANARY;
use crate::mail::shapes::{Act, Ask, Update};
use crate::model::{Run, Woken};
use crate::words;

/// Settled asks, and dismissed updates, that a conversation keeps in any case.
const SETTLED_KEPT: usize = 32;

/// Everything that is judged together.
#[derive(Debug)]
pub(crate) struct Mailbox<'a> {
    pub(crate) history: &'a History,
    pub(crate) tracker: &'a Tracker,
    pub(crate) ledger: &'a Ledger,
    pub(crate) runs: &'a [Run],
    /// How often the model was woken with the answer to each ask, and with what words.
    woken: BTreeMap<usize, Vec<&'a str>>,
}

/// The whole lists of some conversations.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lists {
    pub(crate) conversations: BTreeSet<String>,
    pub(crate) asks: Vec<Ask>,
    pub(crate) updates: Vec<Update>,
}

/// How many answers came to what.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MailEnds {
    pub(crate) asks: usize,
    pub(crate) pending: usize,
    pub(crate) cancelled: usize,
    pub(crate) delivered: usize,
    pub(crate) uncertain: usize,
    pub(crate) returned: usize,
    pub(crate) updates: usize,
    pub(crate) secrets: usize,
}

impl<'a> Mailbox<'a> {
    /// Puts what is known together.
    pub(crate) fn new(
        (history, tracker, ledger): (&'a History, &'a Tracker, &'a Ledger),
        (runs, woken): (&'a [Run], &'a [Woken]),
    ) -> Self {
        let mut by_ask: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
        for one in woken {
            by_ask.entry(one.ask).or_default().push(&one.told);
        }
        Self { history, tracker, ledger, runs, woken: by_ask }
    }

    /// Judges everything that was ever read; what is in `lists` as it stands now.
    pub(crate) fn judge(&self, lists: &Lists) -> MailEnds {
        let mut ends = MailEnds { updates: self.ledger.updates.len(), ..MailEnds::default() };
        for ask in self.ledger.asks.values().map(|known| &known.now) {
            ends.asks += 1;
            match ask.claim() {
                "delivered" => ends.delivered += 1,
                "uncertain" => ends.uncertain += 1,
                "returned" => ends.returned += 1,
                _ => {}
            }
            ends.pending += usize::from(ask.is_pending());
            ends.cancelled += usize::from(ask.status == "cancelled");
        }
        ends.secrets = self.woken.values().flatten().filter(|told| told.starts_with(CANARY)).count();
        for ask in &lists.asks {
            self.ask(ask);
        }
        self.complete(lists);
        self.updates_complete(lists);
        self.published();
        self.woken();
        ends
    }

    fn ask(&self, ask: &Ask) {
        let told = words::ask_of(&ask.prompt).and_then(|number| self.woken.get(&number));
        let told = told.map(Vec::as_slice).unwrap_or_default();
        let wrong = match (ask.status.as_str(), ask.claim()) {
            ("pending", _) if !told.is_empty() => Some(("M6 nobody is woken without an answer", "pending")),
            ("cancelled", _) if !told.is_empty() => Some(("M5 a cancelled ask wakes nobody", "cancelled")),
            ("pending" | "cancelled", _) => None,
            (_, "delivered") if told.len() != 1 => Some(("M1 delivered exactly once", "delivered")),
            (_, "uncertain") if told.len() > 1 => Some(("M1 delivered exactly once", "uncertain")),
            (_, "returned") if !told.is_empty() && !self.was_stopped(ask) => {
                Some(("M1 returned reached nobody", "returned"))
            }
            (_, "delivered" | "uncertain" | "returned") => None,
            (_, state) => Some(("M1 no answer is left on its way", state)),
        };
        if let Some((rule, state)) = wrong {
            self.wrong(rule, format!("{} is {state} and the model was told {told:?}", ask.request_id));
        }
        for words in told.iter().filter(|words| !self.is_answer(ask, words)) {
            self.wrong("M1 the answer itself", format!("{} woke with {words:?}", ask.request_id));
        }
        self.continuation(ask);
    }

    /// Whether somebody asked to stop what this answer woke, so that it may have been on its way.
    fn was_stopped(&self, ask: &Ask) -> bool {
        let handoff = ask.continuation.as_ref().and_then(|claim| claim.handoff_id.as_deref());
        handoff.is_some_and(|handoff| self.history.was_cancelled(None, handoff))
    }

    fn is_answer(&self, ask: &Ask, words: &str) -> bool {
        let answers = self.ledger.wanted(&ask.request_id).iter();
        answers.filter(|act| ask.stands_as(act)).any(|act| match act {
            Act::Answer(answer) => ask.told(answer) == words,
            Act::Cancel | Act::Seen | Act::Read | Act::Dismiss => false,
        })
    }

    /// The record that an answer woke goes with its claim.
    fn continuation(&self, ask: &Ask) {
        let Some(claim) = &ask.continuation else { return };
        let Some(handoff) = &claim.handoff_id else {
            return self.wrong("M1 one continuation", format!("{} woke nothing: {claim:?}", ask.request_id));
        };
        let Some(record) = self.tracker.get(handoff) else {
            return self.wrong("M1 one continuation", format!("{} woke {handoff}, which is unknown", ask.request_id));
        };
        let origin = self.tracker.get(&ask.origin.handoff_id);
        let whose = |record: &Record| (record.actor.clone(), record.room.clone(), record.quoted().to_owned());
        if record.wakes() != Some(&ask.request_id) || origin.map(whose) != Some(whose(record)) {
            self.wrong("M1 one continuation", format!("{record:?} does not continue {:?}", ask.origin));
        }
        let fits = match (record.state.as_str(), record.code()) {
            ("completed", _) => claim.state == "delivered",
            ("failed", Some("interrupted")) => record.started_at.is_some() && claim.state != "returned",
            ("cancelled", _) => self.was_stopped(ask),
            _ => false,
        };
        if !fits {
            let what = format!("{} is {} and {} ended as {:?}", ask.request_id, claim.state, record.id, record.result);
            self.wrong("M1 the claim moves with its record", what);
        }
    }

    /// Nothing that is expected of the owner or of a source is ever forgotten.
    fn complete(&self, lists: &Lists) {
        let listed: BTreeSet<&str> = lists.asks.iter().map(|ask| ask.request_id.as_str()).collect();
        for ask in self.ledger.asks.values().map(|known| &known.now) {
            if !lists.conversations.contains(&ask.conversation_id) || listed.contains(ask.request_id.as_str()) {
                continue;
            }
            let same = lists.asks.iter().filter(|other| other.conversation_id == ask.conversation_id);
            let kept = same.filter(|other| other.is_settled()).count();
            if !ask.is_settled() || kept < SETTLED_KEPT {
                let what = format!("{} was {} {:?} and is gone", ask.request_id, ask.status, ask.claim());
                self.wrong("M3 nothing unsettled is forgotten", what);
            }
        }
    }

    fn updates_complete(&self, lists: &Lists) {
        let listed: BTreeSet<&str> = lists.updates.iter().map(|update| update.id.as_str()).collect();
        let known = self.ledger.updates.values().map(|known| &known.now);
        for update in known.filter(|update| lists.conversations.contains(&update.conversation_id)) {
            if update.state != "dismissed" && !listed.contains(update.id.as_str()) {
                self.wrong("M3 nothing unsettled is forgotten", format!("update {} is gone", update.id));
            }
        }
    }

    /// What a run was told that it published is there, once, and came from that run.
    fn published(&self) {
        let asks = self.ledger.asks.values().map(|known| &known.now);
        let mut by_run: BTreeMap<usize, &str> = BTreeMap::new();
        for ask in asks {
            let Some(run) = words::ask_of(&ask.prompt) else { continue };
            if let Some(twin) = by_run.insert(run, &ask.request_id) {
                self.wrong("one publication", format!("run {run} has {twin} and {}", ask.request_id));
            }
            let opening = self.runs.get(run).and_then(|run| run.opening.first());
            let origin = self.tracker.get(&ask.origin.handoff_id);
            if origin.and_then(|record| words::texts(&record.request).into_iter().next()).as_ref() != opening {
                self.wrong("an ask names its source", format!("{:?} is not run {run} of {opening:?}", ask.origin));
            }
        }
        let mut updates: BTreeMap<&str, &str> = BTreeMap::new();
        for update in self.ledger.updates.values().map(|known| &known.now) {
            if let Some(twin) = updates.insert(&update.title, &update.id) {
                self.wrong("one publication", format!("{} is {twin} and {}", update.title, update.id));
            }
        }
        for (number, run) in self.runs.iter().enumerate() {
            let Some(id) = &run.published else { continue };
            if !self.ledger.asks.contains_key(id) && !self.ledger.updates.contains_key(id) {
                self.wrong("M3 what was published is kept", format!("run {number} published {id}, which is nowhere"));
            }
        }
    }

    /// Whoever was woken was woken by an answer of an owner.
    fn woken(&self) {
        let asks = self.ledger.asks.values().map(|known| &known.now);
        let by_run: BTreeMap<usize, &Ask> = asks.filter_map(|ask| Some((words::ask_of(&ask.prompt)?, ask))).collect();
        for (number, told) in &self.woken {
            let answered = by_run.get(number).is_some_and(|ask| ask.status == "submitted");
            if !answered {
                let what = format!("ask-{number} was told {told:?} and is {:?}", by_run.get(number));
                self.wrong("M6 nobody is woken without an answer", what);
            }
        }
    }

    fn wrong(&self, rule: &'static str, what: String) {
        self.history.violation(rule, what, None);
    }
}
