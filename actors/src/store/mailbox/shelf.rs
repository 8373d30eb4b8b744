//! Where mail stands: on one shelf of the whole store, in the order of lists, and at one place of
//! its conversation. Lists read shelves and places, and no row that they do not show.

use clankie_domain::ask::{Ask, AskStatus};
use clankie_domain::update::{OwnerUpdate, UpdateState};

/// A kind of mail. The numbers are keys on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(in crate::store) enum Kind {
    Ask = 1,
    Update = 2,
    Line = 3,
}

/// Which list something is in. The numbers are keys on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(in crate::store) enum Shelf {
    Pending = 1,
    Submitted = 2,
    Cancelled = 3,
    Unread = 11,
    Read = 12,
    Dismissed = 13,
    Lines = 21,
}

/// Bytes of a moment.
const MOMENT: usize = size_of::<i64>();
/// Bytes of a moment and an id.
const PLACED: usize = MOMENT + size_of::<u128>();

/// A key of the `shelves` table.
pub(in crate::store) type ShelfKey<'a> = (u8, i64, &'a str, u64);

/// Something on a shelf.
#[derive(Debug, Clone)]
pub(in crate::store) struct Mail {
    pub(in crate::store) kind: Kind,
    pub(in crate::store) conversation: String,
    pub(in crate::store) at: i64,
    /// Its place in its conversation.
    pub(in crate::store) seq: u64,
    pub(in crate::store) id: u128,
    /// The run that it came from.
    pub(in crate::store) run: u128,
}

impl Kind {
    /// Where something of that kind can stand.
    pub(in crate::store) fn shelves(self) -> &'static [Shelf] {
        match self {
            Self::Ask => &[Shelf::Pending, Shelf::Submitted, Shelf::Cancelled],
            Self::Update => &[Shelf::Unread, Shelf::Read, Shelf::Dismissed],
            Self::Line => &[Shelf::Lines],
        }
    }
}

impl Shelf {
    /// The key of something there. All bits of the moment and of the place are turned, so that the
    /// newest comes first and no number overflows.
    pub(in crate::store) fn key(self, at: i64, conversation: &str, seq: u64) -> ShelfKey<'_> {
        (self as u8, !at, conversation, !seq)
    }

    /// The key that no key of that shelf is less than.
    pub(in crate::store) fn begin(self) -> ShelfKey<'static> {
        (self as u8, i64::MIN, "", 0)
    }

    /// The key that every key of that shelf is less than.
    pub(in crate::store) fn end(self) -> ShelfKey<'static> {
        (self as u8 + 1, i64::MIN, "", 0)
    }
}

impl From<AskStatus> for Shelf {
    fn from(from: AskStatus) -> Self {
        match from {
            AskStatus::Pending => Self::Pending,
            AskStatus::Submitted => Self::Submitted,
            AskStatus::Cancelled => Self::Cancelled,
        }
    }
}

impl From<UpdateState> for Shelf {
    fn from(from: UpdateState) -> Self {
        match from {
            UpdateState::Unread => Self::Unread,
            UpdateState::Read { .. } => Self::Read,
            UpdateState::Dismissed { .. } => Self::Dismissed,
        }
    }
}

impl From<&Ask> for Mail {
    fn from(ask: &Ask) -> Self {
        Self {
            kind: Kind::Ask,
            conversation: ask.conversation.as_str().to_owned(),
            at: ask.created_at.0,
            seq: ask.seq,
            id: ask.request.0.as_u128(),
            run: ask.origin.run.0.as_u128(),
        }
    }
}

impl From<&OwnerUpdate> for Mail {
    fn from(update: &OwnerUpdate) -> Self {
        Self {
            kind: Kind::Update,
            conversation: update.conversation.as_str().to_owned(),
            at: update.at.0,
            seq: update.seq,
            id: update.id.0.as_u128(),
            run: update.publication.run.0.as_u128(),
        }
    }
}

impl Mail {
    /// Its key in the `boxes` table.
    pub(in crate::store) fn place(&self) -> (&str, u8, u64) {
        (&self.conversation, self.kind as u8, self.seq)
    }

    /// Its row there: moment and id.
    pub(in crate::store) fn placed(&self) -> [u8; PLACED] {
        let mut row = [0; PLACED];
        row[..MOMENT].copy_from_slice(&self.at.to_be_bytes());
        row[MOMENT..].copy_from_slice(&self.id.to_be_bytes());
        row
    }

    /// Its key on that shelf.
    pub(in crate::store) fn on(&self, shelf: Shelf) -> ShelfKey<'_> {
        shelf.key(self.at, &self.conversation, self.seq)
    }
}

/// Moment and id of a row of the `boxes` table. One of another length is nobody's, which whoever looks
/// for that id reports.
pub(in crate::store) fn placed(row: &[u8]) -> (i64, u128) {
    let read = row.split_first_chunk().and_then(|(at, id)| Some((*at, id.try_into().ok()?)));
    let (at, id) = read.unwrap_or_default();
    (i64::from_be_bytes(at), u128::from_be_bytes(id))
}
