//! Looks for our own message in a room, when nobody can say whether a post arrived.
//!
//! A nonce decides, where Discord shows one. Without one a message is known by its words and by what it
//! answers; where something else of ours reads the same, or the message that it answers is gone, that is
//! no proof, and nobody says anything about the part.

use clankie_actors::ports::PostingLog;
use clankie_domain::ids::DeliveryId;
use clankie_domain::time::Timestamp;
use serenity::all::Nonce;
use serenity::model::channel::Message;

use super::parts::Part;
use crate::gateways::discord::Shared;
use crate::gateways::discord::catch_up::snowflake;
use crate::gateways::discord::limits::CallError;
use crate::gateways::discord::rest::Page;
use crate::gateways::discord::split::split;

/// Pages that are searched: some thousand messages, from the one that it answers on.
const PAGES_MOST: usize = 10;
/// How far this machine's clock may be before Discord's.
const CLOCKS_APART_MS: i64 = 10 * 60 * 1_000;

/// What is looked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sought<'a> {
    pub(super) channel: u64,
    /// The message that it answers.
    pub(super) answers: Option<u64>,
    /// The same, as the store names it.
    pub(super) trigger: &'a DeliveryId,
    /// Knows what else was said to it.
    pub(super) log: &'a PostingLog,
    pub(super) part: &'a Part,
    pub(super) nonce: &'a str,
    /// Parts that are known to stand there.
    pub(super) confirmed: &'a [String],
    /// Nothing of the reply was posted before this moment.
    pub(super) from: Timestamp,
}

/// What a search came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// It stands in the room under this id.
    Here(u64),
    /// The room was read to its end, and it does not stand there.
    Nowhere,
    /// It may stand there: the room goes on beyond what was read, its history may not be read, or what
    /// was found is no proof.
    Unclear,
}

/// What one message is to a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Match {
    /// It is the one.
    Sure,
    /// It may be the one.
    Possible,
    /// It is another.
    Not,
}

impl Sought<'_> {
    /// Looks through the room, from the message that it answers on.
    pub(super) async fn find(&self, shared: &Shared) -> Result<Found, CallError> {
        let Some(bot) = shared.bot() else {
            return Err(CallError::NotSent("nobody knows yet who the bot is".to_owned()));
        };
        let earliest = snowflake(Timestamp(self.from.0.saturating_sub(CLOCKS_APART_MS)));
        let mut last = self.answers.unwrap_or_default().max(earliest);
        let (mut possible, mut readable) = (false, false);
        for _ in 0..PAGES_MOST {
            let messages = shared.rest.history(self.channel, Page::After(last)).await?;
            for message in &messages {
                match self.compare(message, bot) {
                    Match::Sure => return Ok(Found::Here(message.id.get())),
                    Match::Possible => possible = true,
                    Match::Not => {}
                }
            }
            match messages.first() {
                Some(newest) => (last, readable) = (newest.id.get(), true),
                None if !possible && (readable || self.may_read(shared).await?) => return Ok(Found::Nowhere),
                None => return Ok(Found::Unclear),
            }
        }
        Ok(Found::Unclear)
    }

    /// Whether a history that shows nothing says anything.
    async fn may_read(&self, shared: &Shared) -> Result<bool, CallError> {
        match self.answers {
            Some(answers) => shared.rest.may_read(self.channel, answers).await,
            None => Ok(false),
        }
    }

    fn compare(&self, message: &Message, bot: u64) -> Match {
        let known = self.confirmed.iter().any(|id| *id == message.id.to_string());
        if message.author.id.get() != bot || known {
            return Match::Not;
        }
        match &message.nonce {
            Some(Nonce::String(own)) if own == self.nonce => return Match::Sure,
            Some(Nonce::String(_) | Nonce::Number(_)) => return Match::Not,
            None if !self.says_it(message) => return Match::Not,
            None => {}
        }
        let answers = message.message_reference.as_ref().and_then(|reference| reference.message_id);
        match answers.map(|id| id.get()) {
            answers if answers == self.answers && !self.is_said_besides(message) => Match::Sure,
            answers if answers == self.answers => Match::Possible,
            // A reply to a message that is gone stands there without one.
            None => Match::Possible,
            Some(_) => Match::Not,
        }
    }

    /// Whether something else that was said to the same message reads like this one.
    fn is_said_besides(&self, message: &Message) -> bool {
        let reads_so = |text: &String| split(text).iter().any(|part| part.trim() == message.content.trim());
        match self.log.said_besides(self.trigger) {
            Ok(besides) => besides.iter().any(reads_so),
            // What cannot be read excludes nothing.
            Err(_) => true,
        }
    }

    /// Discord keeps no space around the words.
    fn says_it(&self, message: &Message) -> bool {
        let says = |text: &str| message.content.trim() == text.trim();
        let whole = says(&self.part.text) && message.attachments.is_empty() == self.part.file.is_none();
        whole || says(&self.part.instead) && message.attachments.is_empty()
    }
}
