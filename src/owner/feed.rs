//! One reader of the feed: where it stands, and what it is told next.
//!
//! A reader holds at most one small page. What it does not take waits in the store, so it keeps no
//! writer waiting; what is pruned meanwhile it hears of as a reset.

use std::collections::VecDeque;
use std::time::Duration;

use clankie_actors::feed::{Feed, FeedPlace};
use clankie_domain::event::Event;
use clankie_domain::scope::Need;

use super::auth::Principal;
use super::wire::{FeedEvent, ResetEvent};
use crate::http::problem::Problem;
use crate::http::streams::StreamPlace;

/// Events that a reader holds: new asks carry their content, some hundred KB at worst.
const PAGE: usize = 32;
/// Longest time that a revoked credential, or a service that stops, still has its stream.
const SLICE: Duration = Duration::from_millis(500);

/// Where a reader begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// With what happens from now on.
    Now,
    /// After that place.
    After(FeedPlace),
    /// It named a place that this service never wrote.
    Unreadable,
}

/// What a reader is told, with the place after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// What happened; nothing at the very beginning.
    pub event: Option<FeedEvent>,
    /// Where to read on.
    pub place: FeedPlace,
}

/// One open stream.
#[derive(Debug)]
pub struct Reader {
    principal: Principal,
    at: FeedPlace,
    held: VecDeque<(u64, Event)>,
    first: Option<Told>,
    _stream: StreamPlace,
}

impl Reader {
    /// Opens a stream. The place that it is told first is one to read on from without a gap.
    pub fn open(principal: Principal, begin: Begin) -> Result<Self, Problem> {
        if principal.surface.draining.has_begun() {
            return Err(Problem::shutting_down());
        }
        let stream = principal.stream()?;
        let now = principal.access().clankie().feed_place()?;
        let first = match begin {
            Begin::Now => Some(Told { event: None, place: now }),
            Begin::Unreadable => Some(reset(now)),
            Begin::After(_) => None,
        };
        let at = match begin {
            Begin::After(place) => place,
            Begin::Now | Begin::Unreadable => now,
        };
        Ok(Self { principal, at, held: VecDeque::new(), first, _stream: stream })
    }

    /// What comes next, waited for. `None` ends the stream: the credential does not stand any more,
    /// the service stops, or the store cannot be read.
    pub async fn next(&mut self) -> Option<Told> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        loop {
            self.stands().ok()?;
            if let Some(told) = self.take() {
                return Some(told);
            }
            match self.principal.access().clankie().events_after(self.at, PAGE) {
                Ok(Feed::Reset(now)) => return Some(self.moved(reset(now))),
                Ok(Feed::Events(events)) if events.is_empty() => self.pause().await,
                Ok(Feed::Events(events)) => {
                    self.held.extend(events);
                    // Whole pages may hold nothing for this reader, and nothing else here is waited for.
                    tokio::task::yield_now().await;
                }
                Err(failure) => {
                    tracing::warn!(%failure, "an event stream ended");
                    return None;
                }
            }
        }
    }

    /// The next event that this reader may see. What it may not see it is not even told of.
    fn take(&mut self) -> Option<Told> {
        while let Some((seq, event)) = self.held.pop_front() {
            self.at = FeedPlace { epoch: self.at.epoch, seq };
            if self.principal.may(needed(&event)) {
                return Some(Told { event: Some(FeedEvent::from(&event)), place: self.at });
            }
        }
        None
    }

    fn moved(&mut self, told: Told) -> Told {
        self.at = told.place;
        told
    }

    fn stands(&self) -> Result<(), Problem> {
        if self.principal.surface.draining.has_begun() {
            return Err(Problem::shutting_down());
        }
        self.principal.still_stands()
    }

    async fn pause(&self) {
        self.principal.access().clankie().wait_event(self.at.seq, SLICE).await;
    }
}

/// What a reader must be allowed for that event.
fn needed(event: &Event) -> Need {
    match event {
        Event::Handoff { .. } | Event::Message { .. } => Need::ReadHandoffs,
        Event::InputRequested(_) | Event::InputResolved { .. } | Event::InputClaim { .. } | Event::Update { .. } => {
            Need::Mailbox
        }
    }
}

fn reset(now: FeedPlace) -> Told {
    Told { event: Some(FeedEvent::Reset(ResetEvent { cursor: now.to_string() })), place: now }
}
