//! `clankie doctor`: what is right, what is not, and what to do about it. It changes nothing.
//!
//! The ids of the checks stay: a program may look for one.

use serde::Serialize;

use super::clean::clean_line;
use super::exit::Exit;
use super::failure::Failure;
use super::screen::{Form, Screen};
use super::table::Table;
use super::{Global, connection};
use crate::config::Environment;
use crate::owner::wire::{DiscordBody, SinkBody, Status};

/// Width of a sentence in a table, in characters: the cause of a trouble stands last in it.
const WIDTH: usize = 240;

/// How one check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// It is as it should be.
    Ok,
    /// It is not.
    Failed,
    /// It was not looked at, or nobody could say.
    Skipped,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    id: String,
    state: Ended,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Serialize)]
struct Checkup<'a> {
    ok: bool,
    checks: &'a [Check],
}

impl Check {
    /// One that is as it should be.
    pub fn passed(id: &str, detail: String) -> Self {
        Self { id: id.to_owned(), state: Ended::Ok, detail, hint: None }
    }

    /// One that is not, and what to do.
    pub fn failed(id: &str, detail: String, hint: &str) -> Self {
        Self { id: id.to_owned(), state: Ended::Failed, detail, hint: Some(hint.to_owned()) }
    }

    /// One about which nothing is known.
    pub fn skipped(id: &str, detail: String) -> Self {
        Self { id: id.to_owned(), state: Ended::Skipped, detail, hint: None }
    }
}

/// Adds what a running service says of itself, shows everything, and says whether all is right.
pub async fn run(mut checks: Vec<Check>, global: &Global, environment: &Environment) -> Result<Exit, Failure> {
    checks.extend(service(global, environment).await);
    let ok = checks.iter().all(|check| check.state != Ended::Failed);
    show(&Checkup { ok, checks: &checks }, &global.screen())?;
    Ok(if ok { Exit::Done } else { Exit::Failure })
}

async fn service(global: &Global, environment: &Environment) -> Vec<Check> {
    let read = async {
        let client = connection::operator(global, environment)?;
        client.read::<Status>(&["operator", "v1", "status"], &[]).await
    };
    match read.await {
        Ok(status) => running(&status),
        // Nothing says that one should be running.
        Err(Failure::NotReachable { url: None, why }) => vec![Check::skipped("service", why)],
        Err(Failure::Config(_) | Failure::NoCredential { .. }) => {
            vec![Check::skipped("service", "nobody knows where it is, or may ask it".to_owned())]
        }
        Err(failure) => vec![Check::failed("service", failure.to_string(), "look at its log, or start it anew")],
    }
}

fn running(status: &Status) -> Vec<Check> {
    let mut checks = vec![Check::passed("service", format!("{} serves at {}", status.version, status.url))];
    checks.push(match &status.store.reason {
        None => Check::passed("store", status.store.state.clone()),
        Some(why) => Check::failed("store", format!("{}: {why}", status.store.state), "start the service anew"),
    });
    checks.extend(status.discord.iter().flat_map(connected));
    checks.extend(status.notify.iter().map(told));
    checks
}

fn connected(bot: &DiscordBody) -> [Check; 2] {
    let trouble = bot.trouble.as_ref().map_or_else(String::new, |why| format!(": {why}"));
    let link = format!("{}{trouble}", bot.link);
    let link = match (bot.link.as_str(), &bot.trouble) {
        ("ready", _) => Check::passed("discord.link", link),
        (_, None) => Check::skipped("discord.link", link),
        (_, Some(_)) => Check::failed("discord.link", link, "see what else failed here"),
    };
    let commands = match bot.commands.as_str() {
        "synced" => Check::passed("discord.commands", bot.commands.clone()),
        "refused" => Check::failed("discord.commands", bot.commands.clone(), "invite the bot with its commands"),
        _ => Check::skipped("discord.commands", bot.commands.clone()),
    };
    [link, commands]
}

fn told(sink: &SinkBody) -> Check {
    let id = format!("notify.{}", sink.sink);
    let why = sink.last_error.clone().unwrap_or_else(|| sink.state.clone());
    if sink.state == "ready" {
        Check::passed(&id, sink.state.clone())
    } else {
        Check::failed(&id, why, "look at its part of [notify]; docs/notifications.md says what each sink needs")
    }
}

fn show(checkup: &Checkup<'_>, screen: &Screen) -> Result<(), Failure> {
    match screen.form() {
        Form::Json => Ok(screen.json(checkup)?),
        Form::Table => {
            let mut table = Table::new(["CHECK", "STATE", "WHAT WAS SEEN", "WHAT TO DO"]);
            for Check { id, state, detail, hint } in checkup.checks {
                let state = match state {
                    Ended::Ok => "ok",
                    Ended::Failed => "failed",
                    Ended::Skipped => "skipped",
                };
                let line = |text: &str| clean_line(text, WIDTH);
                table.row([line(id), state.to_owned(), line(detail), line(hint.as_deref().unwrap_or_default())]);
            }
            Ok(screen.table(&table.lines())?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bot(link: &str, trouble: Option<&str>, commands: &str) -> [Ended; 2] {
        let body = DiscordBody {
            link: link.into(),
            commands: commands.into(),
            trouble: trouble.map(str::to_owned),
            identifies: 1,
            identifies_left: None,
            missed: 0,
        };
        connected(&body).map(|check| check.state)
    }

    #[test]
    fn a_connection_that_is_on_its_way_is_neither_right_nor_wrong() {
        assert_eq!(bot("ready", Some("an old one"), "synced"), [Ended::Ok, Ended::Ok]);
        assert_eq!(bot("connecting", None, "not_yet"), [Ended::Skipped, Ended::Skipped]);
        assert_eq!(bot("waiting", Some("no token"), "refused"), [Ended::Failed, Ended::Failed]);
    }
}
