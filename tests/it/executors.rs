//! Executors, driven through their ports alone: what is told to a session and what is heard.

mod bank;
mod builtin;
mod demo;
mod peer;

use std::sync::Arc;
use std::time::Duration;

use clankie_actors::ports::{EventSink, Executor, SessionHandle, SessionSpec};
use clankie_domain::grant::{Gateway, Grant, MachineStanding, OwnerProof, OwnerStanding, Plan, Transport};
use clankie_domain::ids::{ActorId, DeliveryId, HandoffId, LaneName, RoomId, RunId};
use clankie_domain::request::Source;
use clankie_domain::result::{Approval, FailCode};
use clankie_domain::session::{Command, Outcome, Reply, SessionEvent, ToolPhase};
use clankie_domain::steering::{Joiner, Mark};
use tokio::sync::mpsc;
use uuid::Uuid;

use bank::Bank;

/// Only a hung test meets this; the paused clock jumps over it when nothing else is due.
const SAFETY_NET: Duration = Duration::from_secs(60 * 60);

/// A session and everything heard of it.
struct Live {
    handle: SessionHandle,
    events: mpsc::Receiver<SessionEvent>,
    heard: Vec<SessionEvent>,
    sent: Vec<HandoffId>,
}

/// How a session ended and all that it said.
struct Ended {
    events: Vec<SessionEvent>,
}

impl Live {
    fn start(executor: &dyn Executor, spec: SessionSpec) -> Self {
        let (sink, events) = EventSink::channel();
        let handle = executor.start(spec, sink);
        handle.commands.try_send(Command::Begin).unwrap();
        Self { handle, events, heard: Vec::new(), sent: Vec::new() }
    }

    /// Tells the session something. A session that is over does not hear it, as the run knows.
    async fn tell(&mut self, command: Command) {
        let steer = if let Command::Steer(joiner) = &command { Some(joiner.handoff) } else { None };
        if self.handle.commands.send(command).await.is_ok() {
            self.sent.extend(steer);
        }
    }

    /// Hears events up to and with the first one that is `wanted`.
    async fn until(&mut self, wanted: impl Fn(&SessionEvent) -> bool) {
        loop {
            let event = tokio::time::timeout(SAFETY_NET, self.events.recv()).await.unwrap();
            let event = event.unwrap_or_else(|| panic!("the session ended after {:?}", self.heard));
            let found = wanted(&event);
            self.heard.push(event);
            if found {
                return;
            }
        }
    }

    /// Hears the session to its end and checks what every session owes.
    async fn end(mut self) -> Ended {
        while let Some(event) = tokio::time::timeout(SAFETY_NET, self.events.recv()).await.unwrap() {
            self.heard.push(event);
        }
        // By value or by drop: both say that the task is gone.
        let _ = tokio::time::timeout(SAFETY_NET, &mut self.handle.gone).await.unwrap();
        let ended = Ended { events: self.heard };
        ended.check(&self.sent);
        ended
    }
}

impl Ended {
    /// Every steer is exactly one of read and unread before the end; the end is said once, last.
    fn check(&self, sent: &[HandoffId]) {
        assert_eq!(self.events.first(), Some(&SessionEvent::Ready), "{:?}", self.events);
        let ends = self.events.iter().filter(|event| matches!(event, SessionEvent::Settled(_))).count();
        let Some(SessionEvent::Settled(_)) = self.events.last() else {
            assert_eq!(ends, 0, "{:?}", self.events);
            return;
        };
        assert_eq!(ends, 1, "{:?}", self.events);
        for handoff in sent {
            let marks = self.marks(*handoff);
            let finals = marks.iter().filter(|mark| matches!(mark, Mark::Read | Mark::Unread)).count();
            assert_eq!(finals, 1, "{handoff}: {marks:?}");
            assert!(matches!(marks.last(), Some(Mark::Read | Mark::Unread)), "{handoff}: {marks:?}");
        }
    }

    fn marks(&self, handoff: HandoffId) -> Vec<Mark> {
        let mark = |event: &SessionEvent| match event {
            SessionEvent::Steer(of, mark) if *of == handoff => Some(*mark),
            _ => None,
        };
        self.events.iter().filter_map(mark).collect()
    }

    fn outcome(&self) -> Option<&Outcome> {
        match self.events.last() {
            Some(SessionEvent::Settled(outcome)) => Some(outcome),
            _ => None,
        }
    }

    fn reply(&self) -> &str {
        match self.outcome() {
            Some(Outcome::Completed(Reply::Text { text, .. })) => text,
            other => panic!("no reply: {other:?} after {:?}", self.events),
        }
    }

    fn texts(&self) -> Vec<&str> {
        let text = |event: &'_ SessionEvent| matches!(event, SessionEvent::Text(_));
        self.events.iter().filter(|event| text(event)).map(words).collect()
    }

    fn notes(&self) -> Vec<&str> {
        self.events.iter().filter(|event| matches!(event, SessionEvent::Note(_))).map(words).collect()
    }

    /// Name, phase and detail of every tool event.
    fn tools(&self) -> Vec<(&str, ToolPhase, &str)> {
        let tool = |event: &'_ SessionEvent| matches!(event, SessionEvent::Tool { .. });
        let parts = |event| match event {
            &SessionEvent::Tool { ref name, phase, ref detail, .. } => (name.as_str(), phase, detail.as_str()),
            other => panic!("{other:?}"),
        };
        self.events.iter().filter(|event| tool(event)).map(parts).collect()
    }
}

fn words(event: &SessionEvent) -> &str {
    match event {
        SessionEvent::Text(text) | SessionEvent::Note(text) => text,
        other => panic!("{other:?} has no words"),
    }
}

/// Runs a request to its end, with commands at moments of the (paused) clock.
async fn run(executor: &dyn Executor, request: &str, script: Vec<(u64, Command)>) -> Ended {
    let start = tokio::time::Instant::now();
    let mut live = Live::start(executor, spec(request, Bank::empty()));
    for (at, command) in script {
        let due = start + Duration::from_millis(at);
        while let Ok(Some(event)) = tokio::time::timeout_at(due, live.events.recv()).await {
            live.heard.push(event);
        }
        tokio::time::sleep_until(due).await;
        live.tell(command).await;
    }
    live.end().await
}

fn spec(request: &str, tools: Arc<Bank>) -> SessionSpec {
    SessionSpec {
        run: RunId(Uuid::from_u128(1)),
        handoff: HandoffId(Uuid::from_u128(2)),
        room: RoomId::local("lab").unwrap(),
        delivery: DeliveryId::parse("m-1").unwrap(),
        actor: ActorId::parse("local:ann").unwrap(),
        actor_name: "Ann".to_owned(),
        source: Source::Text,
        grant: Grant {
            plan: Plan::Social,
            owner_standing: OwnerStanding::None,
            machine_standing: MachineStanding::None,
            owner_proof: OwnerProof::Absent,
            transport: Transport { gateway: Gateway::Local, lane: LaneName::parse("ann").unwrap() },
            tools: std::collections::BTreeSet::new(),
        },
        request: request.to_owned(),
        attachments: Vec::new(),
        answered: None,
        tools,
    }
}

fn handoff(number: u128) -> HandoffId {
    HandoffId(Uuid::from_u128(0x100 + number))
}

fn steer(number: u128, text: &str) -> Command {
    let delivery = DeliveryId::parse(&format!("s-{number}")).unwrap();
    Command::Steer(Joiner { handoff: handoff(number), delivery, text: text.to_owned() })
}

fn completed(text: &str) -> Outcome {
    Outcome::Completed(Reply::Text { text: text.to_owned(), media: Vec::new() })
}

fn failed(code: FailCode) -> Outcome {
    Outcome::Failed(code)
}

fn waiting(prompt: &str) -> Outcome {
    Outcome::Completed(Reply::WaitingUser { prompt: prompt.to_owned(), approval: Approval::Required })
}
