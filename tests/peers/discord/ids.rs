//! Snowflakes: identities that sort by the time they were minted.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds from 1970 to the first second of 2015, from which Discord counts.
const DISCORD_EPOCH_MS: u64 = 1_420_070_400_000;
/// A snowflake's low bits, which tell things of one millisecond apart.
const LOW_BITS: u32 = 22;

macro_rules! snowflake {
    ($($(#[$doc:meta])* $name:ident),+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) struct $name(pub(crate) u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

snowflake! {
    /// A guild.
    Guild,
    /// A channel, thread, forum, forum post or direct conversation.
    Channel,
    /// A person, or the bot.
    Person,
    /// A message.
    Message,
    /// One use of a slash command.
    Interaction
}

/// Mints snowflakes; each is greater than the one before it.
#[derive(Debug, Default)]
pub(crate) struct Mint {
    last: u64,
}

impl Mint {
    pub(crate) fn next(&mut self) -> u64 {
        let now = (now_ms() - DISCORD_EPOCH_MS) << LOW_BITS;
        self.last = now.max(self.last + 1);
        self.last
    }

    /// One that looks as old as this; unique, but not in order with the others.
    pub(crate) fn aged(&mut self, age: Duration) -> u64 {
        let low = self.next() & ((1 << LOW_BITS) - 1);
        let then = now_ms() - DISCORD_EPOCH_MS - u64::try_from(age.as_millis()).unwrap();
        (then << LOW_BITS) | low
    }
}

/// When this was minted, as Discord writes times.
pub(crate) fn timestamp(snowflake: u64) -> String {
    let ms = (snowflake >> LOW_BITS) + DISCORD_EPOCH_MS;
    jiff::Timestamp::from_millisecond(i64::try_from(ms).unwrap()).unwrap().to_string()
}

/// The present, as Discord writes times.
pub(crate) fn now() -> String {
    jiff::Timestamp::from_millisecond(i64::try_from(now_ms()).unwrap()).unwrap().to_string()
}

pub(crate) fn now_ms() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}
