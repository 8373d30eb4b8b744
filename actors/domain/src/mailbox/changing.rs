//! A mailbox that is being changed: its next value, and the changes that make it durable.

use std::sync::Arc;

use super::{MailChange, MailDecision, MailOutcome, MailRefusal, Mailbox};
use crate::ask::{Ask, Resolution};
use crate::ids::RequestId;

/// Which counters a decision moves beside the version.
#[derive(Debug, Clone, Copy)]
pub(super) enum Moved {
    /// Asks were published or resolved: what an owner has read of them is old.
    Asks,
    /// No ask changed.
    Other,
}

/// The next mailbox and the changes so far.
#[derive(Debug)]
pub(super) struct Changing {
    pub(super) next: Mailbox,
    pub(super) changes: Vec<MailChange>,
}

impl Mailbox {
    pub(super) fn changing(&self) -> Changing {
        Changing { next: self.clone(), changes: Vec::new() }
    }

    /// A decision that changes nothing.
    pub(super) fn unchanged(&self, outcome: MailOutcome) -> MailDecision {
        MailDecision { next: self.clone(), changes: Vec::new(), outcome }
    }

    pub(super) fn refused(&self, why: MailRefusal, request: Option<RequestId>) -> MailDecision {
        self.unchanged(MailOutcome::Refused(why, request))
    }
}

impl Changing {
    /// Adds what became of an ask.
    pub(super) fn resolve(&mut self, ask: &Arc<Ask>, resolution: Resolution) {
        if let Some(entry) = self.next.asks.get_mut(&ask.request) {
            Arc::make_mut(entry).resolution = resolution.clone();
        }
        self.changes.push(MailChange::Resolved { ask: Arc::clone(ask), resolution });
    }

    /// The decision: its counters come last, once.
    pub(super) fn done(mut self, moved: Moved, outcome: MailOutcome) -> MailDecision {
        let head = &mut self.next.head;
        head.version = head.version.saturating_add(1);
        match moved {
            Moved::Asks => head.revision = head.revision.saturating_add(1),
            Moved::Other => {}
        }
        self.changes.push(MailChange::Head(head.clone()));
        MailDecision { next: self.next, changes: self.changes, outcome }
    }
}
