//! `clankie status`: how the service stands, read only.

use super::clean::clean_line;
use super::client::Client;
use super::failure::Failure;
use super::screen::{Form, Screen};
use super::table::card;
use super::{asks, words};
use crate::owner::wire::{CountsBody, SinkBody, Status};

/// Width of a value, in characters: the cause of a trouble stands last, behind what it was met in.
const WIDTH: usize = 400;

/// Shows it.
pub(super) async fn run(client: &Client, screen: &Screen) -> Result<(), Failure> {
    let status: Status = client.read(&["operator", "v1", "status"], &[]).await?;
    match screen.form() {
        Form::Json => screen.json(&status)?,
        Form::Table => screen.lines(&card(&facts(&status, jiff::Timestamp::now())))?,
    }
    Ok(())
}

fn facts(status: &Status, now: jiff::Timestamp) -> Vec<(&'static str, String)> {
    let line = |text: &str| clean_line(text, WIDTH);
    let routes: Vec<String> = status.routes.iter().map(|(plan, executor)| format!("{plan} {executor}")).collect();
    let store = match &status.store.reason {
        Some(reason) => format!("{}: {reason}", status.store.state),
        None => status.store.state.clone(),
    };
    let mut facts = vec![
        ("url", line(&status.url)),
        ("version", line(&status.version)),
        ("pid", status.pid.to_string()),
        ("uptime", words::age(&status.started_at, now)),
        ("state", if status.draining { "stopping, no new admissions" } else { "serving" }.to_owned()),
        ("store", line(&store)),
        ("executors", line(&routes.join(", "))),
        ("rooms", line(&status.local_rooms.join(", "))),
        ("state dir", line(&status.state_dir)),
    ];
    if let Some(bot) = &status.discord {
        let trouble = bot.trouble.as_ref().map_or_else(String::new, |why| format!(": {why}"));
        let stands = format!("{}, commands {}{trouble}", bot.link, bot.commands);
        facts.push(("discord", line(&stands)));
        let left = bot.identifies_left.map_or_else(String::new, |left| format!(", {left} left"));
        facts.push(("identifies", format!("{} in a day{left}", bot.identifies)));
    }
    facts.extend(status.notify.iter().map(|sink| ("notify", line(&told(sink, now)))));
    if let Some(counts) = &status.counts {
        facts.extend(shares(counts));
    }
    facts.extend(status.mail.as_ref().map(|counts| ("mail", asks::waits(counts))));
    facts
}

fn shares(counts: &CountsBody) -> [(&'static str, String); 3] {
    let limits = &counts.limits;
    let optional = [("a room", limits.waiting_per_room), ("an actor", limits.waiting_per_actor)];
    let further: String = optional
        .into_iter()
        .filter_map(|(whose, most)| most.map(|most| format!(", at most {most} of {whose}")))
        .collect();
    [
        ("running", format!("{}/{}, at most {} in a room", counts.running, limits.running, limits.running_per_room)),
        ("waiting", format!("{}/{}{further}", counts.waiting, limits.waiting)),
        ("promised", counts.owed.to_string()),
    ]
}

/// How one place outside stands: what it took, what it missed, and its last trouble.
fn told(sink: &SinkBody, now: jiff::Timestamp) -> String {
    let ago = |at: &Option<String>| at.as_ref().map(|at| format!("{} ago", words::age(at, now)));
    let last = ago(&sink.last_success_at).map_or_else(String::new, |ago| format!(", last {ago}"));
    let trouble = sink.last_error.as_ref().zip(ago(&sink.last_error_at));
    let trouble = trouble.map_or_else(String::new, |(why, ago)| format!("; {ago}: {why}"));
    let counts = format!("{} told{last}, {} failed, {} dropped", sink.told, sink.failures, sink.dropped);
    format!("{} {}: {counts}{trouble}", sink.sink, sink.state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_fails_is_shown_with_what_it_missed_and_why() {
        let now: jiff::Timestamp = "2030-01-02T00:00:00Z".parse().unwrap();
        let sink = SinkBody {
            sink: "ntfy".into(),
            state: "failing".into(),
            told: 3,
            failures: 2,
            dropped: 1,
            last_success_at: Some("2030-01-01T23:00:00Z".into()),
            last_error: Some("it cannot be reached".into()),
            last_error_at: Some("2030-01-01T23:59:00Z".into()),
        };
        let shown = "ntfy failing: 3 told, last 1 h 0 min ago, 2 failed, 1 dropped; 1 min ago: it cannot be reached";
        assert_eq!(told(&sink, now), shown);
    }
}
