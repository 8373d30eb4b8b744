//! Every table, and the handle that opens all of them in one write transaction.
//!
//! Keys are ordered by time wherever many rows are written: handoff ids are UUIDv7, the rest are
//! sequence numbers. Random keys cost a page copy each, which makes a grouped commit six times slower.
//!
//! What a commit costs is how many pages it writes, and a table that it touches costs it a page for each
//! level of that table's tree. So rows that are written together stand in one table, beside each other.

use std::ops::RangeInclusive;

use redb::{Table, TableDefinition, WriteTransaction};

use super::error::StoreError;

macro_rules! tables {
    ($($(#[$doc:meta])* $field:ident $name:ident: $key:ty => $value:ty;)+) => {
        $($(#[$doc])* pub(super) const $name: TableDefinition<'static, $key, $value> =
            TableDefinition::new(stringify!($field));)+

        /// All tables of one write transaction. One that is not touched costs a look-up and no page.
        pub(super) struct Tables<'t> {
            $($(#[$doc])* pub(super) $field: Table<'t, $key, $value>,)+
        }

        impl<'t> Tables<'t> {
            pub(super) fn open(txn: &'t WriteTransaction) -> Result<Self, StoreError> {
                Ok(Self { $($field: txn.open_table($name)?,)+ })
            }
        }
    };
}

tables! {
    /// Handoff id → record.
    handoffs HANDOFFS: u128 => &'static [u8];
    /// What is not over, by [`Ongoing`]: live handoffs, permits, and handoffs that asks refer to.
    ongoing ONGOING: (u8, u128, u128) => &'static [u8];
    /// Handoff id and place → transcript line.
    transcripts TRANSCRIPTS: (u128, u64) => &'static [u8];
    /// Handoff id → how long its transcript is.
    transcript_heads TRANSCRIPT_HEADS: u128 => &'static [u8];
    /// Sequence → event; and behind them the numbers that nearly every commit moves.
    events EVENTS: u64 => &'static [u8];
    /// Token id → token.
    tokens TOKENS: u128 => &'static [u8];
    /// Name → where a gateway goes on reading after a restart.
    bookmarks BOOKMARKS: &'static str => &'static [u8];
    /// Everything of a room, by [`in_room`](super::in_room): how much is kept, its handoffs, receipts and messages.
    rooms ROOMS: (&'static str, u8, i64, u128, &'static str) => &'static [u8];
    /// Rooms by the age of the oldest thing in them that may be pruned.
    due DUE: (i64, &'static str) => ();
    /// All that is known of one ask or update, by its id and [`Part`].
    mail MAIL: (u128, u8) => &'static [u8];
    /// All mail in the order of lists: shelf, moment, conversation and place, the moment and the place
    /// with every bit turned, so that the newest comes first → id and run.
    shelves SHELVES: (u8, i64, &'static str, u64) => (u128, u128);
    /// All of a conversation's mailbox: conversation, kind and place → its counters at [`BOX_HEAD`], and a
    /// moment and an id for each mail.
    boxes BOXES: (&'static str, u8, u64) => &'static [u8];
    /// The version of the tables as a whole.
    counters COUNTERS: &'static str => u64;
    /// Who this store is.
    identity IDENTITY: &'static str => u128;
}

/// The version of the tables as a whole.
pub(super) const FORMAT: u64 = 3;
/// Its name in the `counters` table.
pub(super) const FORMAT_NAME: &str = "format";

/// Numbers of the whole store: keys of the `events` table behind every event, since whatever makes an
/// event moves one of them.
pub(super) mod number {
    /// No event has this sequence or a later one.
    pub(in crate::store) const FIRST: u64 = u64::MAX - 15;
    /// The last event's sequence.
    pub(in crate::store) const EVENTS: u64 = u64::MAX;
    /// The grant epoch.
    pub(in crate::store) const GRANT_EPOCH: u64 = u64::MAX - 1;
    /// Bytes of all transcripts.
    pub(in crate::store) const TRANSCRIPT_BYTES: u64 = u64::MAX - 2;
    /// No room that begins anew gives a message a lower place than this, so that no reader's
    /// cursor from before its last row was pruned skips anything.
    pub(in crate::store) const MESSAGE_FLOOR: u64 = u64::MAX - 3;
    /// The same for a conversation's display.
    pub(in crate::store) const LINE_FLOOR: u64 = u64::MAX - 4;
    /// Asks that are pending.
    pub(in crate::store) const PENDING_ASKS: u64 = u64::MAX - 5;
    /// Updates that are unread.
    pub(in crate::store) const UNREAD_UPDATES: u64 = u64::MAX - 6;

    /// The number in a row; zero where there is none.
    pub(in crate::store) fn read(row: Option<&[u8]>) -> u64 {
        row.and_then(|row| row.try_into().ok()).map_or(0, u64::from_be_bytes)
    }
}

/// What is kept of an ask or an update, each in a row of its own beside the others. The numbers are keys
/// on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Part {
    /// The ask, as it was published.
    Ask = 1,
    /// What became of it. Apart from it, so that an answer counts against no bound of asks.
    Answer = 2,
    /// How far the answer has come.
    Claim = 3,
    /// When the category that its Approve opened was used.
    Gate = 4,
    /// What the display shows of its answer.
    Line = 5,
    /// The update.
    Update = 6,
}

impl Part {
    /// That part of an ask or update.
    pub(super) fn of(self, id: u128) -> (u128, u8) {
        (id, self as u8)
    }
}

/// What is not over. The numbers are keys on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Ongoing {
    /// A handoff that is not ended → its room.
    Handoff = 1,
    /// A permit → its run.
    Permit = 2,
    /// A handoff and an unsettled ask that refers to it: it is not pruned.
    Held = 3,
}

impl Ongoing {
    /// The key of a handoff or a permit.
    pub(super) fn key(self, id: u128) -> (u8, u128, u128) {
        (self as u8, id, 0)
    }

    /// The keys of all that belongs to one handoff or permit.
    pub(super) fn of(self, id: u128) -> RangeInclusive<(u8, u128, u128)> {
        (self as u8, id, 0)..=(self as u8, id, u128::MAX)
    }

    /// The keys of all of that kind.
    pub(super) fn all(self) -> RangeInclusive<(u8, u128, u128)> {
        (self as u8, 0, 0)..=(self as u8, u128::MAX, u128::MAX)
    }
}

/// Kind and place of a conversation's counters in the `boxes` table: before all of its mail.
pub(super) const BOX_HEAD: (u8, u64) = (0, 0);

/// The name of the store's epoch in the `identity` table.
pub(super) const EPOCH: &str = "epoch";
