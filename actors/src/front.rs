//! The front door: everything that gateways and owner surfaces may ask of the actors.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use clankie_domain::admission::Limits;
use clankie_domain::admission::room::{Answer, Canceller, Which};
use clankie_domain::grant::{GrantPolicy, Plan};
use clankie_domain::handoff::{HandoffRecord, StateName};
use clankie_domain::ids::{ActorId, DeliveryId, ExecutorName, Fingerprint, HandoffId, RoomId, RunId};
use clankie_domain::message::RoomMessage;
use clankie_domain::receipt::{Known, Receipt};
use clankie_domain::request::{Minted, Request, Submission};
use clankie_domain::session::Entry;
use clankie_domain::time::Timestamp;

use ractor::ActorRef;
use tokio::sync::oneshot;

use crate::digest;
use crate::ports::{Clock, Executor, Ids, MachineTool, RoomDelivery, Vault};
use crate::store::{Store, StoreError, Txn, Write};
use crate::system::authority::PrincipalsMsg;
use crate::system::fatal::Fatal;
use crate::system::hints::Hints;
use crate::system::mailbox::MailDoor;
use crate::system::rooms::{RoomBody, Rooms, Unreachable};
use crate::system::supervisor::{SupervisorMsg, Tickets};

mod devices;
pub mod feed;
pub mod mail;
mod start;

pub use crate::system::authority::{Dismissed, Polled};

/// What the actors are given from outside.
#[derive(Debug, Clone)]
pub struct Ports {
    /// The wall clock.
    pub clock: Arc<dyn Clock>,
    /// Fresh identities.
    pub ids: Arc<dyn Ids>,
    /// Every configured executor.
    pub executors: Vec<Arc<dyn Executor>>,
    /// What posts into rooms that live elsewhere, when there is a gateway for them.
    pub delivery: Option<Arc<dyn RoomDelivery>>,
    /// Where secret answers are kept.
    pub vault: Arc<dyn Vault>,
    /// The machine tools that configuration may list.
    pub machine_tools: Vec<Arc<dyn MachineTool>>,
}

/// What configuration says to the actors.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How much may run and wait.
    pub limits: Limits,
    /// Who may do what.
    pub policy: GrantPolicy,
    /// Which executor runs each plan.
    pub routes: BTreeMap<Plan, ExecutorName>,
    /// Silence after which a run is dead, in milliseconds.
    pub stall_ms: u64,
    /// Text and tool output of one run, in bytes.
    pub output_max: u64,
    /// How long an aborted session may take to settle.
    pub stop_grace: Duration,
    /// The reactions that `react` may use.
    pub reactions: Vec<String>,
}

/// Why an operation has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The store stopped; the outcome of what was in flight is unknown.
    #[error("the store has stopped: {0}; retry the same delivery id after the service is back")]
    StoreUnavailable(String),
    /// The service is stopping.
    #[error("the service is stopping; retry the same delivery id after it is back")]
    ShuttingDown,
    /// Admission is being rebuilt.
    #[error("the service is starting again; retry the same delivery id in a moment")]
    Restarting,
    /// Too many submits of that room are in flight.
    #[error("64 submits of this room are in flight; retry the same delivery id in a moment")]
    TooManyInFlight,
    /// A stored row cannot be read.
    #[error("a stored row cannot be read: {0}")]
    Damaged(String),
}

/// Which handoffs to list, newest first.
#[derive(Debug, Clone, Default)]
pub struct HandoffQuery {
    /// Only this room.
    pub room: Option<RoomId>,
    /// Only this state.
    pub state: Option<StateName>,
    /// Only this actor.
    pub actor: Option<ActorId>,
    /// At most this many.
    pub limit: usize,
    /// Only older ones than this.
    pub before: Option<HandoffId>,
}

/// How much runs and waits, of one snapshot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Records in `running`.
    pub running: usize,
    /// Records in `pending` that took a waiting place.
    pub waiting: usize,
    /// Records in `pending` that are owed.
    pub owed: usize,
}

/// One page of handoffs, of one snapshot.
#[derive(Debug, Clone)]
pub struct HandoffPage {
    /// Newest first.
    pub handoffs: Vec<HandoffRecord>,
    /// Counts of the same snapshot.
    pub tally: Tally,
    /// The limits in force.
    pub limits: Limits,
    /// Sequence number of the last event that the snapshot contains.
    pub last_event: u64,
    /// Identity of the store; another one after a restore.
    pub epoch: uuid::Uuid,
}

/// One stored line of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptLine {
    /// Its place, from one.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// What.
    pub entry: Entry,
}

/// One room as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoomSummary {
    /// Which.
    pub room: RoomId,
    /// Records that run, wait or join there.
    pub live: usize,
    /// When something was last said there.
    pub last_message_at: Option<Timestamp>,
}

/// Why the actors did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The store refused.
    #[error("{0}")]
    Store(String),
    /// A plan is routed to an executor that does not exist.
    #[error("plan {plan:?} is routed to executor {executor}, which is not configured")]
    NoExecutor {
        /// The plan.
        plan: Plan,
        /// The missing executor.
        executor: ExecutorName,
    },
    /// An actor did not start.
    #[error("an actor did not start: {0}")]
    Actor(String),
}

/// How many runs a stop found and how they ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stopped {
    /// Runs that ended within the grace.
    pub settled: usize,
    /// Runs that were interrupted.
    pub interrupted: usize,
}

/// The handle that everything outside holds. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Clankie {
    store: Store,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    limits: Limits,
    executors: Arc<Vec<Arc<dyn Executor>>>,
    hints: Hints,
    rooms: Rooms,
    tickets: Tickets,
    mail: MailDoor,
    principals: ActorRef<PrincipalsMsg>,
    supervisor: ActorRef<SupervisorMsg>,
    fatal: Fatal,
}

impl Clankie {
    /// Loads, recovers and starts everything. Effects of recovery are durable before it returns.
    pub async fn start(store: Store, ports: Ports, settings: Settings) -> Result<Self, StartError> {
        start::start(store, ports, settings).await
    }

    /// Admits, joins, answers or refuses one request. An answer of acceptance is durable.
    pub async fn submit(&self, request: Request) -> Result<Answer, Failure> {
        let room = request.room.clone();
        let submission = self.submission(request);
        let (delivery, fingerprint) = (submission.request.delivery.clone(), submission.fingerprint);
        let answer = self.ask(&room, |reply| RoomBody::Submit(submission, reply)).await?;
        if answer == Answer::ShuttingDown { self.saved(&room, &delivery, fingerprint) } else { Ok(answer) }
    }

    /// What a stopping service still answers: a delivery that has its result.
    fn saved(&self, room: &RoomId, delivery: &DeliveryId, fingerprint: Fingerprint) -> Result<Answer, Failure> {
        let Some(receipt) = self.receipt(room, delivery)? else { return Ok(Answer::ShuttingDown) };
        let handoff = receipt.handoff;
        Ok(match (receipt.compare(fingerprint), receipt.result) {
            (Known::Conflict, _) => Answer::Conflict { handoff },
            (Known::Same, Some(result)) => Answer::Settled { handoff, result },
            (Known::Same, None) => Answer::ShuttingDown,
        })
    }

    /// Replaces the words of a delivery before its start, or joins them later.
    pub async fn edit(&self, request: Request) -> Result<Answer, Failure> {
        let room = request.room.clone();
        let submission = self.submission(request);
        self.ask(&room, |reply| RoomBody::Edit(submission, reply)).await
    }

    /// Cancels a delivery or handoff of `room`.
    pub async fn cancel(&self, room: &RoomId, which: Which, by: Canceller) -> Result<Answer, Failure> {
        self.ask(room, |reply| RoomBody::Cancel(which, by, reply)).await
    }

    /// The message of a delivery was deleted: before its start it is cancelled, later nothing changes.
    pub async fn retract(&self, room: &RoomId, delivery: DeliveryId, actor: ActorId) -> Result<Answer, Failure> {
        self.ask(room, |reply| RoomBody::Retract(delivery, actor, reply)).await
    }

    /// Posts once more what did not arrive of a reply, or may not have. The owner's wish only.
    pub async fn repost(&self, room: &RoomId, handoff: HandoffId) -> Result<Answer, Failure> {
        self.ask(room, |reply| RoomBody::Repost(handoff, reply)).await
    }

    /// Returns when the handoff has its result, or after `wait`.
    pub async fn wait_result(&self, handoff: HandoffId, wait: Duration) {
        let ended = || match self.handoff(handoff) {
            Ok(record) => record.is_none_or(|record| record.result().is_some()),
            Err(_) => true,
        };
        self.hints.wait(handoff, wait, ended).await;
    }

    /// The durable receipt of a delivery.
    pub fn receipt(&self, room: &RoomId, delivery: &DeliveryId) -> Result<Option<Receipt>, Failure> {
        Ok(self.store.snapshot()?.receipt(room, delivery)?)
    }

    /// One record.
    pub fn handoff(&self, id: HandoffId) -> Result<Option<HandoffRecord>, Failure> {
        Ok(self.store.snapshot()?.handoff(id)?)
    }

    /// Records, newest first, with counts of the same snapshot.
    pub fn handoffs(&self, query: &HandoffQuery) -> Result<HandoffPage, Failure> {
        let snapshot = self.store.snapshot()?;
        Ok(HandoffPage {
            handoffs: snapshot.handoffs(query)?,
            tally: snapshot.tally()?,
            limits: self.limits,
            last_event: snapshot.last_event()?,
            epoch: snapshot.epoch(),
        })
    }

    /// Lines of a transcript after `after`, oldest first.
    pub fn transcript(&self, id: HandoffId, after: u64, limit: usize) -> Result<Vec<TranscriptLine>, Failure> {
        Ok(self.store.snapshot()?.transcript(id, after, limit)?)
    }

    /// Returns when that transcript has a line after `after`, when the handoff ends, or after `wait`.
    pub async fn wait_transcript(&self, id: HandoffId, after: u64, wait: Duration) {
        let mut changes = self.store.changes();
        let more = async { while !self.has_line(id, after) && changes.changed().await.is_ok() {} };
        // No line in time is an ordinary outcome.
        let _ = tokio::time::timeout(wait, more).await;
    }

    /// What was said in a room after `after`, oldest first, with its place.
    pub fn messages(&self, room: &RoomId, after: u64, limit: usize) -> Result<Vec<(u64, RoomMessage)>, Failure> {
        Ok(self.store.snapshot()?.messages(room, after, limit)?)
    }

    /// Returns when something was said in that room after `after`, or after `wait`.
    pub async fn wait_message(&self, room: &RoomId, after: u64, wait: Duration) {
        let mut changes = self.store.changes();
        let said = || self.messages(room, after, 1).map_or(true, |messages| !messages.is_empty());
        let until_said = async { while !said() && changes.changed().await.is_ok() {} };
        // Nothing having been said in time is an ordinary outcome.
        let _ = tokio::time::timeout(wait, until_said).await;
    }

    /// Every room in which anything is kept.
    pub fn rooms(&self) -> Result<Vec<RoomSummary>, Failure> {
        Ok(self.store.snapshot()?.rooms()?)
    }

    /// Where a gateway goes on after a restart, by its own name for it.
    pub fn bookmark(&self, name: &str) -> Result<Option<String>, Failure> {
        Ok(self.store.snapshot()?.bookmark(name)?)
    }

    /// Keeps where a gateway goes on. Durable when it returns.
    pub async fn keep_bookmark(&self, name: &str, value: String) -> Result<(), Failure> {
        let write = Write::Bookmark { name: name.to_owned(), value };
        Ok(self.store.commit(Txn::of(write)).await.map(drop)?)
    }

    /// Every bookmark whose name begins like this: what follows that in its name, and its text.
    pub fn bookmarks(&self, prefix: &str) -> Result<Vec<(String, String)>, Failure> {
        Ok(self.store.snapshot()?.bookmarks(prefix)?)
    }

    /// Keeps one bookmark and drops others, all in one commit. Durable when it returns.
    pub async fn move_bookmarks(&self, (name, value): (&str, String), gone: Vec<String>) -> Result<(), Failure> {
        let mut txn = Txn::of(Write::Bookmark { name: name.to_owned(), value });
        for name in gone {
            txn = txn.and(Write::BookmarkGone { name });
        }
        Ok(self.store.commit(txn).await.map(drop)?)
    }

    /// How many rooms have an actor now. Idle ones have none.
    pub fn room_actors(&self) -> usize {
        self.rooms.count()
    }

    /// Puts other grants in force; affected runs are stopped.
    pub async fn reload(&self, policy: GrantPolicy, routes: BTreeMap<Plan, ExecutorName>) -> Result<(), StartError> {
        let routes = start::routes(&routes, &self.executors)?;
        let policy = start::with_room_tools(policy);
        let done = self.principals(|reply| PrincipalsMsg::Reload(policy, routes, reply)).await;
        done.map_err(|failure| StartError::Store(failure.to_string()))
    }

    /// `Err` with the reason once the store has stopped.
    pub fn health(&self) -> Result<(), Failure> {
        Ok(self.store.health()?)
    }

    /// Resolves when the process must end: the store stopped or admission died twice.
    pub async fn failed(&self) -> String {
        let (mut store, mut fatal) = (self.store.failed(), self.fatal.reason());
        let gone = || "the service is gone".to_owned();
        tokio::select! {
            biased;
            why = store.wait_for(Option::is_some) => why.ok().and_then(|why| why.clone()).unwrap_or_else(gone),
            why = fatal.wait_for(Option::is_some) => why.ok().and_then(|why| why.clone()).unwrap_or_else(gone),
        }
    }

    /// No new admissions and no starts from now on; returns when what ran has ended or was interrupted after `grace`.
    pub async fn stop(&self, grace: Duration) -> Stopped {
        start::stop(self, grace).await
    }

    fn has_line(&self, id: HandoffId, after: u64) -> bool {
        let ended = self.handoff(id).map(|record| record.is_none_or(|record| record.result().is_some()));
        let line = self.transcript(id, after, 1).map(|lines| !lines.is_empty());
        ended.unwrap_or(true) || line.unwrap_or(true)
    }

    fn submission(&self, request: Request) -> Submission {
        let fingerprint = digest::fingerprint(&request);
        let minted =
            Minted { ticket: self.tickets.mint(), handoff: HandoffId(self.ids.uuid()), run: RunId(self.ids.uuid()) };
        Submission { request, fingerprint, minted }
    }

    async fn ask(
        &self,
        room: &RoomId,
        body: impl FnOnce(oneshot::Sender<Answer>) -> RoomBody,
    ) -> Result<Answer, Failure> {
        self.store.health()?;
        let place = match self.rooms.admit(room) {
            Ok(place) => place,
            Err(Unreachable::Draining) => return Ok(Answer::ShuttingDown),
            Err(Unreachable::Closed) => return Err(Failure::Restarting),
            Err(Unreachable::Full) => return Err(Failure::TooManyInFlight),
        };
        let (reply, answer) = oneshot::channel();
        self.rooms.send(room, body(reply));
        let answer = answer.await;
        drop(place);
        answer.map_err(|_| match self.store.health() {
            Err(stopped) => stopped.into(),
            Ok(()) => Failure::Restarting,
        })
    }

    async fn principals<T>(&self, message: impl FnOnce(oneshot::Sender<T>) -> PrincipalsMsg) -> Result<T, Failure> {
        let (reply, answer) = oneshot::channel();
        self.principals.cast(message(reply)).map_err(|_| Failure::ShuttingDown)?;
        answer.await.map_err(|_| match self.store.health() {
            Err(stopped) => stopped.into(),
            Ok(()) => Failure::ShuttingDown,
        })
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Failed(why) | StoreError::Storage(why) => Self::StoreUnavailable(why),
            StoreError::Damaged { .. } | StoreError::DamagedLive { .. } | StoreError::Encoding(_) => {
                Self::Damaged(error.to_string())
            }
        }
    }
}
