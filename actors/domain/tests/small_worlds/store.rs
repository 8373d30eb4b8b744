//! What is durable in a world, built from the changes of decisions and from nothing else, and
//! the judgement of each change: I1, I2, I3, I4, I7, I8 and the half of I9 that records show.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use clankie_domain::admission::Change;
use clankie_domain::handoff::{Class, HandoffRecord, Owed, State};
use clankie_domain::ids::{DeliveryId, HandoffId, PermitId, RoomId, RunId};
use clankie_domain::receipt::Receipt;
use clankie_domain::request::Source;
use clankie_domain::result::TurnResult;
use clankie_domain::steering::JOINERS_MAX;

use crate::digest::Part;
use crate::script::{Script, actor, minted_for, room_id};

/// Whose permit a row is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Row {
    pub(crate) room: RoomId,
    pub(crate) handoff: HandoffId,
    pub(crate) run: RunId,
}

/// The durable map.
#[derive(Debug, Clone, Default)]
pub(crate) struct Store {
    pub(crate) records: BTreeMap<HandoffId, Part<HandoffRecord>>,
    pub(crate) receipts: BTreeMap<(RoomId, DeliveryId), Receipt>,
    pub(crate) rows: BTreeMap<PermitId, Row>,
    /// A function of the records, and so no part of the digest.
    said: BTreeSet<(RoomId, String)>,
}

impl Hash for Store {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.records.hash(state);
        self.receipts.hash(state);
        self.rows.hash(state);
    }
}

/// The states by name, apart from what the code under test calls them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stands {
    Pending,
    Running,
    Joined,
    Completed,
    Absorbed,
    Waiting,
    Failed,
    Cancelled,
}

pub(crate) fn stands(record: &HandoffRecord) -> Stands {
    match &record.state {
        State::Pending => Stands::Pending,
        State::Running(_) => Stands::Running,
        State::Joined { .. } => Stands::Joined,
        State::Ended(TurnResult::Settled { .. } | TurnResult::Silent) => Stands::Completed,
        State::Ended(TurnResult::Absorbed { .. }) => Stands::Absorbed,
        State::Ended(TurnResult::WaitingUser { .. }) => Stands::Waiting,
        State::Ended(TurnResult::Failed { .. }) => Stands::Failed,
        State::Ended(TurnResult::Cancelled { .. }) => Stands::Cancelled,
    }
}

pub(crate) fn is_live(record: &HandoffRecord) -> bool {
    matches!(stands(record), Stands::Pending | Stands::Running | Stands::Joined)
}

/// The arrows of the design page, written down once more.
fn arrow(from: Stands, to: Stands) -> bool {
    match from {
        Stands::Pending => matches!(to, Stands::Pending | Stands::Running | Stands::Failed | Stands::Cancelled),
        Stands::Running => {
            matches!(to, Stands::Running | Stands::Completed | Stands::Failed | Stands::Cancelled | Stands::Waiting)
        }
        Stands::Joined => matches!(to, Stands::Absorbed | Stands::Failed | Stands::Cancelled | Stands::Pending),
        Stands::Completed | Stands::Absorbed | Stands::Waiting | Stands::Failed | Stands::Cancelled => false,
    }
}

pub(crate) type Verdict = Result<(), String>;

/// An invariant that holds, or the words for how it was broken.
#[allow(clippy::fn_params_excessive_bools, reason = "an assertion takes what it asserts")]
pub(crate) fn must(holds: bool, broken: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(broken()) }
}

impl Store {
    /// Commits one transaction and judges it. `dead` are tries that heard that they came to nothing.
    pub(crate) fn commit(&mut self, changes: &[Change], script: &Script, dead: &BTreeSet<HandoffId>) -> Verdict {
        let mut touched = BTreeSet::new();
        for change in changes {
            match change {
                Change::Record(record) => {
                    touched.insert(record.id);
                    self.judge_record(record, script, dead)?;
                    self.records.insert(record.id, Part::new(HandoffRecord::clone(record)));
                }
                Change::Receipt(receipt) => self.keep_receipt(receipt)?,
                Change::PermitTaken { permit, room, handoff, run } => {
                    let row = Row { room: room.clone(), handoff: *handoff, run: *run };
                    let old = self.rows.insert(*permit, row);
                    must(old.is_none(), || format!("I5: {permit:?} was taken twice"))?;
                }
                Change::PermitGone { permit } => {
                    must(self.rows.remove(permit).is_some(), || format!("I5: {permit:?} went twice"))?;
                }
                Change::Mail(mail) => return Err(format!("no ask was made, and {mail:?} is written")),
                Change::Message(said) => {
                    let fresh = self.said.insert((said.room.clone(), said.id.clone()));
                    must(fresh, || format!("I3: {} was said twice", said.id))?;
                }
            }
        }
        touched.iter().try_for_each(|id| self.judge_receipt_of(&self.records[id]))?;
        if changes.is_empty() { Ok(()) } else { self.judge_whole(script) }
    }

    /// The newest receipt of a key.
    pub(crate) fn receipt(&self, room: usize, delivery: &DeliveryId) -> Option<Receipt> {
        self.receipts.get(&(room_id(room), delivery.clone())).cloned()
    }

    fn keep_receipt(&mut self, receipt: &Receipt) -> Verdict {
        let key = (receipt.room.clone(), receipt.delivery.clone());
        let old = self.receipts.insert(key, receipt.clone());
        let Some(old) = old else { return Ok(()) };
        must(old.handoff == receipt.handoff, || format!("I3: {} has two handoffs", receipt.delivery))?;
        must(old.result.is_none(), || format!("I3: the result of {} was written again", receipt.delivery))
    }

    fn judge_record(&self, new: &HandoffRecord, script: &Script, dead: &BTreeSet<HandoffId>) -> Verdict {
        match self.records.get(&new.id) {
            None => self.judge_newborn(new, script, dead),
            Some(old) => judge_move(old, new),
        }
    }

    fn judge_newborn(&self, new: &HandoffRecord, script: &Script, dead: &BTreeSet<HandoffId>) -> Verdict {
        must(!dead.contains(&new.id), || format!("I2: {} was refused and has a record", new.id))?;
        let twin = self.records.values().find(|old| old.room == new.room && old.delivery == new.delivery);
        must(twin.is_none(), || format!("I3: {} has two records", new.delivery))?;
        let (item, _) = minted_for(new.id);
        let (words, _, _) = script.said(item);
        let as_said = new.room == room_id(words.room)
            && new.actor == actor(words.who)
            && new.run.0 == new.id.0
            && script.keys(item).contains(&new.delivery);
        must(as_said, || format!("I8: {} is not what was said: {new:?}", new.id))?;
        must(new.wanted.is_none_or(|wanted| new.grant.plan <= wanted), || {
            format!("I8: {} has more than it wants", new.id)
        })?;
        match &new.state {
            State::Pending => must(new.class == Class::Fresh, || "I9: a newborn is owed".into()),
            State::Joined { target } => self.judge_join(new, *target),
            State::Running(_) | State::Ended(_) => Err(format!("I7: {} was born in {:?}", new.id, new.state)),
        }
    }

    fn judge_join(&self, new: &HandoffRecord, target: HandoffId) -> Verdict {
        let to = self.records.get(&target).ok_or("I9: joined nothing")?;
        let open = matches!(to.state, State::Pending | State::Running(_));
        must(open, || format!("I9: {} joined {target}, which is over", new.id))?;
        let same = to.room == new.room && to.actor == new.actor && to.transport == new.transport;
        must(same && to.source == Source::Text && new.source == Source::Text, || "I4: another thread".into())?;
        must(to.grant == new.grant, || format!("I4: {} joined under another grant", new.id))?;
        let mine = self.records.values().filter(|old| old.room == new.room && old.actor == new.actor);
        let earlier = mine.filter(|old| matches!(old.state, State::Pending | State::Running(_)));
        let newest = earlier.filter(|old| old.arrival < new.arrival).max_by_key(|old| old.arrival);
        must(newest.is_some_and(|old| old.id == target), || format!("I4: {} joined an older match", new.id))?;
        must(self.joiners(target).count() < JOINERS_MAX, || "more than 16 joined".into())
    }

    /// The joiners of a target that are not settled.
    pub(crate) fn joiners(&self, target: HandoffId) -> impl Iterator<Item = &Part<HandoffRecord>> {
        self.records.values().filter(move |record| record.state == State::Joined { target })
    }

    fn judge_receipt_of(&self, record: &HandoffRecord) -> Verdict {
        let receipt = self.receipts.get(&(record.room.clone(), record.delivery.clone()));
        let receipt = receipt.ok_or_else(|| format!("I2: {} has no receipt", record.delivery))?;
        let result = match &record.state {
            State::Ended(result) => Some(result),
            State::Pending | State::Running(_) | State::Joined { .. } => None,
        };
        let agrees = receipt.handoff == record.id
            && receipt.result.as_ref() == result
            && receipt.fingerprint == record.fingerprint;
        must(agrees, || format!("I3: receipt and record of {} differ", record.delivery))
    }

    fn judge_whole(&self, script: &Script) -> Verdict {
        let limits = &script.limits;
        let running = self.records.values().filter(|r| stands(r) == Stands::Running);
        must(running.clone().count() <= limits.running, || "I1: too many run".into())?;
        for room in 0..script.rooms {
            let here = running.clone().filter(|r| r.room == room_id(room)).count();
            must(here <= limits.running_per_room, || format!("I1: too many run in room {room}"))?;
        }
        must(self.rows.len() <= limits.running, || "I1: too many permits".into())?;
        let fresh = self.records.values().filter(|r| stands(r) == Stands::Pending && r.class == Class::Fresh);
        must(fresh.count() <= limits.waiting, || "I1: too many wait".into())?;
        for record in running {
            let rows = self.rows.values().filter(|row| row.handoff == record.id && row.run == record.run).count();
            must(rows == 1, || format!("I5: {} runs with {rows} permits", record.id))?;
        }
        for row in self.rows.values() {
            let of = &self.records[&row.handoff];
            let fits = matches!(stands(of), Stands::Running) || !is_live(of);
            must(fits && of.room == row.room, || format!("I5: {} holds a permit and does not run", of.id))?;
        }
        self.judge_joined()
    }

    /// I9: a joiner has a target that can still answer for it.
    fn judge_joined(&self) -> Verdict {
        for record in self.records.values() {
            let State::Joined { target } = record.state else { continue };
            let open =
                self.records.get(&target).is_some_and(|to| matches!(stands(to), Stands::Pending | Stands::Running));
            must(open, || format!("I9: {} is joined to {target}, which is over", record.id))?;
        }
        Ok(())
    }
}

fn judge_move(old: &HandoffRecord, new: &HandoffRecord) -> Verdict {
    let (from, to) = (stands(old), stands(new));
    must(arrow(from, to), || format!("I7: {} moved from {from:?} to {to:?}", new.id))?;
    must(new.revision == old.revision + 1, || format!("I7: {} jumped in revision", new.id))?;
    let identity = old.room == new.room
        && old.actor == new.actor
        && old.delivery == new.delivery
        && old.source == new.source
        && old.transport == new.transport
        && old.run == new.run
        && old.arrival == new.arrival
        && old.created_at == new.created_at;
    must(identity, || format!("I8: {} became another: {new:?}", new.id))?;
    let narrower = new.grant.plan <= old.grant.plan && new.grant.tools.is_subset(&old.grant.tools);
    must(narrower, || format!("I8: the grant of {} grew", new.id))?;
    let edited = old.fingerprint != new.fingerprint || old.request != new.request;
    must(!edited || (from, to) == (Stands::Pending, Stands::Pending), || format!("I8: {} was edited late", new.id))?;
    let owed = (from, to) == (Stands::Joined, Stands::Pending);
    let class = if owed { Class::Owed(Owed::Unread) } else { old.class };
    must(new.class == class, || format!("I9: {} changed class", new.id))
}
