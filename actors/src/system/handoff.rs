//! One run: starts the session, folds its events, and reports its end once.
//!
//! Nothing long runs here: the session is a task of its executor's, its events come back as
//! messages, and a semaphore bounds how many may wait. Whatever a session says after its run
//! ended is dropped.

use std::sync::Arc;
use std::time::Duration;

use clankie_domain::handoff::HandoffRecord;
use clankie_domain::ids::{HandoffId, RoomId, RunId};
use clankie_domain::result::{Approval, FailCode};
use clankie_domain::session::{
    AbortReason, Command, Outcome, Reply, RunEnd, RunOutcome, Session, SessionEffect, SessionEvent, SessionInput,
};
use clankie_domain::stall::TICK_MS;
use clankie_domain::steering::Joiner;
use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use super::answered::{self, Secret, Veil, framed};
use super::mailbox::{Job, MailDoor, MailMsg, Publisher};
use super::room_admission::RoomPorts;
use super::rooms::{RoomBody, Rooms};
use super::tools::HostTools;
use super::transcript::Transcript;
use crate::digest;
use crate::ports::{Answered, EVENTS_IN_FLIGHT, EventSink, Executor, SessionHandle, SessionSpec};

/// How long transcript lines may wait for more: nobody waits for them, and readers see them soon.
const TRANSCRIPT_EVERY: Duration = Duration::from_millis(200);

/// What a run hears.
#[derive(Debug)]
pub(crate) enum HandoffMsg {
    /// The session said something; the permit bounds how much may wait.
    Event(SessionEvent, OwnedSemaphorePermit),
    /// One more joiner.
    Hand(Joiner),
    /// A joiner is taken back.
    TakeBack(HandoffId),
    /// The run must stop.
    Abort(AbortReason),
    /// The wall clock is looked at.
    Tick,
    /// An abort had its time.
    GraceOver,
    /// The session is gone.
    Exited,
    /// Transcript lines are written.
    Flush,
}

/// What a run is started with.
#[derive(Debug)]
pub(crate) struct HandoffArgs {
    pub(crate) record: Arc<HandoffRecord>,
    pub(crate) joiners: Vec<Joiner>,
}

/// The actor: its ports.
#[derive(Debug)]
pub(crate) struct Handoff {
    pub(crate) rooms: Rooms,
    pub(crate) ports: Arc<RoomPorts>,
}

/// The actor's state: the machine of the run, and the ends of its session.
#[derive(Debug)]
pub(crate) struct Run {
    record: Arc<HandoffRecord>,
    session: Session,
    handle: Option<SessionHandle>,
    transcript: Transcript,
    /// Over a secret answer that the session was given.
    veil: Option<Veil>,
}

/// Tells the room that nothing of a run's session is left, also when the session never began: its
/// permit is free only then.
#[derive(Debug)]
struct SessionEnd {
    rooms: Rooms,
    room: RoomId,
    run: RunId,
}

impl Drop for SessionEnd {
    fn drop(&mut self) {
        self.rooms.send(&self.room, RoomBody::Gone(self.run));
    }
}

impl Actor for Handoff {
    type Msg = HandoffMsg;
    type State = Run;
    type Arguments = HandoffArgs;

    async fn pre_start(&self, _: ActorRef<HandoffMsg>, args: HandoffArgs) -> Result<Run, ActorProcessingErr> {
        let HandoffArgs { record, joiners } = args;
        let RoomPorts { stall_ms, output_max, .. } = *self.ports;
        let session = Session::new(joiners, stall_ms, output_max, self.ports.clock.now());
        let transcript = Transcript::new(record.id, self.ports.store.clone());
        Ok(Run { record, session, handle: None, transcript, veil: None })
    }

    async fn post_start(&self, myself: ActorRef<HandoffMsg>, run: &mut Run) -> Result<(), ActorProcessingErr> {
        let name = run.record.executor.clone();
        let executor = self.ports.executors.iter().find(|executor| Some(executor.name()) == name.as_ref());
        let end = SessionEnd { rooms: self.rooms.clone(), room: run.record.room.clone(), run: run.record.run };
        let answered = answered::of(&run.record, &self.ports.store, self.ports.vault.as_ref());
        match (executor, answered) {
            (Some(executor), Ok(answered)) => {
                run.veil = answered.as_ref().and_then(Secret::of).map(Veil::new);
                self.start(&myself, Arc::clone(executor), (answered, end), run);
            }
            (None, _) => {
                self.take(&myself, SessionInput::Exited, run);
                drop(end);
                myself.stop(None);
            }
            (Some(_), Err(why)) => {
                tracing::error!(handoff = %run.record.id, error = %why, "a continuation was not started");
                // Nothing was given to anybody: the answer comes back.
                let failed = SessionEvent::Settled(Outcome::Failed(FailCode::ExecutorFailed));
                self.take(&myself, SessionInput::Event(failed), run);
                drop(end);
                myself.stop(None);
            }
        }
        myself.send_interval(Duration::from_millis(TICK_MS), || HandoffMsg::Tick);
        Ok(())
    }

    async fn handle(
        &self,
        myself: ActorRef<HandoffMsg>,
        message: HandoffMsg,
        run: &mut Run,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            HandoffMsg::Event(event, _permit) => {
                let events = match &mut run.veil {
                    Some(veil) => veil.pass(event),
                    None => vec![event],
                };
                for event in events {
                    self.take(&myself, SessionInput::Event(event), run);
                }
            }
            HandoffMsg::Hand(joiner) => self.take(&myself, SessionInput::Hand(joiner), run),
            HandoffMsg::TakeBack(handoff) => self.take(&myself, SessionInput::TakeBack(handoff), run),
            HandoffMsg::Abort(why) => self.take(&myself, SessionInput::Abort(why), run),
            HandoffMsg::Tick => self.take(&myself, SessionInput::Tick, run),
            HandoffMsg::GraceOver => {
                self.take(&myself, SessionInput::GraceOver, run);
                run.kill();
            }
            HandoffMsg::Flush => run.transcript.flush(self.ports.clock.now()),
            HandoffMsg::Exited => {
                self.take(&myself, SessionInput::Exited, run);
                run.transcript.flush(self.ports.clock.now());
                myself.stop(None);
            }
        }
        Ok(())
    }
}

impl Handoff {
    fn start(
        &self,
        myself: &ActorRef<HandoffMsg>,
        executor: Arc<dyn Executor>,
        (answered, end): (Option<Answered>, SessionEnd),
        run: &mut Run,
    ) {
        let (sink, events) = EventSink::channel();
        let mut handle = executor.start(self.spec(&run.record, answered), sink);
        let (_, never) = oneshot::channel();
        let gone = std::mem::replace(&mut handle.gone, never);
        run.handle = Some(handle);
        let actor = myself.clone();
        // Nothing stands between the start and its watch: a session that nobody watched would never be gone.
        self.ports.sessions.watch(async move {
            forward(events, gone, &actor).await;
            // A run whose actor died is reported by its death.
            let _ = actor.cast(HandoffMsg::Exited);
            drop(end);
        });
        run.transcript.given(&run.record, self.ports.clock.now());
        self.schedule_flush(myself);
    }

    fn spec(&self, record: &Arc<HandoffRecord>, answered: Option<Answered>) -> SessionSpec {
        let request = answered.as_ref().map_or_else(|| record.request.clone(), framed);
        let secret = answered.as_ref().and_then(Secret::of);
        SessionSpec {
            run: record.run,
            handoff: record.id,
            room: record.room.clone(),
            delivery: record.delivery.clone(),
            actor: record.actor.clone(),
            actor_name: record.actor_name.clone(),
            source: record.source,
            grant: record.grant.clone(),
            request,
            attachments: record.attachments.clone(),
            answered,
            tools: Arc::new(HostTools::new(Arc::clone(record), Arc::clone(&self.ports), secret)),
        }
    }

    fn take(&self, myself: &ActorRef<HandoffMsg>, input: SessionInput, run: &mut Run) {
        let now = self.ports.clock.now();
        for effect in run.session.step(input, now) {
            match effect {
                SessionEffect::Command(command) => run.command(command),
                SessionEffect::Ready => self.rooms.send(&run.record.room, RoomBody::Ready(run.record.run)),
                SessionEffect::Took => self.rooms.send(&run.record.room, RoomBody::Took(run.record.run)),
                SessionEffect::Doing(line) => {
                    self.rooms.send(&run.record.room, RoomBody::Doing(run.record.run, line));
                }
                SessionEffect::StartGrace => {
                    myself.send_after(self.ports.stop_grace, || HandoffMsg::GraceOver);
                }
                SessionEffect::Transcript(entry) => {
                    if run.transcript.push(entry, now) {
                        self.schedule_flush(myself);
                    }
                }
                SessionEffect::Ended(end) => {
                    run.transcript.ended(&end, now);
                    run.transcript.flush(self.ports.clock.now());
                    if asked(&end).is_some() {
                        self.rooms.send(&run.record.room, RoomBody::Filing(run.record.run));
                    }
                    report_end(&run.record, end, &self.rooms, &self.ports.mail);
                    run.close();
                    myself.send_after(self.ports.stop_grace, || HandoffMsg::GraceOver);
                }
            }
        }
    }

    fn schedule_flush(&self, myself: &ActorRef<HandoffMsg>) {
        myself.send_after(TRANSCRIPT_EVERY, || HandoffMsg::Flush);
    }
}

impl Run {
    fn command(&mut self, command: Command) {
        if command == Command::Kill {
            self.kill();
            return;
        }
        let Some(handle) = &self.handle else { return };
        match handle.commands.try_send(command) {
            Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => {}
            // More commands than joiners can cause: the session does not listen any more.
            Err(mpsc::error::TrySendError::Full(_)) => self.kill(),
        }
    }

    /// No more commands; a session that waits for one sees its channel closed.
    fn close(&mut self) {
        if let Some(handle) = &mut self.handle {
            let (closed, _) = mpsc::channel(1);
            handle.commands = closed;
        }
    }

    fn kill(&mut self) {
        if let Some(handle) = &self.handle {
            handle.kill.pull();
        }
    }
}

/// What the owner is asked by this end.
fn asked(end: &RunEnd) -> Option<String> {
    match &end.outcome {
        RunOutcome::Replied(Reply::WaitingUser { prompt, approval: Approval::Required }) => Some(prompt.clone()),
        RunOutcome::Replied(_) | RunOutcome::Failed(_) | RunOutcome::Stopped(_) => None,
    }
}

/// Reports an end to the room; one that only the owner may approve goes there with its ask.
pub(crate) fn report_end(record: &HandoffRecord, end: RunEnd, rooms: &Rooms, mail: &MailDoor) {
    match asked(&end).map(|prompt| (prompt, digest::room_conversation(&record.room))) {
        Some((prompt, Ok(conversation))) => {
            mail.tell(MailMsg::Do(conversation, Job::filed(prompt, Publisher::of(record), end)));
        }
        Some((_, Err(_))) | None => rooms.send(&record.room, RoomBody::Ended(record.run, end)),
    }
}

/// Brings a session's events to its run, at most [`EVENTS_IN_FLIGHT`] ahead of it, and returns when
/// the session is gone and everything that it said before is on its way.
async fn forward(
    mut events: mpsc::Receiver<SessionEvent>,
    mut gone: oneshot::Receiver<()>,
    actor: &ActorRef<HandoffMsg>,
) {
    let room = Arc::new(Semaphore::new(EVENTS_IN_FLIGHT));
    let mut left = false;
    loop {
        tokio::select! {
            biased;
            // Resolved by value or by drop: either way nothing of the session is left.
            _ = &mut gone, if !left => {
                left = true;
                events.close();
            }
            event = events.recv() => {
                let Some(event) = event else { break };
                let Ok(permit) = Arc::clone(&room).acquire_owned().await else { break };
                if actor.cast(HandoffMsg::Event(event, permit)).is_err() {
                    break;
                }
            }
        }
    }
    if !left {
        let _ = gone.await;
    }
}
