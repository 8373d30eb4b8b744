//! An executor whose sessions say nothing until they are let go, so that what is measured before
//! is admission and nothing else.

use clankie_actors::ports::{COMMANDS_IN_FLIGHT, EventSink, Executor, KillSwitch, SessionHandle, SessionSpec};
use clankie_domain::ids::ExecutorName;
use clankie_domain::session::{Outcome, Reply, SessionEvent};
use clankie_domain::steering::SteerSupport;
use tokio::sync::{mpsc, oneshot, watch};

/// The executor. Sessions that start are held until the next [`Held::let_go`].
#[derive(Debug)]
pub(super) struct Held {
    name: ExecutorName,
    let_go: watch::Sender<u64>,
}

impl Held {
    pub(super) fn new(name: ExecutorName) -> Self {
        Self { name, let_go: watch::Sender::new(0) }
    }

    /// Every session that has started settles now, silently.
    pub(super) fn let_go(&self) {
        self.let_go.send_modify(|round| *round += 1);
    }
}

impl Executor for Held {
    fn name(&self) -> &ExecutorName {
        &self.name
    }

    /// Nothing joins: each delivery is to be admitted by itself.
    fn steer(&self) -> SteerSupport {
        SteerSupport::None
    }

    fn start(&self, _: SessionSpec, events: EventSink) -> SessionHandle {
        let (commands, heard) = mpsc::channel(COMMANDS_IN_FLIGHT);
        let (tell_gone, gone) = oneshot::channel();
        let mut let_go = self.let_go.subscribe();
        let task = tokio::spawn(async move {
            // A sender that is gone lets everything go as well.
            let _ = let_go.changed().await;
            let _ = events.send(SessionEvent::Settled(Outcome::Completed(Reply::Silent))).await;
            drop(heard);
            drop(tell_gone);
        });
        SessionHandle { commands, gone, kill: KillSwitch::new(task.abort_handle()) }
    }
}
