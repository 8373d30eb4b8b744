//! An executor whose sessions do what a test tells them, and tell it what they hear.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use clankie_actors::ports::{EventSink, Executor, KillSwitch, SessionHandle, SessionSpec};
use clankie_domain::ids::{ExecutorName, HandoffId};
use clankie_domain::session::{Command, Outcome, Reply, SessionEvent};
use clankie_domain::steering::{Joiner, Mark, SteerSupport};
use tokio::sync::{mpsc, oneshot};

/// The executor.
#[derive(Debug)]
pub(crate) struct Puppet {
    name: ExecutorName,
    started: mpsc::UnboundedSender<Strings>,
    /// Starts that panic before anything else happens.
    pub(crate) panics: Arc<AtomicUsize>,
}

/// One session, from the test's side.
#[derive(Debug)]
pub(crate) struct Strings {
    pub(crate) spec: SessionSpec,
    pub(crate) events: EventSink,
    pub(crate) commands: mpsc::Receiver<Command>,
    /// Dropped or sent: the session is gone.
    pub(crate) gone: oneshot::Sender<()>,
}

impl Puppet {
    pub(crate) fn new() -> (Self, mpsc::UnboundedReceiver<Strings>) {
        let (started, sessions) = mpsc::unbounded_channel();
        (Self { name: ExecutorName::parse("puppet").unwrap(), started, panics: Arc::default() }, sessions)
    }
}

impl Executor for Puppet {
    fn name(&self) -> &ExecutorName {
        &self.name
    }

    fn steer(&self) -> SteerSupport {
        SteerSupport::Receipt
    }

    fn start(&self, spec: SessionSpec, events: EventSink) -> SessionHandle {
        let left = self.panics.load(Ordering::SeqCst);
        if left > 0 {
            self.panics.store(left - 1, Ordering::SeqCst);
            panic!("the executor breaks");
        }
        let (commands, heard) = mpsc::channel(64);
        let (tell_gone, gone) = oneshot::channel::<()>();
        let (strings_gone, until_gone) = oneshot::channel::<()>();
        // Gone when the strings are dropped, or when the task is killed.
        let body = tokio::spawn(async move {
            let _tell_gone = tell_gone;
            until_gone.await.ok();
        });
        let kill = KillSwitch::new(body.abort_handle());
        self.started.send(Strings { spec, events, commands: heard, gone: strings_gone }).unwrap();
        SessionHandle { commands, gone, kill }
    }
}

impl Strings {
    pub(crate) async fn say(&self, event: SessionEvent) {
        self.events.send(event).await.unwrap();
    }

    pub(crate) async fn ready(&self) {
        self.say(SessionEvent::Ready).await;
    }

    pub(crate) async fn next_command(&mut self) -> Command {
        loop {
            let command = self.commands.recv().await.expect("a command");
            if command != Command::Begin {
                return command;
            }
        }
    }

    /// Whether a steer has come that was not looked at.
    pub(crate) fn was_steered(&mut self) -> bool {
        std::iter::from_fn(|| self.commands.try_recv().ok()).any(|command| matches!(command, Command::Steer(_)))
    }

    pub(crate) async fn next_steer(&mut self) -> Joiner {
        match self.next_command().await {
            Command::Steer(joiner) => joiner,
            other => panic!("expected a steer, heard {other:?}"),
        }
    }

    pub(crate) async fn mark(&self, handoff: HandoffId, mark: Mark) {
        self.say(SessionEvent::Steer(handoff, mark)).await;
    }

    /// Settles and is gone, as an in-process session does.
    pub(crate) async fn settle(self, outcome: Outcome) {
        self.say(SessionEvent::Settled(outcome)).await;
    }

    pub(crate) async fn reply(self, text: &str) {
        self.settle(Outcome::Completed(Reply::Text { text: text.to_owned(), media: vec![] })).await;
    }
}
