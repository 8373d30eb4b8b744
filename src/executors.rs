//! What runs an agent for a handoff: one isolated session each, told and heard through the ports.
//!
//! An executor never stands in for another one: what it cannot do, it fails at.

pub mod builtin;
pub mod demo;
mod inbox;
pub mod workspace;

use std::future::Future;

use clankie_actors::ports::{COMMANDS_IN_FLIGHT, EventSink, KillSwitch, SessionHandle, ToolReply};
use clankie_domain::result::cut;
use tokio::sync::{mpsc, oneshot};

use inbox::Inbox;

/// Longest arguments or output of one tool call that a transcript and a model get, in bytes: what
/// a person might read. A larger one is cut visibly.
pub const TOOL_DETAIL_MAX: usize = 64 * 1024;
/// What stands at the end of a tool's output that was cut.
const DETAIL_CUT: &str = "\n… (cut)";

/// Runs an in-process session on a task of its own. The session is gone when its task is.
fn in_process<F>(events: EventSink, session: impl FnOnce(Inbox) -> F) -> SessionHandle
where
    F: Future<Output = ()> + Send + 'static,
{
    let (commands, heard) = mpsc::channel(COMMANDS_IN_FLIGHT);
    let (tell_gone, gone) = oneshot::channel();
    let session = session(Inbox::new(heard, events));
    let task = tokio::spawn(async move {
        session.await;
        // A handle that was dropped does not want to know.
        let _ = tell_gone.send(());
    });
    SessionHandle { commands, gone, kill: KillSwitch::new(task.abort_handle()) }
}

fn detail(text: &str) -> String {
    cut(text, TOOL_DETAIL_MAX, DETAIL_CUT)
}

/// What an agent and a transcript read of a tool's reply.
fn heard(reply: ToolReply) -> String {
    detail(&match reply {
        ToolReply::Done(output) => output,
        ToolReply::Refused { code, sentence } => format!("refused ({code}): {sentence}"),
    })
}
