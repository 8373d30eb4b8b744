//! Stored results, and where the posting of a reply stands.

use clankie_domain::delivery::{Posting, RoomDelivery};
use clankie_domain::ids::{DeliveryId, HandoffId};
use clankie_domain::result::{Approval, By, FailCode, KeptFile, Media, PrincipalKind, TurnResult};
use clankie_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::{each, mirror_enum, mirror_struct};

/// Rows of links are older than kept files and stay as they were.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::store) struct MediaRow {
    url: String,
    mime_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<KeptFileRow>,
}

mirror_struct! {
    KeptFileRow = KeptFile { name: String, size: u64 }
}

impl From<Media> for MediaRow {
    fn from(from: Media) -> Self {
        Self { url: from.url, mime_type: from.mime_type, file: from.file.map(KeptFileRow::from) }
    }
}

impl From<MediaRow> for Media {
    fn from(from: MediaRow) -> Self {
        Self { url: from.url, mime_type: from.mime_type, file: from.file.map(KeptFile::from) }
    }
}

mirror_enum! {
    PrincipalRow = PrincipalKind { Operator, Device, Service, Speaker }
}

mirror_struct! {
    ByRow = By { kind: PrincipalRow, id: String }
}

mirror_enum! {
    ApprovalRow = Approval { NotRequired, Required }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(in crate::store) enum ResultRow {
    Settled { text: String, media: Vec<MediaRow> },
    Silent,
    Absorbed { reply_delivery: DeliveryId, joined: HandoffId },
    WaitingUser { prompt: String, approval: ApprovalRow },
    Failed { code: String },
    Cancelled { by: ByRow },
}

impl From<TurnResult> for ResultRow {
    fn from(from: TurnResult) -> Self {
        match from {
            TurnResult::Settled { text, media } => Self::Settled { text, media: each(media) },
            TurnResult::Silent => Self::Silent,
            TurnResult::Absorbed { reply_delivery, joined } => Self::Absorbed { reply_delivery, joined },
            TurnResult::WaitingUser { prompt, approval } => Self::WaitingUser { prompt, approval: approval.into() },
            TurnResult::Failed { code } => Self::Failed { code: code.as_str().to_owned() },
            TurnResult::Cancelled { by } => Self::Cancelled { by: by.into() },
        }
    }
}

impl From<ResultRow> for TurnResult {
    fn from(from: ResultRow) -> Self {
        match from {
            ResultRow::Settled { text, media } => Self::Settled { text, media: each(media) },
            ResultRow::Silent => Self::Silent,
            ResultRow::Absorbed { reply_delivery, joined } => Self::Absorbed { reply_delivery, joined },
            ResultRow::WaitingUser { prompt, approval } => Self::WaitingUser { prompt, approval: approval.into() },
            ResultRow::Failed { code } => Self::Failed { code: FailCode::parse(&code) },
            ResultRow::Cancelled { by } => Self::Cancelled { by: by.into() },
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(in crate::store) enum PostingRow {
    None,
    Pending { part: u32 },
    Sending { part: u32, nonce: String, at: Timestamp },
    Confirmed,
    Failed { why: String },
    Uncertain,
    Suppressed { why: String },
}

impl From<Posting> for PostingRow {
    fn from(from: Posting) -> Self {
        match from {
            Posting::None => Self::None,
            Posting::Pending { part } => Self::Pending { part },
            Posting::Sending { part, nonce, at } => Self::Sending { part, nonce, at },
            Posting::Confirmed => Self::Confirmed,
            Posting::Failed { why } => Self::Failed { why },
            Posting::Uncertain => Self::Uncertain,
            Posting::Suppressed { why } => Self::Suppressed { why },
        }
    }
}

impl From<PostingRow> for Posting {
    fn from(from: PostingRow) -> Self {
        match from {
            PostingRow::None => Self::None,
            PostingRow::Pending { part } => Self::Pending { part },
            PostingRow::Sending { part, nonce, at } => Self::Sending { part, nonce, at },
            PostingRow::Confirmed => Self::Confirmed,
            PostingRow::Failed { why } => Self::Failed { why },
            PostingRow::Uncertain => Self::Uncertain,
            PostingRow::Suppressed { why } => Self::Suppressed { why },
        }
    }
}

mirror_struct! {
    RoomDeliveryRow = RoomDelivery { state: PostingRow, confirmed: Vec<String> }
}
