//! I3, I4, I8 and I9 over every session: what it was given, what it read, and under which grant.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use clankie_domain::handoff::{Class, HandoffRecord};
use clankie_domain::ids::{DeliveryId, HandoffId, RunId};
use clankie_domain::result::{FailCode, TurnResult};
use clankie_domain::steering::Mark;

use super::Found;
use super::authority::Authority;
use super::records::is_within;
use crate::sim::history::{Doing, Fact, Given, What};

/// The tools whose success is an effect.
const EFFECTS: [&str; 5] = ["send_text_update", "react", "request_user_input", "mail_owner_update", "ship"];

struct Runs {
    authority: Authority,
    given: BTreeMap<RunId, Arc<Given>>,
    records: BTreeMap<HandoffId, Arc<HandoffRecord>>,
    /// Whose words were put to an agent: by a session of their own, or read by another.
    told: BTreeSet<HandoffId>,
    keys: BTreeSet<(String, DeliveryId)>,
    calls: BTreeMap<(RunId, String), (u64, String)>,
}

pub(super) fn judge(facts: &[Fact], found: &mut Found) {
    let mut runs = Runs {
        authority: Authority::of(facts),
        given: BTreeMap::new(),
        records: BTreeMap::new(),
        told: BTreeSet::new(),
        keys: BTreeSet::new(),
        calls: BTreeMap::new(),
    };
    for Fact { at, what } in facts {
        if let What::Record(record) = what {
            runs.ends(record, *at, found);
            runs.records.insert(record.id, Arc::clone(record));
        }
        if let What::Run(run, doing) = what {
            runs.does(*run, doing, *at, found);
        }
    }
}

impl Runs {
    fn does(&mut self, run: RunId, doing: &Doing, at: u64, found: &mut Found) {
        match doing {
            Doing::Began(given) => self.began(given, at, found),
            Doing::Marked(joiner, Mark::Read) => self.reads(run, *joiner, at, found),
            Doing::Called { call, name, .. } => {
                self.calls.insert((run, call.clone()), (at, name.clone()));
            }
            Doing::Returned { call, reply: Ok(_) } => self.had_effect(run, call, at, found),
            Doing::Returned { reply: Err(_), .. }
            | Doing::Marked(_, Mark::Queued | Mark::Taken | Mark::Unread)
            | Doing::Took
            | Doing::Shipped(_)
            | Doing::Settled(_)
            | Doing::Gone => {}
        }
    }

    /// Words count as absorbed only once an agent has read them, and promised work does not get stale.
    fn ends(&self, record: &HandoffRecord, at: u64, found: &mut Found) {
        if self.records.get(&record.id).is_some_and(|before| before.result().is_some()) {
            return;
        }
        match record.result() {
            Some(TurnResult::Absorbed { .. }) if !self.told.contains(&record.id) => {
                found.broken("I9", at, format!("handoff {} is absorbed, and no agent read it", record.id));
            }
            Some(TurnResult::Failed { code: FailCode::Stale, .. }) if matches!(record.class, Class::Owed(_)) => {
                found.broken("I9", at, format!("handoff {} was promised, and got stale", record.id));
            }
            Some(_) | None => {}
        }
    }

    fn began(&mut self, given: &Arc<Given>, at: u64, found: &mut Found) {
        let shown = format!("{} {}", given.room, given.delivery);
        if !self.keys.insert((given.room.to_string(), given.delivery.clone())) {
            found.broken("I3", at, format!("{shown} was executed twice"));
        }
        if !self.told.insert(given.handoff) {
            found.broken("I9", at, format!("{shown} was read by another run, and is run as well"));
        }
        let Some(record) = self.records.get(&given.handoff) else {
            found.broken("I2", at, format!("{shown} runs without a durable record"));
            return;
        };
        let bound = record.run == given.run
            && record.room == given.room
            && record.delivery == given.delivery
            && record.actor == given.actor
            && record.grant == given.grant;
        // What a continuation is given is framed; the law on answers looks at that.
        let says = given.answered.is_some() || record.request == given.request;
        if !bound || !says {
            found.broken("I8", at, format!("{shown} runs as something other than its record"));
        }
        if !self.authority.may_have(&given.grant, (&given.actor, &given.room), (at, at)) {
            found.broken("I4", at, format!("{shown} runs under {:?}, which nobody gave it", given.grant.plan));
        }
        self.given.insert(given.run, Arc::clone(given));
    }

    fn reads(&mut self, run: RunId, joiner: HandoffId, at: u64, found: &mut Found) {
        if !self.told.insert(joiner) {
            found.broken("I9", at, format!("the words of handoff {joiner} were put to an agent twice"));
        }
        let (Some(given), Some(record)) = (self.given.get(&run), self.records.get(&joiner)) else {
            found.broken("I2", at, format!("handoff {joiner} was read without a durable record"));
            return;
        };
        // A target that was narrowed before its start reads under less; never under more.
        let shares = record.room == given.room
            && record.actor == given.actor
            && record.transport == given.grant.transport
            && is_within(&given.grant, &record.grant);
        if !shares {
            found.broken("I4", at, format!("handoff {joiner} was read under more than its own grant"));
        }
    }

    /// An effect needs a grant that may have held while it happened.
    fn had_effect(&self, run: RunId, call: &str, at: u64, found: &mut Found) {
        let (Some(given), Some((begun, name))) = (self.given.get(&run), self.calls.get(&(run, call.to_owned()))) else {
            return;
        };
        let speaker = (&given.actor, &given.room);
        if EFFECTS.contains(&name.as_str()) && !self.authority.may_have(&given.grant, speaker, (*begun, at)) {
            found.broken("I4", at, format!("run {run} had {name} after its grant had gone"));
        }
        if name == "rm" {
            found.broken("I8", at, format!("run {run} called a tool that it was not given"));
        }
    }
}
