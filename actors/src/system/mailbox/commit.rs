//! What concerns the mailbox alone: committed beside the actor, which is told when it has ended.

use clankie_domain::admission::Change;
use clankie_domain::mailbox::{MailChange, MailDecision};
use clankie_domain::mutant::{self, Mutant};

use super::job::{Called, Reply, What};
use super::{Attempt, Ending, Job, Left, OwnerMail};
use crate::store::{Applied, Guard, Txn, Write};
use crate::system::failpoint::{self, Side};
use crate::system::rooms::DecidedOn;

impl OwnerMail {
    /// Commits a decision and tells its caller; `None` when there is nothing to commit.
    pub(super) fn committed(
        &self,
        (what, reply, tried): (What, Reply, usize),
        on: DecidedOn,
        decision: MailDecision,
    ) -> Option<Ending> {
        let MailDecision { next, changes, outcome } = decision;
        if changes.is_empty() {
            // A caller that is gone reads the outcome from the store.
            let _ = reply.send(Called::Outcome(outcome));
            return None;
        }
        let mut txn = Txn::mail(changes)
            .guarded(Guard::Mailbox(next.head.conversation.clone(), on.version))
            .guarded(Guard::GrantEpoch(on.epoch));
        if let Some(from) = what.publisher() {
            txn = txn.guarded(Guard::Runs(from.origin.handoff));
        }
        let (store, authority) = (self.store.clone(), self.authority.clone());
        Some(Box::pin(async move {
            failpoint::hit(what.step(), Side::Before);
            if mutant::on(Mutant::M4TwoCommits) {
                let alone = Txn::of(Write::GrantEpoch(on.epoch));
                store.commit(alone).await.map_or_else(|_| (), drop);
            }
            let committed = store.commit(txn).await;
            failpoint::hit(what.step(), Side::After);
            let (called, left) = match committed.map(|done| done.applied) {
                Ok(Applied::Yes) => (Called::Outcome(outcome), Left::Stands(Box::new(next))),
                Ok(Applied::GuardFailed(Guard::Runs(_))) => (Called::RunOver, Left::Changed),
                Ok(Applied::GuardFailed(guard)) => {
                    if let Guard::GrantEpoch(_) = guard {
                        authority.moved_from(on.epoch).await;
                    }
                    return Left::again(what, reply, tried);
                }
                Err(stopped) => (Called::Failed(stopped), Left::Changed),
            };
            // A caller that is gone reads the outcome from the store.
            let _ = reply.send(called);
            left
        }))
    }
}

impl Left {
    /// The same once more.
    pub(super) fn again(what: What, reply: Reply, tried: usize) -> Self {
        Self::Again(Box::new(Attempt { job: Job::Asked(what, reply), tried: tried + 1 }))
    }
}

impl Txn {
    /// The changes of one decision of the mailbox.
    fn mail(changes: impl IntoIterator<Item = MailChange>) -> Self {
        let writes = changes.into_iter().map(|change| Write::Change(Change::Mail(change)));
        Self { guards: Vec::new(), writes: writes.collect() }
    }
}
