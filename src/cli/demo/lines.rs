//! What the play looks like on a terminal: one line for each thing said and each thing that moved.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::time::Duration;

use super::ledger::Moved;
use super::people::Person;
use crate::owner::wire::{HandoffBody, PostingBody, ResultBody};

/// Characters of somebody's words that a line repeats.
const WORDS_MAX: usize = 44;

/// Pause before somebody speaks, for whoever reads along: thirty of them make ten seconds.
const PACE: Duration = Duration::from_millis(300);

/// Where lines go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    /// A person watches: everything on stdout.
    People,
    /// A program reads one object from stdout: lines go to stderr.
    Json,
}

impl Output {
    /// Writes one line for whoever watches.
    pub(super) fn line(self, text: &str) {
        // Whoever stopped reading must not stop the play: it still has a service to end.
        let _ = match self {
            Self::People => writeln!(std::io::stdout().lock(), "{text}"),
            Self::Json => writeln!(std::io::stderr().lock(), "{text}"),
        };
    }

    /// Writes the heading of an act.
    pub(super) fn act(self, title: &str) {
        self.line(&format!("\n{title}"));
    }

    /// Writes what somebody says, at a pace that a person can follow. Nothing depends on the pace.
    pub(super) async fn speaks(self, room: &str, who: &str, words: &str) {
        if self == Self::People && std::io::stdout().is_terminal() {
            tokio::time::sleep(PACE).await;
        }
        self.said(room, who, words);
    }

    /// Writes what somebody says or hears.
    pub(super) fn said(self, room: &str, who: &str, words: &str) {
        self.line(&format!("  {room:<8} {who:<6} {words}"));
    }
}

/// The plain names of people, by actor id.
#[derive(Debug, Clone, Default)]
pub(super) struct Names(BTreeMap<String, &'static str>);

impl Names {
    /// The names of these people.
    pub(super) fn of<'a>(people: impl IntoIterator<Item = &'a Person>) -> Self {
        Self(people.into_iter().map(|person| (person.actor(), person.name)).collect())
    }

    /// The line of a handoff that moved.
    pub(super) fn line(&self, moved: &Moved, all: &[HandoffBody]) -> String {
        let record = &moved.record;
        let room = record.room.rsplit(':').next().unwrap_or(&record.room);
        let who = self.name(record);
        let state = state(moved, || self.target(record, all));
        format!("  {room:<8} {who:<6} {:<WORDS_MAX$}  {state}", quoted(&record.request))
    }

    fn name<'a>(&self, record: &'a HandoffBody) -> &'a str {
        self.0.get(&record.actor).copied().unwrap_or(&record.actor_name)
    }

    fn target(&self, record: &HandoffBody, all: &[HandoffBody]) -> String {
        let joined = all.iter().find(|other| Some(&other.id) == record.joined.as_ref());
        joined.map_or_else(|| "another".to_owned(), |other| quoted(&other.request))
    }
}

/// The state of a handoff in the words that every surface uses.
fn state(moved: &Moved, target: impl Fn() -> String) -> String {
    let Moved { record, counts } = moved;
    match (record.state.as_str(), &record.result) {
        ("pending", _) => format!("… waiting {}/{}", counts.waiting, counts.limits.waiting),
        ("running", _) => format!("▸ running {}/{}", counts.running, counts.limits.running),
        ("joined", _) => format!("↳ joins {}", target()),
        ("absorbed", _) => format!("✓ absorbed into {}", target()),
        ("waiting_user", _) => "? waiting on you".to_owned(),
        ("cancelled", Some(ResultBody::Cancelled { by })) => format!("⊘ cancelled by the {}", by.kind),
        ("failed", Some(ResultBody::Failed { code })) => failed(code),
        ("completed", Some(ResultBody::Settled { text, .. })) => format!("{}: {}", posting(record), one_line(text)),
        ("completed", _) => posting(record).to_owned(),
        (other, _) => other.to_owned(),
    }
}

fn posting(record: &HandoffBody) -> &'static str {
    match &record.room_delivery.posting {
        PostingBody::Pending { .. } | PostingBody::Sending { .. } => "→ delivering",
        PostingBody::Failed { .. } | PostingBody::Uncertain => "! done, delivery unconfirmed",
        PostingBody::None | PostingBody::Confirmed | PostingBody::Suppressed { .. } => "✓ done",
    }
}

fn failed(code: &str) -> String {
    match code {
        "interrupted" => "✗ failed: interrupted by the restart, not run again".to_owned(),
        "native_uncertain" => "! taken by native child, outcome unknown".to_owned(),
        other => format!("✗ failed: {other}"),
    }
}

/// Somebody's words without what the demo agent is told to do.
pub(super) fn quoted(request: &str) -> String {
    let words: Vec<&str> = request.lines().filter(|line| !line.starts_with('!')).collect();
    let words = words.join(" ");
    let shown: String = words.chars().take(WORDS_MAX - 3).collect();
    if shown.len() < words.len() { format!("“{shown}…”") } else { format!("“{shown}”") }
}

fn one_line(text: &str) -> String {
    text.lines().collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_not_part_of_what_somebody_said() {
        assert_eq!(quoted("What shall we cook?\n!wait-steer 60000"), "“What shall we cook?”");
        assert_eq!(quoted(&"ä".repeat(60)).chars().count(), WORDS_MAX);
    }
}
