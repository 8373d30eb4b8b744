//! What the owner is told: that something waits, of which kind, how long, and which command shows it.
//!
//! An ask with a private answer and one that opens a step say nothing of their words (field reports
//! B68, B75): they are read where they are answered. Other words are cut and hold nothing that a
//! terminal or a phone obeys.

use clankie_domain::ask::{Ask, Purpose};
use clankie_domain::ids::{ConversationId, RequestId, UpdateId};
use clankie_domain::legible::shown;
use clankie_domain::time::Timestamp;
use clankie_domain::update::OwnerUpdate;

/// Longest words that go along, in characters: what a lock screen shows.
const WORDS_MAX: usize = 280;
const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;

/// What it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// One ask.
    Ask {
        /// Whose.
        conversation: ConversationId,
        /// Which.
        request: RequestId,
        /// What for.
        purpose: Purpose,
    },
    /// One update.
    Update {
        /// Whose.
        conversation: ConversationId,
        /// Which.
        id: UpdateId,
    },
    /// Several at once.
    Several {
        /// How many asks.
        asks: usize,
        /// How many updates.
        updates: usize,
    },
}

/// One message to the owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct News {
    /// The same for the same news, also after a restart. Letters, digits and `-`.
    pub id: String,
    /// What it is about.
    pub subject: Subject,
    /// One line.
    pub title: String,
    /// The kind and the age, such as `decision · asked 2 min ago`.
    pub facts: String,
    /// The first words of it, where they may be shown outside.
    pub words: Option<String>,
    /// The command that shows it.
    pub command: String,
    /// Since when it waits.
    pub since: Timestamp,
    /// When this was written.
    pub now: Timestamp,
}

/// When a message is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Desk {
    pub(super) now: Timestamp,
}

impl Desk {
    pub(super) fn of_ask(self, ask: &Ask) -> News {
        let (conversation, request, purpose) = (ask.conversation.clone(), ask.request, ask.purpose);
        let kind = purpose.as_str().replace('_', " ");
        News {
            id: request.to_string(),
            subject: Subject::Ask { conversation, request, purpose },
            title: title(purpose).to_owned(),
            facts: format!("{kind} · asked {}", ago(self.now, ask.created_at)),
            words: (!is_closed(ask)).then(|| one_line(&ask.prompt)),
            command: format!("clankie asks show {request}"),
            since: ask.created_at,
            now: self.now,
        }
    }

    pub(super) fn of_update(self, update: &OwnerUpdate) -> News {
        let id = update.id;
        News {
            id: id.to_string(),
            subject: Subject::Update { conversation: update.conversation.clone(), id },
            title: one_line(&update.draft.title),
            facts: format!("update · sent {}", ago(self.now, update.at)),
            words: Some(one_line(&update.draft.body)),
            command: "clankie updates list".to_owned(),
            since: update.at,
            now: self.now,
        }
    }

    /// One message of several: the first of them, and how many there are.
    pub(super) fn of_several(self, first: &News, asks: usize, updates: usize) -> News {
        let counted = |count: usize, one: &str, many: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            count => Some(format!("{count} {many}")),
        };
        let parts = [counted(asks, "ask", "asks"), counted(updates, "update", "updates")];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let (verb, command) = match (asks, updates) {
            (0, _) => ("for you", "clankie updates list"),
            (1, 0) => ("waits for you", "clankie asks list"),
            (_, _) => ("wait for you", "clankie asks list"),
        };
        News {
            id: format!("{}-{}", first.id, asks + updates),
            subject: Subject::Several { asks, updates },
            title: format!("{} {verb}", parts.join(" and ")),
            facts: format!("the first came {}", ago(self.now, first.since)),
            words: None,
            command: command.to_owned(),
            since: first.since,
            now: self.now,
        }
    }
}

/// Whether its words stay inside: the answer is private, or it opens a step.
fn is_closed(ask: &Ask) -> bool {
    ask.keeps_secret() || ask.gate.is_some() || ask.purpose.is_approval()
}

fn title(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Preference => "A question about what you prefer waits for you",
        Purpose::Decision => "A decision waits for you",
        Purpose::Approval => "An approval waits for you",
        Purpose::OwnerAction => "A step that only you can do waits for you",
        Purpose::Gate => "A gate waits for you",
        Purpose::Verify => "Finished work waits for your verification",
        Purpose::RunQuestion => "A question of a run waits for you",
    }
}

/// An age in its largest unit.
fn ago(now: Timestamp, then: Timestamp) -> String {
    let age = now.0.saturating_sub(then.0).max(0);
    match age {
        0..MINUTE_MS => "just now".to_owned(),
        MINUTE_MS..HOUR_MS => format!("{} min ago", age / MINUTE_MS),
        HOUR_MS..DAY_MS => format!("{} h ago", age / HOUR_MS),
        DAY_MS.. | i64::MIN..0 => format!("{} d ago", age / DAY_MS),
    }
}

/// The text on one line, cut with a mark, without what turns lines round or hides.
fn one_line(text: &str) -> String {
    let line = shown(text).split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(WORDS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_said_in_its_largest_unit() {
        let table = [
            (-5, "just now"),
            (59_999, "just now"),
            (60_000, "1 min ago"),
            (2 * HOUR_MS, "2 h ago"),
            (3 * DAY_MS, "3 d ago"),
        ];
        for (age, said) in table {
            assert_eq!(ago(Timestamp(age), Timestamp(0)), said, "{age}");
        }
    }

    #[test]
    fn words_are_one_cut_line_without_what_a_screen_obeys() {
        assert_eq!(one_line("a\u{1b}[31m\n\tb\u{202e}c\u{200b}"), "a[31m bc");
        let long = one_line(&"é".repeat(500));
        assert_eq!((long.chars().count(), long.ends_with('…')), (WORDS_MAX + 1, true));
    }
}
