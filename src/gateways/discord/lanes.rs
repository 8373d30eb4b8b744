//! Messages on their way in: a few lanes, each of which handles its channels' messages in order.
//!
//! A message is handed to the actors before the next one of its channel is looked at, and the
//! place up to which a channel was seen is kept durably, so that a time away can be caught up with.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use clankie_actors::{Clankie, Failure, HandoffQuery};
use clankie_domain::admission::BusyFacts;
use clankie_domain::admission::room::{Answer, Canceller, Which};
use clankie_domain::grant::Gateway;
use clankie_domain::handoff::{HandoffRecord, StateName};
use clankie_domain::ids::{ActorId, DeliveryId, RoomId};
use clankie_domain::request::{Request, Source, request_text};
use serenity::model::channel::Message;
use serenity::model::event::MessageUpdateEvent;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::Shared;
use super::identity::{Meaning, Place, actor, transport, without_mention};
use super::places::Places;
use super::posting::notice;
use super::signals::{First, Trigger, follow};
use super::translate::{attachment, said};
use crate::http::metrics;

/// Lanes: one that waits for a commit or for Discord holds up a sixteenth of the channels.
const LANES: usize = 16;
/// Items that wait in one lane before the gateway's own queue holds the rest.
const LANE_DEPTH: usize = 256;
/// Tries of one submit while admission is being rebuilt: together some seconds.
const TRIES: u32 = 25;
const TRY_AGAIN: Duration = Duration::from_millis(200);
/// When a channel that got stuck is caught up with.
const CATCH_UP_AGAIN: Duration = Duration::from_secs(5);
/// Ignored messages after which the place is kept durably all the same.
const UNSAVED_MOST: u32 = 32;
/// Messages of one channel that were told busy and are not tried again when Discord repeats them.
const TOLD_BUSY_KEPT: usize = 64;
/// Handoffs of one speaker that are looked through for the one to stop.
const STOP_LOOK: usize = 32;

/// What comes in about one channel.
#[derive(Debug)]
pub(super) enum Item {
    /// Somebody wrote.
    Message(Box<Message>),
    /// Somebody edited.
    Edited(Box<MessageUpdateEvent>),
    /// Something was deleted.
    Deleted { channel: u64, guild: Option<u64>, message: u64 },
    /// A channel may have moved on while the service was away; its newest message, if known.
    CatchUp { place: Place, newest: Option<u64> },
}

/// The lanes' ends.
#[derive(Debug, Clone)]
pub(super) struct Lanes(Vec<mpsc::Sender<Item>>);

/// What every lane shares.
#[derive(Debug, Clone)]
pub(super) struct Roads {
    pub(super) shared: Arc<Shared>,
    pub(super) clankie: Clankie,
    pub(super) places: Arc<Places>,
    /// Moves with every new session of the gateway: what was missed before it is caught up with.
    pub(super) epoch: Arc<AtomicU64>,
    /// Where a channel begins that was never seen: when the bot first ran.
    pub(super) born: u64,
}

/// One lane.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) roads: Roads,
    back: mpsc::WeakSender<Item>,
    marks: BTreeMap<u64, Mark>,
}

/// How far one channel was seen.
#[derive(Debug, Default)]
pub(super) struct Mark {
    pub(super) seen: u64,
    /// The session up to which it was caught up with; `None` is not at all, or it got stuck.
    pub(super) caught_up: Option<u64>,
    unsaved: u32,
    told_busy: VecDeque<u64>,
}

/// Whether a message is behind us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// It is, durably where it asked for something.
    Done,
    /// It must come again.
    Stuck,
}

impl Lanes {
    /// Starts them; they end with `tasks`.
    pub(super) fn start(roads: &Roads, tasks: &mut JoinSet<()>) -> Self {
        let lane = |_| {
            let (sender, receiver) = mpsc::channel(LANE_DEPTH);
            let lane = Lane { roads: roads.clone(), back: sender.downgrade(), marks: BTreeMap::new() };
            tasks.spawn(lane.run(receiver));
            sender
        };
        Self((0..LANES).map(lane).collect())
    }

    /// Puts an item into its channel's lane; waits while that is full.
    pub(super) async fn put(&self, item: Item) {
        let channel = match &item {
            Item::Message(message) => message.channel_id.get(),
            Item::Edited(update) => update.channel_id.get(),
            Item::Deleted { channel, .. } => *channel,
            Item::CatchUp { place, .. } => place.channel,
        };
        // The low bits of a snowflake are nearly constant; those above them count milliseconds.
        let index = usize::try_from((channel >> 22) ^ channel).unwrap_or_default() % self.0.len();
        if let Some(lane) = self.0.get(index) {
            // A lane ends only with the whole gateway.
            let _ = lane.send(item).await;
        }
    }
}

impl Lane {
    async fn run(mut self, mut items: mpsc::Receiver<Item>) {
        while let Some(item) = items.recv().await {
            match item {
                Item::Message(message) => self.message(&message).await,
                Item::Edited(update) => self.edited(&update).await,
                Item::Deleted { channel, guild, message } => self.deleted(channel, guild, message).await,
                Item::CatchUp { place, newest } => self.catch_up(place, newest).await,
            }
        }
    }

    async fn message(&mut self, message: &Message) {
        let guild = message.guild_id.map(|guild| guild.get());
        let place = self.roads.places.find(&self.roads.shared, message.channel_id.get(), guild).await;
        if !self.roads.shared.settings.policy.hears(&place) {
            return;
        }
        self.reach(place).await;
        if self.take(message, place).await == Taken::Stuck {
            self.stuck(place);
        }
    }

    /// Handles one message, live or missed.
    pub(super) async fn take(&mut self, message: &Message, place: Place) -> Taken {
        let shared = Arc::clone(&self.roads.shared);
        let Some(bot) = shared.bot() else { return Taken::Stuck };
        let id = message.id.get();
        if self.mark(place.channel).told_busy.contains(&id) {
            return Taken::Done;
        }
        let said = said(message, place, bot);
        match shared.settings.policy.judge(&said, bot) {
            Ok(Meaning::Asks(request)) => self.submit(*request, place, (id, said.author_id)).await,
            Ok(Meaning::Stop) => {
                self.stop(place, said.author_id, id).await;
                self.seen(place, id, Keep::Now).await
            }
            Ok(Meaning::Ignored) => self.seen(place, id, Keep::Later).await,
            Err(why) => {
                tracing::info!(message = id, %why, "a message was not taken");
                self.seen(place, id, Keep::Later).await
            }
        }
    }

    async fn submit(&mut self, request: Request, place: Place, (id, asker): (u64, u64)) -> Taken {
        let clankie = self.roads.clankie.clone();
        let Some(answer) = asked(|| clankie.submit(request.clone())).await else { return Taken::Stuck };
        match &answer {
            Answer::ShuttingDown => return Taken::Stuck,
            Answer::Busy(_) => self.note_busy(place, id),
            Answer::Accepted { .. }
            | Answer::Settled { .. }
            | Answer::Conflict { .. }
            | Answer::ConflictInFlight
            | Answer::Refused(_)
            | Answer::Forgotten
            | Answer::Cancelling { .. }
            | Answer::NotFound
            | Answer::NotYours
            | Answer::Posted(_)
            | Answer::NoSuchStep => {}
        }
        let taken = self.seen(place, id, Keep::Now).await;
        self.show(&answer, place, (id, asker));
        taken
    }

    /// The small signals of an answer. Nothing of them is waited for.
    fn show(&self, answer: &Answer, place: Place, (id, asker): (u64, u64)) {
        let (shared, trigger) = (&self.roads.shared, Trigger { channel: place.channel, message: id });
        match answer {
            Answer::Accepted { handoff, state } => {
                follow(shared, &self.roads.clankie, (*handoff, *state), (trigger, First::Shown));
            }
            Answer::Busy(facts) => {
                let (shared, sentence) = (Arc::clone(shared), busy_sentence(facts));
                tokio::spawn(async move {
                    shared.rest.react(trigger.channel, trigger.message, &shared.settings.signals.busy).await;
                    notice(&shared, trigger.channel, trigger.message, asker, &sentence).await;
                });
            }
            Answer::Refused(why) => tracing::info!(message = id, ?why, "a message was refused"),
            Answer::Conflict { .. } | Answer::ConflictInFlight => {
                tracing::info!(message = id, "a message came again with other words; the first ones count");
            }
            Answer::Settled { .. }
            | Answer::ShuttingDown
            | Answer::Forgotten
            | Answer::Cancelling { .. }
            | Answer::NotFound
            | Answer::NotYours
            | Answer::Posted(_)
            | Answer::NoSuchStep => {}
        }
    }

    /// Ends the newest run of that speaker in that room.
    async fn stop(&self, place: Place, author: u64, message: u64) {
        let (Ok(room), Ok(speaker)) = (place.room(), actor(author)) else { return };
        let Some(live) = newest_live(&self.roads.clankie, &room, &speaker) else { return };
        let which = Which::Handoff(live.id);
        match self.roads.clankie.cancel(&room, which, Canceller::Speaker(speaker)).await {
            Ok(_) => {
                let shared = Arc::clone(&self.roads.shared);
                let channel = place.channel;
                tokio::spawn(async move {
                    shared.rest.react(channel, message, &shared.settings.signals.done).await;
                });
            }
            Err(error) => tracing::warn!(handoff = %live.id, %error, "a run was not stopped"),
        }
    }

    /// The delivery of a message that has one, with its record.
    fn known(&self, place: Place, message: u64) -> Option<(RoomId, DeliveryId, HandoffRecord)> {
        let (room, delivery) = (place.room().ok()?, DeliveryId::parse(&message.to_string()).ok()?);
        let receipt = self.roads.clankie.receipt(&room, &delivery).ok()??;
        let record = self.roads.clankie.handoff(receipt.handoff).ok()??;
        Some((room, delivery, record))
    }

    async fn edited(&mut self, update: &MessageUpdateEvent) {
        let (guild, id) = (update.guild_id.map(|guild| guild.get()), update.id.get());
        let (Some(content), Some(bot)) = (&update.content, self.roads.shared.bot()) else { return };
        let place = self.roads.places.find(&self.roads.shared, update.channel_id.get(), guild).await;
        let Some((room, delivery, record)) = self.known(place, id) else { return };
        let author = update.author.as_ref().map(|author| author.id.get());
        if author.is_some_and(|author| actor(author).ok().as_ref() != Some(&record.actor)) {
            return;
        }
        let attachments = match &update.attachments {
            Some(sent) => sent.iter().map(attachment).collect(),
            None => record.attachments.clone(),
        };
        let words = without_mention(content, bot).replace('\0', "");
        let (Ok(text), Ok(transport)) = (request_text(&words, attachments.len()), transport()) else { return };
        let (actor, actor_name, guild) = (record.actor, record.actor_name, record.guild);
        let source = Source::Text;
        let (wanted, context) = (None, Vec::new());
        let request =
            Request { room, delivery, actor, actor_name, source, transport, guild, wanted, text, attachments, context };
        let clankie = self.roads.clankie.clone();
        let asker = author.unwrap_or_default();
        if let Some(answer) = asked(|| clankie.edit(request.clone())).await {
            self.show(&answer, place, (id, asker));
        }
    }

    async fn deleted(&mut self, channel: u64, guild: Option<u64>, message: u64) {
        let place = self.roads.places.find(&self.roads.shared, channel, guild).await;
        let Some((room, delivery, record)) = self.known(place, message) else { return };
        if let Err(error) = self.roads.clankie.retract(&room, delivery, record.actor).await {
            tracing::warn!(message, %error, "a deleted message was not taken back");
        }
    }

    /// Moves a channel's place, durably when it matters.
    pub(super) async fn seen(&mut self, place: Place, id: u64, keep: Keep) -> Taken {
        let clankie = self.roads.clankie.clone();
        let mark = self.mark(place.channel);
        mark.unsaved += 1;
        mark.seen = mark.seen.max(id);
        if keep == Keep::Later && mark.unsaved < UNSAVED_MOST {
            return Taken::Done;
        }
        mark.unsaved = 0;
        match clankie.keep_bookmark(&bookmark(place.channel), mark.seen.to_string()).await {
            Ok(()) => Taken::Done,
            Err(error) => {
                tracing::warn!(channel = place.channel, %error, "a channel's place was not kept");
                Taken::Stuck
            }
        }
    }

    /// How far a channel was seen, read once.
    pub(super) fn mark(&mut self, channel: u64) -> &mut Mark {
        let roads = &self.roads;
        self.marks.entry(channel).or_insert_with(|| {
            let kept = roads.clankie.bookmark(&bookmark(channel)).ok().flatten();
            let seen = kept.and_then(|text| text.parse().ok()).unwrap_or(roads.born);
            Mark { seen, ..Mark::default() }
        })
    }

    /// Whether the channel has to be caught up with before a live message of it counts.
    pub(super) async fn reach(&mut self, place: Place) {
        let epoch = self.roads.epoch.load(Ordering::Acquire);
        if self.mark(place.channel).caught_up != Some(epoch) {
            self.catch_up(place, None).await;
        }
    }

    /// Comes back to a channel later: nothing of it counts as seen until then.
    pub(super) fn stuck(&mut self, place: Place) {
        self.mark(place.channel).caught_up = None;
        let back = self.back.clone();
        tokio::spawn(async move {
            tokio::time::sleep(CATCH_UP_AGAIN).await;
            if let Some(lane) = back.upgrade() {
                // A full lane holds messages of its own that catch up first.
                let _ = lane.try_send(Item::CatchUp { place, newest: None });
            }
        });
    }

    fn note_busy(&mut self, place: Place, id: u64) {
        let told = &mut self.mark(place.channel).told_busy;
        told.push_back(id);
        if told.len() > TOLD_BUSY_KEPT {
            told.pop_front();
        }
    }
}

/// When a channel's place is made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// Before anything else.
    Now,
    /// With the next one that matters.
    Later,
}

/// That speaker's newest handoff that still runs or waits in that room.
pub(super) fn newest_live(clankie: &Clankie, room: &RoomId, speaker: &ActorId) -> Option<HandoffRecord> {
    let query = HandoffQuery {
        room: Some(room.clone()),
        actor: Some(speaker.clone()),
        limit: STOP_LOOK,
        ..HandoffQuery::default()
    };
    let page = clankie.handoffs(&query).ok()?;
    let live = |record: &HandoffRecord| matches!(record.state_name(), StateName::Pending | StateName::Running);
    page.handoffs.into_iter().find(live)
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
                tracing::warn!(%error, "a message is left for the next start");
                return None;
            }
        }
    }
    None
}

fn busy_sentence(facts: &BusyFacts) -> String {
    let BusyFacts { running, waiting, .. } = facts;
    format!("I have too much to do: {running} running and {waiting} waiting. Please ask again in a while.")
}

fn bookmark(channel: u64) -> String {
    format!("discord:seen:{channel}")
}
