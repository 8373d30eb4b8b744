//! Categories that the owner keeps: a tool that names one is closed until an Approve opens it.
//!
//! An Approve opens its category for the continuation of that very ask, once: that it was used is
//! durable before the tool does anything.

use clankie_domain::admission::Change;
use clankie_domain::ask::{Resolution, opens};
use clankie_domain::autonomy::{Category, Decider};
use clankie_domain::ids::RequestId;
use clankie_domain::mailbox::MailChange;
use clankie_domain::mutant::{self, Mutant};
use serde_json::Value;

use super::{EPOCH_TRIES, HostTools, refused, unavailable};
use crate::ports::{MachineTool, ToolReply};
use crate::store::{Applied, Guard, StoreError, Txn, Write};
use crate::system::failpoint::{self, Side};

impl HostTools {
    /// Calls a machine tool: authority, and the gate if it has one, are committed just before.
    pub(super) async fn machine(&self, tool: &dyn MachineTool, arguments: Value) -> ToolReply {
        for _ in 0..EPOCH_TRIES {
            let epoch = match self.permitted() {
                Ok(epoch) => epoch,
                Err(reply) => return reply,
            };
            let opened = match self.opened(tool.gate(&arguments)) {
                Ok(opened) => opened,
                Err(reply) => return reply,
            };
            let at = self.ports.clock.now();
            let mut txn = Txn::default().guarded(Guard::GrantEpoch(epoch)).guarded(Guard::Runs(self.record.id));
            if let Some(request) = opened
                && !mutant::on(Mutant::M2ApprovalOpensTwice)
            {
                let used = MailChange::GateUsed { request, at };
                txn = txn.guarded(Guard::GateUnused(request)).and(Write::Change(Change::Mail(used)));
            }
            failpoint::hit("tool.machine", Side::Before);
            match self.ports.store.commit(txn).await.map(|done| done.applied) {
                Ok(Applied::Yes) => {
                    failpoint::hit("tool.machine", Side::After);
                    return tool.call(arguments).await;
                }
                Ok(Applied::GuardFailed(Guard::GrantEpoch(_))) => self.ports.authority.moved_from(epoch).await,
                Ok(Applied::GuardFailed(Guard::GateUnused(_))) => {
                    return refused("gate_closed", "The owner's approval was for one call, and it was used.");
                }
                Ok(Applied::GuardFailed(_)) => return refused("run_over", "This handoff is over."),
                Err(stopped) => return unavailable(&stopped),
            }
        }
        refused("busy", "The grants are being changed; try again.")
    }

    /// The ask whose Approve opens that category for this call; none when nothing closes it.
    fn opened(&self, gate: Option<Category>) -> Result<Option<RequestId>, ToolReply> {
        let Some(category) = gate else { return Ok(None) };
        let authority = self.ports.authority.current();
        if authority.policy.autonomy.decider(category, None) == Decider::Delegated {
            return Ok(None);
        }
        match self.approved(category) {
            Ok(Some(request)) => Ok(Some(request)),
            Ok(None) => Err(refused(
                "gate_closed",
                &format!(
                    "The owner decides about {0}. Ask with request_user_input, purpose approval and gate {0}, and end your turn.",
                    category.as_str()
                ),
            )),
            Err(stopped) => Err(unavailable(&stopped)),
        }
    }

    fn approved(&self, category: Category) -> Result<Option<RequestId>, StoreError> {
        let Some(request) = self.record.delivery.answered() else { return Ok(None) };
        let snapshot = self.ports.store.snapshot()?;
        let Some((ask, resolution)) = snapshot.answer_of(request)? else { return Ok(None) };
        let fits = match resolution {
            Resolution::Submitted { .. } => opens(&resolution, &ask) == Some(category),
            Resolution::Pending | Resolution::Cancelled { .. } => false,
        };
        Ok((fits && !snapshot.gate_used(request)?).then_some(request))
    }
}
