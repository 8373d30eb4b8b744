//! `clankie conversations`: conversations and their displays, and the mailbox by exact names.
//!
//! An answer here names its ask, its incarnation and its revision itself: nothing is read for it but
//! whether words of a command line may answer it, nobody is asked, and nothing is guessed.

use clap::{Args, Subcommand, ValueEnum};
use uuid::Uuid;

use super::asks::{self, every};
use super::client::Client;
use super::failure::Failure;
use super::screen::{Form, Screen};
use super::settling::{self, Aim, Privacy};
use super::updates::{self, State};
use super::{card, input};
use crate::owner::wire::{AnswerBody, InputList};

mod display;

/// What the id of a room's conversation begins with.
const ROOM: &str = "room-";
/// Hexadecimal digits after it.
const ROOM_DIGITS: usize = 24;
/// Characters of a UUID with its hyphens.
const UUID_CHARS: usize = 36;

const QUESTIONS_EXAMPLES: &str = "\
Examples:
  clankie conversations questions --status pending
  clankie conversations questions room-0a1b2c3d4e5f60718293a4b5 --json";

const ANSWER_EXAMPLES: &str = "\
Examples:
  clankie conversations answer CONVERSATION REQUEST --incarnation UUID --revision 4 --option UUID
  clankie conversations answer CONVERSATION REQUEST --incarnation UUID --revision 4 --stdin < words
  echo '{\"q1\":[\"yes\"]}' | clankie conversations answer CONVERSATION REQUEST \\
      --incarnation UUID --revision 4 --worker-stdin

The four names stand in every ask, as clankie conversations questions --json prints it.";

const TAIL_EXAMPLES: &str = "\
Examples:
  clankie conversations tail room-0a1b2c3d4e5f60718293a4b5
  clankie conversations tail -f room-0a1b2c3d4e5f60718293a4b5 --json";

/// What to do with conversations and the mail of each.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum ConversationsCommand {
    /// List conversations.
    List,
    /// Show what was said in one, and what you answered.
    #[command(after_long_help = TAIL_EXAMPLES)]
    Tail {
        /// The conversation.
        #[arg(value_parser = conversation_id)]
        conversation: String,
        /// Go on with what comes.
        #[arg(short, long)]
        follow: bool,
    },
    /// Show asks, whole, newest first.
    #[command(after_long_help = QUESTIONS_EXAMPLES)]
    Questions(QuestionsArguments),
    /// Answer an ask by its exact names.
    #[command(after_long_help = ANSWER_EXAMPLES)]
    Answer {
        /// Which ask, as it was read.
        #[command(flatten)]
        ask: AskNames,
        /// The answer.
        #[command(flatten)]
        answer: ExactAnswer,
    },
    /// Cancel an ask by its exact names, which is never an answer.
    CancelQuestion {
        /// Which ask, as it was read.
        #[command(flatten)]
        ask: AskNames,
    },
    /// Show updates, whole, newest first.
    Updates {
        /// Only this conversation's.
        #[arg(value_parser = conversation_id)]
        conversation: Option<String>,
        /// Only these; what was not put away when absent.
        #[arg(long, value_enum)]
        state: Option<State>,
    },
    /// Mark an update as read.
    ReadUpdate {
        /// The update.
        id: Uuid,
    },
    /// Put an update away.
    DismissUpdate {
        /// The update.
        id: Uuid,
    },
}

/// Which asks to show.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct QuestionsArguments {
    /// Only this conversation's.
    #[arg(value_parser = conversation_id)]
    conversation: Option<String>,
    /// Only this one.
    #[arg(long, value_name = "UUID")]
    request: Option<Uuid>,
    /// Only these.
    #[arg(long, value_enum)]
    status: Option<Status>,
}

/// How an ask stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Status {
    /// It waits.
    Pending,
    /// It was answered.
    Submitted,
    /// It was cancelled.
    Cancelled,
}

impl Status {
    fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Submitted => "submitted",
            Self::Cancelled => "cancelled",
        }
    }
}

/// An ask, and what was read of it.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct AskNames {
    /// The conversation.
    #[arg(value_parser = conversation_id)]
    conversation: String,
    /// The ask.
    request: Uuid,
    /// The conversation's life that was read.
    #[arg(long, value_name = "UUID")]
    incarnation: Uuid,
    /// The revision that was read.
    #[arg(long, value_name = "N")]
    revision: u64,
}

impl From<AskNames> for Aim {
    fn from(names: AskNames) -> Self {
        Self {
            conversation: names.conversation,
            request: names.request.to_string(),
            incarnation: names.incarnation.to_string(),
            revision: names.revision,
        }
    }
}

/// Exactly one of them.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[group(required = true, multiple = false)]
pub struct ExactAnswer {
    /// The option of that id.
    #[arg(long, value_name = "UUID")]
    option: Option<Uuid>,
    /// Words; never a private answer.
    #[arg(long, value_parser = input::spoken)]
    text: Option<String>,
    /// Words of standard input, at most 64000 bytes.
    #[arg(long)]
    stdin: bool,
    /// A JSON map of standard input, from each question of a worker to its answers.
    #[arg(long)]
    worker_stdin: bool,
}

impl ExactAnswer {
    /// The answer, and whether its words may be said back: what came through a pipe may be private.
    async fn read(self) -> Result<(AnswerBody, Privacy), Failure> {
        Ok(match self {
            Self { option: Some(id), .. } => (AnswerBody::Choice { option_id: id.to_string() }, Privacy::Open),
            Self { text: Some(text), .. } => (AnswerBody::Text { text }, Privacy::Open),
            Self { worker_stdin: true, .. } => {
                (AnswerBody::Worker { answers: input::worker_answers().await? }, Privacy::Private)
            }
            Self { .. } => (AnswerBody::Text { text: input::words().await? }, Privacy::Private),
        })
    }
}

/// Runs one of the commands.
pub(super) async fn run(command: ConversationsCommand, client: &Client, screen: &Screen) -> Result<(), Failure> {
    match command {
        ConversationsCommand::List => display::list(client, screen).await,
        ConversationsCommand::Tail { conversation, follow } => {
            let follow = if follow { display::Until::Interrupted } else { display::Until::End };
            display::tail(&conversation, follow, client, screen).await
        }
        ConversationsCommand::Questions(arguments) => questions(arguments, client, screen).await,
        ConversationsCommand::Answer { ask, answer } => exact(ask.into(), answer, client, screen).await,
        ConversationsCommand::CancelQuestion { ask } => settling::cancel(ask.into(), client, screen).await,
        ConversationsCommand::Updates { conversation, state } => mail(conversation, state, client, screen).await,
        ConversationsCommand::ReadUpdate { id } => updates::read(id.to_string(), client, screen).await,
        ConversationsCommand::DismissUpdate { id } => updates::dismiss(id.to_string(), client, screen).await,
    }
}

async fn exact(aim: Aim, answer: ExactAnswer, client: &Client, screen: &Screen) -> Result<(), Failure> {
    if answer.text.is_some() {
        match settling::read(&aim.conversation, &aim.request, client).await {
            Ok(question) if question.secret => return Err(settling::not_on_a_command_line()),
            // An ask that is not there is refused by the call itself, whose result is printed.
            Ok(_) | Err(Failure::Refused(_)) => {}
            Err(failure) => return Err(failure),
        }
    }
    settling::answer(aim, answer.read().await?, client, screen).await
}

/// The id of a conversation: a room's, or a UUID.
pub(super) fn conversation_id(text: &str) -> Result<String, &'static str> {
    let is_digit = |c: char| c.is_ascii_digit() || matches!(c, 'a'..='f');
    let of_room = text.strip_prefix(ROOM).is_some_and(|id| id.len() == ROOM_DIGITS && id.chars().all(is_digit));
    let of_owner = text.len() == UUID_CHARS && Uuid::try_parse(text).is_ok();
    let rule = "must be a conversation's id: room- and 24 hexadecimal digits, or a UUID";
    (of_room || of_owner).then(|| text.to_owned()).ok_or(rule)
}

async fn questions(arguments: QuestionsArguments, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let QuestionsArguments { conversation, request, status } = arguments;
    let status = status.map(|status| status.as_str().to_owned());
    let mut page = every(InputList { conversation_id: conversation, status, ..InputList::default() }, client).await?;
    if let Some(request) = request {
        let request = request.to_string();
        page.questions.retain(|question| question.request_id == request);
        if page.questions.is_empty() {
            return Err(Failure::Absent(format!("there is no such ask {request}; without --request all are shown")));
        }
    }
    match screen.form() {
        Form::Json => screen.json(&page)?,
        Form::Table => {
            let now = jiff::Timestamp::now();
            cards(page.questions.iter().map(|question| card::ask(question, now)), screen)?;
            screen.words(&asks::waits(&page.counts));
        }
    }
    Ok(())
}

async fn mail(
    conversation: Option<String>,
    state: Option<State>,
    client: &Client,
    screen: &Screen,
) -> Result<(), Failure> {
    let page = updates::page(conversation, state, client).await?;
    match screen.form() {
        Form::Json => screen.json(&page)?,
        Form::Table => {
            let now = jiff::Timestamp::now();
            cards(page.updates.iter().map(|update| card::update(update, now)), screen)?;
            screen.words(&asks::waits(&page.counts));
        }
    }
    Ok(())
}

fn cards(cards: impl Iterator<Item = Vec<String>>, screen: &Screen) -> std::io::Result<()> {
    for (at, card) in cards.enumerate() {
        if at > 0 {
            screen.line("")?;
        }
        screen.lines(&card)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
