//! Lists of the owner's mailbox over all conversations, newest first.
//!
//! They walk shelves and places and decode only the rows that they give. A list of one run over all
//! conversations walks every kept place of its shelves, which holds no row either.

use std::collections::BTreeMap;
use std::ops::Bound;

use clankie_domain::ask::AskStatus;
use clankie_domain::ids::{ConversationId, RunId};
use clankie_domain::mailbox::Head;
use clankie_domain::update::OwnerUpdate;
use uuid::Uuid;

use super::mailbox::{entry, missing, row};
use super::{LIST_MAX, Snapshot};
use crate::front::mail::{AskPage, AskQuery, AskView, ListPlace, UpdateFilter, UpdatePage, UpdateQuery};
use crate::store::error::StoreError;
use crate::store::mailbox::{Kind, Shelf, shelf};
use crate::store::records::{AskRow, MailboxRow, UpdateRow};
use crate::store::tables::{BOXES, MAIL, Part, SHELVES};

/// Which mail is wanted.
struct Wanted<'q> {
    kind: Kind,
    shelves: Vec<Shelf>,
    conversation: Option<&'q ConversationId>,
    run: Option<RunId>,
    after: Option<&'q ListPlace>,
    most: usize,
}

/// A place in a list: the moment and the place in its conversation with every bit turned, so that
/// the least comes first; and whose row it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Listed {
    at: i64,
    conversation: String,
    seq: u64,
    id: u128,
}

impl Snapshot {
    /// Lists asks.
    pub fn asks(&self, query: &AskQuery) -> Result<AskPage, StoreError> {
        let limit = query.limit.min(LIST_MAX);
        let statuses = query.status.map_or(AskStatus::ALL.to_vec(), |status| vec![status]);
        let mut listed = self.listed(&Wanted {
            kind: Kind::Ask,
            shelves: statuses.into_iter().map(Shelf::from).collect(),
            conversation: query.conversation.as_ref(),
            run: query.run,
            after: query.after.as_ref(),
            // One more than is given, to know whether there is more.
            most: limit + 1,
        })?;
        let more = listed.len() > limit;
        listed.truncate(limit);
        let asks = self.views(&listed)?;
        let next = asks.last().filter(|_| more).map(|last| ListPlace {
            at: last.entry.ask.created_at.0,
            conversation: last.entry.ask.conversation.clone(),
            seq: last.entry.ask.seq,
        });
        Ok(AskPage { asks, next, counts: self.mail_counts()?, last_event: self.last_event()?, epoch: self.epoch })
    }

    /// Lists updates.
    pub fn updates(&self, query: &UpdateQuery) -> Result<UpdatePage, StoreError> {
        let listed = self.listed(&Wanted {
            kind: Kind::Update,
            shelves: shelves(query.show),
            conversation: query.conversation.as_ref(),
            run: None,
            after: None,
            most: query.limit.min(LIST_MAX),
        })?;
        let rows = self.txn.open_table(MAIL)?;
        let updates = listed.into_iter().map(|Listed { id, .. }| {
            let update = row::<UpdateRow, OwnerUpdate>(&rows, Part::Update, id)?;
            update.ok_or_else(|| missing::<UpdateRow>(Uuid::from_u128(id)))
        });
        let updates = updates.collect::<Result<Vec<_>, StoreError>>()?;
        Ok(UpdatePage { updates, counts: self.mail_counts()?, last_event: self.last_event()?, epoch: self.epoch })
    }

    fn views(&self, listed: &[Listed]) -> Result<Vec<AskView>, StoreError> {
        let rows = self.txn.open_table(MAIL)?;
        let mut heads: BTreeMap<ConversationId, Head> = BTreeMap::new();
        let mut views = Vec::with_capacity(listed.len());
        for Listed { id, .. } in listed {
            let entry = entry(&rows, *id)?.ok_or_else(|| missing::<AskRow>(Uuid::from_u128(*id)))?;
            let conversation = &entry.ask.conversation;
            let head = match heads.get(conversation) {
                Some(head) => head.clone(),
                None => self.head(conversation)?.ok_or_else(|| missing::<MailboxRow>(conversation))?,
            };
            heads.entry(conversation.clone()).or_insert_with(|| head.clone());
            views.push(AskView { entry, head });
        }
        Ok(views)
    }

    /// What is wanted, in the order of the list.
    fn listed(&self, wanted: &Wanted<'_>) -> Result<Vec<Listed>, StoreError> {
        let mut listed = match wanted.conversation {
            Some(conversation) => self.listed_of(conversation.as_str(), wanted)?,
            None => self.listed_of_all(wanted)?,
        };
        listed.sort_unstable();
        listed.truncate(wanted.most);
        Ok(listed)
    }

    /// The first of each shelf: the first of all are among them.
    fn listed_of_all(&self, wanted: &Wanted<'_>) -> Result<Vec<Listed>, StoreError> {
        let table = self.txn.open_table(SHELVES)?;
        let mut listed = Vec::new();
        for shelf in &wanted.shelves {
            let after = wanted.after.map(|place| shelf.key(place.at, place.conversation.as_str(), place.seq));
            let from = after.map_or(Bound::Included(shelf.begin()), Bound::Excluded);
            let enough = listed.len() + wanted.most;
            for row in table.range((from, Bound::Excluded(shelf.end())))? {
                if listed.len() == enough {
                    break;
                }
                let (key, found) = row?;
                let ((_, at, conversation, seq), (id, run)) = (key.value(), found.value());
                if wanted.run.is_none_or(|only| only.0.as_u128() == run) {
                    listed.push(Listed { at, conversation: conversation.to_owned(), seq, id });
                }
            }
        }
        Ok(listed)
    }

    /// All of one conversation, which is bounded.
    fn listed_of(&self, conversation: &str, wanted: &Wanted<'_>) -> Result<Vec<Listed>, StoreError> {
        let (places, shelves) = (self.txn.open_table(BOXES)?, self.txn.open_table(SHELVES)?);
        let kind = wanted.kind as u8;
        let after = wanted.after.map(|place| (!place.at, place.conversation.as_str(), !place.seq));
        let mut listed = Vec::new();
        for row in places.range((conversation, kind, 0)..=(conversation, kind, u64::MAX))? {
            let (key, found) = row?;
            let (seq, (at, id)) = (key.value().2, shelf::placed(found.value()));
            if after.is_some_and(|after| (!at, conversation, !seq) <= after) {
                continue;
            }
            for shelf in &wanted.shelves {
                let run = shelves.get(shelf.key(at, conversation, seq))?.map(|found| found.value().1);
                if run.is_some_and(|run| wanted.run.is_none_or(|only| only.0.as_u128() == run)) {
                    listed.push(Listed { at: !at, conversation: conversation.to_owned(), seq: !seq, id });
                }
            }
        }
        Ok(listed)
    }
}

fn shelves(show: UpdateFilter) -> Vec<Shelf> {
    match show {
        UpdateFilter::Open => vec![Shelf::Unread, Shelf::Read],
        UpdateFilter::Unread => vec![Shelf::Unread],
        UpdateFilter::Read => vec![Shelf::Read],
        UpdateFilter::Dismissed => vec![Shelf::Dismissed],
        UpdateFilter::All => vec![Shelf::Unread, Shelf::Read, Shelf::Dismissed],
    }
}
