//! A delivery comes: a known one is answered, a follow-up joins, anything else tries for a place.

use super::{Answer, Flight, Held, Live, Turn};
use crate::admission::{Change, ToGlobal};
use crate::grant::Grant;
use crate::handoff::{HandoffRecord, IllegalMove, State, StateName, Step};
use crate::ids::{Arrival, Caller, Fingerprint, Ticket};
use crate::message::{MessageKind, RoomMessage};
use crate::mutant::{self, Mutant};
use crate::receipt::{Known, Receipt};
use crate::request::{Request, Submission};
use crate::steering::{JOINERS_MAX, SteerSupport, Stopping, Target, same_thread};

impl Turn<'_> {
    pub(super) fn submit(
        &mut self,
        submission: Submission,
        known: Option<Receipt>,
        caller: Caller,
    ) -> Result<(), IllegalMove> {
        let grant = match self.ctx.authority.resolve(&submission.request.claim()) {
            Ok(grant) => grant,
            Err(why) => {
                self.reply(caller, Answer::Refused(why));
                return Ok(());
            }
        };
        if let Some(answer) = self.known(&submission, known) {
            self.reply(caller, answer);
            return Ok(());
        }
        if self.attach(&submission, caller) {
            return Ok(());
        }
        if self.room.draining {
            self.reply(caller, Answer::ShuttingDown);
            return Ok(());
        }
        self.admit(submission, grant, caller)
    }

    /// Joins, waits behind the speaker's own try, or becomes a try.
    pub(super) fn admit(&mut self, submission: Submission, grant: Grant, caller: Caller) -> Result<(), IllegalMove> {
        let arrival = self.next_arrival();
        let entry = Held { submission, grant, arrival, callers: vec![caller] };
        if let Some(ticket) = self.own_flight(&entry.submission.request, &entry.grant) {
            if let Some(flight) = self.room.flights.get_mut(&ticket) {
                flight.held.push(entry);
            }
            return Ok(());
        }
        match self.target(&entry.submission.request, &entry.grant) {
            Some(target) => self.join(entry, target),
            None => {
                self.try_for_place(entry, Vec::new());
                Ok(())
            }
        }
    }

    pub(super) fn try_for_place(&mut self, entry: Held, held: Vec<Held>) {
        let Held { submission, grant, arrival, callers } = entry;
        let ticket = submission.minted.ticket;
        let actor = submission.request.actor.clone();
        self.room.flights.insert(ticket, Flight { submission, grant, arrival, callers, held });
        self.tell_global(ToGlobal::Reserve { ticket, actor });
    }

    /// Commits `entry` as joined to the live record at `target`, and steers it when it runs.
    pub(super) fn join(&mut self, entry: Held, target: Arrival) -> Result<(), IllegalMove> {
        let Held { submission, grant, arrival, callers } = entry;
        let to = &self.room.live[&target].record;
        let (to_id, run) = (to.id, matches!(to.state, State::Running(_)).then_some(to.run));
        let state = State::Joined { target: to_id };
        let record = HandoffRecord::admitted(&submission, grant, arrival, state, self.ctx.now);
        let answer = Answer::Accepted { handoff: record.id, state: StateName::Joined };
        self.keep(record, submission.minted.ticket);
        self.advance(target, Step::Joiner)?;
        if let (Some(run), Some(joiner)) = (run, self.joiner(arrival)) {
            self.effects.push(super::Effect::Steer(run, joiner));
        }
        self.reply_all(callers, &answer);
        Ok(())
    }

    /// Commits a new record with its receipt and the words that it answers.
    pub(super) fn keep(&mut self, record: HandoffRecord, ticket: Ticket) {
        self.changes.push(Change::Message(said(&record)));
        self.keep_silently(record, ticket);
    }

    /// Commits a new record with its receipt, without words in the room.
    pub(super) fn keep_silently(&mut self, record: HandoffRecord, ticket: Ticket) {
        if !mutant::on(Mutant::I3AcceptedHasNoReceipt) {
            self.changes.push(Change::Receipt(record.receipt()));
        }
        let record = std::sync::Arc::new(record);
        if !mutant::on(Mutant::I2AcceptedLeavesNothing) {
            self.changes.push(Change::Record(std::sync::Arc::clone(&record)));
        }
        let live = Live { ticket, permit: None, abort: None, gone: false, claim: None, record };
        self.room.live.insert(live.record.arrival, live);
    }

    /// The answer to a key that has a durable receipt.
    pub(super) fn known(&self, submission: &Submission, known: Option<Receipt>) -> Option<Answer> {
        let receipt = known.filter(|_| !mutant::on(Mutant::I3RepeatRunsAgain))?;
        if receipt.compare(submission.fingerprint) == Known::Conflict {
            return Some(Answer::Conflict { handoff: receipt.handoff });
        }
        Some(self.share(receipt))
    }

    /// What a key shares: its saved result, or the state of the live record.
    pub(super) fn share(&self, receipt: Receipt) -> Answer {
        let handoff = receipt.handoff;
        match receipt.result {
            Some(result) => Answer::Settled { handoff, result },
            None => {
                let live = self.room.live.values().find(|live| live.record.id == handoff);
                let state = live.map_or(StateName::Pending, |live| live.record.state_name());
                Answer::Accepted { handoff, state }
            }
        }
    }

    /// Attaches to a try under the same key, which shares whatever it gets.
    pub(super) fn attach(&mut self, submission: &Submission, caller: Caller) -> bool {
        let Some((fingerprint, callers)) = self.in_flight(submission) else { return false };
        if fingerprint == submission.fingerprint {
            callers.push(caller);
        } else {
            self.reply(caller, Answer::ConflictInFlight);
        }
        true
    }

    fn in_flight(&mut self, submission: &Submission) -> Option<(Fingerprint, &mut Vec<Caller>)> {
        let same = |other: &Submission| other.request.delivery == submission.request.delivery;
        for flight in self.room.flights.values_mut() {
            if same(&flight.submission) {
                return Some((flight.submission.fingerprint, &mut flight.callers));
            }
            if let Some(held) = flight.held.iter_mut().find(|held| same(&held.submission)) {
                return Some((held.submission.fingerprint, &mut held.callers));
            }
        }
        None
    }

    /// The speaker's own newest try, when these words would join what comes of it.
    fn own_flight(&self, request: &Request, grant: &Grant) -> Option<Ticket> {
        let mine = self.room.flights.iter().filter(|(_, flight)| flight.submission.request.actor == request.actor);
        let (ticket, flight) = mine.max_by_key(|(_, flight)| flight.arrival)?;
        let newest_live = self.newest_of(request).map(|live| live.record.arrival);
        let fits = newest_live.is_none_or(|live| live < flight.arrival)
            && (flight.grant == *grant || mutant::on(Mutant::I4OtherGrantIsHeld))
            && flight.submission.request.transport == request.transport
            && same_thread(flight.submission.request.source, request.source)
            && flight.held.len() < JOINERS_MAX
            && self.steer(grant) == SteerSupport::Receipt;
        fits.then_some(*ticket)
    }

    /// The actor's newest pending or running handoff, if these words may join it.
    fn target(&self, request: &Request, grant: &Grant) -> Option<Arrival> {
        let newest_flight =
            self.room.flights.values().filter(|flight| flight.submission.request.actor == request.actor);
        let newest_flight = newest_flight.map(|flight| flight.arrival).max();
        let live = self.newest_of(request)?;
        let target = Target {
            record: &live.record,
            joiners: self.joiners_of(live.record.id).len(),
            steer: self.steer_of(live),
            stopping: if live.abort.is_some() { Stopping::Yes } else { Stopping::No },
        };
        let newest = newest_flight.is_none_or(|flight| flight < live.record.arrival);
        (newest && target.takes(request, grant)).then_some(live.record.arrival)
    }

    fn newest_of(&self, request: &Request) -> Option<&Live> {
        let open = |live: &&Live| {
            live.record.actor == request.actor && matches!(live.record.state, State::Pending | State::Running(_))
        };
        self.room.live.values().rev().find(open)
    }

    fn steer_of(&self, live: &Live) -> SteerSupport {
        match &live.record.executor {
            Some(name) => {
                let runs = self.ctx.authority.routes.values().find(|route| route.executor == *name);
                runs.map_or(SteerSupport::None, |route| route.steer)
            }
            None => self.steer(&live.record.grant),
        }
    }

    fn steer(&self, grant: &Grant) -> SteerSupport {
        self.ctx.authority.routes.get(&grant.plan).map_or(SteerSupport::None, |route| route.steer)
    }

    pub(super) fn next_arrival(&mut self) -> Arrival {
        let arrival = Arrival(self.room.next_arrival);
        self.room.next_arrival += 1;
        arrival
    }
}

/// The words of a delivery, as the room keeps them.
fn said(record: &HandoffRecord) -> RoomMessage {
    RoomMessage {
        room: record.room.clone(),
        id: format!("{}/request", record.id),
        kind: MessageKind::Person,
        author: Some(record.actor.clone()),
        author_name: record.actor_name.clone(),
        text: record.request.clone(),
        reply_to: Some(record.delivery.clone()),
        handoff: record.id,
        at: record.created_at,
    }
}
