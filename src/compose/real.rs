//! The real clock and real identities: nothing else in the program asks the machine for either.

use std::time::{SystemTime, UNIX_EPOCH};

use clankie_actors::ports::{Clock, Ids};
use clankie_domain::time::Timestamp;
use uuid::Uuid;

/// The machine's wall clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

/// UUIDv7 in the order they are asked for, also within one millisecond.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimeOrderedIds;

impl Ids for TimeOrderedIds {
    fn uuid(&self) -> Uuid {
        Uuid::now_v7()
    }
}
