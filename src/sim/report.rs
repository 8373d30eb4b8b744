//! What many worlds came to.

use std::collections::BTreeSet;

use clankie_domain::admission::room::Answer;
use clankie_domain::ask::Resolution;
use serde::Serialize;

use super::history::{Ending, History, Mail, What};
use super::oracle::Violation;

/// The version of the report's shape.
pub const SCHEMA_VERSION: u32 = 1;

/// How much happened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Processes that began.
    pub lives: u64,
    /// Processes that were killed.
    pub kills: u64,
    /// Power cuts.
    pub cuts: u64,
    /// Processes that stopped in order.
    pub stops: u64,
    /// Processes that ended themselves.
    pub failures: u64,
    /// Calls of a disk that failed.
    pub disk_faults: u64,
    /// Clocks that broke, and clocks that jumped.
    pub clock_faults: u64,
    /// Changes of configuration and of credentials.
    pub revocations: u64,
    /// Tries to hand words in.
    pub deliveries: u64,
    /// Tries that were told busy.
    pub busy: u64,
    /// Records.
    pub records: u64,
    /// Sessions that began.
    pub sessions: u64,
    /// Messages in chats.
    pub posts: u64,
    /// Asks.
    pub asks: u64,
    /// Answers that were accepted.
    pub answers: u64,
    /// Updates.
    pub updates: u64,
    /// Facts that were judged.
    pub facts: u64,
}

/// A seed that broke something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Broken {
    /// Which.
    pub seed: u64,
    /// The invariant.
    pub invariant: String,
    /// What is wrong.
    pub what: String,
    /// The one command that shows it again.
    pub replay: String,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The version of this shape.
    pub schema_version: u32,
    /// Worlds that were played.
    pub seeds: u64,
    /// The first seed.
    pub first: u64,
    /// Worlds that were played twice.
    pub twice: u64,
    /// Seeds whose two histories differ.
    pub differing: Vec<u64>,
    /// What was broken, by seed.
    pub violations: Vec<Broken>,
    /// Seeds that could not be played, and why.
    pub unplayable: Vec<(u64, String)>,
    /// How much happened.
    pub tally: Tally,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Threads that played.
    pub threads: usize,
}

impl Report {
    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.violations.is_empty() && self.differing.is_empty() && self.unplayable.is_empty()
    }
}

impl Broken {
    pub(super) fn of(seed: u64, violation: &Violation) -> Self {
        let Violation { invariant, at, what } = violation;
        let what = format!("at {at}: {what}");
        Self { seed, invariant: (*invariant).to_owned(), what, replay: format!("clankie sim --seed {seed} --trace") }
    }
}

impl Tally {
    /// How much happened in one world.
    pub(super) fn of(history: &History) -> Self {
        let mut tally = Self { facts: history.facts().len() as u64, ..Self::default() };
        let (mut asks, mut answered, mut updates) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for fact in history.facts() {
            match &fact.what {
                What::Born(..) => tally.lives += 1,
                What::Over(Ending::Killed) => tally.kills += 1,
                What::Over(Ending::Cut) => tally.cuts += 1,
                What::Over(Ending::Stopped) => tally.stops += 1,
                What::Over(Ending::Failed) => tally.failures += 1,
                What::DiskFailed(_) => tally.disk_faults += 1,
                What::Jump(_) | What::Breaks => tally.clock_faults += 1,
                What::PolicyInForce(_) | What::Token(_, super::history::Standing::Ended) => tally.revocations += 1,
                What::Sent(..) => tally.deliveries += 1,
                What::Heard(_, Some(Answer::Busy(_))) => tally.busy += 1,
                What::Run(_, super::history::Doing::Began(_)) => tally.sessions += 1,
                What::Posted(_) => tally.posts += 1,
                What::Mail(Mail::Ask(view)) => {
                    asks.insert(view.entry.ask.request);
                    if let Resolution::Submitted { .. } = view.entry.resolution {
                        answered.insert(view.entry.ask.request);
                    }
                }
                What::Mail(Mail::Update(update)) => drop(updates.insert(update.id)),
                What::Last(last) => tally.records += last.records.len() as u64,
                What::Over(Ending::WorldOver)
                | What::Up
                | What::NotUp(_)
                | What::Cut
                | What::Calm
                | What::PolicyAsked(..)
                | What::Token(..)
                | What::Heard(..)
                | What::Halt(..)
                | What::Halted(..)
                | What::Event(..)
                | What::Seen(_)
                | What::Record(_)
                | What::Rest(..)
                | What::Run(..)
                | What::Mail(_) => {}
            }
        }
        (tally.asks, tally.answers, tally.updates) = (asks.len() as u64, answered.len() as u64, updates.len() as u64);
        tally
    }

    /// Both together.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            lives: self.lives + other.lives,
            kills: self.kills + other.kills,
            cuts: self.cuts + other.cuts,
            stops: self.stops + other.stops,
            failures: self.failures + other.failures,
            disk_faults: self.disk_faults + other.disk_faults,
            clock_faults: self.clock_faults + other.clock_faults,
            revocations: self.revocations + other.revocations,
            deliveries: self.deliveries + other.deliveries,
            busy: self.busy + other.busy,
            records: self.records + other.records,
            sessions: self.sessions + other.sessions,
            posts: self.posts + other.posts,
            asks: self.asks + other.asks,
            answers: self.answers + other.answers,
            updates: self.updates + other.updates,
            facts: self.facts + other.facts,
        }
    }
}
