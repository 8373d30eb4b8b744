//! Cancelling asks, by the owner or by the host, and taking note of answers that were not delivered.
//!
//! Invariant M5: a cancellation is shown as one everywhere, never as an answer or an option.

use std::sync::Arc;

use super::changing::Moved;
use super::{Answerer, MailChange, MailContext, MailDecision, MailOutcome, MailRefusal, Mailbox};
use crate::ask::{Ask, CancelReason, Purpose, Resolution};
use crate::claim::{ClaimStep, Seen};
use crate::ids::{IncarnationId, RequestId};
use crate::mutant::{self, Mutant};
use crate::result::By;

impl Mailbox {
    pub(super) fn cancel(&self, ask: &Arc<Ask>, by: By, ctx: MailContext<'_>) -> MailDecision {
        let mut changing = self.changing();
        changing.resolve(ask, Resolution::Cancelled { reason: CancelReason::OwnerCancelled, by, at: ctx.now });
        changing.forget_asks(self, ctx.facts.continuing);
        changing.done(Moved::Asks, MailOutcome::Resolved(ask.request))
    }

    /// Cancels every pending ask that `reason` affects, by the service. A reset begins a new life
    /// even where nothing waits.
    pub(super) fn cancel_all(&self, reason: CancelReason, fresh: IncarnationId, ctx: MailContext<'_>) -> MailDecision {
        let affected: Vec<_> = self.pending().map(|entry| &entry.ask).filter(|ask| affects(reason, ask)).collect();
        let outcome = MailOutcome::CancelledAll(affected.len());
        if affected.is_empty() && reason != CancelReason::ContextReset {
            return self.unchanged(outcome);
        }
        let mut changing = self.changing();
        let moved = if affected.is_empty() { Moved::Other } else { Moved::Asks };
        for ask in affected {
            changing.resolve(ask, Resolution::Cancelled { reason, by: By::service(), at: ctx.now });
        }
        changing.forget_asks(self, ctx.facts.continuing);
        if reason == CancelReason::ContextReset {
            changing.next.head.incarnation = fresh;
        }
        changing.done(moved, outcome)
    }

    pub(super) fn mark_seen(&self, request: RequestId, by: &Answerer, ctx: MailContext<'_>) -> MailDecision {
        if !ctx.authority.may_answer(by.token, ctx.now) {
            return self.refused(MailRefusal::OwnerUnavailable, None);
        }
        let Some(entry) = self.asks.get(&request) else {
            return self.refused(MailRefusal::StaleRequest, None);
        };
        let Some(Ok(seen)) = entry.claim.as_ref().map(|claim| claim.advance(ClaimStep::MarkSeen, ctx.now)) else {
            return self.refused(MailRefusal::NothingToSee, Some(request));
        };
        if entry.claim.as_ref().is_some_and(|claim| claim.seen == Seen::Yes) {
            return self.unchanged(MailOutcome::Resolved(request));
        }
        let mut changing = self.changing();
        if let Some(entry) = changing.next.asks.get_mut(&request) {
            Arc::make_mut(entry).claim = Some(seen.clone());
        }
        changing.changes.push(MailChange::Claim(seen));
        changing.done(Moved::Other, MailOutcome::Resolved(request))
    }
}

/// Which pending asks a reason is about. General asks survive a restart and a changed workspace;
/// a reason that is about one ask alone, such as the owner's own, cancels none in passing.
fn affects(reason: CancelReason, ask: &Ask) -> bool {
    match reason {
        CancelReason::ContextReset | CancelReason::ConversationClosed | CancelReason::ResumedElsewhere => true,
        CancelReason::ServiceRestarted if mutant::on(Mutant::M6RestartSettles) => true,
        CancelReason::ServiceRestarted | CancelReason::OwnerContextLost => ask.purpose == Purpose::Preference,
        CancelReason::OwnerCancelled | CancelReason::WorkerQuestionResolved | CancelReason::HandoffCancelled => false,
    }
}
