//! The durable, visible record of one admitted delivery, and the only moves it may make.
//!
//! Invariant I7: a record only moves along the arrows of [`Step`]; [`HandoffRecord::advance`] is
//! the one function that moves it, live and on recovery.

use crate::delivery::{IllegalPosting, PostingStep, RoomDelivery};
use crate::grant::{Claim, Grant, Plan, Transport};
use crate::ids::{ActorId, Arrival, DeliveryId, ExecutorName, Fingerprint, HandoffId, RoomId, RunId};
use crate::mutant::{self, Mutant};
use crate::receipt::Receipt;
use crate::request::{Attachment, Quote, Source, Submission};
use crate::result::TurnResult;
use crate::time::Timestamp;

/// Longest `doing` line, in bytes.
pub const DOING_MAX: usize = 512;

/// Where a record stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// Admitted, holding a place.
    Pending,
    /// A permit is its own and a session is starting or started.
    Running(Phase),
    /// Steering another handoff of the same speaker.
    Joined {
        /// The handoff it was handed to.
        target: HandoffId,
    },
    /// Over, with its one result.
    Ended(TurnResult),
}

/// How far a running record's session has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Committed before anything is spawned: a crash leaves this, and boot reaps by the run's marker.
    Starting,
    /// The session said that it is ready.
    Started,
}

/// The state's name on the wire and in counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StateName {
    /// Waiting for a permit.
    Pending,
    /// Holding one.
    Running,
    /// Steering another.
    Joined,
    /// Settled or silent.
    Completed,
    /// Completed as part of another.
    Absorbed,
    /// Waiting for the owner.
    WaitingUser,
    /// Failed.
    Failed,
    /// Cancelled.
    Cancelled,
}

impl StateName {
    /// Every name, for parsing and for counts.
    pub const ALL: [Self; 8] = [
        Self::Pending,
        Self::Running,
        Self::Joined,
        Self::Completed,
        Self::Absorbed,
        Self::WaitingUser,
        Self::Failed,
        Self::Cancelled,
    ];

    /// The name as the contract writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Joined => "joined",
            Self::Completed => "completed",
            Self::Absorbed => "absorbed",
            Self::WaitingUser => "waiting_user",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Reads a name back.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// Whether a record may be told busy, or was promised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// A new arrival; it took one of the waiting places.
    Fresh,
    /// Promised work, never told busy (invariant I9).
    Owed(Owed),
}

/// Why work is owed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owed {
    /// A joiner that was never read.
    Unread,
    /// An answered ask wakes its source.
    Answer,
}

/// What a handoff has used so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Usage {
    /// Tokens the model read.
    pub input_tokens: u64,
    /// Tokens the model wrote.
    pub output_tokens: u64,
    /// Cost in millionths of a US dollar, where the provider says so.
    pub cost_micros: u64,
    /// Tool calls begun.
    pub tool_calls: u64,
    /// Bytes of text and tool output.
    pub bytes: u64,
}

/// One admitted delivery.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HandoffRecord {
    /// Its identity.
    pub id: HandoffId,
    /// Where it was said.
    pub room: RoomId,
    /// How the transport names it.
    pub delivery: DeliveryId,
    /// The delivery that its reply quotes, where that is not its own: a continuation answers what
    /// its origin was asked.
    pub trigger: Option<DeliveryId>,
    /// Over the stable fields of its request.
    pub fingerprint: Fingerprint,
    /// Who said it.
    pub actor: ActorId,
    /// How the speaker is shown.
    pub actor_name: String,
    /// Typed, spoken or minted.
    pub source: Source,
    /// New or promised.
    pub class: Class,
    /// Its place in the room's order; kept when a joiner becomes owed.
    pub arrival: Arrival,
    /// The one execution it may have.
    pub run: RunId,
    /// Which gateway and lane brought it.
    pub transport: Transport,
    /// The guild of the room, when there is one.
    pub guild: Option<String>,
    /// The most it wanted.
    pub wanted: Option<Plan>,
    /// The words, at most 16 384 bytes.
    pub request: String,
    /// The files.
    pub attachments: Vec<Attachment>,
    /// Quotes that came along; dropped when it ends.
    pub context: Vec<Quote>,
    /// What it may do: as resolved at arrival, and narrowed when it starts.
    pub grant: Grant,
    /// Where it stands.
    pub state: State,
    /// What its session does right now; empty at the end.
    pub doing: String,
    /// The executor that really ran it.
    pub executor: Option<ExecutorName>,
    /// A native child, only after it was verified.
    pub native_child: Option<String>,
    /// Whether and how the reply reached the room.
    pub room_delivery: RoomDelivery,
    /// The handoff it was absorbed by or joined.
    pub joined: Option<HandoffId>,
    /// How many deliveries joined it, ever.
    pub joiner_count: u32,
    /// What it used.
    pub usage: Usage,
    /// When it was admitted.
    pub created_at: Timestamp,
    /// When its permit came.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Moves by one with each change.
    pub revision: u64,
    /// Why it ended as it did, where a result alone does not say.
    pub reason_code: Option<String>,
}

/// One move of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// `pending → running`.
    Start {
        /// The executor that will run it.
        executor: ExecutorName,
        /// The grant resolved again, never wider.
        grant: Grant,
    },
    /// `running → running`: the session is ready.
    Ready,
    /// `running → running`: what the session does now.
    Doing(String),
    /// `pending | running → itself`: one more delivery joined it.
    Joiner,
    /// `pending → pending`: an edit before the start replaces the request.
    Replace(Box<Submission>, Grant),
    /// `joined → pending`: never read, so it is owed.
    Owe,
    /// Into an end: from `pending`, `running` or `joined`.
    End {
        /// The one result.
        result: TurnResult,
        /// What was used.
        usage: Usage,
        /// Whether the room already has the reply.
        room_delivery: RoomDelivery,
    },
}

/// A move that no arrow allows. It changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("handoff {id} is {from} and cannot {step}")]
pub struct IllegalMove {
    /// The record.
    pub id: HandoffId,
    /// Where it stands.
    pub from: &'static str,
    /// The move that was asked for.
    pub step: &'static str,
}

impl HandoffRecord {
    /// The record of a delivery that was just admitted.
    pub fn admitted(from: &Submission, grant: Grant, arrival: Arrival, state: State, now: Timestamp) -> Self {
        let Submission { request, fingerprint, minted } = from;
        Self {
            id: minted.handoff,
            room: request.room.clone(),
            delivery: request.delivery.clone(),
            trigger: None,
            fingerprint: *fingerprint,
            actor: request.actor.clone(),
            actor_name: request.actor_name.clone(),
            source: request.source,
            class: Class::Fresh,
            arrival,
            run: minted.run,
            transport: request.transport.clone(),
            guild: request.guild.clone(),
            wanted: request.wanted,
            request: request.text.clone(),
            attachments: request.attachments.clone(),
            context: request.context.clone(),
            grant,
            joined: match &state {
                State::Joined { target } => Some(*target),
                State::Pending | State::Running(_) | State::Ended(_) => None,
            },
            state,
            doing: String::new(),
            executor: None,
            native_child: None,
            room_delivery: RoomDelivery::default(),
            joiner_count: 0,
            usage: Usage::default(),
            created_at: now,
            started_at: None,
            ended_at: None,
            revision: 1,
            reason_code: None,
        }
    }

    /// The record after `step`, or why there is no such move.
    pub fn advance(&self, step: Step, now: Timestamp) -> Result<Self, IllegalMove> {
        let mut next = self.clone();
        next.revision += 1;
        match (&self.state, step) {
            (State::Pending, Step::Start { executor, grant }) => {
                next.state = State::Running(Phase::Starting);
                next.executor = Some(executor);
                next.grant = grant;
                next.started_at = Some(now);
            }
            (State::Running(Phase::Starting), Step::Ready) => next.state = State::Running(Phase::Started),
            (State::Running(_), Step::Doing(line)) => next.doing = crate::result::cut(&line, DOING_MAX, "…"),
            (State::Pending | State::Running(_), Step::Joiner) => next.joiner_count += 1,
            (State::Pending, Step::Replace(with, grant)) => next.replace(&with, grant),
            (State::Joined { .. }, Step::Owe) => {
                next.state = State::Pending;
                next.class = Class::Owed(Owed::Unread);
                next.joined = None;
            }
            (State::Pending | State::Running(_) | State::Joined { .. }, Step::End { result, usage, room_delivery }) => {
                self.may_end(&result)?;
                next.end(result, usage, room_delivery, now);
            }
            (State::Ended(_), Step::End { result, usage, room_delivery }) if mutant::on(Mutant::I7EndedEndsAgain) => {
                next.end(result, usage, room_delivery, now);
            }
            (_, step) => return Err(self.illegal(step.name())),
        }
        Ok(next)
    }

    /// The ended record after a step of its posting, or why there is no such step.
    pub fn posted(&self, step: PostingStep, now: Timestamp) -> Result<Self, IllegalPosting> {
        let room_delivery = self.room_delivery.advance(step, now)?;
        Ok(Self { room_delivery, revision: self.revision + 1, ..self.clone() })
    }

    /// What its grant is resolved from, again and again.
    pub fn claim(&self) -> Claim {
        Claim {
            actor: self.actor.clone(),
            room: self.room.clone(),
            guild: self.guild.clone(),
            transport: self.transport.clone(),
            wanted: self.wanted,
        }
    }

    /// The delivery that its reply quotes.
    pub fn quoted(&self) -> &DeliveryId {
        self.trigger.as_ref().unwrap_or(&self.delivery)
    }

    /// The receipt that goes with this record.
    pub fn receipt(&self) -> Receipt {
        Receipt {
            room: self.room.clone(),
            delivery: self.delivery.clone(),
            fingerprint: self.fingerprint,
            handoff: self.id,
            result: self.result().cloned(),
            at: self.ended_at.unwrap_or(self.created_at),
        }
    }

    /// Its result, once it has one.
    pub fn result(&self) -> Option<&TurnResult> {
        match &self.state {
            State::Ended(result) => Some(result),
            State::Pending | State::Running(_) | State::Joined { .. } => None,
        }
    }

    /// The state's name.
    pub fn state_name(&self) -> StateName {
        match &self.state {
            State::Pending => StateName::Pending,
            State::Running(_) => StateName::Running,
            State::Joined { .. } => StateName::Joined,
            State::Ended(TurnResult::Settled { .. } | TurnResult::Silent) => StateName::Completed,
            State::Ended(TurnResult::Absorbed { .. }) => StateName::Absorbed,
            State::Ended(TurnResult::WaitingUser { .. }) => StateName::WaitingUser,
            State::Ended(TurnResult::Failed { .. }) => StateName::Failed,
            State::Ended(TurnResult::Cancelled { .. }) => StateName::Cancelled,
        }
    }

    fn may_end(&self, result: &TurnResult) -> Result<(), IllegalMove> {
        let fine = match (&self.state, result) {
            (_, TurnResult::Failed { .. } | TurnResult::Cancelled { .. }) => true,
            (State::Running(_), TurnResult::Settled { .. } | TurnResult::Silent | TurnResult::WaitingUser { .. }) => {
                true
            }
            (State::Joined { target }, TurnResult::Absorbed { joined, .. }) => target == joined,
            (State::Pending | State::Running(_) | State::Joined { .. } | State::Ended(_), _) => false,
        };
        if fine { Ok(()) } else { Err(self.illegal("end with that result")) }
    }

    fn end(&mut self, result: TurnResult, usage: Usage, room_delivery: RoomDelivery, now: Timestamp) {
        if let TurnResult::Failed { code } = &result {
            self.reason_code = Some(code.as_str().to_owned());
        }
        self.state = State::Ended(result);
        self.usage = usage;
        self.room_delivery = room_delivery;
        self.ended_at = Some(now);
        self.doing.clear();
        self.context.clear();
    }

    fn replace(&mut self, with: &Submission, grant: Grant) {
        self.fingerprint = with.fingerprint;
        self.request = with.request.text.clone();
        self.attachments = with.request.attachments.clone();
        self.context = with.request.context.clone();
        self.wanted = with.request.wanted;
        self.grant = grant;
    }

    fn illegal(&self, step: &'static str) -> IllegalMove {
        IllegalMove { id: self.id, from: self.state_name().as_str(), step }
    }
}

impl Step {
    fn name(&self) -> &'static str {
        match self {
            Self::Start { .. } => "start",
            Self::Ready => "become ready",
            Self::Doing(_) => "do anything",
            Self::Joiner => "take a joiner",
            Self::Replace(..) => "be replaced",
            Self::Owe => "become owed",
            Self::End { .. } => "end",
        }
    }
}
