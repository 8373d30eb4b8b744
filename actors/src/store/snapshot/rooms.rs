//! Reads of rooms and of what was said in them.

use std::collections::BTreeMap;

use clankie_domain::ids::RoomId;
use clankie_domain::message::RoomMessage;

use super::{LIST_MAX, Snapshot, read};
use crate::front::RoomSummary;
use crate::store::error::StoreError;
use crate::store::in_room;
use crate::store::records::{MessageRow, RoomRow, decode};
use crate::store::tables::{ONGOING, Ongoing, ROOMS};

impl Snapshot {
    /// What was said in a room after `after`, with its place, oldest first, at most [`LIST_MAX`].
    pub fn messages(&self, room: &RoomId, after: u64, limit: usize) -> Result<Vec<(u64, RoomMessage)>, StoreError> {
        let (table, name) = (self.txn.open_table(ROOMS)?, room.as_str());
        let rows = table.range(in_room::messages_from(name, after.saturating_add(1)))?.take(limit.min(LIST_MAX));
        rows.map(|row| {
            let (key, row) = row?;
            placed(key.value(), row.value())
        })
        .collect()
    }

    /// The newest `n` messages of a room with their places, oldest of them first.
    pub fn last_messages(&self, room: &RoomId, n: usize) -> Result<Vec<(u64, RoomMessage)>, StoreError> {
        let (table, name) = (self.txn.open_table(ROOMS)?, room.as_str());
        let rows = table.range(in_room::messages_from(name, 0))?.rev().take(n.min(LIST_MAX));
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
        let mut live: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
        for row in self.txn.open_table(ONGOING)?.range(Ongoing::Handoff.all())? {
            *live.entry(row?.1.value().to_owned()).or_default() += 1;
        }
        let table = self.txn.open_table(ROOMS)?;
        let (mut rooms, mut after) = (Vec::new(), String::new());
        // What else is kept of a room is stepped over, not read.
        while let Some((key, row)) = table.range(in_room::end(&after)..)?.next().transpose()? {
            let name = key.value().0;
            name.clone_into(&mut after);
            if !in_room::is_counts(key.value()) {
                continue;
            }
            let last_message_at = decode::<RoomRow>(row.value(), name)?.last_message_at;
            let damaged = |why| StoreError::Damaged { row: format!("rooms {name}"), why };
            let room = RoomId::parse(name).map_err(|why| damaged(why.to_string()))?;
            let live = live.get(name.as_bytes()).copied().unwrap_or_default();
            rooms.push(RoomSummary { room, live, last_message_at });
        }
        Ok(rooms)
    }
}

fn placed(key: in_room::Key<'_>, row: &[u8]) -> Result<(u64, RoomMessage), StoreError> {
    let (room, place) = (key.0, in_room::place_of(key));
    Ok((place, read::<MessageRow, _>(row, format!("{room} {place}"))?))
}
