//! What a commit is asked to do, and its encoded form.
//!
//! A transaction is encoded by whoever commits it, before it is queued, so a value that cannot be
//! stored never reaches a group with the transactions of others.

use std::sync::Arc;

use clankie_domain::admission::Change;
use clankie_domain::grant::GrantEpoch;
use clankie_domain::handoff::{HandoffRecord, State};
use clankie_domain::ids::{ConversationId, HandoffId, PermitId, RequestId, RoomId, RunId, TokenId};
use clankie_domain::message::RoomMessage;
use clankie_domain::principal::Token;
use clankie_domain::receipt::Receipt;
use clankie_domain::session::Entry;
use clankie_domain::time::Timestamp;

use super::error::StoreError;
use super::mailbox::MailOp;
use super::records::{
    BookmarkRow, EventRow, HandoffRow, LineRow, MessageRow, PermitRow, ReceiptRow, TokenRow, WhatRow, delivery_key,
    encode,
};

/// A set of writes that is applied whole or not at all.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Txn {
    /// What must hold in the moment of the commit.
    pub guards: Vec<Guard>,
    /// What is written, in order.
    pub writes: Vec<Write>,
}

/// A condition checked inside the write transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guard {
    /// Grants have not changed since they were looked at.
    GrantEpoch(GrantEpoch),
    /// The record has this revision; zero means that there is none.
    RecordRevision(HandoffId, u64),
    /// The handoff is running.
    Runs(HandoffId),
    /// The conversation's mailbox has this version; zero means that there is none.
    Mailbox(ConversationId, u64),
    /// The category that this ask's Approve opened was not used yet.
    GateUnused(RequestId),
}

/// One write.
#[derive(Debug, Clone, PartialEq)]
pub enum Write {
    /// A change of a room.
    Change(Change),
    /// A token, new or changed.
    Token(Token),
    /// The grant epoch moves.
    GrantEpoch(GrantEpoch),
    /// Where a gateway goes on after a restart.
    Bookmark {
        /// The gateway's own name for it.
        name: String,
        /// What only the gateway reads.
        value: String,
    },
    /// A gateway does not go on there any more. Nothing, when there is no such bookmark.
    BookmarkGone {
        /// The gateway's own name for it.
        name: String,
    },
    /// Lines at the end of a handoff's transcript. Nothing, when there is no such handoff.
    Transcript {
        /// Whose.
        handoff: HandoffId,
        /// When they are written.
        at: Timestamp,
        /// The lines, each with its own moment.
        entries: Vec<(Timestamp, Entry)>,
    },
    /// Deletes some of what retention does not keep. Committed again until nothing goes.
    Prune {
        /// What ages are counted from.
        now: Timestamp,
    },
}

/// What a commit did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    /// The last event's sequence after it.
    pub last_event: u64,
    /// Whether it was applied.
    pub applied: Applied,
    /// How many rows [`Write::Prune`] deleted.
    pub pruned: usize,
}

/// Whether a transaction was applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applied {
    /// All of it.
    Yes,
    /// Nothing of it: this guard did not hold.
    GuardFailed(Guard),
}

/// A run that holds a permit: its process group may still be there.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HeldPermit {
    /// The permit.
    pub permit: PermitId,
    /// Where.
    pub room: RoomId,
    /// Whose.
    pub handoff: HandoffId,
    /// Which run, by whose marker its processes are found.
    pub run: RunId,
}

impl Txn {
    /// The changes of one decision.
    pub fn changes(changes: impl IntoIterator<Item = Change>) -> Self {
        Self { guards: Vec::new(), writes: changes.into_iter().map(Write::Change).collect() }
    }

    /// One write.
    pub fn of(write: Write) -> Self {
        Self { guards: Vec::new(), writes: vec![write] }
    }

    /// One step of pruning.
    pub fn prune(now: Timestamp) -> Self {
        Self::of(Write::Prune { now })
    }

    /// Lines of a transcript.
    pub fn transcript(handoff: HandoffId, at: Timestamp, entries: Vec<(Timestamp, Entry)>) -> Self {
        Self::of(Write::Transcript { handoff, at, entries })
    }

    /// This and one more write.
    #[must_use]
    pub fn and(mut self, write: Write) -> Self {
        self.writes.push(write);
        self
    }

    /// This, only if `guard` holds.
    #[must_use]
    pub fn guarded(mut self, guard: Guard) -> Self {
        self.guards.push(guard);
        self
    }
}

/// A transaction whose values are bytes already.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) guards: Vec<Guard>,
    pub(super) ops: Vec<Op>,
}

/// Where a record goes besides its own table.
#[derive(Debug, Clone, Copy)]
pub(super) enum Standing {
    Live,
    /// It ended then, and something of it is still to be posted, perhaps once more.
    Posting(Timestamp),
    Ended(Timestamp),
}

/// One encoded write.
#[derive(Debug)]
pub(super) enum Op {
    Record { id: HandoffId, room: RoomId, standing: Standing, row: Vec<u8>, event: Vec<u8> },
    Receipt { room: RoomId, key: String, settled_at: Option<Timestamp>, row: Vec<u8> },
    PermitTaken { permit: PermitId, row: Vec<u8> },
    PermitGone { permit: PermitId },
    Message { room: RoomId, id: String, at: Timestamp, row: Vec<u8>, event: Vec<u8> },
    Mail(MailOp),
    Bookmark { name: String, row: Vec<u8> },
    BookmarkGone { name: String },
    Token { id: TokenId, row: Vec<u8> },
    GrantEpoch(GrantEpoch),
    Transcript { handoff: HandoffId, at: Timestamp, lines: Vec<Vec<u8>> },
    Prune { now: Timestamp },
}

/// Encodes a transaction.
pub(super) fn prepare(txn: Txn) -> Result<Prepared, StoreError> {
    let ops = txn.writes.into_iter().map(write).collect::<Result<_, _>>()?;
    Ok(Prepared { guards: txn.guards, ops })
}

fn write(write: Write) -> Result<Op, StoreError> {
    match write {
        Write::Change(Change::Record(record)) => self::record(record),
        Write::Change(Change::Receipt(receipt)) => self::receipt(receipt),
        Write::Change(Change::PermitTaken { permit, room, handoff, run }) => {
            let row = encode(&PermitRow::from(HeldPermit { permit, room, handoff, run }))?;
            Ok(Op::PermitTaken { permit, row })
        }
        Write::Change(Change::PermitGone { permit }) => Ok(Op::PermitGone { permit }),
        Write::Change(Change::Message(message)) => self::message(message),
        Write::Change(Change::Mail(change)) => MailOp::encode(change).map(Op::Mail),
        Write::Bookmark { name, value } => Ok(Op::Bookmark { name, row: encode(&BookmarkRow { value })? }),
        Write::BookmarkGone { name } => Ok(Op::BookmarkGone { name }),
        Write::Token(token) => Ok(Op::Token { id: token.id, row: encode(&TokenRow::from(token))? }),
        Write::GrantEpoch(epoch) => Ok(Op::GrantEpoch(epoch)),
        Write::Transcript { handoff, at, entries } => {
            let lines = entries.into_iter().map(|(at, entry)| encode(&LineRow::new(at, entry)));
            Ok(Op::Transcript { handoff, at, lines: lines.collect::<Result<_, _>>()? })
        }
        Write::Prune { now } => Ok(Op::Prune { now }),
    }
}

fn record(record: Arc<HandoffRecord>) -> Result<Op, StoreError> {
    let record = Arc::unwrap_or_clone(record);
    let moment = record.ended_at.or(record.started_at).unwrap_or(record.created_at);
    let standing = match &record.state {
        State::Pending | State::Running(_) | State::Joined { .. } => Standing::Live,
        State::Ended(_) if record.room_delivery.is_open() => Standing::Posting(moment),
        State::Ended(_) => Standing::Ended(moment),
    };
    let (id, room, state, revision) = (record.id, record.room.clone(), record.state_name(), record.revision);
    let event = event(moment, WhatRow::Handoff { id, room: room.clone(), state: state.into(), revision })?;
    Ok(Op::Record { id, room, standing, row: encode(&HandoffRow::from(record))?, event })
}

fn receipt(receipt: Receipt) -> Result<Op, StoreError> {
    let (room, key) = (receipt.room.clone(), delivery_key(&receipt.delivery));
    let row = ReceiptRow::from(receipt);
    Ok(Op::Receipt { room, key, settled_at: row.settled_at(), row: encode(&row)? })
}

fn message(message: RoomMessage) -> Result<Op, StoreError> {
    let (room, id, at) = (message.room.clone(), message.id.clone(), message.at);
    let event = event(at, WhatRow::Message { room: room.clone() })?;
    Ok(Op::Message { room, id, at, row: encode(&MessageRow::from(message))?, event })
}

/// The row of an event.
pub(super) fn event(at: Timestamp, what: WhatRow) -> Result<Vec<u8>, StoreError> {
    encode(&EventRow { at, what })
}
