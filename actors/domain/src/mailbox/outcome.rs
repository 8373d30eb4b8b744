//! What a decision on the mailbox comes to, and why a caller got nothing.

use super::{MailChange, Mailbox};
use crate::ask::DraftRefused;
use crate::autonomy::Category;
use crate::ids::{RequestId, UpdateId};

/// Why an owner's call changed nothing. Reason codes of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MailRefusal {
    /// The caller does not hold the authority now.
    OwnerUnavailable,
    /// There is no such conversation.
    UnknownConversation,
    /// The conversation's mailbox cannot be read; it is never taken for empty.
    StateUnavailable,
    /// There is no such ask in this life of the conversation.
    StaleRequest,
    /// It was resolved otherwise.
    ConflictingAnswer,
    /// A native driver owns the conversation.
    NativeDriverActive,
    /// The answer does not fit the ask.
    InvalidAnswer,
    /// The answer does not name every question of the worker exactly once.
    InvalidWorkerAnswer,
    /// An answer to the worker is crossing.
    AnswerInProgress,
    /// The worker's question ended elsewhere; its ask was cancelled just now.
    WorkerQuestionResolved,
    /// The preference's workspace or issuer changed; it was cancelled just now.
    OwnerContextLost,
    /// There is no such update.
    UnknownUpdate,
    /// Nothing of it is to be marked as seen.
    NothingToSee,
    /// Too much happens to the conversation's mailbox at once. Said by the host: no mailbox decides it.
    Busy,
}

impl MailRefusal {
    /// The reason as the contract writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OwnerUnavailable => "question_owner_unavailable",
            Self::UnknownConversation => "unknown_conversation",
            Self::StateUnavailable => "question_state_unavailable",
            Self::StaleRequest => "stale_request",
            Self::ConflictingAnswer => "conflicting_answer",
            Self::NativeDriverActive => "native_driver_active",
            Self::InvalidAnswer => "invalid_answer",
            Self::InvalidWorkerAnswer => "invalid_worker_answer",
            Self::AnswerInProgress => "answer_in_progress",
            Self::WorkerQuestionResolved => "worker_question_resolved",
            Self::OwnerContextLost => "owner_context_lost",
            Self::UnknownUpdate => "unknown_update",
            Self::NothingToSee => "nothing_to_see",
            Self::Busy => "busy",
        }
    }
}

/// Why nothing was published. The agent is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublishRefused {
    /// The draft is no ask.
    Draft(DraftRefused),
    /// Preferences are for owner conversations.
    PreferenceElsewhere,
    /// Only the host raises that purpose.
    HostOnly,
    /// The owner's settings delegate that category: it needs no ask.
    NotReserved(Category),
    /// The conversation's mailbox is full; nothing is evicted.
    Capacity,
    /// A native driver owns the conversation.
    NativeDriverActive,
    /// That publication was another draft.
    PublicationConflict,
}

/// What a decision comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MailOutcome {
    /// An ask was published.
    Asked(RequestId),
    /// It was published before, and what became of it is this.
    AlreadyAsked(RequestId),
    /// Nothing was published.
    NotPublished(PublishRefused),
    /// The answer is accepted once its changes are durable together with what it wakes.
    Accepted(RequestId),
    /// Resolved as the caller wanted, now or before.
    Resolved(RequestId),
    /// What the caller had read is not how it stands.
    RevisionConflict(RequestId),
    /// Nothing changed for the caller, though the mailbox may have: see the changes.
    Refused(MailRefusal, Option<RequestId>),
    /// An update was published.
    Mailed(UpdateId),
    /// It was published before.
    AlreadyMailed(UpdateId),
    /// An update stands so.
    Updated(UpdateId),
    /// Pending asks were cancelled.
    CancelledAll(usize),
}

/// What is next, and what must be durable first.
#[derive(Debug, Clone)]
pub struct MailDecision {
    /// The mailbox after it.
    pub next: Mailbox,
    /// One transaction; none when empty.
    pub changes: Vec<MailChange>,
    /// What is told once that is durable.
    pub outcome: MailOutcome,
}

impl MailDecision {
    /// The ask whose answer is accepted with this decision.
    pub fn accepted(&self) -> Option<RequestId> {
        match self.outcome {
            MailOutcome::Accepted(request) => Some(request),
            MailOutcome::Asked(_)
            | MailOutcome::AlreadyAsked(_)
            | MailOutcome::NotPublished(_)
            | MailOutcome::Resolved(_)
            | MailOutcome::RevisionConflict(_)
            | MailOutcome::Refused(..)
            | MailOutcome::Mailed(_)
            | MailOutcome::AlreadyMailed(_)
            | MailOutcome::Updated(_)
            | MailOutcome::CancelledAll(_) => None,
        }
    }
}
