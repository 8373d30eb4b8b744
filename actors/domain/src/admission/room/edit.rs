//! A trigger was edited: before its start the words are replaced, later they join as a steer.

use super::{Answer, Flight, Turn};
use crate::admission::Change;
use crate::grant::Grant;
use crate::handoff::{IllegalMove, State, Step};
use crate::ids::{Caller, DeliveryId, Fingerprint};
use crate::receipt::Receipt;
use crate::request::{REQUEST_MAX, Submission};
use crate::result::cut;

impl Turn<'_> {
    pub(super) fn edit(
        &mut self,
        edited: Submission,
        known: Option<Receipt>,
        known_edit: Option<Receipt>,
        caller: Caller,
    ) -> Result<(), IllegalMove> {
        let grant = match self.ctx.authority.resolve(&edited.request.claim()) {
            Ok(grant) => grant,
            Err(why) => {
                self.reply(caller, Answer::Refused(why));
                return Ok(());
            }
        };
        if self.edit_in_flight(&edited, &grant, caller) {
            return Ok(());
        }
        if let Some(receipt) = known_edit {
            let answer = self.share(receipt);
            self.reply(caller, answer);
            return Ok(());
        }
        let Some(receipt) = known else {
            self.reply(caller, Answer::NotFound);
            return Ok(());
        };
        // What is over and only has its posting or its group open takes no words any more.
        let goes_on = |state: &State| match state {
            State::Pending | State::Running(_) | State::Joined { .. } => true,
            State::Ended(_) => false,
        };
        let mut all = self.room.live.values().filter(|live| goes_on(&live.record.state));
        let Some(live) = all.find(|live| live.record.id == receipt.handoff) else {
            let answer = self.share(receipt);
            self.reply(caller, answer);
            return Ok(());
        };
        let (at, record) = (live.record.arrival, std::sync::Arc::clone(&live.record));
        if record.actor != edited.request.actor {
            self.reply(caller, Answer::NotYours);
        } else if record.fingerprint == edited.fingerprint && !self.told_otherwise(&record.delivery) {
            let answer = self.share(receipt);
            self.reply(caller, answer);
        } else if record.state == State::Pending && record.grant == grant {
            self.advance(at, Step::Replace(Box::new(edited), grant))?;
            let replaced = self.room.live[&at].record.receipt();
            self.changes.push(Change::Receipt(replaced.clone()));
            let answer = self.share(replaced);
            self.reply(caller, answer);
        } else if self.room.draining {
            self.reply(caller, Answer::ShuttingDown);
        } else {
            let steer = as_steer(edited);
            // The same edit may have come before and be in flight: one edited text is one delivery.
            if !self.attach(&steer, caller) {
                self.admit(steer, grant, caller)?;
            }
        }
        Ok(())
    }

    /// Whether an edit of this delivery told the run other words since, so that going back to the
    /// first ones is an edit as well.
    fn told_otherwise(&self, delivery: &DeliveryId) -> bool {
        let first = delivery.to_string();
        let is_edit = |key: &DeliveryId| match key {
            DeliveryId::Edit { of, .. } => *of == first,
            DeliveryId::Transport(_) | DeliveryId::Continuation(_) => false,
        };
        let live = self.room.live.values().map(|live| &live.record.delivery);
        let flights = self.room.flights.values().map(|flight| &flight.submission.request.delivery);
        live.chain(flights).any(is_edit)
    }

    /// Replaces the words of a try in flight. Under another grant than before they join nothing,
    /// and nothing that was held under the old grant joins them (invariant I4).
    fn edit_in_flight(&mut self, edited: &Submission, grant: &Grant, caller: Caller) -> bool {
        let same = |other: &Submission| other.request.delivery == edited.request.delivery;
        let is_here = |flight: &Flight| same(&flight.submission) || flight.held.iter().any(|h| same(&h.submission));
        let Some(flight) = self.room.flights.values_mut().find(|flight| is_here(flight)) else { return false };
        if flight.submission.request.actor != edited.request.actor {
            self.reply(caller, Answer::NotYours);
            return true;
        }
        let at = flight.held.iter().position(|held| same(&held.submission));
        let (submission, held_grant, callers) = match at.and_then(|at| flight.held.get_mut(at)) {
            Some(held) => (&mut held.submission, &mut held.grant, &mut held.callers),
            None => (&mut flight.submission, &mut flight.grant, &mut flight.callers),
        };
        *submission = Submission { minted: submission.minted, ..edited.clone() };
        callers.push(caller);
        if *held_grant != *grant {
            *held_grant = grant.clone();
            let mut apart = flight.held.split_off(at.unwrap_or(0)).into_iter();
            if let Some(alone) = at.and_then(|_| apart.next()) {
                self.try_for_place(alone, Vec::new());
            }
            self.try_together(apart);
        }
        true
    }
}

/// The edit as a delivery of its own that says what it is; one edited text is one delivery.
fn as_steer(mut edited: Submission) -> Submission {
    edited.request.delivery = edit_key(&edited.request.delivery, edited.fingerprint);
    let said = format!("(edited) {}", edited.request.text);
    edited.request.text = cut(&said, REQUEST_MAX, "…");
    edited
}

/// The key of an edit of `delivery` to the words that `fingerprint` stands for.
pub fn edit_key(delivery: &DeliveryId, fingerprint: Fingerprint) -> DeliveryId {
    let digest = fingerprint.0.iter().map(|byte| format!("{byte:02x}")).collect();
    DeliveryId::Edit { of: delivery.to_string(), digest }
}
