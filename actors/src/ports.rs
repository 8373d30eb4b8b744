//! What the actors need from outside: executors, time and fresh identities.
//!
//! An executor reports through its [`EventSink`], which is bounded: a session that talks faster
//! than it is heard waits. Every steer it was handed ends in exactly one of `Read` or `Unread`
//! before it settles.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use clankie_domain::admission::room::Answer;
use clankie_domain::answer::Sealed;
use clankie_domain::autonomy::Category;
use clankie_domain::delivery::{PostingStep, RoomDelivery as Posted};
use clankie_domain::grant::Grant;
use clankie_domain::handoff::HandoffRecord;
use clankie_domain::ids::{ActorId, DeliveryId, ExecutorName, HandoffId, RequestId, RoomId, RunId};
use clankie_domain::message::{MessageKind, RoomMessage};
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

/// Keeps secret answers: the words are encrypted under a key of their own, which is in a file until
/// the answer is delivered. Old pages of the store stay unreadable afterwards. Their digest has a key
/// of its own, which lives a while longer: whoever holds both can try guesses.
pub trait Vault: Send + Sync + std::fmt::Debug {
    /// Seals words for that ask. Its keys are durable when this returns.
    fn seal(&self, request: RequestId, words: &str) -> Result<Sealed, VaultError>;

    /// The keyed digest of words for that ask, by which the same answer is known again. None when its
    /// key is gone.
    fn digest(&self, request: RequestId, words: &str) -> Result<Option<[u8; 32]>, VaultError>;

    /// Gives the words back while their key is there.
    fn open(&self, request: RequestId, sealed: &Sealed) -> Result<String, VaultError>;

    /// Destroys the key of that ask's words.
    fn forget(&self, request: RequestId);

    /// Destroys the key of that ask's digest.
    fn forget_digest(&self, request: RequestId);

    /// Every ask whose words can be read.
    fn kept(&self) -> Vec<RequestId>;

    /// Every ask whose answer can be told from another one.
    fn compared(&self) -> Vec<RequestId>;
}

/// Words could not be sealed or opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a secret answer could not be kept or read: {0}")]
pub struct VaultError(pub String);

/// A machine tool of the configured closed list. It runs only for machine and owner grants.
#[async_trait]
pub trait MachineTool: Send + Sync + std::fmt::Debug {
    /// The tool as an agent sees it.
    fn spec(&self) -> ToolSpec;

    /// The category that this call needs, if any: it is decided by the arguments alone.
    fn gate(&self, arguments: &Value) -> Option<Category>;

    /// Does it. Authority, and the gate, were committed just before.
    async fn call(&self, arguments: Value) -> ToolReply;
}

/// The owner's answer that a continuation carries.
#[derive(Clone, PartialEq, Eq)]
pub struct Answered {
    /// The ask.
    pub request: RequestId,
    /// What was asked.
    pub prompt: String,
    /// What surfaces show of the answer; a secret is not in it.
    pub shown: String,
    /// The answer itself, for the session alone.
    pub told: String,
}

impl std::fmt::Debug for Answered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answered").field("request", &self.request).finish_non_exhaustive()
    }
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

/// How long a step of a posting waits for admission: far longer than rebuilding it takes.
const REBUILT_WITHIN: Duration = Duration::from_secs(5);

/// How many of a room's newest messages are looked through for what else was said: as many as a
/// transport reads of the room itself.
const SAID_BESIDES: usize = 1_000;

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
        // A posting may go on at a start before its room does.
        self.rooms.reachable(REBUILT_WITHIN).await;
        let (reply, answer) = oneshot::channel();
        self.rooms.send(&self.room, RoomBody::Posting(self.handoff, step, reply));
        match answer.await {
            Ok(Answer::Posted(posted)) => Ok(posted),
            Ok(_) | Err(_) => Err(PostingStopped),
        }
    }

    /// What else was said in answer to this delivery, by this run on its way and by others, among the
    /// newest things of the room. A transport that looks for the reply may take one of them for it.
    pub fn said_besides(&self, trigger: &DeliveryId) -> Result<Vec<String>, PostingStopped> {
        let newest = self.rooms.store().snapshot().and_then(|store| store.last_messages(&self.room, SAID_BESIDES));
        let mut said = newest.map_err(|_| PostingStopped)?;
        said.retain(|(_, message)| match message.kind {
            MessageKind::Update => message.reply_to.as_ref() == Some(trigger),
            MessageKind::Reply | MessageKind::Notice => {
                message.reply_to.as_ref() == Some(trigger) && message.handoff != self.handoff
            }
            MessageKind::Person | MessageKind::Reaction => false,
        });
        Ok(said.into_iter().map(|(_, message)| message.text).collect())
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
    /// The owner's answer, when it continues an earlier question. The request then frames it.
    pub answered: Option<Answered>,
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
