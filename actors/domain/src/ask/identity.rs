//! When two asks are one: what a repeated draft, and a repeated worker question, is known by.

use super::{Ask, WorkerQuestion, WorkerRequestId};

impl WorkerQuestion {
    /// What it is known by: its seat, its session and the worker's own request id, whose type counts.
    pub fn identity(&self) -> (&str, &str, &WorkerRequestId) {
        (&self.seat_id, &self.session_id, &self.request_id)
    }
}

/// Whether `again` is the exact draft of `known`, by the same actor under the same grant and in the
/// same workspace. The identities that the host mints, the handoff and the moment do not count.
pub(crate) fn repeats(known: &Ask, again: &Ask) -> bool {
    let draft = |ask: &Ask| (ask.purpose, ask.kind, ask.freeform, ask.gate, ask.secrecy);
    let words = |ask: &Ask| (ask.prompt.clone(), ask.recommendation.clone(), ask.waiting_on.clone());
    let source = |ask: &Ask| (ask.origin.actor.clone(), ask.origin.grant.clone(), ask.workspace.clone());
    draft(known) == draft(again)
        && words(known) == words(again)
        && known.steps == again.steps
        && known.issue == again.issue
        && known.worker == again.worker
        && offers(known).eq(offers(again))
        && source(known) == source(again)
}

fn offers(ask: &Ask) -> impl Iterator<Item = (&str, Option<&str>)> {
    ask.options.iter().map(|option| (option.label.as_str(), option.description.as_deref()))
}
