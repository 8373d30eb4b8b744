//! Brings a reply into its room: part by part, each awaited, each with an enforced nonce.
//!
//! `Send` is durable before a part is posted, and taken back when nothing of it left. A post whose outcome
//! is unclear is repeated with the same nonce while Discord remembers it; after that the room is searched for
//! our own message, and only when it is not found there the part is `uncertain`. Nothing becomes a success
//! by assumption.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use clankie_actors::ports::PostingLog;
use clankie_domain::delivery::{Posting, PostingStep};
use clankie_domain::handoff::HandoffRecord;
use clankie_domain::ids::{DeliveryId, HandoffId};
use clankie_domain::message::{MessageKind, RoomMessage};
use clankie_domain::result::TurnResult;
use clankie_domain::time::Timestamp;
use sha2::{Digest, Sha256};

use super::Shared;
use super::identity::{channel_of, message_of, user_of};
use super::rest::{Draft, Ping, Posted};
use super::split::split;

mod parts;
mod search;
mod sending;

use parts::{Part, parts};
use search::Sought;
use sending::{Effect, Sending};

/// Rest before a post is tried again; doubles.
const FIRST_REST: Duration = Duration::from_millis(500);
/// Longest such rest.
const LONGEST_REST: Duration = Duration::from_secs(15);
/// How long a reply waits for a connection before it is tried anyway.
const READY_WAIT: Duration = Duration::from_secs(60);
/// Length of a nonce, in characters: one below Discord's limit of 25.
const NONCE_LENGTH: usize = 24;
/// Most digits of a nonce's digest that are needed for that.
const NONCE_BYTES: usize = NONCE_LENGTH / 2;

/// Where one reply goes.
#[derive(Debug)]
struct Reply<'a> {
    shared: &'a Shared,
    log: &'a PostingLog,
    handoff: HandoffId,
    channel: u64,
    answers: Option<u64>,
    /// The same, as the store names it.
    trigger: &'a DeliveryId,
    asker: Option<u64>,
    /// When the run ended: nothing was posted before.
    ended: Timestamp,
    parts: Vec<Part>,
    /// Files that are known to stand in the room.
    files_there: AtomicUsize,
}

/// What is known of the part that is durably being sent.
#[derive(Debug)]
struct InFlight<'a> {
    /// Counted from zero.
    part: u32,
    nonce: &'a str,
    /// The parts before it, as the room names them.
    confirmed: &'a [String],
    /// When the sending began.
    since: Timestamp,
    effect: Effect,
}

/// Posts what is open of this record's reply.
pub(super) async fn reply(shared: &Shared, record: &HandoffRecord, log: &PostingLog) {
    shared.followed.stop_typing(record.id).await;
    let Some(channel) = channel_of(&record.room) else {
        end(log, record.id, PostingStep::Suppress { why: "no_such_room".to_owned() }).await;
        return;
    };
    let (answers, asker) = (message_of(record.quoted()), user_of(&record.actor));
    let (parts, ended) = (parts(record), record.ended_at.unwrap_or(record.created_at));
    if parts.is_empty() {
        end(log, record.id, PostingStep::Suppress { why: "nothing_to_say".to_owned() }).await;
        return;
    }
    let (handoff, files_there) = (record.id, AtomicUsize::new(0));
    let trigger = record.quoted();
    let reply = Reply { shared, log, handoff, channel, answers, trigger, asker, ended, parts, files_there };
    reply.post(record.room_delivery.state.clone(), &record.room_delivery.confirmed).await;
    // One that does not stand in the room is kept for the owner, as long as its handoff.
    if reply.files_there.load(Ordering::Acquire) == kept_files(record) {
        shared.settings.files.forget(record.id).await;
    }
}

/// Files of this record's reply that are kept here.
fn kept_files(record: &HandoffRecord) -> usize {
    match record.result() {
        Some(TurnResult::Settled { media, .. }) => media.iter().filter(|media| media.file.is_some()).count(),
        Some(
            TurnResult::Silent
            | TurnResult::Absorbed { .. }
            | TurnResult::WaitingUser { .. }
            | TurnResult::Failed { .. }
            | TurnResult::Cancelled { .. },
        )
        | None => 0,
    }
}

/// Says one word on the way, or reacts to the trigger.
pub(super) async fn say(shared: &Shared, record: &HandoffRecord, message: &RoomMessage) {
    let (Some(channel), Some(trigger)) = (channel_of(&record.room), message_of(record.quoted())) else { return };
    match message.kind {
        MessageKind::Update => {
            let nonce = nonce(&message.id);
            let asker = user_of(&record.actor);
            for text in split(&message.text).iter().take(1) {
                let (answers, ping) = (Some(trigger), Ping::Nobody);
                let draft = Draft { channel, answers, text, nonce: &nonce, asker, ping, file: None };
                // The nonce makes one repeat harmless; a word on the way is worth no more than that.
                if shared.rest.post(&draft).await == Posted::Unclear {
                    let again = shared.rest.post(&draft).await;
                    tracing::debug!(handoff = %record.id, ?again, "a text update was repeated");
                }
            }
        }
        MessageKind::Reaction => {
            if let Some(emoji) = emoji(shared, &message.text) {
                shared.rest.react(channel, trigger, emoji).await;
            }
        }
        MessageKind::Person | MessageKind::Reply | MessageKind::Notice => {}
    }
}

/// One short sentence of the service itself, about a message that has no record.
pub(super) async fn notice(shared: &Shared, at: (u64, u64), asker: u64, text: &str) -> Posted {
    let (channel, trigger) = at;
    let nonce = nonce(&format!("notice/{trigger}"));
    let (answers, asker, ping) = (Some(trigger), Some(asker), Ping::Nobody);
    let draft = Draft { channel, answers, text, nonce: &nonce, asker, ping, file: None };
    match shared.rest.post(&draft).await {
        Posted::Unclear => shared.rest.post(&draft).await,
        known @ (Posted::Stands(_) | Posted::Refused(_) | Posted::NotSent) => known,
    }
}

impl Reply<'_> {
    /// Goes on until nothing is open; gives the state in which that is.
    async fn post(&self, mut state: Posting, confirmed: &[String]) -> Posting {
        let mut confirmed = confirmed.to_vec();
        // What is being sent at the start was sent by a process that is gone.
        let mut effect = Effect::Possible;
        let mut rest = Duration::ZERO;
        loop {
            let step = match state {
                Posting::Pending { part } => {
                    tokio::time::sleep(rest).await;
                    self.way_is_free().await;
                    effect = Effect::None;
                    PostingStep::Send { part, nonce: nonce(&format!("{}/{part}", self.handoff)) }
                }
                Posting::Sending { part, ref nonce, at } => {
                    let confirmed = confirmed.as_slice();
                    match self.sending(InFlight { part, nonce, confirmed, since: at, effect }) {
                        Some(sending) => sending.settle().await,
                        None => PostingStep::Refused { part, why: "There is no such part of the reply.".to_owned() },
                    }
                }
                Posting::None
                | Posting::Confirmed
                | Posting::Failed { .. }
                | Posting::Uncertain
                | Posting::Suppressed { .. } => return state,
            };
            rest = rest_after(&step, rest);
            match self.log.step(step).await {
                Ok(posted) => (state, confirmed) = (posted.state, posted.confirmed),
                Err(stopped) => {
                    tracing::debug!(handoff = %self.handoff, %stopped, "a posting was left as it stands");
                    return state;
                }
            }
        }
    }

    /// Waits before anything is durable: for a connection, within reason, and for the end of Discord's own waits.
    async fn way_is_free(&self) {
        let _ = tokio::time::timeout(READY_WAIT, self.shared.board.ready()).await;
        self.shared.rest.takes_posts(self.channel).await;
    }

    /// The part that is durably being sent; `None` when the reply has no such part.
    fn sending<'a>(&'a self, flight: InFlight<'a>) -> Option<Sending<'a>> {
        let InFlight { part, nonce, confirmed, since, effect } = flight;
        let piece = self.parts.get(usize::try_from(part).ok()?)?;
        let (channel, answers, trigger, log) = (self.channel, self.answers, self.trigger, self.log);
        let sought = Sought { channel, answers, trigger, log, part: piece, nonce, confirmed, from: self.ended };
        Some(Sending { reply: self, part, piece, nonce, sought, since, effect })
    }

    fn arrived(&self, part: u32, id: u64) -> PostingStep {
        let parts = u32::try_from(self.parts.len()).unwrap_or(u32::MAX);
        PostingStep::Arrived { part, id: id.to_string(), parts }
    }
}

/// How long the next part, or the same one, rests before it is posted.
fn rest_after(step: &PostingStep, rest: Duration) -> Duration {
    match step {
        PostingStep::Send { .. } => rest,
        PostingStep::Unsent { .. } => (rest * 2).clamp(FIRST_REST, LONGEST_REST),
        PostingStep::Arrived { .. }
        | PostingStep::Refused { .. }
        | PostingStep::Lost { .. }
        | PostingStep::Suppress { .. }
        | PostingStep::Repost => Duration::ZERO,
    }
}

async fn end(log: &PostingLog, handoff: HandoffId, step: PostingStep) {
    if let Err(stopped) = log.step(step).await {
        tracing::debug!(%handoff, %stopped, "a posting was left as it stands");
    }
}

/// A nonce that is the same whenever the same thing is said again.
pub(super) fn nonce(of: &str) -> String {
    Sha256::digest(of.as_bytes()).iter().take(NONCE_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

/// The emoji of a reaction that an agent may name.
fn emoji<'a>(shared: &'a Shared, name: &str) -> Option<&'a str> {
    let signals = &shared.settings.signals;
    match name {
        "seen" => Some(&signals.seen),
        "done" => Some(&signals.done),
        "yes" => Some("👍"),
        "no" => Some("👎"),
        "thanks" => Some("🙏"),
        "thinking" => Some("🤔"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nonce_is_stable_and_within_discords_limit() {
        assert_eq!(nonce("a/0"), nonce("a/0"));
        assert_ne!(nonce("a/0"), nonce("a/1"));
        assert_eq!(nonce("a/0").len(), NONCE_LENGTH);
    }
}
