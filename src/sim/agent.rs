//! The agents: scripted sessions that work, ask, read what joins them, break and hang.
//!
//! What a session does follows from the seed and from whose session it is. It notes what it did
//! before it says so, so that the oracle knows what was really read and taken, whatever the service
//! heard of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clankie_actors::ports::{COMMANDS_IN_FLIGHT, EventSink, Executor, KillSwitch, SessionHandle, SessionSpec};
use clankie_domain::ids::{ExecutorName, RunId};
use clankie_domain::session::{Command, Outcome, SessionEvent};
use clankie_domain::steering::{Joiner, Mark, SteerSupport};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Duration, Instant};

use super::dice::Dice;
use super::history::{Doing, Given, What};
use super::scene::Scene;

mod script;
mod ship;

pub(super) use ship::Ship;

/// Sessions that break in their very start, of a hundred.
const BREAKS: u64 = 1;
/// Sessions that nobody can stop but a kill, of a hundred.
const DEAF: u64 = 12;

/// The executor of every plan.
#[derive(Debug)]
pub(super) struct Agents {
    pub(super) name: ExecutorName,
    pub(super) scene: Arc<Scene>,
    pub(super) seed: u64,
    /// Whether each session asks much more than others do.
    pub(super) is_curious: bool,
    /// Set once faults are over.
    pub(super) calm: Arc<AtomicBool>,
}

/// One session.
struct Session {
    scene: Arc<Scene>,
    spec: SessionSpec,
    events: EventSink,
    commands: mpsc::Receiver<Command>,
    dice: Dice,
    calm: Arc<AtomicBool>,
    steers: Vec<(Joiner, Mark)>,
    is_deaf: bool,
    is_curious: bool,
    calls: u32,
}

/// Why a session does not go on.
enum Out {
    /// Nobody hears it any more, or it broke.
    Silent,
    /// It was told to stop.
    Aborted,
}

/// Notes that nothing of a session is left, however it ended.
struct Leaves(Arc<Scene>, RunId);

impl Drop for Leaves {
    fn drop(&mut self) {
        self.0.gone(self.1);
    }
}

impl Executor for Agents {
    fn name(&self) -> &ExecutorName {
        &self.name
    }

    fn steer(&self) -> SteerSupport {
        SteerSupport::Receipt
    }

    fn start(&self, spec: SessionSpec, events: EventSink) -> SessionHandle {
        let mut dice = Dice::of(self.seed, &format!("{}/{}/{}", spec.room, spec.delivery, spec.run));
        if dice.percent(BREAKS) && !self.calm.load(Ordering::SeqCst) {
            std::panic::resume_unwind(Box::new("the executor breaks"));
        }
        let (commands, heard) = mpsc::channel(COMMANDS_IN_FLIGHT);
        let (tell_gone, gone) = oneshot::channel::<()>();
        self.scene.note(What::Run(spec.run, Doing::Began(Arc::new(given(&spec)))));
        let leaves = Leaves(Arc::clone(&self.scene), spec.run);
        let (scene, calm) = (Arc::clone(&self.scene), Arc::clone(&self.calm));
        let is_deaf = dice.percent(DEAF);
        let is_curious = self.is_curious;
        let steers = Vec::new();
        let session =
            Session { scene, spec, events, commands: heard, dice, calm, steers, is_deaf, is_curious, calls: 0 };
        let task = tokio::spawn(async move {
            session.play().await;
            drop(leaves);
            drop(tell_gone);
        });
        SessionHandle { commands, gone, kill: KillSwitch::new(task.abort_handle()) }
    }
}

fn given(spec: &SessionSpec) -> Given {
    Given {
        run: spec.run,
        handoff: spec.handoff,
        room: spec.room.clone(),
        delivery: spec.delivery.clone(),
        actor: spec.actor.clone(),
        grant: spec.grant.clone(),
        request: spec.request.clone(),
        answered: spec.answered.as_ref().map(|answered| (answered.request, answered.told.clone())),
    }
}

impl Session {
    fn is_calm(&self) -> bool {
        self.calm.load(Ordering::SeqCst)
    }

    fn note(&self, doing: Doing) {
        self.scene.note(What::Run(self.spec.run, doing));
    }

    async fn say(&self, event: SessionEvent) -> Result<(), Out> {
        self.scene.while_on().await;
        self.events.send(event).await.map_err(|_| Out::Silent)
    }

    async fn play(mut self) {
        let worked = self.work().await;
        let lingers = if self.dice.percent(15) { self.dice.span(0, 3_000) } else { 0 };
        let settled = match worked {
            Ok(outcome) => self.settle(outcome).await,
            Err(Out::Aborted) => self.obey().await,
            Err(Out::Silent) => Ok(()),
        };
        if settled.is_ok() && lingers > 0 {
            self.scene.sleep(lingers).await;
        }
    }

    /// From the start to the outcome that the session will settle with.
    async fn work(&mut self) -> Result<Outcome, Out> {
        if self.dice.percent(3) && !self.is_calm() {
            return Err(Out::Silent);
        }
        let opening = self.dice.span(0, 1_500);
        self.scene.sleep(opening).await;
        self.say(SessionEvent::Ready).await?;
        self.begin().await?;
        if self.dice.percent(4) && !self.is_calm() {
            return Err(Out::Silent);
        }
        self.note(Doing::Took);
        self.say(SessionEvent::Took).await?;
        if self.is_curious {
            self.ask_much().await?;
        }
        for _ in 0..self.dice.below(5) {
            let rest = self.dice.span(0, 4_000);
            self.listen(rest).await?;
            self.step().await?;
        }
        let rest = self.dice.span(0, 3_000);
        self.listen(rest).await?;
        self.outcome().await
    }

    async fn begin(&mut self) -> Result<(), Out> {
        loop {
            match self.commands.recv().await {
                Some(Command::Begin) => return Ok(()),
                Some(command) => self.hear(command).await?,
                None => return Err(Out::Silent),
            }
        }
    }

    /// Takes commands for so many milliseconds.
    async fn listen(&mut self, ms: u64) -> Result<(), Out> {
        let until = Instant::now() + Duration::from_millis(ms);
        loop {
            let command = tokio::select! {
                biased;
                command = self.commands.recv() => command,
                () = tokio::time::sleep_until(until) => return Ok(()),
            };
            match command {
                Some(command) => self.hear(command).await?,
                None => return Err(Out::Silent),
            }
        }
    }

    async fn hear(&mut self, command: Command) -> Result<(), Out> {
        match command {
            Command::Steer(joiner) => {
                self.say(SessionEvent::Steer(joiner.handoff, Mark::Queued)).await?;
                self.steers.push((joiner, Mark::Queued));
            }
            Command::CancelSteer(handoff) => self.give_back(|joiner| joiner.handoff == handoff).await?,
            Command::Abort if !self.is_deaf => return Err(Out::Aborted),
            Command::Abort | Command::Begin | Command::Kill => {}
        }
        Ok(())
    }

    /// Reads everything that has joined.
    async fn read(&mut self) -> Result<(), Out> {
        for place in 0..self.steers.len() {
            let (joiner, mark) = &self.steers[place];
            if *mark != Mark::Queued {
                continue;
            }
            let handoff = joiner.handoff;
            self.say(SessionEvent::Steer(handoff, Mark::Taken)).await?;
            self.note(Doing::Marked(handoff, Mark::Read));
            self.steers[place].1 = Mark::Read;
            self.say(SessionEvent::Steer(handoff, Mark::Read)).await?;
        }
        Ok(())
    }

    /// Gives back what was not read of those.
    async fn give_back(&mut self, which: impl Fn(&Joiner) -> bool) -> Result<(), Out> {
        for place in 0..self.steers.len() {
            let (joiner, mark) = &self.steers[place];
            if *mark != Mark::Queued || !which(joiner) {
                continue;
            }
            let handoff = joiner.handoff;
            self.note(Doing::Marked(handoff, Mark::Unread));
            self.steers[place].1 = Mark::Unread;
            self.say(SessionEvent::Steer(handoff, Mark::Unread)).await?;
        }
        Ok(())
    }

    async fn settle(&mut self, outcome: Outcome) -> Result<(), Out> {
        if self.dice.percent(50) {
            self.read().await?;
        }
        self.give_back(|_| true).await?;
        self.note(Doing::Settled(format!("{outcome:?}")));
        self.say(SessionEvent::Settled(outcome)).await
    }

    /// Stops, sooner or later; some finish what they began.
    async fn obey(&mut self) -> Result<(), Out> {
        let rest = self.dice.span(0, 1_200);
        self.scene.sleep(rest).await;
        let outcome = if self.dice.percent(20) { script::reply("done anyway") } else { Outcome::Aborted };
        self.settle(outcome).await
    }
}
