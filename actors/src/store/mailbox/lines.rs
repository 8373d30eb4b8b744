//! What conversations' displays show of accepted answers: one line an answer, the newest kept.

use clankie_domain::message::AnswerLine;
use clankie_domain::retention::LINES_PER_CONVERSATION;
use redb::ReadableTable;

use super::{Kind, Mail, Shelf, shelf};
use crate::store::error::StoreError;
use crate::store::group::{Group, Touched};
use crate::store::records::over;
use crate::store::tables::Part;

/// The first and the last line of a display.
struct Ends {
    first: Mail,
    last: u64,
}

impl Group<'_> {
    /// Shows an answer, once. The oldest line of a display that is full makes room for it.
    pub(super) fn shown(&mut self, line: &AnswerLine, row: &[u8]) -> Result<Touched, StoreError> {
        let request = line.request.0.as_u128();
        if self.tables.mail.get(Part::Line.of(request))?.is_some() {
            return Ok(Touched::Nothing);
        }
        let ends = self.ends(line.conversation.as_str())?;
        // Places begin at one, so that a reader who has seen nothing is at zero.
        let place = ends.as_ref().map_or(self.numbers.line_floor.max(1), |ends| ends.last + 1);
        self.tables.mail.insert(Part::Line.of(request), row)?;
        self.place(&self::line(line.conversation.as_str(), line.at.0, place, request), Shelf::Lines)?;
        if let Some(Ends { first, .. }) = ends.filter(|ends| over(place + 1 - ends.first.seq, LINES_PER_CONVERSATION)) {
            self.drop_line(&first)?;
        }
        Ok(Touched::Something)
    }

    /// Deletes lines from before `cutoff`.
    pub(in crate::store) fn prune_lines(&mut self, cutoff: i64) -> Result<(), StoreError> {
        while self.deletions_left > 0 {
            let Some(oldest) = self.oldest_line()?.filter(|line| line.at < cutoff) else { break };
            self.drop_line(&oldest)?;
            self.deleted();
        }
        Ok(())
    }

    /// Deletes a line. Readers of a display that is empty now still do not miss the next one.
    fn drop_line(&mut self, line: &Mail) -> Result<(), StoreError> {
        self.tables.mail.remove(Part::Line.of(line.id))?;
        self.unplace(line)?;
        if self.ends(&line.conversation)?.is_none() {
            self.numbers.line_floor = self.numbers.line_floor.max(line.seq + 1);
        }
        Ok(())
    }

    fn ends(&self, conversation: &str) -> Result<Option<Ends>, StoreError> {
        let kind = Kind::Line as u8;
        let mut range = self.tables.boxes.range((conversation, kind, 0)..=(conversation, kind, u64::MAX))?;
        let Some((key, found)) = range.next().transpose()? else { return Ok(None) };
        let (seq, (at, id)) = (key.value().2, shelf::placed(found.value()));
        let last = range.next_back().transpose()?.map_or(seq, |(key, _)| key.value().2);
        Ok(Some(Ends { first: line(conversation, at, seq, id), last }))
    }

    fn oldest_line(&self) -> Result<Option<Mail>, StoreError> {
        let oldest = self.tables.shelves.range(Shelf::Lines.begin()..Shelf::Lines.end())?.next_back().transpose()?;
        Ok(oldest.map(|(key, found)| {
            let (_, at, conversation, seq) = key.value();
            line(conversation, !at, !seq, found.value().0)
        }))
    }
}

fn line(conversation: &str, at: i64, seq: u64, id: u128) -> Mail {
    Mail { kind: Kind::Line, conversation: conversation.to_owned(), at, seq, id, run: 0 }
}
