//! One redb write transaction over a group of ours: guards first, then every write, in order.
//!
//! Counts and sequence numbers are read once, moved in memory and written back at the end, so a
//! group costs each of them one row. An error anywhere drops the whole redb transaction.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use clankie_domain::grant::GrantEpoch;
use clankie_domain::ids::HandoffId;
use clankie_domain::mutant::{self, Mutant};
use clankie_domain::retention;
use clankie_domain::time::Timestamp;
use redb::{ReadableTable, WriteTransaction};

use super::error::StoreError;
use super::in_room;
use super::records::{HandoffRow, ReceiptRow, RoomRow, decode, encode, readable};
use super::tables::{Ongoing, Part, Tables, number};
use super::txn::{Applied, Committed, Guard, Op, Prepared, Standing};

/// The row of what its key says already.
pub(super) const NOTHING: &[u8] = &[];

/// A group on its way into one redb transaction.
pub(super) struct Group<'t> {
    pub(super) tables: Tables<'t>,
    pub(super) rooms: BTreeMap<String, RoomRow>,
    pub(super) numbers: Numbers,
    stored: Numbers,
    /// Rows that this group may still delete.
    pub(super) deletions_left: usize,
    /// Whether anything was written.
    pub(super) touched: Touched,
}

/// The counters of the whole store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Numbers {
    pub(super) last_event: u64,
    pub(super) grant_epoch: u64,
    pub(super) transcript_bytes: u64,
    pub(super) message_floor: u64,
    pub(super) line_floor: u64,
    pub(super) pending_asks: u64,
    pub(super) unread_updates: u64,
}

/// Whether a group changed anything: one that did not is not committed, which saves two flushes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Touched {
    Nothing,
    Something,
}

impl<'t> Group<'t> {
    pub(super) fn open(txn: &'t WriteTransaction) -> Result<Self, StoreError> {
        let tables = Tables::open(txn)?;
        let number = |which: u64| -> Result<u64, StoreError> {
            Ok(number::read(tables.events.get(which)?.as_ref().map(|found| found.value())))
        };
        let stored = Numbers {
            last_event: number(number::EVENTS)?,
            grant_epoch: number(number::GRANT_EPOCH)?,
            transcript_bytes: number(number::TRANSCRIPT_BYTES)?,
            message_floor: number(number::MESSAGE_FLOOR)?,
            line_floor: number(number::LINE_FLOOR)?,
            pending_asks: number(number::PENDING_ASKS)?,
            unread_updates: number(number::UNREAD_UPDATES)?,
        };
        let (rooms, deletions_left, touched) = (BTreeMap::new(), retention::CHUNK, Touched::Nothing);
        Ok(Self { tables, rooms, numbers: stored, stored, deletions_left, touched })
    }

    /// Applies one transaction, or nothing of it when a guard does not hold.
    pub(super) fn apply(&mut self, txn: &Prepared) -> Result<Committed, StoreError> {
        let deletions = self.deletions_left;
        let applied = match self.failing(&txn.guards)? {
            Some(guard) => Applied::GuardFailed(guard),
            None => {
                for op in &txn.ops {
                    self.write(op)?;
                }
                Applied::Yes
            }
        };
        let pruned = deletions - self.deletions_left;
        Ok(Committed { last_event: self.numbers.last_event, applied, pruned })
    }

    /// Writes the counts back. Nothing of the group is whole before this.
    pub(super) fn flush(mut self) -> Result<Touched, StoreError> {
        for (room, row) in std::mem::take(&mut self.rooms) {
            if row.is_bare() && !self.is_live(&room)? {
                self.numbers.message_floor = self.numbers.message_floor.max(row.next_message);
                self.tables.rooms.remove(in_room::counts(&room))?;
            } else {
                self.tables.rooms.insert(in_room::counts(&room), encode(&row)?.as_slice())?;
            }
        }
        let (now, was) = (self.numbers, self.stored);
        for (which, now, was) in [
            (number::EVENTS, now.last_event, was.last_event),
            (number::GRANT_EPOCH, now.grant_epoch, was.grant_epoch),
            (number::TRANSCRIPT_BYTES, now.transcript_bytes, was.transcript_bytes),
            (number::MESSAGE_FLOOR, now.message_floor, was.message_floor),
            (number::LINE_FLOOR, now.line_floor, was.line_floor),
            (number::PENDING_ASKS, now.pending_asks, was.pending_asks),
            (number::UNREAD_UPDATES, now.unread_updates, was.unread_updates),
        ] {
            if now != was {
                self.tables.events.insert(which, now.to_be_bytes().as_slice())?;
            }
        }
        Ok(self.touched)
    }

    fn failing(&self, guards: &[Guard]) -> Result<Option<Guard>, StoreError> {
        for guard in guards {
            let holds = match guard {
                Guard::GrantEpoch(epoch) => GrantEpoch(self.numbers.grant_epoch) == *epoch,
                Guard::RecordRevision(id, revision) => self.revision(*id)? == *revision,
                Guard::Runs(id) => self.runs(*id)?,
                Guard::Mailbox(conversation, version) => {
                    mutant::on(Mutant::M2StaleVersionCommits) || self.mailbox_has(conversation, *version)?
                }
                Guard::GateUnused(request) => self.tables.mail.get(Part::Gate.of(request.0.as_u128()))?.is_none(),
            };
            if !holds {
                return Ok(Some(guard.clone()));
            }
        }
        Ok(None)
    }

    fn revision(&self, id: HandoffId) -> Result<u64, StoreError> {
        let Some(found) = self.tables.handoffs.get(id.0.as_u128())? else { return Ok(0) };
        Ok(decode::<HandoffRow>(found.value(), id)?.revision)
    }

    fn runs(&self, id: HandoffId) -> Result<bool, StoreError> {
        let Some(found) = self.tables.handoffs.get(id.0.as_u128())? else { return Ok(false) };
        Ok(decode::<HandoffRow>(found.value(), id)?.runs())
    }

    fn write(&mut self, op: &Op) -> Result<(), StoreError> {
        match op {
            Op::Record { .. } | Op::Receipt { .. } | Op::Message { .. } => self.write_room(op)?,
            Op::Mail(op) => return self.mail(op),
            Op::PermitTaken { permit, row } => {
                drop(self.tables.ongoing.insert(Ongoing::Permit.key(permit.0.into()), row.as_slice())?);
            }
            Op::PermitGone { permit } => drop(self.tables.ongoing.remove(Ongoing::Permit.key(permit.0.into()))?),
            Op::Bookmark { name, row } => drop(self.tables.bookmarks.insert(name.as_str(), row.as_slice())?),
            Op::BookmarkGone { name } => drop(self.tables.bookmarks.remove(name.as_str())?),
            Op::Token { id, row } => drop(self.tables.tokens.insert(id.0.as_u128(), row.as_slice())?),
            Op::GrantEpoch(epoch) => self.numbers.grant_epoch = epoch.0,
            Op::Transcript { handoff, at, lines } => return self.append(*handoff, *at, lines),
            Op::Prune { now } => return self.prune(*now),
        }
        self.touched = Touched::Something;
        Ok(())
    }

    fn write_room(&mut self, op: &Op) -> Result<(), StoreError> {
        match op {
            Op::Record { id, room, standing, row, event } => {
                self.record(id.0.as_u128(), room.as_str(), *standing, row)?;
                self.event(event)
            }
            Op::Receipt { room, key, settled_at, row } => self.receipt(room.as_str(), key, *settled_at, row),
            Op::Message { room, id, at, row, event } => match self.message(room.as_str(), id, *at, row)? {
                Said::Now => self.event(event),
                Said::Before => Ok(()),
            },
            Op::Mail(_)
            | Op::PermitTaken { .. }
            | Op::PermitGone { .. }
            | Op::Bookmark { .. }
            | Op::BookmarkGone { .. }
            | Op::Token { .. }
            | Op::GrantEpoch(_)
            | Op::Transcript { .. }
            | Op::Prune { .. } => Ok(()),
        }
    }

    fn record(&mut self, id: u128, room: &str, standing: Standing, row: &[u8]) -> Result<(), StoreError> {
        let is_new = self.tables.handoffs.insert(id, row)?.is_none();
        if is_new {
            self.tables.rooms.insert(in_room::handoff(room, id), NOTHING)?;
        }
        match standing {
            Standing::Live | Standing::Posting(_) if is_new => {
                self.tables.ongoing.insert(Ongoing::Handoff.key(id), room.as_bytes())?;
                self.room(room)?;
            }
            Standing::Live => {}
            Standing::Posting(at) => {
                // One that was over lives again, or a start would not find what it is to post.
                if self.tables.rooms.remove(in_room::ended(room, at.0, id))?.is_some() {
                    self.tables.ongoing.insert(Ongoing::Handoff.key(id), room.as_bytes())?;
                    self.room(room)?.ended -= 1;
                }
            }
            Standing::Ended(at) => {
                let was_live = self.tables.ongoing.remove(Ongoing::Handoff.key(id))?.is_some();
                if is_new || was_live {
                    self.tables.rooms.insert(in_room::ended(room, at.0, id), NOTHING)?;
                    self.room(room)?.ended += 1;
                    self.aged(room, at)?;
                }
            }
        }
        Ok(())
    }

    fn receipt(&mut self, room: &str, key: &str, settled_at: Option<Timestamp>, row: &[u8]) -> Result<(), StoreError> {
        let before = match self.tables.rooms.insert(in_room::receipt(room, key), row)? {
            // A damaged one counts as in flight, which it was: a settled receipt is not written again.
            Some(old) => readable::<ReceiptRow>(old.value(), format!("{room} {key}")).and_then(|row| row.settled_at()),
            None => None,
        };
        if before == settled_at {
            return Ok(());
        }
        if let Some(at) = before {
            self.tables.rooms.remove(in_room::settled(room, at.0, key))?;
            self.room(room)?.receipts -= 1;
        }
        if let Some(at) = settled_at {
            self.tables.rooms.insert(in_room::settled(room, at.0, key), NOTHING)?;
            self.room(room)?.receipts += 1;
            self.aged(room, at)?;
        }
        Ok(())
    }

    fn message(&mut self, room: &str, id: &str, at: Timestamp, row: &[u8]) -> Result<Said, StoreError> {
        if self.tables.rooms.get(in_room::place(room, id))?.is_some() {
            return Ok(Said::Before);
        }
        let counts = self.room(room)?;
        let place = counts.next_message;
        counts.next_message += 1;
        counts.messages += 1;
        counts.last_message_at = Some(at);
        self.tables.rooms.insert(in_room::message(room, place), row)?;
        self.tables.rooms.insert(in_room::place(room, id), NOTHING)?;
        self.aged(room, at)?;
        Ok(Said::Now)
    }

    pub(super) fn event(&mut self, row: &[u8]) -> Result<(), StoreError> {
        self.numbers.last_event += 1;
        self.tables.events.insert(self.numbers.last_event, row)?;
        Ok(())
    }

    /// The counts of a room, new when nothing of it is kept.
    pub(super) fn room(&mut self, room: &str) -> Result<&mut RoomRow, StoreError> {
        match self.rooms.entry(room.to_owned()) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(unknown) => {
                let row = match self.tables.rooms.get(in_room::counts(room))? {
                    Some(found) => decode(found.value(), room)?,
                    None => RoomRow::starting_at(self.numbers.message_floor),
                };
                Ok(unknown.insert(row))
            }
        }
    }

    /// Something that may be pruned once it is old, or because it is one too many, is kept.
    fn aged(&mut self, room: &str, at: Timestamp) -> Result<(), StoreError> {
        let row = self.room(room)?;
        let due = if row.is_crowded() { i64::MIN } else { row.due.map_or(at.0, |due| due.min(at.0)) };
        self.look_again(room, Some(due))
    }

    /// Sets when pruning looks at the room.
    pub(super) fn look_again(&mut self, room: &str, due: Option<i64>) -> Result<(), StoreError> {
        let before = std::mem::replace(&mut self.room(room)?.due, due);
        if before == due {
            return Ok(());
        }
        if let Some(before) = before {
            self.tables.due.remove((before, room))?;
        }
        if let Some(due) = due {
            self.tables.due.insert((due, room), ())?;
        }
        Ok(())
    }

    /// Whether anything lives in the room. Live work is bounded by admission, so this is short.
    fn is_live(&self, room: &str) -> Result<bool, StoreError> {
        for row in self.tables.ongoing.range(Ongoing::Handoff.all())? {
            if row?.1.value() == room.as_bytes() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Whether a message was written.
enum Said {
    Now,
    Before,
}
