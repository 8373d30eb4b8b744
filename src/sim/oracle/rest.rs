//! I5 in moments in which nothing happens: a session has one permit, a permit one session, and no
//! permit is free while work waits that could have it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use clankie_actors::store::HeldPermit;
use clankie_domain::admission::Limits;
use clankie_domain::handoff::{HandoffRecord, StateName};
use clankie_domain::ids::{RoomId, RunId};

use super::Found;
use super::turns::REBUILT_AFTER_MS;
use crate::sim::history::{Doing, Fact, What};

#[derive(Default)]
struct AtRest {
    limits: Limits,
    sessions: BTreeMap<RunId, RoomId>,
    /// Until then admission may be on its way back.
    unrest_until: u64,
    now: u64,
}

pub(super) fn judge(facts: &[Fact], found: &mut Found) {
    let mut rest = AtRest::default();
    for Fact { at, what } in facts {
        // What comes and goes in one moment does so in no order.
        if *at > rest.now {
            rest.within(rest.now, found);
            rest.now = *at;
        }
        if let What::Born(_, limits) = what {
            (rest.limits, rest.unrest_until) = (*limits, 0);
            rest.sessions.clear();
        }
        if let What::Breaks = what {
            rest.unrest_until = at + REBUILT_AFTER_MS;
        }
        if let What::Run(run, Doing::Began(given)) = what {
            rest.sessions.insert(*run, given.room.clone());
        }
        if let What::Run(run, Doing::Gone) = what {
            rest.sessions.remove(run);
        }
        if let What::Rest(permits, live) = what
            && *at > rest.unrest_until
        {
            rest.permits(permits, *at, found);
            rest.works(permits, live, *at, found);
        }
    }
}

impl AtRest {
    /// Sessions themselves, whatever the records say.
    fn within(&self, at: u64, found: &mut Found) {
        let mut rooms: BTreeMap<&RoomId, usize> = BTreeMap::new();
        self.sessions.values().for_each(|room| *rooms.entry(room).or_default() += 1);
        let crowded = rooms.values().any(|many| *many > self.limits.running_per_room);
        if self.sessions.len() > self.limits.running || crowded {
            found.broken("I5", at, format!("{} sessions are there at once", self.sessions.len()));
        }
    }

    fn permits(&self, permits: &[HeldPermit], at: u64, found: &mut Found) {
        let runs: BTreeSet<RunId> = permits.iter().map(|held| held.run).collect();
        if runs.len() != permits.len() {
            found.broken("I5", at, "a run holds two permits");
        }
        let sessions: BTreeSet<RunId> = self.sessions.keys().copied().collect();
        if let Some(run) = sessions.difference(&runs).next() {
            found.broken("I5", at, format!("the session of run {run} has no permit"));
        }
        if let Some(run) = runs.difference(&sessions).next() {
            found.broken("I5", at, format!("the permit of run {run} has no session"));
        }
    }

    fn works(&self, permits: &[HeldPermit], live: &[Arc<HandoffRecord>], at: u64, found: &mut Found) {
        if permits.len() >= self.limits.running {
            return;
        }
        let held = |room: &RoomId| permits.iter().filter(|held| held.room == *room).count();
        let able = |record: &&Arc<HandoffRecord>| {
            record.state_name() == StateName::Pending && held(&record.room) < self.limits.running_per_room
        };
        if let Some(record) = live.iter().find(able) {
            found.broken("I5", at, format!("handoff {} waits while a permit is free", record.id));
        }
    }
}
