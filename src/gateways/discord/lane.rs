//! One channel's messages on their way in, handled in order.
//!
//! A message is handed to the actors before the next one is looked at, and the mark up to which the
//! channel was seen is kept durably, so that a time away can be caught up with. Whatever cannot be
//! dealt with now leaves the mark where it stands, and the channel is caught up with again.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clankie_actors::{Clankie, Failure, HandoffQuery};
use clankie_domain::admission::room::{Answer, Canceller, Which};
use clankie_domain::grant::Gateway;
use clankie_domain::handoff::{HandoffRecord, StateName};
use clankie_domain::ids::{ActorId, RoomId};
use clankie_domain::request::{Attachment, Request, Source};
use serenity::model::channel::Message;
use serenity::model::event::MessageUpdateEvent;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::answers::{Heard, Stopped, heard, stopped};
use super::catch_up::PAGES_MOST;
use super::identity::{Meaning, Place, actor, message_of, transport, user_of, without_mention};
use super::incoming::taken_in;
use super::lanes::{Entry, Gap, Item, Queued, Roads};
use super::marks;
use super::owed::Sign;
use super::places::{At, Looked};
use super::rest::PAGE;
use super::signals::{First, Trigger, follow};
use super::translate::{attachment, said};
use crate::http::metrics;

/// Tries of one submit while admission is being rebuilt: together some seconds.
const TRIES: u32 = 25;
const TRY_AGAIN: Duration = Duration::from_millis(200);
/// When a channel that got stuck is caught up with.
const CATCH_UP_AGAIN: Duration = Duration::from_secs(5);
/// How long a lane without anything to do stays. After that the next message costs one read of the channel.
const IDLE: Duration = Duration::from_secs(3_600);
/// Ignored messages after which the mark is kept durably all the same.
const UNSAVED_MOST: u32 = 32;
/// Messages of one channel that were told busy and are not tried again when Discord repeats them.
const TOLD_BUSY_KEPT: usize = 64;
/// Stop words of one channel that were dealt with and are so only once when Discord repeats them.
const STOPS_KEPT: usize = 64;
/// Messages that came while the channel was stuck and are no missed ones: as many as are read back.
const LIVE_KEPT: usize = PAGES_MOST * PAGE as usize;

/// One channel's lane.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) roads: Roads,
    pub(super) at: At,
    entry: Entry,
    gap: Arc<Gap>,
    /// How far the channel was seen.
    pub(super) seen: u64,
    /// How far it was seen when the lane began.
    began: u64,
    unsaved: u32,
    /// The session up to which it was caught up with; `None` is not at all, or it got stuck.
    pub(super) caught_up: Option<u64>,
    /// When it is caught up with again, after it got stuck.
    again: Option<Instant>,
    told_busy: VecDeque<u64>,
    stops: VecDeque<u64>,
    /// Messages that came and could not be dealt with yet.
    pub(super) live: BTreeSet<u64>,
}

/// What a lane does next.
#[derive(Debug)]
enum Next {
    Item(Queued),
    /// Something was refused: messages are read back, and edits and deletions looked for.
    Refused,
    CatchUp,
    Idle,
    Over,
}

/// A message as it stands after an edit. Who wrote it and its files are not always told.
#[derive(Debug)]
pub(super) struct Reworded<'a> {
    pub(super) id: u64,
    pub(super) author: Option<u64>,
    pub(super) content: &'a str,
    pub(super) files: Option<Vec<Attachment>>,
}

/// Whether a message is behind us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// It is, durably where it asked for something.
    Done,
    /// It must come again.
    Stuck,
}

/// When a channel's mark is made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// Before anything else.
    Now,
    /// With the next one that matters.
    Later,
}

impl Lane {
    pub(super) fn new(roads: Roads, at: At, (entry, gap): (Entry, Arc<Gap>)) -> Self {
        let (seen, began, unsaved, caught_up, again) = (0, 0, 0, None, None);
        let (told_busy, stops, live) = (VecDeque::new(), VecDeque::new(), BTreeSet::new());
        Self { roads, at, entry, gap, seen, began, unsaved, caught_up, again, told_busy, stops, live }
    }

    pub(super) async fn run(mut self, mut items: mpsc::Receiver<Queued>) {
        self.seen = marks::seen(&self.roads.clankie, self.at.channel, self.roads.floor);
        self.began = self.seen;
        loop {
            match self.next(&mut items).await {
                Next::Item(queued) => self.handle(&queued.item).await,
                Next::Refused => {
                    self.look_at_own().await;
                    self.come_back().await;
                }
                Next::CatchUp => self.come_back().await,
                Next::Idle => {
                    // What is not kept is read once more later, and nothing of it is for us.
                    let _ = self.keep().await;
                    if self.entry.close(self.at.channel, &items, &self.gap) {
                        return;
                    }
                }
                Next::Over => return,
            }
        }
    }

    /// What came first is first; what was refused stands behind it.
    async fn next(&self, items: &mut mpsc::Receiver<Queued>) -> Next {
        let again = self.again.unwrap_or_else(Instant::now);
        tokio::select! {
            biased;
            item = items.recv() => item.map_or(Next::Over, Next::Item),
            () = self.gap.passed() => Next::Refused,
            () = tokio::time::sleep_until(again), if self.again.is_some() => Next::CatchUp,
            () = tokio::time::sleep(IDLE) => Next::Idle,
        }
    }

    async fn handle(&mut self, item: &Item) {
        match item {
            Item::Message(message) => self.message(message).await,
            Item::Edited(update) => self.edited(update).await,
            Item::Deleted { message } => self.deleted(*message).await,
            Item::CatchUp { newest } => self.move_on(*newest).await,
            Item::Waits { message } => self.waits(*message).await,
        }
    }

    /// Where this is, if anything of it is heard. What cannot be known now is tried again.
    async fn place(&mut self) -> Option<Place> {
        // A catch-up is due and brings everything that comes until then.
        if self.again.is_some_and(|again| again > Instant::now()) {
            return None;
        }
        let shared = Arc::clone(&self.roads.shared);
        match self.roads.places.find(&shared, self.at).await {
            Looked::Here(place) => Some(place).filter(|place| shared.settings.policy.hears(place)),
            Looked::Nowhere => None,
            Looked::Unknown => {
                self.stuck();
                None
            }
        }
    }

    async fn come_back(&mut self) {
        (self.again, self.caught_up) = (None, None);
        self.move_on(None).await;
    }

    /// Catches up with the channel. Where it gets stuck it comes back by itself.
    async fn move_on(&mut self, newest: Option<u64>) {
        if let Some(place) = self.place().await {
            let _ = self.catch_up(place, newest).await;
        }
    }

    async fn message(&mut self, message: &Message) {
        let id = message.id.get();
        self.live.insert(id);
        if self.live.len() > LIVE_KEPT {
            self.live.pop_first();
        }
        let Some(place) = self.place().await else {
            if self.again.is_none() {
                self.live.clear();
            }
            return;
        };
        // A message past a gap would move the mark over it: the next catch-up finds both.
        if self.reach(place).await == Taken::Stuck {
            return;
        }
        match self.take(message, place).await {
            Taken::Done => {
                self.live.remove(&id);
            }
            Taken::Stuck => {
                self.live.insert(id);
                // One that came late stands below what was seen, and is read back all the same.
                self.seen = self.seen.min(id - 1);
                self.stuck();
            }
        }
    }

    /// Handles one message, live or missed.
    pub(super) async fn take(&mut self, message: &Message, place: Place) -> Taken {
        let shared = Arc::clone(&self.roads.shared);
        let Some(bot) = shared.bot() else { return Taken::Stuck };
        let id = message.id.get();
        if self.told_busy.contains(&id) {
            return Taken::Done;
        }
        let said = said(message, place, bot);
        match shared.settings.policy.judge(&said, bot) {
            Ok(Meaning::Asks(request)) => self.submit(*request, (id, said.author_id)).await,
            Ok(Meaning::Stop) => self.stop(said.author_id, id).await,
            Ok(Meaning::Ignored) => self.saw(id, Keep::Later).await,
            Err(why) => {
                tracing::info!(message = id, %why, "a message was not taken");
                self.saw(id, Keep::Later).await
            }
        }
    }

    async fn submit(&mut self, request: Request, (id, asker): (u64, u64)) -> Taken {
        let clankie = self.roads.clankie.clone();
        let Some(answer) = asked(|| clankie.submit(request.clone())).await else { return Taken::Stuck };
        match heard(&answer) {
            Heard::Later => return Taken::Stuck,
            Heard::Busy(facts) => {
                let sign = Sign::new((self.at.channel, id), asker, facts);
                if let Err(error) = self.roads.owed.owe(&clankie, sign).await {
                    tracing::warn!(message = id, %error, "a busy sign was not kept");
                    return Taken::Stuck;
                }
                note(&mut self.told_busy, id, TOLD_BUSY_KEPT);
            }
            Heard::Taken(..) | Heard::Refused(_) | Heard::Differs | Heard::Quiet => {}
        }
        let taken = self.saw(id, Keep::Now).await;
        self.show(&answer, (id, asker));
        taken
    }

    /// The small signals of an answer. Nothing of them is waited for.
    fn show(&self, answer: &Answer, (id, asker): (u64, u64)) {
        let (shared, trigger) = (&self.roads.shared, Trigger { channel: self.at.channel, message: id });
        match heard(answer) {
            Heard::Taken(handoff, state) => {
                follow(shared, &self.roads.clankie, (handoff, state), (trigger, First::Shown));
            }
            Heard::Busy(facts) => {
                let (roads, sign) = (self.roads.clone(), Sign::new((self.at.channel, id), asker, facts));
                tokio::spawn(async move { roads.owed.give(&roads.shared, &roads.clankie, sign).await });
            }
            Heard::Refused(why) => tracing::info!(message = id, ?why, "a message was refused"),
            Heard::Differs => {
                tracing::info!(message = id, "a message came again with other words; the first ones count")
            }
            Heard::Later | Heard::Quiet => {}
        }
    }

    /// Ends what a stop word meant, once. It may come late, after newer messages, and is dealt with all the same.
    async fn stop(&mut self, author: u64, message: u64) -> Taken {
        if message <= self.began || self.stops.contains(&message) {
            return Taken::Done;
        }
        if self.end_run(author, message).await == Taken::Stuck {
            return Taken::Stuck;
        }
        note(&mut self.stops, message, STOPS_KEPT);
        self.saw(message, Keep::Now).await
    }

    /// Ends the newest run of that speaker in that room that was asked for before this message.
    async fn end_run(&self, author: u64, message: u64) -> Taken {
        let (Ok(room), Ok(speaker)) = (self.at.room(), actor(author)) else { return Taken::Done };
        let clankie = &self.roads.clankie;
        let Some(live) = newest_live(clankie, (&room, &speaker), Some(message)) else { return Taken::Done };
        let cancel = || clankie.cancel(&room, Which::Handoff(live.id), Canceller::Speaker(speaker.clone()));
        let Some(answer) = asked(cancel).await else { return Taken::Stuck };
        match stopped(&answer) {
            Stopped::Stopping | Stopped::Cancelled => {
                let (shared, channel) = (Arc::clone(&self.roads.shared), self.at.channel);
                tokio::spawn(async move {
                    shared.rest.react(channel, message, &shared.settings.signals.done).await;
                });
            }
            Stopped::OverBefore | Stopped::Nothing => {
                tracing::info!(handoff = %live.id, message, ?answer, "a stop word stopped nothing");
            }
            Stopped::Later => return Taken::Stuck,
        }
        Taken::Done
    }

    async fn edited(&mut self, update: &MessageUpdateEvent) {
        let Some(content) = &update.content else { return };
        let author = update.author.as_ref().map(|named| named.id.get());
        let files = update.attachments.as_ref().map(|sent| sent.iter().map(attachment).collect());
        self.reworded(Reworded { id: update.id.get(), author, content, files }).await;
    }

    pub(super) async fn reworded(&mut self, reworded: Reworded<'_>) {
        let Reworded { id, author: named, content, files } = reworded;
        let Some(bot) = self.roads.shared.bot() else { return };
        let Some((room, delivery, record)) = self.roads.known(self.at, id) else { return };
        // Some edits do not name their author. Only whoever wrote a message can edit it.
        let Some(author) = user_of(&record.actor) else { return };
        if named.is_some_and(|named| named != author) {
            return;
        }
        let sent: Vec<_> = files.unwrap_or_else(|| record.attachments.clone());
        let words = without_mention(content, bot).replace('\0', "");
        let (Ok((text, attachments)), Ok(transport)) = (taken_in(&words, &sent), transport()) else { return };
        let (actor, actor_name, guild) = (record.actor, record.actor_name, record.guild);
        let source = Source::Text;
        let (wanted, context) = (None, Vec::new());
        let request =
            Request { room, delivery, actor, actor_name, source, transport, guild, wanted, text, attachments, context };
        let clankie = self.roads.clankie.clone();
        if let Some(answer) = asked(|| clankie.edit(request.clone())).await {
            self.show(&answer, (id, author));
        }
    }

    pub(super) async fn deleted(&mut self, message: u64) {
        let Some((room, delivery, record)) = self.roads.known(self.at, message) else { return };
        let clankie = &self.roads.clankie;
        if asked(|| clankie.retract(&room, delivery.clone(), record.actor.clone())).await.is_none() {
            tracing::warn!(message, "a deleted message was not taken back");
        }
    }

    /// Moves the channel's mark, durably when it matters.
    pub(super) async fn saw(&mut self, id: u64, keep: Keep) -> Taken {
        self.unsaved += 1;
        self.seen = self.seen.max(id);
        if keep == Keep::Later && self.unsaved < UNSAVED_MOST {
            return Taken::Done;
        }
        self.keep().await
    }

    async fn keep(&mut self) -> Taken {
        if self.unsaved == 0 {
            return Taken::Done;
        }
        match marks::keep(&self.roads.clankie, self.at.channel, self.seen).await {
            Ok(()) => {
                self.unsaved = 0;
                Taken::Done
            }
            Err(error) => {
                tracing::warn!(channel = self.at.channel, %error, "a channel's mark was not kept");
                Taken::Stuck
            }
        }
    }

    /// Catches up with the channel where that is needed before a live message of it counts.
    async fn reach(&mut self, place: Place) -> Taken {
        let epoch = self.roads.epoch.load(Ordering::Acquire);
        if self.caught_up == Some(epoch) {
            return Taken::Done;
        }
        self.catch_up(place, None).await
    }

    /// Comes back to the channel later: nothing of it counts as seen until then.
    pub(super) fn stuck(&mut self) {
        self.caught_up = None;
        self.again = Some(Instant::now() + CATCH_UP_AGAIN);
    }
}

/// Remembers one more message, and of all of them so many at most.
fn note(kept: &mut VecDeque<u64>, message: u64, most: usize) {
    kept.push_back(message);
    if kept.len() > most {
        kept.pop_front();
    }
}

/// That speaker's newest handoff that still runs or waits in that room, of those asked for before a
/// message. What lives is bounded by admission, so all of it is looked through.
pub(super) fn newest_live(
    clankie: &Clankie,
    (room, speaker): (&RoomId, &ActorId),
    before: Option<u64>,
) -> Option<HandoffRecord> {
    let live = |state| {
        let (room, actor) = (Some(room.clone()), Some(speaker.clone()));
        let query = HandoffQuery { room, actor, state: Some(state), limit: usize::MAX, before: None };
        clankie.handoffs(&query).map(|page| page.handoffs).unwrap_or_default()
    };
    let earlier = |record: &HandoffRecord| match (message_of(record.quoted()), before) {
        (Some(trigger), Some(before)) => trigger < before,
        (None, _) | (_, None) => true,
    };
    let live = [StateName::Pending, StateName::Running].into_iter().flat_map(live);
    live.filter(earlier).max_by_key(|record| record.id)
}

/// Asks until admission stands. `None` when it cannot be known now.
async fn asked<F: Future<Output = Result<Answer, Failure>>>(ask: impl Fn() -> F) -> Option<Answer> {
    for _ in 0..TRIES {
        match ask().await {
            Ok(answer) => {
                metrics::answered(Gateway::DiscordText, &answer);
                return Some(answer);
            }
            Err(Failure::Restarting | Failure::TooManyInFlight) => tokio::time::sleep(TRY_AGAIN).await,
            Err(error @ (Failure::StoreUnavailable(_) | Failure::ShuttingDown | Failure::Damaged(_))) => {
                tracing::warn!(%error, "an item is left for the next start");
                return None;
            }
        }
    }
    None
}
