//! What a session was given, said and did, in order.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One page of a transcript, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Transcript {
    /// Oldest first.
    pub entries: Vec<TranscriptEntry>,
    /// What to send as `after` for the next page.
    pub next: u64,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TranscriptEntry {
    /// Its place, from one.
    pub seq: u64,
    /// When.
    pub at: String,
    /// What, side by side with the rest.
    #[serde(flatten)]
    pub entry: EntryBody,
}

/// What a line says: `{"kind": …}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EntryBody {
    /// Words that the session was given.
    Given {
        /// Whose.
        delivery_id: String,
        /// The words.
        text: String,
    },
    /// What the agent said.
    Text {
        /// The words.
        text: String,
    },
    /// A tool call began or ended.
    Tool {
        /// The call.
        call_id: String,
        /// The tool.
        name: String,
        /// `began` or `ended`.
        phase: String,
        /// Arguments or output.
        detail: String,
    },
    /// What became of a steer.
    Steer {
        /// The joiner.
        handoff_id: String,
        /// `queued`, `taken`, `read` or `unread`.
        mark: String,
    },
    /// The service's own remark.
    Note {
        /// The words.
        text: String,
    },
}
