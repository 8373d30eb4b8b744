//! The machine of one run: from the start of its session to the one report of its end.
//!
//! The end, its read list and the report are one event: afterwards nothing is read, and whatever
//! the session still says is dropped. Steers that come before the session is ready are handed
//! over, in order, right after it is.

use crate::grant::Revoked;
use crate::handoff::Usage;
use crate::ids::HandoffId;
use crate::mutant::{self, Mutant};
use crate::result::{Approval, By, FailCode, Media};
use crate::stall::{Pulse, Watchdog};
use crate::steering::{Joiner, Ledger, Mark};
use crate::time::Timestamp;

/// Text and tool output of one run, in bytes; past it the run ends as `budget_exhausted`.
///
/// An agent that prints without end must not fill memory or disk: this is 1 000 times the 64 KiB
/// that a person might read.
pub const OUTPUT_MAX: u64 = 64 * 1024 * 1024;

/// What an agent ends its turn with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Words, and files by reference.
    Text {
        /// The words, uncut.
        text: String,
        /// The files.
        media: Vec<Media>,
    },
    /// Nothing, by choice.
    Silent,
    /// It waits for the owner.
    WaitingUser {
        /// What it waits for.
        prompt: String,
        /// Whether it is shaped like an approval.
        approval: Approval,
    },
}

/// How a session says that it is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The agent ended its turn.
    Completed(Reply),
    /// It obeyed an abort.
    Aborted,
    /// It failed; never replayed.
    Failed(FailCode),
    /// Nobody can say; never replayed.
    Uncertain,
}

/// Why a run is stopped.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AbortReason {
    /// Somebody cancelled it.
    Cancelled(By),
    /// Its authority went.
    Revoked(Revoked),
    /// Nothing was heard for too long.
    Stalled,
    /// The service stops.
    Shutdown,
    /// It used up its output.
    Budget,
}

/// Where a tool call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolPhase {
    /// It began.
    Began,
    /// It ended.
    Ended,
}

/// What a session says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionEvent {
    /// It can take words now. It waits for [`Command::Begin`], before which the words of its start come.
    Ready,
    /// The agent has been given the request. What it says or calls afterwards says so too.
    Took,
    /// More of the reply.
    Text(String),
    /// A tool call.
    Tool {
        /// The call's own id.
        id: String,
        /// The tool.
        name: String,
        /// Began or ended.
        phase: ToolPhase,
        /// Arguments or output, as text for the transcript.
        detail: String,
    },
    /// What became of a steer.
    Steer(HandoffId, Mark),
    /// Tokens and cost since the last such event.
    Usage(Usage),
    /// A line for the transcript only, such as a retry.
    Note(String),
    /// It is over.
    Settled(Outcome),
}

/// What happens to a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionInput {
    /// The session said something.
    Event(SessionEvent),
    /// The room hands one more joiner over.
    Hand(Joiner),
    /// The room takes a joiner back.
    TakeBack(HandoffId),
    /// The run must stop.
    Abort(AbortReason),
    /// The wall clock was looked at.
    Tick,
    /// An abort was not obeyed within its grace.
    GraceOver,
    /// The session's task or process group ended.
    Exited,
}

/// What is told to a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Every steer of the start has been handed over: begin. Comes once, after [`SessionEvent::Ready`].
    Begin,
    /// Take these words in.
    Steer(Joiner),
    /// Give this steer back unless it was read.
    CancelSteer(HandoffId),
    /// Stop what you do and settle.
    Abort,
    /// End now.
    Kill,
}

/// How a run ended, before authority is checked once more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunOutcome {
    /// With a reply.
    Replied(Reply),
    /// With a failure.
    Failed(FailCode),
    /// Stopped.
    Stopped(AbortReason),
}

/// Which joiners a run read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadList {
    /// These and no others.
    Exactly(Vec<HandoffId>),
    /// The session died, or was killed, without saying.
    Unknown,
}

/// The one report of a run's end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEnd {
    /// How.
    pub outcome: RunOutcome,
    /// What it read.
    pub read: ReadList,
    /// What it used.
    pub usage: Usage,
}

/// What follows from an input, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionEffect {
    /// Tell the session.
    Command(Command),
    /// Tell the room that the session is ready.
    Ready,
    /// Tell the room that the session took what it was given. Comes at most once.
    Took,
    /// Tell the room what the session does.
    Doing(String),
    /// Start the grace of an abort.
    StartGrace,
    /// Write this to the transcript.
    Transcript(Entry),
    /// Tell the room that it is over. Comes exactly once.
    Ended(RunEnd),
}

/// One line of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// The request, a steer or a quote that the session was given.
    Given {
        /// Whose words.
        delivery: String,
        /// The words.
        text: String,
    },
    /// What the agent said.
    Text(String),
    /// A tool call began or ended.
    Tool {
        /// The call.
        id: String,
        /// The tool.
        name: String,
        /// Began or ended.
        phase: ToolPhase,
        /// Arguments or output.
        detail: String,
    },
    /// What became of a steer.
    Steer {
        /// The joiner.
        handoff: HandoffId,
        /// What became of it.
        mark: Mark,
    },
    /// The service's own remark.
    Note(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Stage {
    Opening,
    Open,
    /// The session took what it was given.
    Taken,
    Ended,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Session {
    stage: Stage,
    steers: Ledger,
    abort: Option<AbortReason>,
    usage: Usage,
    output_max: u64,
    dog: Watchdog,
}

impl Session {
    /// A run that is about to start its session, with the joiners that its record already has.
    pub fn new(joiners: Vec<Joiner>, stall_ms: u64, output_max: u64, now: Timestamp) -> Self {
        let mut steers = Ledger::default();
        for joiner in joiners {
            steers.push(joiner);
        }
        let dog = Watchdog::new(stall_ms, now);
        Self { stage: Stage::Opening, steers, abort: None, usage: Usage::default(), output_max, dog }
    }

    /// Takes an input and says what follows, in order.
    pub fn step(&mut self, input: SessionInput, now: Timestamp) -> Vec<SessionEffect> {
        if self.stage == Stage::Ended {
            return Vec::new();
        }
        match input {
            SessionInput::Event(event) => self.hear(event),
            SessionInput::Hand(joiner) => self.hand(joiner),
            SessionInput::TakeBack(handoff) => self.take_back(handoff),
            SessionInput::Abort(why) => self.stop(why),
            SessionInput::Tick => match self.dog.tick(now) {
                Pulse::Alive => Vec::new(),
                Pulse::Dead => self.stop(AbortReason::Stalled),
            },
            SessionInput::GraceOver => self.grace_over(),
            SessionInput::Exited => self.exited(),
        }
    }

    fn hear(&mut self, event: SessionEvent) -> Vec<SessionEffect> {
        self.dog.heard();
        let mut effects = self.taken_by(&event);
        effects.extend(self.fold(event));
        effects
    }

    /// The first thing that an agent does after its start shows that it has been given its request.
    fn taken_by(&mut self, event: &SessionEvent) -> Vec<SessionEffect> {
        let shows = match event {
            SessionEvent::Took | SessionEvent::Text(_) | SessionEvent::Tool { .. } => true,
            SessionEvent::Ready
            | SessionEvent::Steer(..)
            | SessionEvent::Usage(_)
            | SessionEvent::Note(_)
            | SessionEvent::Settled(_) => false,
        };
        if !shows || self.stage != Stage::Open {
            return Vec::new();
        }
        self.stage = Stage::Taken;
        vec![SessionEffect::Took]
    }

    fn fold(&mut self, event: SessionEvent) -> Vec<SessionEffect> {
        match event {
            SessionEvent::Ready => self.ready(),
            SessionEvent::Took => Vec::new(),
            SessionEvent::Text(text) => {
                let used = text.len();
                self.spend(used, vec![SessionEffect::Transcript(Entry::Text(text))])
            }
            SessionEvent::Tool { id, name, phase, detail } => self.tool(id, name, phase, detail),
            SessionEvent::Steer(handoff, mark) => {
                self.steers.mark(handoff, mark);
                vec![SessionEffect::Transcript(Entry::Steer { handoff, mark })]
            }
            SessionEvent::Usage(more) => {
                self.usage.input_tokens += more.input_tokens;
                self.usage.output_tokens += more.output_tokens;
                self.usage.cost_micros += more.cost_micros;
                Vec::new()
            }
            SessionEvent::Note(text) => vec![SessionEffect::Transcript(Entry::Note(text))],
            SessionEvent::Settled(outcome) => self.settled(outcome),
        }
    }

    fn ready(&mut self) -> Vec<SessionEffect> {
        if self.stage != Stage::Opening {
            return Vec::new();
        }
        self.stage = Stage::Open;
        let mut effects = vec![SessionEffect::Ready];
        for joiner in self.steers.all() {
            effects.push(given(joiner));
            effects.push(SessionEffect::Command(Command::Steer(joiner.clone())));
        }
        effects.push(SessionEffect::Command(Command::Begin));
        effects
    }

    fn tool(&mut self, id: String, name: String, phase: ToolPhase, detail: String) -> Vec<SessionEffect> {
        let used = detail.len();
        let doing = match phase {
            ToolPhase::Began => {
                self.dog.tool_began();
                self.usage.tool_calls += 1;
                Some(SessionEffect::Doing(format!("using {name}")))
            }
            ToolPhase::Ended => {
                self.dog.tool_ended();
                None
            }
        };
        let line = SessionEffect::Transcript(Entry::Tool { id, name, phase, detail });
        self.spend(used, std::iter::once(line).chain(doing).collect())
    }

    fn spend(&mut self, bytes: usize, mut effects: Vec<SessionEffect>) -> Vec<SessionEffect> {
        self.usage.bytes += u64::try_from(bytes).unwrap_or(u64::MAX);
        if self.usage.bytes > self.output_max {
            effects.extend(self.stop(AbortReason::Budget));
        }
        effects
    }

    fn hand(&mut self, joiner: Joiner) -> Vec<SessionEffect> {
        let effects = match self.stage {
            Stage::Open | Stage::Taken => vec![given(&joiner), SessionEffect::Command(Command::Steer(joiner.clone()))],
            Stage::Opening | Stage::Ended => Vec::new(),
        };
        self.steers.push(joiner);
        effects
    }

    fn take_back(&mut self, handoff: HandoffId) -> Vec<SessionEffect> {
        match self.stage {
            Stage::Open | Stage::Taken => vec![SessionEffect::Command(Command::CancelSteer(handoff))],
            Stage::Opening | Stage::Ended => {
                self.steers.forget(handoff);
                Vec::new()
            }
        }
    }

    fn stop(&mut self, why: AbortReason) -> Vec<SessionEffect> {
        if self.abort.is_some() {
            return Vec::new();
        }
        self.abort = Some(why);
        vec![SessionEffect::Command(Command::Abort), SessionEffect::StartGrace]
    }

    fn settled(&mut self, outcome: Outcome) -> Vec<SessionEffect> {
        let outcome = match (outcome, self.abort.take()) {
            (Outcome::Completed(reply), None | Some(AbortReason::Shutdown)) => RunOutcome::Replied(reply),
            (Outcome::Completed(reply), Some(AbortReason::Cancelled(_))) => RunOutcome::Replied(reply),
            (_, Some(why)) => RunOutcome::Stopped(why),
            (Outcome::Aborted, None) => RunOutcome::Failed(FailCode::ExecutorFailed),
            (Outcome::Failed(code), None) => RunOutcome::Failed(code),
            (Outcome::Uncertain, None) => RunOutcome::Failed(FailCode::NativeUncertain),
        };
        let read = ReadList::Exactly(self.steers.read());
        self.end(outcome, read)
    }

    fn grace_over(&mut self) -> Vec<SessionEffect> {
        let Some(why) = self.abort.take() else { return Vec::new() };
        // It is killed before it said what it read: a steer that was read a moment ago must not run again.
        let read =
            if mutant::on(Mutant::I3KilledRunReadNothing) { ReadList::Exactly(Vec::new()) } else { ReadList::Unknown };
        let mut effects = self.end(RunOutcome::Stopped(why), read);
        effects.push(SessionEffect::Command(Command::Kill));
        effects
    }

    fn exited(&mut self) -> Vec<SessionEffect> {
        let outcome = match self.abort.take() {
            Some(why) => RunOutcome::Stopped(why),
            None => RunOutcome::Failed(FailCode::ExecutorFailed),
        };
        self.end(outcome, ReadList::Unknown)
    }

    fn end(&mut self, outcome: RunOutcome, read: ReadList) -> Vec<SessionEffect> {
        self.stage = Stage::Ended;
        vec![SessionEffect::Ended(RunEnd { outcome, read, usage: self.usage })]
    }
}

fn given(joiner: &Joiner) -> SessionEffect {
    let Joiner { delivery, text, .. } = joiner;
    SessionEffect::Transcript(Entry::Given { delivery: delivery.to_string(), text: text.clone() })
}
