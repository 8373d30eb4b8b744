//! The owner of the counts answers. Any permit serves the oldest pending record of the room.

use std::sync::Arc;

use super::{Answer, Effect, Flight, Held, Turn};
use crate::admission::{BusyFacts, Change, FromGlobal, ToGlobal};
use crate::claim::ClaimStep;
use crate::grant::Grant;
use crate::handoff::{HandoffRecord, IllegalMove, State, StateName, Step, Usage};
use crate::ids::{Arrival, PermitId, Ticket};
use crate::mutant::{self, Mutant};
use crate::result::TurnResult;
use crate::steering::{Route, SteerSupport};

impl Turn<'_> {
    pub(super) fn hear_global(&mut self, message: FromGlobal) -> Result<(), IllegalMove> {
        match message {
            FromGlobal::Run(ticket, permit) => self.run(ticket, permit),
            FromGlobal::Permit(permit) => self.serve_oldest(permit),
            FromGlobal::Wait(ticket) => self.wait(ticket),
            FromGlobal::Busy(ticket, facts) => {
                self.busy(ticket, facts);
                Ok(())
            }
        }
    }

    fn run(&mut self, ticket: Ticket, permit: PermitId) -> Result<(), IllegalMove> {
        let Some(flight) = self.room.flights.get(&ticket) else { return self.serve_oldest(permit) };
        if self.oldest_pending().is_some_and(|oldest| oldest < flight.arrival && !mutant::on(Mutant::I6TryOvertakes)) {
            let actor = flight.submission.request.actor.clone();
            self.serve_oldest(permit)?;
            self.tell_global(ToGlobal::Reserve { ticket, actor });
            return Ok(());
        }
        let claim = flight.submission.request.claim();
        if let Err(why) = self.ctx.authority.resolve_again(&claim, &flight.grant) {
            let flight = self.room.flights.remove(&ticket);
            self.release_held(flight, &Answer::Refused(why));
            return self.serve_oldest(permit);
        }
        let at = self.accept(ticket)?;
        match at {
            Some(at) => self.start_or_next(at, permit),
            None => self.serve_oldest(permit),
        }
    }

    fn wait(&mut self, ticket: Ticket) -> Result<(), IllegalMove> {
        match self.accept(ticket)? {
            Some(_) => Ok(()),
            None => {
                self.tell_global(ToGlobal::Withdraw(ticket));
                Ok(())
            }
        }
    }

    fn busy(&mut self, ticket: Ticket, facts: BusyFacts) {
        let flight = self.room.flights.remove(&ticket);
        if let (true, Some(flight)) = (mutant::on(Mutant::I2BusyLeavesARecord), &flight) {
            let Flight { submission, grant, arrival, .. } = flight.clone();
            self.keep(HandoffRecord::admitted(&submission, grant, arrival, State::Pending, self.ctx.now), ticket);
        }
        self.release_held(flight, &Answer::Busy(facts));
    }

    /// Makes the record of a try in flight, pending, with the words that were held behind it.
    fn accept(&mut self, ticket: Ticket) -> Result<Option<Arrival>, IllegalMove> {
        let Some(flight) = self.room.flights.remove(&ticket) else { return Ok(None) };
        let Flight { submission, grant, arrival, callers, held } = flight;
        let record = HandoffRecord::admitted(&submission, grant, arrival, State::Pending, self.ctx.now);
        let answer = Answer::Accepted { handoff: record.id, state: StateName::Pending };
        self.keep(record, ticket);
        self.reply_all(callers, &answer);
        for held in held {
            self.join(held, arrival)?;
        }
        Ok(Some(arrival))
    }

    /// Answers a try that came to nothing; the words held behind it become a try of their own.
    pub(super) fn release_held(&mut self, flight: Option<Flight>, answer: &Answer) {
        let Some(Flight { callers, held, .. }) = flight else { return };
        self.reply_all(callers, answer);
        self.try_together(held.into_iter());
    }

    /// Words that were held together stay so: the first becomes a try and holds the others.
    pub(super) fn try_together(&mut self, mut held: impl Iterator<Item = Held>) {
        if let Some(first) = held.next() {
            self.try_for_place(first, held.collect());
        }
    }

    /// Starts the oldest pending record, or gives the permit back when there is none.
    pub(super) fn serve_oldest(&mut self, permit: PermitId) -> Result<(), IllegalMove> {
        match self.oldest_pending() {
            Some(at) if !self.room.draining => self.start_or_next(at, permit),
            Some(_) | None if mutant::on(Mutant::I5UselessPermitIsKept) => Ok(()),
            Some(_) | None => {
                self.tell_global(ToGlobal::Return(permit));
                Ok(())
            }
        }
    }

    /// Starts the record at `at`; when it may not start it ends, and the next oldest is tried.
    fn start_or_next(&mut self, at: Arrival, permit: PermitId) -> Result<(), IllegalMove> {
        let record = Arc::clone(&self.room.live[&at].record);
        if !self.answerer_stands(at) {
            return self.refuse(at, permit, crate::result::FailCode::OwnerRevoked);
        }
        match self.ctx.authority.resolve_again(&record.claim(), &record.grant) {
            Ok(grant) => match self.ctx.authority.routes.get(&grant.plan).cloned() {
                Some(route) => self.start(at, permit, grant, route),
                None => self.refuse(at, permit, crate::result::FailCode::ExecutorFailed),
            },
            Err(why) => self.refuse(at, permit, why.into()),
        }
    }

    fn refuse(&mut self, at: Arrival, permit: PermitId, code: crate::result::FailCode) -> Result<(), IllegalMove> {
        self.end_before_start(at, TurnResult::failed(code))?;
        self.serve_oldest(permit)
    }

    fn start(&mut self, at: Arrival, permit: PermitId, grant: Grant, route: Route) -> Result<(), IllegalMove> {
        let id = self.room.live[&at].record.id;
        if route.steer == SteerSupport::None {
            self.owe_joiners(id)?;
        }
        self.advance(at, Step::Start { executor: route.executor, grant })?;
        self.move_claim(at, ClaimStep::Dispatch);
        let joiners = self.joiners_of(id).into_iter().filter_map(|joiner| self.joiner(joiner)).collect();
        let Some(live) = self.room.live.get_mut(&at) else { return Ok(()) };
        live.permit = Some(permit);
        let (record, ticket) = (Arc::clone(&live.record), live.ticket);
        let (room, handoff, run) = (record.room.clone(), record.id, record.run);
        self.changes.push(Change::PermitTaken { permit, room, handoff, run });
        self.tell_global(ToGlobal::Took(ticket, permit));
        self.effects.push(Effect::StartRun { record, permit, joiners });
        Ok(())
    }

    /// Ends a pending record: its joiners are owed, and its place is over.
    pub(super) fn end_before_start(&mut self, at: Arrival, result: TurnResult) -> Result<(), IllegalMove> {
        let (id, ticket) = (self.room.live[&at].record.id, self.room.live[&at].ticket);
        self.finish(at, result, Usage::default())?;
        self.tell_global(ToGlobal::Withdraw(ticket));
        if mutant::on(Mutant::I9JoinersEndUnheard) {
            return Ok(());
        }
        self.owe_joiners(id)
    }

    fn oldest_pending(&self) -> Option<Arrival> {
        let mut pending = self.room.live.values().filter(|live| live.record.state == State::Pending);
        let served = if mutant::on(Mutant::I6NewestFirst) { pending.next_back() } else { pending.next() };
        served.map(|live| live.record.arrival)
    }
}
