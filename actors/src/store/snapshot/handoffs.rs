//! Reads of handoff records and of the receipts that go with them.

use clankie_domain::handoff::{Class, HandoffRecord, State, StateName};
use clankie_domain::ids::{DeliveryId, HandoffId, RoomId};
use clankie_domain::receipt::Receipt;
use uuid::Uuid;

use super::{LIST_MAX, Snapshot, read};
use crate::front::{HandoffQuery, Tally};
use crate::store::error::StoreError;
use crate::store::in_room;
use crate::store::records::{HandoffRow, ReceiptRow, delivery_key};
use crate::store::tables::{HANDOFFS, ONGOING, Ongoing, ROOMS};

impl Snapshot {
    /// One record.
    pub fn handoff(&self, id: HandoffId) -> Result<Option<HandoffRecord>, StoreError> {
        let table = self.txn.open_table(HANDOFFS)?;
        let Some(row) = table.get(id.0.as_u128())? else { return Ok(None) };
        read::<HandoffRow, _>(row.value(), id).map(Some)
    }

    /// Records, newest first, at most [`LIST_MAX`].
    ///
    /// By room it reads only that room, for a live state only what lives. A filter that little
    /// matches otherwise reads every kept record.
    pub fn handoffs(&self, query: &HandoffQuery) -> Result<Vec<HandoffRecord>, StoreError> {
        let limit = query.limit.min(LIST_MAX);
        let mut found = Vec::new();
        if limit == 0 {
            return Ok(found);
        }
        self.newest_first(query, |record| {
            if matches(query, &record) {
                found.push(record);
            }
            if found.len() < limit { Go::On } else { Go::Home }
        })?;
        Ok(found)
    }

    fn newest_first(&self, query: &HandoffQuery, mut take: impl FnMut(HandoffRecord) -> Go) -> Result<(), StoreError> {
        let before = query.before.map_or(u128::MAX, |id| id.0.as_u128());
        match (&query.room, query.state) {
            (_, Some(StateName::Pending | StateName::Running | StateName::Joined)) => {
                let table = self.txn.open_table(ONGOING)?;
                for row in table.range(Ongoing::Handoff.key(0)..Ongoing::Handoff.key(before))?.rev() {
                    if take(self.indexed(row?.0.value().1)?) == Go::Home {
                        break;
                    }
                }
            }
            (Some(room), _) => {
                let (table, room) = (self.txn.open_table(ROOMS)?, room.as_str());
                for row in table.range(in_room::handoff(room, 0)..in_room::handoff(room, before))?.rev() {
                    if take(self.indexed(row?.0.value().3)?) == Go::Home {
                        break;
                    }
                }
            }
            (None, _) => {
                let table = self.txn.open_table(HANDOFFS)?;
                for row in table.range(..before)?.rev() {
                    let (id, row) = row?;
                    if take(read::<HandoffRow, _>(row.value(), Uuid::from_u128(id.value()))?) == Go::Home {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// A record that an index names.
    fn indexed(&self, id: u128) -> Result<HandoffRecord, StoreError> {
        let id = HandoffId(Uuid::from_u128(id));
        let damaged = || StoreError::Damaged { row: format!("handoffs {id}"), why: "it is missing".to_owned() };
        self.handoff(id)?.ok_or_else(damaged)
    }

    /// Every record that has not ended, oldest first: what a boot decodes.
    pub fn live(&self) -> Result<Vec<HandoffRecord>, StoreError> {
        let table = self.txn.open_table(ONGOING)?;
        let records = table.range(Ongoing::Handoff.all())?;
        let records = records.map(|row| self.indexed(row?.0.value().1).map_err(live_damage));
        records.collect()
    }

    /// Every record of a room that has not ended, oldest first.
    pub fn live_of(&self, room: &RoomId) -> Result<Vec<HandoffRecord>, StoreError> {
        let table = self.txn.open_table(ONGOING)?;
        let mut records = Vec::new();
        for row in table.range(Ongoing::Handoff.all())? {
            let (key, lives_in) = row?;
            if lives_in.value() == room.as_str().as_bytes() {
                records.push(self.indexed(key.value().1).map_err(live_damage)?);
            }
        }
        Ok(records)
    }

    /// How much runs and waits.
    pub fn tally(&self) -> Result<Tally, StoreError> {
        let mut tally = Tally::default();
        for record in self.live()? {
            match (&record.state, record.class) {
                (State::Running(_), _) => tally.running += 1,
                (State::Pending, Class::Fresh) => tally.waiting += 1,
                (State::Pending, Class::Owed(_)) => tally.owed += 1,
                (State::Joined { .. } | State::Ended(_), _) => {}
            }
        }
        Ok(tally)
    }

    /// The receipt of a delivery.
    pub fn receipt(&self, room: &RoomId, delivery: &DeliveryId) -> Result<Option<Receipt>, StoreError> {
        let (table, key) = (self.txn.open_table(ROOMS)?, delivery_key(delivery));
        let Some(row) = table.get(in_room::receipt(room.as_str(), &key))? else { return Ok(None) };
        read::<ReceiptRow, _>(row.value(), format!("{room} {key}")).map(Some)
    }
}

/// Whether a walk goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Go {
    On,
    Home,
}

fn matches(query: &HandoffQuery, record: &HandoffRecord) -> bool {
    query.room.as_ref().is_none_or(|room| record.room == *room)
        && query.state.is_none_or(|state| record.state_name() == state)
        && query.actor.as_ref().is_none_or(|actor| record.actor == *actor)
}

/// Damage that a boot must not start over.
fn live_damage(why: StoreError) -> StoreError {
    match why {
        StoreError::Damaged { row, why } => StoreError::DamagedLive { row, why },
        other @ (StoreError::Failed(_)
        | StoreError::DamagedLive { .. }
        | StoreError::Encoding(_)
        | StoreError::Storage(_)) => other,
    }
}
