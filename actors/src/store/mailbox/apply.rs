//! Applying changes of the mailbox: rows, shelves, places and the counts of what waits.

use clankie_domain::ids::{ConversationId, RequestId};
use clankie_domain::time::Timestamp;
use redb::{Key, ReadableTable, Table};

use super::{Hold, Mail, MailOp, Rows, Shelf, Source};
use crate::store::error::StoreError;
use crate::store::group::{Group, Touched};
use crate::store::records::{MailboxRow, readable};
use crate::store::tables::{BOX_HEAD, Part};

impl Group<'_> {
    /// Applies one change.
    pub(in crate::store) fn mail(&mut self, op: &MailOp) -> Result<(), StoreError> {
        let touched = match op {
            MailOp::Head { conversation, row } => put(&mut self.tables.boxes, head(conversation), row)?,
            MailOp::Asked { mail, source, rows } => self.asked(mail, source, rows)?,
            MailOp::Resolved { mail, source, shelf, rows } => self.resolved(mail, source, *shelf, rows)?,
            MailOp::AskGone { mail, source } => self.ask_gone(mail, source)?,
            MailOp::Claim { request, hold, rows } => self.claim(*request, *hold, rows)?,
            MailOp::Update { mail, shelf, rows } => self.update(mail, *shelf, rows)?,
            MailOp::UpdateGone { mail } => self.update_gone(mail)?,
            MailOp::Shown { line, row } => self.shown(line, row)?,
            MailOp::GateUsed { request, at } => self.gate_used(*request, *at)?,
            MailOp::Nothing => Touched::Nothing,
        };
        if touched == Touched::Something {
            self.touched = Touched::Something;
        }
        Ok(())
    }

    /// Whether the mailbox has that version. One that cannot be read has none.
    pub(in crate::store) fn mailbox_has(
        &self,
        conversation: &ConversationId,
        version: u64,
    ) -> Result<bool, StoreError> {
        let Some(found) = self.tables.boxes.get(head(conversation))? else { return Ok(version == 0) };
        let head = readable::<MailboxRow>(found.value(), conversation);
        Ok(head.is_some_and(|head| head.version == version))
    }

    /// An ask is written once, whatever becomes of it.
    fn asked(&mut self, mail: &Mail, source: &Source, rows: &Rows) -> Result<Touched, StoreError> {
        if self.tables.mail.get(Part::Ask.of(mail.id))?.is_some() {
            return Ok(Touched::Nothing);
        }
        self.tables.mail.insert(Part::Ask.of(mail.id), rows.row.as_slice())?;
        self.place(mail, Shelf::Pending)?;
        self.hold(mail.id, source)?;
        self.event(&rows.event)?;
        Ok(Touched::Something)
    }

    /// Nothing becomes of an ask that is not kept.
    fn resolved(&mut self, mail: &Mail, source: &Source, to: Shelf, rows: &Rows) -> Result<Touched, StoreError> {
        let Some(from) = self.shelf_of(mail)? else { return Ok(Touched::Nothing) };
        if put(&mut self.tables.mail, Part::Answer.of(mail.id), &rows.row)? == Touched::Nothing {
            return Ok(Touched::Nothing);
        }
        self.reshelve(mail, Some(from), Some(to))?;
        // An answer goes on keeping the source until its claim is settled.
        if to == Shelf::Cancelled {
            self.release(mail.id, source)?;
        }
        self.event(&rows.event)?;
        Ok(Touched::Something)
    }

    fn ask_gone(&mut self, mail: &Mail, source: &Source) -> Result<Touched, StoreError> {
        if self.tables.mail.remove(Part::Ask.of(mail.id))?.is_none() {
            return Ok(Touched::Nothing);
        }
        for part in [Part::Answer, Part::Claim, Part::Gate] {
            self.tables.mail.remove(part.of(mail.id))?;
        }
        self.unplace(mail)?;
        self.release(mail.id, source)?;
        Ok(Touched::Something)
    }

    fn claim(&mut self, request: RequestId, hold: Hold, rows: &Rows) -> Result<Touched, StoreError> {
        let request = request.0.as_u128();
        if put(&mut self.tables.mail, Part::Claim.of(request), &rows.row)? == Touched::Nothing {
            return Ok(Touched::Nothing);
        }
        match hold {
            Hold::Keep => {}
            Hold::Release => self.release_source_of(request)?,
        }
        self.event(&rows.event)?;
        Ok(Touched::Something)
    }

    fn update(&mut self, mail: &Mail, to: Shelf, rows: &Rows) -> Result<Touched, StoreError> {
        if put(&mut self.tables.mail, Part::Update.of(mail.id), &rows.row)? == Touched::Nothing {
            return Ok(Touched::Nothing);
        }
        match self.shelf_of(mail)? {
            Some(from) => self.reshelve(mail, Some(from), Some(to))?,
            None => self.place(mail, to)?,
        }
        self.event(&rows.event)?;
        Ok(Touched::Something)
    }

    fn update_gone(&mut self, mail: &Mail) -> Result<Touched, StoreError> {
        if self.tables.mail.remove(Part::Update.of(mail.id))?.is_none() {
            return Ok(Touched::Nothing);
        }
        self.unplace(mail)?;
        Ok(Touched::Something)
    }

    /// The first use stands.
    fn gate_used(&mut self, request: RequestId, at: Timestamp) -> Result<Touched, StoreError> {
        let gate = Part::Gate.of(request.0.as_u128());
        if self.tables.mail.get(gate)?.is_some() {
            return Ok(Touched::Nothing);
        }
        self.tables.mail.insert(gate, at.0.to_be_bytes().as_slice())?;
        Ok(Touched::Something)
    }

    /// Gives new mail its place and its shelf.
    pub(super) fn place(&mut self, mail: &Mail, on: Shelf) -> Result<(), StoreError> {
        self.tables.boxes.insert(mail.place(), mail.placed().as_slice())?;
        self.reshelve(mail, None, Some(on))
    }

    /// Takes mail from its place and its shelf.
    pub(super) fn unplace(&mut self, mail: &Mail) -> Result<(), StoreError> {
        self.tables.boxes.remove(mail.place())?;
        let from = self.shelf_of(mail)?;
        self.reshelve(mail, from, None)
    }

    fn shelf_of(&self, mail: &Mail) -> Result<Option<Shelf>, StoreError> {
        for shelf in mail.kind.shelves() {
            if self.tables.shelves.get(mail.on(*shelf))?.is_some() {
                return Ok(Some(*shelf));
            }
        }
        Ok(None)
    }

    fn reshelve(&mut self, mail: &Mail, from: Option<Shelf>, to: Option<Shelf>) -> Result<(), StoreError> {
        if from == to {
            return Ok(());
        }
        if let Some(from) = from {
            self.tables.shelves.remove(mail.on(from))?;
            self.waiting(from, |count| count.saturating_sub(1));
        }
        if let Some(to) = to {
            self.tables.shelves.insert(mail.on(to), (mail.id, mail.run))?;
            self.waiting(to, |count| count + 1);
        }
        Ok(())
    }

    /// Moves the count of what waits on that shelf.
    fn waiting(&mut self, shelf: Shelf, count: impl Fn(u64) -> u64) {
        match shelf {
            Shelf::Pending => self.numbers.pending_asks = count(self.numbers.pending_asks),
            Shelf::Unread => self.numbers.unread_updates = count(self.numbers.unread_updates),
            Shelf::Submitted | Shelf::Cancelled | Shelf::Read | Shelf::Dismissed | Shelf::Lines => {}
        }
    }
}

/// Where a conversation's counters stand.
fn head(conversation: &ConversationId) -> (&str, u8, u64) {
    let (kind, place) = BOX_HEAD;
    (conversation.as_str(), kind, place)
}

/// Writes a row, unless it stands there already.
fn put<'k, K: Key + 'static>(
    table: &mut Table<'_, K, &'static [u8]>,
    key: K::SelfType<'k>,
    row: &[u8],
) -> Result<Touched, StoreError> {
    if table.get(&key)?.is_some_and(|old| old.value() == row) {
        return Ok(Touched::Nothing);
    }
    table.insert(&key, row)?;
    Ok(Touched::Something)
}
