//! `clankie chat ROOM --as NAME`: talk in a local room from a terminal or a pipe.
//!
//! The person is an account of the service; its token is kept in the state directory, so the next
//! chat under that name is the same person. Every line has a delivery id of its own.

use std::io::IsTerminal;
use std::time::Duration;

use clap::Args;
use tokio::io::{AsyncBufReadExt, BufReader, Lines, Stdin};
use tokio::time::Instant;

use super::Global;
use super::client::Client;
use super::connection::{self, Credential};
use super::failure::Failure;
use super::screen::{Form, Screen};
use super::words;
use crate::config::{Environment, Span};
use crate::owner::wire::{
    AccountOpen, Operation, ResultBody, RoomMessageBody, RoomMessages, SayBody, TokenMade, TurnAnswer,
};

use said::Said;
pub(super) use said::line;

mod said;

/// How long one call waits for something new.
const FOLLOW: Duration = Duration::from_secs(20);
/// Pause after a call that brought nothing, so that a service that does not wait is not flooded.
const PAUSE: Duration = Duration::from_millis(200);
/// What was said before, shown at the start so that one knows where one is.
const RECALLED: usize = 10;
/// The status that says that a token does not stand, and nothing else.
const UNAUTHORIZED: u16 = 401;
/// Longest name of an account, as the service has it.
const NAME_MAX: usize = 64;

/// Where to talk, and as whom.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct ChatArguments {
    /// The local room, such as lobby.
    room: String,
    /// The account to talk as; it is opened when it does not exist.
    #[arg(long = "as", value_name = "NAME", value_parser = account_name)]
    name: String,
    /// How long to wait for the reply to the last line, when standard input is no terminal.
    #[arg(long, default_value = "5m", value_name = "SPAN", value_parser = span)]
    wait: Span,
}

/// One person in one room.
struct Talk<'a> {
    client: Client,
    room: String,
    actor: String,
    screen: &'a Screen,
}

/// Talks until the input ends.
pub(super) async fn run(
    arguments: ChatArguments,
    global: &Global,
    environment: &Environment,
    screen: &Screen,
) -> Result<(), Failure> {
    let operator = connection::operator(global, environment)?;
    let dir = connection::state_dir(global, environment)?;
    let ChatArguments { room, name, wait } = arguments;
    let room = room.strip_prefix("local:").unwrap_or(&room).to_owned();
    let talk = |credential| Talk {
        client: operator.with(credential),
        room: room.clone(),
        actor: format!("local:{name}"),
        screen,
    };
    let kept = connection::account(&dir, &name)?;
    let mut talk = match kept.clone() {
        Some(credential) => talk(credential),
        None => talk(open(&operator, &dir, &name).await?),
    };
    let before = match talk.all().await {
        // Another service's token, or a revoked one: the operator may open the account again.
        Err(Failure::Problem(problem)) if kept.is_some() && problem.status == UNAUTHORIZED => {
            talk.client = operator.with(open(&operator, &dir, &name).await?);
            talk.all().await?
        }
        before => before?,
    };
    let input = BufReader::new(tokio::io::stdin()).lines();
    if std::io::stdin().is_terminal() {
        talk.converse(before, input).await
    } else {
        talk.post(before.next, input, wait).await
    }
}

async fn open(operator: &Client, dir: &std::path::Path, name: &str) -> Result<Credential, Failure> {
    connection::prepare_accounts(dir)?;
    let made: TokenMade = operator.dispatch(Operation::AccountOpen(AccountOpen { name: name.to_owned() })).await?;
    let credential = Credential::new(&made.secret);
    connection::keep_account(dir, name, &credential)?;
    Ok(credential)
}

impl Talk<'_> {
    /// Shows what comes while lines are typed; a refused line is said and the talk goes on.
    async fn converse(&self, before: RoomMessages, mut input: Lines<BufReader<Stdin>>) -> Result<(), Failure> {
        let recalled = before.messages.len().saturating_sub(RECALLED);
        before.messages[recalled..].iter().try_for_each(|message| self.show(message))?;
        self.screen.words(&format!("You are {} in {}. Ctrl-D ends.", self.actor, self.room));
        let mut after = before.next;
        loop {
            tokio::select! {
                typed = input.next_line() => match typed? {
                    Some(typed) if typed.trim().is_empty() => {}
                    Some(typed) => self.say_aloud(&typed).await?,
                    None => return Ok(()),
                },
                page = self.after(after, FOLLOW) => {
                    let page = page?;
                    let others = page.messages.iter().filter(|message| message.author.as_ref() != Some(&self.actor));
                    others.into_iter().try_for_each(|message| self.show(message))?;
                    after = page.next.max(after);
                }
            }
        }
    }

    async fn say_aloud(&self, text: &str) -> Result<(), Failure> {
        match self.send(&Said::new(text), Duration::ZERO).await {
            Err(failure @ (Failure::Problem(_) | Failure::OutcomeUnknown { .. })) => {
                self.screen.words(&failure.to_string());
                Ok(())
            }
            Err(failure) => Err(failure),
            Ok(_) => Ok(()),
        }
    }

    /// Posts every line, then waits for the reply to the last one and prints what was replied.
    async fn post(&self, after: u64, mut input: Lines<BufReader<Stdin>>, wait: Span) -> Result<(), Failure> {
        let mut said = Vec::new();
        while let Some(text) = input.next_line().await? {
            if text.trim().is_empty() {
                continue;
            }
            let one = Said::new(&text);
            self.send(&one, Duration::ZERO).await?;
            said.push(one);
        }
        let Some(last) = said.last() else { return Ok(()) };
        let ended = self.ended(last, wait).await;
        let own = said
            .iter()
            .map(|one| one.delivery.clone())
            .chain(ended.as_ref().ok().and_then(answering))
            .collect::<Vec<_>>();
        for message in self.since(after).await?.messages {
            let answers = message.reply_to.as_ref().is_some_and(|delivery| own.contains(delivery));
            if message.kind != "person" && answers {
                self.show(&message)?;
            }
        }
        self.conclude(&ended?)
    }

    /// A repeat under the same id is the same message: it is how one waits for its end.
    async fn ended(&self, said: &Said, wait: Span) -> Result<TurnAnswer, Failure> {
        let end = Instant::now() + wait.duration();
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let answer = self.send(said, left.min(FOLLOW)).await?;
            if answer.result.is_some() {
                return Ok(answer);
            }
            if left.is_zero() {
                return Err(Failure::Late { seconds: wait.duration().as_secs(), handoff: answer.handoff_id });
            }
            tokio::time::sleep(PAUSE.min(left)).await;
        }
    }

    fn conclude(&self, ended: &TurnAnswer) -> Result<(), Failure> {
        match &ended.result {
            Some(ResultBody::Settled { .. } | ResultBody::Absorbed { .. }) | None => Ok(()),
            Some(result @ (ResultBody::Silent | ResultBody::WaitingUser { .. })) => {
                self.screen.words(&words::result(result));
                Ok(())
            }
            Some(result @ (ResultBody::Failed { .. } | ResultBody::Cancelled { .. })) => {
                Err(Failure::NoReply(words::result(result)))
            }
        }
    }

    async fn send(&self, said: &Said, wait: Duration) -> Result<TurnAnswer, Failure> {
        let body = SayBody { delivery_id: said.delivery.clone(), text: said.text.clone() };
        self.client.write(&self.path(), &body, wait).await
    }

    async fn after(&self, after: u64, wait: Duration) -> Result<RoomMessages, Failure> {
        let began = Instant::now();
        let page: RoomMessages = self.client.read_waiting(&self.path(), &[("after", after.to_string())], wait).await?;
        if page.messages.is_empty() && !wait.is_zero() {
            tokio::time::sleep_until(began + PAUSE).await;
        }
        Ok(page)
    }

    async fn all(&self) -> Result<RoomMessages, Failure> {
        self.since(0).await
    }

    /// Everything after `after`, page by page.
    async fn since(&self, after: u64) -> Result<RoomMessages, Failure> {
        let mut whole = self.after(after, Duration::ZERO).await?;
        loop {
            let more = self.after(whole.next, Duration::ZERO).await?;
            if more.messages.is_empty() || more.next <= whole.next {
                return Ok(whole);
            }
            whole.messages.extend(more.messages);
            whole.next = more.next;
        }
    }

    fn path(&self) -> [&str; 4] {
        ["rooms", "v1", &self.room, "messages"]
    }

    fn show(&self, message: &RoomMessageBody) -> std::io::Result<()> {
        match self.screen.text_form() {
            Form::Json => self.screen.json(message),
            Form::Table => self.screen.line(&line(message)),
        }
    }
}

/// The delivery whose reply answers an absorbed one.
fn answering(ended: &TurnAnswer) -> Option<String> {
    match &ended.result {
        Some(ResultBody::Absorbed { reply_delivery_id, .. }) => Some(reply_delivery_id.clone()),
        Some(
            ResultBody::Settled { .. }
            | ResultBody::Silent
            | ResultBody::WaitingUser { .. }
            | ResultBody::Failed { .. }
            | ResultBody::Cancelled { .. },
        )
        | None => None,
    }
}

/// The name becomes part of a file's name here, before the service has seen it.
fn account_name(text: &str) -> Result<String, String> {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let sound = !text.is_empty() && text.len() <= NAME_MAX && text.chars().all(legal) && !text.contains("..");
    if sound {
        Ok(text.to_owned())
    } else {
        Err("must be 1–64 letters, digits, '-', '_' or '.', without '..'".to_owned())
    }
}

fn span(text: &str) -> Result<Span, String> {
    Span::parse(text).ok_or_else(|| "must be whole seconds, or a span such as 90s or 5m".to_owned())
}
