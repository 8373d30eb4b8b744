//! Judges a history: the invariants, written down once more and from the pages alone.
//!
//! Nothing here calls a machine of the domain or reads a store. What was sent, answered, read, taken,
//! posted and stored are facts; each law says which facts cannot stand beside each other.

use super::history::{Fact, History, What};

mod asks;
mod authority;
mod calls;
mod chat;
mod gates;
mod keys;
mod mail;
#[cfg(test)]
mod proof;
mod records;
mod rest;
mod runs;
mod secrets;
mod settled;
mod turns;

/// A broken invariant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which.
    pub invariant: &'static str,
    /// How old the world was.
    pub at: u64,
    /// What is wrong.
    pub what: String,
}

/// Every invariant that the oracle can find broken.
pub const INVARIANTS: [&str; 16] =
    ["I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9", "M1", "M2", "M3", "M4", "M5", "M6", "M7"];

/// What the laws found.
#[derive(Debug, Default)]
struct Found(Vec<Violation>);

impl Found {
    fn broken(&mut self, invariant: &'static str, at: u64, what: impl Into<String>) {
        self.0.push(Violation { invariant, at, what: what.into() });
    }
}

/// Every law over every fact.
pub fn judge(history: &History) -> Vec<Violation> {
    let facts = history.facts();
    let mut found = Found::default();
    durable(facts, &mut found);
    for law in [
        records::judge as fn(&[Fact], &mut Found),
        turns::judge,
        keys::judge,
        runs::judge,
        rest::judge,
        gates::judge,
        chat::judge,
        asks::judge,
        mail::judge,
        calls::judge,
        secrets::judge,
        settled::judge,
    ] {
        law(facts, &mut found);
    }
    found.0
}

/// What was durable once stays so, whole and in order; and the store always opens.
fn durable(facts: &[Fact], found: &mut Found) {
    let mut last = 0;
    for fact in facts {
        match &fact.what {
            What::Event(seq, _) if *seq != last + 1 => {
                found.broken("I2", fact.at, format!("event {seq} came after {last}"));
                last = *seq;
            }
            What::Event(seq, _) => last = *seq,
            What::NotUp(why) => found.broken("I2", fact.at, why.clone()),
            What::Born(..)
            | What::Up
            | What::Cut
            | What::DiskFailed(_)
            | What::Over(_)
            | What::Calm
            | What::Jump(_)
            | What::Breaks
            | What::PolicyAsked(..)
            | What::PolicyInForce(_)
            | What::Token(..)
            | What::Sent(..)
            | What::Heard(..)
            | What::Halt(..)
            | What::Halted(..)
            | What::Seen(_)
            | What::Record(_)
            | What::Rest(..)
            | What::Run(..)
            | What::Posted(_)
            | What::Mail(_)
            | What::Last(_) => {}
        }
    }
}
