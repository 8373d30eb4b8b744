//! The machine of one run: every history of up to six inputs ends once and reads what was read.

use clankie_domain::handoff::Usage;
use clankie_domain::ids::{DeliveryId, HandoffId};
use clankie_domain::result::{By, FailCode};
use clankie_domain::session::{
    AbortReason, Command, Outcome, ReadList, Reply, RunEnd, RunOutcome, Session, SessionEffect, SessionEvent,
    SessionInput,
};
use clankie_domain::stall::{STALL_AFTER_MS, TICK_MS};
use clankie_domain::steering::{Joiner, Mark};
use clankie_domain::time::Timestamp;
use uuid::Uuid;

const LONGEST: usize = 6;
/// Bytes of output that a run may make here: one text is fine, two are too much.
const OUTPUT: u64 = 10;

fn joiner(n: u128) -> Joiner {
    Joiner { handoff: id(n), delivery: DeliveryId::parse(&format!("m{n}")).unwrap(), text: format!("words {n}") }
}

fn id(n: u128) -> HandoffId {
    HandoffId(Uuid::from_u128(n))
}

fn reply() -> Reply {
    Reply::Text { text: "done".into(), media: Vec::new() }
}

fn cancelled() -> AbortReason {
    AbortReason::Cancelled(By::service())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    Ready,
    Hand,
    TakeBack(u128),
    Mark(u128, Mark),
    Text,
    Reply,
    Aborted,
    Fail,
    Uncertain,
    Cancel,
    Revoke,
    GraceOver,
    Exited,
}

const INPUTS: [Input; 16] = [
    Input::Ready,
    Input::Hand,
    Input::TakeBack(1),
    Input::Mark(1, Mark::Read),
    Input::Mark(2, Mark::Read),
    Input::Mark(1, Mark::Unread),
    Input::Mark(2, Mark::Taken),
    Input::Text,
    Input::Reply,
    Input::Aborted,
    Input::Fail,
    Input::Uncertain,
    Input::Cancel,
    Input::Revoke,
    Input::GraceOver,
    Input::Exited,
];

/// What the history so far amounts to, kept without the machine.
#[derive(Debug, Clone, Default)]
struct Model {
    open: bool,
    known: Vec<u128>,
    final_marks: Vec<(u128, Mark)>,
    steered: Vec<u128>,
    texts: usize,
    hands: u128,
    abort: Option<AbortReason>,
    graces: usize,
    end: Option<RunEnd>,
}

impl Model {
    fn expects(&mut self, input: Input) -> Option<(RunOutcome, ReadList)> {
        match input {
            Input::Ready => self.open = true,
            Input::Hand => {
                self.hands += 1;
                self.known.push(self.hands);
            }
            Input::TakeBack(n) if !self.open => self.known.retain(|known| *known != n),
            Input::TakeBack(_) => {}
            Input::Mark(n, mark) => self.mark(n, mark),
            Input::Text => self.texts += 1,
            Input::Cancel => self.stop(cancelled()),
            Input::Revoke => self.stop(AbortReason::Revoked(clankie_domain::grant::Revoked::Owner)),
            Input::GraceOver => {
                let why = self.abort.clone()?;
                return Some((RunOutcome::Stopped(why), ReadList::Unknown));
            }
            Input::Exited => return Some((self.stopped_or(FailCode::ExecutorFailed), ReadList::Unknown)),
            Input::Fail => return Some((self.stopped_or(FailCode::ModelUnavailable), self.read())),
            Input::Aborted => return Some((self.stopped_or(FailCode::ExecutorFailed), self.read())),
            Input::Uncertain => return Some((self.stopped_or(FailCode::NativeUncertain), self.read())),
            Input::Reply => {
                let outcome = match &self.abort {
                    None | Some(AbortReason::Cancelled(_) | AbortReason::Shutdown) => RunOutcome::Replied(reply()),
                    Some(why) => RunOutcome::Stopped(why.clone()),
                };
                return Some((outcome, self.read()));
            }
        }
        if self.texts as u64 * 6 > OUTPUT {
            self.stop(AbortReason::Budget);
        }
        None
    }

    fn mark(&mut self, n: u128, mark: Mark) {
        let is_new = self.known.contains(&n) && !self.final_marks.iter().any(|(of, _)| *of == n);
        if is_new && matches!(mark, Mark::Read | Mark::Unread) {
            self.final_marks.push((n, mark));
        }
    }

    fn stop(&mut self, why: AbortReason) {
        self.abort.get_or_insert(why);
    }

    fn stopped_or(&self, code: FailCode) -> RunOutcome {
        self.abort.clone().map_or(RunOutcome::Failed(code), RunOutcome::Stopped)
    }

    fn read(&self) -> ReadList {
        let read = self.known.iter().filter(|n| self.final_marks.contains(&(**n, Mark::Read)));
        ReadList::Exactly(read.map(|n| id(*n)).collect())
    }
}

fn real(input: Input, hands: u128) -> SessionInput {
    let event = SessionInput::Event;
    match input {
        Input::Ready => event(SessionEvent::Ready),
        Input::Hand => SessionInput::Hand(joiner(hands + 1)),
        Input::TakeBack(n) => SessionInput::TakeBack(id(n)),
        Input::Mark(n, mark) => event(SessionEvent::Steer(id(n), mark)),
        Input::Text => event(SessionEvent::Text("abcdef".into())),
        Input::Reply => event(SessionEvent::Settled(Outcome::Completed(reply()))),
        Input::Aborted => event(SessionEvent::Settled(Outcome::Aborted)),
        Input::Fail => event(SessionEvent::Settled(Outcome::Failed(FailCode::ModelUnavailable))),
        Input::Uncertain => event(SessionEvent::Settled(Outcome::Uncertain)),
        Input::Cancel => SessionInput::Abort(cancelled()),
        Input::Revoke => SessionInput::Abort(AbortReason::Revoked(clankie_domain::grant::Revoked::Owner)),
        Input::GraceOver => SessionInput::GraceOver,
        Input::Exited => SessionInput::Exited,
    }
}

fn check(session: &mut Session, model: &mut Model, input: Input) {
    let effects = session.step(real(input, model.hands), Timestamp(0));
    if model.end.is_some() {
        assert_eq!(effects, vec![], "an ended run said something after {input:?}");
        return;
    }
    let expected = model.expects(input);
    for effect in &effects {
        match effect {
            SessionEffect::Command(Command::Steer(joiner)) => model.steered.push(joiner.handoff.0.as_u128()),
            SessionEffect::StartGrace => model.graces += 1,
            SessionEffect::Ended(end) => {
                assert!(model.end.is_none(), "two ends");
                model.end = Some(end.clone());
            }
            SessionEffect::Command(_)
            | SessionEffect::Ready
            | SessionEffect::Took
            | SessionEffect::Doing(_)
            | SessionEffect::Transcript(_) => {}
        }
    }
    let ended = model.end.clone().map(|end| (end.outcome, end.read));
    assert_eq!(ended, expected, "{input:?} with {model:?}");
    assert_eq!(model.graces, usize::from(model.abort.is_some()), "{model:?}");
    if model.open {
        assert_eq!(model.steered, model.known, "each known steer is handed over once, in order: {model:?}");
    } else {
        assert!(model.steered.is_empty(), "handed over before it was ready: {model:?}");
    }
}

fn walk(session: &Session, model: &Model, left: usize) -> usize {
    if left == 0 || model.end.is_some() {
        let (mut session, mut model) = (session.clone(), model.clone());
        check(&mut session, &mut model, Input::Exited);
        assert!(model.end.is_some(), "it did not end: {model:?}");
        for input in INPUTS {
            check(&mut session, &mut model, input);
        }
        return 1;
    }
    let mut histories = 0;
    for input in INPUTS {
        let (mut session, mut model) = (session.clone(), model.clone());
        check(&mut session, &mut model, input);
        histories += walk(&session, &model, left - 1);
    }
    histories
}

#[test]
fn i3_i9_every_short_history_of_a_run_ends_once_with_what_was_read() {
    let session = Session::new(Vec::new(), STALL_AFTER_MS, OUTPUT, Timestamp(0));
    let histories = walk(&session, &Model::default(), LONGEST);
    println!("{histories} histories of a run");
    assert!(histories > 100_000);
}

#[test]
fn joiners_of_a_start_are_handed_over_in_order_once_it_is_ready() {
    let mut session = Session::new(vec![joiner(1), joiner(2)], STALL_AFTER_MS, OUTPUT, Timestamp(0));
    session.step(SessionInput::Hand(joiner(3)), Timestamp(0));
    session.step(SessionInput::TakeBack(id(2)), Timestamp(0));
    let effects = session.step(SessionInput::Event(SessionEvent::Ready), Timestamp(0));
    let mut handed = Vec::new();
    for effect in effects {
        if let SessionEffect::Command(Command::Steer(joiner)) = effect {
            handed.push(joiner.handoff);
        }
    }
    assert_eq!(handed, vec![id(1), id(3)]);
}

/// B28: a run that never settles is stopped for its silence, and its end is reported all the same.
#[test]
fn b28_a_run_that_never_settles_ends_as_stalled() {
    let mut session = Session::new(vec![joiner(1)], STALL_AFTER_MS, OUTPUT, Timestamp(0));
    session.step(SessionInput::Event(SessionEvent::Ready), Timestamp(0));
    let mut at = Timestamp(0);
    let mut effects = Vec::new();
    while effects.is_empty() {
        at = at.plus(TICK_MS);
        effects = session.step(SessionInput::Tick, at);
    }
    assert_eq!(at, Timestamp(0).plus(STALL_AFTER_MS));
    assert_eq!(effects, vec![SessionEffect::Command(Command::Abort), SessionEffect::StartGrace]);
    let end =
        RunEnd { outcome: RunOutcome::Stopped(AbortReason::Stalled), read: ReadList::Unknown, usage: Usage::default() };
    let over = session.step(SessionInput::GraceOver, at);
    assert_eq!(over, vec![SessionEffect::Ended(end), SessionEffect::Command(Command::Kill)]);
}
