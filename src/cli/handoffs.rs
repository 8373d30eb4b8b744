//! `clankie handoffs`: list, show, follow, cancel, and post a reply once more.

use std::time::Duration;

use clap::{Args, Subcommand};
use serde::Serialize;
use uuid::Uuid;

use super::clean::{clean, clean_line};
use super::client::Client;
use super::failure::Failure;
use super::pick::{IdPrefix, LISTED};
use super::screen::{Form, Screen};
use super::table::{Table, card};
use super::words;
use crate::owner::wire::{
    Cancelled, ClassBody, EntryBody, HandoffBody, HandoffGet, Handoffs, MediaBody, Operation, Reposted, ResultBody,
    Transcript, TranscriptEntry,
};

/// Width of the column that shows the words, in characters.
const REQUEST_WIDTH: usize = 40;
/// Width of what a tool was given or gave back, in characters; the record has all of it.
const DETAIL_WIDTH: usize = 160;
/// How long one call waits for more of a transcript: well below what proxies cut.
const FOLLOW: Duration = Duration::from_secs(20);
/// Pause after a call that brought nothing, so that a service that does not wait is not flooded.
const PAUSE: Duration = Duration::from_millis(200);

/// What to do with handoffs.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum HandoffsCommand {
    /// List handoffs, newest first.
    List(ListArguments),
    /// Show one handoff.
    Show {
        /// Its id, or at least the first 6 digits of it.
        id: IdPrefix,
    },
    /// Follow one handoff's transcript until the handoff ends.
    Tail {
        /// Its id, or at least the first 6 digits of it.
        id: IdPrefix,
    },
    /// Cancel one handoff.
    Cancel {
        /// Its id, or at least the first 6 digits of it.
        id: IdPrefix,
    },
    /// Post once more what did not arrive of a reply, or may not have; its room is searched first.
    Repost {
        /// Its id, or at least the first 6 digits of it.
        id: IdPrefix,
    },
}

/// Which handoffs to list.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct ListArguments {
    /// Only this room, by full id such as local:lab.
    #[arg(long)]
    room: Option<String>,
    /// Only this state, such as running.
    #[arg(long)]
    state: Option<String>,
    /// Only this actor, by full id such as local:ann.
    #[arg(long)]
    actor: Option<String>,
    /// At most this many, 1–1000.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: Option<u16>,
    /// Only handoffs older than this one.
    #[arg(long, value_name = "ID")]
    before: Option<Uuid>,
}

/// Runs one of the commands.
pub(super) async fn run(command: HandoffsCommand, client: &Client, screen: &Screen) -> Result<(), Failure> {
    match command {
        HandoffsCommand::List(arguments) => list(&arguments, client, screen).await,
        HandoffsCommand::Show { id } => show(&find(&id, client).await?, client, screen).await,
        HandoffsCommand::Tail { id } => tail(&find(&id, client).await?, client, screen).await,
        HandoffsCommand::Cancel { id } => cancel(&find(&id, client).await?, client, screen).await,
        HandoffsCommand::Repost { id } => repost(find(&id, client).await?, client, screen).await,
    }
}

async fn list(arguments: &ListArguments, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let (limit, before) = (arguments.limit.map(|limit| limit.to_string()), arguments.before.map(|id| id.to_string()));
    let given = [
        ("room", &arguments.room),
        ("state", &arguments.state),
        ("actor", &arguments.actor),
        ("limit", &limit),
        ("before", &before),
    ];
    let query: Vec<_> =
        given.into_iter().filter_map(|(name, value)| value.clone().map(|value| (name, value))).collect();
    let page: Handoffs = client.read(&["operator", "v1", "handoffs"], &query).await?;
    match screen.form() {
        Form::Json => screen.json(&page)?,
        Form::Table => {
            screen.table(&rows(&page))?;
            screen.words(&counts(&page));
        }
    }
    Ok(())
}

/// The id of the one that is meant; asks the service only where it was not given whole.
async fn find(id: &IdPrefix, client: &Client) -> Result<String, Failure> {
    if let Some(id) = id.whole() {
        return Ok(id.to_string());
    }
    let mut query = vec![("limit", (LISTED + 1).to_string())];
    query.extend(id.after().map(|after| ("before", after.to_string())));
    let page: Handoffs = client.read(&["operator", "v1", "handoffs"], &query).await?;
    let one = id.only(&page.handoffs, "handoff", |record| (&record.id, &record.request))?;
    Ok(one.id.clone())
}

async fn record(id: &str, client: &Client) -> Result<HandoffBody, Failure> {
    client.read(&["operator", "v1", "handoffs", id], &[]).await
}

async fn show(id: &str, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let record = record(id, client).await?;
    match screen.form() {
        Form::Json => screen.json(&record)?,
        Form::Table => screen.lines(&facts(&record))?,
    }
    Ok(())
}

async fn tail(id: &str, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let mut after = 0;
    loop {
        let ended = record(id, client).await?.result;
        // Read to the end once more after the handoff was seen to be over: then nothing is missing.
        loop {
            let wait = if ended.is_some() { Duration::ZERO } else { FOLLOW };
            let path = ["operator", "v1", "handoffs", id, "transcript"];
            let page: Transcript = client.read_waiting(&path, &[("after", after.to_string())], wait).await?;
            page.entries.iter().try_for_each(|entry| print(entry, screen))?;
            let (before, empty) = (after, page.entries.is_empty());
            after = page.next.max(after);
            if empty || after == before {
                break;
            }
        }
        if let Some(result) = ended {
            screen.words(&words::result(&result));
            return Ok(());
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn cancel(id: &str, client: &Client, screen: &Screen) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Nothing {}
    let path = ["operator", "v1", "handoffs", id, "cancel"];
    let done: Cancelled = client.write(&path, &Nothing {}, Duration::ZERO).await?;
    match screen.form() {
        Form::Json => screen.json(&done)?,
        Form::Table => screen.line(&outcome(&done))?,
    }
    Ok(())
}

async fn repost(handoff_id: String, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let done: Reposted = client.dispatch(Operation::HandoffRepost(HandoffGet { handoff_id })).await?;
    match screen.form() {
        Form::Json => screen.json(&done)?,
        Form::Table => screen.line("what is missing is being posted; `clankie handoffs show` tells how it went")?,
    }
    Ok(())
}

fn outcome(done: &Cancelled) -> String {
    match done.outcome.as_str() {
        "cancelled" => "cancelled".to_owned(),
        "cancelling" => "its run is being stopped".to_owned(),
        "ended" => {
            format!("it was over before: {}", done.result.as_ref().map_or_else(|| done.state.clone(), words::result))
        }
        other => clean_line(other, REQUEST_WIDTH),
    }
}

fn rows(page: &Handoffs) -> Vec<String> {
    let mut table = Table::new(["ID", "STATE", "ROOM", "ACTOR", "CREATED", "REQUEST"]);
    // The oldest waiting one is next: places count from the end of a list that begins with the newest.
    let queued = |record: &HandoffBody| record.state == "pending" && record.class == ClassBody::Fresh;
    let mut place = page.counts.waiting;
    for record in &page.handoffs {
        let own = queued(record).then_some(place);
        place = place.saturating_sub(usize::from(own.is_some()));
        table.row([
            clean_line(&record.id, REQUEST_WIDTH),
            words::handoff(record, own, Some(&page.counts)),
            clean_line(&record.room, REQUEST_WIDTH),
            clean_line(&record.actor, REQUEST_WIDTH),
            clean_line(&record.created_at, REQUEST_WIDTH),
            clean_line(&record.request, REQUEST_WIDTH),
        ]);
    }
    table.lines()
}

fn counts(page: &Handoffs) -> String {
    let counts = &page.counts;
    let (running, waiting) = (counts.limits.running, counts.limits.waiting);
    format!("{}/{running} running, {}/{waiting} waiting, {} promised", counts.running, counts.waiting, counts.owed)
}

fn facts(record: &HandoffBody) -> Vec<String> {
    let line = |text: &str| clean_line(text, DETAIL_WIDTH);
    let optional = |text: &Option<String>| text.as_deref().map_or_else(|| "–".to_owned(), line);
    let usage = &record.usage;
    let mut lines = card(&[
        ("id", line(&record.id)),
        ("state", words::handoff(record, None, None)),
        ("room", line(&record.room)),
        ("actor", format!("{} ({})", line(&record.actor), line(&record.actor_name))),
        ("delivery", line(&record.delivery_id)),
        ("plan", line(&record.grant.plan)),
        ("executor", optional(&record.executor)),
        ("doing", line(&record.doing)),
        ("joiners", record.joiner_count.to_string()),
        (
            "usage",
            format!("{} tokens in, {} out, {} tool calls", usage.input_tokens, usage.output_tokens, usage.tool_calls),
        ),
        ("created", line(&record.created_at)),
        ("started", optional(&record.started_at)),
        ("ended", optional(&record.ended_at)),
        ("revision", record.revision.to_string()),
        ("reason", optional(&record.reason_code)),
    ]);
    lines.extend([String::new(), "request:".to_owned(), clean(&record.request)]);
    match &record.result {
        Some(ResultBody::Settled { text, media }) => {
            lines.extend([String::new(), "reply:".to_owned(), clean(text)]);
            lines.extend(media.iter().map(file));
        }
        Some(other) => lines.extend([String::new(), format!("result: {}", words::result(other))]),
        None => {}
    }
    lines
}

fn file(media: &MediaBody) -> String {
    let what = clean_line(&media.mime_type, REQUEST_WIDTH);
    match (&media.name, media.size) {
        (Some(name), Some(size)) => format!("file: {} ({what}, {size} bytes)", clean_line(name, DETAIL_WIDTH)),
        (_, _) => format!("file: {} ({what})", clean_line(&media.url, DETAIL_WIDTH)),
    }
}

fn print(entry: &TranscriptEntry, screen: &Screen) -> std::io::Result<()> {
    match screen.form() {
        Form::Json => screen.json(entry),
        Form::Table => screen.line(&transcript_line(entry)),
    }
}

fn transcript_line(entry: &TranscriptEntry) -> String {
    let words = match &entry.entry {
        EntryBody::Given { delivery_id, text } => {
            format!("> [{}] {}", clean_line(delivery_id, REQUEST_WIDTH), clean(text))
        }
        EntryBody::Text { text } => format!("  {}", clean(text)),
        EntryBody::Tool { name, phase, detail, .. } => {
            let (name, phase) = (clean_line(name, REQUEST_WIDTH), clean_line(phase, REQUEST_WIDTH));
            format!("· {name} {phase} {}", clean_line(detail, DETAIL_WIDTH))
        }
        EntryBody::Steer { handoff_id, mark } => {
            format!("+ steer {} {}", words::short(handoff_id), clean_line(mark, REQUEST_WIDTH))
        }
        EntryBody::Note { text } => format!("# {}", clean(text)),
    };
    format!("{:>5} {}", entry.seq, words.trim_end())
}

#[cfg(test)]
mod tests;
