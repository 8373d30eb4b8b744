//! What the actors need from outside: executors, time and fresh identities.
//!
//! An executor reports through its [`EventSink`], which is bounded: a session that talks faster
//! than it is heard waits. Every steer it was handed ends in exactly one of `Read` or `Unread`
//! before it settles.

use std::sync::Arc;

use async_trait::async_trait;
use clankie_domain::admission::room::Answer;
use clankie_domain::delivery::{PostingStep, RoomDelivery as Posted};
use clankie_domain::grant::Grant;
use clankie_domain::handoff::HandoffRecord;
use clankie_domain::ids::{ActorId, DeliveryId, ExecutorName, HandoffId, RoomId, RunId};
use clankie_domain::message::RoomMessage;
use clankie_domain::request::{Attachment, Source};
use clankie_domain::session::{Command, SessionEvent};
use clankie_domain::steering::SteerSupport;
use clankie_domain::time::Timestamp;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use crate::system::rooms::RoomBody;

/// Events of one session that may wait to be heard. A model streams some tens a second.
pub const EVENTS_IN_FLIGHT: usize = 64;
/// Commands that may wait for one session: every joiner handed over and taken back, and an end.
pub const COMMANDS_IN_FLIGHT: usize = 64;

/// The wall clock.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// The moment.
    fn now(&self) -> Timestamp;
}

/// Fresh identities.
pub trait Ids: Send + Sync + std::fmt::Debug {
    /// A UUIDv7, so that ids sort by creation.
    fn uuid(&self) -> Uuid;
}

/// Brings replies into rooms that live elsewhere. It posts; what is durable is decided by the log.
#[async_trait]
pub trait RoomDelivery: Send + Sync + std::fmt::Debug {
    /// Posts what is open of this ended record's reply, part by part and in order. Each part is
    /// `Send` in the log before it is posted, and what came of it after. Called again after a
    /// restart for a part that may stand in the room already.
    async fn deliver(&self, record: Arc<HandoffRecord>, log: PostingLog);

    /// Says one word on the way, or reacts to the trigger. Best effort: it stands in the room's
    /// own history in any case.
    async fn say(&self, record: Arc<HandoffRecord>, message: RoomMessage);
}

/// The durable log of one posting.
#[derive(Debug, Clone)]
pub struct PostingLog {
    pub(crate) rooms: crate::system::rooms::Rooms,
    pub(crate) room: RoomId,
    pub(crate) handoff: HandoffId,
}

/// The log cannot go on: the posting has no such step, or the service is stopping. What was posted
/// is looked for at the next start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the posting cannot go on")]
pub struct PostingStopped;

impl PostingLog {
    /// Makes a step durable and gives the posting as it then stands.
    pub async fn step(&self, step: PostingStep) -> Result<Posted, PostingStopped> {
        let (reply, answer) = oneshot::channel();
        self.rooms.send(&self.room, RoomBody::Posting(self.handoff, step, reply));
        match answer.await {
            Ok(Answer::Posted(posted)) => Ok(posted),
            Ok(_) | Err(_) => Err(PostingStopped),
        }
    }
}

/// Runs one isolated session per handoff.
pub trait Executor: Send + Sync + std::fmt::Debug {
    /// The name it is configured under.
    fn name(&self) -> &ExecutorName;

    /// Whether its sessions can be joined.
    fn steer(&self) -> SteerSupport;

    /// Starts a session and returns at once. What goes wrong is reported as an event.
    fn start(&self, spec: SessionSpec, events: EventSink) -> SessionHandle;
}

/// What one session is started with.
#[derive(Debug, Clone)]
pub struct SessionSpec {
    /// The run: the fence of its events, and its marker in a child's environment.
    pub run: RunId,
    /// Whose session it is.
    pub handoff: HandoffId,
    /// Where it answers.
    pub room: RoomId,
    /// Which delivery it answers.
    pub delivery: DeliveryId,
    /// Who asked.
    pub actor: ActorId,
    /// How that person is shown.
    pub actor_name: String,
    /// Typed, spoken or minted.
    pub source: Source,
    /// What it may do.
    pub grant: Grant,
    /// The words.
    pub request: String,
    /// The files, by reference.
    pub attachments: Vec<Attachment>,
    /// The room's tools, already cut to the grant.
    pub tools: Arc<dyn RoomTools>,
}

/// The two ends that steer a session and tell when it is gone.
#[derive(Debug)]
pub struct SessionHandle {
    /// Commands, in order. A closed channel means the session is over.
    pub commands: mpsc::Sender<Command>,
    /// Resolves, by value or by drop, once nothing of the session is left: task or process group.
    pub gone: oneshot::Receiver<()>,
    /// Ends the session's task when dropped or told.
    pub kill: KillSwitch,
}

/// Ends an in-process session at once; a process group is ended by its executor's own guard.
#[derive(Debug)]
pub struct KillSwitch(tokio::task::AbortHandle);

impl KillSwitch {
    /// A switch for this task. The task must own whatever a process group needs to be ended on drop.
    pub fn new(task: tokio::task::AbortHandle) -> Self {
        Self(task)
    }

    /// Ends it now.
    pub fn pull(&self) {
        self.0.abort();
    }
}

impl Drop for KillSwitch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Where a session's events go.
#[derive(Debug, Clone)]
pub struct EventSink(mpsc::Sender<SessionEvent>);

/// Nobody hears the session any more: its run is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the run of this session is over")]
pub struct RunOver;

impl EventSink {
    /// A sink and the end it is heard at.
    pub fn channel() -> (Self, mpsc::Receiver<SessionEvent>) {
        let (send, receive) = mpsc::channel(EVENTS_IN_FLIGHT);
        (Self(send), receive)
    }

    /// Reports an event; waits while the run is behind.
    pub async fn send(&self, event: SessionEvent) -> Result<(), RunOver> {
        self.0.send(event).await.map_err(|_| RunOver)
    }
}

/// One tool as an agent sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
}

/// What a tool call gives back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolReply {
    /// It was done; text or JSON for the model.
    Done(String),
    /// It was refused; nothing changed.
    Refused {
        /// A stable code, such as `tool_unavailable`.
        code: String,
        /// What to do about it.
        sentence: String,
    },
}

/// The tools of one handoff. Actor, room, destination and grant come from the host; arguments
/// cannot name them. A name outside the catalog does not exist.
#[async_trait]
pub trait RoomTools: Send + Sync + std::fmt::Debug {
    /// Every tool of this grant.
    fn catalog(&self) -> Vec<ToolSpec>;

    /// Quotes of the room and of sibling handoffs as they stand now, one a line; empty when there
    /// are none. Data only: nothing in them is an instruction. Read when an agent is first told of
    /// its request, so that a session which needs none costs no reading.
    fn quotes(&self) -> String;

    /// Calls one. The grant is checked again, before the call and with its effect.
    async fn call(&self, call_id: &str, name: &str, arguments: Value) -> ToolReply;
}
