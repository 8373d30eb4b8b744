//! Stored updates: informational mail, and how far the owner has dealt with it.

use clankie_domain::ids::{ConversationId, HandoffId, RunId, UpdateId};
use clankie_domain::time::Timestamp;
use clankie_domain::update::{Link, MailMedia, OwnerUpdate, Publication, UpdateDraft, UpdateState};
use serde::{Deserialize, Serialize};

use super::ask::IssueRow;
use super::{Row, each, maybe, mirror_struct};

mirror_struct! {
    LinkRow = Link { label: String, url: String }
}

mirror_struct! {
    MailMediaRow = MailMedia { url: String, mime_type: String, alt: Option<String> }
}

mirror_struct! {
    PublicationRow = Publication { run: RunId, call: String }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::store) struct DraftRow {
    title: String,
    body: String,
    links: Vec<LinkRow>,
    media: Vec<MailMediaRow>,
    issue: Option<IssueRow>,
    seat_id: Option<String>,
}

impl From<UpdateDraft> for DraftRow {
    fn from(from: UpdateDraft) -> Self {
        let UpdateDraft { title, body, links, media, issue, seat_id } = from;
        Self { title, body, links: each(links), media: each(media), issue: maybe(issue), seat_id }
    }
}

impl From<DraftRow> for UpdateDraft {
    fn from(from: DraftRow) -> Self {
        let DraftRow { title, body, links, media, issue, seat_id } = from;
        Self { title, body, links: each(links), media: each(media), issue: maybe(issue), seat_id }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(in crate::store) enum UpdateStateRow {
    Unread,
    Read { at: Timestamp },
    Dismissed { read_at: Timestamp, at: Timestamp },
}

impl From<UpdateState> for UpdateStateRow {
    fn from(from: UpdateState) -> Self {
        match from {
            UpdateState::Unread => Self::Unread,
            UpdateState::Read { at } => Self::Read { at },
            UpdateState::Dismissed { read_at, at } => Self::Dismissed { read_at, at },
        }
    }
}

impl From<UpdateStateRow> for UpdateState {
    fn from(from: UpdateStateRow) -> Self {
        match from {
            UpdateStateRow::Unread => Self::Unread,
            UpdateStateRow::Read { at } => Self::Read { at },
            UpdateStateRow::Dismissed { read_at, at } => Self::Dismissed { read_at, at },
        }
    }
}

mirror_struct! {
    UpdateRow = OwnerUpdate {
        id: UpdateId,
        conversation: ConversationId,
        seq: u64,
        handoff: HandoffId,
        publication: PublicationRow,
        draft: DraftRow,
        at: Timestamp,
        state: UpdateStateRow,
    }
}

impl Row for UpdateRow {
    const TABLE: &'static str = "updates";
    const VERSION: u8 = 1;
}
