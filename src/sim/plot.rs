//! What is going to happen in a world, and when: who says what, and which faults come between.

use std::collections::BTreeMap;
use std::sync::Arc;

use clankie_domain::grant::Plan;
use clankie_domain::ids::{DeliveryId, Malformed};

use super::cast::{Cast, Said};
use super::dice::Dice;
use super::disk::Fault;
use super::history::{Manner, Wish};

/// How long people talk, in milliseconds.
const EVENING: (u64, u64) = (30_000, 120_000);
/// What is said in an evening.
const SAID: (u64, u64) = (8, 30);
/// The same where more is said than can be done.
const CROWDED_EVENING: (u64, u64) = (8_000, 24_000);
const CROWDED_SAID: (u64, u64) = (20, 40);
/// How often an owner looks, in an evening.
const LOOKS: (u64, u64) = (6, 24);

/// Words on their way to the front door.
#[derive(Debug, Clone)]
pub(super) struct Errand {
    /// Which message.
    pub(super) message: usize,
    pub(super) manner: Manner,
    /// Its words, when they are others than the first.
    pub(super) text: Option<String>,
    /// How often it was tried.
    pub(super) tries: u32,
}

/// Something that happens.
#[derive(Debug, Clone)]
pub(super) enum Deed {
    /// A gateway hands words in.
    Hand(Errand),
    /// The speaker of a message wants it to end.
    Halt(usize),
    /// The message was deleted.
    Retract(usize),
    /// A gateway comes back and hands in again what it had handed in, and what it had missed.
    Resume(usize),
    /// An owner's surface looks at the mailbox, and deals with something.
    Look,
    /// Several surfaces deal with one ask at once.
    Rush,
    /// A call is made once more, as it was.
    Again(Arc<(usize, Wish)>),
    /// The owner wants a reply posted once more.
    Repost,
    /// Configuration changes.
    Reload,
    /// A device loses its grant.
    Unpair,
    /// The credential of the lane goes.
    CutLane,
    /// The wall clock is moved.
    Jump(i64),
    /// The clock breaks under whoever asks next.
    Break,
    /// The process is killed.
    Kill,
    /// The process is told to stop.
    Stop,
    /// The disk has a fault after so many calls.
    Arm(u64, Fault),
    /// Several processes in a row live only for moments.
    Storm(u32),
    /// Faults are over.
    Calm,
    /// Is everything settled?
    Settled,
}

/// What is to come, in order.
#[derive(Debug)]
pub(super) struct Plot {
    queue: BTreeMap<(u64, u64), Deed>,
    next: u64,
    /// Everything that is said.
    pub(super) messages: Vec<Said>,
}

impl Plot {
    /// The plot of a seed.
    pub(super) fn of(seed: u64, cast: &Cast) -> Result<Self, Malformed> {
        let mut plot = Self { queue: BTreeMap::new(), next: 0, messages: Vec::new() };
        let mut dice = Dice::of(seed, "plot");
        let (long, said) = if cast.is_crowded { (CROWDED_EVENING, CROWDED_SAID) } else { (EVENING, SAID) };
        let evening = dice.span(long.0, long.1);
        let many = dice.between(said.0, said.1);
        while (plot.messages.len() as u64) < many {
            plot.burst(cast, evening, &mut dice)?;
        }
        for _ in 0..dice.between(LOOKS.0, LOOKS.1) {
            let deed = if dice.percent(25) { Deed::Rush } else { Deed::Look };
            plot.add(dice.span(2_000, evening + 10_000), deed);
        }
        plot.faults(cast, evening, &mut dice);
        plot.endings(evening, &mut dice);
        plot.add(evening + 20_000, Deed::Calm);
        Ok(plot)
    }

    /// Something happens at that age of the world.
    pub(super) fn add(&mut self, at: u64, deed: Deed) {
        self.queue.insert((at + at % 2, self.next), deed);
        self.next += 1;
    }

    /// When something happens next.
    pub(super) fn next_at(&self) -> Option<u64> {
        self.queue.keys().next().map(|(at, _)| *at)
    }

    /// What happens next.
    pub(super) fn take(&mut self) -> Option<Deed> {
        self.queue.pop_first().map(|(_, deed)| deed)
    }

    /// One person says one thing or several in a row.
    fn burst(&mut self, cast: &Cast, evening: u64, dice: &mut Dice) -> Result<(), Malformed> {
        let place = usize::try_from(dice.below(cast.places.len() as u64)).unwrap_or_default();
        let actor = cast.somebody(place, dice)?;
        let many = if dice.percent(40) { dice.between(2, 4) } else { 1 };
        let mut at = dice.span(0, evening);
        for _ in 0..many {
            let message = self.messages.len();
            let delivery = DeliveryId::parse(&format!("m{message}"))?;
            let text = format!("please do {message}");
            let wanted = dice.percent(10).then_some(Plan::Social);
            self.messages.push(Said { place, actor: actor.clone(), delivery, wanted, text });
            self.deliver(message, at, dice);
            at += dice.span(0, 2_000);
        }
        Ok(())
    }

    /// The ways of one message: late, twice, not at all until its gateway comes back, with others' words.
    fn deliver(&mut self, message: usize, at: u64, dice: &mut Dice) {
        let hand = |manner, text| Deed::Hand(Errand { message, manner, text, tries: 0 });
        let arrives = at + if dice.percent(40) { dice.span(0, 4_000) } else { 0 };
        if !dice.percent(8) {
            self.add(arrives, hand(Manner::Submit, None));
        }
        if dice.percent(30) {
            self.add(arrives + dice.span(0, 25_000), hand(Manner::Submit, None));
        }
        if dice.percent(15) {
            self.add(arrives, hand(Manner::Submit, None));
        }
        if dice.percent(5) {
            self.add(arrives + dice.span(0, 9_000), hand(Manner::Submit, Some(format!("forged {message}"))));
        }
        if dice.percent(10) {
            self.add(arrives + dice.span(0, 6_000), hand(Manner::Edit, Some(format!("rather do {message}"))));
        }
        if dice.percent(8) {
            self.add(arrives + dice.span(0, 9_000), Deed::Halt(message));
        }
        if dice.percent(5) {
            self.add(arrives + dice.span(0, 5_000), Deed::Retract(message));
        }
    }

    /// What goes wrong, or changes, while a process goes on.
    fn faults(&mut self, cast: &Cast, evening: u64, dice: &mut Dice) {
        for _ in 0..dice.below(3) {
            let place = usize::try_from(dice.below(cast.places.len() as u64)).unwrap_or_default();
            self.add(dice.span(0, evening), Deed::Resume(place));
        }
        for _ in 0..dice.below(3) {
            self.add(dice.span(0, evening), Deed::Reload);
        }
        for (percent, deed) in [(35, Deed::Unpair), (8, Deed::CutLane), (25, Deed::Repost), (15, Deed::Break)] {
            if dice.percent(percent) {
                self.add(dice.span(0, evening), deed);
            }
        }
        if dice.percent(25) {
            let far = i64::try_from(dice.span(1_000, 3 * 3_600_000)).unwrap_or(0);
            let jump = if dice.percent(50) { far } else { -far };
            self.add(dice.span(0, evening), Deed::Jump(jump));
        }
    }

    /// How processes end.
    fn endings(&mut self, evening: u64, dice: &mut Dice) {
        for _ in 0..dice.below(4) {
            let at = dice.span(0, evening);
            let calls = dice.between(1, 300);
            let deed = match dice.below(10) {
                0 | 1 => Deed::Kill,
                2 => Deed::Stop,
                3..=6 => Deed::Arm(calls, Fault::Cut),
                7 => Deed::Arm(calls, Fault::Full),
                8 => Deed::Arm(calls, Fault::Broken),
                _ => Deed::Storm(u32::try_from(dice.between(2, 4)).unwrap_or(2)),
            };
            self.add(at, deed);
        }
    }
}
