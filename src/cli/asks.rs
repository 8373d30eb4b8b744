//! `clankie asks`: what agents want the owner to decide; read, answered, cancelled.

use clap::{Args, Subcommand, ValueEnum};

use super::clean::clean_line;
use super::client::Client;
use super::failure::Failure;
use super::pick::IdPrefix;
use super::screen::{Form, Screen};
use super::settling::{self, Aim};
use super::table::Table;
use super::{card, words};
use crate::owner::wire::{InputList, MailCountsBody, MarkSeen, Operation, QuestionBody, Questions};

mod answer;

pub use answer::AnswerArguments;

/// Width of the column that shows what is asked, in characters.
const PROMPT_WIDTH: usize = 48;
/// Width of any other cell, in characters.
const WIDTH: usize = 40;

const LIST_EXAMPLES: &str = "\
Examples:
  clankie asks list                        what waits for you, and answers that did not arrive
  clankie asks list --status all --json    everything, for a program";

const SHOW_EXAMPLES: &str = "\
Examples:
  clankie asks show 01a22f0d-88a8          the first digits of its id, at least 6, that name it alone
  clankie asks show 01a22f0d-88a8 --json";

const CANCEL_EXAMPLES: &str = "\
Examples:
  clankie asks cancel 01a22f0d-88a8        it is shown as cancelled by you everywhere, never as an answer";

const SEEN_EXAMPLES: &str = "\
Examples:
  clankie asks seen 01a22f0d-88a8          takes note of an answer that is unconfirmed or came back";

/// What to do with asks.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum AsksCommand {
    /// List asks, newest first.
    #[command(after_long_help = LIST_EXAMPLES)]
    List(AsksListArguments),
    /// Show one ask, whatever became of it.
    #[command(after_long_help = SHOW_EXAMPLES)]
    Show {
        /// The ask: its id, or enough of its beginning to name it alone.
        id: IdPrefix,
    },
    /// Answer one ask, as it is shown.
    #[command(after_long_help = answer::EXAMPLES)]
    Answer(AnswerArguments),
    /// Cancel one ask, as it is shown.
    #[command(after_long_help = CANCEL_EXAMPLES)]
    Cancel {
        /// The ask: its id, or enough of its beginning to name it alone.
        id: IdPrefix,
    },
    /// Take note of an answer that is unconfirmed or came back.
    #[command(after_long_help = SEEN_EXAMPLES)]
    Seen {
        /// The ask: its id, or enough of its beginning to name it alone.
        id: IdPrefix,
    },
}

/// Which asks to list.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct AsksListArguments {
    /// Only these.
    #[arg(long, value_enum, default_value_t = Shown::Open)]
    status: Shown,
    /// Only this conversation's.
    #[arg(long, value_name = "CONVERSATION", value_parser = super::conversations::conversation_id)]
    conversation: Option<String>,
}

/// Which asks are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shown {
    /// What waits for you, and answers that did not arrive until you have taken note of them.
    Open,
    /// What waits for you.
    Pending,
    /// What was answered.
    Submitted,
    /// What was cancelled.
    Cancelled,
    /// Everything that is kept.
    All,
}

impl Shown {
    fn status(self) -> Option<String> {
        match self {
            Self::Open | Self::All => None,
            Self::Pending => Some("pending".to_owned()),
            Self::Submitted => Some("submitted".to_owned()),
            Self::Cancelled => Some("cancelled".to_owned()),
        }
    }

    fn shows(self, question: &QuestionBody) -> bool {
        match self {
            Self::Open => question.status == "pending" || words::undelivered(question),
            Self::Pending | Self::Submitted | Self::Cancelled | Self::All => true,
        }
    }
}

/// Runs one of the commands.
pub(super) async fn run(command: AsksCommand, client: &Client, screen: &Screen) -> Result<(), Failure> {
    match command {
        AsksCommand::List(arguments) => list(arguments, client, screen).await,
        AsksCommand::Show { id } => show(&find(&id, client).await?, screen),
        AsksCommand::Answer(arguments) => answer::run(arguments, client, screen).await,
        AsksCommand::Cancel { id } => cancel(&id, client, screen).await,
        AsksCommand::Seen { id } => seen(&id, client, screen).await,
    }
}

async fn list(arguments: AsksListArguments, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let AsksListArguments { status, conversation } = arguments;
    let query = InputList { conversation_id: conversation, status: status.status(), ..InputList::default() };
    let mut page = every(query, client).await?;
    page.questions.retain(|question| status.shows(question));
    match screen.form() {
        Form::Json => screen.json(&page)?,
        Form::Table => {
            screen.table(&rows(&page.questions, jiff::Timestamp::now()))?;
            screen.words(&waits(&page.counts));
        }
    }
    Ok(())
}

/// Every page as one. Its cursor is the first page's: whoever reads on from there misses nothing.
pub(super) async fn every(mut query: InputList, client: &Client) -> Result<Questions, Failure> {
    let mut all: Questions = client.look(Operation::InputList(query.clone())).await?;
    while let Some(next) = all.next.take().filter(|next| query.after.as_ref() != Some(next)) {
        query.after = Some(next);
        let page: Questions = client.look(Operation::InputList(query.clone())).await?;
        all.questions.extend(page.questions);
        all.next = page.next;
    }
    Ok(all)
}

/// The one ask that is meant, read anew. B46: also one that is over long since.
async fn find(id: &IdPrefix, client: &Client) -> Result<QuestionBody, Failure> {
    let all = every(InputList::default(), client).await?;
    let one = id.only(&all.questions, "ask", |question| (&question.request_id, &question.prompt))?;
    settling::read(&one.conversation_id, &one.request_id, client).await
}

fn show(question: &QuestionBody, screen: &Screen) -> Result<(), Failure> {
    match screen.form() {
        Form::Json => screen.json(question)?,
        Form::Table => screen.lines(&card::ask(question, jiff::Timestamp::now()))?,
    }
    Ok(())
}

async fn cancel(id: &IdPrefix, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let question = find(id, client).await?;
    settling::cancel(Aim::at(&question), client, screen).await
}

async fn seen(id: &IdPrefix, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let question = find(id, client).await?;
    let request = question.request_id;
    let mark = Operation::MarkSeen(MarkSeen { request_id: request.clone() });
    settling::settle(mark, &request, client, screen).await
}

fn rows(questions: &[QuestionBody], now: jiff::Timestamp) -> Vec<String> {
    let mut table = Table::new(["ID", "STATE", "PURPOSE", "AGE", "ROOM", "ASKS"]);
    for question in questions {
        table.row([
            clean_line(&question.request_id, WIDTH),
            words::ask(question),
            clean_line(&question.purpose, WIDTH),
            words::age(&question.created_at, now),
            clean_line(&question.origin.room, WIDTH),
            clean_line(&question.prompt, PROMPT_WIDTH),
        ]);
    }
    table.lines()
}

/// What waits in all of the mailbox, in words.
pub(super) fn waits(counts: &MailCountsBody) -> String {
    format!("{} waiting on you, {} unread", counted(counts.asks, "ask"), counted(counts.updates, "update"))
}

fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests;
