//! What is known of one room without reading its rows: how much is kept, and when to look again.

use clankie_domain::retention;
use clankie_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::Row;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::store) struct RoomRow {
    /// Ended handoffs that are kept.
    pub(in crate::store) ended: u64,
    /// Receipts with a result that are kept.
    pub(in crate::store) receipts: u64,
    /// Messages that are kept.
    pub(in crate::store) messages: u64,
    /// The place of the next message.
    pub(in crate::store) next_message: u64,
    /// When something was last said.
    pub(in crate::store) last_message_at: Option<Timestamp>,
    /// The age of the oldest thing that may be pruned; the least number when too much is kept.
    pub(in crate::store) due: Option<i64>,
}

impl Row for RoomRow {
    const TABLE: &'static str = "rooms";
    const VERSION: u8 = 1;
}

impl RoomRow {
    /// A room of which nothing is kept.
    pub(in crate::store) fn starting_at(floor: u64) -> Self {
        let next_message = floor.max(1);
        Self { ended: 0, receipts: 0, messages: 0, next_message, last_message_at: None, due: None }
    }

    /// Whether nothing that ends is kept.
    pub(in crate::store) fn is_bare(&self) -> bool {
        self.ended == 0 && self.receipts == 0 && self.messages == 0
    }

    /// Whether more is kept than should be.
    pub(in crate::store) fn is_crowded(&self) -> bool {
        over(self.ended, retention::ENDED_PER_ROOM)
            || over(self.receipts, retention::RECEIPTS_PER_ROOM)
            || over(self.messages, retention::MESSAGES_PER_ROOM)
    }
}

/// Whether `count` is beyond `most`.
pub(in crate::store) fn over(count: u64, most: usize) -> bool {
    usize::try_from(count).map_or(true, |count| count > most)
}
