//! Stored receipts, and the text that a delivery is keyed by.

use clankie_domain::ids::{DeliveryId, Fingerprint, HandoffId, RoomId};
use clankie_domain::receipt::Receipt;
use clankie_domain::result::TurnResult;
use clankie_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::result::ResultRow;
use super::{Row, hex};

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::store) struct ReceiptRow {
    room: RoomId,
    delivery: DeliveryId,
    #[serde(with = "hex")]
    fingerprint: [u8; 32],
    handoff: HandoffId,
    result: Option<ResultRow>,
    at: Timestamp,
}

impl Row for ReceiptRow {
    const TABLE: &'static str = "receipts";
    const VERSION: u8 = 1;
}

impl ReceiptRow {
    /// When it got its result; `None` while it is in flight.
    pub(in crate::store) fn settled_at(&self) -> Option<Timestamp> {
        self.result.as_ref().map(|_| self.at)
    }
}

impl From<Receipt> for ReceiptRow {
    fn from(from: Receipt) -> Self {
        let Receipt { room, delivery, fingerprint: Fingerprint(fingerprint), handoff, result, at } = from;
        Self { room, delivery, fingerprint, handoff, result: result.map(ResultRow::from), at }
    }
}

impl From<ReceiptRow> for Receipt {
    fn from(from: ReceiptRow) -> Self {
        let ReceiptRow { room, delivery, fingerprint, handoff, result, at } = from;
        let fingerprint = Fingerprint(fingerprint);
        Self { room, delivery, fingerprint, handoff, result: result.map(TurnResult::from), at }
    }
}

/// One text per delivery, each kind in a namespace of its own: whatever a client sends begins
/// with `t:`, so it is never the key of an edit or of a continuation.
pub(in crate::store) fn delivery_key(delivery: &DeliveryId) -> String {
    match delivery {
        DeliveryId::Transport(id) => format!("t:{id}"),
        DeliveryId::Edit { of, digest } => format!("e:{}:{digest}:{of}", digest.len()),
        DeliveryId::Continuation(id) => format!("c:{id}"),
    }
}
