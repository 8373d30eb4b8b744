//! What a commit is asked to do to the owner's mailbox, and its encoded form.
//!
//! Every change can be repeated: what is stored already changes nothing and makes no event.

mod apply;
mod hold;
mod lines;
pub(super) mod shelf;

use std::sync::Arc;

use clankie_domain::ask::{Ask, Resolution};
use clankie_domain::claim::Claim;
use clankie_domain::ids::{ConversationId, HandoffId, RequestId, RoomId};
use clankie_domain::mailbox::MailChange;
use clankie_domain::message::AnswerLine;
use clankie_domain::time::Timestamp;
use clankie_domain::update::{OwnerUpdate, UpdateState};

use super::error::StoreError;
use super::records::{AnswerLineRow, AskRow, ClaimRow, MailboxRow, ResolutionRow, UpdateRow, WhatRow, encode};
use super::txn::event;

pub(super) use shelf::{Kind, Mail, Shelf};

/// One encoded change of the mailbox.
#[derive(Debug)]
pub(super) enum MailOp {
    Head {
        conversation: ConversationId,
        row: Vec<u8>,
    },
    Asked {
        mail: Mail,
        source: Source,
        rows: Rows,
    },
    Resolved {
        mail: Mail,
        source: Source,
        shelf: Shelf,
        rows: Rows,
    },
    AskGone {
        mail: Mail,
        source: Source,
    },
    Claim {
        request: RequestId,
        hold: Hold,
        rows: Rows,
    },
    Update {
        mail: Mail,
        shelf: Shelf,
        rows: Rows,
    },
    UpdateGone {
        mail: Mail,
    },
    Shown {
        line: AnswerLine,
        row: Vec<u8>,
    },
    GateUsed {
        request: RequestId,
        at: Timestamp,
    },
    /// What says nothing that is stored: that an ask is pending is what it is without a resolution.
    Nothing,
}

/// What is stored, and the event that says so.
#[derive(Debug)]
pub(super) struct Rows {
    row: Vec<u8>,
    event: Vec<u8>,
}

/// The handoff that an ask refers to.
#[derive(Debug, Clone)]
pub(super) struct Source {
    pub(super) handoff: HandoffId,
    pub(super) room: RoomId,
}

/// Whether an ask still keeps the handoff that it refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    Keep,
    Release,
}

impl MailOp {
    /// Encodes a change.
    pub(super) fn encode(change: MailChange) -> Result<Self, StoreError> {
        match change {
            MailChange::Head(head) => {
                let conversation = head.conversation.clone();
                Ok(Self::Head { conversation, row: encode(&MailboxRow::from(head))? })
            }
            MailChange::Asked(ask) => asked(&ask),
            MailChange::Resolved { ask, resolution } => resolved(&ask, resolution),
            MailChange::AskGone(ask) => Ok(Self::AskGone { mail: Mail::from(&*ask), source: source(&ask) }),
            MailChange::Claim(claim) => self::claim(claim),
            MailChange::Update(update) => self::update(update),
            MailChange::UpdateGone(update) => Ok(Self::UpdateGone { mail: Mail::from(&*update) }),
            MailChange::Shown(line) => {
                let row = encode(&AnswerLineRow::from(line.clone()))?;
                Ok(Self::Shown { line, row })
            }
            MailChange::GateUsed { request, at } => Ok(Self::GateUsed { request, at }),
        }
    }
}

fn asked(ask: &Ask) -> Result<MailOp, StoreError> {
    let asked = AskRow::from(ask.clone());
    let row = encode(&asked)?;
    let event = event(ask.created_at, WhatRow::InputRequested(Box::new(asked)))?;
    Ok(MailOp::Asked { mail: Mail::from(ask), source: source(ask), rows: Rows { row, event } })
}

fn resolved(ask: &Ask, resolution: Resolution) -> Result<MailOp, StoreError> {
    let status = resolution.status();
    let Some((row, at)) = ResolutionRow::of(resolution) else { return Ok(MailOp::Nothing) };
    let (conversation, request) = (ask.conversation.clone(), ask.request);
    let event = event(at, WhatRow::InputResolved { conversation, request, outcome: status.into() })?;
    let rows = Rows { row: encode(&row)?, event };
    Ok(MailOp::Resolved { mail: Mail::from(ask), source: source(ask), shelf: status.into(), rows })
}

fn claim(claim: Claim) -> Result<MailOp, StoreError> {
    let (request, conversation) = (claim.request, claim.conversation.clone());
    let hold = if claim.is_settled() { Hold::Release } else { Hold::Keep };
    let state = claim.state.clone().into();
    let event = event(claim.at, WhatRow::InputClaim { conversation, request, state })?;
    let rows = Rows { row: encode(&ClaimRow::from(claim))?, event };
    Ok(MailOp::Claim { request, hold, rows })
}

fn update(update: Arc<OwnerUpdate>) -> Result<MailOp, StoreError> {
    let (mail, state) = (Mail::from(&*update), update.state);
    let moment = match state {
        UpdateState::Unread => update.at,
        UpdateState::Read { at } | UpdateState::Dismissed { at, .. } => at,
    };
    let what = WhatRow::Update { conversation: update.conversation.clone(), id: update.id, state: state.into() };
    let row = encode(&UpdateRow::from(Arc::unwrap_or_clone(update)))?;
    Ok(MailOp::Update { mail, shelf: state.into(), rows: Rows { row, event: event(moment, what)? } })
}

fn source(ask: &Ask) -> Source {
    Source { handoff: ask.origin.handoff, room: ask.origin.room.clone() }
}
