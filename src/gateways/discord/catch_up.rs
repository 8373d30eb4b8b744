//! What was said while the service was away: read back, newest first, within bounds.
//!
//! The bounds are for missed requests only: what came live is always heard, and a stop word ends what
//! it meant however long ago. Older ones, and more than the bound, are counted as missed and not answered.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clankie_domain::time::Timestamp;
use serenity::model::channel::Message;

use super::identity::{Meaning, Place};
use super::lane::{Keep, Lane, Taken};
use super::limits::CallError;
use super::rest::{PAGE, Page};
use super::translate::said;

/// Pages that are read back at most: a thousand messages.
pub(super) const PAGES_MOST: usize = 10;
/// Milliseconds from 1970 to Discord's own beginning of time.
const DISCORD_EPOCH_MS: i64 = 1_420_070_400_000;
/// Bits of a snowflake below its milliseconds.
pub(super) const LOW_BITS: u32 = 22;

/// What a message that was read back is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    /// It ends its author's run.
    Stop,
    /// It asks, and came live while the channel was stuck.
    Live,
    /// It asks, and was missed.
    Missed,
}

/// What was read back, oldest first.
#[derive(Debug)]
struct ReadBack {
    messages: Vec<Message>,
    end: End,
}

/// Where the reading back ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// Where the channel was seen last.
    Seen,
    /// Before that: what stands between is not known.
    TooFar,
}

impl Lane {
    /// Brings a channel up to the present. It is read once in every session, whatever Discord says is
    /// its newest message: that was so before the session heard anything. One that got stuck comes
    /// back by itself.
    pub(super) async fn catch_up(&mut self, place: Place, newest: Option<u64>) -> Taken {
        let shared = Arc::clone(&self.roads.shared);
        let epoch = self.roads.epoch.load(Ordering::Acquire);
        let since = self.seen;
        let is_new = newest.is_some_and(|newest| newest > since);
        let taken = if self.caught_up == Some(epoch) && !is_new {
            Taken::Done
        } else {
            let oldest = oldest(shared.clock.now(), shared.settings.catch_up_age);
            match self.missed(since).await {
                Ok(read) => self.answer_missed(place, &read, oldest).await,
                Err(error) => {
                    tracing::info!(channel = place.channel, %error, "a channel could not be caught up with");
                    // Without a right to read there the future still counts.
                    if is_refused(&error) { Taken::Done } else { Taken::Stuck }
                }
            }
        };
        match taken {
            Taken::Done => {
                self.caught_up = Some(epoch);
                self.live.clear();
            }
            Taken::Stuck => self.stuck(),
        }
        taken
    }

    /// Everything after `since`, as far back as may be read.
    async fn missed(&self, since: u64) -> Result<ReadBack, CallError> {
        let reading = self.roads.readers.acquire().await;
        let (mut messages, mut end) = (Vec::new(), End::TooFar);
        let mut page = Page::Newest;
        for _ in 0..PAGES_MOST {
            let read = self.roads.shared.rest.history(self.at.channel, page).await?;
            let last = read.last().map(|message| message.id.get());
            let whole = read.len() >= usize::from(PAGE);
            messages.extend(read.into_iter().filter(|message| message.id.get() > since));
            match last {
                Some(last) if whole && last > since => page = Page::Before(last),
                Some(_) | None => {
                    end = End::Seen;
                    break;
                }
            }
        }
        drop(reading);
        messages.reverse();
        Ok(ReadBack { messages, end })
    }

    async fn answer_missed(&mut self, place: Place, read: &ReadBack, oldest: u64) -> Taken {
        let shared = Arc::clone(&self.roads.shared);
        let Some(bot) = shared.bot() else { return Taken::Stuck };
        let wish = |message| Some((message, self.wish(message, place, bot)?));
        let for_us: Vec<(&Message, Wish)> = read.messages.iter().filter_map(wish).collect();
        let missed = || for_us.iter().filter(|(_, wish)| *wish == Wish::Missed);
        let recent = missed().filter(|(message, _)| message.id.get() >= oldest).count();
        let mut left_out = missed().count() - recent.min(shared.settings.catch_up_count);
        self.note_missed(left_out, read.end);
        for (message, wish) in for_us {
            if wish == Wish::Missed && left_out > 0 {
                left_out -= 1;
            } else if self.take(message, place).await == Taken::Stuck {
                return Taken::Stuck;
            }
        }
        match read.messages.last() {
            Some(newest) => self.saw(newest.id.get(), Keep::Now).await,
            None => Taken::Done,
        }
    }

    fn wish(&self, message: &Message, place: Place, bot: u64) -> Option<Wish> {
        match self.roads.shared.settings.policy.judge(&said(message, place, bot), bot).ok()? {
            Meaning::Stop => Some(Wish::Stop),
            Meaning::Asks(_) if self.live.contains(&message.id.get()) => Some(Wish::Live),
            Meaning::Asks(_) => Some(Wish::Missed),
            Meaning::Ignored => None,
        }
    }

    /// Counts what is not answered. What was not even read counts as one: how much it is, nobody knows.
    fn note_missed(&self, left_out: usize, end: End) {
        let unread = match end {
            End::Seen => 0,
            End::TooFar => 1,
        };
        if left_out + unread > 0 {
            let channel = self.at.channel;
            tracing::warn!(channel, left_out, ?end, "missed messages were noted and not answered");
            let more = u64::try_from(left_out + unread).unwrap_or_default();
            self.roads.shared.board.change(|status| status.missed += more);
        }
    }
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

fn is_refused(error: &CallError) -> bool {
    match error {
        CallError::Refused { .. } => true,
        CallError::Unclear(_) | CallError::NotSent(_) => false,
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
