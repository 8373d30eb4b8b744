//! One room: its order, the tries in flight, and every write to its records.
//!
//! A decision is read, commit, cast: [`Room::decide`] reads this value and says what is next,
//! which changes make one transaction, and which effects follow once that is durable. A room
//! handles no further input while its own commit is pending.
//!
//! Invariants: I2, I3, I5 (the room's half), I6 (order in the room), I8, I9.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{BusyFacts, Change, FromGlobal, ToGlobal};
use crate::claim::{Claim, ClaimState};
use crate::delivery::{PostingStep, RoomDelivery};
use crate::grant::{Authority, Grant, Revoked};
use crate::handoff::{HandoffRecord, IllegalMove, State, StateName, Step};
use crate::ids::{ActorId, Arrival, Caller, DeliveryId, HandoffId, PermitId, RequestId, RoomId, RunId, Ticket};
use crate::mailbox::MailChange;
use crate::receipt::Receipt;
use crate::request::Submission;
use crate::result::{By, TurnResult};
use crate::session::{AbortReason, RunEnd};
use crate::steering::Joiner;
use crate::time::Timestamp;

mod cancel;
mod continuation;
pub use continuation::Continuation;
pub(crate) use continuation::returned;
mod edit;
pub use edit::edit_key;
pub(crate) use end::delivery_of;
pub use end::heard;
mod end;
mod permit;
mod post;
mod submit;

/// A live record and what goes with it while it lives.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Live {
    /// The record.
    pub record: Arc<HandoffRecord>,
    /// The try that admitted it.
    pub ticket: Ticket,
    /// The permit that its run holds.
    pub permit: Option<PermitId>,
    /// Why it is being stopped.
    pub abort: Option<AbortReason>,
    /// Whether its process group is gone already.
    pub gone: bool,
    /// How far the answer has come that it continues with.
    pub claim: Option<Claim>,
}

/// A try that was sent to the owner of the counts and has no record yet.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Flight {
    submission: Submission,
    grant: Grant,
    arrival: Arrival,
    callers: Vec<Caller>,
    /// Further words of the same speaker, which join as soon as this try is decided.
    held: Vec<Held>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Held {
    submission: Submission,
    grant: Grant,
    arrival: Arrival,
    callers: Vec<Caller>,
}

/// The live part of one room.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Room {
    id: RoomId,
    live: BTreeMap<Arrival, Live>,
    flights: BTreeMap<Ticket, Flight>,
    /// Runs that ended and whose process group is not gone.
    leaving: BTreeMap<RunId, PermitId>,
    next_arrival: u64,
    draining: bool,
}

/// What surrounds a decision.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The moment.
    pub now: Timestamp,
    /// The authority in force.
    pub authority: &'a Authority,
}

/// Which handoff a cancel means.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Which {
    /// By its delivery.
    Delivery(DeliveryId),
    /// By its record.
    Handoff(HandoffId),
}

/// Who cancels.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Canceller {
    /// A speaker, who may cancel only what they asked for.
    Speaker(ActorId),
    /// The owner or the service, who may cancel any.
    Authority(By),
}

/// What happens in a room.
#[derive(Debug, Clone)]
pub enum RoomInput {
    /// A delivery came. `known` is its durable receipt, if there is one.
    Submit {
        /// The delivery, with fresh identities.
        submission: Submission,
        /// Its durable receipt.
        known: Option<Receipt>,
        /// Who waits for the answer.
        caller: Caller,
    },
    /// A delivery was edited. The submission has its id and its new words.
    Edit {
        /// The edited delivery, with fresh identities.
        submission: Submission,
        /// Its durable receipt.
        known: Option<Receipt>,
        /// The durable receipt of this very edit.
        known_edit: Option<Receipt>,
        /// Who waits for the answer.
        caller: Caller,
    },
    /// Somebody cancels.
    Cancel {
        /// What.
        which: Which,
        /// Who.
        by: Canceller,
        /// The durable receipt of an ended one.
        known: Option<Receipt>,
        /// Who waits for the answer.
        caller: Caller,
    },
    /// The owner of the counts says something.
    Global(FromGlobal),
    /// A run's session is ready.
    Ready(RunId),
    /// What a run does now.
    Doing(RunId, String),
    /// A run ended.
    Ended(RunId, RunEnd),
    /// A run ended with what only the owner may approve: the mailbox's changes go into its end.
    EndedWithAsk(RunId, RunEnd, Vec<MailChange>),
    /// A run's session took what it was given.
    Took(RunId),
    /// An answer was accepted by the mailbox and is to wake its source.
    Continue {
        /// The answer and what it wakes.
        continuation: Box<Continuation>,
        /// Who waits until it is durable.
        caller: Caller,
    },
    /// A run's process group is gone.
    Gone(RunId),
    /// A step of the posting of an ended record's reply.
    Posting {
        /// Whose.
        handoff: HandoffId,
        /// Which step.
        step: PostingStep,
        /// Who waits until it is durable.
        caller: Caller,
    },
    /// The owner wants what did not arrive to be posted once more.
    Repost {
        /// The ended record, as it is stored.
        record: Box<HandoffRecord>,
        /// Who waits for the answer.
        caller: Caller,
    },
    /// The message that a delivery came from was deleted.
    Retract {
        /// Which.
        delivery: DeliveryId,
        /// By whom it was sent.
        actor: ActorId,
        /// Who waits for the answer.
        caller: Caller,
    },
    /// What anybody may do has changed.
    AuthorityChanged,
    /// No admissions and no starts from now on. The owner of the counts drains first: it would
    /// give every permit that comes back to the same room again.
    Drain,
    /// Every run must stop: the service ends.
    StopRuns,
}

/// What a caller hears.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Answer {
    /// Durably admitted, or known and not over.
    Accepted {
        /// The record.
        handoff: HandoffId,
        /// Its state.
        state: StateName,
    },
    /// Over, with its saved result.
    Settled {
        /// The record.
        handoff: HandoffId,
        /// The one result.
        result: TurnResult,
    },
    /// No permit and no place; no record was made.
    Busy(BusyFacts),
    /// The key was used for another request.
    Conflict {
        /// The record that has the key.
        handoff: HandoffId,
    },
    /// The key is in flight for another request.
    ConflictInFlight,
    /// Nobody there is heard; no record was made.
    Refused(Revoked),
    /// The service is stopping; the same delivery may be tried again.
    ShuttingDown,
    /// A try in flight was cancelled; no record was made.
    Forgotten,
    /// An abort is on its way; the run's end commits.
    Cancelling {
        /// The record.
        handoff: HandoffId,
    },
    /// There is no such delivery or handoff here.
    NotFound,
    /// It belongs to another speaker.
    NotYours,
    /// The posting stands so, durably.
    Posted(RoomDelivery),
    /// What it was decided on has changed meanwhile; nothing was changed.
    Outdated,
    /// The posting has no such step from where it stands.
    NoSuchStep,
}

/// What follows once the changes are durable, in order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Tell the owner of the counts.
    Global(ToGlobal),
    /// Tell a caller.
    Reply(Caller, Answer),
    /// Start the run of this record, with its joiners in order.
    StartRun {
        /// The record, `running{starting}`.
        record: Arc<HandoffRecord>,
        /// The permit it holds.
        permit: PermitId,
        /// What it is given right after it is ready.
        joiners: Vec<Joiner>,
    },
    /// Hand one more joiner to a run.
    Steer(RunId, Joiner),
    /// Take a joiner back from a run.
    CancelSteer(RunId, HandoffId),
    /// Stop a run.
    Abort(RunId, AbortReason),
    /// Wake whoever waits for this record's result.
    ResultReady(HandoffId),
    /// Post what is open of this ended record's reply.
    Deliver(Arc<HandoffRecord>),
    /// An answer came further on its way.
    ClaimMoved(Claim),
}

/// What is next, what must be durable first, and what follows.
#[derive(Debug, Clone)]
pub struct Decision {
    /// The room after it.
    pub next: Room,
    /// One transaction; none when empty.
    pub changes: Vec<Change>,
    /// In order, after the commit.
    pub effects: Vec<Effect>,
}

/// One decision in the making.
struct Turn<'a> {
    room: Room,
    ctx: Context<'a>,
    changes: Vec<Change>,
    effects: Vec<Effect>,
}

impl Decision {
    /// Whether an answer starts to cross: its commit must hold the very authority it was decided under.
    pub fn dispatches(&self) -> bool {
        let crossing = |change: &Change| match change {
            Change::Mail(MailChange::Claim(claim)) => claim.state == ClaimState::Dispatching,
            Change::Mail(_)
            | Change::Record(_)
            | Change::Receipt(_)
            | Change::PermitTaken { .. }
            | Change::PermitGone { .. }
            | Change::Message(_) => false,
        };
        self.changes.iter().any(crossing)
    }
}

impl Room {
    /// A room in which nothing lives.
    pub fn new(id: RoomId) -> Self {
        Self {
            id,
            live: BTreeMap::new(),
            flights: BTreeMap::new(),
            leaving: BTreeMap::new(),
            next_arrival: 0,
            draining: false,
        }
    }

    /// The room with the live records that a boot found, and a fresh ticket for each.
    pub fn recovered(id: RoomId, live: Vec<(HandoffRecord, Ticket)>, claims: &BTreeMap<RequestId, Claim>) -> Self {
        let mut room = Self::new(id);
        for (record, ticket) in live {
            room.next_arrival = room.next_arrival.max(record.arrival.0 + 1);
            let claim = record.delivery.answered().and_then(|request| claims.get(&request)).cloned();
            let entry = Live { record: Arc::new(record), ticket, permit: None, abort: None, gone: false, claim };
            room.live.insert(entry.record.arrival, entry);
        }
        room
    }

    /// Decides one input. An illegal move is a bug in this machine and changes nothing.
    pub fn decide(&self, input: RoomInput, ctx: Context<'_>) -> Result<Decision, IllegalMove> {
        let mut turn = Turn { room: self.clone(), ctx, changes: Vec::new(), effects: Vec::new() };
        turn.take(input)?;
        Ok(Decision { next: turn.room, changes: turn.changes, effects: turn.effects })
    }

    /// Whether nothing lives here, so that the room's actor may end.
    pub fn is_idle(&self) -> bool {
        self.live.is_empty() && self.flights.is_empty() && self.leaving.is_empty()
    }

    /// The live records, in order of arrival.
    pub fn live(&self) -> impl Iterator<Item = &Live> {
        self.live.values()
    }

    /// The ended records of which something is still to be posted, in order.
    pub fn open_postings(&self) -> impl Iterator<Item = &Arc<HandoffRecord>> {
        self.live.values().map(|live| &live.record).filter(|record| record.room_delivery.is_open())
    }
}

impl Turn<'_> {
    fn take(&mut self, input: RoomInput) -> Result<(), IllegalMove> {
        match input {
            RoomInput::Submit { submission, known, caller } => self.submit(submission, known, caller),
            RoomInput::Edit { submission, known, known_edit, caller } => {
                self.edit(submission, known, known_edit, caller)
            }
            RoomInput::Cancel { which, by, known, caller } => self.cancel(&which, &by, known, caller),
            RoomInput::Global(message) => self.hear_global(message),
            RoomInput::Ready(run) => self.progress(run, Step::Ready),
            RoomInput::Doing(run, line) => self.progress(run, Step::Doing(line)),
            RoomInput::Ended(run, end) => self.ended(run, end, Vec::new()),
            RoomInput::EndedWithAsk(run, end, mail) => self.ended(run, end, mail),
            RoomInput::Took(run) => self.took(run),
            RoomInput::Continue { continuation, caller } => {
                self.continue_with(*continuation, caller);
                Ok(())
            }
            RoomInput::Gone(run) => {
                self.gone(run);
                Ok(())
            }
            RoomInput::Posting { handoff, step, caller } => {
                self.posting(handoff, step, caller);
                Ok(())
            }
            RoomInput::Repost { record, caller } => {
                self.repost(*record, caller);
                Ok(())
            }
            RoomInput::Retract { delivery, actor, caller } => self.retract(delivery, actor, caller),
            RoomInput::AuthorityChanged => {
                self.authority_changed();
                Ok(())
            }
            RoomInput::Drain => {
                self.drain();
                Ok(())
            }
            RoomInput::StopRuns => {
                self.stop_runs();
                Ok(())
            }
        }
    }

    fn reply(&mut self, caller: Caller, answer: Answer) {
        self.effects.push(Effect::Reply(caller, answer));
    }

    fn reply_all(&mut self, callers: Vec<Caller>, answer: &Answer) {
        for caller in callers {
            self.reply(caller, answer.clone());
        }
    }

    fn tell_global(&mut self, message: ToGlobal) {
        self.effects.push(Effect::Global(message));
    }

    /// Moves a live record and notes the change.
    fn advance(&mut self, at: Arrival, step: Step) -> Result<(), IllegalMove> {
        let Some(live) = self.room.live.get_mut(&at) else { return Ok(()) };
        let record = Arc::new(live.record.advance(step, self.ctx.now)?);
        live.record = Arc::clone(&record);
        self.changes.push(Change::Record(record));
        Ok(())
    }

    /// Moves a running record on a report of its run; a report of another run is dropped.
    fn progress(&mut self, run: RunId, step: Step) -> Result<(), IllegalMove> {
        let Some(at) = self.running(run) else { return Ok(()) };
        if step == Step::Ready && self.room.live[&at].record.state != State::Running(crate::handoff::Phase::Starting) {
            return Ok(());
        }
        self.advance(at, step)
    }

    fn running(&self, run: RunId) -> Option<Arrival> {
        let running = |live: &&Live| live.record.run == run && matches!(live.record.state, State::Running(_));
        self.room.live.values().find(running).map(|live| live.record.arrival)
    }

    /// The arrivals of the records that joined `target`, in order.
    fn joiners_of(&self, target: HandoffId) -> Vec<Arrival> {
        let joined = |live: &&Live| live.record.state == State::Joined { target };
        self.room.live.values().filter(joined).map(|live| live.record.arrival).collect()
    }

    fn joiner(&self, at: Arrival) -> Option<Joiner> {
        let record = &self.room.live.get(&at)?.record;
        Some(Joiner { handoff: record.id, delivery: record.delivery.clone(), text: record.request.clone() })
    }

    fn drain(&mut self) {
        self.room.draining = true;
        for (ticket, flight) in std::mem::take(&mut self.room.flights) {
            self.tell_global(ToGlobal::Withdraw(ticket));
            let held = flight.held.into_iter().flat_map(|held| held.callers);
            self.reply_all(flight.callers.into_iter().chain(held).collect(), &Answer::ShuttingDown);
        }
    }

    fn stop_runs(&mut self) {
        let runs: Vec<Arrival> = self.runs().collect();
        for at in runs {
            self.abort(at, AbortReason::Shutdown);
        }
    }

    fn authority_changed(&mut self) {
        let runs: Vec<Arrival> = self.runs().collect();
        for at in runs {
            let record = &self.room.live[&at].record;
            if let Err(why) = self.ctx.authority.still_holds(&record.claim(), &record.grant) {
                self.abort(at, AbortReason::Revoked(why));
            }
        }
    }

    fn runs(&self) -> impl Iterator<Item = Arrival> {
        let running = |live: &&Live| matches!(live.record.state, State::Running(_));
        self.room.live.values().filter(running).map(|live| live.record.arrival)
    }

    /// Asks a run to stop. The first reason stands; its end commits.
    fn abort(&mut self, at: Arrival, why: AbortReason) {
        if let Some(live) = self.room.live.get_mut(&at)
            && live.abort.is_none()
        {
            live.abort = Some(why.clone());
            let run = live.record.run;
            self.effects.push(Effect::Abort(run, why));
        }
    }
}
