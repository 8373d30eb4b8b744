//! `clankie status`: how the service stands, read only.

use super::clean::clean_line;
use super::client::Client;
use super::failure::Failure;
use super::screen::{Form, Screen};
use super::table::card;
use crate::owner::wire::{CountsBody, Status};

/// Width of a value, in characters.
const WIDTH: usize = 160;
const MINUTE_S: i64 = 60;
const HOUR_S: i64 = 60 * MINUTE_S;
const DAY_S: i64 = 24 * HOUR_S;

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
        ("uptime", uptime(&status.started_at, now)),
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
    if let Some(counts) = &status.counts {
        facts.extend(shares(counts));
    }
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

fn uptime(started_at: &str, now: jiff::Timestamp) -> String {
    let Ok(started) = started_at.parse::<jiff::Timestamp>() else { return "unknown".to_owned() };
    let seconds = now.duration_since(started).as_secs().max(0);
    let (days, hours, minutes) = (seconds / DAY_S, seconds % DAY_S / HOUR_S, seconds % HOUR_S / MINUTE_S);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, hours, _) => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uptime_is_said_in_its_two_largest_units() {
        let now: jiff::Timestamp = "2030-01-02T00:00:00Z".parse().unwrap();
        let table = [
            ("2030-01-01T23:59:59Z", "1 s"),
            ("2030-01-01T23:10:30Z", "49 min"),
            ("2030-01-01T20:10:30Z", "3 h 49 min"),
            ("2029-12-20T20:00:00Z", "12 d 4 h"),
            ("2030-01-02T00:00:09Z", "0 s"),
            ("soon", "unknown"),
        ];
        for (started, said) in table {
            assert_eq!(uptime(started, now), said, "{started}");
        }
    }
}
