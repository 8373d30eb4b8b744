//! Somebody cancels: a speaker their own, the owner any. Nothing that ended is changed.

use super::{Answer, Canceller, Effect, Turn, Which};
use crate::admission::ToGlobal;
use crate::handoff::{IllegalMove, State, Usage};
use crate::ids::{ActorId, Arrival, Caller, DeliveryId, Ticket};
use crate::receipt::Receipt;
use crate::result::{By, PrincipalKind, TurnResult};
use crate::session::AbortReason;

impl Turn<'_> {
    pub(super) fn cancel(
        &mut self,
        which: &Which,
        by: &Canceller,
        known: Option<Receipt>,
        caller: Caller,
    ) -> Result<(), IllegalMove> {
        if let Which::Delivery(delivery) = which
            && self.cancel_in_flight(delivery, by, caller)
        {
            return Ok(());
        }
        let found = self.room.live.values().find(|live| match which {
            Which::Delivery(delivery) => live.record.delivery == *delivery,
            Which::Handoff(id) => live.record.id == *id,
        });
        let Some(live) = found else {
            let answer = known.map_or(Answer::NotFound, |receipt| self.share(receipt));
            self.reply(caller, answer);
            return Ok(());
        };
        if !by.may_cancel(&live.record.actor) {
            self.reply(caller, Answer::NotYours);
            return Ok(());
        }
        let at = live.record.arrival;
        self.cancel_live(at, by.named(), caller)
    }

    fn cancel_live(&mut self, at: Arrival, by: By, caller: Caller) -> Result<(), IllegalMove> {
        let record = std::sync::Arc::clone(&self.room.live[&at].record);
        let handoff = record.id;
        let result = TurnResult::Cancelled { by: by.clone() };
        match record.state {
            State::Running(_) => {
                self.abort(at, AbortReason::Cancelled(by));
                self.reply(caller, Answer::Cancelling { handoff });
                return Ok(());
            }
            State::Pending => self.end_before_start(at, result.clone())?,
            State::Joined { target } => {
                self.finish(at, result.clone(), Usage::default())?;
                let run = self.room.live.values().find(|live| live.record.id == target && live.permit.is_some());
                if let Some(run) = run.map(|live| live.record.run) {
                    self.effects.push(Effect::CancelSteer(run, handoff));
                }
            }
            State::Ended(ref ended) => {
                self.reply(caller, Answer::Settled { handoff, result: ended.clone() });
                return Ok(());
            }
        }
        self.reply(caller, Answer::Settled { handoff, result });
        Ok(())
    }

    /// Forgets a try that has no record yet, or words that were held behind one.
    fn cancel_in_flight(&mut self, delivery: &DeliveryId, by: &Canceller, caller: Caller) -> bool {
        let of = |ticket: &Ticket, turn: &Self| turn.room.flights[ticket].submission.request.actor.clone();
        let is_flight = self.room.flights.iter().find(|(_, f)| f.submission.request.delivery == *delivery);
        if let Some(ticket) = is_flight.map(|(ticket, _)| *ticket) {
            if !by.may_cancel(&of(&ticket, self)) {
                self.reply(caller, Answer::NotYours);
                return true;
            }
            let flight = self.room.flights.remove(&ticket);
            // Before the words behind it reserve, or they would find their own place taken.
            self.tell_global(ToGlobal::Withdraw(ticket));
            self.release_held(flight, &Answer::Forgotten);
            self.reply(caller, Answer::Forgotten);
            return true;
        }
        let holds = self
            .room
            .flights
            .iter()
            .find(|(_, flight)| flight.held.iter().any(|held| held.submission.request.delivery == *delivery));
        let Some(ticket) = holds.map(|(ticket, _)| *ticket) else { return false };
        if !by.may_cancel(&of(&ticket, self)) {
            self.reply(caller, Answer::NotYours);
            return true;
        }
        let Some(flight) = self.room.flights.get_mut(&ticket) else { return false };
        let held = std::mem::take(&mut flight.held);
        let (gone, kept) = held.into_iter().partition(|held| held.submission.request.delivery == *delivery);
        flight.held = kept;
        let callers = Vec::into_iter(gone).flat_map(|held: super::Held| held.callers).collect();
        self.reply_all(callers, &Answer::Forgotten);
        self.reply(caller, Answer::Forgotten);
        true
    }
}

impl Canceller {
    /// Whether this one may cancel what `actor` asked for.
    pub(super) fn may_cancel(&self, actor: &ActorId) -> bool {
        match self {
            Self::Speaker(speaker) => speaker == actor,
            Self::Authority(_) => true,
        }
    }

    fn named(&self) -> By {
        match self {
            Self::Speaker(actor) => By { kind: PrincipalKind::Speaker, id: actor.as_str().to_owned() },
            Self::Authority(by) => by.clone(),
        }
    }
}
