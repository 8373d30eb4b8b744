//! `clankie updates`: news from agents, which ask for nothing.

use clap::{Args, Subcommand, ValueEnum};

use super::clean::clean_line;
use super::client::Client;
use super::failure::Failure;
use super::pick::IdPrefix;
use super::screen::{Form, Screen};
use super::table::Table;
use super::{asks, card, words};
use crate::owner::wire::{Operation, OwnerUpdateBody, OwnerUpdateFound, OwnerUpdateId, OwnerUpdateList, OwnerUpdates};

/// Width of the column that shows the title, in characters.
const TITLE_WIDTH: usize = 60;
/// Width of any other cell, in characters.
const WIDTH: usize = 40;

const LIST_EXAMPLES: &str = "\
Examples:
  clankie updates list                     what was not put away
  clankie updates list --state all --json";

const READ_EXAMPLES: &str = "\
Examples:
  clankie updates read 01a22f0d-88a8              shows it and marks it as read; it answers nothing";

const DISMISS_EXAMPLES: &str = "\
Examples:
  clankie updates dismiss 01a22f0d-88a8           puts it away; it answers nothing";

/// What to do with updates.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum UpdatesCommand {
    /// List updates, newest first.
    #[command(after_long_help = LIST_EXAMPLES)]
    List(UpdatesListArguments),
    /// Show one update and mark it as read.
    #[command(after_long_help = READ_EXAMPLES)]
    Read {
        /// The update: its id, or enough of its beginning to name it alone.
        id: IdPrefix,
    },
    /// Put one update away.
    #[command(after_long_help = DISMISS_EXAMPLES)]
    Dismiss {
        /// The update: its id, or enough of its beginning to name it alone.
        id: IdPrefix,
    },
}

/// Which updates to list.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct UpdatesListArguments {
    /// Only these; what was not put away when absent.
    #[arg(long, value_enum)]
    state: Option<State>,
    /// Only this conversation's.
    #[arg(long, value_name = "CONVERSATION", value_parser = super::conversations::conversation_id)]
    conversation: Option<String>,
}

/// How an update stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum State {
    /// Nobody has read it.
    Unread,
    /// It was read.
    Read,
    /// It was put away.
    Dismissed,
    /// However it stands.
    All,
}

impl State {
    fn as_str(self) -> &'static str {
        match self {
            Self::Unread => "unread",
            Self::Read => "read",
            Self::Dismissed => "dismissed",
            Self::All => "all",
        }
    }
}

/// Runs one of the commands.
pub(super) async fn run(command: UpdatesCommand, client: &Client, screen: &Screen) -> Result<(), Failure> {
    match command {
        UpdatesCommand::List(arguments) => list(arguments, client, screen).await,
        UpdatesCommand::Read { id } => read(find(&id, client).await?, client, screen).await,
        UpdatesCommand::Dismiss { id } => dismiss(find(&id, client).await?, client, screen).await,
    }
}

async fn list(arguments: UpdatesListArguments, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let page = page(arguments.conversation, arguments.state, client).await?;
    match screen.form() {
        Form::Json => screen.json(&page)?,
        Form::Table => {
            screen.table(&rows(&page.updates, jiff::Timestamp::now()))?;
            screen.words(&asks::waits(&page.counts));
        }
    }
    Ok(())
}

/// The updates that stand so.
pub(super) async fn page(
    conversation_id: Option<String>,
    state: Option<State>,
    client: &Client,
) -> Result<OwnerUpdates, Failure> {
    let state = state.map(|state| state.as_str().to_owned());
    client.look(Operation::OwnerUpdateList(OwnerUpdateList { conversation_id, state })).await
}

async fn find(id: &IdPrefix, client: &Client) -> Result<String, Failure> {
    let all = page(None, Some(State::All), client).await?;
    let one = id.only(&all.updates, "update", |update| (&update.id, &update.title))?;
    Ok(one.id.clone())
}

/// Marks one as read and shows it.
pub(super) async fn read(id: String, client: &Client, screen: &Screen) -> Result<(), Failure> {
    show(&client.dispatch(Operation::OwnerUpdateRead(OwnerUpdateId { id })).await?, screen)
}

/// Puts one away and shows it.
pub(super) async fn dismiss(id: String, client: &Client, screen: &Screen) -> Result<(), Failure> {
    show(&client.dispatch(Operation::OwnerUpdateDismiss(OwnerUpdateId { id })).await?, screen)
}

fn show(found: &OwnerUpdateFound, screen: &Screen) -> Result<(), Failure> {
    match screen.form() {
        Form::Json => screen.json(found)?,
        Form::Table => screen.lines(&card::update(&found.update, jiff::Timestamp::now()))?,
    }
    Ok(())
}

fn rows(updates: &[OwnerUpdateBody], now: jiff::Timestamp) -> Vec<String> {
    let mut table = Table::new(["ID", "STATE", "AGE", "TITLE"]);
    for update in updates {
        table.row([
            clean_line(&update.id, WIDTH),
            clean_line(&update.state, WIDTH),
            words::age(&update.at, now),
            clean_line(&update.title, TITLE_WIDTH),
        ]);
    }
    table.lines()
}

#[cfg(test)]
mod tests;
