//! What goes into a room's own commit: an accepted answer with what it wakes, and an ask with the end
//! of its run. The conversation is held until that commit has ended.

use std::sync::Arc;

use clankie_domain::admission::room::{Answer, Continuation};
use clankie_domain::ask::{Ask, Origin, Resolution};
use clankie_domain::ids::{DeliveryId, HandoffId, RequestId, RunId};
use clankie_domain::mailbox::{CONTINUATION_REQUEST, MailDecision, MailOutcome};
use clankie_domain::request::{Minted, Request, Source, Submission};
use clankie_domain::result::FailCode;
use clankie_domain::session::{RunEnd, RunOutcome};
use tokio::sync::oneshot;

use super::job::{Called, Filing, Reply, What};
use super::{Ending, Left, OwnerMail};
use crate::digest;
use crate::store::Store;
use crate::system::authority::AuthorityView;
use crate::system::rooms::{DecidedOn, FiledAsk, RoomBody};

impl OwnerMail {
    /// Hands an accepted answer to the room of its source, which composes the one commit.
    pub(super) fn answered(
        &self,
        (what, reply, tried): (What, Reply, usize),
        (request, on): (RequestId, DecidedOn),
        decision: MailDecision,
    ) -> Option<Ending> {
        let entry = decision.next.asks.get(&request).map(|entry| (Arc::clone(&entry.ask), &entry.resolution));
        let Some((ask, Resolution::Submitted { answerer, run, .. })) = entry else {
            // No decision accepts what it does not submit.
            let _ = reply.send(Called::Unknown);
            return None;
        };
        let continuation = Continuation {
            request,
            conversation: decision.next.head.conversation.clone(),
            submission: self.submission(&ask, *run),
            origin: ask.origin.grant.clone(),
            trigger: ask.origin.delivery.clone(),
            answerer: *answerer,
            mail: decision.changes,
        };
        let next = Box::new(decision.next);
        let (tell, answer) = oneshot::channel();
        self.rooms.send(&ask.origin.room, RoomBody::Continue(Box::new(continuation), on, tell));
        let (store, authority) = (self.store.clone(), self.authority.clone());
        Some(Box::pin(async move {
            let (called, left) = match answer.await {
                // It was committed under the version that it was decided on, so this is what is stored now.
                Ok(Answer::Accepted { .. } | Answer::Refused(_)) => (Called::Accepted, Left::Stands(next)),
                Ok(Answer::Outdated) => {
                    catch_up(&store, &authority).await;
                    return Left::again(what, reply, tried);
                }
                // The room is gone: the receipt decides. A continuation comes to nothing else in its room.
                Err(_)
                | Ok(
                    Answer::Settled { .. }
                    | Answer::Busy(_)
                    | Answer::Conflict { .. }
                    | Answer::ConflictInFlight
                    | Answer::ShuttingDown
                    | Answer::Forgotten
                    | Answer::Cancelling { .. }
                    | Answer::NotFound
                    | Answer::NotYours
                    | Answer::Posted(_)
                    | Answer::NoSuchStep,
                ) => (Called::Unknown, Left::Changed),
            };
            // A caller that is gone reads the outcome from the store.
            let _ = reply.send(called);
            left
        }))
    }

    fn submission(&self, ask: &Ask, run: RunId) -> Submission {
        let Origin { actor, actor_name, room, transport, guild, grant, .. } = ask.origin.clone();
        let request = Request {
            room,
            delivery: DeliveryId::Continuation(ask.request),
            actor,
            actor_name,
            source: Source::Continuation,
            transport,
            guild,
            wanted: Some(grant.plan),
            text: CONTINUATION_REQUEST.to_owned(),
            attachments: Vec::new(),
            context: Vec::new(),
        };
        let fingerprint = digest::fingerprint(&request);
        let minted = Minted { ticket: self.tickets.mint(), handoff: HandoffId(self.ids.uuid()), run };
        Submission { request, fingerprint, minted }
    }

    /// Tells the room of the end of a run, with the ask that goes into the same commit.
    pub(super) fn filed(&self, filing: Filing, on: DecidedOn, decision: MailDecision) -> Option<Ending> {
        let MailDecision { next, changes, outcome } = decision;
        match outcome {
            MailOutcome::Asked(_) => {}
            MailOutcome::AlreadyAsked(_) => {
                let Filing { from, end, .. } = filing;
                self.rooms.send(&from.origin.room, RoomBody::Ended(from.origin.run, end));
                return None;
            }
            MailOutcome::NotPublished(_)
            | MailOutcome::Accepted(_)
            | MailOutcome::Resolved(_)
            | MailOutcome::RevisionConflict(_)
            | MailOutcome::Refused(..)
            | MailOutcome::Mailed(_)
            | MailOutcome::AlreadyMailed(_)
            | MailOutcome::Updated(_)
            | MailOutcome::CancelledAll(_) => {
                self.end_without_ask(filing);
                return None;
            }
        }
        let Filing { from, end, .. } = filing;
        let (hold, released) = oneshot::channel::<()>();
        let ask = FiledAsk { mail: changes, conversation: next.head.conversation, version: on.version, hold };
        self.rooms.send(&from.origin.room, RoomBody::EndedWithAsk(from.origin.run, end, ask));
        Some(Box::pin(async move {
            // By value or by drop: either way the room's commit has ended.
            let _ = released.await;
            Left::Changed
        }))
    }

    /// The end of a run whose ask found no place.
    pub(super) fn end_without_ask(&self, filing: Filing) {
        let Filing { from, end, .. } = filing;
        let end = RunEnd { outcome: RunOutcome::Failed(FailCode::AskCapacity), ..end };
        self.rooms.send(&from.origin.room, RoomBody::Ended(from.origin.run, end));
    }
}

/// Waits until the authority in view is the durable one.
async fn catch_up(store: &Store, authority: &AuthorityView) {
    let seen = authority.current().epoch;
    if store.snapshot().and_then(|now| now.grant_epoch()).is_ok_and(|durable| durable != seen) {
        authority.moved_from(seen).await;
    }
}
