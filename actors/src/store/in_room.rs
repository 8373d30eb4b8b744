//! Where everything of a room stands: in one table, what belongs to one room beside each other.

use std::ops::{Range, RangeInclusive};

/// Room, kind, number or moment, id, and text: each kind uses what it needs and leaves the rest empty.
pub(super) type Key<'a> = (&'a str, u8, i64, u128, &'a str);

/// What is kept of a room. The numbers are keys on the disk.
#[repr(u8)]
enum Kind {
    Counts = 0,
    Handoff = 1,
    Ended = 2,
    Receipt = 3,
    Settled = 4,
    Message = 5,
    Place = 6,
}

/// How much of the room is kept.
pub(super) fn counts(room: &str) -> Key<'_> {
    (room, Kind::Counts as u8, 0, 0, "")
}

/// One of its handoffs.
pub(super) fn handoff(room: &str, id: u128) -> Key<'_> {
    (room, Kind::Handoff as u8, 0, id, "")
}

/// One of its ended handoffs, by when it ended: what retention goes by.
pub(super) fn ended(room: &str, at: i64, id: u128) -> Key<'_> {
    (room, Kind::Ended as u8, at, id, "")
}

/// Its ended handoffs from that one on.
pub(super) fn ended_from(room: &str, at: i64, id: u128) -> RangeInclusive<Key<'_>> {
    ended(room, at, id)..=ended(room, i64::MAX, u128::MAX)
}

/// The receipt of a delivery.
pub(super) fn receipt<'a>(room: &'a str, key: &'a str) -> Key<'a> {
    (room, Kind::Receipt as u8, 0, 0, key)
}

/// A receipt with a result, by the moment of that.
pub(super) fn settled<'a>(room: &'a str, at: i64, key: &'a str) -> Key<'a> {
    (room, Kind::Settled as u8, at, 0, key)
}

/// All receipts with a result.
pub(super) fn all_settled(room: &str) -> Range<Key<'_>> {
    settled(room, i64::MIN, "")..message(room, 0)
}

/// A message, by its place.
pub(super) fn message(room: &str, place: u64) -> Key<'_> {
    (room, Kind::Message as u8, 0, place as u128, "")
}

/// Messages from that place on.
pub(super) fn messages_from(room: &str, place: u64) -> RangeInclusive<Key<'_>> {
    message(room, place)..=message(room, u64::MAX)
}

/// The place of a message in a key.
pub(super) fn place_of(key: Key<'_>) -> u64 {
    u64::try_from(key.3).unwrap_or(u64::MAX)
}

/// The message with that id.
pub(super) fn place<'a>(room: &'a str, id: &'a str) -> Key<'a> {
    (room, Kind::Place as u8, 0, 0, id)
}

/// The key that every key of that room is less than.
pub(super) fn end(room: &str) -> Key<'_> {
    (room, u8::MAX, i64::MAX, u128::MAX, "")
}

/// Whether it is the key of a room's counts.
pub(super) fn is_counts(key: Key<'_>) -> bool {
    key.1 == Kind::Counts as u8
}
