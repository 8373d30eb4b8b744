//! One room's actor: read, commit, cast. It handles no further message while its own commit is
//! pending, and it makes every write to its room's records.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use clankie_domain::admission::room::{Answer, Context, Decision, Effect, Room, RoomInput, Which, edit_key};
use clankie_domain::handoff::{HandoffRecord, Usage};
use clankie_domain::ids::{Caller, DeliveryId, RoomId, RunId};
use clankie_domain::mutant::{self, Mutant};
use clankie_domain::receipt::Receipt;
use clankie_domain::result::FailCode;
use clankie_domain::session::{ReadList, RunEnd, RunOutcome};
use ractor::{Actor, ActorId, ActorProcessingErr, ActorRef, SupervisionEvent};
use tokio::sync::oneshot;

use super::authority::AuthorityView;
use super::failpoint::{self, Side};
use super::handoff::{Handoff, HandoffArgs, HandoffMsg, report_end};
use super::hints::Hints;
use super::mailbox::{MailDoor, MailMsg};
use super::rooms::{DecidedOn, FiledAsk, Lease, RoomBody, RoomMsg, Rooms};
use super::sessions::Sessions;
use crate::ports::{Clock, Executor, MachineTool, PostingLog, RoomDelivery, Vault};
use crate::store::{Applied, Guard, Store, StoreError, Txn, Write};

/// What every room's actor and its handoffs are given.
#[derive(Debug)]
pub(crate) struct RoomPorts {
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) authority: AuthorityView,
    pub(crate) executors: Vec<Arc<dyn Executor>>,
    pub(crate) delivery: Option<Arc<dyn RoomDelivery>>,
    pub(crate) hints: Hints,
    pub(crate) sessions: Sessions,
    pub(crate) mail: MailDoor,
    pub(crate) vault: Arc<dyn Vault>,
    pub(crate) machine_tools: Vec<Arc<dyn MachineTool>>,
    pub(crate) reactions: Vec<String>,
    pub(crate) stall_ms: u64,
    pub(crate) output_max: u64,
    pub(crate) stop_grace: Duration,
}

/// The actor: its ports.
#[derive(Debug)]
pub(crate) struct RoomAdmission {
    pub(crate) id: RoomId,
    pub(crate) rooms: Rooms,
    pub(crate) ports: Arc<RoomPorts>,
}

/// The actor's state: the machine, and the live ends that its effects name.
#[derive(Debug)]
pub(crate) struct RoomState {
    room: Room,
    callers: BTreeMap<Caller, oneshot::Sender<Answer>>,
    next_caller: u64,
    runs: BTreeMap<RunId, ActorRef<HandoffMsg>>,
    run_of: BTreeMap<ActorId, RunId>,
    /// Runs whose ends come by the mailbox, until their actors have ended.
    filing: BTreeSet<RunId>,
}

/// What a message asks of the machine.
#[derive(Debug)]
struct Task {
    input: RoomInput,
    /// What must hold in its commit, where another actor's decision is a part of it.
    fences: Vec<Guard>,
    /// Holds a conversation of the mailbox until that commit has ended.
    hold: Option<oneshot::Sender<()>>,
}

impl From<RoomInput> for Task {
    fn from(input: RoomInput) -> Self {
        Self { input, fences: Vec::new(), hold: None }
    }
}

impl Actor for RoomAdmission {
    type Msg = RoomMsg;
    type State = RoomState;
    type Arguments = Room;

    async fn pre_start(&self, _: ActorRef<RoomMsg>, room: Room) -> Result<RoomState, ActorProcessingErr> {
        let (callers, runs, run_of) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Ok(RoomState { room, callers, next_caller: 0, runs, run_of, filing: BTreeSet::new() })
    }

    async fn post_start(&self, _: ActorRef<RoomMsg>, state: &mut RoomState) -> Result<(), ActorProcessingErr> {
        for record in state.room.open_postings() {
            self.deliver(Arc::clone(record));
        }
        Ok(())
    }

    async fn handle(
        &self,
        myself: ActorRef<RoomMsg>,
        message: RoomMsg,
        state: &mut RoomState,
    ) -> Result<(), ActorProcessingErr> {
        let RoomMsg { body, lease } = message;
        match self.task(body, state) {
            Ok(Some(task)) => self.step(&myself, task, state, &lease).await?,
            Ok(None) => {}
            Err(stopped) => tracing::warn!(room = %self.id, error = %stopped, "a message was not handled"),
        }
        drop(lease);
        if state.room.is_idle() && state.runs.is_empty() && self.rooms.end_if_unleased(&self.id, &myself) {
            myself.stop(None);
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        _: ActorRef<RoomMsg>,
        event: SupervisionEvent,
        state: &mut RoomState,
    ) -> Result<(), ActorProcessingErr> {
        let cell = match event {
            SupervisionEvent::ActorTerminated(cell, ..) => cell,
            SupervisionEvent::ActorFailed(cell, why) => {
                tracing::warn!(room = %self.id, error = %why, "a handoff's actor died");
                cell
            }
            SupervisionEvent::ActorStarted(_) | SupervisionEvent::ProcessGroupChanged(_) => return Ok(()),
        };
        if let Some(run) = state.run_of.remove(&cell.get_id()) {
            state.runs.remove(&run);
            // Supervision overtakes the queue, in which the run's own report may stand: this goes behind it.
            self.rooms.send(&self.id, RoomBody::Died(run));
        }
        Ok(())
    }
}

impl RoomAdmission {
    /// Reads what the machine needs beside the message.
    fn task(&self, body: RoomBody, state: &mut RoomState) -> Result<Option<Task>, StoreError> {
        let input = match body {
            RoomBody::Submit(submission, reply) => {
                let known = self.receipt(&submission.request.delivery)?;
                RoomInput::Submit { submission, known, caller: state.caller(reply) }
            }
            RoomBody::Edit(submission, reply) => {
                let known = self.receipt(&submission.request.delivery)?;
                let key = edit_key(&submission.request.delivery, submission.fingerprint);
                let known_edit = self.receipt(&key)?;
                RoomInput::Edit { submission, known, known_edit, caller: state.caller(reply) }
            }
            RoomBody::Cancel(which, by, reply) => {
                let known = match &which {
                    Which::Delivery(delivery) => self.receipt(delivery)?,
                    Which::Handoff(id) => self.ports.store.snapshot()?.handoff(*id)?.map(|record| record.receipt()),
                };
                RoomInput::Cancel { which, by, known, caller: state.caller(reply) }
            }
            RoomBody::Global(message) => RoomInput::Global(message),
            RoomBody::Ready(run) => RoomInput::Ready(run),
            RoomBody::Took(run) => RoomInput::Took(run),
            RoomBody::Doing(run, line) => RoomInput::Doing(run, line),
            RoomBody::Ended(run, end) => RoomInput::Ended(run, end),
            RoomBody::EndedWithAsk(run, end, ask) => {
                let FiledAsk { mail, conversation, version, hold } = ask;
                let (input, fences) =
                    (RoomInput::EndedWithAsk(run, end, mail), vec![Guard::Mailbox(conversation, version)]);
                return Ok(Some(Task { input, fences, hold: Some(hold) }));
            }
            RoomBody::Continue(continuation, DecidedOn { version, epoch }, reply) => {
                let mailbox = Guard::Mailbox(continuation.conversation.clone(), version);
                let input = RoomInput::Continue { continuation, caller: state.caller(reply) };
                return Ok(Some(Task { input, fences: vec![mailbox, Guard::GrantEpoch(epoch)], hold: None }));
            }
            RoomBody::Filing(run) => {
                state.filing.insert(run);
                return Ok(None);
            }
            // An end that comes by the mailbox may be overtaken by that of its actor.
            RoomBody::Died(run) if state.filing.remove(&run) => return Ok(None),
            RoomBody::Died(run) => RoomInput::Ended(run, died()),
            RoomBody::Gone(run) => RoomInput::Gone(run),
            RoomBody::Posting(handoff, step, reply) => {
                RoomInput::Posting { handoff, step, caller: state.caller(reply) }
            }
            RoomBody::Repost(handoff, reply) => {
                let Some(record) = self.ports.store.snapshot()?.handoff(handoff)? else {
                    // A caller that is gone needs no answer.
                    let _ = reply.send(Answer::NotFound);
                    return Ok(None);
                };
                RoomInput::Repost { record: Box::new(record), caller: state.caller(reply) }
            }
            RoomBody::Retract(delivery, actor, reply) => {
                RoomInput::Retract { delivery, actor, caller: state.caller(reply) }
            }
            RoomBody::AuthorityChanged => RoomInput::AuthorityChanged,
            RoomBody::Drain => RoomInput::Drain,
            RoomBody::StopRuns => RoomInput::StopRuns,
            RoomBody::Rest => return Ok(None),
        };
        Ok(Some(input.into()))
    }

    fn receipt(&self, delivery: &DeliveryId) -> Result<Option<Receipt>, StoreError> {
        self.ports.store.snapshot()?.receipt(&self.id, delivery)
    }

    /// Decide, commit, act. A commit that failed is no refusal: its callers hear that the outcome is unknown.
    async fn step(
        &self,
        myself: &ActorRef<RoomMsg>,
        task: Task,
        state: &mut RoomState,
        lease: &Lease,
    ) -> Result<(), ActorProcessingErr> {
        let decision = match self.settle(task, state).await? {
            Settled::Durable(decision) => decision,
            Settled::Outdated(caller) => {
                let outdated = state.callers.remove(&caller);
                // A mailbox that is gone ends the process.
                outdated.map(|reply| reply.send(Answer::Outdated));
                return Ok(());
            }
            Settled::Unfiled(run, end) => {
                state.file_again(run, end, self);
                return Ok(());
            }
            Settled::Stopped => return Ok(()),
        };
        state.room = decision.next;
        for effect in decision.effects {
            self.act(myself, effect, state, lease).await?;
        }
        Ok(())
    }

    /// Decides and commits. What another actor's decision is part of stands or falls with its fences;
    /// an answer starts to cross only under the very authority that it was decided under.
    async fn settle(&self, task: Task, state: &mut RoomState) -> Result<Settled, ActorProcessingErr> {
        // What holds a conversation is dropped when this returns.
        let Task { input, fences, hold: _hold } = task;
        let step = failpoint::step_of(&input);
        loop {
            let authority = self.ports.authority.current();
            let ctx = Context { now: self.ports.clock.now(), authority: &authority };
            let decision = state.room.decide(input.clone(), ctx)?;
            if decision.changes.is_empty() {
                return Ok(Settled::Durable(decision));
            }
            let mut guards = fences.clone();
            if decision.dispatches() {
                guards.push(Guard::GrantEpoch(authority.epoch));
            }
            let writes = decision.changes.iter().cloned().map(Write::Change).collect();
            // The start of what an answer wakes has a point of its own, whatever led to it.
            let step = if decision.dispatches() { failpoint::DISPATCH } else { step };
            if mutant::on(Mutant::I2ToldBeforeDurable) {
                state.tell_early(&decision);
            }
            failpoint::hit(step, Side::Before);
            let committed = self.ports.store.commit(Txn { guards, writes }).await;
            failpoint::hit(step, Side::After);
            match committed.map(|done| done.applied) {
                Ok(Applied::Yes) => return Ok(Settled::Durable(decision)),
                Ok(Applied::GuardFailed(guard)) => {
                    if let RoomInput::Continue { caller, .. } = input {
                        return Ok(Settled::Outdated(caller));
                    }
                    if let RoomInput::EndedWithAsk(run, end, _) = input {
                        return Ok(Settled::Unfiled(run, end));
                    }
                    if let Guard::GrantEpoch(seen) = guard {
                        self.ports.authority.moved_from(seen).await;
                    }
                }
                Err(stopped) => {
                    tracing::error!(room = %self.id, step, error = %stopped, "a commit failed; the service stops");
                    state.callers.clear();
                    return Ok(Settled::Stopped);
                }
            }
        }
    }

    /// Posts a reply where no slot is held and no message waits.
    fn deliver(&self, record: Arc<HandoffRecord>) {
        let Some(delivery) = self.ports.delivery.clone() else {
            tracing::warn!(handoff = %record.id, "no gateway posts into this room now; the reply stays in the record");
            return;
        };
        let log = PostingLog { rooms: self.rooms.clone(), room: self.id.clone(), handoff: record.id };
        self.ports.sessions.watch(async move { delivery.deliver(record, log).await });
    }

    async fn act(
        &self,
        myself: &ActorRef<RoomMsg>,
        effect: Effect,
        state: &mut RoomState,
        lease: &Lease,
    ) -> Result<(), ActorProcessingErr> {
        match effect {
            Effect::Global(message) => self.rooms.tell_global(&self.id, message, lease),
            Effect::Reply(caller, answer) => {
                if let Some(reply) = state.callers.remove(&caller) {
                    // The caller may have gone; its delivery id brings the answer back.
                    let _ = reply.send(answer);
                }
            }
            Effect::StartRun { record, permit: _, joiners } => {
                let run = record.run;
                let args = HandoffArgs { record, joiners };
                let handler = Handoff { rooms: self.rooms.clone(), ports: Arc::clone(&self.ports) };
                let (actor, _) = Actor::spawn_linked(None, handler, args, myself.get_cell()).await?;
                state.run_of.insert(actor.get_id(), run);
                state.runs.insert(run, actor);
            }
            Effect::Steer(run, joiner) => state.tell(run, HandoffMsg::Hand(joiner)),
            Effect::CancelSteer(run, handoff) => state.tell(run, HandoffMsg::TakeBack(handoff)),
            Effect::Abort(run, why) => state.tell(run, HandoffMsg::Abort(why)),
            Effect::ResultReady(handoff) => self.ports.hints.wake(handoff),
            Effect::Deliver(record) => self.deliver(record),
            Effect::ClaimMoved(claim) => self.ports.mail.tell(MailMsg::ClaimMoved(claim)),
        }
        Ok(())
    }
}

/// What became of an input.
enum Settled {
    /// It is durable; its effects follow.
    Durable(Decision),
    /// What the mailbox decided on for an answer is not so any more; nothing changed.
    Outdated(Caller),
    /// What the mailbox decided on for an ask with the end of a run is not so any more; nothing changed.
    Unfiled(RunId, RunEnd),
    /// The store has stopped.
    Stopped,
}

/// The end of a run that died without a report. One that did report has no use for it.
fn died() -> RunEnd {
    let outcome = RunOutcome::Failed(FailCode::ExecutorFailed);
    RunEnd { outcome, read: ReadList::Unknown, usage: Usage::default() }
}

impl RoomState {
    /// The end of a run, with its ask, goes to the mailbox once more.
    fn file_again(&self, run: RunId, end: RunEnd, room: &RoomAdmission) {
        if let Some(live) = self.room.live().find(|live| live.record.run == run) {
            report_end(&live.record, end, &room.rooms, &room.ports.mail);
        }
    }

    /// The bug that [`Mutant::I2ToldBeforeDurable`] is.
    fn tell_early(&mut self, decision: &Decision) {
        for effect in &decision.effects {
            if let Effect::Reply(caller, answer) = effect
                && let Some(reply) = self.callers.remove(caller)
            {
                let _ = reply.send(answer.clone());
            }
        }
    }

    fn caller(&mut self, reply: oneshot::Sender<Answer>) -> Caller {
        let caller = Caller(self.next_caller);
        self.next_caller += 1;
        self.callers.insert(caller, reply);
        caller
    }

    /// Tells a run. One that is gone has reported its end, or its death is on its way here.
    fn tell(&self, run: RunId, message: HandoffMsg) {
        if let Some(actor) = self.runs.get(&run)
            && actor.cast(message).is_err()
        {
            tracing::debug!(%run, "a run was told something after its end");
        }
    }
}
