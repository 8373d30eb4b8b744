//! Which delivery may steer which handoff, and what became of each one that did.
//!
//! Invariant I4: a joiner never widens. It joins only under exactly the grant of its target, so
//! its effects happen under the grant that both share, or not at all.

use crate::grant::Grant;
use crate::handoff::{HandoffRecord, State};
use crate::ids::{DeliveryId, ExecutorName, HandoffId};
use crate::mutant::{self, Mutant};
use crate::request::{Request, Source};

/// Most deliveries that one handoff absorbs: a burst, not a conversation.
pub const JOINERS_MAX: usize = 16;

/// Whether an executor can take words after it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SteerSupport {
    /// It cannot: every delivery is a handoff of its own.
    None,
    /// It takes them and reports each as read or unread.
    Receipt,
}

/// Which executor runs a plan.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Route {
    /// Its configured name.
    pub executor: ExecutorName,
    /// Whether what it runs can be joined.
    pub steer: SteerSupport,
}

/// The facts about a possible target, besides its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target<'a> {
    /// The actor's newest pending or running handoff in the room.
    pub record: &'a HandoffRecord,
    /// Deliveries that have joined it and are not settled.
    pub joiners: usize,
    /// Whether its executor can be steered.
    pub steer: SteerSupport,
    /// Whether it is being stopped.
    pub stopping: Stopping,
}

/// Whether a run is being stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopping {
    /// It is not.
    No,
    /// An abort is on its way: nothing more is handed to it.
    Yes,
}

impl Target<'_> {
    /// Whether `request` under `grant` may join. Nothing is matched by text.
    pub fn takes(&self, request: &Request, grant: &Grant) -> bool {
        let open = match &self.record.state {
            State::Pending | State::Running(_) => true,
            State::Joined { .. } | State::Ended(_) => false,
        };
        open && self.stopping == Stopping::No
            && self.steer == SteerSupport::Receipt
            && self.joiners < JOINERS_MAX
            && self.record.native_child.is_none()
            && same_thread(self.record.source, request.source)
            && self.record.room == request.room
            && self.record.actor == request.actor
            && self.record.transport == request.transport
            && (self.record.grant == *grant || mutant::on(Mutant::I4OtherGrantJoins))
    }
}

/// Only typed words steer typed words: voice never steers, and a continuation is never joined.
pub fn same_thread(target: Source, joiner: Source) -> bool {
    target == Source::Text && joiner == Source::Text
}

/// A delivery handed to a running session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Joiner {
    /// Its own record.
    pub handoff: HandoffId,
    /// Its own delivery, which receipts name.
    pub delivery: DeliveryId,
    /// Its words.
    pub text: String,
}

/// What an executor said of one steer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mark {
    /// It waits in the session.
    Queued,
    /// It is part of a model call whose reply has not come.
    Taken,
    /// A model reply followed it.
    Read,
    /// It was given back.
    Unread,
}

/// Every steer of one run, in the order they were handed over.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Ledger {
    steers: Vec<(Joiner, Mark)>,
}

impl Ledger {
    /// Takes one more steer.
    pub fn push(&mut self, joiner: Joiner) {
        self.steers.push((joiner, Mark::Queued));
    }

    /// Every steer in order, as it was handed over.
    pub fn all(&self) -> impl Iterator<Item = &Joiner> {
        self.steers.iter().map(|(joiner, _)| joiner)
    }

    /// Takes one back before it was handed to the executor.
    pub fn forget(&mut self, handoff: HandoffId) {
        self.steers.retain(|(joiner, _)| joiner.handoff != handoff);
    }

    /// Notes what the executor said. `Read` and `Unread` are final; an unknown steer is ignored.
    pub fn mark(&mut self, handoff: HandoffId, mark: Mark) {
        let found = self.steers.iter_mut().find(|(joiner, _)| joiner.handoff == handoff);
        if let Some((_, at)) = found
            && !matches!(*at, Mark::Read | Mark::Unread)
        {
            *at = mark;
        }
    }

    /// The steers that were read, in order.
    pub fn read(&self) -> Vec<HandoffId> {
        self.steers.iter().filter(|(_, mark)| *mark == Mark::Read).map(|(joiner, _)| joiner.handoff).collect()
    }
}
