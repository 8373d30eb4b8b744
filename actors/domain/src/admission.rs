//! Admission: one direction, tickets, no calls between the two actors.
//!
//! [`global::Global`] owns the counts; one [`room::Room`] per room owns that room's order, the
//! receipts in flight and every write to its records. They only send each other the messages
//! below, in order. A ticket is minted per try and never reused; a permit remembers the ticket it
//! came with; any permit serves the oldest pending record of its room.

use std::sync::Arc;

use crate::handoff::HandoffRecord;
use crate::ids::{ActorId, HandoffId, PermitId, RoomId, RunId, Ticket};
use crate::mailbox::MailChange;
use crate::message::RoomMessage;
use crate::receipt::Receipt;

pub mod global;
pub mod recover;
pub mod room;

/// Handoffs that run at once: what one machine with a few model streams carries well.
pub const RUNNING: usize = 4;
/// Handoffs that run at once in one room, so that one busy room leaves half to the others.
pub const RUNNING_PER_ROOM: usize = 2;
/// Handoffs that wait: eight rounds of work; a longer queue is a promise nobody believes.
pub const WAITING: usize = 32;
/// Submits in flight per room, bounded before the actor's mailbox, which itself has no bound.
pub const SUBMITS_IN_FLIGHT: usize = 64;
/// Age after which fresh pending work is not started any more after a restart: 15 minutes.
pub const STALE_AFTER_MS: u64 = 15 * 60 * 1_000;

/// The limits in force. Each is at least one; the last two may be off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Running at once.
    pub running: usize,
    /// Running at once in one room.
    pub running_per_room: usize,
    /// Waiting at once.
    pub waiting: usize,
    /// Waiting at once in one room.
    pub waiting_per_room: Option<usize>,
    /// Waiting at once by one actor.
    pub waiting_per_actor: Option<usize>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            running: RUNNING,
            running_per_room: RUNNING_PER_ROOM,
            waiting: WAITING,
            waiting_per_room: None,
            waiting_per_actor: None,
        }
    }
}

/// Which limit made a request busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Limit {
    /// Every waiting place is taken.
    Waiting,
    /// This room's share is taken.
    WaitingPerRoom,
    /// This actor's share is taken.
    WaitingPerActor,
}

impl Limit {
    /// The limit as the contract writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::WaitingPerRoom => "waiting_per_room",
            Self::WaitingPerActor => "waiting_per_actor",
        }
    }
}

/// The facts of a busy answer. Never stored: the same delivery may be tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BusyFacts {
    /// Which limit.
    pub limit: Limit,
    /// Which place in the queue it would have needed.
    pub position: usize,
    /// How many run.
    pub running: usize,
    /// How many wait, owed work included.
    pub waiting: usize,
    /// How long the oldest has waited.
    pub oldest_wait_ms: u64,
}

/// From a room to the owner of the counts. Every one is idempotent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ToGlobal {
    /// A try wants a permit or a place.
    Reserve {
        /// The try.
        ticket: Ticket,
        /// For the fair-share key.
        actor: ActorId,
    },
    /// The permit is held by the ticket; the ticket's place and the reservation the permit came with are over.
    Took(Ticket, PermitId),
    /// The permit and the reservation it came with are over.
    Return(PermitId),
    /// The ticket's place is over. A permit that is out stays out.
    Withdraw(Ticket),
    /// The ticket takes a place without limit.
    Owe {
        /// The promised record's ticket.
        ticket: Ticket,
        /// For the fair-share key.
        actor: ActorId,
    },
    /// The permit is free.
    Release(PermitId),
}

/// From the owner of the counts to a room.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FromGlobal {
    /// A permit for a ticket that reserved.
    Run(Ticket, PermitId),
    /// A place for a ticket that reserved.
    Wait(Ticket),
    /// Neither.
    Busy(Ticket, BusyFacts),
    /// A permit for the room's oldest pending record.
    Permit(PermitId),
}

/// One durable change of a room. All changes of a decision are one transaction.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Change {
    /// A record in its new state.
    Record(Arc<HandoffRecord>),
    /// A receipt, new or with its result.
    Receipt(Receipt),
    /// A run holds a permit from now on.
    PermitTaken {
        /// The permit.
        permit: PermitId,
        /// Where.
        room: RoomId,
        /// Whose.
        handoff: HandoffId,
        /// Which run.
        run: RunId,
    },
    /// The run's process group is gone, so its permit is over.
    PermitGone {
        /// The permit.
        permit: PermitId,
    },
    /// Something was said in the room.
    Message(RoomMessage),
    /// A change of the owner's mailbox that stands or falls with the room's.
    Mail(MailChange),
}
