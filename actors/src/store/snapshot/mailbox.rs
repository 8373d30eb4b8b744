//! Reads of the owner's mailbox by conversation and by identity.
//!
//! A row that cannot be read is damage of its own conversation's mailbox, which is then never taken
//! for an empty one; other conversations are read as before.

use std::collections::BTreeMap;
use std::sync::Arc;

use clankie_domain::ask::{Ask, Resolution};
use clankie_domain::claim::Claim;
use clankie_domain::ids::{ConversationId, RequestId, UpdateId};
use clankie_domain::mailbox::{Entry, Head, Mailbox};
use clankie_domain::message::AnswerLine;
use clankie_domain::update::OwnerUpdate;
use redb::ReadOnlyTable;
use uuid::Uuid;

use super::{LIST_MAX, Snapshot, read};
use crate::front::mail::{AskView, MailCounts};
use crate::store::error::StoreError;
use crate::store::mailbox::{Kind, Shelf, shelf};
use crate::store::records::{AnswerLineRow, AskRow, ClaimRow, MailboxRow, ResolutionRow, Row, UpdateRow};
use crate::store::tables::{BOX_HEAD, BOXES, MAIL, Part, SHELVES, number};

type Rows = ReadOnlyTable<(u128, u8), &'static [u8]>;

impl Snapshot {
    /// One conversation's mailbox, whole; `None` when there never was one.
    pub fn mailbox(&self, conversation: &ConversationId) -> Result<Option<Mailbox>, StoreError> {
        let (asks, updates) = (self.placed(conversation, Kind::Ask)?, self.placed(conversation, Kind::Update)?);
        let Some(head) = self.head(conversation)? else {
            let is_new = asks.is_empty() && updates.is_empty();
            return if is_new { Ok(None) } else { Err(missing::<MailboxRow>(conversation)) };
        };
        let rows = self.txn.open_table(MAIL)?;
        let entry = |id| {
            let entry = entry(&rows, id)?.ok_or_else(|| missing::<AskRow>(Uuid::from_u128(id)))?;
            Ok((entry.ask.request, Arc::new(entry)))
        };
        let asks = asks.into_iter().map(entry).collect::<Result<BTreeMap<_, _>, StoreError>>()?;
        let update = |id| {
            let update = row::<UpdateRow, OwnerUpdate>(&rows, Part::Update, id)?;
            let update = update.ok_or_else(|| missing::<UpdateRow>(Uuid::from_u128(id)))?;
            Ok((update.id, Arc::new(update)))
        };
        let updates = updates.into_iter().map(update).collect::<Result<BTreeMap<_, _>, StoreError>>()?;
        Ok(Some(Mailbox { head, asks, updates }))
    }

    /// One ask of that conversation, with its conversation's counters.
    pub fn ask(&self, conversation: &ConversationId, request: RequestId) -> Result<Option<AskView>, StoreError> {
        let entry = entry(&self.txn.open_table(MAIL)?, request.0.as_u128())?;
        let Some(entry) = entry.filter(|entry| entry.ask.conversation == *conversation) else { return Ok(None) };
        let head = self.head(conversation)?.ok_or_else(|| missing::<MailboxRow>(conversation))?;
        Ok(Some(AskView { entry, head }))
    }

    /// The conversation that an ask belongs to.
    pub fn conversation_of(&self, request: RequestId) -> Result<Option<ConversationId>, StoreError> {
        let ask = row::<AskRow, Ask>(&self.txn.open_table(MAIL)?, Part::Ask, request.0.as_u128())?;
        Ok(ask.map(|ask| ask.conversation))
    }

    /// An ask and what became of it, by its identity alone.
    pub fn answer_of(&self, request: RequestId) -> Result<Option<(Ask, Resolution)>, StoreError> {
        let entry = entry(&self.txn.open_table(MAIL)?, request.0.as_u128())?;
        Ok(entry.map(|entry| (Arc::unwrap_or_clone(entry.ask), entry.resolution)))
    }

    /// How far an accepted answer has come.
    pub fn claim(&self, request: RequestId) -> Result<Option<Claim>, StoreError> {
        row::<ClaimRow, _>(&self.txn.open_table(MAIL)?, Part::Claim, request.0.as_u128())
    }

    /// Whether the category that this ask's Approve opened was used.
    pub fn gate_used(&self, request: RequestId) -> Result<bool, StoreError> {
        Ok(self.txn.open_table(MAIL)?.get(Part::Gate.of(request.0.as_u128()))?.is_some())
    }

    /// One update, by its identity alone.
    pub fn update(&self, id: UpdateId) -> Result<Option<OwnerUpdate>, StoreError> {
        row::<UpdateRow, _>(&self.txn.open_table(MAIL)?, Part::Update, id.0.as_u128())
    }

    /// What waits in all of the mailbox: two numbers that every commit keeps, nothing is counted.
    pub fn mail_counts(&self) -> Result<MailCounts, StoreError> {
        let [asks, updates] = self.numbers([number::PENDING_ASKS, number::UNREAD_UPDATES])?;
        Ok(MailCounts { asks, updates })
    }

    /// The counters of one conversation's mailbox.
    pub fn head(&self, conversation: &ConversationId) -> Result<Option<Head>, StoreError> {
        let (table, (kind, place)) = (self.txn.open_table(BOXES)?, BOX_HEAD);
        let Some(row) = table.get((conversation.as_str(), kind, place))? else { return Ok(None) };
        read::<MailboxRow, _>(row.value(), conversation).map(Some)
    }

    /// The counters of every mailbox with how many of its asks are pending, by conversation.
    pub fn heads(&self) -> Result<Vec<(Head, u64)>, StoreError> {
        let mut pending: BTreeMap<String, u64> = BTreeMap::new();
        for row in self.txn.open_table(SHELVES)?.range(Shelf::Pending.begin()..Shelf::Pending.end())? {
            *pending.entry(row?.0.value().2.to_owned()).or_default() += 1;
        }
        let mut heads = Vec::new();
        self.each_box(|name, row| {
            let count = pending.get(name).copied().unwrap_or_default();
            heads.push((read::<MailboxRow, _>(row, name)?, count));
            Ok(())
        })?;
        Ok(heads)
    }

    /// Every conversation that has a mailbox, also one whose counters cannot be read.
    pub fn mail_conversations(&self) -> Result<Vec<ConversationId>, StoreError> {
        let mut names = Vec::new();
        self.each_box(|name, _| {
            let damaged = |why: String| StoreError::Damaged { row: format!("{} {name}", MailboxRow::TABLE), why };
            names.push(ConversationId::parse(name).map_err(|why| damaged(why.to_string()))?);
            Ok(())
        })?;
        Ok(names)
    }

    /// The counters of every mailbox, by conversation. Its mail is stepped over, not read.
    fn each_box(&self, mut take: impl FnMut(&str, &[u8]) -> Result<(), StoreError>) -> Result<(), StoreError> {
        let (table, (kind, place)) = (self.txn.open_table(BOXES)?, BOX_HEAD);
        let mut after = String::new();
        loop {
            let next = table.range((after.as_str(), u8::MAX, u64::MAX)..)?.next().transpose()?;
            let Some((key, row)) = next else { return Ok(()) };
            let (name, first, at) = key.value();
            if (first, at) == (kind, place) {
                take(name, row.value())?;
            }
            name.clone_into(&mut after);
        }
    }

    /// What a conversation's display shows of accepted answers after the place `after`, oldest
    /// first, each with its place, at most [`LIST_MAX`].
    pub fn display(
        &self,
        conversation: &ConversationId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<(u64, AnswerLine)>, StoreError> {
        let (places, lines) = (self.txn.open_table(BOXES)?, self.txn.open_table(MAIL)?);
        let (name, kind) = (conversation.as_str(), Kind::Line as u8);
        let first = (name, kind, after.saturating_add(1));
        let rows = places.range(first..=(name, kind, u64::MAX))?.take(limit.min(LIST_MAX)).map(|row| {
            let (key, found) = row?;
            let (place, (_, id)) = (key.value().2, shelf::placed(found.value()));
            let line = self::row::<AnswerLineRow, _>(&lines, Part::Line, id)?;
            Ok((place, line.ok_or_else(|| missing::<AnswerLineRow>(Uuid::from_u128(id)))?))
        });
        rows.collect()
    }

    /// The ids of everything of that kind in a conversation, in order.
    fn placed(&self, conversation: &ConversationId, kind: Kind) -> Result<Vec<u128>, StoreError> {
        let (table, name) = (self.txn.open_table(BOXES)?, conversation.as_str());
        let rows = table.range((name, kind as u8, 0)..=(name, kind as u8, u64::MAX))?;
        rows.map(|row| Ok(shelf::placed(row?.1.value()).1)).collect()
    }
}

/// An ask and what became of it: rows beside each other.
pub(super) fn entry(table: &Rows, id: u128) -> Result<Option<Entry>, StoreError> {
    let (mut ask, mut resolution, mut claim) = (None, Resolution::Pending, None);
    let key = Uuid::from_u128(id);
    for row in table.range(Part::Ask.of(id)..=Part::Claim.of(id))? {
        let (part, row) = row?;
        match part.value() {
            part if part == Part::Ask.of(id) => ask = Some(read::<AskRow, Ask>(row.value(), key)?),
            part if part == Part::Answer.of(id) => resolution = read::<ResolutionRow, _>(row.value(), key)?,
            _ => claim = Some(read::<ClaimRow, _>(row.value(), key)?),
        }
    }
    Ok(ask.map(|ask| Entry { ask: Arc::new(ask), resolution, claim }))
}

/// The domain value of a row with that id.
pub(super) fn row<R: Row, D: From<R>>(table: &Rows, part: Part, id: u128) -> Result<Option<D>, StoreError> {
    let Some(found) = table.get(part.of(id))? else { return Ok(None) };
    read::<R, D>(found.value(), Uuid::from_u128(id)).map(Some)
}

/// A row that an index names.
pub(super) fn missing<R: Row>(key: impl std::fmt::Display) -> StoreError {
    StoreError::Damaged { row: format!("{} {key}", R::TABLE), why: "it is missing".to_owned() }
}
