//! Appending to transcripts: each has a cap of its own, and says itself when it was reached.

use clankie_domain::ids::HandoffId;
use clankie_domain::retention::TRANSCRIPT_PER_HANDOFF;
use clankie_domain::session::Entry;
use clankie_domain::time::Timestamp;
use redb::ReadableTable;

use super::error::StoreError;
use super::group::{Group, Touched};
use super::records::{HeadRow, LineRow, decode, encode};

impl Group<'_> {
    /// Appends lines. What does not fit is counted, and the last line says how much that is.
    pub(super) fn append(&mut self, handoff: HandoffId, at: Timestamp, lines: &[Vec<u8>]) -> Result<(), StoreError> {
        let id = handoff.0.as_u128();
        if lines.is_empty() || self.tables.handoffs.get(id)?.is_none() {
            return Ok(());
        }
        let mut head = match self.tables.transcript_heads.get(id)? {
            Some(found) => decode(found.value(), handoff)?,
            None => HeadRow::default(),
        };
        let dropped = head.dropped_lines;
        for line in lines {
            self.line(id, &mut head, line)?;
        }
        if head.dropped_lines > dropped {
            self.say_what_was_dropped(id, &mut head, at, dropped)?;
        }
        self.tables.transcript_heads.insert(id, encode(&head)?.as_slice())?;
        self.touched = Touched::Something;
        Ok(())
    }

    fn line(&mut self, id: u128, head: &mut HeadRow, line: &[u8]) -> Result<(), StoreError> {
        let size = size(line);
        if head.dropped_lines > 0 || head.bytes + size > TRANSCRIPT_PER_HANDOFF {
            head.dropped_lines += 1;
            head.dropped_bytes += size;
            return Ok(());
        }
        self.tables.transcripts.insert((id, head.next), line)?;
        head.next += 1;
        head.bytes += size;
        self.numbers.transcript_bytes += size;
        Ok(())
    }

    /// Writes the note at the end, over the one that an earlier commit wrote there.
    fn say_what_was_dropped(
        &mut self,
        id: u128,
        head: &mut HeadRow,
        at: Timestamp,
        before: u64,
    ) -> Result<(), StoreError> {
        if before == 0 {
            head.next += 1;
        }
        let (lines, bytes) = (head.dropped_lines, head.dropped_bytes);
        let text = format!("This transcript is full: {lines} more lines ({bytes} bytes) were dropped.");
        let note = encode(&LineRow::new(at, Entry::Note(text)))?;
        let replaced = self.tables.transcripts.insert((id, head.next - 1), note.as_slice())?;
        let replaced = replaced.map_or(0, |old| size(old.value()));
        head.bytes = head.bytes - replaced + size(&note);
        self.numbers.transcript_bytes = self.numbers.transcript_bytes - replaced + size(&note);
        Ok(())
    }
}

fn size(line: &[u8]) -> u64 {
    u64::try_from(line.len()).unwrap_or(u64::MAX)
}
