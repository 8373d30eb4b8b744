//! `clankie tokens`: make, list, rotate and revoke credentials.

use clap::{Args, Subcommand, ValueEnum};
use uuid::Uuid;

use super::clean::clean_line;
use super::client::Client;
use super::failure::Failure;
use super::pick::whole_id;
use super::screen::{Form, Screen};
use super::table::Table;
use crate::config::Span;
use crate::owner::wire::{NoArguments, Operation, TokenBody, TokenCreate, TokenMade, TokenRevoke, TokenRotate, Tokens};

/// Width of a cell, in characters.
const WIDTH: usize = 64;

/// What to do with tokens.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum TokensCommand {
    /// Make a token and print it, once.
    Create(CreateArguments),
    /// List tokens, without their secrets.
    List,
    /// Give a token another secret and print it, once; the one before works for a minute more.
    Rotate {
        /// Its id, as the list shows it.
        #[arg(value_parser = whole_id)]
        id: Uuid,
    },
    /// Revoke a token, at once.
    Revoke {
        /// Its id, as the list shows it.
        #[arg(value_parser = whole_id)]
        id: Uuid,
    },
}

/// Which token to make.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct CreateArguments {
    /// What it speaks for.
    #[arg(long, value_enum)]
    kind: Kind,
    /// The name of the lane, account or holder.
    #[arg(long)]
    name: String,
    /// When it stops: a moment such as 2031-01-31T12:00:00Z, or a span from now such as 720h.
    #[arg(long, value_name = "WHEN", value_parser = moment)]
    expires: Option<jiff::Timestamp>,
}

/// What a token speaks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// A text lane of the HTTP ingress.
    LaneText,
    /// A voice lane of the HTTP ingress.
    LaneVoice,
    /// A person in local rooms.
    Account,
    /// The agent's own service credential.
    Captain,
    /// The owner.
    Operator,
}

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Self::LaneText => "lane-text",
            Self::LaneVoice => "lane-voice",
            Self::Account => "account",
            Self::Captain => "captain",
            Self::Operator => "operator",
        }
    }
}

/// Runs one of the commands.
pub(super) async fn run(command: TokensCommand, client: &Client, screen: &Screen) -> Result<(), Failure> {
    match command {
        TokensCommand::Create(arguments) => create(arguments, client, screen).await,
        TokensCommand::List => list(client, screen).await,
        TokensCommand::Rotate { id } => rotate(id, client, screen).await,
        TokensCommand::Revoke { id } => revoke(id, client, screen).await,
    }
}

async fn create(arguments: CreateArguments, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let CreateArguments { kind, name, expires } = arguments;
    let expires_at = expires.map(|moment| moment.to_string());
    let create = TokenCreate { kind: kind.as_str().to_owned(), name, expires_at };
    let made: TokenMade = client.dispatch(Operation::TokenCreate(create)).await?;
    show(&made, screen)?;
    screen.words("This is the only time that the token is shown.");
    Ok(())
}

async fn rotate(id: Uuid, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let id = id.simple().to_string();
    let made: TokenMade = client.dispatch(Operation::TokenRotate(TokenRotate { id })).await?;
    show(&made, screen)?;
    screen.words("This is the only time that the token is shown; the one before works for a minute more.");
    Ok(())
}

fn show(made: &TokenMade, screen: &Screen) -> Result<(), Failure> {
    match screen.text_form() {
        Form::Json => screen.json(made)?,
        Form::Table => screen.line(&clean_line(&made.secret, usize::MAX))?,
    }
    Ok(())
}

async fn list(client: &Client, screen: &Screen) -> Result<(), Failure> {
    let all: Tokens = client.dispatch(Operation::TokenList(NoArguments {})).await?;
    match screen.form() {
        Form::Json => screen.json(&all)?,
        Form::Table => screen.table(&rows(&all))?,
    }
    Ok(())
}

async fn revoke(id: Uuid, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let id = id.simple().to_string();
    let revoked: TokenBody = client.dispatch(Operation::TokenRevoke(TokenRevoke { id })).await?;
    match screen.form() {
        Form::Json => screen.json(&revoked)?,
        Form::Table => {
            let (kind, name) = (clean_line(&revoked.kind, WIDTH), clean_line(&revoked.name, WIDTH));
            screen.line(&format!("revoked {kind} {name}"))?;
        }
    }
    Ok(())
}

fn rows(all: &Tokens) -> Vec<String> {
    let mut table = Table::new(["ID", "KIND", "NAME", "CREATED", "LAST USED", "STANDS"]);
    for token in &all.tokens {
        let cell = |text: &str| clean_line(text, WIDTH);
        let stands = match (&token.revoked_at, &token.expires_at) {
            (Some(at), _) => format!("revoked {}", cell(at)),
            (None, Some(at)) => format!("until {}", cell(at)),
            (None, None) => "yes".to_owned(),
        };
        let used = token.last_used_at.as_deref().map_or_else(|| "never".to_owned(), cell);
        table.row([cell(&token.id), cell(&token.kind), cell(&token.name), cell(&token.created_at), used, stands]);
    }
    table.lines()
}

fn moment(text: &str) -> Result<jiff::Timestamp, String> {
    let from_now = |span: Span| jiff::Timestamp::now().checked_add(span.duration()).ok();
    let parsed = text.parse().ok().or_else(|| Span::parse(text).and_then(from_now));
    parsed.ok_or_else(|| "must be a moment such as 2031-01-31T12:00:00Z, or a span such as 720h".to_owned())
}
