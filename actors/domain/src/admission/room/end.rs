//! A run ends: one transaction for the target, its joiners, their receipts and what the room hears.

use std::sync::Arc;

use super::continuation::returned;
use super::{Effect, Turn};
use crate::admission::{Change, ToGlobal};
use crate::claim::ClaimStep;
use crate::delivery::RoomDelivery;
use crate::grant::Gateway;
use crate::handoff::{HandoffRecord, IllegalMove, State, Step, Usage};
use crate::ids::{Arrival, HandoffId, RunId};
use crate::mailbox::MailChange;
use crate::message::{MessageKind, RoomMessage};
use crate::mutant::{self, Mutant};
use crate::result::{Approval, FailCode, Media, TurnResult};
use crate::session::{AbortReason, ReadList, Reply, RunEnd, RunOutcome};

/// What the room hears of a result that only the owner can take further.
pub(super) const APPROVAL_SENTENCE: &str = "This needs the owner's decision. I have asked on the owner's own screen.";

impl Turn<'_> {
    pub(super) fn ended(&mut self, run: RunId, end: RunEnd, mail: Vec<MailChange>) -> Result<(), IllegalMove> {
        let Some(at) = self.running(run) else { return Ok(()) };
        let record = Arc::clone(&self.room.live[&at].record);
        let result = self.result_of(&record, end.outcome);
        let joiners = self.joiners_of(record.id);
        if let TurnResult::WaitingUser { .. } = result {
            self.changes.extend(mail.into_iter().map(Change::Mail));
        }
        self.release(at);
        self.settle_claim(at, &result, &end.read);
        self.finish(at, result.clone(), end.usage)?;
        for joiner in joiners {
            let id = self.room.live[&joiner].record.id;
            match &end.read {
                ReadList::Exactly(read) if !read.contains(&id) && !mutant::on(Mutant::I9UnreadIsAbsorbed) => {
                    self.owe(joiner)?;
                }
                ReadList::Exactly(_) => self.finish(joiner, absorbed(&record, &result), Usage::default())?,
                ReadList::Unknown => {
                    self.finish(joiner, unread_of_a_dead_run(&result), Usage::default())?;
                }
            }
        }
        Ok(())
    }

    /// The process group is gone: after the terminal commit, and only once, the permit is free.
    pub(super) fn gone(&mut self, run: RunId) {
        if let Some(permit) = self.room.leaving.remove(&run) {
            self.changes.push(Change::PermitGone { permit });
            self.tell_global(ToGlobal::Release(permit));
        } else if let Some(at) = self.running(run)
            && let Some(live) = self.room.live.get_mut(&at)
        {
            live.gone = true;
        }
    }

    /// Ends a live record with its receipt and what the room hears, and forgets it.
    pub(super) fn finish(&mut self, at: Arrival, result: TurnResult, usage: Usage) -> Result<(), IllegalMove> {
        let Some(live) = self.room.live.get(&at) else { return Ok(()) };
        let message = heard(&live.record, &result, self.ctx.now);
        let room_delivery = delivery_of(&live.record, message.as_ref());
        self.move_claim(at, ClaimStep::Return(returned(&result)));
        self.advance(at, Step::End { result, usage, room_delivery })?;
        self.changes.extend(message.map(Change::Message));
        if let Some(live) = self.room.live.get(&at) {
            let record = Arc::clone(&live.record);
            if !mutant::on(Mutant::I3ResultIsNotSaved) {
                self.changes.push(Change::Receipt(record.receipt()));
            }
            self.effects.push(Effect::ResultReady(record.id));
            self.settle_posting(at, record);
        }
        Ok(())
    }

    /// An ended record lives on while something of it is still to be posted.
    pub(super) fn settle_posting(&mut self, at: Arrival, record: Arc<HandoffRecord>) {
        if record.room_delivery.is_open() {
            self.effects.push(Effect::Deliver(record));
        } else {
            self.room.live.remove(&at);
        }
    }

    /// Makes every joiner of `target` owed, in order of arrival.
    pub(super) fn owe_joiners(&mut self, target: HandoffId) -> Result<(), IllegalMove> {
        for joiner in self.joiners_of(target) {
            self.owe(joiner)?;
        }
        Ok(())
    }

    fn owe(&mut self, at: Arrival) -> Result<(), IllegalMove> {
        self.advance(at, Step::Owe)?;
        if let Some(live) = self.room.live.get(&at) {
            let owe = ToGlobal::Owe { ticket: live.ticket, actor: live.record.actor.clone() };
            self.tell_global(owe);
        }
        Ok(())
    }

    /// The permit is over in the same transaction when the group is gone already.
    fn release(&mut self, at: Arrival) {
        let Some(live) = self.room.live.get(&at) else { return };
        let Some(permit) = live.permit else { return };
        if live.gone || mutant::on(Mutant::I5FreedBeforeGone) {
            self.changes.push(Change::PermitGone { permit });
            self.tell_global(ToGlobal::Release(permit));
        } else {
            self.room.leaving.insert(live.record.run, permit);
        }
    }

    /// Authority is read once more: a revoked run has failed, even if its text is ready.
    fn result_of(&self, record: &HandoffRecord, outcome: RunOutcome) -> TurnResult {
        if let Err(why) = self.ctx.authority.still_holds(&record.claim(), &record.grant)
            && !mutant::on(Mutant::I8RevokedReplies)
        {
            return TurnResult::failed(why.into());
        }
        match outcome {
            RunOutcome::Replied(Reply::Text { text, media }) => TurnResult::settled(&text, media),
            RunOutcome::Replied(Reply::Silent) => TurnResult::Silent,
            // What is to be approved stands in the owner's mailbox and nowhere else.
            RunOutcome::Replied(Reply::WaitingUser { approval: Approval::Required, .. }) => {
                let prompt = APPROVAL_SENTENCE.to_owned();
                TurnResult::WaitingUser { prompt, approval: Approval::Required }
            }
            RunOutcome::Replied(Reply::WaitingUser { prompt, approval }) => {
                TurnResult::WaitingUser { prompt, approval }
            }
            RunOutcome::Failed(code) => TurnResult::failed(code),
            RunOutcome::Stopped(AbortReason::Cancelled(by)) => TurnResult::Cancelled { by },
            RunOutcome::Stopped(AbortReason::Revoked(why)) => TurnResult::failed(why.into()),
            RunOutcome::Stopped(AbortReason::Stalled) => TurnResult::failed(FailCode::Stalled),
            RunOutcome::Stopped(AbortReason::Shutdown) => TurnResult::failed(FailCode::Interrupted),
            RunOutcome::Stopped(AbortReason::Budget) => TurnResult::failed(FailCode::BudgetExhausted),
        }
    }
}

/// How a reply reaches its room: with the commit where rooms live in this store, else in parts.
pub(crate) fn delivery_of(record: &HandoffRecord, message: Option<&RoomMessage>) -> RoomDelivery {
    match (record.transport.gateway, message) {
        (_, None) | (Gateway::DiscordVoice, Some(_)) => RoomDelivery::default(),
        (Gateway::Local | Gateway::Ingress, Some(said)) => RoomDelivery::in_store(said.id.clone()),
        (Gateway::DiscordText, Some(_)) => RoomDelivery::pending(),
    }
}

/// What a joiner that was read ends with: the run's reply is its answer, or the run's own end is.
fn absorbed(target: &HandoffRecord, result: &TurnResult) -> TurnResult {
    match result {
        TurnResult::Settled { .. }
        | TurnResult::Silent
        | TurnResult::Absorbed { .. }
        | TurnResult::WaitingUser { .. } => {
            TurnResult::Absorbed { reply_delivery: target.delivery.clone(), joined: target.id }
        }
        TurnResult::Failed { .. } | TurnResult::Cancelled { .. } => result.clone(),
    }
}

fn unread_of_a_dead_run(result: &TurnResult) -> TurnResult {
    match result {
        TurnResult::Failed { .. } | TurnResult::Cancelled { .. } => result.clone(),
        TurnResult::Settled { .. }
        | TurnResult::Silent
        | TurnResult::Absorbed { .. }
        | TurnResult::WaitingUser { .. } => TurnResult::failed(FailCode::ExecutorFailed),
    }
}

/// What the room hears of a result.
///
/// A joiner's end says nothing: the room hears of the run once.
pub fn heard(record: &HandoffRecord, result: &TurnResult, now: crate::time::Timestamp) -> Option<RoomMessage> {
    if matches!(record.state, State::Joined { .. }) {
        return None;
    }
    let (kind, text) = match result {
        TurnResult::Settled { text, media } => (MessageKind::Reply, with_files(text, media)),
        TurnResult::WaitingUser { approval: Approval::Required, .. } => {
            (MessageKind::Notice, APPROVAL_SENTENCE.to_owned())
        }
        TurnResult::WaitingUser { prompt, approval: Approval::NotRequired } => (MessageKind::Reply, prompt.clone()),
        TurnResult::Failed { code } => (MessageKind::Notice, code.sentence().to_owned()),
        TurnResult::Silent | TurnResult::Absorbed { .. } | TurnResult::Cancelled { .. } => return None,
    };
    Some(RoomMessage {
        room: record.room.clone(),
        id: format!("{}/reply", record.id),
        kind,
        author: None,
        author_name: "clankie".to_owned(),
        text,
        reply_to: Some(record.quoted().clone()),
        handoff: record.id,
        at: now,
    })
}

/// A reply in words alone: a file that goes with it is named.
fn with_files(text: &str, media: &[Media]) -> String {
    let files = media.iter().filter_map(Media::line);
    std::iter::once(text.to_owned()).filter(|text| !text.is_empty()).chain(files).collect::<Vec<_>>().join("\n")
}
