//! Asks on the wire: what is asked, how it is answered, and how far an answer has come.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::MailCountsBody;
use crate::owner::wire::ByBody;

/// `input_list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InputList {
    /// Only this conversation's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^(room-[0-9a-f]{24}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$")]
    pub conversation_id: Option<String>,
    /// Only those of this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = "uuid")]
    pub run_id: Option<String>,
    /// Only those of this work item. No ask has one yet, so this finds none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(
        min_length = 1,
        max_length = 128,
        pattern = "^[^\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff]*[^\\s\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff][^\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff]*$"
    )]
    pub work_id: Option<String>,
    /// `pending`, `submitted` or `cancelled`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^(pending|submitted|cancelled)$")]
    pub status: Option<String>,
    /// The `next` of an earlier page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// `input_get`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InputGet {
    /// Whose.
    #[schema(pattern = "^(room-[0-9a-f]{24}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$")]
    pub conversation_id: String,
    /// Which.
    #[schema(format = "uuid")]
    pub request_id: String,
}

/// `input_answer`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InputAnswer {
    /// Whose.
    #[schema(pattern = "^(room-[0-9a-f]{24}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$")]
    pub conversation_id: String,
    /// Which.
    #[schema(format = "uuid")]
    pub request_id: String,
    /// The conversation's life that was read.
    #[schema(format = "uuid")]
    pub incarnation_id: String,
    /// The revision that was read.
    pub expected_revision: u64,
    /// The answer.
    pub answer: AnswerBody,
}

/// `input_cancel`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InputCancel {
    /// Whose.
    #[schema(pattern = "^(room-[0-9a-f]{24}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$")]
    pub conversation_id: String,
    /// Which.
    #[schema(format = "uuid")]
    pub request_id: String,
    /// The conversation's life that was read.
    #[schema(format = "uuid")]
    pub incarnation_id: String,
    /// The revision that was read.
    pub expected_revision: u64,
}

/// `mark_seen`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkSeen {
    /// An ask whose answer is uncertain or came back.
    #[schema(format = "uuid")]
    pub request_id: String,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum AnswerBody {
    /// One of the options.
    Choice {
        /// Which.
        #[schema(format = "uuid")]
        option_id: String,
    },
    /// Words.
    Text {
        /// The words, at most 64 000 bytes.
        text: String,
    },
    /// One list of answers for each question of a worker.
    Worker {
        /// Question id → answers.
        answers: BTreeMap<String, Vec<String>>,
    },
}

/// One option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OptionBody {
    /// What an answer names.
    pub option_id: String,
    /// What is shown.
    pub label: String,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// `approve` or `decline`, when the host minted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}

/// Where an issue can be found. Navigation only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct IssueBody {
    /// Which tracker.
    pub tracker: String,
    /// Its key there.
    pub key: String,
    /// Its address.
    pub url: String,
}

/// A worker's own request id; its type is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum WorkerRequestIdBody {
    /// An integer.
    Number(i64),
    /// Text.
    Text(String),
}

/// A worker's question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WorkerBody {
    /// Which seat.
    pub seat_id: String,
    /// Which session of it.
    pub session_id: String,
    /// Which request.
    pub request_id: WorkerRequestIdBody,
    /// Every question.
    pub questions: Vec<WorkerItemBody>,
}

/// One question of a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WorkerItemBody {
    /// What an answer names.
    pub id: String,
    /// What it asks.
    pub text: String,
    /// What it offers.
    pub options: Vec<String>,
    /// Whether its answer is private.
    pub secret: bool,
}

/// Where an ask came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OriginBody {
    /// The handoff.
    pub handoff_id: String,
    /// Its run.
    pub run_id: String,
    /// Whose words it answers.
    pub actor: String,
    /// How that person is shown.
    pub actor_name: String,
    /// Where.
    pub room: String,
}

/// How far an accepted answer has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ContinuationBody {
    /// The run that it wakes.
    pub run_id: String,
    /// That run's handoff, when there is one.
    pub handoff_id: Option<String>,
    /// `claimed`, `dispatching`, `delivered`, `uncertain` or `returned`.
    pub state: String,
    /// Why it came back.
    pub reason_code: Option<String>,
    /// Whether the owner has taken note of one that was not delivered.
    pub seen: bool,
    /// When it came to stand so.
    pub at: String,
}

/// An answer as it is shown; a secret one is shown as private.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum GivenBody {
    /// One of the options.
    Choice {
        /// Which.
        option_id: String,
        /// Its label.
        label: String,
    },
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// One list of answers for each question of a worker; private ones are empty.
    Worker {
        /// Question id → answers.
        answers: BTreeMap<String, Vec<String>>,
    },
    /// `Private answer`.
    Private,
}

/// One ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct QuestionBody {
    /// Its identity.
    pub request_id: String,
    /// The conversation that waits.
    pub conversation_id: String,
    /// That conversation's life.
    pub incarnation_id: String,
    /// Its conversation's revision, for an answer.
    pub revision: u64,
    /// What it is for.
    pub purpose: String,
    /// `text` or `choice`.
    pub kind: String,
    /// What is asked.
    pub prompt: String,
    /// What can be chosen.
    pub options: Vec<OptionBody>,
    /// Whether words are an answer too.
    pub allow_freeform: bool,
    /// What the agent would do.
    pub recommendation: Option<String>,
    /// What waits for the answer.
    pub waiting_on: Option<String>,
    /// What only the owner can do.
    pub steps: Vec<String>,
    /// Which kind of step it is about.
    pub gate: Option<String>,
    /// Whether its answer is private.
    pub secret: bool,
    /// Where to read more.
    pub issue: Option<IssueBody>,
    /// The worker's question that it carries.
    pub worker_question: Option<WorkerBody>,
    /// The directory of its conversation.
    pub workspace: Option<String>,
    /// What the host writes beside it.
    pub context: Option<String>,
    /// Who vouches for that context.
    pub provenance: Option<String>,
    /// Where it came from.
    pub origin: OriginBody,
    /// When it was published.
    pub created_at: String,
    /// `pending`, `submitted` or `cancelled`.
    pub status: String,
    /// What was answered.
    pub answer: Option<GivenBody>,
    /// When it was resolved.
    pub resolved_at: Option<String>,
    /// By whom.
    pub resolved_by: Option<ByBody>,
    /// Why it was cancelled.
    pub reason: Option<String>,
    /// How far its answer has come.
    pub continuation: Option<ContinuationBody>,
}

/// What `input_get`, `input_answer`, `input_cancel` and `mark_seen` come to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct InputResult {
    /// `ready`, `resolved`, `revision_conflict` or `refused`.
    pub status: String,
    /// Whose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<String>,
    /// The conversation's life now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incarnation_id: Option<String>,
    /// Its revision now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// From where its events can be read on without a gap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub safe_cursor: Option<String>,
    /// The ask as it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<QuestionBody>,
    /// Why it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What to do about it, as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// One page of asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Questions {
    /// Newest first.
    pub questions: Vec<QuestionBody>,
    /// What waits in all of the mailbox.
    pub counts: MailCountsBody,
    /// The cursor of this snapshot.
    pub cursor: String,
    /// What to send as `after` for more; none at the end.
    pub next: Option<String>,
}
