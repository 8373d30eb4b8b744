//! Starts admission, and starts all of it again when a part of it dies.
//!
//! Admission fails as one: there is no partial rebuild. The sessions are stopped, boot recovery
//! runs, and everything is made new. A second death within a minute ends the process.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use clankie_domain::admission::Limits;
use clankie_domain::admission::recover::{Found, Recovery, recover};
use clankie_domain::ids::Ticket;
use clankie_domain::time::Timestamp;
use ractor::{Actor, ActorProcessingErr, ActorRef, SupervisionEvent};

use super::authority::AuthorityView;
use super::failpoint::{self, Side};
use super::fatal::{Fatal, Fuse};
use super::global_admission::{GlobalAdmission, GlobalMsg};
use super::hints::Hints;
use super::mailbox::{MailDoor, MailMsg};
use super::rooms::{Gate, RoomBody, Rooms, Running};
use super::sessions::Sessions;
use crate::ports::Clock;
use crate::store::{Store, StoreError, Txn};

/// A second death of admission within this time is a bug that a restart does not cure.
const SECOND_DEATH_MS: u64 = 60_000;
/// How long a rebuild waits for the sessions that it stopped.
const SESSIONS_END: Duration = Duration::from_secs(10);
/// How often old rows are pruned.
const PRUNE_EVERY: Duration = Duration::from_secs(600);

/// Fresh tickets, never reused within a process.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tickets(Arc<AtomicU64>);

impl Tickets {
    /// The next one.
    pub(crate) fn mint(&self) -> Ticket {
        Ticket(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

impl Iterator for Tickets {
    type Item = Ticket;

    fn next(&mut self) -> Option<Ticket> {
        Some(self.mint())
    }
}

/// What the supervisor hears.
#[derive(Debug)]
pub(crate) enum SupervisorMsg {
    /// Old rows are to be pruned.
    Prune,
    /// Nothing starts from now on.
    Drain,
}

/// The actor: its ports.
#[derive(Debug)]
pub(crate) struct Supervisor {
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) authority: AuthorityView,
    pub(crate) rooms: Rooms,
    pub(crate) sessions: Sessions,
    pub(crate) hints: Hints,
    pub(crate) tickets: Tickets,
    pub(crate) limits: Limits,
    pub(crate) mail: MailDoor,
    pub(crate) fatal: Fatal,
}

/// Whether the service goes on or stops; a rebuild of admission must not forget it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Course {
    GoesOn,
    Stops,
}

/// The actor's state.
#[derive(Debug)]
pub(crate) struct Watched {
    running: Running,
    course: Course,
    last_death: Option<Timestamp>,
    _fuse: Fuse,
}

impl Actor for Supervisor {
    type Msg = SupervisorMsg;
    type State = Watched;
    type Arguments = ();

    async fn pre_start(&self, myself: ActorRef<SupervisorMsg>, (): ()) -> Result<Watched, ActorProcessingErr> {
        let running = self.boot(&myself).await?;
        Ok(Watched { running, course: Course::GoesOn, last_death: None, _fuse: self.fatal.fuse("the supervisor") })
    }

    async fn post_start(&self, myself: ActorRef<SupervisorMsg>, _: &mut Watched) -> Result<(), ActorProcessingErr> {
        myself.cast(SupervisorMsg::Prune)?;
        myself.send_interval(PRUNE_EVERY, || SupervisorMsg::Prune);
        Ok(())
    }

    async fn handle(
        &self,
        myself: ActorRef<SupervisorMsg>,
        message: SupervisorMsg,
        state: &mut Watched,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            SupervisorMsg::Prune => self.prune(&myself).await,
            SupervisorMsg::Drain => {
                state.course = Course::Stops;
                self.drain(&state.running)?;
            }
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<SupervisorMsg>,
        event: SupervisionEvent,
        state: &mut Watched,
    ) -> Result<(), ActorProcessingErr> {
        let (cell, why) = match event {
            SupervisionEvent::ActorFailed(cell, why) => (cell, why),
            SupervisionEvent::ActorTerminated(..)
            | SupervisionEvent::ActorStarted(_)
            | SupervisionEvent::ProcessGroupChanged(_) => return Ok(()),
        };
        if !self.rooms.belongs(&cell) && state.running.global.get_id() != cell.get_id() {
            return Ok(());
        }
        tracing::error!(actor = %cell.get_id(), error = %why, "a part of admission died; all of it is started again");
        let now = self.clock.now();
        if state.last_death.is_some_and(|last| now.since(last) < SECOND_DEATH_MS) {
            self.fatal.burn(format!("admission died twice within a minute: {why}"));
            return Ok(());
        }
        state.last_death = Some(now);
        self.tear_down(state).await;
        match self.boot(&myself).await {
            Ok(running) => {
                state.running = running;
                if state.course == Course::Stops {
                    self.drain(&state.running)?;
                }
            }
            Err(error) => {
                self.fatal.burn(format!("admission could not be started again: {error}"));
            }
        }
        Ok(())
    }
}

impl Supervisor {
    /// The counts first: a drained room gives every permit back, and an undrained owner of the
    /// counts would hand it out again.
    fn drain(&self, running: &Running) -> Result<(), ActorProcessingErr> {
        self.rooms.set_gate(Gate::Draining(running.clone()));
        running.global.cast(GlobalMsg::Drain)?;
        self.rooms.send_all(|| RoomBody::Drain);
        Ok(())
    }

    async fn tear_down(&self, state: &Watched) {
        self.rooms.set_gate(Gate::Closed);
        state.running.global.kill();
        for room in self.rooms.take_all() {
            // Its handoffs are its children: they end with it, and their sessions with them.
            room.kill();
        }
        self.sessions.none_left(SESSIONS_END).await;
    }

    /// Loads what lives, decides and commits the recovery, and only then starts anything.
    async fn boot(&self, myself: &ActorRef<SupervisorMsg>) -> Result<Running, ActorProcessingErr> {
        let found = self.found()?;
        let authority = self.authority.current();
        let Recovery { changes, rooms, places } =
            recover(found, &authority, self.clock.now(), &mut self.tickets.clone())?;
        if !changes.is_empty() {
            failpoint::hit("boot.recover", Side::Before);
            self.store.commit(Txn::changes(changes)).await?;
            failpoint::hit("boot.recover", Side::After);
            self.hints.wake_all();
            self.mail.tell(MailMsg::Forget);
        }
        let handler = GlobalAdmission { clock: Arc::clone(&self.clock), rooms: self.rooms.clone() };
        let (global, _) = Actor::spawn_linked(None, handler, self.limits, myself.get_cell()).await?;
        let running = Running { global, supervisor: myself.get_cell() };
        self.rooms.open(running.clone(), rooms, places)?;
        Ok(running)
    }

    fn found(&self) -> Result<Found, StoreError> {
        let snapshot = self.store.snapshot()?;
        let (records, permits) = (snapshot.live()?, snapshot.permits()?);
        let mut claims = BTreeMap::new();
        for request in records.iter().filter_map(|record| record.delivery.answered()) {
            claims.extend(snapshot.claim(request)?.map(|claim| (request, claim)));
        }
        Ok(Found { records, permits: permits.into_iter().map(|held| held.permit).collect(), claims })
    }

    /// One chunk; the next one is a message of its own, so that nothing waits for long.
    async fn prune(&self, myself: &ActorRef<SupervisorMsg>) {
        let txn = Txn::prune(self.clock.now());
        match self.store.commit(txn).await {
            Ok(done) if done.pruned > 0 => {
                // A supervisor that is stopping needs no more pruning.
                let _ = myself.cast(SupervisorMsg::Prune);
            }
            Ok(_) => {}
            Err(stopped) => tracing::warn!(error = %stopped, "old rows were not pruned"),
        }
    }
}
