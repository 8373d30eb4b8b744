//! An accepted answer wakes its source: a promised handoff under the origin's grant or less.
//!
//! The mailbox has decided; the room composes one commit of the answer, its claim and the
//! continuation's record. From then on the claim moves with that record, in the same transactions
//! (invariants M1 and I9). A continuation joins nothing and is never joined.

use super::{Answer, Effect, Turn};
use crate::admission::{Change, ToGlobal};
use crate::claim::{Claim, ClaimState, ClaimStep, Seen};
use crate::grant::Grant;
use crate::handoff::{Class, HandoffRecord, IllegalMove, Owed, State, StateName};
use crate::ids::{Arrival, Caller, ConversationId, DeliveryId, RequestId, TokenId};
use crate::mailbox::MailChange;
use crate::mutant::{self, Mutant};
use crate::request::Submission;
use crate::result::{FailCode, TurnResult};
use crate::session::ReadList;

/// What the mailbox hands over with an accepted answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Continuation {
    /// The ask that was answered.
    pub request: RequestId,
    /// Its conversation.
    pub conversation: ConversationId,
    /// The continuation as a request of the origin's actor, with fresh identities. Its run is the
    /// one that the mailbox's changes name.
    pub submission: Submission,
    /// What the origin might do.
    pub origin: Grant,
    /// The delivery that the origin's reply quoted, and so does this one's.
    pub trigger: DeliveryId,
    /// Who answered.
    pub answerer: TokenId,
    /// What the mailbox decided.
    pub mail: Vec<MailChange>,
}

impl Turn<'_> {
    pub(super) fn continue_with(&mut self, from: Continuation, caller: Caller) {
        let Continuation { request, conversation, submission, origin, trigger, answerer, mail } = from;
        if !self.ctx.authority.may_answer(answerer, self.ctx.now) {
            // It went between the mailbox's decision and this commit: the mailbox decides again.
            self.reply(caller, Answer::Outdated);
            return;
        }
        self.changes.extend(mail.into_iter().map(Change::Mail));
        let (state, seen) = (ClaimState::Claimed, Seen::No);
        let run = submission.minted.run;
        let mut claim = Claim { request, conversation, handoff: None, run, answerer, state, at: self.ctx.now, seen };
        match self.ctx.authority.resolve_again(&submission.request.claim(), &origin) {
            Err(why) => {
                claim.state = ClaimState::Returned(why.into());
                self.claimed(claim);
                self.reply(caller, Answer::Refused(why));
            }
            Ok(grant) => {
                claim.handoff = Some(submission.minted.handoff);
                self.owe_continuation(&submission, (grant, trigger), claim);
                let handoff = submission.minted.handoff;
                self.reply(caller, Answer::Accepted { handoff, state: StateName::Pending });
            }
        }
    }

    fn owe_continuation(&mut self, submission: &Submission, (grant, trigger): (Grant, DeliveryId), claim: Claim) {
        let (arrival, ticket) = (self.next_arrival(), submission.minted.ticket);
        let mut record = HandoffRecord::admitted(submission, grant, arrival, State::Pending, self.ctx.now);
        record.class = Class::Owed(Owed::Answer);
        record.trigger = Some(trigger);
        let actor = record.actor.clone();
        self.keep_silently(record, ticket);
        if let Some(live) = self.room.live.get_mut(&arrival) {
            live.claim = Some(claim.clone());
        }
        self.claimed(claim);
        self.tell_global(ToGlobal::Owe { ticket, actor });
    }

    /// Whether the one who answered may still do so: looked at again when the continuation starts.
    pub(super) fn answerer_stands(&self, at: Arrival) -> bool {
        let claim = self.room.live.get(&at).and_then(|live| live.claim.as_ref());
        mutant::on(Mutant::M2RevokedStillCrosses)
            || claim.is_none_or(|claim| self.ctx.authority.may_answer(claim.answerer, self.ctx.now))
    }

    /// Moves the claim that goes with the record at `at`; one that has come to its end stays there.
    pub(super) fn move_claim(&mut self, at: Arrival, step: ClaimStep) {
        let Some(live) = self.room.live.get_mut(&at) else { return };
        let Some(claim) = &live.claim else { return };
        if let Ok(moved) = claim.advance(step, self.ctx.now) {
            live.claim = Some(moved.clone());
            self.claimed(moved);
        }
    }

    /// The session took the answer: from now on it is delivered, whatever becomes of the run.
    pub(super) fn took(&mut self, run: crate::ids::RunId) -> Result<(), IllegalMove> {
        if let Some(at) = self.running(run)
            && !mutant::on(Mutant::M1TakenIsNotNoted)
        {
            self.move_claim(at, ClaimStep::Take);
        }
        Ok(())
    }

    /// What the end of a run says of the answer that it was given.
    pub(super) fn settle_claim(&mut self, at: Arrival, result: &TurnResult, read: &ReadList) {
        let step = match (result, read) {
            (TurnResult::Settled { .. } | TurnResult::Silent | TurnResult::WaitingUser { .. }, _) => ClaimStep::Take,
            (
                TurnResult::Absorbed { .. } | TurnResult::Failed { .. } | TurnResult::Cancelled { .. },
                ReadList::Unknown,
            ) => ClaimStep::Lose,
            (result, ReadList::Exactly(_)) => ClaimStep::Return(returned(result)),
        };
        self.move_claim(at, step);
    }

    fn claimed(&mut self, claim: Claim) {
        self.changes.push(Change::Mail(MailChange::Claim(claim.clone())));
        self.effects.push(Effect::ClaimMoved(claim));
    }
}

/// Why an answer comes back from a continuation that ended so before it was taken.
pub(crate) fn returned(result: &TurnResult) -> FailCode {
    match result {
        TurnResult::Failed { code } => code.clone(),
        TurnResult::Cancelled { .. } => FailCode::Named("handoff_cancelled".to_owned()),
        TurnResult::Settled { .. }
        | TurnResult::Silent
        | TurnResult::WaitingUser { .. }
        | TurnResult::Absorbed { .. } => FailCode::ExecutorFailed,
    }
}
