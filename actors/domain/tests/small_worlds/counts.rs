//! A second model of the owner of the counts, fed with the messages on both ways, which judges
//! what the first one says: I1 and I5 at the permits, I6 as rotation, and no needless busy.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use clankie_domain::admission::global::Post;
use clankie_domain::admission::{BusyFacts, FromGlobal, Limit, Limits, ToGlobal};
use clankie_domain::ids::{ActorId, PermitId, Ticket};

use crate::script::room_id;
use crate::store::{Verdict, must};

/// What the messages so far amount to.
#[derive(Debug, Clone)]
pub(crate) struct Counts {
    limits: Limits,
    rooms: usize,
    places: BTreeMap<Ticket, Place>,
    out: BTreeMap<PermitId, usize>,
    held: BTreeMap<PermitId, usize>,
    /// `passed[x][y]`: since the last permit for room x, room y was eligible all the time.
    passed: Vec<Vec<Passed>>,
    pub(crate) draining: Draining,
}

/// Who waits where.
pub(crate) type Place = (usize, ActorId);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Passed {
    Not,
    Over,
}

/// Whether the owner of the counts was told to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Draining {
    No,
    Yes,
}

/// Everything else here is a function of the state that is walked.
impl Hash for Counts {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.passed.hash(state);
    }
}

impl Counts {
    pub(crate) fn new(limits: Limits, rooms: usize) -> Self {
        Self {
            limits,
            rooms,
            places: BTreeMap::new(),
            out: BTreeMap::new(),
            held: BTreeMap::new(),
            passed: vec![vec![Passed::Not; rooms]; rooms],
            draining: Draining::No,
        }
    }

    /// Judges what was posted in answer to `message` from `room`.
    pub(crate) fn judge(&mut self, room: usize, message: &ToGlobal, posts: &[Post]) -> Verdict {
        let mut asked = None;
        match message {
            ToGlobal::Reserve { ticket, actor } => asked = Some((*ticket, (room, actor.clone()))),
            ToGlobal::Owe { ticket, actor } => {
                self.places.insert(*ticket, (room, actor.clone()));
            }
            ToGlobal::Withdraw(ticket) => {
                self.places.remove(ticket);
            }
            ToGlobal::Took(ticket, permit) => {
                self.places.remove(ticket);
                let came = self.out.remove(permit);
                must(came == Some(room), || format!("I5: {permit:?} was taken and was not out"))?;
                self.held.insert(*permit, room);
            }
            ToGlobal::Return(permit) => {
                must(self.out.remove(permit).is_some(), || format!("I5: {permit:?} came back and was not out"))?;
            }
            ToGlobal::Release(permit) => {
                must(self.held.remove(permit).is_some(), || format!("I5: {permit:?} was released and not held"))?;
            }
        }
        self.forget_the_ineligible();
        for post in posts {
            self.judge_post(asked.as_ref(), post)?;
        }
        self.work_conserving()
    }

    /// Judges what a boot posts over the places that it took back.
    pub(crate) fn judge_boot(&mut self, places: Vec<(Ticket, Place)>, posts: &[Post]) -> Verdict {
        self.places.extend(places);
        for post in posts {
            self.judge_post(None, post)?;
        }
        self.work_conserving()
    }

    fn judge_post(&mut self, asked: Option<&(Ticket, Place)>, post: &Post) -> Verdict {
        let room = (0..self.rooms).find(|room| room_id(*room) == post.room).ok_or("a post to nowhere")?;
        let place = |ticket| {
            let asker = asked.filter(|(asked, (at, _))| *asked == ticket && *at == room);
            asker.map(|(_, place)| place.clone()).ok_or("an answer to nobody")
        };
        match &post.message {
            FromGlobal::Run(ticket, permit) => {
                place(*ticket)?;
                self.grant(room, *permit)
            }
            FromGlobal::Permit(permit) => {
                must(self.waits(room) > 0, || format!("a permit for room {room}, where nobody waits"))?;
                self.grant(room, *permit)
            }
            FromGlobal::Wait(ticket) => {
                let place = place(*ticket)?;
                must(!self.has_permit(room), || "made to wait beside a free permit".into())?;
                must(self.full(&place).is_none(), || "I1: a place beyond the limit".into())?;
                self.places.insert(*ticket, place);
                Ok(())
            }
            FromGlobal::Busy(ticket, facts) => {
                let place = place(*ticket)?;
                must(!self.has_permit(room), || "busy beside a free permit".into())?;
                must(self.full(&place) == Some(facts.limit), || format!("busy without reason: {facts:?}"))?;
                let BusyFacts { position, running, waiting, .. } = *facts;
                let here = (self.places.len() + 1, self.out.len() + self.held.len(), self.places.len());
                must((position, running, waiting) == here, || format!("{facts:?} are no facts: {here:?}"))
            }
        }
    }

    /// The first limit that leaves no place for `place`.
    fn full(&self, (room, actor): &Place) -> Option<Limit> {
        let count = |keep: &dyn Fn(&Place) -> bool| self.places.values().filter(|place| keep(place)).count();
        let limits = [
            (Limit::Waiting, Some(self.limits.waiting), self.places.len()),
            (Limit::WaitingPerRoom, self.limits.waiting_per_room, count(&|(of, _)| of == room)),
            (Limit::WaitingPerActor, self.limits.waiting_per_actor, count(&|(_, of)| of == actor)),
        ];
        let reached = limits.into_iter().find(|(_, most, now)| most.is_some_and(|most| *now >= most));
        match (self.draining, reached) {
            (Draining::Yes, _) => Some(Limit::Waiting),
            (Draining::No, reached) => reached.map(|(limit, ..)| limit),
        }
    }

    fn grant(&mut self, room: usize, permit: PermitId) -> Verdict {
        must(self.has_permit(room), || format!("I1: a permit too many for room {room}"))?;
        for other in 0..self.rooms {
            let passed = other != room && self.passed[room][other] == Passed::Over;
            must(!passed, || format!("I6: room {room} got two permits while room {other} waited"))?;
            self.passed[other][room] = Passed::Not;
            self.passed[room][other] = if other != room && self.eligible(other) { Passed::Over } else { Passed::Not };
        }
        let fresh = self.out.insert(permit, room).is_none() && !self.held.contains_key(&permit);
        must(fresh, || format!("I5: {permit:?} was given twice"))?;
        self.forget_the_ineligible();
        Ok(())
    }

    fn forget_the_ineligible(&mut self) {
        for other in 0..self.rooms {
            if !self.eligible(other) {
                self.passed.iter_mut().for_each(|row| row[other] = Passed::Not);
            }
        }
    }

    fn work_conserving(&self) -> Verdict {
        let idle = (0..self.rooms).find(|room| self.waits(*room) > 0 && self.has_permit(*room));
        must(idle.is_none(), || format!("I5: a free permit while room {idle:?} waits"))
    }

    fn eligible(&self, room: usize) -> bool {
        self.waits(room) > 0 && self.of(room) < self.limits.running_per_room
    }

    fn has_permit(&self, room: usize) -> bool {
        let all = self.out.len() + self.held.len();
        self.draining == Draining::No && all < self.limits.running && self.of(room) < self.limits.running_per_room
    }

    fn of(&self, room: usize) -> usize {
        self.out.values().chain(self.held.values()).filter(|of| **of == room).count()
    }

    /// Places that no permit is on its way to.
    fn waits(&self, room: usize) -> usize {
        let places = self.places.values().filter(|(of, _)| *of == room).count();
        places.saturating_sub(self.out.values().filter(|of| **of == room).count())
    }
}
