//! Busy signs that are owed: who was told busy hears of it, also when the service dies in between.
//!
//! A sign is durable before the place of its channel moves over its message, and is taken off the
//! list once it was given. A start first moves those places, so that no such message is run later;
//! then the signs are given. Giving one twice is harmless: a reaction is one, and the sentence has a nonce;
//! because Discord forgets that, the room is searched before a later session says the sentence again.

use std::sync::Arc;

use clankie_actors::{Clankie, Failure};
use clankie_domain::admission::BusyFacts;
use serenity::model::channel::Message;
use tokio::sync::Mutex;

use super::Shared;
use super::catch_up::PAGES_MOST;
use super::limits::CallError;
use super::marks;
use super::posting::notice;
use super::rest::{Page, Posted};

/// The bookmark that holds the list.
const BOOKMARK: &str = "discord:owed_signs";
/// Signs that are owed at most: past it the oldest is given up. So many are owed only while Discord is away.
const OWED_MOST: usize = 256;

/// One sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sign {
    pub(super) channel: u64,
    pub(super) message: u64,
    pub(super) asker: u64,
    running: usize,
    waiting: usize,
}

/// Every sign that is owed.
#[derive(Debug, Default)]
pub(super) struct OwedSigns(Mutex<Vec<Sign>>);

impl Sign {
    pub(super) fn new((channel, message): (u64, u64), asker: u64, facts: &BusyFacts) -> Self {
        Self { channel, message, asker, running: facts.running, waiting: facts.waiting }
    }

    fn sentence(&self) -> String {
        let Self { running, waiting, .. } = self;
        format!("I have too much to do: {running} running and {waiting} waiting. Please ask again in a while.")
    }

    fn parse(line: &str) -> Option<Self> {
        let mut numbers = line.split(' ').map(str::parse::<u64>);
        let mut next = || numbers.next()?.ok();
        let (channel, message, asker) = (next()?, next()?, next()?);
        let (running, waiting) = (usize::try_from(next()?).ok()?, usize::try_from(next()?).ok()?);
        Some(Self { channel, message, asker, running, waiting })
    }

    fn kept(&self) -> String {
        let Self { channel, message, asker, running, waiting } = self;
        format!("{channel} {message} {asker} {running} {waiting}")
    }
}

impl OwedSigns {
    /// Reads the list, and moves the places of its channels over its messages.
    pub(super) async fn load(clankie: &Clankie) -> Result<Self, Failure> {
        let kept = clankie.bookmark(BOOKMARK)?.unwrap_or_default();
        let signs: Vec<Sign> = kept.lines().filter_map(Sign::parse).collect();
        for sign in &signs {
            if marks::seen(clankie, sign.channel, 0) < sign.message {
                marks::keep(clankie, sign.channel, sign.message).await?;
            }
        }
        Ok(Self(Mutex::new(signs)))
    }

    /// Owes a sign, durably.
    pub(super) async fn owe(&self, clankie: &Clankie, sign: Sign) -> Result<(), Failure> {
        let mut signs = self.0.lock().await;
        signs.push(sign);
        if signs.len() > OWED_MOST {
            let given_up = signs.remove(0);
            tracing::warn!(message = given_up.message, "a busy sign is given up: too many are owed");
        }
        keep(clankie, &signs).await
    }

    /// Gives every sign that is owed from before. What stands in the room already is not said again.
    pub(super) async fn give_all(self: &Arc<Self>, shared: &Arc<Shared>, clankie: &Clankie) {
        let signs = self.0.lock().await.clone();
        for sign in signs {
            match said_in_the_room(shared, &sign).await {
                Ok(Said::Here) => self.given(clankie, sign).await,
                // A room that cannot be seen refuses the sentence as well, which ends it.
                Ok(Said::Nowhere) | Err(CallError::Refused { .. }) => self.give(shared, clankie, sign).await,
                Ok(Said::NotReached) => {
                    tracing::warn!(message = sign.message, "a busy sentence is given up: it may stand in the room");
                    self.given(clankie, sign).await;
                }
                Err(error @ (CallError::Unclear(_) | CallError::NotSent(_))) => {
                    tracing::info!(message = sign.message, %error, "a busy sign stays owed");
                }
            }
        }
    }

    /// Gives a sign. One whose sentence may not have arrived stays owed until the next session.
    pub(super) async fn give(&self, shared: &Shared, clankie: &Clankie, sign: Sign) {
        shared.rest.react(sign.channel, sign.message, &shared.settings.signals.busy).await;
        match notice(shared, (sign.channel, sign.message), sign.asker, &sign.sentence()).await {
            Posted::Unclear | Posted::NotSent => {}
            Posted::Stands(_) | Posted::Refused(_) => self.given(clankie, sign).await,
        }
    }

    /// Takes a sign off the list.
    async fn given(&self, clankie: &Clankie, sign: Sign) {
        let mut signs = self.0.lock().await;
        let before = signs.len();
        signs.retain(|owed| owed.message != sign.message);
        if signs.len() != before
            && let Err(error) = keep(clankie, &signs).await
        {
            tracing::warn!(message = sign.message, %error, "a busy sign that was given stays on the list");
        }
    }
}

/// Whether a sentence stands in the room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    Here,
    Nowhere,
    /// The room goes on beyond what was read.
    NotReached,
}

async fn said_in_the_room(shared: &Shared, sign: &Sign) -> Result<Said, CallError> {
    let Some(bot) = shared.bot() else {
        return Err(CallError::NotSent("nobody knows yet who the bot is".to_owned()));
    };
    let (mut last, sentence) = (sign.message, sign.sentence());
    for _ in 0..PAGES_MOST {
        let messages = shared.rest.history(sign.channel, Page::After(last)).await?;
        let answers = |message: &Message| {
            let reference = message.message_reference.as_ref().and_then(|reference| reference.message_id);
            reference.is_none_or(|id| id.get() == sign.message)
        };
        let is = |message: &Message| message.author.id.get() == bot && message.content == sentence && answers(message);
        if messages.iter().any(is) {
            return Ok(Said::Here);
        }
        match messages.first() {
            Some(newest) => last = newest.id.get(),
            None => return Ok(Said::Nowhere),
        }
    }
    Ok(Said::NotReached)
}

async fn keep(clankie: &Clankie, signs: &[Sign]) -> Result<(), Failure> {
    let text = signs.iter().map(Sign::kept).collect::<Vec<_>>().join("\n");
    clankie.keep_bookmark(BOOKMARK, text).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_reads_back_and_nonsense_is_none() {
        let sign = Sign { channel: 1, message: 2, asker: 3, running: 4, waiting: 5 };
        assert_eq!(Sign::parse(&sign.kept()), Some(sign));
        assert_eq!(Sign::parse("1 2 three 4 5"), None);
        assert_eq!(Sign::parse("1 2 3"), None);
    }
}
