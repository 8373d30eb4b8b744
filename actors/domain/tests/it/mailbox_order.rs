//! The order of the checks of an answer and of a cancellation, which is part of the contract: every
//! set of faults that can meet in one call, where the earliest must win.

use std::collections::BTreeSet;

use clankie_domain::answer::Answer;
use clankie_domain::ask::{CancelReason, Draft, Purpose, Resolution, WorkerRequestId};
use clankie_domain::ids::{RequestId, TokenId};
use clankie_domain::mailbox::{
    Aim, ContextFact, Found, MailContext, MailOutcome, MailRefusal, NativeFact, WorkerFact, refuse_early,
};
use uuid::Uuid;

use crate::desk::{CAPTAIN, DEVICE, Desk, OPERATOR};
use crate::drafts::{by, decision, escalation, incarnation, text, to_worker};

/// What may be wrong with one call, in the order of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    NoAuthority,
    NoConversation,
    Unreadable,
    WorkerElsewhere,
    ContextLost,
    UnknownAsk,
    OtherLife,
    AnsweredAlike,
    AnsweredOtherwise,
    CancelledBefore,
    OldRevision,
    NativeDriver,
    BadAnswer,
    BadWorkerAnswer,
    Crossing,
}

use Fault::{
    AnsweredAlike, AnsweredOtherwise, BadAnswer, BadWorkerAnswer, CancelledBefore, ContextLost, Crossing, NativeDriver,
    NoAuthority, NoConversation, OldRevision, OtherLife, UnknownAsk, Unreadable, WorkerElsewhere,
};

const ALL: [Fault; 15] = [
    NoAuthority,
    NoConversation,
    Unreadable,
    WorkerElsewhere,
    ContextLost,
    UnknownAsk,
    OtherLife,
    AnsweredAlike,
    AnsweredOtherwise,
    CancelledBefore,
    OldRevision,
    NativeDriver,
    BadAnswer,
    BadWorkerAnswer,
    Crossing,
];

/// Faults that no one call has at once.
const APART: [(Fault, Fault); 24] = [
    (NoConversation, Unreadable),
    // Only a pending ask can lose what it was about, and only an ask that is there.
    (WorkerElsewhere, UnknownAsk),
    (WorkerElsewhere, AnsweredAlike),
    (WorkerElsewhere, AnsweredOtherwise),
    (WorkerElsewhere, CancelledBefore),
    (WorkerElsewhere, Crossing),
    (ContextLost, UnknownAsk),
    (ContextLost, AnsweredAlike),
    (ContextLost, AnsweredOtherwise),
    (ContextLost, CancelledBefore),
    (UnknownAsk, AnsweredAlike),
    (UnknownAsk, AnsweredOtherwise),
    (UnknownAsk, CancelledBefore),
    (AnsweredAlike, AnsweredOtherwise),
    (AnsweredAlike, CancelledBefore),
    (AnsweredOtherwise, CancelledBefore),
    // What was accepted before was no bad answer.
    (AnsweredAlike, BadAnswer),
    (AnsweredAlike, BadWorkerAnswer),
    // An ask carries a worker's question or does not.
    (WorkerElsewhere, BadAnswer),
    (BadAnswer, BadWorkerAnswer),
    (BadAnswer, Crossing),
    (UnknownAsk, BadAnswer),
    (UnknownAsk, BadWorkerAnswer),
    (UnknownAsk, Crossing),
];

/// Every set of faults that one call can have.
fn meetings() -> impl Iterator<Item = BTreeSet<Fault>> {
    let set = |bits: u32| (0..ALL.len()).filter(move |n| bits & (1 << n) != 0).map(|n| ALL[n]).collect();
    let apart = |set: &BTreeSet<Fault>| APART.iter().any(|(one, other)| set.contains(one) && set.contains(other));
    (0..1_u32 << ALL.len()).map(set).filter(move |set| !apart(set))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Answer,
    Cancel,
}

/// A desk with exactly these faults, and the call to make on it.
struct Scene {
    desk: Desk,
    request: RequestId,
    aim: Aim,
    answer: Answer,
    who: u128,
    faults: BTreeSet<Fault>,
}

impl Scene {
    fn of(faults: BTreeSet<Fault>) -> Self {
        let has = |fault| faults.contains(&fault);
        let mut desk = Desk::of_owner();
        let request = desk.asked(draft(&faults));
        let (good, other) = answers(&desk, request);
        if has(AnsweredAlike) {
            desk.answer(request, good.clone());
        } else if has(AnsweredOtherwise) {
            desk.answer(request, other);
        } else if has(CancelledBefore) {
            desk.cancel(request);
        }
        let mut aim = desk.aim(request);
        if has(UnknownAsk) {
            aim.request = RequestId(Uuid::from_u128(77));
        }
        if has(OtherLife) {
            aim.incarnation = incarnation(77);
        }
        if has(OldRevision) {
            desk.asked(decision("a sibling", &["x", "y"]));
        }
        if has(NativeDriver) {
            desk.facts.native = NativeFact::Owns;
        }
        if has(ContextLost) {
            desk.facts.context = ContextFact::Lost;
        }
        if has(WorkerElsewhere) {
            desk.facts.worker = WorkerFact::ResolvedElsewhere;
        }
        if has(Crossing) {
            desk.facts.worker = WorkerFact::Crossing;
        }
        let answer = if has(BadAnswer) || has(BadWorkerAnswer) { text(" ") } else { good };
        let who = if has(NoAuthority) { CAPTAIN } else { DEVICE };
        Self { desk, request, aim, answer, who, faults }
    }

    fn call(&mut self, operation: Operation) -> MailOutcome {
        let desk = &self.desk;
        let found = match (self.faults.contains(&NoConversation), self.faults.contains(&Unreadable)) {
            (true, _) => Found::Nothing,
            (false, true) => Found::Unreadable,
            (false, false) => Found::Mailbox(&desk.mailbox),
        };
        let ctx =
            MailContext { now: desk.now, authority: &desk.authority, autonomy: &desk.autonomy, facts: desk.facts };
        if let Some(why) = refuse_early(found, &by(self.who), ctx) {
            return MailOutcome::Refused(why, None);
        }
        match operation {
            Operation::Answer => self.desk.answer_as(self.who, self.aim.clone(), self.answer.clone()),
            Operation::Cancel => self.desk.cancel_as(self.who, self.aim.clone()),
        }
    }

    /// What the earliest fault says, by the contract.
    fn due(&self, operation: Operation) -> MailOutcome {
        let request = self.request;
        let refused = |why| MailOutcome::Refused(why, Some(request));
        let resolved = MailOutcome::Resolved(request);
        let accepted = if operation == Operation::Answer { MailOutcome::Accepted(request) } else { resolved.clone() };
        let counts = |fault: &&Fault| match operation {
            Operation::Answer => true,
            Operation::Cancel => **fault <= OldRevision,
        };
        let Some(first) = self.faults.iter().find(counts) else {
            return accepted;
        };
        match (first, operation) {
            (NoAuthority, _) => MailOutcome::Refused(MailRefusal::OwnerUnavailable, None),
            (NoConversation, _) => MailOutcome::Refused(MailRefusal::UnknownConversation, None),
            (Unreadable, _) => MailOutcome::Refused(MailRefusal::StateUnavailable, None),
            (UnknownAsk, _) => MailOutcome::Refused(MailRefusal::StaleRequest, None),
            (OtherLife, _) => refused(MailRefusal::StaleRequest),
            (WorkerElsewhere, Operation::Answer) => refused(MailRefusal::WorkerQuestionResolved),
            (ContextLost, Operation::Answer) => refused(MailRefusal::OwnerContextLost),
            (WorkerElsewhere | ContextLost | CancelledBefore, Operation::Cancel) => resolved,
            (AnsweredAlike, Operation::Answer) => resolved,
            (AnsweredAlike, Operation::Cancel) | (AnsweredOtherwise, _) | (CancelledBefore, Operation::Answer) => {
                refused(MailRefusal::ConflictingAnswer)
            }
            (OldRevision, _) => MailOutcome::RevisionConflict(request),
            (NativeDriver, _) => refused(MailRefusal::NativeDriverActive),
            (BadAnswer, _) => refused(MailRefusal::InvalidAnswer),
            (BadWorkerAnswer, _) => refused(MailRefusal::InvalidWorkerAnswer),
            (Crossing, _) => refused(MailRefusal::AnswerInProgress),
        }
    }
}

/// An ask that can have all of these faults.
fn draft(faults: &BTreeSet<Fault>) -> Draft {
    let any = |of: &[Fault]| of.iter().any(|fault| faults.contains(fault));
    let draft = if any(&[WorkerElsewhere, BadWorkerAnswer, Crossing]) {
        escalation(WorkerRequestId::Number(7), &["q"])
    } else {
        decision("which?", &["a", "b"])
    };
    if any(&[ContextLost, NativeDriver]) { Draft { purpose: Purpose::Preference, ..draft } } else { draft }
}

/// Two good answers.
fn answers(desk: &Desk, request: RequestId) -> (Answer, Answer) {
    match desk.entry(request).ask.worker {
        Some(_) => (to_worker(&[("q", &["yes"])]), to_worker(&[("q", &["no"])])),
        None => (desk.option(request, 0), desk.option(request, 1)),
    }
}

fn hold(operation: Operation) {
    let mut many = 0;
    for faults in meetings() {
        let mut scene = Scene::of(faults);
        let due = scene.due(operation);
        assert_eq!(scene.call(operation), due, "{:?}", scene.faults);
        many += 1;
    }
    println!("{operation:?}: {many} sets of faults");
    assert!(many > 1_000);
}

#[test]
fn an_answer_meets_its_checks_in_the_order_of_the_contract() {
    hold(Operation::Answer);
}

#[test]
fn a_cancellation_meets_its_checks_in_the_order_of_the_contract() {
    hold(Operation::Cancel);
}

/// Every pair that can meet was among the sets.
#[test]
fn every_pair_of_faults_meets() {
    let apart = |one, other| APART.contains(&(one, other)) || APART.contains(&(other, one));
    let met: BTreeSet<_> = meetings().collect();
    for (n, one) in ALL.into_iter().enumerate() {
        for other in ALL.into_iter().skip(n + 1).filter(|other| !apart(one, *other)) {
            assert!(met.contains(&BTreeSet::from([one, other])), "{one:?} {other:?}");
        }
    }
}

#[test]
fn what_is_lost_is_cancelled_by_the_service_and_never_by_the_caller() {
    for (fault, reason) in
        [(WorkerElsewhere, CancelReason::WorkerQuestionResolved), (ContextLost, CancelReason::OwnerContextLost)]
    {
        for operation in [Operation::Answer, Operation::Cancel] {
            let mut scene = Scene::of(BTreeSet::from([fault, OldRevision, OtherLife]));
            scene.call(operation);
            let at = scene.desk.now.minus(1);
            let by = clankie_domain::result::By::service();
            let cancelled = Resolution::Cancelled { reason, by, at };
            assert_eq!(scene.desk.entry(scene.request).resolution, cancelled);
        }
    }
}

/// The authority is read again in the decision itself, and expiry at use (M2).
#[test]
fn m2_authority_that_went_while_the_owner_waited_answers_nothing() {
    let mut desk = Desk::new();
    let request = desk.asked(decision("which?", &["a", "b"]));
    let (answer, aim) = (desk.option(request, 0), desk.aim(request));
    desk.authority.answerers.insert(TokenId(Uuid::from_u128(DEVICE)), Some(desk.now));
    desk.authority.answerers.remove(&TokenId(Uuid::from_u128(OPERATOR)));
    for who in [OPERATOR, DEVICE, CAPTAIN] {
        let gone = MailOutcome::Refused(MailRefusal::OwnerUnavailable, None);
        assert_eq!(desk.answer_as(who, aim.clone(), answer.clone()), gone);
        assert_eq!(desk.cancel_as(who, aim.clone()), gone);
        assert!(desk.changes.is_empty());
    }
    assert_eq!(desk.entry(request).resolution, Resolution::Pending);
}
