//! The rooms that have an actor now: made on first use, ended when idle.
//!
//! Every message carries a lease that is taken under the map's guard and ends when the message
//! was handled. An actor ends only through [`Rooms::end_if_unleased`], so no message can be sent
//! to an actor that is about to end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use clankie_domain::admission::recover::Place;
use clankie_domain::admission::room::{Answer, Canceller, Continuation, Room, Which};
use clankie_domain::admission::{FromGlobal, SUBMITS_IN_FLIGHT, ToGlobal};
use clankie_domain::delivery::PostingStep;
use clankie_domain::grant::{Authority, GrantEpoch};
use clankie_domain::ids::{ActorId, ConversationId, DeliveryId, HandoffId, RoomId, RunId};
use clankie_domain::mailbox::MailChange;
use clankie_domain::request::Submission;
use clankie_domain::session::RunEnd;
use dashmap::DashMap;
use dashmap::mapref::entry::Entry as Slot;
use ractor::{ActorCell, ActorProcessingErr, ActorRef, ActorRuntime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};

use super::global_admission::GlobalMsg;
use super::room_admission::{RoomAdmission, RoomPorts};
use super::sessions::Sessions;
use crate::store::Store;

/// What a room hears.
#[derive(Debug)]
pub(crate) enum RoomBody {
    /// A delivery came.
    Submit(Submission, oneshot::Sender<Answer>),
    /// A delivery was edited.
    Edit(Submission, oneshot::Sender<Answer>),
    /// Somebody cancels.
    Cancel(Which, Canceller, oneshot::Sender<Answer>),
    /// The owner of the counts says something.
    Global(FromGlobal),
    /// A run's session is ready.
    Ready(RunId),
    /// A run's session took what it was given.
    Took(RunId),
    /// What a run does now.
    Doing(RunId, String),
    /// A run ended.
    Ended(RunId, RunEnd),
    /// A run ended, and an ask goes into the same commit.
    EndedWithAsk(RunId, RunEnd, FiledAsk),
    /// An accepted answer wakes its source.
    Continue(Box<Continuation>, DecidedOn, oneshot::Sender<Answer>),
    /// A run has ended with an ask: its end comes by the mailbox.
    Filing(RunId),
    /// The actor of a run has ended. One that did report has no use for it.
    Died(RunId),
    /// A run's session is gone.
    Gone(RunId),
    /// What anybody may do has changed.
    AuthorityChanged,
    /// No admissions and no starts from now on.
    Drain,
    /// Every run must stop.
    StopRuns,
    /// A step of a posting.
    Posting(HandoffId, PostingStep, oneshot::Sender<Answer>),
    /// The owner wants a reply to be posted once more.
    Repost(HandoffId, oneshot::Sender<Answer>),
    /// The message that a delivery came from was deleted.
    Retract(DeliveryId, ActorId, oneshot::Sender<Answer>),
    /// Nothing of the room is out any more: it may end if nothing lives there.
    Rest,
}

/// What an answer was decided on: its commit holds only while both are so.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DecidedOn {
    /// The version of its mailbox.
    pub(crate) version: u64,
    /// The authority under which whoever answered might do so.
    pub(crate) epoch: GrantEpoch,
}

/// What the mailbox decided for the end of a run.
#[derive(Debug)]
pub(crate) struct FiledAsk {
    pub(crate) mail: Vec<MailChange>,
    pub(crate) conversation: ConversationId,
    /// The version of the mailbox that it was decided on.
    pub(crate) version: u64,
    /// Dropped when the commit has ended; until then the conversation is held.
    pub(crate) hold: oneshot::Sender<()>,
}

/// A message with the lease that holds its receiver alive.
#[derive(Debug)]
pub(crate) struct RoomMsg {
    pub(crate) body: RoomBody,
    pub(crate) lease: Lease,
}

/// Holds one room's actor alive.
#[derive(Debug)]
pub(crate) struct Lease(Arc<AtomicUsize>);

impl Lease {
    /// Takes one. Only under the map's guard, or from one that is held.
    fn take(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(count))
    }
}

impl Clone for Lease {
    fn clone(&self) -> Self {
        Self::take(&self.0)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

#[derive(Debug)]
struct Entry {
    actor: ActorRef<RoomMsg>,
    leases: Arc<AtomicUsize>,
    submits: Arc<Semaphore>,
}

/// The running admission that rooms belong to.
#[derive(Debug, Clone)]
pub(crate) struct Running {
    /// The owner of the counts.
    pub(crate) global: ActorRef<GlobalMsg>,
    /// Whom the rooms are linked to.
    pub(crate) supervisor: ActorCell,
}

/// Whether rooms may be used.
#[derive(Debug, Clone)]
pub(crate) enum Gate {
    /// Admission is being rebuilt.
    Closed,
    /// Ordinary work.
    Open(Running),
    /// The service is stopping: what runs goes on, nothing is admitted.
    Draining(Running),
}

/// The map.
#[derive(Debug, Clone)]
pub(crate) struct Rooms {
    entries: Arc<DashMap<RoomId, Entry>>,
    gate: Arc<watch::Sender<Gate>>,
    ports: Arc<RoomPorts>,
}

/// Why a submit was not even handed to its room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unreachable {
    /// Admission is being rebuilt.
    Closed,
    /// The service is stopping.
    Draining,
    /// Too many submits of that room are in flight.
    Full,
}

impl Rooms {
    /// A map without rooms, closed.
    pub(crate) fn new(ports: RoomPorts) -> Self {
        let gate = watch::Sender::new(Gate::Closed);
        Self { entries: Arc::default(), gate: Arc::new(gate), ports: Arc::new(ports) }
    }

    /// The authority in force.
    pub(crate) fn authority(&self) -> Arc<Authority> {
        self.ports.authority.current()
    }

    /// Where everything durable is.
    pub(crate) fn store(&self) -> &Store {
        &self.ports.store
    }

    /// Opens, closes or drains.
    pub(crate) fn set_gate(&self, gate: Gate) {
        self.gate.send_replace(gate);
    }

    /// Takes one of the room's submit places. The place is given back by drop.
    pub(crate) fn admit(&self, room: &RoomId) -> Result<OwnedSemaphorePermit, Unreachable> {
        match &*self.gate.borrow() {
            Gate::Closed => return Err(Unreachable::Closed),
            Gate::Draining(_) => return Err(Unreachable::Draining),
            Gate::Open(_) => {}
        }
        let submits = self.with(room, |entry| Arc::clone(&entry.submits)).ok_or(Unreachable::Closed)?;
        submits.try_acquire_owned().map_err(|_| Unreachable::Full)
    }

    /// Sends to a room's actor, making it on first use. Dropped while admission is closed.
    pub(crate) fn send(&self, room: &RoomId, body: RoomBody) {
        let sent = self.with(room, |entry| {
            let lease = Lease::take(&entry.leases);
            entry.actor.cast(RoomMsg { body, lease }).is_ok()
        });
        if sent != Some(true) {
            tracing::debug!(%room, "a message to a room was dropped: admission is being rebuilt");
        }
    }

    /// Returns once rooms can be reached, or after `within`: admission is being rebuilt for so long at most.
    pub(crate) async fn reachable(&self, within: Duration) {
        let mut gate = self.gate.subscribe();
        let open = gate.wait_for(|gate| !matches!(gate, Gate::Closed));
        // A message that is sent all the same is dropped, and its sender told so.
        let _ = tokio::time::timeout(within, open).await;
    }

    /// Tells a room that nothing of it is out any more. One without an actor rests already.
    pub(crate) fn rest(&self, room: &RoomId) {
        if let Some(entry) = self.entries.get(room) {
            let lease = Lease::take(&entry.leases);
            // A dead actor is the supervisor's to replace.
            let _ = entry.actor.cast(RoomMsg { body: RoomBody::Rest, lease });
        }
    }

    /// A lease of the room's actor, making it on first use.
    pub(crate) fn lease(&self, room: &RoomId) -> Option<Lease> {
        self.with(room, |entry| Lease::take(&entry.leases))
    }

    /// Sends to every room that has an actor.
    pub(crate) fn send_all(&self, body: impl Fn() -> RoomBody) {
        for room in self.names() {
            self.send(&room, body());
        }
    }

    /// Every room that has an actor, in an order that does not depend on the map's.
    fn names(&self) -> BTreeSet<RoomId> {
        self.entries.iter().map(|entry| entry.key().clone()).collect()
    }

    /// Tells the owner of the counts, with a lease of the room.
    pub(crate) fn tell_global(&self, room: &RoomId, message: ToGlobal, lease: &Lease) {
        let global = match &*self.gate.borrow() {
            Gate::Closed => return,
            Gate::Open(running) | Gate::Draining(running) => running.global.clone(),
        };
        if global.cast(GlobalMsg::Room(room.clone(), message, lease.clone())).is_err() {
            tracing::debug!(%room, "the owner of the counts is gone: admission is being rebuilt");
        }
    }

    /// Opens over what a boot found. Every found room stands in its place, and the owner of the
    /// counts is told its places, before anybody else can reach a room: a submit that came first
    /// would make a second actor of a found room, which nobody would answer.
    pub(crate) fn open(
        &self,
        running: Running,
        found: BTreeMap<RoomId, Room>,
        places: Vec<Place>,
    ) -> Result<(), ActorProcessingErr> {
        for (id, room) in found {
            let entry = self.make(&id, room, running.supervisor.clone()).ok_or("a found room's actor did not start")?;
            self.entries.insert(id, entry);
        }
        let mut told = Ok(());
        self.gate.send_modify(|gate| {
            // Whoever reserves must first see the gate open, so this is first in that queue.
            told = running.global.cast(GlobalMsg::Recover(places));
            *gate = Gate::Open(running);
        });
        Ok(told?)
    }

    /// Removes the room's actor from the map unless somebody holds a lease; then it must end.
    pub(crate) fn end_if_unleased(&self, room: &RoomId, actor: &ActorRef<RoomMsg>) -> bool {
        let mine = |_: &RoomId, entry: &Entry| {
            entry.actor.get_id() == actor.get_id() && entry.leases.load(Ordering::Acquire) == 0
        };
        self.entries.remove_if(room, mine).is_some()
    }

    /// Forgets every room and hands their actors out, for a rebuild.
    pub(crate) fn take_all(&self) -> Vec<ActorRef<RoomMsg>> {
        self.names().iter().filter_map(|room| self.entries.remove(room)).map(|(_, entry)| entry.actor).collect()
    }

    /// Whether this actor is the one of a room that is in the map.
    pub(crate) fn belongs(&self, cell: &ActorCell) -> bool {
        self.entries.iter().any(|entry| entry.actor.get_id() == cell.get_id())
    }

    /// How many rooms have an actor.
    pub(crate) fn count(&self) -> usize {
        self.entries.len()
    }

    /// How long an aborted session may take to settle.
    pub(crate) fn stop_grace(&self) -> Duration {
        self.ports.stop_grace
    }

    /// The sessions that may still be there.
    pub(crate) fn sessions(&self) -> &Sessions {
        &self.ports.sessions
    }

    fn with<T>(&self, room: &RoomId, then: impl FnOnce(&Entry) -> T) -> Option<T> {
        match self.entries.entry(room.clone()) {
            Slot::Occupied(slot) => Some(then(slot.get())),
            Slot::Vacant(slot) => {
                let supervisor = match &*self.gate.borrow() {
                    Gate::Closed => return None,
                    Gate::Open(running) | Gate::Draining(running) => running.supervisor.clone(),
                };
                let entry = self.make(room, Room::new(room.clone()), supervisor)?;
                Some(then(slot.insert(entry).value()))
            }
        }
    }

    fn make(&self, room: &RoomId, first: Room, supervisor: ActorCell) -> Option<Entry> {
        let handler = RoomAdmission { id: room.clone(), rooms: self.clone(), ports: Arc::clone(&self.ports) };
        let (actor, _) = ActorRuntime::spawn_linked_instant(None, handler, first, supervisor).ok()?;
        let submits = Arc::new(Semaphore::new(SUBMITS_IN_FLIGHT));
        Some(Entry { actor, leases: Arc::new(AtomicUsize::new(0)), submits })
    }
}
