//! An executor whose sessions stay open and hand out their tools, so that mail is published the way
//! an agent does it.

use std::sync::Arc;

use clankie_actors::ports::{
    COMMANDS_IN_FLIGHT, EventSink, Executor, KillSwitch, RoomTools, SessionHandle, SessionSpec,
};
use clankie_domain::ids::{ExecutorName, RoomId};
use clankie_domain::steering::SteerSupport;
use tokio::sync::{mpsc, oneshot};

/// The tools of one session, and where it answers.
pub(super) type Tools = (RoomId, Arc<dyn RoomTools>);

/// The executor.
#[derive(Debug)]
pub(super) struct Open {
    name: ExecutorName,
    tools: mpsc::Sender<Tools>,
}

impl Open {
    /// With where its sessions hand out their tools; those that nobody takes are dropped.
    pub(super) fn new(name: ExecutorName, tools: mpsc::Sender<Tools>) -> Self {
        Self { name, tools }
    }
}

impl Executor for Open {
    fn name(&self) -> &ExecutorName {
        &self.name
    }

    fn steer(&self) -> SteerSupport {
        SteerSupport::None
    }

    fn start(&self, spec: SessionSpec, events: EventSink) -> SessionHandle {
        let (commands, heard) = mpsc::channel(COMMANDS_IN_FLIGHT);
        let (tell_gone, gone) = oneshot::channel();
        let tools = self.tools.clone();
        let task = tokio::spawn(async move {
            let _open = (events, heard, tell_gone);
            // Continuations of answers have nobody who waits for their tools.
            let _ = tools.try_send((spec.room, spec.tools));
            std::future::pending::<()>().await;
        });
        SessionHandle { commands, gone, kill: KillSwitch::new(task.abort_handle()) }
    }
}
