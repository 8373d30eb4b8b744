//! Stored transcripts: one row a line, and one head per handoff that counts them.

use clankie_domain::ids::HandoffId;
use clankie_domain::session::{Entry, ToolPhase};
use clankie_domain::steering::Mark;
use clankie_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Row, mirror_enum};

mirror_enum! {
    PhaseRow = ToolPhase { Began, Ended }
}

mirror_enum! {
    MarkRow = Mark { Queued, Taken, Read, Unread }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum EntryRow {
    Given { delivery: String, text: String },
    Text(String),
    Tool { id: String, name: String, phase: PhaseRow, detail: String },
    Steer { handoff: HandoffId, mark: MarkRow },
    Note(String),
}

impl From<Entry> for EntryRow {
    fn from(from: Entry) -> Self {
        match from {
            Entry::Given { delivery, text } => Self::Given { delivery, text },
            Entry::Text(text) => Self::Text(text),
            Entry::Tool { id, name, phase, detail } => Self::Tool { id, name, phase: phase.into(), detail },
            Entry::Steer { handoff, mark } => Self::Steer { handoff, mark: mark.into() },
            Entry::Note(text) => Self::Note(text),
        }
    }
}

impl From<EntryRow> for Entry {
    fn from(from: EntryRow) -> Self {
        match from {
            EntryRow::Given { delivery, text } => Self::Given { delivery, text },
            EntryRow::Text(text) => Self::Text(text),
            EntryRow::Tool { id, name, phase, detail } => Self::Tool { id, name, phase: phase.into(), detail },
            EntryRow::Steer { handoff, mark } => Self::Steer { handoff, mark: mark.into() },
            EntryRow::Note(text) => Self::Note(text),
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::store) struct LineRow {
    at: Timestamp,
    entry: EntryRow,
}

impl Row for LineRow {
    const TABLE: &'static str = "transcripts";
    const VERSION: u8 = 1;
}

impl LineRow {
    pub(in crate::store) fn new(at: Timestamp, entry: Entry) -> Self {
        Self { at, entry: entry.into() }
    }

    pub(in crate::store) fn into_parts(self) -> (Timestamp, Entry) {
        (self.at, self.entry.into())
    }
}

/// What is known of one handoff's transcript without reading it. When lines were dropped, the
/// last kept line, `next - 1`, is the note that says so.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::store) struct HeadRow {
    /// The place of the next line.
    pub(in crate::store) next: u64,
    /// Bytes of the lines that are kept.
    pub(in crate::store) bytes: u64,
    /// Lines that found it full.
    pub(in crate::store) dropped_lines: u64,
    /// Their bytes.
    pub(in crate::store) dropped_bytes: u64,
}

impl Row for HeadRow {
    const TABLE: &'static str = "transcript_heads";
    const VERSION: u8 = 1;
}

impl Default for HeadRow {
    fn default() -> Self {
        Self { next: 1, bytes: 0, dropped_lines: 0, dropped_bytes: 0 }
    }
}
