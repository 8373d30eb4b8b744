//! The typed result of one delivery.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How a delivery ended: `{"kind": …}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ResultBody {
    /// The agent replied.
    Settled {
        /// The words.
        text: String,
        /// The files, by reference.
        media: Vec<MediaBody>,
    },
    /// The agent chose to say nothing.
    Silent,
    /// Another handoff of the same speaker read it.
    Absorbed {
        /// The delivery whose reply answers this one.
        reply_delivery_id: String,
        /// The handoff that read it.
        joined_handoff_id: String,
    },
    /// The agent waits for the owner.
    WaitingUser {
        /// What it waits for.
        prompt: String,
        /// Whether only the owner may decide.
        approval_required: bool,
    },
    /// It failed.
    Failed {
        /// A stable code such as `interrupted`.
        code: String,
    },
    /// Somebody cancelled it.
    Cancelled {
        /// Who.
        by: ByBody,
    },
}

/// A file by reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MediaBody {
    /// Where it is: a web address, or the service's own name for a file that it keeps.
    pub url: String,
    /// What it is.
    pub mime_type: String,
    /// The name of a file that the service keeps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

/// Who did something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ByBody {
    /// `operator`, `device`, `service` or `speaker`.
    pub kind: String,
    /// Which one.
    pub id: String,
}
