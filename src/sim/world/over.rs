//! The end of a world: whether everything is settled, and the last look at the store.

use std::collections::BTreeSet;
use std::sync::Arc;

use clankie_actors::mail::{AskQuery, UpdateFilter, UpdateQuery};
use clankie_actors::store::{LIST_MAX, Snapshot, Store, StoreError};
use clankie_actors::{HandoffQuery, digest};
use clankie_domain::ask::AskStatus;
use clankie_domain::claim::ClaimState;
use clankie_domain::ids::{DeliveryId, RoomId};

use super::{Life, World};
use crate::sim::history::{Last, What};
use crate::sim::observer::look;
use crate::sim::owner::SECRET;

/// Whether nothing lives and no answer is on its way.
pub(super) fn is_settled(store: &Store) -> bool {
    let settled = |now: Snapshot| -> Result<bool, StoreError> {
        let query = AskQuery { status: Some(AskStatus::Submitted), limit: LIST_MAX, ..AskQuery::default() };
        let asks = now.asks(&query)?.asks;
        let on_its_way = asks.iter().filter_map(|view| view.entry.claim.as_ref()).any(|claim| match claim.state {
            ClaimState::Claimed | ClaimState::Dispatching => true,
            ClaimState::Delivered | ClaimState::Uncertain | ClaimState::Returned(_) => false,
        });
        Ok(!on_its_way && now.live()?.is_empty() && now.permits()?.is_empty())
    };
    store.snapshot().and_then(settled).unwrap_or(false)
}

impl World {
    /// Notes the store as it is now.
    pub(super) fn last(&self, life: &Life) {
        look(&self.scene, &life.store, &self.read);
        match life.store.snapshot().and_then(|now| self.all_of(&now)) {
            Ok(last) => self.scene.note(What::Last(Arc::new(last))),
            Err(why) => self.scene.note(What::NotUp(format!("the store cannot be read at the end: {why}"))),
        }
    }

    fn all_of(&self, now: &Snapshot) -> Result<Last, StoreError> {
        let handoffs = HandoffQuery { limit: LIST_MAX, ..HandoffQuery::default() };
        let asks = now.asks(&AskQuery { limit: LIST_MAX, ..AskQuery::default() })?;
        let updates = UpdateQuery { show: UpdateFilter::All, limit: LIST_MAX, ..UpdateQuery::default() };
        let secrets = self.secrets();
        let mut last = Last {
            records: now.handoffs(&handoffs)?.into_iter().map(Arc::new).collect(),
            permits: now.permits()?,
            counts: (asks.counts.asks, asks.counts.updates),
            asks: asks.asks.into_iter().map(Arc::new).collect(),
            updates: now.updates(&updates)?.updates.into_iter().map(Arc::new).collect(),
            on_disk: self.disk.holds(SECRET, &secrets).into_iter().cloned().collect(),
            ..Last::default()
        };
        for place in &self.cast.places {
            last.messages.extend(now.messages(&place.room, 0, LIST_MAX)?.into_iter().map(|(_, message)| message));
            if let Ok(conversation) = digest::room_conversation(&place.room) {
                last.lines.extend(now.display(&conversation, 0, LIST_MAX)?.into_iter().map(|(_, line)| line));
            }
        }
        for (room, delivery) in self.keys() {
            last.receipts.extend(now.receipt(&room, &delivery)?);
        }
        if !secrets.is_empty() {
            for record in &last.records {
                let lines = now.transcript(record.id, 0, LIST_MAX)?;
                let text = lines.iter().map(|line| format!("{:?}\n", line.entry)).collect();
                last.transcripts.push((record.id, text));
            }
        }
        Ok(last)
    }

    /// Everything that may have a receipt: what was said, and what is known by its record.
    fn keys(&self) -> BTreeSet<(RoomId, DeliveryId)> {
        let said = self.plot.messages.iter();
        let said =
            said.filter_map(|said| Some((self.cast.places.get(said.place)?.room.clone(), said.delivery.clone())));
        said.collect()
    }
}
