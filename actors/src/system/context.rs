//! What a session is told of its room: quotes of what was said and of sibling handoffs.
//!
//! Data only. No tool and no grant crosses, and nothing in a quote is an instruction.

use clankie_domain::handoff::{HandoffRecord, State};
use clankie_domain::message::{MessageKind, RoomMessage};
use clankie_domain::result::{TurnResult, cut};

use crate::front::HandoffQuery;
use crate::store::{Store, StoreError};

/// Room messages that are quoted.
const MESSAGES: usize = 12;
/// Sibling handoffs that are quoted.
const SIBLINGS: usize = 12;
/// Characters of one quote; the agent's last reply is quoted whole.
const QUOTE_CHARS: usize = 1_000;
/// Characters of all quotes together; the newest stay.
const TOGETHER: usize = 12_000;

/// The quotes for one handoff, oldest first; empty when there is nothing to quote.
pub(crate) fn quotes(store: &Store, record: &HandoffRecord) -> String {
    match read(store, record) {
        Ok(lines) => newest(&lines),
        Err(error) => {
            tracing::warn!(handoff = %record.id, %error, "the room could not be quoted");
            String::new()
        }
    }
}

fn read(store: &Store, record: &HandoffRecord) -> Result<Vec<String>, StoreError> {
    let snapshot = store.snapshot()?;
    let messages = snapshot.last_messages(&record.room, MESSAGES + 1)?;
    let last_reply = messages.iter().rposition(|(_, message)| message.kind == MessageKind::Reply);
    let mut lines: Vec<String> =
        record.context.iter().map(|quote| format!("{}: {}", quote.author, short(&quote.text))).collect();
    for (at, (_, message)) in messages.iter().enumerate() {
        if message.handoff != record.id {
            let most = if Some(at) == last_reply { usize::MAX } else { QUOTE_CHARS };
            lines.push(said(message, most));
        }
    }
    let query = HandoffQuery { room: Some(record.room.clone()), limit: SIBLINGS + 1, ..HandoffQuery::default() };
    for sibling in snapshot.handoffs(&query)?.iter().rev().filter(|sibling| sibling.id != record.id) {
        lines.push(beside(sibling));
    }
    Ok(lines)
}

fn said(message: &RoomMessage, most: usize) -> String {
    let text: String = message.text.chars().take(most).collect();
    format!("{}: {text}", message.author_name)
}

fn beside(sibling: &HandoffRecord) -> String {
    let outcome = match &sibling.state {
        State::Ended(TurnResult::Settled { text, .. }) => format!("answered: {}", short(text)),
        State::Ended(_) => sibling.state_name().as_str().to_owned(),
        State::Pending | State::Running(_) | State::Joined { .. } => "another thread is answering this".to_owned(),
    };
    format!("[request of {}: {} | {outcome}]", sibling.actor_name, short(&sibling.request))
}

fn short(text: &str) -> String {
    text.chars().take(QUOTE_CHARS).collect()
}

fn newest(lines: &[String]) -> String {
    let mut kept = Vec::new();
    let mut left = TOGETHER;
    for line in lines.iter().rev() {
        let size = line.chars().count() + 1;
        if size > left {
            kept.push(cut(line, left, "…"));
            break;
        }
        left -= size;
        kept.push(line.clone());
    }
    kept.reverse();
    kept.join("\n")
}
