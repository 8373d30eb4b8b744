//! I1, I3, I7 and I8 over every record: how many run and wait, which moves it made, and what of it
//! never changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use clankie_domain::admission::Limits;
use clankie_domain::delivery::{Posting, RoomDelivery};
use clankie_domain::event::Event;
use clankie_domain::grant::Grant;
use clankie_domain::handoff::{HandoffRecord, StateName};
use clankie_domain::ids::{DeliveryId, HandoffId, RoomId};

use super::Found;
use crate::sim::history::{Fact, Mail, What, Wish};

/// A record as its events tell it.
struct Standing {
    room: RoomId,
    state: StateName,
    revision: u64,
    is_owed: bool,
}

/// A record as it was last read.
struct Known {
    first: Arc<HandoffRecord>,
    now: Arc<HandoffRecord>,
}

#[derive(Default)]
struct Records {
    limits: Limits,
    standing: BTreeMap<HandoffId, Standing>,
    known: BTreeMap<HandoffId, Known>,
    reposted: BTreeSet<HandoffId>,
    continuations: BTreeSet<HandoffId>,
}

pub(super) fn judge(facts: &[Fact], found: &mut Found) {
    let mut records = Records { continuations: continuations(facts), ..Records::default() };
    for fact in facts {
        let Fact { at, what } = fact;
        if let What::Born(_, limits) = what {
            records.limits = *limits;
        }
        if let What::Mail(Mail::Wished(_, _, Wish::Repost(_, handoff))) = what {
            records.reposted.insert(*handoff);
        }
        if let What::Event(_, Event::Handoff { id, room, state, revision }) = what {
            records.moved((*id, room), *state, *revision, (*at, &mut *found));
        }
        if let What::Seen(_) = what {
            records.count(*at, found);
        }
        if let What::Record(record) = what {
            records.read(record, *at, found);
        }
        if let What::Last(last) = what {
            last.records.iter().for_each(|record| records.read(record, *at, found));
        }
    }
}

fn continuations(facts: &[Fact]) -> BTreeSet<HandoffId> {
    let of = |fact: &Fact| {
        let What::Record(record) = &fact.what else { return None };
        matches!(record.delivery, DeliveryId::Continuation(_)).then_some(record.id)
    };
    facts.iter().filter_map(of).collect()
}

impl Records {
    fn moved(
        &mut self,
        (id, room): (HandoffId, &RoomId),
        state: StateName,
        revision: u64,
        (at, found): (u64, &mut Found),
    ) {
        let before = self.standing.get(&id);
        let fits = match before {
            None => matches!(state, StateName::Pending | StateName::Joined) && revision == 1,
            Some(before) => arrow(before.state, state) && revision == before.revision + 1,
        };
        if !fits {
            let from = before.map(|before| (before.state, before.revision));
            found.broken("I7", at, format!("handoff {id} went from {from:?} to {state:?} at {revision}"));
        }
        let owes = before.is_some_and(|before| before.state == StateName::Joined) && state == StateName::Pending;
        let is_owed = owes || before.map_or(self.continuations.contains(&id), |before| before.is_owed);
        self.standing.insert(id, Standing { room: room.clone(), state, revision, is_owed });
    }

    fn count(&self, at: u64, found: &mut Found) {
        let (mut running, mut waiting, mut rooms) = (0, 0, BTreeMap::<&RoomId, usize>::new());
        for standing in self.standing.values() {
            match standing.state {
                StateName::Running => {
                    running += 1;
                    *rooms.entry(&standing.room).or_default() += 1;
                }
                StateName::Pending if !standing.is_owed => waiting += 1,
                StateName::Pending
                | StateName::Joined
                | StateName::Completed
                | StateName::Absorbed
                | StateName::WaitingUser
                | StateName::Failed
                | StateName::Cancelled => {}
            }
        }
        if running > self.limits.running || waiting > self.limits.waiting {
            found.broken("I1", at, format!("{running} run and {waiting} wait"));
        }
        if let Some((room, many)) = rooms.into_iter().find(|(_, many)| *many > self.limits.running_per_room) {
            found.broken("I1", at, format!("{many} run in {room}"));
        }
    }

    fn read(&mut self, record: &Arc<HandoffRecord>, at: u64, found: &mut Found) {
        let id = record.id;
        let Some(known) = self.known.get_mut(&id) else {
            self.known.insert(id, Known { first: Arc::clone(record), now: Arc::clone(record) });
            return;
        };
        let (first, before) = (&known.first, &known.now);
        if bound(first) != bound(record) {
            found.broken("I8", at, format!("handoff {id} is of another room, speaker, lane or delivery"));
        }
        if !is_within(&record.grant, &before.grant) {
            found.broken("I8", at, format!("the grant of handoff {id} grew"));
        }
        if before.result().is_some() && before.result() != record.result() {
            found.broken("I3", at, format!("the result of handoff {id} changed"));
        }
        let (posting, now) = (&before.room_delivery, &record.room_delivery);
        let by_itself = needs_a_wish(posting, now) && !self.reposted.contains(&id);
        if by_itself || !posting_fits(posting, now) {
            let (from, to) = (&before.room_delivery.state, &record.room_delivery.state);
            found.broken("I7", at, format!("the posting of handoff {id} went from {from:?} to {to:?}"));
        }
        known.now = Arc::clone(record);
    }
}

/// The arrows, and what several changes that keep a state are.
fn arrow(from: StateName, to: StateName) -> bool {
    use StateName::{Absorbed, Cancelled, Completed, Failed, Joined, Pending, Running, WaitingUser};
    match from {
        Pending => matches!(to, Pending | Running | Failed | Cancelled),
        Running => matches!(to, Running | Completed | Failed | Cancelled | WaitingUser),
        Joined => matches!(to, Absorbed | Failed | Cancelled | Pending),
        // The posting of what is over goes on.
        Completed | Absorbed | WaitingUser | Failed | Cancelled => to == from,
    }
}

/// What an edit may change is not in it: its words; nor its place, which is another for a reply that
/// is posted once more.
fn bound(record: &HandoffRecord) -> impl PartialEq + '_ {
    (&record.room, &record.delivery, &record.actor, &record.transport, record.source, record.run)
}

/// Whether `grant` gives nothing that `of` does not.
pub(super) fn is_within(grant: &Grant, of: &Grant) -> bool {
    grant.plan <= of.plan
        && grant.owner_standing <= of.owner_standing
        && grant.machine_standing <= of.machine_standing
        && grant.owner_proof <= of.owner_proof
        && grant.transport == of.transport
        && grant.tools.is_subset(&of.tools)
}

/// Whether a posting comes from there to here only by the owner's wish.
fn needs_a_wish(from: &RoomDelivery, to: &RoomDelivery) -> bool {
    matches!(from.state, Posting::Failed { .. } | Posting::Uncertain) && to.state != from.state
}

/// Whether a posting may come from there to here at all, in one step or several.
fn posting_fits(from: &RoomDelivery, to: &RoomDelivery) -> bool {
    let kept = to.confirmed.starts_with(&from.confirmed);
    let fits = match &from.state {
        Posting::None => from.state == to.state || to.confirmed.is_empty() || to.state == Posting::Confirmed,
        Posting::Pending { .. } | Posting::Sending { .. } | Posting::Failed { .. } | Posting::Uncertain => {
            to.state != Posting::None
        }
        Posting::Confirmed => to.state == Posting::Confirmed,
        Posting::Suppressed { .. } => to.state == from.state,
    };
    kept && fits
}
