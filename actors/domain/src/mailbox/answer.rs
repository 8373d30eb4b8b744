//! An owner's answer or cancellation of one ask: the order of the checks is part of the contract.
//!
//! Invariants M2: the principal holds the authority now, in this decision. M5: what is cancelled is
//! never an answer. M6: nothing but this input answers.

use super::changing::Moved;
use super::{
    Aim, Answerer, ContextFact, Entry, Facts, MailChange, MailContext, MailDecision, MailOutcome, MailRefusal, Mailbox,
    NativeFact, Offered, WorkerFact,
};
use crate::answer::{Answer, StoredAnswer, is_long_enough, line};
use crate::ask::{Ask, CancelReason, Purpose, Resolution};
use crate::ids::{RunId, TokenId};
use crate::message::AnswerLine;
use crate::mutant::{self, Mutant};
use crate::result::By;

/// What an owner wants of an ask.
#[derive(Debug)]
pub(super) enum Call {
    /// To answer it; an accepted answer wakes that run.
    Answer { offered: Offered, run: RunId },
    /// To cancel it.
    Cancel,
}

impl Mailbox {
    pub(super) fn resolve(&self, aim: &Aim, call: Call, by: Answerer, ctx: MailContext<'_>) -> MailDecision {
        if !ctx.authority.may_answer(by.token, ctx.now) {
            return self.refused(MailRefusal::OwnerUnavailable, None);
        }
        let Some(entry) = self.asks.get(&aim.request) else {
            return self.refused(MailRefusal::StaleRequest, None);
        };
        if let Some(reason) = lost(entry, ctx.facts) {
            return self.reconcile(&entry.ask, reason, &call, ctx);
        }
        // A life that is over answers nothing more, though its asks stay readable.
        if aim.incarnation != self.head.incarnation || entry.ask.incarnation != self.head.incarnation {
            return self.refused(MailRefusal::StaleRequest, Some(aim.request));
        }
        if entry.resolution != Resolution::Pending && !mutant::on(Mutant::M1AnsweredTwice) {
            return self.unchanged(again(entry, &call, by.token));
        }
        if aim.revision != self.head.revision {
            return self.unchanged(MailOutcome::RevisionConflict(aim.request));
        }
        match call {
            Call::Answer { offered, run } => self.answer(entry, (offered, run), by, ctx),
            Call::Cancel => self.cancel(&entry.ask, by.by, ctx),
        }
    }

    /// Whether that answer is one to seal now: it came for a secret ask that waits, was given to the
    /// mailbox as it stands, and is long enough. Any other is refused without its words.
    pub fn seals(&self, aim: &Aim, answer: &Answer) -> bool {
        let Some(entry) = self.asks.get(&aim.request) else { return false };
        let (ask, head) = (&entry.ask, &self.head);
        let current = aim.incarnation == head.incarnation && ask.incarnation == head.incarnation;
        let waits = entry.resolution == Resolution::Pending && aim.revision == head.revision;
        let enough = match answer {
            Answer::Text { text } => is_long_enough(text),
            Answer::Choice { .. } | Answer::Worker { .. } => false,
        };
        current && waits && enough && ask.keeps_secret() && answer.fits(ask).is_ok()
    }

    fn answer(
        &self,
        entry: &Entry,
        (offered, run): (Offered, RunId),
        by: Answerer,
        ctx: MailContext<'_>,
    ) -> MailDecision {
        let ask = &entry.ask;
        let refused = |why| self.refused(why, Some(ask.request));
        if ask.purpose == Purpose::Preference && ctx.facts.native == NativeFact::Owns {
            return refused(MailRefusal::NativeDriverActive);
        }
        if mutant::on(Mutant::M3FullTakesNoAnswer) && self.asks.len() >= super::RECORDS_MAX {
            return refused(MailRefusal::StateUnavailable);
        }
        if let Err(why) = offered.answer.fits(ask) {
            return refused(why);
        }
        if ask.worker.is_some() && ctx.facts.worker == WorkerFact::Crossing {
            return refused(MailRefusal::AnswerInProgress);
        }
        match kept(ask, offered) {
            Some(answer) => {
                let resolution = Resolution::Submitted { answer, by: by.by, answerer: by.token, at: ctx.now, run };
                self.accept(entry, resolution)
            }
            None => refused(MailRefusal::InvalidAnswer),
        }
    }

    fn accept(&self, entry: &Entry, resolution: Resolution) -> MailDecision {
        let ask = &entry.ask;
        let mut changing = self.changing();
        let shown = shown(ask, &resolution);
        changing.resolve(ask, resolution);
        changing.changes.extend(shown.map(MailChange::Shown));
        changing.done(Moved::Asks, MailOutcome::Accepted(ask.request))
    }

    /// The host cancels what the owner's call can no longer be about.
    fn reconcile(&self, ask: &std::sync::Arc<Ask>, reason: Lost, call: &Call, ctx: MailContext<'_>) -> MailDecision {
        let mut changing = self.changing();
        changing.resolve(ask, Resolution::Cancelled { reason: reason.cancels(), by: By::service(), at: ctx.now });
        changing.forget_asks(self, ctx.facts.continuing);
        let outcome = match call {
            Call::Answer { .. } => MailOutcome::Refused(reason.refuses(), Some(ask.request)),
            Call::Cancel => MailOutcome::Resolved(ask.request),
        };
        changing.done(Moved::Asks, outcome)
    }
}

/// Why an ask is no longer what it was published as.
#[derive(Debug, Clone, Copy)]
enum Lost {
    Worker,
    Context,
}

impl Lost {
    fn cancels(self) -> CancelReason {
        match self {
            Self::Worker => CancelReason::WorkerQuestionResolved,
            Self::Context => CancelReason::OwnerContextLost,
        }
    }

    fn refuses(self) -> MailRefusal {
        match self {
            Self::Worker => MailRefusal::WorkerQuestionResolved,
            Self::Context => MailRefusal::OwnerContextLost,
        }
    }
}

fn lost(entry: &Entry, facts: Facts<'_>) -> Option<Lost> {
    let (ask, pending) = (&entry.ask, entry.resolution == Resolution::Pending);
    if pending && ask.worker.is_some() && facts.worker == WorkerFact::ResolvedElsewhere {
        return Some(Lost::Worker);
    }
    let held = ask.purpose != Purpose::Preference || facts.context == ContextFact::Held;
    (pending && !held).then_some(Lost::Context)
}

/// A call on an ask that is resolved: the same operation with the same outcome gets its receipt,
/// whoever called first and whatever else has moved. A secret is compared for the credential alone
/// that gave it: to anybody else the outcome would tell whether a guess of it is right.
fn again(entry: &Entry, call: &Call, caller: TokenId) -> MailOutcome {
    let request = entry.ask.request;
    let same = match (&entry.resolution, call) {
        (Resolution::Submitted { answer: StoredAnswer::Open(answer), .. }, Call::Answer { offered, .. }) => {
            *answer == offered.answer
        }
        (
            Resolution::Submitted { answer: StoredAnswer::Sealed(sealed), answerer, .. },
            Call::Answer { offered, .. },
        ) => *answerer == caller && offered.sealed.as_ref().is_some_and(|again| again.digest == sealed.digest),
        (Resolution::Cancelled { .. }, Call::Cancel) => true,
        (Resolution::Cancelled { .. }, Call::Answer { .. }) if mutant::on(Mutant::M5CancelledIsAnswered) => true,
        (Resolution::Submitted { .. }, Call::Cancel)
        | (Resolution::Cancelled { .. }, Call::Answer { .. })
        | (Resolution::Pending, Call::Answer { .. } | Call::Cancel) => false,
    };
    if same {
        MailOutcome::Resolved(request)
    } else {
        MailOutcome::Refused(MailRefusal::ConflictingAnswer, Some(request))
    }
}

/// The answer as it is kept. A secret one that came unsealed is not kept at all.
fn kept(ask: &Ask, offered: Offered) -> Option<StoredAnswer> {
    if ask.keeps_secret() && !mutant::on(Mutant::M7StoredOpen) {
        let enough = match &offered.answer {
            Answer::Text { text } => is_long_enough(text),
            Answer::Choice { .. } | Answer::Worker { .. } => true,
        };
        return offered.sealed.filter(|_| enough).map(StoredAnswer::Sealed);
    }
    Some(StoredAnswer::Open(offered.answer))
}

fn shown(ask: &Ask, resolution: &Resolution) -> Option<AnswerLine> {
    match resolution {
        Resolution::Submitted { answer, by, at, .. } => Some(AnswerLine {
            conversation: ask.conversation.clone(),
            request: ask.request,
            by: by.clone(),
            text: line(ask, answer),
            at: *at,
        }),
        Resolution::Pending | Resolution::Cancelled { .. } => None,
    }
}
