//! What surrounds a decision on the mailbox: the moment, the authority, and what the host observed.

use crate::autonomy::Autonomy;
use crate::grant::Authority;
use crate::ids::RequestId;
use crate::time::Timestamp;

/// What surrounds a decision.
#[derive(Debug, Clone, Copy)]
pub struct MailContext<'a> {
    /// The moment.
    pub now: Timestamp,
    /// The authority in force.
    pub authority: &'a Authority,
    /// Which steps the owner keeps.
    pub autonomy: &'a Autonomy,
    /// What the host knows of the conversation's surroundings.
    pub facts: Facts<'a>,
}

/// What the host knows of the surroundings of the conversation, and of the ask that is dealt with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Facts<'a> {
    /// The worker's question that the ask carries.
    pub worker: WorkerFact,
    /// The workspace and the issuer of a preference.
    pub context: ContextFact,
    /// A native owner of the conversation.
    pub native: NativeFact,
    /// The canonical directory that the conversation works in.
    pub workspace: Option<&'a str>,
    /// The canonical root of its repository, by which `[autonomy]` knows a project.
    pub project: Option<&'a str>,
    /// The asks whose answers woke a handoff that is not over: it may still need them.
    pub continuing: &'a [RequestId],
}

/// Where a worker's question stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WorkerFact {
    /// It waits, or there is none.
    #[default]
    Open,
    /// It ended elsewhere.
    ResolvedElsewhere,
    /// An answer to it is crossing.
    Crossing,
}

/// Whether a preference's surroundings are what they were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ContextFact {
    /// They are.
    #[default]
    Held,
    /// Its workspace or its issuer changed.
    Lost,
}

/// Whether a native driver owns the conversation, connected or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NativeFact {
    /// None does.
    #[default]
    Absent,
    /// One does.
    Owns,
}
