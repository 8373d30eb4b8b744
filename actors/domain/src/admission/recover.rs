//! Boot: the same machines, told that everything that ran is over.
//!
//! One transaction, repeatable: a second boot over its outcome changes nothing more. Saved results
//! are never overwritten, running work is never replayed, pending work keeps its place.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::global::PlaceClass;
use super::room::{Room, returned};
use super::{Change, STALE_AFTER_MS};
use crate::claim::{Claim, ClaimStep};
use crate::grant::Authority;
use crate::handoff::{Class, HandoffRecord, IllegalMove, State, Step, Usage};
use crate::ids::{ActorId, HandoffId, PermitId, RequestId, RoomId, Ticket};
use crate::mailbox::MailChange;
use crate::mutant::{self, Mutant};
use crate::result::{FailCode, TurnResult};
use crate::time::Timestamp;

/// What a boot found alive.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// Every live record.
    pub records: Vec<HandoffRecord>,
    /// Every permit row.
    pub permits: Vec<PermitId>,
    /// The claim of every live continuation.
    pub claims: BTreeMap<RequestId, Claim>,
}

/// A place that a pending record takes back.
pub type Place = (RoomId, Ticket, ActorId, PlaceClass, Timestamp);

/// What a boot makes of it.
#[derive(Debug, Clone)]
pub struct Recovery {
    /// One transaction.
    pub changes: Vec<Change>,
    /// The rooms in which something lives.
    pub rooms: BTreeMap<RoomId, Room>,
    /// The places that are taken back, in order.
    pub places: Vec<Place>,
}

struct Boot<'a> {
    authority: &'a Authority,
    now: Timestamp,
    live: BTreeMap<HandoffId, HandoffRecord>,
    changes: Vec<Change>,
    claims: BTreeMap<RequestId, Claim>,
}

/// Decides a boot. `tickets` gives fresh ones.
pub fn recover(
    found: Found,
    authority: &Authority,
    now: Timestamp,
    tickets: &mut dyn Iterator<Item = Ticket>,
) -> Result<Recovery, IllegalMove> {
    let live = found.records.into_iter().map(|record| (record.id, record)).collect();
    let mut boot = Boot { authority, now, live, changes: Vec::new(), claims: found.claims };
    boot.changes.extend(found.permits.into_iter().map(|permit| Change::PermitGone { permit }));
    boot.end_running()?;
    boot.end_pending()?;
    boot.settle_joiners()?;
    // What has just become owed is resolved again as well, or a second boot would end it.
    boot.end_pending()?;
    Ok(boot.into_recovery(tickets))
}

impl Boot<'_> {
    /// What ran is interrupted, and with it every joiner: whether it was read is unknown.
    fn end_running(&mut self) -> Result<(), IllegalMove> {
        let running = self.ids(|record| matches!(record.state, State::Running(_)));
        for target in running {
            for joiner in self.joiners_of(target) {
                self.end(joiner, FailCode::Interrupted)?;
            }
            // Whether the session had taken the answer when the process ended is unknown.
            if !mutant::on(Mutant::M1CrossedIsReturned) {
                self.move_claim(target, ClaimStep::Lose);
            }
            self.end(target, FailCode::Interrupted)?;
        }
        Ok(())
    }

    fn end_pending(&mut self) -> Result<(), IllegalMove> {
        for id in self.ids(|record| record.state == State::Pending) {
            let record = &self.live[&id];
            let code = match self.authority.resolve_again(&record.claim(), &record.grant) {
                _ if !self.answerer_stands(record) => Some(FailCode::OwnerRevoked),
                Err(why) => Some(why.into()),
                Ok(_) if self.ages(record) && self.is_stale(record) => Some(FailCode::Stale),
                Ok(_) => None,
            };
            let Some(code) = code else { continue };
            if code == FailCode::Stale {
                for joiner in self.joiners_of(id) {
                    if self.is_stale(&self.live[&joiner]) {
                        self.end(joiner, FailCode::Stale)?;
                    }
                }
            }
            self.end(id, code)?;
        }
        Ok(())
    }

    /// A joiner whose target is not pending any more is owed: none can be stuck.
    fn settle_joiners(&mut self) -> Result<(), IllegalMove> {
        let forgotten = mutant::on(Mutant::I9BootForgetsJoiners);
        for id in self.ids(|record| matches!(record.state, State::Joined { .. }) && !forgotten) {
            let record = &self.live[&id];
            let State::Joined { target } = record.state else { continue };
            if self.live.get(&target).is_some_and(|target| target.state == State::Pending) {
                continue;
            }
            let owed = record.advance(Step::Owe, self.now)?;
            self.changes.push(Change::Record(Arc::new(owed.clone())));
            self.live.insert(id, owed);
        }
        Ok(())
    }

    fn end(&mut self, id: HandoffId, code: FailCode) -> Result<(), IllegalMove> {
        let Some(record) = self.live.remove(&id) else { return Ok(()) };
        let result = TurnResult::failed(code);
        if let Some(claim) = record.delivery.answered().and_then(|request| self.claims.get(&request)) {
            self.put_claim(claim.advance(ClaimStep::Return(returned(&result)), self.now).ok());
        }
        let message = super::room::heard(&record, &result, self.now);
        let room_delivery = super::room::delivery_of(&record, message.as_ref());
        let ended = record.advance(Step::End { result, usage: Usage::default(), room_delivery }, self.now)?;
        self.changes.push(Change::Receipt(ended.receipt()));
        self.changes.extend(message.map(Change::Message));
        self.changes.push(Change::Record(Arc::new(ended.clone())));
        if ended.room_delivery.is_open() {
            self.live.insert(id, ended);
        }
        Ok(())
    }

    fn move_claim(&mut self, of: HandoffId, step: ClaimStep) {
        let request = self.live.get(&of).and_then(|record| record.delivery.answered());
        if let Some(claim) = request.and_then(|request| self.claims.get(&request)) {
            self.put_claim(claim.advance(step, self.now).ok());
        }
    }

    /// Keeps a claim that has moved; one that may not move stays where it is.
    fn put_claim(&mut self, moved: Option<Claim>) {
        if let Some(claim) = moved {
            self.changes.push(Change::Mail(MailChange::Claim(claim.clone())));
            self.claims.insert(claim.request, claim);
        }
    }

    fn answerer_stands(&self, record: &HandoffRecord) -> bool {
        let claim = record.delivery.answered().and_then(|request| self.claims.get(&request));
        claim.is_none_or(|claim| self.authority.may_answer(claim.answerer, self.now))
    }

    fn ages(&self, record: &HandoffRecord) -> bool {
        record.class == Class::Fresh || mutant::on(Mutant::I9OwedGetsStale)
    }

    fn is_stale(&self, record: &HandoffRecord) -> bool {
        self.now.since(record.created_at) > STALE_AFTER_MS
    }

    fn ids(&self, keep: impl Fn(&HandoffRecord) -> bool) -> Vec<HandoffId> {
        self.live.values().filter(|record| keep(record)).map(|record| record.id).collect()
    }

    fn joiners_of(&self, target: HandoffId) -> Vec<HandoffId> {
        self.ids(|record| record.state == State::Joined { target })
    }

    fn into_recovery(self, tickets: &mut dyn Iterator<Item = Ticket>) -> Recovery {
        let mut by_room: BTreeMap<RoomId, Vec<(HandoffRecord, Ticket)>> = BTreeMap::new();
        let mut in_order: Vec<HandoffRecord> = self.live.into_values().collect();
        in_order.sort_by_key(|record| (record.created_at, record.arrival));
        let mut places = Vec::new();
        for (record, ticket) in in_order.into_iter().zip(tickets) {
            if record.state == State::Pending {
                let class = match record.class {
                    Class::Fresh => PlaceClass::Waiting,
                    Class::Owed(_) => PlaceClass::Owed,
                };
                places.push((record.room.clone(), ticket, record.actor.clone(), class, record.created_at));
            }
            by_room.entry(record.room.clone()).or_default().push((record, ticket));
        }
        let rooms =
            by_room.into_iter().map(|(id, live)| (id.clone(), Room::recovered(id, live, &self.claims))).collect();
        Recovery { changes: self.changes, rooms, places }
    }
}
