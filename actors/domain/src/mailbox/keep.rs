//! What a mailbox keeps, and when it is full.
//!
//! Invariant M3: nothing pending, and no answer that is on its way or that the owner has not seen
//! fail, is ever forgotten; neither is one that was delivered to a handoff that still runs, since an
//! approval opens its category there. What a decision itself settles outlives it, so that its caller
//! can read it.

use std::sync::Arc;

use super::changing::Changing;
use super::{BYTES_MAX, Entry, MailChange, Mailbox, RECORDS_MAX, SETTLED_KEPT};
use crate::ask::{Ask, Resolution};
use crate::ids::{RequestId, UpdateId};
use crate::mutant::{self, Mutant};
use crate::time::Timestamp;
use crate::update::{OwnerUpdate, UpdateState};

impl Entry {
    /// When nothing more was expected of it; `None` while something is, so that it must be kept.
    pub fn settled_at(&self) -> Option<Timestamp> {
        match (&self.resolution, &self.claim) {
            (Resolution::Pending, _) if mutant::on(Mutant::M3PendingIsForgotten) => Some(self.ask.created_at),
            (Resolution::Pending, _) | (Resolution::Submitted { .. }, None) => None,
            (Resolution::Submitted { at, .. }, Some(claim)) => {
                let settled = claim.is_settled() || mutant::on(Mutant::M3UnseenIsForgotten);
                settled.then(|| claim.at.max(*at))
            }
            (Resolution::Cancelled { at, .. }, _) => Some(*at),
        }
    }
}

impl Mailbox {
    /// Whether one more ask fits.
    pub(super) fn fits_ask(&self, ask: &Ask) -> bool {
        let bytes: usize = self.asks.values().map(|entry| entry.ask.stored_bytes()).sum();
        self.asks.len() < RECORDS_MAX && bytes + ask.stored_bytes() <= BYTES_MAX
    }

    /// Whether one more update fits.
    pub(super) fn fits_update(&self, update: &OwnerUpdate) -> bool {
        let bytes: usize = self.updates.values().map(|kept| kept.stored_bytes()).sum();
        self.updates.len() < RECORDS_MAX && bytes + update.stored_bytes() <= BYTES_MAX
    }

    /// The asks of which nothing more is expected and that no handoff continues with.
    fn settled(&self, continuing: &[RequestId]) -> Vec<(Timestamp, u64, RequestId)> {
        let over = self.asks.values().filter(|entry| !continuing.contains(&entry.ask.request));
        over.filter_map(|entry| entry.settled_at().map(|at| (at, entry.ask.seq, entry.ask.request))).collect()
    }

    fn dismissed(&self) -> Vec<(Timestamp, u64, UpdateId)> {
        let when = |update: &Arc<OwnerUpdate>| match update.state {
            UpdateState::Dismissed { at, .. } => Some((at, update.seq, update.id)),
            UpdateState::Unread | UpdateState::Read { .. } => None,
        };
        self.updates.values().filter_map(when).collect()
    }
}

impl Changing {
    /// Forgets the oldest of the asks that were settled before this decision, beyond the newest 32.
    pub(super) fn forget_asks(&mut self, before: &Mailbox, continuing: &[RequestId]) {
        for request in oldest(before.settled(continuing), self.next.settled(continuing).len()) {
            if let Some(entry) = self.next.asks.remove(&request) {
                self.changes.push(MailChange::AskGone(Arc::clone(&entry.ask)));
            }
        }
    }

    /// Forgets the oldest of the updates that were dismissed before this decision, beyond the newest 32.
    pub(super) fn forget_updates(&mut self, before: &Mailbox) {
        for id in oldest(before.dismissed(), self.next.dismissed().len()) {
            if let Some(update) = self.next.updates.remove(&id) {
                self.changes.push(MailChange::UpdateGone(update));
            }
        }
    }
}

fn oldest<Id: Ord>(mut settled: Vec<(Timestamp, u64, Id)>, now_settled: usize) -> Vec<Id> {
    settled.sort();
    let beyond = now_settled.saturating_sub(SETTLED_KEPT);
    settled.into_iter().take(beyond).map(|(_, _, id)| id).collect()
}
