//! What waits to be told to one sink, and how far that sink is.
//!
//! The place that is kept is always before the first thing that waits, so a restart loses nothing;
//! it tells again what it was telling when it ended, under the same id.

use std::collections::VecDeque;

use clankie_actors::feed::FeedPlace;
use clankie_domain::ask::Ask;
use clankie_domain::event::Event;
use clankie_domain::ids::{ConversationId, RequestId, UpdateId};
use clankie_domain::time::Timestamp;
use clankie_domain::update::UpdateStateName;

use super::Updates;
use super::behind::{Behind, Moment};

/// Most that waits here; what comes after it stays where it is, in the store.
pub(super) const WAITING_MAX: usize = 256;

/// What waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Thing {
    Ask { conversation: ConversationId, request: RequestId },
    Update { conversation: ConversationId, id: UpdateId },
}

/// One thing that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Waits {
    /// The event that brought it; none when it was found waiting.
    pub(super) seq: Option<u64>,
    pub(super) since: Timestamp,
    pub(super) thing: Thing,
}

impl Waits {
    /// Its place in the order in which things came to wait.
    pub(super) fn moment(&self) -> Moment {
        let id = match &self.thing {
            Thing::Ask { request, .. } => request.0,
            Thing::Update { id, .. } => id.0,
        };
        (self.since, id.as_u128())
    }

    pub(super) fn ask(ask: &Ask, seq: Option<u64>) -> Self {
        let thing = Thing::Ask { conversation: ask.conversation.clone(), request: ask.request };
        Self { seq, since: ask.created_at, thing }
    }
}

/// Everything that waits for one sink, oldest first.
#[derive(Debug)]
pub(super) struct Waiting {
    /// How far events were read.
    read: FeedPlace,
    queue: VecDeque<Waits>,
    /// What waits in the mailbox and comes before any event after `read`.
    behind: Option<Behind>,
}

impl Waiting {
    /// Nothing but what events after that place bring.
    pub(super) fn from(read: FeedPlace) -> Self {
        Self { read, queue: VecDeque::new(), behind: None }
    }

    /// Everything that the mailbox holds, and then what events after that place bring.
    pub(super) fn anew(read: FeedPlace) -> Self {
        Self { read, queue: VecDeque::new(), behind: Some(Behind::ALL) }
    }

    /// What is to be taken in from the mailbox before any event is.
    pub(super) fn behind(&self) -> Option<Behind> {
        self.behind
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Takes in some of what is behind; `rest` is what still is.
    pub(super) fn catch_up(&mut self, found: Vec<Waits>, rest: Option<Behind>) {
        self.queue.extend(found);
        self.behind = rest;
    }

    pub(super) fn read(&self) -> FeedPlace {
        self.read
    }

    /// How many more it can hold.
    pub(super) fn room(&self) -> usize {
        WAITING_MAX.saturating_sub(self.queue.len())
    }

    /// Whether an event would be read now. While it would not, one that is there already must end no wait.
    pub(super) fn takes_events(&self) -> bool {
        self.behind.is_none() && self.room() > 0
    }

    /// Takes one event in. `now` stands for the moment of an update, which its event does not carry.
    pub(super) fn take(&mut self, seq: u64, event: Event, updates: Updates, now: Timestamp) {
        self.read.seq = seq;
        match event {
            Event::InputRequested(ask) => self.push(Waits::ask(&ask, Some(seq))),
            Event::Update { conversation, id, state: UpdateStateName::Unread } if updates == Updates::Told => {
                let thing = Thing::Update { conversation, id };
                self.push(Waits { seq: Some(seq), since: now, thing });
            }
            Event::Update { .. }
            | Event::Handoff { .. }
            | Event::Message { .. }
            | Event::InputResolved { .. }
            | Event::InputClaim { .. } => {}
        }
    }

    /// What was found waiting may be brought by an event as well.
    fn push(&mut self, waits: Waits) {
        if !self.queue.iter().any(|known| known.thing == waits.thing) {
            self.queue.push_back(waits);
        }
    }

    /// How many at the front wait since `until` or longer.
    pub(super) fn due(&self, until: Timestamp) -> usize {
        self.queue.iter().take_while(|waits| waits.since <= until).count()
    }

    pub(super) fn first(&self) -> Option<&Waits> {
        self.queue.front()
    }

    pub(super) fn front(&self, count: usize) -> impl Iterator<Item = &Waits> {
        self.queue.iter().take(count)
    }

    /// The first ones were dealt with.
    pub(super) fn done(&mut self, count: usize) {
        self.queue.drain(..count.min(self.queue.len()));
    }

    /// Keeps of the first `count` those that `still` holds for, and says how many those are.
    pub(super) fn keep(&mut self, count: usize, mut still: impl FnMut(&Waits) -> bool) -> usize {
        let rest = self.queue.split_off(count.min(self.queue.len()));
        self.queue.retain(|waits| still(waits));
        let kept = self.queue.len();
        self.queue.extend(rest);
        kept
    }

    /// Where a restart may go on without missing anything; none while something waits that no event
    /// after that place would bring again.
    pub(super) fn place(&self) -> Option<FeedPlace> {
        match self.queue.front() {
            _ if self.behind.is_some() => None,
            None => Some(self.read),
            Some(Waits { seq: Some(seq), .. }) => Some(FeedPlace { seq: seq.saturating_sub(1), ..self.read }),
            Some(Waits { seq: None, .. }) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn waiting(seqs: &[Option<u64>]) -> Waiting {
        let conversation = ConversationId::parse(&Uuid::nil().to_string()).unwrap();
        let one = |seq: &Option<u64>| {
            let since = Timestamp(i64::try_from(seq.unwrap_or(0)).unwrap());
            let thing = Thing::Ask { conversation: conversation.clone(), request: RequestId(Uuid::nil()) };
            Waits { seq: *seq, since, thing }
        };
        let mut waiting = Waiting::from(FeedPlace { epoch: Uuid::nil(), seq: 50 });
        waiting.catch_up(seqs.iter().map(one).collect(), None);
        waiting
    }

    fn place(waiting: &Waiting) -> Option<u64> {
        waiting.place().map(|place| place.seq)
    }

    #[test]
    fn the_kept_place_is_before_the_first_thing_that_waits() {
        let mut all = waiting(&[Some(7), Some(9)]);
        assert_eq!(place(&all), Some(6));
        all.done(1);
        assert_eq!(place(&all), Some(8));
        all.done(1);
        assert_eq!(place(&all), Some(50));
    }

    #[test]
    fn what_was_found_waiting_is_told_before_a_place_is_kept() {
        let mut all = waiting(&[None, None, Some(51)]);
        assert_eq!(place(&all), None);
        all.done(2);
        assert_eq!(place(&all), Some(50));
        all.catch_up(Vec::new(), Some(Behind::ALL));
        assert_eq!(place(&all), None, "something is behind that no event brings");
    }

    /// A start without a place and a gap in the events are the same: the mailbox itself is read.
    #[test]
    fn where_events_are_missing_all_that_waits_is_taken_in_before_a_place_is_kept() {
        let now = FeedPlace { epoch: Uuid::nil(), seq: 50 };
        let mut all = Waiting::anew(now);
        assert_eq!((all.behind(), all.is_empty(), place(&all)), (Some(Behind::ALL), true, None));
        all.catch_up(Vec::new(), None);
        assert_eq!((all.behind(), all.read(), place(&all)), (None, now, Some(50)));
    }

    /// A wait for events would end at once, over and over, on those that are not read yet.
    #[test]
    fn no_event_is_waited_for_while_something_is_behind_or_there_is_no_room() {
        let mut all = waiting(&[Some(1)]);
        assert!(all.takes_events());
        all.catch_up(Vec::new(), Some(Behind::ALL));
        assert!(!all.takes_events(), "something is behind");
        let mut full = waiting(&[Some(1); WAITING_MAX]);
        assert!(!full.takes_events(), "there is no room");
        full.done(1);
        assert!(full.takes_events());
    }

    #[test]
    fn only_what_is_due_is_looked_at_and_only_what_still_waits_is_kept() {
        let mut all = waiting(&[Some(1), Some(2), Some(3), Some(4)]);
        assert_eq!(all.due(Timestamp(3)), 3);
        assert_eq!(all.keep(3, |waits| waits.seq != Some(2)), 2);
        let left: Vec<_> = all.front(9).map(|waits| waits.seq).collect();
        assert_eq!(left, [Some(1), Some(3), Some(4)]);
    }
}
