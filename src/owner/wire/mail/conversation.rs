//! Conversations on the wire: what waits in each, and what its display shows.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::owner::wire::{ByBody, RoomMessageBody};

/// `conversation_get`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ConversationGet {
    /// Which.
    #[schema(pattern = "^(room-[0-9a-f]{24}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$")]
    pub conversation_id: String,
}

/// `conversation_tail`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ConversationTail {
    /// Which.
    #[schema(pattern = "^(room-[0-9a-f]{24}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$")]
    pub conversation_id: String,
    /// The `next` of an earlier page; from the beginning when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// How long to wait for a line, in milliseconds, at most 20 000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(maximum = 20_000)]
    pub wait_ms: Option<u64>,
}

/// One conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConversationBody {
    /// Its identity.
    pub conversation_id: String,
    /// Its room.
    pub room: Option<String>,
    /// Its life, once it has had mail.
    pub incarnation_id: Option<String>,
    /// Its mailbox's revision, once it has had mail.
    pub revision: Option<u64>,
    /// Its asks that are pending.
    pub pending: u64,
}

/// Every conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Conversations {
    /// By room.
    pub conversations: Vec<ConversationBody>,
    /// The cursor of this snapshot.
    pub cursor: String,
}

/// One conversation as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConversationFound {
    /// The conversation.
    pub conversation: ConversationBody,
}

/// What a conversation's display shows: `{"kind": …}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DisplayBody {
    /// Said in the room.
    Said {
        /// What.
        message: RoomMessageBody,
    },
    /// An accepted answer, to be shown and nothing else.
    Answered {
        /// The prompt, `You answered:` and the answer.
        text: String,
        /// Its receipt.
        answer_receipt: AnswerReceiptBody,
        /// When.
        at: String,
    },
}

/// Which ask was answered by whom.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AnswerReceiptBody {
    /// The ask.
    pub request_id: String,
    /// Who answered.
    pub responder: ByBody,
}

/// Lines of a conversation's display, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConversationLines {
    /// Oldest first.
    pub lines: Vec<DisplayBody>,
    /// What to send as `after` for the next page.
    pub next: String,
}
