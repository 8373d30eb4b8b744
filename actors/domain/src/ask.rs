//! One ask: what an agent wants the owner to decide, as it was published.
//!
//! An ask is immutable; only its [`Resolution`] is added, once. The host mints its identities and
//! binds its source; a draft can name neither.

use crate::answer::{Answer, StoredAnswer};
use crate::autonomy::Category;
use crate::grant::{Grant, Transport};
use crate::ids::{
    ActorId, ConversationId, DeliveryId, HandoffId, IncarnationId, OptionId, RequestId, RoomId, RunId, TokenId,
};
use crate::mutant::{self, Mutant};
use crate::result::By;
use crate::time::Timestamp;

pub(crate) mod bounds;
mod draft;
mod identity;
mod size;

pub use draft::{Draft, DraftRefused};
pub(crate) use draft::{cut_prompt, issue_fits};
pub(crate) use identity::repeats;
pub(crate) use size::json_text;

/// Longest prompt, recommendation, `waiting_on` and step, in characters.
pub const TEXT_MAX: usize = 2_000;
/// Longest option label, in characters.
pub const LABEL_MAX: usize = 200;
/// Longest option description, in characters.
pub const DESCRIPTION_MAX: usize = 500;
/// Fewest options of a choice: one is no choice.
pub const OPTIONS_MIN: usize = 2;
/// Most options of a choice: what a small screen shows at once.
pub const OPTIONS_MAX: usize = 8;
/// Most steps of an owner-only action.
pub const STEPS_MAX: usize = 20;
/// Longest seat id and longest worker request id, in characters.
pub const SEAT_ID_MAX: usize = 512;
/// Most questions of one worker request.
pub const WORKER_QUESTIONS_MAX: usize = 16;
/// Most options of one worker question.
pub const WORKER_OPTIONS_MAX: usize = 32;
/// Longest context that the host writes beside an ask, in bytes.
pub const CONTEXT_MAX: usize = 6_144;

/// What an ask is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Purpose {
    /// What the owner would like; owner conversations only.
    Preference,
    /// A choice among options, with a recommendation.
    Decision,
    /// A reserved step.
    Approval,
    /// Exact steps that only the owner can do.
    OwnerAction,
    /// A reserved step of a run, raised by the host.
    Gate,
    /// Whether landed work is right, raised by the host.
    Verify,
    /// A question of a fleet run, raised by the host.
    RunQuestion,
}

impl Purpose {
    /// Every purpose.
    pub const ALL: [Self; 7] = [
        Self::Preference,
        Self::Decision,
        Self::Approval,
        Self::OwnerAction,
        Self::Gate,
        Self::Verify,
        Self::RunQuestion,
    ];

    /// The purpose as the contract writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Preference => "preference",
            Self::Decision => "decision",
            Self::Approval => "approval",
            Self::OwnerAction => "owner_action",
            Self::Gate => "gate",
            Self::Verify => "verify",
            Self::RunQuestion => "run_question",
        }
    }

    /// Reads a name back.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|purpose| purpose.as_str() == name)
    }

    /// Whether only the host raises it, never a draft of an agent.
    pub fn is_host_only(self) -> bool {
        match self {
            Self::Gate | Self::Verify | Self::RunQuestion => true,
            Self::Preference | Self::Decision | Self::Approval | Self::OwnerAction => false,
        }
    }

    /// Whether the host mints exactly Approve and Decline for it.
    pub fn is_approval(self) -> bool {
        match self {
            Self::Approval | Self::Gate => true,
            Self::Preference | Self::Decision | Self::OwnerAction | Self::Verify | Self::RunQuestion => false,
        }
    }
}

/// How an ask is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AskKind {
    /// By words.
    Text,
    /// By one of its options.
    Choice,
}

/// Whether words are an answer too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Freeform {
    /// Only an option is.
    Refused,
    /// They are.
    Allowed,
}

/// Whether an answer is kept sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Secrecy {
    /// It is shown.
    Open,
    /// Its bytes are readable nowhere but in its session (invariant M7).
    Secret,
}

/// What choosing an option means to the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Nothing: it is the agent's own option.
    Plain,
    /// It opens the category of the ask.
    Approve,
    /// It keeps the category closed.
    Decline,
}

/// One option.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AskOption {
    /// Its identity, minted by the host.
    pub id: OptionId,
    /// What is shown.
    pub label: String,
    /// More about it.
    pub description: Option<String>,
    /// What choosing it means.
    pub role: Role,
}

/// Where an issue can be found. Navigation only, never authority.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IssueRef {
    /// Which tracker.
    pub tracker: String,
    /// Its key there.
    pub key: String,
    /// Its address.
    pub url: String,
}

/// A worker's own request id; its type is kept.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WorkerRequestId {
    /// Text.
    Text(String),
    /// An integer.
    Number(i64),
}

/// One question of a worker.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkerItem {
    /// Its id in the worker's request.
    pub id: String,
    /// What it asks.
    pub text: String,
    /// What it offers.
    pub options: Vec<String>,
    /// Whether its answer is kept sealed.
    pub secrecy: Secrecy,
}

/// A question that the host observed at a native worker.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkerQuestion {
    /// Which seat.
    pub seat_id: String,
    /// Which session of it.
    pub session_id: String,
    /// Which request of that session.
    pub request_id: WorkerRequestId,
    /// Every question of it.
    pub questions: Vec<WorkerItem>,
}

/// Where an ask came from, bound by the host: what its answer wakes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    /// The handoff.
    pub handoff: HandoffId,
    /// Its run.
    pub run: RunId,
    /// Whose words it answers.
    pub actor: ActorId,
    /// How that person is shown.
    pub actor_name: String,
    /// Where.
    pub room: RoomId,
    /// Which delivery: what the answer's reply quotes.
    pub delivery: DeliveryId,
    /// How it came; a continuation keeps it.
    pub transport: Transport,
    /// The guild of the room, when there is one.
    pub guild: Option<String>,
    /// What it might do; a continuation never gets more.
    pub grant: Grant,
}

/// One ask, as it was published.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ask {
    /// Its identity.
    pub request: RequestId,
    /// The conversation that waits.
    pub conversation: ConversationId,
    /// That conversation's life when it was asked.
    pub incarnation: IncarnationId,
    /// Its place in the conversation, from zero.
    pub seq: u64,
    /// What it is for.
    pub purpose: Purpose,
    /// How it is answered.
    pub kind: AskKind,
    /// What is asked.
    pub prompt: String,
    /// What can be chosen.
    pub options: Vec<AskOption>,
    /// Whether words are an answer too.
    pub freeform: Freeform,
    /// What the agent would do.
    pub recommendation: Option<String>,
    /// What waits for the answer.
    pub waiting_on: Option<String>,
    /// What only the owner can do.
    pub steps: Vec<String>,
    /// Which kind of step it is about.
    pub gate: Option<Category>,
    /// Whether its answer is kept sealed.
    pub secrecy: Secrecy,
    /// Where to read more.
    pub issue: Option<IssueRef>,
    /// The worker's question that it carries.
    pub worker: Option<WorkerQuestion>,
    /// The canonical directory of the conversation, when it has one.
    pub workspace: Option<String>,
    /// What the host writes beside it.
    pub context: Option<String>,
    /// Who vouches for that context.
    pub provenance: Option<String>,
    /// Where it came from.
    pub origin: Origin,
    /// When it was published.
    pub created_at: Timestamp,
}

impl Ask {
    /// Whether its answer must be sealed: it is secret, or one of its worker's questions is (invariant M7).
    pub fn keeps_secret(&self) -> bool {
        let mut questions = self.worker.iter().flat_map(|worker| &worker.questions);
        self.secrecy == Secrecy::Secret || questions.any(|question| question.secrecy == Secrecy::Secret)
    }
}

/// Why an ask was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CancelReason {
    /// The owner did.
    OwnerCancelled,
    /// Its workspace or its issuer changed.
    OwnerContextLost,
    /// Its conversation was reset.
    ContextReset,
    /// Its conversation was closed.
    ConversationClosed,
    /// The service was started again.
    ServiceRestarted,
    /// The worker's question ended elsewhere.
    WorkerQuestionResolved,
    /// It was resumed elsewhere.
    ResumedElsewhere,
    /// The handoff that raised it was cancelled.
    HandoffCancelled,
}

impl CancelReason {
    /// Every reason.
    pub const ALL: [Self; 8] = [
        Self::OwnerCancelled,
        Self::OwnerContextLost,
        Self::ContextReset,
        Self::ConversationClosed,
        Self::ServiceRestarted,
        Self::WorkerQuestionResolved,
        Self::ResumedElsewhere,
        Self::HandoffCancelled,
    ];

    /// The reason as the contract writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OwnerCancelled => "owner_cancelled",
            Self::OwnerContextLost => "owner_context_lost",
            Self::ContextReset => "context_reset",
            Self::ConversationClosed => "conversation_closed",
            Self::ServiceRestarted => "service_restarted",
            Self::WorkerQuestionResolved => "worker_question_resolved",
            Self::ResumedElsewhere => "resumed_elsewhere",
            Self::HandoffCancelled => "handoff_cancelled",
        }
    }
}

/// What became of an ask.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resolution {
    /// Nothing yet. Silence, a timeout or a restart never answers (invariant M6).
    Pending,
    /// It was answered.
    Submitted {
        /// The answer.
        answer: StoredAnswer,
        /// By whom.
        by: By,
        /// By which credential: it is looked at again when the continuation starts.
        answerer: TokenId,
        /// When.
        at: Timestamp,
        /// The run that the answer wakes; none when its source was gone already.
        run: RunId,
    },
    /// It was cancelled, which is never an answer (invariant M5).
    Cancelled {
        /// Why.
        reason: CancelReason,
        /// By whom.
        by: By,
        /// When.
        at: Timestamp,
    },
}

/// The status of an ask on the wire and in lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AskStatus {
    /// It waits.
    Pending,
    /// It was answered.
    Submitted,
    /// It was cancelled.
    Cancelled,
}

impl AskStatus {
    /// Every status.
    pub const ALL: [Self; 3] = [Self::Pending, Self::Submitted, Self::Cancelled];

    /// The status as the contract writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Submitted => "submitted",
            Self::Cancelled => "cancelled",
        }
    }

    /// Reads a name back.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == name)
    }
}

impl Resolution {
    /// Its status.
    pub fn status(&self) -> AskStatus {
        match self {
            Self::Pending => AskStatus::Pending,
            Self::Submitted { .. } => AskStatus::Submitted,
            Self::Cancelled { .. } => AskStatus::Cancelled,
        }
    }
}

/// The category that a receipt opens: the ask's own, when it was answered by its Approve. A decline,
/// a comment, a cancellation and silence open nothing.
pub fn opens(resolution: &Resolution, ask: &Ask) -> Option<Category> {
    let chosen = match resolution {
        Resolution::Submitted { answer: StoredAnswer::Open(Answer::Choice { option }), .. } => *option,
        Resolution::Cancelled { .. } if mutant::on(Mutant::M5CancelledOpens) => return ask.gate,
        Resolution::Pending if mutant::on(Mutant::M6SilenceOpens) => return ask.gate,
        Resolution::Submitted { answer: StoredAnswer::Open(Answer::Text { .. } | Answer::Worker { .. }), .. }
        | Resolution::Submitted { answer: StoredAnswer::Sealed(_), .. }
        | Resolution::Pending
        | Resolution::Cancelled { .. } => return None,
    };
    let opens = |role: Role| role == Role::Approve || mutant::on(Mutant::M6DeclineOpens);
    let approves = |option: &AskOption| option.id == chosen && opens(option.role);
    if ask.purpose.is_approval() && ask.options.iter().any(approves) { ask.gate } else { None }
}
