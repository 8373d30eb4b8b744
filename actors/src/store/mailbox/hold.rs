//! Handoffs that are kept because an unsettled ask refers to them.
//!
//! Such a handoff stays in every index that retention goes by and is passed over there. When the
//! last ask lets go of it, pruning looks at its room once more.

use clankie_domain::ids::HandoffId;
use redb::ReadableTable;
use uuid::Uuid;

use super::Source;
use crate::store::error::StoreError;
use crate::store::group::{Group, NOTHING};
use crate::store::in_room;
use crate::store::records::{AskRow, readable};
use crate::store::tables::{Ongoing, Part};

impl Group<'_> {
    /// The ask keeps its source.
    pub(super) fn hold(&mut self, request: u128, source: &Source) -> Result<(), StoreError> {
        self.tables.ongoing.insert(held(source.handoff.0.as_u128(), request), NOTHING)?;
        Ok(())
    }

    /// The ask lets go of its source.
    pub(super) fn release(&mut self, request: u128, source: &Source) -> Result<(), StoreError> {
        let (HandoffId(handoff), room) = (source.handoff, source.room.as_str());
        let handoff = handoff.as_u128();
        let held = self.tables.ongoing.remove(self::held(handoff, request))?.is_some();
        let is_there = held && self.tables.rooms.get(in_room::handoff(room, handoff))?.is_some();
        if is_there && self.tables.ongoing.get(Ongoing::Handoff.key(handoff))?.is_none() {
            self.look_again(room, Some(i64::MIN))?;
        }
        Ok(())
    }

    /// The same where only the ask's id is known. One that cannot be read holds on until it goes.
    pub(super) fn release_source_of(&mut self, request: u128) -> Result<(), StoreError> {
        let ask = match self.tables.mail.get(Part::Ask.of(request))? {
            Some(found) => readable::<AskRow>(found.value(), Uuid::from_u128(request)),
            None => None,
        };
        match ask {
            Some(ask) => self.release(request, &ask.source()),
            None => Ok(()),
        }
    }

    /// Whether an unsettled ask refers to the handoff.
    pub(in crate::store) fn is_held(&self, handoff: u128) -> Result<bool, StoreError> {
        Ok(self.tables.ongoing.range(Ongoing::Held.of(handoff))?.next().transpose()?.is_some())
    }
}

fn held(handoff: u128, request: u128) -> (u8, u128, u128) {
    (Ongoing::Held as u8, handoff, request)
}
