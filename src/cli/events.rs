//! `clankie events`: what happens, one JSON a line, each with the cursor to go on from.
//!
//! A connection that ends is opened again from after the last event that was printed, so none is
//! printed twice and none is missed without a `reset` that says so.

use std::time::Duration;

use clap::Args;
use serde::Serialize;
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};
use uuid::Uuid;

use super::client::Client;
use super::failure::Failure;
use super::screen::Screen;
use crate::owner::wire::Status;
use frames::{Frame, Frames};

mod frames;

/// A service says something at least every 15 s; a silent connection is a broken one.
const SILENCE: Duration = Duration::from_secs(45);
/// First pause before a connection is opened again, and the longest one.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(5)];
/// How long a service may be away, such as for a restart, until the command gives up.
const AWAY: Duration = Duration::from_secs(300);
/// The event that says that some are missing.
const RESET: &str = "reset";

pub(super) const EXAMPLES: &str = "\
Examples:
  clankie events -f                        what happens from now on, until it is interrupted
  clankie events -f --after CURSOR         and what happened since
  clankie events                           what is kept, and no more

Every line has a cursor. After a line whose event is reset some are missing: read the lists anew.";

/// Which events.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct EventsArguments {
    /// Go on with what happens.
    #[arg(short, long)]
    follow: bool,
    /// Only what happened after this cursor.
    #[arg(long, value_name = "CURSOR")]
    after: Option<Cursor>,
}

/// A place in the events: the store's epoch and a sequence number.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cursor {
    epoch: Uuid,
    seq: u64,
}

impl std::str::FromStr for Cursor {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.rsplit_once('-').and_then(|(epoch, seq)| Some((epoch.parse().ok()?, seq.parse().ok()?)));
        let cursor = parts.map(|(epoch, seq)| Self { epoch, seq }).filter(|cursor| cursor.to_string() == text);
        cursor.ok_or("must be a cursor, as events and lists print it")
    }
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.epoch, self.seq)
    }
}

/// One event as it is printed. What it says is passed on as it came.
#[derive(Serialize)]
struct EventLine<'a> {
    event: &'a str,
    cursor: Option<&'a str>,
    data: Value,
}

/// Prints events. `operator` finds the service anew: after a restart it may listen elsewhere.
pub(super) async fn run(
    arguments: EventsArguments,
    operator: &impl Fn() -> Result<Client, Failure>,
    screen: &Screen,
) -> Result<(), Failure> {
    let client = operator()?;
    let EventsArguments { follow, after } = arguments;
    if !follow {
        return what_is_there(after, &client, screen).await;
    }
    let mut reader = Reader { after: after.map(|cursor| cursor.to_string()), end: None, screen };
    let mut ended = reader.read(&client).await;
    loop {
        // Only a connection that stood and ended is worth going on with; a refusal is none.
        let Ended::Off(why) = ended? else { return Ok(()) };
        screen.words(&format!("{why}; going on after the last event"));
        ended = again(&mut reader, operator).await;
    }
}

/// Opens it again, with pauses that grow, for as long as a service may be away.
async fn again(reader: &mut Reader<'_>, operator: &impl Fn() -> Result<Client, Failure>) -> Result<Ended, Failure> {
    let (mut pause, until) = (PAUSES[0], Instant::now() + AWAY);
    loop {
        sleep(pause).await;
        let tried = match operator() {
            Ok(client) => reader.read(&client).await,
            Err(failure) => Err(failure),
        };
        match tried {
            Err(Failure::NotReachable { .. }) if Instant::now() < until => pause = (pause * 2).min(PAUSES[1]),
            ended => return ended,
        }
    }
}

/// Prints what is kept up to now, which the service's own cursor tells.
async fn what_is_there(after: Option<Cursor>, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let status: Status = client.read(&["operator", "v1", "status"], &[]).await?;
    let now = status.cursor.as_deref().and_then(|cursor| cursor.parse::<Cursor>().ok());
    let now = now.ok_or_else(|| Failure::Unreadable { why: "its store cannot be read".to_owned() })?;
    let after = after.unwrap_or(Cursor { epoch: now.epoch, seq: 0 });
    if after == now {
        return Ok(());
    }
    let mut reader = Reader { after: Some(after.to_string()), end: Some(now), screen };
    match reader.read(client).await? {
        Ended::Whole => Ok(()),
        Ended::Off(why) => Err(Failure::NotReachable { url: None, why }),
    }
}

/// How a connection came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Ended {
    /// Everything that was wanted is printed.
    Whole,
    /// It stood, and broke off.
    Off(String),
}

/// Who prints events, and how far they have come.
struct Reader<'a> {
    after: Option<String>,
    end: Option<Cursor>,
    screen: &'a Screen,
}

impl Reader<'_> {
    async fn read(&mut self, client: &Client) -> Result<Ended, Failure> {
        let mut stream = client.stream(self.after.as_deref()).await?;
        let mut frames = Frames::default();
        loop {
            let bytes = match timeout(SILENCE, stream.chunk()).await {
                Ok(Ok(Some(bytes))) => bytes,
                Ok(Ok(None)) => return Ok(Ended::Off("the stream of events ended".to_owned())),
                Ok(Err(error)) => return Ok(Ended::Off(client.broken(&error).to_string())),
                Err(_) => return Ok(Ended::Off("the stream of events fell silent".to_owned())),
            };
            for frame in frames.push(&bytes)? {
                if self.take(&frame)? == Progress::Enough {
                    return Ok(Ended::Whole);
                }
            }
        }
    }

    fn take(&mut self, frame: &Frame) -> Result<Progress, Failure> {
        if let Some(data) = &frame.data {
            let data: Value =
                serde_json::from_str(data).map_err(|error| Failure::Unreadable { why: error.to_string() })?;
            let (event, cursor) = (frame.event.as_deref().unwrap_or("message"), frame.id.as_deref());
            self.screen.json(&EventLine { event, cursor, data })?;
            if event == RESET {
                self.screen.words("Some events are missing before this line: read the lists anew.");
            }
        }
        // Only what was printed is gone on from.
        self.after = frame.id.clone().or(self.after.take());
        Ok(if self.is_enough(frame.event.as_deref()) { Progress::Enough } else { Progress::More })
    }

    /// After a reset the rest begins where the service stands now.
    fn is_enough(&self, event: Option<&str>) -> bool {
        let at = self.after.as_deref().and_then(|cursor| cursor.parse::<Cursor>().ok());
        match (&self.end, at) {
            (Some(_), _) if event == Some(RESET) => true,
            (Some(end), Some(at)) => at.epoch == end.epoch && at.seq >= end.seq,
            (Some(_) | None, _) => false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    More,
    Enough,
}

#[cfg(test)]
mod tests;
