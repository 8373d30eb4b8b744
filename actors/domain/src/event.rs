//! Hints that something durable changed. Their sequence number is given in the commit.

use std::sync::Arc;

use crate::ask::{Ask, AskStatus};
use crate::claim::ClaimStateName;
use crate::handoff::StateName;
use crate::ids::{ConversationId, HandoffId, RequestId, RoomId, UpdateId};
use crate::update::UpdateStateName;

/// What changed. Readers read again; only a new ask carries its content, for old clients.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Event {
    /// A handoff record moved.
    Handoff {
        /// Which.
        id: HandoffId,
        /// Where.
        room: RoomId,
        /// Its state now.
        state: StateName,
        /// Its revision now.
        revision: u64,
    },
    /// Something was said in a room.
    Message {
        /// Where.
        room: RoomId,
    },
    /// An ask was published.
    InputRequested(Arc<Ask>),
    /// An ask was answered or cancelled.
    InputResolved {
        /// Where.
        conversation: ConversationId,
        /// Which.
        request: RequestId,
        /// How.
        outcome: AskStatus,
    },
    /// An answer came further on its way, or the owner took note of it.
    InputClaim {
        /// Where.
        conversation: ConversationId,
        /// Which ask's.
        request: RequestId,
        /// Where it stands now.
        state: ClaimStateName,
    },
    /// An update came, was read or was put away.
    Update {
        /// Where.
        conversation: ConversationId,
        /// Which.
        id: UpdateId,
        /// How it stands now.
        state: UpdateStateName,
    },
}
