//! The owner of the counts: which permits are out, who waits, and whose turn it is.
//!
//! Invariants: I1 (never more permits out than the limits say), I5 (work-conserving: no free
//! permit while an eligible room waits) and I6 (rooms take turns).

use std::collections::BTreeMap;
use std::collections::VecDeque;

use super::{BusyFacts, FromGlobal, Limit, Limits, ToGlobal};
use crate::ids::{ActorId, PermitId, RoomId, Ticket};
use crate::mutant::{self, Mutant};
use crate::time::Timestamp;

/// A message to a room.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Post {
    /// Whose.
    pub room: RoomId,
    /// What.
    pub message: FromGlobal,
}

/// Whether a place was taken under the limit or promised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PlaceClass {
    /// One of the waiting places.
    Waiting,
    /// Promised work; it counts against new arrivals and is never refused.
    Owed,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Place {
    room: RoomId,
    actor: ActorId,
    class: PlaceClass,
    since: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Holder {
    /// On its way to the room, with the reservation it came with.
    Out(Option<Ticket>),
    /// Held by a run.
    Held(Ticket),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Permit {
    room: RoomId,
    holder: Holder,
}

/// The counts, as anybody may see them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Permits that are out or held.
    pub permits: usize,
    /// Waiting places taken.
    pub waiting: usize,
    /// Promised work that waits.
    pub owed: usize,
}

/// The machine.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Global {
    limits: Limits,
    permits: BTreeMap<PermitId, Permit>,
    places: BTreeMap<Ticket, Place>,
    turn: VecDeque<RoomId>,
    next_permit: u64,
    draining: bool,
}

impl Global {
    /// Nothing runs, nobody waits.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            permits: BTreeMap::new(),
            places: BTreeMap::new(),
            turn: VecDeque::new(),
            next_permit: 0,
            draining: false,
        }
    }

    /// A message from `room`; what is sent in answer, in order.
    pub fn handle(&mut self, room: &RoomId, message: ToGlobal, now: Timestamp) -> Vec<Post> {
        let mut posts = Vec::new();
        match message {
            ToGlobal::Reserve { ticket, actor } => posts.extend(self.reserve(room, ticket, actor, now)),
            ToGlobal::Took(ticket, permit) => self.took(ticket, permit),
            ToGlobal::Return(permit) | ToGlobal::Release(permit) => {
                self.permits.remove(&permit);
            }
            ToGlobal::Withdraw(ticket) => {
                self.places.remove(&ticket);
            }
            ToGlobal::Owe { ticket, actor } => self.place(room, ticket, actor, PlaceClass::Owed, now),
        }
        if !mutant::on(Mutant::I5NobodyIsServed) {
            self.grant_turns(&mut posts);
        }
        self.forget_if_idle(room);
        posts
    }

    /// Takes back the places of a boot, oldest first, and gives out what can start.
    pub fn recover(&mut self, places: Vec<(RoomId, Ticket, ActorId, PlaceClass, Timestamp)>) -> Vec<Post> {
        for (room, ticket, actor, class, since) in places {
            if mutant::on(Mutant::I1BootForgetsPlaces) {
                continue;
            }
            self.place(&room, ticket, actor, class, since);
        }
        let mut posts = Vec::new();
        self.grant_turns(&mut posts);
        posts
    }

    /// From now on nothing starts and nobody is admitted.
    pub fn drain(&mut self) {
        self.draining = true;
    }

    /// The counts now.
    pub fn counts(&self) -> Counts {
        let owed = self.places.values().filter(|place| place.class == PlaceClass::Owed).count();
        Counts { permits: self.permits.len(), waiting: self.places.len() - owed, owed }
    }

    /// Tickets and permits that are out, per room: each holds that room's actor alive.
    pub fn holds(&self, room: &RoomId) -> usize {
        self.places.values().filter(|place| place.room == *room).count() + self.permits_of(room)
    }

    fn reserve(&mut self, room: &RoomId, ticket: Ticket, actor: ActorId, now: Timestamp) -> Option<Post> {
        if self.knows(ticket) {
            return None;
        }
        let message = if self.has_free_permit(room) {
            FromGlobal::Run(ticket, self.issue(room, Some(ticket)))
        } else if let Some(limit) = self.full(room, &actor) {
            FromGlobal::Busy(ticket, self.facts(limit, now))
        } else {
            self.place(room, ticket, actor, PlaceClass::Waiting, now);
            FromGlobal::Wait(ticket)
        };
        Some(Post { room: room.clone(), message })
    }

    fn knows(&self, ticket: Ticket) -> bool {
        let held = |permit: &Permit| match permit.holder {
            Holder::Out(with) => with == Some(ticket),
            Holder::Held(by) => by == ticket,
        };
        self.places.contains_key(&ticket) || self.permits.values().any(held)
    }

    fn took(&mut self, ticket: Ticket, permit: PermitId) {
        self.places.remove(&ticket);
        if let Some(permit) = self.permits.get_mut(&permit) {
            permit.holder = Holder::Held(ticket);
        }
    }

    fn place(&mut self, room: &RoomId, ticket: Ticket, actor: ActorId, class: PlaceClass, since: Timestamp) {
        if !self.knows(ticket) {
            self.places.insert(ticket, Place { room: room.clone(), actor, class, since });
            self.take_turns(room);
        }
    }

    fn grant_turns(&mut self, posts: &mut Vec<Post>) {
        while let Some(room) = self.next_in_turn() {
            let permit = self.issue(&room, None);
            posts.push(Post { room, message: FromGlobal::Permit(permit) });
        }
    }

    fn next_in_turn(&self) -> Option<RoomId> {
        // Nobody waits most of the time, and then nobody's permits need counting.
        if self.places.is_empty() {
            return None;
        }
        self.turn.iter().find(|room| self.has_free_permit(room) && self.wants(room)).cloned()
    }

    /// More places than permits that are on their way to serve them.
    fn wants(&self, room: &RoomId) -> bool {
        let places = self.places.values().filter(|place| place.room == *room).count();
        let on_the_way = |permit: &&Permit| permit.room == *room && matches!(permit.holder, Holder::Out(_));
        places > self.permits.values().filter(on_the_way).count()
    }

    fn has_free_permit(&self, room: &RoomId) -> bool {
        !self.draining
            && self.permits.len() < self.limits.running + usize::from(mutant::on(Mutant::I1OneMoreRuns))
            && self.permits_of(room)
                < self.limits.running_per_room + usize::from(mutant::on(Mutant::I1OneMoreRunsInARoom))
    }

    fn permits_of(&self, room: &RoomId) -> usize {
        self.permits.values().filter(|permit| permit.room == *room).count()
    }

    fn issue(&mut self, room: &RoomId, with: Option<Ticket>) -> PermitId {
        let id = PermitId(self.next_permit);
        self.next_permit += 1;
        self.permits.insert(id, Permit { room: room.clone(), holder: Holder::Out(with) });
        self.turn.retain(|other| other != room);
        if mutant::on(Mutant::I6SameRoomAgain) {
            self.turn.push_front(room.clone());
        } else {
            self.turn.push_back(room.clone());
        }
        id
    }

    fn take_turns(&mut self, room: &RoomId) {
        if !self.turn.contains(room) {
            self.turn.push_back(room.clone());
        }
    }

    /// A message takes something from its own room only, so no other can have become idle by it.
    fn forget_if_idle(&mut self, room: &RoomId) {
        if self.holds(room) == 0 {
            self.turn.retain(|other| other != room);
        }
    }

    fn full(&self, room: &RoomId, actor: &ActorId) -> Option<Limit> {
        let waiting = |keep: &dyn Fn(&Place) -> bool| self.places.values().filter(|place| keep(place)).count();
        let over = |limit: Option<usize>, count: usize| limit.is_some_and(|limit| count >= limit);
        if self.draining || self.places.len() >= self.limits.waiting + usize::from(mutant::on(Mutant::I1OneMoreWaits)) {
            Some(Limit::Waiting)
        } else if over(self.limits.waiting_per_room, waiting(&|place| place.room == *room)) {
            Some(Limit::WaitingPerRoom)
        } else if over(self.limits.waiting_per_actor, waiting(&|place| place.actor == *actor)) {
            Some(Limit::WaitingPerActor)
        } else {
            None
        }
    }

    fn facts(&self, limit: Limit, now: Timestamp) -> BusyFacts {
        let oldest = self.places.values().map(|place| place.since).min();
        BusyFacts {
            limit,
            position: self.places.len() + 1,
            running: self.permits.len(),
            waiting: self.places.len(),
            oldest_wait_ms: oldest.map_or(0, |since| now.since(since)),
        }
    }
}
