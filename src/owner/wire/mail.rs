//! The owner's mailbox on the wire: asks, answers, updates and conversations.
//!
//! A refusal is a value with its reason code and HTTP status 200. Every list carries the cursor of
//! the snapshot that it was read from.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

mod ask;
mod conversation;
mod update;

pub use ask::{
    AnswerBody, ContinuationBody, GivenBody, InputAnswer, InputCancel, InputGet, InputList, InputResult, IssueBody,
    MarkSeen, OptionBody, OriginBody, QuestionBody, Questions, WorkerBody, WorkerItemBody, WorkerRequestIdBody,
};
pub use conversation::{
    AnswerReceiptBody, ConversationBody, ConversationFound, ConversationGet, ConversationLines, ConversationTail,
    Conversations, DisplayBody,
};
pub use update::{
    LinkBody, MailMediaBody, OwnerUpdateBody, OwnerUpdateFound, OwnerUpdateId, OwnerUpdateList, OwnerUpdates,
    UpdateSourceBody,
};

/// What waits for the owner.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MailCountsBody {
    /// Asks that are pending.
    pub asks: u64,
    /// Updates that are unread.
    pub updates: u64,
}
