//! How far an accepted answer has come on its way back to its source.
//!
//! Invariant M1: it is delivered exactly once, or is shown returned or uncertain. The claim is
//! durable before anything crosses, and [`Claim::advance`] is the one function that moves it.

use crate::ids::{ConversationId, HandoffId, RequestId, RunId, TokenId};
use crate::mutant::{self, Mutant};
use crate::result::FailCode;
use crate::time::Timestamp;

/// Where a claim stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClaimState {
    /// The answer is stored and its continuation is owed.
    Claimed,
    /// The continuation runs; its session may have taken the answer.
    Dispatching,
    /// The session took it.
    Delivered,
    /// It may have been taken: never sent again by itself.
    Uncertain,
    /// It reached nobody.
    Returned(FailCode),
}

impl ClaimState {
    /// Its name alone.
    pub fn name(&self) -> ClaimStateName {
        match self {
            Self::Claimed => ClaimStateName::Claimed,
            Self::Dispatching => ClaimStateName::Dispatching,
            Self::Delivered => ClaimStateName::Delivered,
            Self::Uncertain => ClaimStateName::Uncertain,
            Self::Returned(_) => ClaimStateName::Returned,
        }
    }

    /// The state as the contract writes it.
    pub fn as_str(&self) -> &'static str {
        self.name().as_str()
    }
}

/// The name of a claim's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClaimStateName {
    /// [`ClaimState::Claimed`].
    Claimed,
    /// [`ClaimState::Dispatching`].
    Dispatching,
    /// [`ClaimState::Delivered`].
    Delivered,
    /// [`ClaimState::Uncertain`].
    Uncertain,
    /// [`ClaimState::Returned`].
    Returned,
}

impl ClaimStateName {
    /// The name as the contract writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claimed => "claimed",
            Self::Dispatching => "dispatching",
            Self::Delivered => "delivered",
            Self::Uncertain => "uncertain",
            Self::Returned => "returned",
        }
    }
}

/// Whether the owner has taken note of a claim that was not delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Seen {
    /// Not yet.
    No,
    /// The owner has; it counts as settled.
    Yes,
}

/// The claim of one accepted answer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Claim {
    /// The ask.
    pub request: RequestId,
    /// Its conversation.
    pub conversation: ConversationId,
    /// The continuation's record; none when its source was gone already.
    pub handoff: Option<HandoffId>,
    /// The continuation's run.
    pub run: RunId,
    /// Who answered: looked at again when the continuation starts.
    pub answerer: TokenId,
    /// Where it stands.
    pub state: ClaimState,
    /// When it came to stand there.
    pub at: Timestamp,
    /// Whether the owner has taken note.
    pub seen: Seen,
}

/// One move of a claim.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClaimStep {
    /// `claimed → dispatching`, with the start of the continuation.
    Dispatch,
    /// `dispatching → delivered`.
    Take,
    /// `claimed | dispatching → returned`.
    Return(FailCode),
    /// `dispatching → uncertain`.
    Lose,
    /// `uncertain | returned → itself`: the owner has taken note.
    MarkSeen,
}

/// A move that no arrow allows. It changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the answer of ask {request} is {from} and cannot make that step")]
pub struct IllegalClaim {
    /// The ask.
    pub request: RequestId,
    /// Where it stands.
    pub from: &'static str,
}

impl Claim {
    /// The claim after `step`, or why there is no such move.
    pub fn advance(&self, step: ClaimStep, now: Timestamp) -> Result<Self, IllegalClaim> {
        use ClaimState::{Claimed, Delivered, Dispatching, Returned, Uncertain};
        let moved = |state| Ok(Self { state, at: now, ..self.clone() });
        match (&self.state, step) {
            (Claimed, ClaimStep::Dispatch) => moved(Dispatching),
            (Uncertain, ClaimStep::Dispatch) if mutant::on(Mutant::M1UncertainIsSentAgain) => moved(Dispatching),
            (Dispatching, ClaimStep::Take) => moved(Delivered),
            (Claimed | Dispatching, ClaimStep::Return(why)) => moved(Returned(why)),
            (Dispatching, ClaimStep::Lose) => moved(Uncertain),
            (Uncertain | Returned(_), ClaimStep::MarkSeen) => Ok(Self { seen: Seen::Yes, ..self.clone() }),
            (
                Claimed | Dispatching | Delivered | Uncertain | Returned(_),
                ClaimStep::Dispatch | ClaimStep::Take | ClaimStep::Return(_) | ClaimStep::Lose | ClaimStep::MarkSeen,
            ) => Err(IllegalClaim { request: self.request, from: self.state.as_str() }),
        }
    }

    /// Whether nothing more is expected of it, so that retention may count it as settled.
    pub fn is_settled(&self) -> bool {
        match self.state {
            ClaimState::Delivered => true,
            ClaimState::Uncertain | ClaimState::Returned(_) => self.seen == Seen::Yes,
            ClaimState::Claimed | ClaimState::Dispatching => false,
        }
    }
}
