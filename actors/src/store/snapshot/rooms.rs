//! Reads of rooms and of what was said in them.

use std::collections::BTreeMap;

use clankie_domain::ids::RoomId;
use clankie_domain::message::RoomMessage;

use super::{LIST_MAX, Snapshot, read};
use crate::front::RoomSummary;
use crate::store::error::StoreError;
use crate::store::records::{MessageRow, RoomRow, decode};
use crate::store::tables::{LIVE, MESSAGES, ROOMS};

impl Snapshot {
    /// What was said in a room after `after`, with its place, oldest first, at most [`LIST_MAX`].
    pub fn messages(&self, room: &RoomId, after: u64, limit: usize) -> Result<Vec<(u64, RoomMessage)>, StoreError> {
        let (table, name) = (self.txn.open_table(MESSAGES)?, room.as_str());
        let rows = table.range((name, after.saturating_add(1))..=(name, u64::MAX))?.take(limit.min(LIST_MAX));
        rows.map(|row| {
            let (key, row) = row?;
            placed(key.value(), row.value())
        })
        .collect()
    }

    /// The newest `n` messages of a room with their places, oldest of them first.
    pub fn last_messages(&self, room: &RoomId, n: usize) -> Result<Vec<(u64, RoomMessage)>, StoreError> {
        let (table, name) = (self.txn.open_table(MESSAGES)?, room.as_str());
        let rows = table.range((name, 0)..=(name, u64::MAX))?.rev().take(n.min(LIST_MAX));
        let newest: Result<Vec<_>, StoreError> = rows
            .map(|row| {
                let (key, row) = row?;
                placed(key.value(), row.value())
            })
            .collect();
        newest.map(|mut messages| {
            messages.reverse();
            messages
        })
    }

    /// Every room in which anything is kept, by name.
    pub fn rooms(&self) -> Result<Vec<RoomSummary>, StoreError> {
        let mut live: BTreeMap<String, usize> = BTreeMap::new();
        for row in self.txn.open_table(LIVE)?.range::<u128>(..)? {
            *live.entry(row?.1.value().to_owned()).or_default() += 1;
        }
        let table = self.txn.open_table(ROOMS)?;
        let rooms = table.range::<&str>(..)?.map(|row| {
            let (name, row) = row?;
            let name = name.value();
            let last_message_at = decode::<RoomRow>(row.value(), name)?.last_message_at;
            let damaged = |why| StoreError::Damaged { row: format!("rooms {name}"), why };
            let room = RoomId::parse(name).map_err(|why| damaged(why.to_string()))?;
            Ok(RoomSummary { room, live: live.get(name).copied().unwrap_or_default(), last_message_at })
        });
        rooms.collect()
    }
}

fn placed((room, place): (&str, u64), row: &[u8]) -> Result<(u64, RoomMessage), StoreError> {
    Ok((place, read::<MessageRow, _>(row, format!("{room} {place}"))?))
}
