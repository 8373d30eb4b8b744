//! The command end of an in-process session: it keeps every steer and says what became of it.
//!
//! Each steer that came in ends as exactly one of `Read` and `Unread`. The last look and the end
//! are one step: closing refuses new commands first and gives back what was never read after it.

use std::collections::{BTreeSet, VecDeque};
use std::future::Future;
use std::pin::pin;

use clankie_actors::ports::{EventSink, RunOver};
use clankie_domain::ids::HandoffId;
use clankie_domain::session::{Command, Outcome, SessionEvent};
use clankie_domain::steering::{Joiner, Mark};
use tokio::sync::mpsc;

/// Why a session stops before its agent ended its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// It was told to settle.
    Aborted,
    /// It was told to end, or nobody hears it any more.
    Killed,
}

impl From<RunOver> for Stop {
    fn from(_: RunOver) -> Self {
        Self::Killed
    }
}

/// What a session hears and how it answers.
#[derive(Debug)]
pub(super) struct Inbox {
    commands: mpsc::Receiver<Command>,
    events: EventSink,
    waiting: VecDeque<Joiner>,
    taken: Vec<Joiner>,
    unwanted: BTreeSet<HandoffId>,
    given: Given,
}

/// Whether it was said that the agent has been given its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Given {
    Untold,
    Told,
}

impl Inbox {
    pub(super) fn new(commands: mpsc::Receiver<Command>, events: EventSink) -> Self {
        Self {
            commands,
            events,
            waiting: VecDeque::new(),
            taken: Vec::new(),
            unwanted: BTreeSet::new(),
            given: Given::Untold,
        }
    }

    /// Reports an event of the session.
    pub(super) async fn say(&self, event: SessionEvent) -> Result<(), Stop> {
        Ok(self.events.send(event).await?)
    }

    /// Reports a line for the transcript only.
    pub(super) async fn note(&self, text: impl Into<String>) -> Result<(), Stop> {
        self.say(SessionEvent::Note(text.into())).await
    }

    /// Does `work`, and obeys commands while it goes on. A stop drops the work where it stands.
    pub(super) async fn meanwhile<F: Future>(&mut self, work: F) -> Result<F::Output, Stop> {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                command = self.commands.recv() => self.obey(command).await?,
                done = &mut work => return Ok(done),
            }
        }
    }

    /// Obeys every command that has already come.
    pub(super) async fn look(&mut self) -> Result<(), Stop> {
        loop {
            match self.commands.try_recv() {
                Ok(command) => self.obey(Some(command)).await?,
                Err(mpsc::error::TryRecvError::Empty) => return Ok(()),
                Err(mpsc::error::TryRecvError::Disconnected) => return Err(Stop::Killed),
            }
        }
    }

    /// Says that the session is ready, and takes in the steers of its start.
    pub(super) async fn begin(&mut self) -> Result<(), Stop> {
        self.say(SessionEvent::Ready).await?;
        loop {
            match self.commands.recv().await {
                Some(Command::Begin) => return Ok(()),
                command => self.obey(command).await?,
            }
        }
    }

    /// Says that the agent has been given the request.
    pub(super) async fn took(&mut self) -> Result<(), Stop> {
        if std::mem::replace(&mut self.given, Given::Told) == Given::Untold {
            self.say(SessionEvent::Took).await?;
        }
        Ok(())
    }

    /// Says nothing and reads nothing until it is told to stop.
    pub(super) async fn deaf(&mut self) -> Stop {
        loop {
            match self.commands.recv().await {
                Some(Command::Steer(joiner)) => self.waiting.push_back(joiner),
                Some(Command::CancelSteer(_) | Command::Begin) => {}
                Some(Command::Abort) => return Stop::Aborted,
                Some(Command::Kill) | None => return Stop::Killed,
            }
        }
    }

    /// Whether a steer waits to be read.
    pub(super) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Puts every waiting steer into a model call and gives back those that are no longer wanted.
    /// Returns all that the call holds, in order.
    pub(super) async fn take(&mut self) -> Result<&[Joiner], Stop> {
        let unwanted = std::mem::take(&mut self.unwanted);
        let (back, kept) = std::mem::take(&mut self.taken).into_iter().partition(|one| unwanted.contains(&one.handoff));
        self.taken = kept;
        let back: Vec<Joiner> = back;
        for joiner in back {
            self.mark(joiner.handoff, Mark::Unread).await?;
        }
        while let Some(joiner) = self.waiting.pop_front() {
            let handoff = joiner.handoff;
            self.taken.push(joiner);
            self.mark(handoff, Mark::Taken).await?;
        }
        Ok(&self.taken)
    }

    /// A model reply followed what was taken: it was read.
    pub(super) async fn confirm(&mut self) -> Result<Vec<Joiner>, Stop> {
        self.unwanted.clear();
        let read = std::mem::take(&mut self.taken);
        for joiner in &read {
            self.mark(joiner.handoff, Mark::Read).await?;
        }
        Ok(read)
    }

    /// Reads every waiting steer at once, as an agent without a model does.
    pub(super) async fn read(&mut self) -> Result<Vec<Joiner>, Stop> {
        let read: Vec<Joiner> = self.waiting.drain(..).collect();
        for joiner in &read {
            self.mark(joiner.handoff, Mark::Read).await?;
        }
        Ok(read)
    }

    /// Ends the session: refuses commands, gives back what was not read, and settles.
    pub(super) async fn settle(mut self, end: Result<Outcome, Stop>) {
        let outcome = match end {
            Ok(outcome) => outcome,
            Err(Stop::Aborted) => Outcome::Aborted,
            Err(Stop::Killed) => return,
        };
        self.commands.close();
        while let Some(command) = self.commands.recv().await {
            match command {
                Command::Steer(joiner) => self.waiting.push_back(joiner),
                // Too late for these: the turn is over, and every steer is about to be given back.
                Command::CancelSteer(_) | Command::Begin | Command::Abort | Command::Kill => {}
            }
        }
        // A run that is over hears nothing of this, and needs nothing of it.
        let _ = self.give_back_and_end(outcome).await;
    }

    async fn give_back_and_end(mut self, outcome: Outcome) -> Result<(), Stop> {
        let unread: Vec<Joiner> = self.taken.drain(..).chain(self.waiting.drain(..)).collect();
        for joiner in unread {
            self.mark(joiner.handoff, Mark::Unread).await?;
        }
        self.say(SessionEvent::Settled(outcome)).await
    }

    async fn obey(&mut self, command: Option<Command>) -> Result<(), Stop> {
        match command {
            Some(Command::Steer(joiner)) => {
                let handoff = joiner.handoff;
                self.waiting.push_back(joiner);
                self.mark(handoff, Mark::Queued).await
            }
            Some(Command::Begin) => Ok(()),
            Some(Command::CancelSteer(handoff)) => self.give_back(handoff).await,
            Some(Command::Abort) => Err(Stop::Aborted),
            Some(Command::Kill) | None => Err(Stop::Killed),
        }
    }

    /// A steer that waits goes back now, one in a call only if that call fails; others are gone.
    async fn give_back(&mut self, handoff: HandoffId) -> Result<(), Stop> {
        if self.taken.iter().any(|joiner| joiner.handoff == handoff) {
            self.unwanted.insert(handoff);
        }
        let before = self.waiting.len();
        self.waiting.retain(|joiner| joiner.handoff != handoff);
        if self.waiting.len() < before {
            self.mark(handoff, Mark::Unread).await?;
        }
        Ok(())
    }

    async fn mark(&self, handoff: HandoffId, mark: Mark) -> Result<(), Stop> {
        self.say(SessionEvent::Steer(handoff, mark)).await
    }
}
