//! The words for the states of things, the same on every surface and never colour alone.

use super::clean::clean_line;
use crate::owner::wire::{ByBody, ClassBody, CountsBody, HandoffBody, PostingBody, ResultBody};

/// Longest reason that a line repeats, in characters.
const WHY_MAX: usize = 80;
/// The end of an id that tells it from its neighbours: ids begin with the time.
const SHORT_ID: usize = 8;

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

fn who(by: &ByBody) -> String {
    format!("{} {}", clean_line(&by.kind, WHY_MAX), clean_line(&by.id, WHY_MAX)).trim_end().to_owned()
}
