//! What is said in rooms, and how a person of a local room says something.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// `POST /rooms/v1/{room}/messages`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct SayBody {
    /// The sender's own id for it; a repeat under the same id is the same message.
    #[schema(
        min_length = 1,
        max_length = 512,
        pattern = "^[^\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff]*[^\\s\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff][^\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff]*$"
    )]
    pub delivery_id: String,
    /// The words.
    #[schema(min_length = 1, pattern = "\\S")]
    pub text: String,
}

/// One thing that was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RoomMessageBody {
    /// Its place in the room.
    pub seq: u64,
    /// Its own id, unique in the room.
    pub id: String,
    /// `person`, `reply`, `update`, `reaction` or `notice`.
    pub kind: String,
    /// The full id of the person, for `person`.
    pub author: Option<String>,
    /// How the author is shown.
    pub author_name: String,
    /// The words, or the name of the reaction.
    pub text: String,
    /// The delivery that it answers.
    pub reply_to: Option<String>,
    /// The handoff that it belongs to.
    pub handoff_id: String,
    /// When, RFC 3339.
    pub at: String,
}

/// One page of what was said, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RoomMessages {
    /// The full id of the room.
    pub room: String,
    /// Oldest first.
    pub messages: Vec<RoomMessageBody>,
    /// What to send as `after` for the next page.
    pub next: u64,
}
