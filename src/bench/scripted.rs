//! An executor whose sessions do one thing, by the same script for all.

use std::time::Instant;

use clankie_actors::ports::{
    COMMANDS_IN_FLIGHT, EventSink, Executor, KillSwitch, RunOver, SessionHandle, SessionSpec, ToolReply,
};
use clankie_domain::ids::{ExecutorName, RoomId};
use clankie_domain::session::{Command, Outcome, Reply, SessionEvent, ToolPhase};
use clankie_domain::steering::{Mark, SteerSupport};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

/// What one tool says at a time.
const CHUNK: usize = 64 * 1_024;
/// What a session answers.
const WORDS: &str = "The second test failed because of the clock of the machine; it went through when started again.";

/// What every session does.
#[derive(Debug, Clone)]
pub(super) enum Script {
    /// Answers.
    Reply,
    /// Takes in what it is told, says when, and stays until it is told to end.
    Listen(mpsc::Sender<Instant>),
    /// Prints that many bytes as the output of a tool, and answers.
    Print(usize),
    /// Publishes an update and an ask when its request says so, and answers.
    Mail(mpsc::Sender<Option<Published>>),
}

/// What a session published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Published {
    pub(super) room: RoomId,
    pub(super) ask: Option<Uuid>,
    pub(super) update: Option<Uuid>,
}

/// The word in a request that makes a session of [`Script::Mail`] publish.
pub(super) const PUBLISH: &str = "publish";

/// The executor.
#[derive(Debug)]
pub(super) struct Scripted {
    name: ExecutorName,
    script: Script,
}

impl Scripted {
    pub(super) fn new(name: ExecutorName, script: Script) -> Self {
        Self { name, script }
    }
}

impl Executor for Scripted {
    fn name(&self) -> &ExecutorName {
        &self.name
    }

    fn steer(&self) -> SteerSupport {
        match self.script {
            Script::Listen(_) => SteerSupport::Receipt,
            Script::Reply | Script::Print(_) | Script::Mail(_) => SteerSupport::None,
        }
    }

    fn start(&self, spec: SessionSpec, events: EventSink) -> SessionHandle {
        let (commands, heard) = mpsc::channel(COMMANDS_IN_FLIGHT);
        let (tell_gone, gone) = oneshot::channel();
        let script = self.script.clone();
        let task = tokio::spawn(async move {
            // Whoever does not hear it any more has ended the run.
            let _ = run(script, spec, &events, heard).await;
            drop(tell_gone);
        });
        SessionHandle { commands, gone, kill: KillSwitch::new(task.abort_handle()) }
    }
}

async fn run(
    script: Script,
    spec: SessionSpec,
    events: &EventSink,
    mut heard: mpsc::Receiver<Command>,
) -> Result<(), RunOver> {
    let outcome = match script {
        Script::Reply => answered(),
        Script::Listen(told) => listen(told, events, &mut heard).await?,
        Script::Print(bytes) => print(bytes, events).await?,
        Script::Mail(published) => publish(published, &spec).await,
    };
    events.send(SessionEvent::Settled(outcome)).await
}

fn answered() -> Outcome {
    Outcome::Completed(Reply::Text { text: WORDS.to_owned(), media: Vec::new() })
}

async fn listen(
    told: mpsc::Sender<Instant>,
    events: &EventSink,
    heard: &mut mpsc::Receiver<Command>,
) -> Result<Outcome, RunOver> {
    events.send(SessionEvent::Ready).await?;
    while let Some(command) = heard.recv().await {
        match command {
            Command::Begin => events.send(SessionEvent::Took).await?,
            Command::Steer(joiner) => {
                // Nobody waits for those that warm up.
                let _ = told.try_send(Instant::now());
                events.send(SessionEvent::Steer(joiner.handoff, Mark::Read)).await?;
            }
            Command::CancelSteer(_) => {}
            Command::Abort | Command::Kill => break,
        }
    }
    Ok(Outcome::Aborted)
}

async fn print(bytes: usize, events: &EventSink) -> Result<Outcome, RunOver> {
    let tool = |phase, detail| SessionEvent::Tool { id: "t".to_owned(), name: "shell".to_owned(), phase, detail };
    let mut left = bytes;
    while left > 0 {
        let some = left.min(CHUNK);
        events.send(tool(ToolPhase::Began, String::new())).await?;
        events.send(tool(ToolPhase::Ended, "x".repeat(some))).await?;
        left -= some;
    }
    Ok(answered())
}

async fn publish(published: mpsc::Sender<Option<Published>>, spec: &SessionSpec) -> Outcome {
    if spec.request.contains(PUBLISH) {
        let update = serde_json::json!({"title": "The build", "body": WORDS});
        let update = made(spec, ("mail_owner_update", "id"), update).await;
        let ask = serde_json::json!({"purpose": "decision", "prompt": WORDS, "recommendation": "Take it back",
            "waiting_on": "the build", "options": [{"label": "Take it back"}, {"label": "Leave it"}]});
        let ask = made(spec, ("request_user_input", "request_id"), ask).await;
        // The driver has gone when the measurement is over.
        let _ = published.send(Some(Published { room: spec.room.clone(), ask, update })).await;
    }
    answered()
}

async fn made(spec: &SessionSpec, (tool, id): (&str, &str), arguments: Value) -> Option<Uuid> {
    match spec.tools.call(tool, tool, arguments).await {
        ToolReply::Done(text) => serde_json::from_str::<Value>(&text).ok()?[id].as_str()?.parse().ok(),
        ToolReply::Refused { .. } => None,
    }
}
