//! Follows the mailbox for one sink: read, wait until it is due, tell, keep the place.

use std::sync::Arc;
use std::time::Duration;

use clankie_actors::feed::{Feed, FeedPlace};
use clankie_actors::mail::{UpdateFilter, UpdateQuery};
use clankie_actors::ports::Clock;
use clankie_actors::{Clankie, Failure};
use clankie_domain::ask::{Ask, AskStatus};
use clankie_domain::ids::{ConversationId, RequestId, UpdateId};
use clankie_domain::time::Timestamp;
use clankie_domain::update::OwnerUpdate;
use tokio::time::Instant;

use super::Terms;
use super::behind::oldest;
use super::news::{Desk, News};
use super::pace::{Pace, Turn};
use super::sink::{Sink, Untold};
use super::stands::Board;
use super::waiting::{Thing, Waiting, Waits};

/// How long a failing sink is tried with the same news: an outage at night is longer and is noticed
/// in status, and what still waits then comes with the next news.
pub(super) const RETRY_FOR: Duration = Duration::from_secs(60 * 60);
/// Rest after a first failure; it doubles.
const FIRST_REST: Duration = Duration::from_secs(1);
/// Longest such rest.
const LONGEST_REST: Duration = Duration::from_secs(60);
/// Rest when the mailbox cannot be read.
const READ_REST: Duration = Duration::from_secs(30);
/// Longest wait for an event; then it is looked again.
const LOOK_AGAIN: Duration = Duration::from_secs(15 * 60);
/// Events that pass before a place is kept without news: a start reads at most that many anew.
const KEEP_EVERY: u64 = 512;
/// Most unread updates of a conversation that are looked through for one.
const UPDATES_READ: usize = 256;

/// What one sink's task knows before it starts.
#[derive(Debug)]
pub(super) struct Follower {
    clankie: Clankie,
    clock: Arc<dyn Clock>,
    terms: Terms,
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Step,
    End,
}

/// One sink that is being followed for.
struct Following {
    from: Follower,
    sink: Arc<dyn Sink>,
    board: Board,
    waiting: Waiting,
    pace: Pace,
    /// The place that is durable.
    kept: Option<FeedPlace>,
    /// Since when the sink fails, and the rest after the next failure.
    failing: Option<(Instant, Duration)>,
}

impl Follower {
    pub(super) fn new(clankie: Clankie, clock: Arc<dyn Clock>, terms: Terms) -> Self {
        Self { clankie, clock, terms }
    }

    /// Tells that sink what there is to tell, until it wants nothing any more.
    pub(super) async fn follow(self, sink: Arc<dyn Sink>, board: Board) {
        let (kept, waiting) = loop {
            match self.begin(sink.name()) {
                Ok(begun) => break begun,
                Err(failure) => self.unreadable(&board, &failure).await,
            }
        };
        let (pace, failing) = (Pace::default(), None);
        let mut following = Following { from: self, sink, board, waiting, pace, kept, failing };
        loop {
            match following.step().await {
                Ok(Next::Step) => {}
                Ok(Next::End) => return,
                Err(failure) => following.from.unreadable(&following.board, &failure).await,
            }
        }
    }

    async fn unreadable(&self, board: &Board, failure: &Failure) {
        board.failed(self.clock.now(), format!("the mailbox cannot be read: {failure}"));
        tokio::time::sleep(READ_REST).await;
    }

    /// Where the sink was left, or everything that waits when there is no such place.
    fn begin(&self, sink: &str) -> Result<(Option<FeedPlace>, Waiting), Failure> {
        let kept = self.clankie.bookmark(&bookmark(sink))?.and_then(|text| FeedPlace::parse(&text));
        match kept {
            Some(place) => Ok((kept, Waiting::from(place))),
            // The place comes first: an ask in between is told twice rather than not at all.
            None => Ok((None, Waiting::anew(self.clankie.feed_place()?))),
        }
    }

    fn pending(&self, conversation: &ConversationId, request: RequestId) -> Result<Option<Arc<Ask>>, Failure> {
        let view = self.clankie.ask_of(conversation, request)?;
        let pending = view.filter(|view| view.entry.resolution.status() == AskStatus::Pending);
        Ok(pending.map(|view| view.entry.ask))
    }

    fn unread(&self, conversation: &ConversationId, id: UpdateId) -> Result<Option<OwnerUpdate>, Failure> {
        let conversation = Some(conversation.clone());
        let query = UpdateQuery { conversation, show: UpdateFilter::Unread, limit: UPDATES_READ };
        Ok(self.clankie.updates(&query)?.updates.into_iter().find(|update| update.id == id))
    }

    /// One thing as it is told; none when it does not wait any more.
    fn news(&self, thing: &Thing) -> Result<Option<News>, Failure> {
        let desk = Desk { now: self.clock.now() };
        Ok(match thing {
            Thing::Ask { conversation, request } => self.pending(conversation, *request)?.map(|ask| desk.of_ask(&ask)),
            Thing::Update { conversation, id } => self.unread(conversation, *id)?.map(|update| desk.of_update(&update)),
        })
    }
}

impl Following {
    async fn step(&mut self) -> Result<Next, Failure> {
        self.read()?;
        let delay = i64::try_from(self.from.terms.delay.as_millis()).unwrap_or(i64::MAX);
        let until = Timestamp(self.from.clock.now().0.saturating_sub(delay));
        let due = self.still_waiting(self.waiting.due(until))?;
        if due == 0 {
            self.failing = None;
            if self.waiting.is_empty() && self.waiting.behind().is_some() {
                return Ok(Next::Step);
            }
            self.keep_when_far().await?;
            self.rest(until).await;
            return Ok(Next::Step);
        }
        let count = match self.pace.turn(due, Instant::now()) {
            Turn::Hold(rest) => {
                tokio::time::sleep(rest).await;
                return Ok(Next::Step);
            }
            Turn::First => 1,
            Turn::Together => due,
        };
        match self.compose(count)? {
            Some(news) => self.tell(&news, count).await,
            None => Ok(Next::Step),
        }
    }

    /// Takes in what waits, and then what happened since.
    fn read(&mut self) -> Result<(), Failure> {
        if let Some(behind) = self.waiting.behind() {
            // One part is told of before the next is looked for.
            if self.waiting.is_empty() {
                let (found, rest) = oldest(&self.from.clankie, self.from.terms.updates, behind)?;
                self.waiting.catch_up(found, rest);
            }
            return Ok(());
        }
        while self.waiting.takes_events() {
            match self.from.clankie.events_after(self.waiting.read(), self.waiting.room())? {
                Feed::Events(events) if events.is_empty() => return Ok(()),
                Feed::Events(events) => {
                    let now = self.from.clock.now();
                    for (seq, event) in events {
                        self.waiting.take(seq, event, self.from.terms.updates, now);
                    }
                }
                Feed::Reset(now) => {
                    tracing::info!(sink = self.sink.name(), "events are missing; what waits is told anew");
                    self.waiting = Waiting::anew(now);
                    return self.read();
                }
            }
        }
        Ok(())
    }

    /// Forgets what was dealt with meanwhile among the first `due`.
    fn still_waiting(&mut self, due: usize) -> Result<usize, Failure> {
        let mut failure = None;
        let kept = self.waiting.keep(due, |waits| match self.from.news(&waits.thing) {
            Ok(news) => news.is_some(),
            Err(why) => {
                failure = Some(why);
                true
            }
        });
        failure.map_or(Ok(kept), Err)
    }

    fn compose(&self, count: usize) -> Result<Option<News>, Failure> {
        let Some(first) = self.waiting.first() else { return Ok(None) };
        let Some(news) = self.from.news(&first.thing)? else { return Ok(None) };
        if count == 1 {
            return Ok(Some(news));
        }
        let is_ask = |waits: &&Waits| matches!(waits.thing, Thing::Ask { .. });
        let asks = self.waiting.front(count).filter(is_ask).count();
        let desk = Desk { now: news.now };
        Ok(Some(desk.of_several(&news, asks, count - asks)))
    }

    async fn tell(&mut self, news: &News, count: usize) -> Result<Next, Failure> {
        let told = self.sink.tell(news).await;
        let (now, sink) = (self.from.clock.now(), self.sink.name());
        match told {
            Ok(()) => {
                self.board.told(now);
                self.pace.sent(Instant::now());
            }
            Err(Untold::Gone(why)) => {
                tracing::warn!(sink, why, "a notification sink wants nothing any more");
                self.board.failed(now, why);
                self.board.disabled();
                return Ok(Next::End);
            }
            Err(Untold::Refused(why)) => self.lose(count, why),
            Err(Untold::NotNow(why)) => return self.try_again(why).await,
        }
        self.done(count).await
    }

    /// Rests and goes on with the same, or gives up what was tried for too long.
    async fn try_again(&mut self, why: String) -> Result<Next, Failure> {
        let (since, rest) = self.failing.unwrap_or((Instant::now(), FIRST_REST));
        if since.elapsed() < RETRY_FOR {
            tracing::info!(sink = self.sink.name(), why, "the owner was not notified; it is tried again");
            self.board.failed(self.from.clock.now(), why);
            self.failing = Some((since, (rest * 2).min(LONGEST_REST)));
            tokio::time::sleep(jittered(rest)).await;
            return Ok(Next::Step);
        }
        // What came only lately has its hour before it.
        let retried = i64::try_from(RETRY_FOR.as_millis()).unwrap_or(i64::MAX);
        let long_ago = Timestamp(self.from.clock.now().0.saturating_sub(retried));
        let count = self.waiting.due(long_ago).max(1);
        self.lose(count, why);
        self.done(count).await
    }

    /// The first ones were told, or never will be.
    async fn done(&mut self, count: usize) -> Result<Next, Failure> {
        self.failing = None;
        self.waiting.done(count);
        self.keep().await?;
        Ok(Next::Step)
    }

    fn lose(&self, count: usize, why: String) {
        tracing::warn!(sink = self.sink.name(), count, why, "the owner is not notified");
        self.board.failed(self.from.clock.now(), why);
        self.board.dropped(count);
    }

    /// Waits for an event, or until the first thing is due.
    async fn rest(&self, until: Timestamp) {
        let due_in = self.waiting.first().map(|first| first.since.0.saturating_sub(until.0));
        let due_in = due_in.and_then(|millis| u64::try_from(millis).ok()).map(Duration::from_millis);
        let rest = due_in.unwrap_or(LOOK_AGAIN).min(LOOK_AGAIN);
        if self.waiting.takes_events() {
            self.from.clankie.wait_event(self.waiting.read().seq, rest).await;
        } else {
            tokio::time::sleep(rest).await;
        }
    }

    async fn keep_when_far(&mut self) -> Result<(), Failure> {
        let far = |kept: FeedPlace| self.waiting.place().is_some_and(|now| now.seq >= kept.seq + KEEP_EVERY);
        if self.kept.is_none_or(far) { self.keep().await } else { Ok(()) }
    }

    async fn keep(&mut self) -> Result<(), Failure> {
        let Some(place) = self.waiting.place() else { return Ok(()) };
        if self.kept != Some(place) {
            self.from.clankie.keep_bookmark(&bookmark(self.sink.name()), place.to_string()).await?;
            self.kept = Some(place);
        }
        Ok(())
    }
}

/// The name of a sink's place in the store.
fn bookmark(sink: &str) -> String {
    format!("notify.{sink}")
}

/// Between half and all of a rest, so that many services do not come back in step.
fn jittered(rest: Duration) -> Duration {
    // Without randomness it is the whole rest.
    let part = getrandom::u32().map_or(1.0, |random| f64::from(random) / f64::from(u32::MAX));
    rest.mul_f64(0.5 + part / 2.0)
}
