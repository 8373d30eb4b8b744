//! One session of the builtin agent: call the model, use the tools that it calls, until it ends
//! its turn and no steer waits.
//!
//! A steer is taken by the next call and read by that call's reply. A model that ended its turn
//! while steers wait is called again with them; if that call fails, its finished reply stands and
//! they are given back.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use clankie_actors::ports::SessionSpec;
use clankie_domain::handoff::Usage;
use clankie_domain::result::FailCode;
use clankie_domain::session::{Outcome, Reply, SessionEvent};
use genai::chat::{ChatMessage, ChatRequest, Tool};
use tokio::time::Instant;

use super::Shared;
use super::budget::Spent;
use super::failure::Failure;
use super::model::{Piece, Turn};
use super::prompt;
use crate::executors::inbox::{Inbox, Stop};

/// How often a model that thinks or writes arguments shows as alive; a run is dead after 300 s.
const ALIVE_EVERY: Duration = Duration::from_secs(30);

/// Whether the model owes anything.
enum Standing {
    /// It has work in hand.
    AtWork,
    /// It ended its turn, and nothing was read since.
    Finished,
}

/// How one try at a call ended.
enum Attempt {
    Replied(Box<Turn>),
    OutOfBudget,
    Failed(Failure, Streamed),
}

/// Whether a failed call had shown anything.
enum Streamed {
    Nothing,
    Words,
}

pub(super) struct Session {
    pub(super) spec: SessionSpec,
    pub(super) inbox: Inbox,
    pub(super) shared: Arc<Shared>,
    pub(super) spent: Spent,
    pub(super) history: Vec<ChatMessage>,
    pub(super) names: BTreeSet<String>,
    tools: Vec<Tool>,
    replies: Vec<String>,
    standing: Standing,
    alive: Instant,
}

impl Session {
    pub(super) fn new(spec: SessionSpec, inbox: Inbox, shared: Arc<Shared>) -> Self {
        let catalog = spec.tools.catalog();
        let names = catalog.iter().map(|tool| tool.name.clone()).collect();
        let tools = catalog.into_iter().map(super::tools::offered).collect();
        let history = vec![ChatMessage::user(prompt::opening(&spec))];
        Self {
            spec,
            inbox,
            shared,
            spent: Spent::default(),
            history,
            names,
            tools,
            replies: Vec::new(),
            standing: Standing::AtWork,
            alive: Instant::now(),
        }
    }

    pub(super) async fn run(mut self) {
        let end = self.turns().await;
        self.inbox.settle(end).await;
    }

    async fn turns(&mut self) -> Result<Outcome, Stop> {
        self.inbox.begin().await?;
        loop {
            self.inbox.look().await?;
            let turn = match self.call().await? {
                Ok(turn) => turn,
                Err(code) => return Ok(self.without_reply(code)),
            };
            if !turn.calls.is_empty() {
                self.standing = Standing::AtWork;
                if let Err(exhausted) = self.use_tools(turn.calls).await? {
                    self.inbox.note(exhausted.to_string()).await?;
                    return Ok(Outcome::Failed(FailCode::BudgetExhausted));
                }
                continue;
            }
            self.replies.push(turn.text);
            self.standing = Standing::Finished;
            self.inbox.look().await?;
            if !self.inbox.has_waiting() {
                return Ok(self.reply());
            }
        }
    }

    /// One reply of the model, after as many tries as are allowed.
    async fn call(&mut self) -> Result<Result<Turn, FailCode>, Stop> {
        let mut failed = 0;
        loop {
            if let Err(exhausted) = self.spent.check(&self.shared.settings.budgets) {
                self.inbox.note(exhausted.to_string()).await?;
                return Ok(Err(FailCode::BudgetExhausted));
            }
            let (failure, streamed) = match self.attempt().await? {
                Attempt::Replied(turn) => return Ok(Ok(self.keep(*turn).await?)),
                Attempt::OutOfBudget => {
                    self.spent.call_over(None);
                    continue;
                }
                Attempt::Failed(failure, streamed) => (failure, streamed),
            };
            self.spent.call_over(None);
            failed += 1;
            let Some(delay) = self.delay(failed, &failure, &streamed) else {
                self.inbox.note(format!("The model is not available: {failure}.")).await?;
                return Ok(Err(FailCode::ModelUnavailable));
            };
            let again = format!("The model call failed: {failure}. Trying again in {} ms.", delay.as_millis());
            self.inbox.note(again).await?;
            self.inbox.meanwhile(tokio::time::sleep(delay)).await?;
        }
    }

    /// What was shown is not shown again: a call that streamed words is not repeated.
    fn delay(&self, failed: u32, failure: &Failure, streamed: &Streamed) -> Option<Duration> {
        match (failure, streamed) {
            (Failure::Passing { after, .. }, Streamed::Nothing) => self.shared.settings.retries.delay(failed, *after),
            (Failure::Passing { .. }, Streamed::Words) | (Failure::Final(_), _) => None,
        }
    }

    async fn attempt(&mut self) -> Result<Attempt, Stop> {
        let request = self.request().await?;
        let mut streamed = Streamed::Nothing;
        let mut call = match self.shared.model.call(request).await {
            Ok(call) => call,
            Err(failure) => return Ok(Attempt::Failed(failure, streamed)),
        };
        loop {
            let piece = self.inbox.meanwhile(call.next()).await?;
            if piece.is_ok() {
                self.inbox.took().await?;
            }
            match piece {
                Ok(Piece::Text(text)) => {
                    streamed = Streamed::Words;
                    self.spent.wrote(text.len());
                    self.inbox.say(SessionEvent::Text(text)).await?;
                }
                Ok(Piece::Hidden(bytes)) => {
                    self.spent.wrote(bytes);
                    self.show_alive().await?;
                }
                Ok(Piece::End(turn)) => return Ok(Attempt::Replied(turn)),
                Err(failure) => return Ok(Attempt::Failed(failure, streamed)),
            }
            if self.spent.check(&self.shared.settings.budgets).is_err() {
                return Ok(Attempt::OutOfBudget);
            }
        }
    }

    /// The history and every steer that waits: from here on they are taken.
    async fn request(&mut self) -> Result<ChatRequest, Stop> {
        let mut messages = self.history.clone();
        messages.extend(self.inbox.take().await?.iter().map(|joiner| ChatMessage::user(prompt::steer(&joiner.text))));
        let system = prompt::system(self.shared.settings.system_prompt.as_deref());
        let request = ChatRequest::from_messages(messages).with_system(system);
        Ok(if self.tools.is_empty() { request } else { request.with_tools(self.tools.clone()) })
    }

    /// A reply came: what was taken is read, and both are history.
    async fn keep(&mut self, mut turn: Turn) -> Result<Turn, Stop> {
        self.spent.call_over(turn.usage);
        for joiner in self.inbox.confirm().await? {
            self.history.push(ChatMessage::user(prompt::steer(&joiner.text)));
        }
        self.history.extend(turn.message.take());
        if let Some(usage) = turn.usage {
            self.inbox.say(SessionEvent::Usage(usage)).await?;
        }
        if let Some(cut) = turn.cut {
            self.inbox.note(cut).await?;
        }
        Ok(turn)
    }

    async fn show_alive(&mut self) -> Result<(), Stop> {
        if self.alive.elapsed() < ALIVE_EVERY {
            return Ok(());
        }
        self.alive = Instant::now();
        self.inbox.say(SessionEvent::Usage(Usage::default())).await
    }

    fn without_reply(&self, code: FailCode) -> Outcome {
        match self.standing {
            Standing::Finished => self.reply(),
            Standing::AtWork => Outcome::Failed(code),
        }
    }

    /// Everything that the model ended a turn with; nothing at all is silence.
    fn reply(&self) -> Outcome {
        let said: Vec<&str> = self.replies.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).collect();
        Outcome::Completed(match said.as_slice() {
            [] => Reply::Silent,
            said => Reply::Text { text: said.join("\n\n"), media: Vec::new() },
        })
    }
}
