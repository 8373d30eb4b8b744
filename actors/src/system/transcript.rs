//! What a run is given and says, written in coalesced chunks that nobody waits for.

use clankie_domain::handoff::HandoffRecord;
use clankie_domain::ids::HandoffId;
use clankie_domain::session::{Entry, RunEnd, RunOutcome};
use clankie_domain::time::Timestamp;

use crate::store::{Store, Txn};

/// Bytes that are written at once at the latest.
const CHUNK_BYTES: usize = 16 * 1024;
/// Longest detail of one tool line; the whole output went to the agent.
const DETAIL_MAX: usize = 16 * 1024;

/// The lines of one run that are not written yet.
#[derive(Debug)]
pub(crate) struct Transcript {
    handoff: HandoffId,
    store: Store,
    lines: Vec<(Timestamp, Entry)>,
    bytes: usize,
}

impl Transcript {
    /// A transcript of that handoff.
    pub(crate) fn new(handoff: HandoffId, store: Store) -> Self {
        Self { handoff, store, lines: Vec::new(), bytes: 0 }
    }

    /// Notes the request itself.
    pub(crate) fn given(&mut self, record: &HandoffRecord, now: Timestamp) {
        let entry = Entry::Given { delivery: record.delivery.to_string(), text: record.request.clone() };
        self.push(entry, now);
    }

    /// Notes how the run ended.
    pub(crate) fn ended(&mut self, end: &RunEnd, now: Timestamp) {
        let line = match &end.outcome {
            RunOutcome::Replied(_) => "ended with a reply".to_owned(),
            RunOutcome::Failed(code) => format!("failed: {}", code.as_str()),
            RunOutcome::Stopped(why) => format!("stopped: {why:?}"),
        };
        self.push(Entry::Note(line), now);
    }

    /// Adds a line; true when a write must be scheduled because this is the first that waits.
    pub(crate) fn push(&mut self, entry: Entry, now: Timestamp) -> bool {
        let first = self.lines.is_empty();
        let entry = bounded(entry);
        self.bytes += weight(&entry);
        match (self.lines.last_mut(), entry) {
            (Some((_, Entry::Text(before))), Entry::Text(more)) => before.push_str(&more),
            (_, entry) => self.lines.push((now, entry)),
        }
        if self.bytes >= CHUNK_BYTES {
            self.flush(now);
        }
        first
    }

    /// Hands what waits to the writer.
    pub(crate) fn flush(&mut self, now: Timestamp) {
        if self.lines.is_empty() {
            return;
        }
        self.bytes = 0;
        let lines = std::mem::take(&mut self.lines);
        let handoff = self.handoff;
        if let Err(stopped) = self.store.enqueue(Txn::transcript(handoff, now, lines)) {
            tracing::warn!(%handoff, error = %stopped, "transcript lines were not written");
        }
    }
}

fn bounded(entry: Entry) -> Entry {
    match entry {
        Entry::Tool { id, name, phase, detail } => {
            Entry::Tool { id, name, phase, detail: clankie_domain::result::cut(&detail, DETAIL_MAX, "… (cut)") }
        }
        Entry::Given { .. } | Entry::Text(_) | Entry::Steer { .. } | Entry::Note(_) => entry,
    }
}

fn weight(entry: &Entry) -> usize {
    match entry {
        Entry::Given { text, .. } | Entry::Text(text) | Entry::Note(text) => text.len(),
        Entry::Tool { detail, name, .. } => detail.len() + name.len(),
        Entry::Steer { .. } => 0,
    }
}
