//! Who handles a message: every channel that is heard has a lane of its own, and none waits for another's.
//!
//! Nothing here waits, so whoever reads the gateway never does. What is not for the bot gets no lane.
//! A lane that is full refuses what comes next and catches up with its channel once it is empty:
//! messages stand in the room and are read back, within the bounds of a time away, and messages whose
//! handoffs wait are looked at. What is refused for good is an edit or a deletion, in so full a channel,
//! of a message whose run has begun.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use clankie_actors::Clankie;
use clankie_domain::handoff::HandoffRecord;
use clankie_domain::ids::{DeliveryId, RoomId};
use serenity::model::channel::Message;
use serenity::model::event::MessageUpdateEvent;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinSet;

use super::Shared;
use super::lane::Lane;
use super::owed::OwedSigns;
use super::places::{At, Places};

/// Items that wait in one lane: more than people write while a commit is waited for.
const LANE_DEPTH: usize = 64;
/// Items that wait in all lanes together: some tens of megabytes of messages at most.
const ITEMS_MOST: usize = 8_192;
/// Lanes at once: beyond the channels and threads in which people write within an hour. A further
/// channel waits for a lane to end, or for the next session.
const LANES_MOST: usize = 10_000;
/// Channels whose history is read at the same time: a third of the calls that Discord allows in a second.
const READS_AT_ONCE: usize = 16;

/// What comes in about one channel.
#[derive(Debug)]
pub(super) enum Item {
    /// Somebody wrote.
    Message(Box<Message>),
    /// Somebody edited.
    Edited(Box<MessageUpdateEvent>),
    /// Something was deleted.
    Deleted { message: u64 },
    /// A channel may have moved on while the service was away; its newest message, if known.
    CatchUp { newest: Option<u64> },
    /// The handoff of a message waits, and nobody was told whether it was edited or deleted meanwhile.
    Waits { message: u64 },
}

/// An item in its lane. Its room among all items is free again once it was handled.
#[derive(Debug)]
pub(super) struct Queued {
    pub(super) item: Item,
    _room: OwnedSemaphorePermit,
}

/// What every lane shares.
#[derive(Debug, Clone)]
pub(super) struct Roads {
    pub(super) shared: Arc<Shared>,
    pub(super) clankie: Clankie,
    pub(super) places: Arc<Places>,
    pub(super) owed: Arc<OwedSigns>,
    /// Moves with every new session of the gateway: what was missed before it is caught up with.
    pub(super) epoch: Arc<AtomicU64>,
    /// Where a channel begins that was never seen.
    pub(super) floor: u64,
    /// Who reads history now.
    pub(super) readers: Arc<Semaphore>,
}

/// All lanes. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Lanes(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    roads: Roads,
    room: Arc<Semaphore>,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    lanes: BTreeMap<u64, End>,
    tasks: JoinSet<()>,
    over: bool,
}

/// The end of a lane into which items are put.
#[derive(Debug)]
struct End {
    at: At,
    items: mpsc::Sender<Queued>,
    gap: Arc<Gap>,
}

/// Whether something was refused that the lane must catch up with.
#[derive(Debug, Default)]
pub(super) struct Gap {
    open: AtomicBool,
    told: Notify,
}

/// The way back from a lane to its own entry.
#[derive(Debug, Clone)]
pub(super) struct Entry(Weak<Inner>);

/// Ends every lane when it is dropped.
#[derive(Debug)]
pub(super) struct EndOfLanes(Lanes);

impl Roads {
    pub(super) fn new(shared: &Arc<Shared>, clankie: &Clankie, (owed, floor): (OwedSigns, u64)) -> Self {
        Self {
            shared: Arc::clone(shared),
            clankie: clankie.clone(),
            places: Arc::default(),
            owed: Arc::new(owed),
            epoch: Arc::default(),
            floor,
            readers: Arc::new(Semaphore::new(READS_AT_ONCE)),
        }
    }

    /// The delivery of a message that has one, with its record.
    pub(super) fn known(&self, at: At, message: u64) -> Option<(RoomId, DeliveryId, HandoffRecord)> {
        let (room, delivery) = (at.room().ok()?, DeliveryId::parse(&message.to_string()).ok()?);
        let receipt = self.clankie.receipt(&room, &delivery).ok()??;
        let record = self.clankie.handoff(receipt.handoff).ok()??;
        Some((room, delivery, record))
    }
}

impl Lanes {
    /// None yet; they begin with what comes, and end with `EndOfLanes`.
    pub(super) fn new(roads: Roads) -> (Self, EndOfLanes) {
        let room = Arc::new(Semaphore::new(ITEMS_MOST));
        let lanes = Self(Arc::new(Inner { roads, room, open: Mutex::default() }));
        (lanes.clone(), EndOfLanes(lanes))
    }

    /// Puts an item into its channel's lane, or notes there that something was refused.
    pub(super) fn put(&self, at: At, item: Item) {
        if !self.concerns(at, &item) {
            return;
        }
        let room = Arc::clone(&self.0.room).try_acquire_owned();
        let mut open = self.0.open();
        let Some(end) = self.lane(&mut open, at) else { return };
        if end.gap.is_open() {
            return;
        }
        let put = room.is_ok_and(|room| end.items.try_send(Queued { item, _room: room }).is_ok());
        if !put {
            tracing::warn!(channel = at.channel, "a channel has more than its lane holds; it is caught up with");
            end.gap.open();
        }
    }

    /// Has every channel in use read once by the session that hears from now on.
    pub(super) fn catch_up(&self) {
        let open: Vec<At> = self.0.open().lanes.values().map(|end| end.at).collect();
        open.into_iter().for_each(|at| self.put(at, Item::CatchUp { newest: None }));
    }

    /// Whether anything about this can be for the bot. It costs no call to Discord.
    fn concerns(&self, at: At, item: &Item) -> bool {
        let (roads, policy) = (&self.0.roads, &self.0.roads.shared.settings.policy);
        let heard = match roads.places.known(at) {
            Some(place) => policy.hears(&place),
            None => policy.may_hear(at),
        };
        match item {
            Item::Message(message) => heard && (at.guild.is_some() || policy.hears_directly(message.author.id.get())),
            Item::CatchUp { .. } => heard,
            // Whatever waits in the lane comes first; without a lane only what was taken in counts.
            Item::Edited(update) => self.has_lane(at) || roads.known(at, update.id.get()).is_some(),
            Item::Deleted { message } | Item::Waits { message } => {
                self.has_lane(at) || roads.known(at, *message).is_some()
            }
        }
    }

    fn has_lane(&self, at: At) -> bool {
        self.0.open().lanes.contains_key(&at.channel)
    }

    /// The channel's lane, begun now if need be.
    fn lane<'a>(&self, open: &'a mut Open, at: At) -> Option<&'a End> {
        if !open.lanes.contains_key(&at.channel) && !open.over {
            while open.tasks.try_join_next().is_some() {}
            if open.lanes.len() >= LANES_MOST {
                tracing::warn!(channel = at.channel, "too many channels are in use; this one is not heard for now");
                return None;
            }
            let (sender, receiver) = mpsc::channel(LANE_DEPTH);
            let gap = Arc::new(Gap::default());
            let entry = Entry(Arc::downgrade(&self.0));
            open.tasks.spawn(Lane::new(self.0.roads.clone(), at, (entry, Arc::clone(&gap))).run(receiver));
            open.lanes.insert(at.channel, End { at, items: sender, gap });
        }
        open.lanes.get(&at.channel)
    }
}

impl Inner {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    /// Takes the lane's entry away, unless something came meanwhile: then it goes on.
    pub(super) fn close(&self, channel: u64, items: &mpsc::Receiver<Queued>, gap: &Gap) -> bool {
        let Some(inner) = self.0.upgrade() else { return true };
        let mut open = inner.open();
        if !items.is_empty() || gap.is_open() {
            return false;
        }
        open.lanes.remove(&channel);
        true
    }
}

impl Gap {
    fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }

    fn open(&self) {
        self.open.store(true, Ordering::Release);
        self.told.notify_one();
    }

    /// Returns when something was refused; from then on items are taken again.
    pub(super) async fn passed(&self) {
        self.told.notified().await;
        self.open.store(false, Ordering::Release);
    }
}

impl Drop for EndOfLanes {
    fn drop(&mut self) {
        let mut open = self.0.0.open();
        open.over = true;
        open.lanes.clear();
        open.tasks.abort_all();
    }
}
