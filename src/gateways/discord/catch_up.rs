//! What was said while the service was away: read back, newest first, within bounds.
//!
//! The bounds are for missed messages only: what comes live is always heard. Older ones, and more
//! than the bound, are counted as missed and not answered.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clankie_domain::time::Timestamp;
use serenity::model::channel::Message;

use super::Shared;
use super::identity::{Meaning, Place};
use super::lanes::{Keep, Lane, Taken};
use super::limits::CallError;
use super::rest::{PAGE, Page, ReadError};
use super::translate::said;

/// Pages that are read back at most: a thousand messages.
const PAGES_MOST: usize = 10;
/// Milliseconds from 1970 to Discord's own beginning of time.
const DISCORD_EPOCH_MS: i64 = 1_420_070_400_000;
/// Bits of a snowflake below its milliseconds.
const LOW_BITS: u32 = 22;

impl Lane {
    /// Brings a channel up to the present. A channel whose newest message was seen needs nothing.
    pub(super) async fn catch_up(&mut self, place: Place, newest: Option<u64>) {
        let shared = Arc::clone(&self.roads.shared);
        if !shared.settings.policy.hears(&place) {
            return;
        }
        let epoch = self.roads.epoch.load(Ordering::Acquire);
        let since = self.mark(place.channel).seen;
        if newest.is_some_and(|newest| newest <= since) {
            self.mark(place.channel).caught_up = Some(epoch);
            return;
        }
        let oldest = oldest(shared.clock.now(), shared.settings.catch_up_age);
        match missed(&shared, place.channel, since.max(oldest.saturating_sub(1)), since).await {
            Ok(messages) => match self.answer_missed(place, &messages, oldest).await {
                Taken::Done => self.mark(place.channel).caught_up = Some(epoch),
                Taken::Stuck => self.stuck(place),
            },
            Err(error) => {
                tracing::info!(channel = place.channel, %error, "a channel could not be caught up with");
                // Without a right to read there the future still counts.
                if is_refused(&error) {
                    self.mark(place.channel).caught_up = Some(epoch);
                } else {
                    self.stuck(place);
                }
            }
        }
    }

    async fn answer_missed(&mut self, place: Place, messages: &[Message], oldest: u64) -> Taken {
        let shared = Arc::clone(&self.roads.shared);
        let Some(bot) = shared.bot() else { return Taken::Stuck };
        let asks = |message: &&Message| {
            let meaning = shared.settings.policy.judge(&said(message, place, bot), bot);
            matches!(meaning, Ok(Meaning::Asks(_) | Meaning::Stop))
        };
        let for_us: Vec<&Message> = messages.iter().filter(asks).collect();
        let recent = for_us.iter().filter(|message| message.id.get() >= oldest).count();
        let kept = recent.min(shared.settings.catch_up_count);
        let left_out = for_us.len() - kept;
        if left_out > 0 {
            tracing::warn!(channel = place.channel, left_out, "missed messages were noted and not answered");
            shared.board.change(|status| status.missed += u64::try_from(left_out).unwrap_or_default());
        }
        for message in for_us.into_iter().skip(left_out) {
            if self.take(message, place).await == Taken::Stuck {
                return Taken::Stuck;
            }
        }
        match messages.last() {
            Some(newest) => self.seen(place, newest.id.get(), Keep::Now).await,
            None => Taken::Done,
        }
    }
}

/// Everything after `since`, oldest first; reading stops at the first page that reaches `enough`.
async fn missed(shared: &Shared, channel: u64, enough: u64, since: u64) -> Result<Vec<Message>, ReadError> {
    let mut found = Vec::new();
    let mut page = Page::Newest;
    for _ in 0..PAGES_MOST {
        let messages = shared.rest.history(channel, page).await?;
        let last = messages.last().map(|message| message.id.get());
        let whole = messages.len() >= usize::from(PAGE);
        found.extend(messages.into_iter().filter(|message| message.id.get() > since));
        match last {
            Some(last) if whole && last > enough => page = Page::Before(last),
            Some(_) | None => break,
        }
    }
    found.reverse();
    Ok(found)
}

/// The first snowflake that is young enough.
fn oldest(now: Timestamp, age: Option<Duration>) -> u64 {
    age.map_or(0, |age| {
        let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        snowflake(Timestamp(now.0.saturating_sub(age)))
    })
}

/// The first snowflake of a moment.
pub(super) fn snowflake(at: Timestamp) -> u64 {
    u64::try_from(at.0 - DISCORD_EPOCH_MS).unwrap_or_default() << LOW_BITS
}

fn is_refused(error: &ReadError) -> bool {
    match error {
        ReadError::Failed(CallError::Refused { .. }) => true,
        ReadError::Failed(CallError::Unclear(_)) | ReadError::Late => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// B15: an age of zero means no such bound, so that a typo cannot skip anything.
    #[test]
    fn b15_no_age_is_no_bound() {
        let now = Timestamp(DISCORD_EPOCH_MS + 60_000);
        assert_eq!(oldest(now, None), 0);
        assert_eq!(oldest(now, Some(Duration::from_secs(20))), 40_000 << LOW_BITS);
    }
}
