//! What a repeated delivery gets: the saved result, also after a restart, with no second run.
//!
//! Invariant I3: one delivery key, one execution, one result.

use crate::ids::{DeliveryId, Fingerprint, HandoffId, RoomId};
use crate::mutant::{self, Mutant};
use crate::result::TurnResult;
use crate::time::Timestamp;

/// The durable answer to one delivery key. It holds the result itself, so it outlives the record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Receipt {
    /// First half of the key.
    pub room: RoomId,
    /// Second half of the key.
    pub delivery: DeliveryId,
    /// What the key was first used for.
    pub fingerprint: Fingerprint,
    /// The record that it made.
    pub handoff: HandoffId,
    /// The result; `None` while it is in flight.
    pub result: Option<TurnResult>,
    /// When it was made, and when it got its result.
    pub at: Timestamp,
}

/// What a known key means for a new try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known {
    /// The same request: it shares what the first one gets.
    Same,
    /// The key was used for something else.
    Conflict,
}

impl Receipt {
    /// Compares a try under the same key.
    pub fn compare(&self, fingerprint: Fingerprint) -> Known {
        if self.fingerprint == fingerprint || mutant::on(Mutant::I3OtherWordsShare) {
            Known::Same
        } else {
            Known::Conflict
        }
    }
}
