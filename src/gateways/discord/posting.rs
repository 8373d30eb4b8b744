//! Brings a reply into its room: part by part, each awaited, each with an enforced nonce.
//!
//! `Send` is durable before a part is posted. A post whose outcome is unclear is repeated with the
//! same nonce while Discord remembers it; after that the room is searched for our own message, and
//! only when it is not found there the part is `uncertain`. Nothing becomes a success by assumption.

use std::time::Duration;

use clankie_actors::ports::PostingLog;
use clankie_domain::admission::room::heard;
use clankie_domain::delivery::{Posting, PostingStep};
use clankie_domain::handoff::HandoffRecord;
use clankie_domain::ids::HandoffId;
use clankie_domain::message::{MessageKind, RoomMessage};
use clankie_domain::result::TurnResult;
use clankie_domain::time::Timestamp;
use serenity::model::channel::Message;
use sha2::{Digest, Sha256};

use super::Shared;
use super::identity::{channel_of, message_of, user_of};
use super::rest::{Draft, Page, Ping, Posted};
use super::split::split;

/// How long Discord is trusted to remember a nonce: it says "a few minutes".
const NONCE_WINDOW_MS: i64 = 3 * 60 * 1_000;
/// Rest before an unclear post is repeated; doubles.
const FIRST_REST: Duration = Duration::from_millis(500);
/// Longest such rest.
const LONGEST_REST: Duration = Duration::from_secs(15);
/// How long a reply waits for a connection before it is tried anyway.
const READY_WAIT: Duration = Duration::from_secs(60);
/// Pages that are searched for our own message: a room says less than that in a few minutes.
const SEARCH_PAGES: usize = 3;
/// Length of a nonce, in characters: one below Discord's limit of 25.
const NONCE_LENGTH: usize = 24;
/// Most digits of a nonce's digest that are needed for that.
const NONCE_BYTES: usize = NONCE_LENGTH / 2;

/// Where one reply goes.
struct Reply<'a> {
    shared: &'a Shared,
    handoff: HandoffId,
    channel: u64,
    answers: Option<u64>,
    asker: Option<u64>,
    parts: Vec<String>,
}

/// Posts what is open of this record's reply.
pub(super) async fn reply(shared: &Shared, record: &HandoffRecord, log: &PostingLog) {
    shared.followed.stop_typing(record.id).await;
    let Some(channel) = channel_of(&record.room) else {
        end(log, record.id, PostingStep::Suppress { why: "no_such_room".to_owned() }).await;
        return;
    };
    let (answers, asker) = (message_of(&record.delivery), user_of(&record.actor));
    let parts = parts(record);
    if parts.is_empty() {
        end(log, record.id, PostingStep::Suppress { why: "nothing_to_say".to_owned() }).await;
        return;
    }
    let reply = Reply { shared, handoff: record.id, channel, answers, asker, parts };
    reply.post(record.room_delivery.state.clone(), &record.room_delivery.confirmed, log).await;
}

/// Says one word on the way, or reacts to the trigger.
pub(super) async fn say(shared: &Shared, record: &HandoffRecord, message: &RoomMessage) {
    let (Some(channel), Some(trigger)) = (channel_of(&record.room), message_of(&record.delivery)) else { return };
    match message.kind {
        MessageKind::Update => {
            let nonce = nonce(&message.id);
            let asker = user_of(&record.actor);
            for text in split(&message.text).iter().take(1) {
                let (answers, ping) = (Some(trigger), Ping::Nobody);
                let draft = Draft { channel, answers, text, nonce: &nonce, asker, ping };
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
pub(super) async fn notice(shared: &Shared, channel: u64, trigger: u64, asker: u64, text: &str) {
    let nonce = nonce(&format!("notice/{trigger}"));
    let (answers, asker, ping) = (Some(trigger), Some(asker), Ping::Nobody);
    let draft = Draft { channel, answers, text, nonce: &nonce, asker, ping };
    if shared.rest.post(&draft).await == Posted::Unclear {
        let again = shared.rest.post(&draft).await;
        tracing::debug!(trigger, ?again, "a notice was repeated");
    }
}

impl Reply<'_> {
    async fn post(&self, mut state: Posting, confirmed: &[String], log: &PostingLog) {
        let mut confirmed = confirmed.to_vec();
        loop {
            let step = match state {
                Posting::Pending { part } => {
                    // Without a connection a part would only use up its window.
                    let _ = tokio::time::timeout(READY_WAIT, self.shared.board.ready()).await;
                    PostingStep::Send { nonce: nonce(&format!("{}/{part}", self.handoff)) }
                }
                Posting::Sending { part, nonce, at } => self.part(part, &nonce, at, &confirmed).await,
                Posting::None
                | Posting::Confirmed
                | Posting::Failed { .. }
                | Posting::Uncertain
                | Posting::Suppressed { .. } => return,
            };
            match log.step(step).await {
                Ok(posted) => (state, confirmed) = (posted.state, posted.confirmed),
                Err(stopped) => {
                    tracing::debug!(handoff = %self.handoff, %stopped, "a posting was left as it stands");
                    return;
                }
            }
        }
    }

    /// Posts one part that is durably being sent, until its outcome is known or cannot be.
    async fn part(&self, part: u32, nonce: &str, since: Timestamp, confirmed: &[String]) -> PostingStep {
        let index = usize::try_from(part).unwrap_or(usize::MAX);
        let Some(text) = self.parts.get(index) else {
            return PostingStep::Refused { why: "There is no such part of the reply.".to_owned() };
        };
        let ping = if part == 0 { Ping::Asker } else { Ping::Nobody };
        let (channel, answers, asker) = (self.channel, self.answers, self.asker);
        let draft = Draft { channel, answers, text, nonce, asker, ping };
        let mut rest = FIRST_REST;
        while self.shared.clock.now().0 - since.0 < NONCE_WINDOW_MS {
            match self.shared.rest.post(&draft).await {
                Posted::Stands(id) => return self.arrived(id),
                Posted::Refused(why) => {
                    tracing::warn!(handoff = %self.handoff, part, why, "a reply was refused");
                    return PostingStep::Refused { why };
                }
                Posted::Unclear => tracing::info!(handoff = %self.handoff, part, "a post is unclear; it is repeated"),
            }
            tokio::time::sleep(rest).await;
            rest = (rest * 2).min(LONGEST_REST);
        }
        match self.search(text, nonce, confirmed).await {
            Some(id) => self.arrived(id),
            None => {
                tracing::warn!(handoff = %self.handoff, part, "nobody can say whether a part arrived");
                PostingStep::Lost
            }
        }
    }

    fn arrived(&self, id: u64) -> PostingStep {
        let parts = u32::try_from(self.parts.len()).unwrap_or(u32::MAX);
        PostingStep::Arrived { id: id.to_string(), parts }
    }

    /// Our own message on that trigger, if it stands in the room.
    async fn search(&self, text: &str, nonce: &str, confirmed: &[String]) -> Option<u64> {
        let bot = self.shared.bot()?;
        let ours = |message: &Message| {
            let known = confirmed.iter().any(|id| *id == message.id.to_string());
            let answers = message.message_reference.as_ref().and_then(|reference| reference.message_id);
            let same_trigger = answers.map(|id| id.get()) == self.answers;
            let by_nonce = matches!(&message.nonce, Some(serenity::all::Nonce::String(own)) if own == nonce);
            message.author.id.get() == bot && !known && (by_nonce || same_trigger && message.content == *text)
        };
        let mut page = self.answers.map_or(Page::Newest, Page::After);
        for _ in 0..SEARCH_PAGES {
            let messages = self.shared.rest.history(self.channel, page).await.ok()?;
            if let Some(found) = messages.iter().find(|message| ours(message)) {
                return Some(found.id.get());
            }
            page = match (page, messages.first()) {
                (Page::After(_), Some(newest)) => Page::After(newest.id.get()),
                (_, _) => return None,
            };
        }
        None
    }
}

async fn end(log: &PostingLog, handoff: HandoffId, step: PostingStep) {
    if let Err(stopped) = log.step(step).await {
        tracing::debug!(%handoff, %stopped, "a posting was left as it stands");
    }
}

/// What the room is told, in pieces that Discord takes. Files go along as links.
fn parts(record: &HandoffRecord) -> Vec<String> {
    let Some(result) = record.result() else { return Vec::new() };
    let Some(said) = heard(record, result, record.created_at) else { return Vec::new() };
    let mut text = said.text;
    if let TurnResult::Settled { media, .. } = result {
        for file in media {
            text.push('\n');
            text.push_str(&file.url);
        }
    }
    if text.trim().is_empty() { Vec::new() } else { split(&text) }
}

/// A nonce that is the same whenever the same thing is said again.
fn nonce(of: &str) -> String {
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
