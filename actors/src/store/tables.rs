//! Every table, and the handle that opens all of them in one write transaction.
//!
//! Keys are ordered by time wherever many rows are written: handoff ids are UUIDv7, the rest are
//! sequence numbers. Random keys cost a page copy each, which makes a grouped commit six times slower.

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
    /// Handoff id → room, while the handoff is not ended.
    live LIVE: u128 => &'static str;
    /// Every handoff of a room.
    handoffs_by_room HANDOFFS_BY_ROOM: (&'static str, u128) => ();
    /// Ended handoffs of a room by when they ended: what retention goes by.
    ended ENDED: (&'static str, i64, u128) => ();
    /// Room and delivery key → receipt.
    receipts RECEIPTS: (&'static str, &'static str) => &'static [u8];
    /// Receipts with a result, by room, moment and delivery key.
    receipts_settled RECEIPTS_SETTLED: (&'static str, i64, &'static str) => ();
    /// Permit → run.
    permits PERMITS: u64 => &'static [u8];
    /// Room and place → message.
    messages MESSAGES: (&'static str, u64) => &'static [u8];
    /// Room and message id → place.
    message_places MESSAGE_PLACES: (&'static str, &'static str) => u64;
    /// Handoff id and place → transcript line.
    transcripts TRANSCRIPTS: (u128, u64) => &'static [u8];
    /// Handoff id → how long its transcript is.
    transcript_heads TRANSCRIPT_HEADS: u128 => &'static [u8];
    /// Sequence → event.
    events EVENTS: u64 => &'static [u8];
    /// Token id → token.
    tokens TOKENS: u128 => &'static [u8];
    /// Name → where a gateway goes on reading after a restart.
    bookmarks BOOKMARKS: &'static str => &'static [u8];
    /// Room → how much of it is kept.
    rooms ROOMS: &'static str => &'static [u8];
    /// Rooms by the age of the oldest thing in them that may be pruned.
    due DUE: (i64, &'static str) => ();
    /// Numbers of the whole store.
    counters COUNTERS: &'static str => u64;
    /// Who this store is.
    identity IDENTITY: &'static str => u128;
}

/// The version of the tables as a whole.
pub(super) const FORMAT: u64 = 1;

/// Names in the `counters` table.
pub(super) mod counter {
    /// The version of the tables as a whole.
    pub(in crate::store) const FORMAT: &str = "format";
    /// The last event's sequence.
    pub(in crate::store) const EVENTS: &str = "events";
    /// The grant epoch.
    pub(in crate::store) const GRANT_EPOCH: &str = "grant_epoch";
    /// Bytes of all transcripts.
    pub(in crate::store) const TRANSCRIPT_BYTES: &str = "transcript_bytes";
    /// No room that begins anew gives a message a lower place than this, so that no reader's
    /// cursor from before its last row was pruned skips anything.
    pub(in crate::store) const MESSAGE_FLOOR: &str = "message_floor";
}

/// The name of the store's epoch in the `identity` table.
pub(super) const EPOCH: &str = "epoch";
