//! I6: first come first served in a room; rooms take turns.
//!
//! A room counts as able to start only while it has work that waits and nothing of it runs or is
//! still there, so that no permit of its own can be in the way. Moments decide, not the order of
//! commits: permits that are given out in one moment may be used in any order.

use std::collections::{BTreeMap, BTreeSet};

use clankie_domain::event::Event;
use clankie_domain::handoff::StateName;
use clankie_domain::ids::{Arrival, HandoffId, RoomId, RunId};

use super::Found;
use crate::sim::history::{Doing, Fact, What};

/// How long admission may take to be rebuilt after one of its parts died.
pub(super) const REBUILT_AFTER_MS: u64 = 20_000;

#[derive(Default)]
struct Turns {
    arrivals: BTreeMap<HandoffId, Arrival>,
    states: BTreeMap<HandoffId, (RoomId, StateName)>,
    sessions: BTreeMap<RunId, RoomId>,
    /// Since when a room could have started something.
    able_since: BTreeMap<RoomId, u64>,
    started_at: BTreeMap<RoomId, u64>,
    /// Rooms that had their second turn in this moment, and who was passed over, unless it starts too.
    passed: BTreeSet<(RoomId, RoomId)>,
    now: u64,
    quiet_from: u64,
}

pub(super) fn judge(facts: &[Fact], found: &mut Found) {
    let mut turns = Turns { arrivals: arrivals(facts), ..Turns::default() };
    for Fact { at, what } in facts {
        if *at > turns.now {
            turns.moment_over(found);
            turns.now = *at;
        }
        if let What::Event(_, Event::Handoff { id, room, state, .. }) = what {
            turns.moved(*id, room, *state, found);
        }
        if let What::Run(run, Doing::Began(given)) = what {
            turns.sessions.insert(*run, given.room.clone());
            turns.look(&given.room);
        }
        if let What::Run(run, Doing::Gone) = what
            && let Some(room) = turns.sessions.remove(run)
        {
            turns.look(&room);
        }
        if let What::Born(..) | What::Up | What::Breaks | What::Over(_) = what {
            turns.anew(what);
        }
    }
    turns.moment_over(found);
}

fn arrivals(facts: &[Fact]) -> BTreeMap<HandoffId, Arrival> {
    let mut arrivals = BTreeMap::new();
    for fact in facts {
        if let What::Record(record) = &fact.what {
            arrivals.entry(record.id).or_insert(record.arrival);
        }
    }
    arrivals
}

impl Turns {
    /// Turns begin anew with a process, and when admission is rebuilt.
    fn anew(&mut self, what: &What) {
        self.started_at.clear();
        self.passed.clear();
        self.able_since.clear();
        if let What::Breaks = what {
            self.quiet_from = self.now + REBUILT_AFTER_MS;
        } else {
            self.sessions.clear();
        }
        let rooms: BTreeSet<RoomId> = self.states.values().map(|(room, _)| room.clone()).collect();
        rooms.iter().for_each(|room| self.look(room));
    }

    fn moved(&mut self, id: HandoffId, room: &RoomId, state: StateName, found: &mut Found) {
        let before = self.states.insert(id, (room.clone(), state));
        let starts = state == StateName::Running && before.is_some_and(|(_, before)| before == StateName::Pending);
        if starts {
            self.in_order(id, room, found);
            self.takes_turn(room);
        }
        self.look(room);
    }

    fn in_order(&self, id: HandoffId, room: &RoomId, found: &mut Found) {
        let mine = self.arrivals.get(&id);
        let older = self.states.iter().find(|(other, (there, state))| {
            there == room && *state == StateName::Pending && self.arrivals.get(other) < mine
        });
        if let Some((other, _)) = older {
            found.broken("I6", self.now, format!("handoff {id} started before {other}, which came first"));
        }
    }

    fn takes_turn(&mut self, room: &RoomId) {
        let now = self.now;
        self.passed.retain(|(_, over)| over != room);
        let Some(before) = self.started_at.insert(room.clone(), now).filter(|before| *before < now) else { return };
        if before < self.quiet_from {
            return;
        }
        let waits = self.able_since.iter().filter(|(other, since)| *other != room && **since < before);
        let over: Vec<_> = waits.map(|(other, _)| (room.clone(), other.clone())).collect();
        self.passed.extend(over);
    }

    /// Whether the room could start something if it had a permit.
    fn look(&mut self, room: &RoomId) {
        let here = || self.states.values().filter(|(there, _)| there == room);
        let waits = here().any(|(_, state)| *state == StateName::Pending);
        let runs = here().any(|(_, state)| *state == StateName::Running);
        let is_there = self.sessions.values().any(|there| there == room);
        if waits && !runs && !is_there {
            self.able_since.entry(room.clone()).or_insert(self.now);
        } else {
            self.able_since.remove(room);
        }
    }

    fn moment_over(&mut self, found: &mut Found) {
        for (room, over) in std::mem::take(&mut self.passed) {
            found.broken("I6", self.now, format!("{room} had two turns while {over} waited"));
        }
    }
}
