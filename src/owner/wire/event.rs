//! What `GET /operator/v1/events` says: one shape for each name of an event.
//!
//! An event is a hint; readers read again. Only a new ask carries its content, for old clients,
//! and those are strict: its fields and those of `input_resolved` are a contract.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::OptionBody;

/// `handoff`: a record moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HandoffEvent {
    /// Which.
    pub handoff_id: String,
    /// Where.
    pub room: String,
    /// Its state now.
    pub state: String,
    /// Its revision now.
    pub revision: u64,
}

/// `message`: something was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MessageEvent {
    /// Where.
    pub room: String,
}

/// `input_requested`: an ask was published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct InputRequestedEvent {
    /// Whose.
    pub conversation_id: String,
    /// Which.
    pub request_id: String,
    /// That conversation's life.
    pub incarnation_id: String,
    /// `text` or `choice`.
    pub kind: String,
    /// What is asked.
    pub prompt: String,
    /// What can be chosen.
    pub options: Vec<OptionBody>,
    /// When.
    pub created_at: String,
    /// What it is for, unless it is a preference; then it says nothing more.
    #[serde(default, flatten, skip_serializing_if = "Option::is_none")]
    #[schema(ignore)]
    pub beyond_preference: Option<InputPurposeBody>,
}

/// What an ask says beside its question, side by side with the rest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct InputPurposeBody {
    /// What it is for.
    pub purpose: String,
    /// What waits for the answer.
    pub waiting_on: Option<String>,
    /// What the agent would do.
    pub recommendation: Option<String>,
    /// What only the owner can do.
    pub steps: Vec<String>,
}

/// `input_resolved`: an ask was answered or cancelled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct InputResolvedEvent {
    /// Whose.
    pub conversation_id: String,
    /// Which.
    pub request_id: String,
    /// `submitted` or `cancelled`.
    pub outcome: String,
}

/// `input_claim`: an accepted answer came further on its way, or the owner took note of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct InputClaimEvent {
    /// Whose.
    pub conversation_id: String,
    /// Which ask's.
    pub request_id: String,
    /// `claimed`, `dispatching`, `delivered`, `uncertain` or `returned`.
    pub state: String,
}

/// `owner_update`: an update came, was read or was put away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OwnerUpdateEvent {
    /// Where it came from.
    pub conversation_id: String,
    /// Which.
    pub id: String,
    /// `unread`, `read` or `dismissed`.
    pub state: String,
}

/// `reset`: events are missing before this one. The reader reads everything anew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ResetEvent {
    /// From where it goes on.
    pub cursor: String,
}

/// One event by its name: `event:` and `data:` of the stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "event", content = "data", rename_all = "snake_case")]
pub enum FeedEvent {
    /// A record moved.
    Handoff(HandoffEvent),
    /// Something was said.
    Message(MessageEvent),
    /// An ask was published.
    InputRequested(InputRequestedEvent),
    /// An ask was answered or cancelled.
    InputResolved(InputResolvedEvent),
    /// An accepted answer came further.
    InputClaim(InputClaimEvent),
    /// An update came or moved.
    OwnerUpdate(OwnerUpdateEvent),
    /// Events are missing.
    Reset(ResetEvent),
}
