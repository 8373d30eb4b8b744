//! The words for the states of things, the same on every surface and never colour alone.

use super::clean::clean_line;
use crate::owner::wire::{
    ByBody, ClassBody, ContinuationBody, CountsBody, HandoffBody, PostingBody, QuestionBody, ResultBody,
};

/// Longest reason that a line repeats, in characters.
const WHY_MAX: usize = 80;
/// The end of an id that tells it from its neighbours: ids begin with the time.
const SHORT_ID: usize = 8;
const MINUTE_S: i64 = 60;
const HOUR_S: i64 = 60 * MINUTE_S;
const DAY_S: i64 = 24 * HOUR_S;

/// What a handoff's state is called. `place` is its place in the queue, from one, where known.
pub(super) fn handoff(record: &HandoffBody, place: Option<usize>, counts: Option<&CountsBody>) -> String {
    match record.state.as_str() {
        "pending" => waiting(record, place, counts),
        "running" => "running".to_owned(),
        "joined" => format!("joined {}", other(record)),
        "waiting_user" => "? waiting on you".to_owned(),
        "absorbed" => format!("absorbed into {}", other(record)),
        "completed" => done(&record.room_delivery.posting),
        "failed" => failed(record),
        "cancelled" => cancelled(record),
        unknown => clean_line(unknown, WHY_MAX),
    }
}

/// What a result is called, where the record is not at hand.
pub(super) fn result(result: &ResultBody) -> String {
    match result {
        ResultBody::Settled { .. } => "done".to_owned(),
        ResultBody::Silent => "done, without words".to_owned(),
        ResultBody::Absorbed { joined_handoff_id, .. } => format!("absorbed into {}", short(joined_handoff_id)),
        ResultBody::WaitingUser { prompt, .. } => format!("? waiting on you: {}", clean_line(prompt, WHY_MAX)),
        ResultBody::Failed { code } => failure(code),
        ResultBody::Cancelled { by } => format!("cancelled by {}", who(by)),
    }
}

/// What an ask's state is called.
pub(super) fn ask(question: &QuestionBody) -> String {
    match (question.status.as_str(), &question.continuation) {
        ("pending", _) => "? waiting on you".to_owned(),
        ("submitted", Some(continuation)) => submitted(continuation),
        ("submitted", None) => "✓ answered".to_owned(),
        ("cancelled", _) => format!("⊘ cancelled ({})", why_and_whom(question)),
        (unknown, _) => clean_line(unknown, WHY_MAX),
    }
}

/// Whether an answer did not arrive and nobody has taken note of it.
pub(super) fn undelivered(question: &QuestionBody) -> bool {
    let undelivered = |state: &str| state == "uncertain" || state == "returned";
    question.continuation.as_ref().is_some_and(|continuation| undelivered(&continuation.state) && !continuation.seen)
}

fn submitted(continuation: &ContinuationBody) -> String {
    let seen = if continuation.seen { ", seen" } else { "" };
    match continuation.state.as_str() {
        "claimed" | "dispatching" => "… sending".to_owned(),
        "delivered" => "✓ answered".to_owned(),
        "uncertain" => format!("! unconfirmed{seen}"),
        "returned" => {
            let why = continuation.reason_code.as_deref().unwrap_or("no reason was given");
            format!("⇄ returned ({}){seen}", clean_line(why, WHY_MAX))
        }
        unknown => clean_line(unknown, WHY_MAX),
    }
}

fn why_and_whom(question: &QuestionBody) -> String {
    let why = clean_line(question.reason.as_deref().unwrap_or("no reason was given"), WHY_MAX);
    match &question.resolved_by {
        Some(by) => format!("{why}, by {}", who(by)),
        None => why,
    }
}

/// How long ago a moment was, in its two largest units.
pub(super) fn age(moment: &str, now: jiff::Timestamp) -> String {
    let Ok(moment) = moment.parse::<jiff::Timestamp>() else { return "unknown".to_owned() };
    let seconds = now.duration_since(moment).as_secs().max(0);
    let (days, hours, minutes) = (seconds / DAY_S, seconds % DAY_S / HOUR_S, seconds % HOUR_S / MINUTE_S);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, hours, _) => format!("{days} d {hours} h"),
    }
}

/// The last digits of an id.
pub(super) fn short(id: &str) -> String {
    let start = id.char_indices().rev().nth(SHORT_ID - 1).map_or(0, |(at, _)| at);
    clean_line(&id[start..], SHORT_ID)
}

fn other(record: &HandoffBody) -> String {
    record.joined.as_deref().map_or_else(|| "another".to_owned(), short)
}

fn waiting(record: &HandoffBody, place: Option<usize>, counts: Option<&CountsBody>) -> String {
    match (&record.class, place, counts) {
        (ClassBody::Owed(_), _, _) => "waiting, promised".to_owned(),
        (ClassBody::Fresh, Some(place), Some(counts)) => format!("waiting {place}/{}", counts.limits.waiting),
        (ClassBody::Fresh, _, _) => "waiting".to_owned(),
    }
}

fn done(posting: &PostingBody) -> String {
    match posting {
        PostingBody::None | PostingBody::Confirmed => "done".to_owned(),
        PostingBody::Pending { .. } | PostingBody::Sending { .. } => "delivering".to_owned(),
        PostingBody::Uncertain => "done, delivery unconfirmed".to_owned(),
        PostingBody::Failed { why } => format!("done, not delivered: {}", clean_line(why, WHY_MAX)),
        PostingBody::Suppressed { why } => format!("done, delivery suppressed: {}", clean_line(why, WHY_MAX)),
    }
}

fn failed(record: &HandoffBody) -> String {
    match &record.result {
        Some(ResultBody::Failed { code }) => failure(code),
        Some(other) => result(other),
        None => "failed".to_owned(),
    }
}

fn failure(code: &str) -> String {
    match code {
        "native_uncertain" => "taken by native child, outcome unknown".to_owned(),
        code => format!("failed: {}", clean_line(code, WHY_MAX)),
    }
}

fn cancelled(record: &HandoffBody) -> String {
    match &record.result {
        Some(ResultBody::Cancelled { by }) => format!("cancelled by {}", who(by)),
        Some(_) | None => "cancelled".to_owned(),
    }
}

/// Who did something, by kind and id.
pub(super) fn who(by: &ByBody) -> String {
    format!("{} {}", clean_line(&by.kind, WHY_MAX), clean_line(&by.id, WHY_MAX)).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_said_in_its_two_largest_units() {
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
            assert_eq!(age(started, now), said, "{started}");
        }
    }
}
