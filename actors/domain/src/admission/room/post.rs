//! The posting of a reply, step by step, and a trigger that was deleted.
//!
//! The gateway posts; this decides what is durable before and after each part.

use std::sync::Arc;

use super::{Answer, Canceller, Effect, Live, Turn, Which};
use crate::admission::Change;
use crate::delivery::PostingStep;
use crate::handoff::{HandoffRecord, IllegalMove, State, StateName};
use crate::ids::{ActorId, Caller, DeliveryId, HandoffId, Ticket};

impl Turn<'_> {
    pub(super) fn posting(&mut self, handoff: HandoffId, step: PostingStep, caller: Caller) {
        let found = self.room.live.values_mut().find(|live| live.record.id == handoff);
        let posted = found.and_then(|live| {
            let next = Arc::new(live.record.posted(step, self.ctx.now).ok()?);
            live.record = Arc::clone(&next);
            Some(next)
        });
        let Some(record) = posted else {
            self.reply(caller, Answer::NoSuchStep);
            return;
        };
        self.changes.push(Change::Record(Arc::clone(&record)));
        if !record.room_delivery.is_open() {
            self.room.live.remove(&record.arrival);
        }
        self.reply(caller, Answer::Posted(record.room_delivery.clone()));
    }

    pub(super) fn repost(&mut self, record: HandoffRecord, caller: Caller) {
        let busy = self.room.live.values().any(|live| live.record.id == record.id);
        let Some(next) = record.posted(PostingStep::Repost, self.ctx.now).ok().filter(|_| !busy) else {
            self.reply(caller, Answer::NoSuchStep);
            return;
        };
        // Its old place may be another's by now, or become so: places begin anew with the room's actor.
        let record = Arc::new(HandoffRecord { arrival: self.next_arrival(), ..next });
        // The try that admitted it is long over; nothing asks for this ticket again.
        let live = Live {
            record: Arc::clone(&record),
            ticket: Ticket(u64::MAX),
            permit: None,
            abort: None,
            gone: true,
            claim: None,
        };
        self.room.live.insert(record.arrival, live);
        self.changes.push(Change::Record(Arc::clone(&record)));
        self.reply(caller, Answer::Posted(record.room_delivery.clone()));
        self.effects.push(Effect::Deliver(record));
    }

    /// Deleted before its start a request is cancelled; later nothing changes.
    pub(super) fn retract(&mut self, delivery: DeliveryId, actor: ActorId, caller: Caller) -> Result<(), IllegalMove> {
        let begun = self.room.live.values().find(|live| live.record.delivery == delivery).and_then(|live| {
            let begun = match live.record.state {
                State::Pending => false,
                State::Running(_) | State::Ended(_) => true,
                State::Joined { target } => !self.is_pending(target),
            };
            begun.then(|| (live.record.id, live.record.state_name()))
        });
        if let Some((handoff, state)) = begun {
            self.reply(caller, Answer::Accepted { handoff, state });
            return Ok(());
        }
        self.cancel(&Which::Delivery(delivery), &Canceller::Speaker(actor), None, caller)
    }

    fn is_pending(&self, handoff: HandoffId) -> bool {
        let pending = |live: &Live| live.record.id == handoff && live.record.state_name() == StateName::Pending;
        self.room.live.values().any(pending)
    }
}
