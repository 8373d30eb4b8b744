//! Retention, decided inside the write transaction, a bounded number of rows at a time.
//!
//! Live work is never pruned, nor is what an unsettled ask refers to: only ended handoffs, settled
//! receipts and messages have a place in the indexes that this goes by. A commit that prunes nothing
//! pays one small row for it, the room's counts; pruning looks only at rooms in which something is due.

use clankie_domain::retention::{
    ENDED_PER_ROOM, EVENTS_KEPT, EVENTS_KEPT_MS, KEPT_MS, MESSAGES_PER_ROOM, RECEIPTS_PER_ROOM, TRANSCRIPT_BYTES,
};
use clankie_domain::time::Timestamp;
use redb::ReadableTable;

use super::error::StoreError;
use super::group::{Group, Touched};
use super::in_room;
use super::records::{EventRow, MessageRow, over, readable};
use super::tables::{Ongoing, number};

/// Whether all of something could be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gone {
    All,
    Some,
}

/// The oldest message of a room.
struct OldestMessage {
    place: u64,
    /// `None` when the row cannot be read: it then has no age and counts as old.
    said: Option<(String, i64)>,
}

impl Group<'_> {
    /// Deletes some of what is not kept.
    pub(super) fn prune(&mut self, now: Timestamp) -> Result<(), StoreError> {
        let cutoff = now.minus(KEPT_MS).0;
        while self.deletions_left > 0 {
            let Some(room) = self.due_before(cutoff)? else { break };
            self.prune_ended(&room, cutoff)?;
            self.prune_receipts(&room, cutoff)?;
            self.prune_messages(&room, cutoff)?;
            let due = self.oldest(&room)?;
            self.look_again(&room, due)?;
        }
        self.prune_lines(cutoff)?;
        self.prune_transcripts()?;
        self.prune_events(now.minus(EVENTS_KEPT_MS))
    }

    fn due_before(&self, cutoff: i64) -> Result<Option<String>, StoreError> {
        let first = self.tables.due.first()?;
        Ok(first.and_then(|(key, _)| {
            let (due, room) = key.value();
            (due < cutoff).then(|| room.to_owned())
        }))
    }

    /// When the room is to be looked at again.
    fn oldest(&mut self, room: &str) -> Result<Option<i64>, StoreError> {
        // With deletions left, what is too much here is held and goes when it is let go.
        if self.deletions_left == 0 && self.room(room)?.is_crowded() {
            return Ok(Some(i64::MIN));
        }
        let ended = self.oldest_ended(room, (i64::MIN, 0))?.map(|(at, _)| at);
        let receipt = self.oldest_receipt(room)?.map(|(at, _)| at);
        let message = self.oldest_message(room)?.map(|oldest| oldest.said.map_or(i64::MIN, |(_, at)| at));
        Ok([ended, receipt, message].into_iter().flatten().min())
    }

    fn prune_ended(&mut self, room: &str, cutoff: i64) -> Result<(), StoreError> {
        let mut from = (i64::MIN, 0);
        while self.deletions_left > 0 {
            let Some((at, id)) = self.oldest_ended(room, from)? else { break };
            from = (at, id);
            if at >= cutoff && !over(self.room(room)?.ended, ENDED_PER_ROOM) {
                break;
            }
            if self.delete_transcript(id)? == Gone::Some || self.deletions_left == 0 {
                break;
            }
            self.tables.handoffs.remove(id)?;
            self.tables.rooms.remove(in_room::handoff(room, id))?;
            self.tables.rooms.remove(in_room::ended(room, at, id))?;
            self.room(room)?.ended -= 1;
            self.deleted();
        }
        Ok(())
    }

    fn prune_receipts(&mut self, room: &str, cutoff: i64) -> Result<(), StoreError> {
        while self.deletions_left > 0 {
            let Some((at, key)) = self.oldest_receipt(room)? else { break };
            if at >= cutoff && !over(self.room(room)?.receipts, RECEIPTS_PER_ROOM) {
                break;
            }
            self.tables.rooms.remove(in_room::receipt(room, &key))?;
            self.tables.rooms.remove(in_room::settled(room, at, &key))?;
            self.room(room)?.receipts -= 1;
            self.deleted();
        }
        Ok(())
    }

    fn prune_messages(&mut self, room: &str, cutoff: i64) -> Result<(), StoreError> {
        while self.deletions_left > 0 {
            let Some(OldestMessage { place, said }) = self.oldest_message(room)? else { break };
            let is_old = said.as_ref().is_none_or(|(_, at)| *at < cutoff);
            if !is_old && !over(self.room(room)?.messages, MESSAGES_PER_ROOM) {
                break;
            }
            self.tables.rooms.remove(in_room::message(room, place))?;
            if let Some((id, _)) = said {
                self.tables.rooms.remove(in_room::place(room, &id))?;
            }
            self.room(room)?.messages -= 1;
            self.deleted();
        }
        Ok(())
    }

    /// Deletes the oldest transcripts of ended handoffs while all together are too long.
    fn prune_transcripts(&mut self) -> Result<(), StoreError> {
        while self.deletions_left > 0 && self.numbers.transcript_bytes > TRANSCRIPT_BYTES {
            let Some(id) = self.oldest_ended_transcript()? else { break };
            self.delete_transcript(id)?;
        }
        Ok(())
    }

    fn oldest_ended_transcript(&self) -> Result<Option<u128>, StoreError> {
        for head in self.tables.transcript_heads.iter()? {
            let id = head?.0.value();
            if self.tables.ongoing.get(Ongoing::Handoff.key(id))?.is_none() && !self.is_held(id)? {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    fn delete_transcript(&mut self, id: u128) -> Result<Gone, StoreError> {
        loop {
            let first = self.tables.transcripts.range((id, 0)..=(id, u64::MAX))?.next().transpose()?;
            let Some(place) = first.map(|(key, _)| key.value()) else { break };
            if self.deletions_left == 0 {
                return Ok(Gone::Some);
            }
            let size = self.tables.transcripts.remove(place)?.map_or(0, |line| line.value().len());
            let size = u64::try_from(size).unwrap_or(u64::MAX);
            self.numbers.transcript_bytes = self.numbers.transcript_bytes.saturating_sub(size);
            self.deleted();
        }
        if self.tables.transcript_heads.remove(id)?.is_some() {
            self.touched = Touched::Something;
        }
        Ok(Gone::All)
    }

    fn prune_events(&mut self, cutoff: Timestamp) -> Result<(), StoreError> {
        while self.deletions_left > 0 {
            let Some((seq, at)) = self.oldest_event()? else { break };
            let is_old = at.is_none_or(|at| at < cutoff);
            if !is_old && self.numbers.last_event - seq < EVENTS_KEPT {
                break;
            }
            self.tables.events.remove(seq)?;
            self.deleted();
        }
        Ok(())
    }

    /// The oldest ended handoff of a room, from that place on, that no unsettled ask holds. How many
    /// those hold is bounded by the asks of the room's conversation.
    fn oldest_ended(&self, room: &str, from: (i64, u128)) -> Result<Option<(i64, u128)>, StoreError> {
        for row in self.tables.rooms.range(in_room::ended_from(room, from.0, from.1))? {
            let (_, _, at, id, _) = row?.0.value();
            if !self.is_held(id)? {
                return Ok(Some((at, id)));
            }
        }
        Ok(None)
    }

    fn oldest_receipt(&self, room: &str) -> Result<Option<(i64, String)>, StoreError> {
        let first = self.tables.rooms.range(in_room::all_settled(room))?.next().transpose()?;
        Ok(first.map(|(key, _)| {
            let (_, _, at, _, delivery) = key.value();
            (at, delivery.to_owned())
        }))
    }

    fn oldest_message(&self, room: &str) -> Result<Option<OldestMessage>, StoreError> {
        let first = self.tables.rooms.range(in_room::messages_from(room, 0))?.next().transpose()?;
        let Some((key, row)) = first else { return Ok(None) };
        let place = in_room::place_of(key.value());
        let said = readable::<MessageRow>(row.value(), format!("{room} {place}"));
        Ok(Some(OldestMessage { place, said: said.map(|row| (row.id, row.at.0)) }))
    }

    /// An event that cannot be read has no moment and counts as old.
    fn oldest_event(&self) -> Result<Option<(u64, Option<Timestamp>)>, StoreError> {
        let first = self.tables.events.range(..number::FIRST)?.next().transpose()?;
        let Some((seq, row)) = first else { return Ok(None) };
        let at = readable::<EventRow>(row.value(), seq.value().to_string()).map(|row| row.at);
        Ok(Some((seq.value(), at)))
    }

    pub(super) fn deleted(&mut self) {
        self.deletions_left -= 1;
        self.touched = Touched::Something;
    }
}
