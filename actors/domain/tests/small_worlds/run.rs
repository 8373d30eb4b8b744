//! One run outside the room: the real session machine between a room's orders and an agent that
//! may do anything the executor interface allows.
//!
//! What the agent really read is kept here, apart from what the machine believes.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

use clankie_domain::ids::{HandoffId, RunId};
use clankie_domain::result::{Approval, FailCode};
use clankie_domain::session::{
    AbortReason, Command, OUTPUT_MAX, Outcome, ReadList, Reply, RunEnd, RunOutcome, Session, SessionEffect,
    SessionEvent, SessionInput,
};
use clankie_domain::stall::STALL_AFTER_MS;
use clankie_domain::steering::{Joiner, Mark};
use clankie_domain::time::Timestamp;

use crate::script::{Ending, Habit};

/// What a room orders, on its way.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Order {
    Hand(Joiner),
    TakeBack(HandoffId),
    Abort(AbortReason),
}

/// What a run reports, on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Report {
    Ready,
    Ended(RunEnd),
    Gone,
}

impl Hash for Report {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Ready => 0_u8.hash(state),
            Self::Gone => 1_u8.hash(state),
            Self::Ended(end) => {
                match &end.outcome {
                    RunOutcome::Replied(reply) => (2_u8, matches!(reply, Reply::Text { .. })).hash(state),
                    RunOutcome::Failed(code) => (3_u8, code).hash(state),
                    RunOutcome::Stopped(why) => (4_u8, why).hash(state),
                }
                match &end.read {
                    ReadList::Exactly(read) => read.hash(state),
                    ReadList::Unknown => 9_u8.hash(state),
                }
            }
        }
    }
}

/// How far the agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Agent {
    Opening,
    Open,
    Told,
    Over,
}

/// How the end of a run came about, as the world knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Truth {
    Alive,
    Settled,
    Died,
}

/// One run.
#[derive(Debug, Clone, Hash)]
pub(crate) struct Run {
    pub(crate) id: RunId,
    pub(crate) room: usize,
    pub(crate) handoff: HandoffId,
    machine: Session,
    pub(crate) orders: VecDeque<Order>,
    pub(crate) reports: VecDeque<Report>,
    agent: Agent,
    grace: bool,
    unread: Vec<HandoffId>,
    pub(crate) read: Vec<HandoffId>,
    /// What must not be handed over any more.
    handed: Vec<HandoffId>,
    /// What the room ordered while it was alive, in order.
    pub(crate) given: Vec<HandoffId>,
    pub(crate) taken_back: Vec<HandoffId>,
    pub(crate) aborts: u8,
    pub(crate) truth: Truth,
    group_gone: bool,
    ends: u8,
}

impl Run {
    pub(crate) fn new(id: RunId, room: usize, handoff: HandoffId, joiners: Vec<Joiner>) -> Self {
        let given = joiners.iter().map(|joiner| joiner.handoff).collect();
        Self {
            id,
            room,
            handoff,
            machine: Session::new(joiners, STALL_AFTER_MS, OUTPUT_MAX, Timestamp(0)),
            orders: VecDeque::new(),
            reports: VecDeque::new(),
            agent: Agent::Opening,
            grace: false,
            unread: Vec::new(),
            read: Vec::new(),
            handed: Vec::new(),
            given,
            taken_back: Vec::new(),
            aborts: 0,
            truth: Truth::Alive,
            group_gone: false,
            ends: 0,
        }
    }

    /// Whether nothing of it is left.
    pub(crate) fn is_over(&self) -> bool {
        self.group_gone && self.reports.is_empty()
    }

    pub(crate) fn group_is_gone(&self) -> bool {
        self.group_gone
    }

    pub(crate) fn may_become_ready(&self, habit: Habit) -> bool {
        habit == Habit::Reads && self.agent == Agent::Opening
    }

    pub(crate) fn may_read(&self) -> bool {
        matches!(self.agent, Agent::Open | Agent::Told) && !self.unread.is_empty()
    }

    pub(crate) fn may_end(&self) -> bool {
        self.truth == Truth::Alive
    }

    pub(crate) fn may_obey(&self) -> bool {
        self.may_end() && self.agent == Agent::Told
    }

    pub(crate) fn grace_may_be_over(&self) -> bool {
        self.may_end() && self.grace
    }

    pub(crate) fn group_may_go(&self) -> bool {
        self.truth != Truth::Alive && !self.group_gone
    }

    pub(crate) fn order(&mut self, order: Order) {
        // A machine that has ended takes nothing in, which the session tests hold.
        if self.truth != Truth::Alive {
            return;
        }
        match &order {
            Order::Hand(joiner) => self.given.push(joiner.handoff),
            Order::TakeBack(handoff) => self.taken_back.push(*handoff),
            Order::Abort(_) => self.aborts += 1,
        }
        self.orders.push_back(order);
    }

    pub(crate) fn take_order(&mut self) -> Result<(), String> {
        match self.orders.pop_front() {
            Some(Order::Hand(joiner)) => self.step(SessionInput::Hand(joiner)),
            Some(Order::TakeBack(handoff)) => {
                self.handed.push(handoff);
                self.step(SessionInput::TakeBack(handoff))
            }
            Some(Order::Abort(why)) => self.step(SessionInput::Abort(why)),
            None => Ok(()),
        }
    }

    pub(crate) fn become_ready(&mut self) -> Result<(), String> {
        self.agent = Agent::Open;
        self.step(SessionInput::Event(SessionEvent::Ready))
    }

    pub(crate) fn read_one(&mut self) -> Result<(), String> {
        let next = self.unread.remove(0);
        self.read.push(next);
        self.step(SessionInput::Event(SessionEvent::Steer(next, Mark::Taken)))?;
        self.step(SessionInput::Event(SessionEvent::Steer(next, Mark::Read)))
    }

    pub(crate) fn end(&mut self, ending: Ending) -> Result<(), String> {
        let text = Reply::Text { text: "done".into(), media: Vec::new() };
        let prompt = Reply::WaitingUser { prompt: "may I".into(), approval: Approval::NotRequired };
        match ending {
            Ending::Reply => self.settle(Outcome::Completed(text)),
            Ending::Wait => self.settle(Outcome::Completed(prompt)),
            Ending::Fail => self.settle(Outcome::Failed(FailCode::ModelUnavailable)),
            Ending::Die => self.die(),
            Ending::GoneFirst => {
                self.go();
                self.die()
            }
        }
    }

    pub(crate) fn obey(&mut self) -> Result<(), String> {
        self.settle(Outcome::Aborted)
    }

    /// It is killed right after it read one more steer, which nobody heard of.
    pub(crate) fn grace_over(&mut self) -> Result<(), String> {
        self.read.extend(self.unread.drain(..).take(1));
        self.step(SessionInput::GraceOver)?;
        self.over(Truth::Died)
    }

    pub(crate) fn go(&mut self) {
        self.group_gone = true;
        self.reports.push_back(Report::Gone);
    }

    /// Every steer that it was handed is given back before it settles.
    fn settle(&mut self, outcome: Outcome) -> Result<(), String> {
        for unread in std::mem::take(&mut self.unread) {
            self.step(SessionInput::Event(SessionEvent::Steer(unread, Mark::Unread)))?;
        }
        self.step(SessionInput::Event(SessionEvent::Settled(outcome)))?;
        self.over(Truth::Settled)
    }

    fn die(&mut self) -> Result<(), String> {
        self.step(SessionInput::Exited)?;
        self.over(Truth::Died)
    }

    fn over(&mut self, truth: Truth) -> Result<(), String> {
        self.truth = truth;
        self.agent = Agent::Over;
        self.unread.clear();
        self.orders.clear();
        if self.ends == 1 { Ok(()) } else { Err(format!("a run reported {} ends", self.ends)) }
    }

    fn step(&mut self, input: SessionInput) -> Result<(), String> {
        let effects = self.machine.step(input, Timestamp(0));
        effects.into_iter().try_for_each(|effect| self.follow(effect))
    }

    fn follow(&mut self, effect: SessionEffect) -> Result<(), String> {
        match effect {
            SessionEffect::Command(Command::Steer(joiner)) => {
                if self.handed.contains(&joiner.handoff) {
                    return Err(format!("I3: steer {} was handed over twice, or was taken back", joiner.handoff));
                }
                self.handed.push(joiner.handoff);
                self.unread.push(joiner.handoff);
            }
            SessionEffect::Command(Command::CancelSteer(handoff)) => {
                let before = self.unread.len();
                self.unread.retain(|unread| *unread != handoff);
                if self.unread.len() < before {
                    self.step(SessionInput::Event(SessionEvent::Steer(handoff, Mark::Unread)))?;
                }
            }
            SessionEffect::Command(Command::Abort) => self.agent = Agent::Told,
            SessionEffect::StartGrace => self.grace = true,
            SessionEffect::Ready => self.reports.push_back(Report::Ready),
            SessionEffect::Ended(end) => {
                self.ends += 1;
                self.reports.push_back(Report::Ended(end));
            }
            SessionEffect::Command(Command::Begin | Command::Kill)
            | SessionEffect::Took
            | SessionEffect::Doing(_)
            | SessionEffect::Transcript(_) => {}
        }
        Ok(())
    }
}
