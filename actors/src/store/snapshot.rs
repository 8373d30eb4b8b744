//! Reads: one redb read transaction, the same moment for every question asked of it.
//!
//! A row that cannot be read is an error that names it; none is left out.

mod handoffs;
mod mail_lists;
mod mailbox;
mod rooms;

use std::fmt::Display;

use clankie_domain::event::Event;
use clankie_domain::grant::GrantEpoch;
use clankie_domain::ids::{HandoffId, TokenId};
use clankie_domain::principal::Token;
use redb::ReadTransaction;
use uuid::Uuid;

use super::error::StoreError;
use super::records::{BookmarkRow, EventRow, LineRow, PermitRow, Row, TokenRow, decode};
use super::tables::{BOOKMARKS, EVENTS, ONGOING, Ongoing, TOKENS, TRANSCRIPTS, number};
use super::txn::HeldPermit;
use crate::front::TranscriptLine;

/// Most rows that one list gives: what a page can show and a connection can carry.
pub const LIST_MAX: usize = 1_000;

/// The store as it was in one moment.
#[derive(Debug)]
pub struct Snapshot {
    txn: ReadTransaction,
    epoch: Uuid,
}

impl Snapshot {
    pub(super) fn new(txn: ReadTransaction, epoch: Uuid) -> Self {
        Self { txn, epoch }
    }

    /// The store's identity.
    pub fn epoch(&self) -> Uuid {
        self.epoch
    }

    /// Every run whose process group may still be there.
    pub fn permits(&self) -> Result<Vec<HeldPermit>, StoreError> {
        let table = self.txn.open_table(ONGOING)?;
        let rows = table.range(Ongoing::Permit.all())?.map(|row| {
            let (permit, row) = row?;
            Ok(decode::<PermitRow>(row.value(), permit.value().1)?.into())
        });
        rows.collect()
    }

    /// Every token, by id.
    pub fn tokens(&self) -> Result<Vec<Token>, StoreError> {
        let table = self.txn.open_table(TOKENS)?;
        let rows = table.range::<u128>(..)?.map(|row| {
            let (id, row) = row?;
            Ok(decode::<TokenRow>(row.value(), Uuid::from_u128(id.value()))?.into())
        });
        rows.collect()
    }

    /// One token.
    pub fn token(&self, id: TokenId) -> Result<Option<Token>, StoreError> {
        let table = self.txn.open_table(TOKENS)?;
        let Some(row) = table.get(id.0.as_u128())? else { return Ok(None) };
        read::<TokenRow, Token>(row.value(), id).map(Some)
    }

    /// Where a gateway goes on, by its own name for it.
    pub fn bookmark(&self, name: &str) -> Result<Option<String>, StoreError> {
        let table = self.txn.open_table(BOOKMARKS)?;
        let Some(row) = table.get(name)? else { return Ok(None) };
        Ok(Some(decode::<BookmarkRow>(row.value(), name)?.value))
    }

    /// Every bookmark whose name begins like this: what follows that in its name, and its text.
    pub fn bookmarks(&self, prefix: &str) -> Result<Vec<(String, String)>, StoreError> {
        let table = self.txn.open_table(BOOKMARKS)?;
        let mut found = Vec::new();
        for row in table.range(prefix..)? {
            let (name, row) = row?;
            let Some(rest) = name.value().strip_prefix(prefix) else { break };
            found.push((rest.to_owned(), decode::<BookmarkRow>(row.value(), name.value())?.value));
        }
        Ok(found)
    }

    /// The grant epoch; zero before it ever moved.
    pub fn grant_epoch(&self) -> Result<GrantEpoch, StoreError> {
        self.number(number::GRANT_EPOCH).map(GrantEpoch)
    }

    /// Bytes of all transcripts together.
    pub fn transcript_bytes(&self) -> Result<u64, StoreError> {
        self.number(number::TRANSCRIPT_BYTES)
    }

    /// Lines of a transcript after `after`, oldest first, at most [`LIST_MAX`].
    pub fn transcript(&self, handoff: HandoffId, after: u64, limit: usize) -> Result<Vec<TranscriptLine>, StoreError> {
        let id = handoff.0.as_u128();
        let table = self.txn.open_table(TRANSCRIPTS)?;
        let rows = table.range((id, after.saturating_add(1))..=(id, u64::MAX))?.take(limit.min(LIST_MAX));
        let lines = rows.map(|row| {
            let (key, row) = row?;
            let seq = key.value().1;
            let (at, entry) = decode::<LineRow>(row.value(), format!("{handoff} {seq}"))?.into_parts();
            Ok(TranscriptLine { seq, at, entry })
        });
        lines.collect()
    }

    /// The last event's sequence; zero before any.
    pub fn last_event(&self) -> Result<u64, StoreError> {
        self.number(number::EVENTS)
    }

    /// The sequence of the oldest event that is kept. A reader whose last one is older than the one
    /// before it has missed some and reads everything anew.
    pub fn first_event(&self) -> Result<Option<u64>, StoreError> {
        let first = self.txn.open_table(EVENTS)?.range(..number::FIRST)?.next().transpose()?;
        Ok(first.map(|(seq, _)| seq.value()))
    }

    /// Events after `after` with their sequence, oldest first, at most [`LIST_MAX`].
    pub fn events_after(&self, after: u64, limit: usize) -> Result<Vec<(u64, Event)>, StoreError> {
        let table = self.txn.open_table(EVENTS)?;
        let rows = table
            .range(after.saturating_add(1).min(number::FIRST)..number::FIRST)?
            .take(limit.min(LIST_MAX))
            .map(|row| {
                let (seq, row) = row?;
                let seq = seq.value();
                Ok((seq, Event::from(decode::<EventRow>(row.value(), seq)?.what)))
            });
        rows.collect()
    }

    fn number(&self, which: u64) -> Result<u64, StoreError> {
        self.numbers([which]).map(|[number]| number)
    }

    fn numbers<const N: usize>(&self, which: [u64; N]) -> Result<[u64; N], StoreError> {
        let table = self.txn.open_table(EVENTS)?;
        let mut numbers = [0; N];
        for (number, which) in numbers.iter_mut().zip(which) {
            *number = number::read(table.get(which)?.as_ref().map(|found| found.value()));
        }
        Ok(numbers)
    }
}

/// The domain value of a row.
fn read<R: Row, D: From<R>>(bytes: &[u8], key: impl Display) -> Result<D, StoreError> {
    decode::<R>(bytes, key).map(D::from)
}
