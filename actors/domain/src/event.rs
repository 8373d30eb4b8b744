//! Hints that something durable changed. Their sequence number is given in the commit.

use crate::handoff::StateName;
use crate::ids::{HandoffId, RoomId};

/// What changed. Readers read again; an event carries no content.
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
}
