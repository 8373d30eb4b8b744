//! Eight clients that talk at once: bursts, edits, cancels, retries and other words under old keys.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use tokio::task::JoinHandle;

use crate::api::{Answer, Api};
use crate::history::{Key, Verb};
use crate::rng::Rng;
use crate::words::{self, Manner};
use crate::world::World;

/// People who talk at the same time.
pub(crate) const CLIENTS: usize = 8;
/// People of a crowd: more than the four that run and the 32 that wait.
const CROWD: usize = 44;
/// The number of the first person of a crowd, whom no client shares.
const CROWD_FROM: usize = 200;
/// Deliveries that a client still thinks of.
const REMEMBERED: usize = 60;
/// Longest pause of a client between two acts, in milliseconds.
const PAUSE_MS: u64 = 75;

/// One person.
struct Client {
    world: Arc<World>,
    actor: String,
    rng: Rng,
    recent: VecDeque<Key>,
    again: VecDeque<(Key, Verb)>,
}

/// Starts every client.
pub(crate) fn start(world: &Arc<World>) -> Vec<JoinHandle<()>> {
    let client = |number: usize| Client {
        world: Arc::clone(world),
        actor: format!("u:{number}"),
        rng: Rng::new(world.seed, number as u64 + 1),
        recent: VecDeque::new(),
        again: VecDeque::new(),
    };
    (0..CLIENTS).map(|number| tokio::spawn(client(number).run())).collect()
}

/// Sends more people at once than may run and wait; who is told busy does not come again.
pub(crate) fn crowd(world: &Arc<World>) {
    let world = Arc::clone(world);
    tokio::spawn(async move {
        let _acting = world.gate.read().await;
        let Some(api) = world.api() else { return };
        let rooms = world.rooms();
        let come = |person: usize| {
            let room = rooms[person % rooms.len()].clone();
            let key = Key { room, delivery: format!("d{}", world.number()) };
            world.history.open(&key, &format!("u:{}", CROWD_FROM + person), Manner::Slow);
            key
        };
        let keys: Vec<Key> = (0..CROWD).map(come).collect();
        join_all(keys.iter().map(|key| attempt(&world, &api, key, Verb::Post(0)))).await;
    });
}

/// Makes one attempt and notes what came of it.
pub(crate) async fn attempt(world: &World, api: &Api, key: &Key, verb: Verb) -> Answer {
    let Some(delivery) = world.history.delivery(key) else { return Answer::NotFound };
    let (room, id, actor) = (&key.room, &key.delivery, &delivery.actor);
    let begun = world.history.begin(key, verb, api.at.life);
    let text = |number: usize| delivery.texts.get(number).cloned().unwrap_or_default();
    let answer = match verb {
        Verb::Post(number) => api.post(room, id, actor, &text(number)).await,
        Verb::OtherBody => api.post(room, id, actor, "other words under the same id").await,
        Verb::Put(number) => api.put(room, id, actor, &text(number)).await,
        Verb::Delete => api.delete(room, id, actor).await,
        Verb::Get => api.turn_of(room, id, 1).await,
    };
    world.history.heard(key, verb, begun, &answer);
    answer
}

impl Client {
    async fn run(mut self) {
        let mut seen = 0;
        while let Some(api) = self.world.api_after(seen).await {
            seen = api.at.life;
            while self.act(&api).await == Link::Up {
                let pause = Duration::from_millis(self.rng.between(0, PAUSE_MS));
                tokio::time::sleep(pause).await;
            }
        }
    }

    /// One act, unless the clients are told to rest.
    async fn act(&mut self, api: &Api) -> Link {
        let world = Arc::clone(&self.world);
        let _acting = world.gate.read().await;
        if *world.over.borrow() || world.api().is_none_or(|now| now.at.life != api.at.life) {
            return Link::Down;
        }
        if !self.again.is_empty() && self.rng.chance(40) {
            return self.try_again(api).await;
        }
        match self.rng.between(1, 100) {
            1..=45 => self.burst(api).await,
            46..=60 => self.on_recent(api, Act::Edit).await,
            61..=70 => self.on_recent(api, Act::Cancel).await,
            71..=75 => self.on_recent(api, Act::OwnerCancel).await,
            76..=84 => self.on_recent(api, Act::Retry).await,
            85..=89 => self.on_recent(api, Act::OtherBody).await,
            _ => self.on_recent(api, Act::Get).await,
        }
    }

    /// Some texts in a row into one room: one after another, or all at once.
    async fn burst(&mut self, api: &Api) -> Link {
        let rooms = self.world.rooms();
        let Some(room) = self.rng.pick(&rooms).cloned() else { return Link::Up };
        let keys: Vec<Key> = (0..self.rng.between(1, 4)).map(|_| self.fresh(&room)).collect();
        if self.rng.chance(30) {
            let tries = keys.iter().map(|key| attempt(&self.world, api, key, Verb::Post(0)));
            let answers = join_all(tries).await;
            let links: Vec<Link> =
                keys.into_iter().zip(answers).map(|(key, answer)| self.note(key, Verb::Post(0), &answer)).collect();
            return if links.contains(&Link::Down) { Link::Down } else { Link::Up };
        }
        for key in keys {
            let answer = attempt(&self.world, api, &key, Verb::Post(0)).await;
            if self.note(key, Verb::Post(0), &answer) == Link::Down {
                return Link::Down;
            }
        }
        Link::Up
    }

    fn fresh(&mut self, room: &str) -> Key {
        let key = Key { room: room.to_owned(), delivery: format!("d{}", self.world.number()) };
        let manner = self.manner();
        self.world.history.open(&key, &self.actor, manner);
        self.recent.push_back(key.clone());
        if self.recent.len() > REMEMBERED {
            self.recent.pop_front();
        }
        key
    }

    fn manner(&mut self) -> Manner {
        match self.rng.between(1, 100) {
            1..=40 => Manner::Slow,
            41..=46 => Manner::Update,
            47..=56 => Manner::Decide,
            57..=62 => Manner::Approve,
            63..=67 => Manner::Describe,
            68..=71 => Manner::Secret,
            72..=80 => Manner::Mail,
            _ => Manner::Quick,
        }
    }

    async fn on_recent(&mut self, api: &Api, act: Act) -> Link {
        let newest = matches!(act, Act::Edit | Act::Cancel | Act::OwnerCancel);
        let skip = if newest { self.recent.len().saturating_sub(6) } else { 0 };
        let among: Vec<Key> = self.recent.iter().skip(skip).cloned().collect();
        let Some(key) = self.rng.pick(&among).cloned() else { return Link::Up };
        let Some(delivery) = self.world.history.delivery(&key) else { return Link::Up };
        let verb = match act {
            Act::Edit => {
                let manner = self.manner();
                Verb::Put(self.world.history.edit(&key, manner))
            }
            Act::Cancel => Verb::Delete,
            Act::OwnerCancel => return self.owner_cancel(api, delivery.handoff).await,
            // Which of an edited delivery's texts stands is the checker's to find out.
            Act::Retry if delivery.texts.len() > 1 => Verb::Get,
            Act::Retry => Verb::Post(0),
            Act::OtherBody if delivery.handoff.is_some() => Verb::OtherBody,
            Act::OtherBody | Act::Get => Verb::Get,
        };
        let answer = attempt(&self.world, api, &key, verb).await;
        self.note(key, verb, &answer)
    }

    async fn owner_cancel(&mut self, api: &Api, handoff: Option<String>) -> Link {
        let Some(handoff) = handoff else { return Link::Up };
        self.world.history.owner_cancels(&handoff);
        match api.cancel(&handoff).await {
            Ok(_) => Link::Up,
            Err(crate::api::Trouble::Gone) => Link::Down,
            Err(crate::api::Trouble::Wrong(what)) => {
                self.world.history.violation("contract", format!("cancel of {handoff}: {what}"), None);
                Link::Up
            }
        }
    }

    async fn try_again(&mut self, api: &Api) -> Link {
        let Some((key, verb)) = self.again.pop_front() else { return Link::Up };
        let answer = attempt(&self.world, api, &key, verb).await;
        self.note(key, verb, &answer)
    }

    /// Remembers what is to be tried again: all that is unknown, and most of what was busy.
    fn note(&mut self, key: Key, verb: Verb, answer: &Answer) -> Link {
        let tries = matches!(verb, Verb::Post(_) | Verb::Put(_));
        match answer {
            Answer::Lost(_) | Answer::Unavailable(_) => {
                if tries {
                    self.again.push_back((key, verb));
                }
                if matches!(answer, Answer::Lost(_)) { Link::Down } else { Link::Up }
            }
            Answer::Busy => {
                if tries && self.rng.chance(70) {
                    self.again.push_back((key, verb));
                }
                Link::Up
            }
            Answer::Accepted { .. }
            | Answer::Settled { .. }
            | Answer::Conflict
            | Answer::Forgotten
            | Answer::NotFound
            | Answer::Unexpected(..) => Link::Up,
        }
    }
}

/// Whether the service answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    Up,
    Down,
}

#[derive(Debug, Clone, Copy)]
enum Act {
    Edit,
    Cancel,
    OwnerCancel,
    Retry,
    OtherBody,
    Get,
}

/// The whole id of a room of the lane.
pub(crate) fn full_room(room: &str) -> String {
    format!("ingress:{}:{room}", crate::world::LANE)
}

/// The key that a record's text belongs to.
pub(crate) fn key_of(room: &str, request: &str) -> Option<(Key, String)> {
    let text = words::texts(request).into_iter().next()?;
    let room = room.strip_prefix(&full_room(""))?.to_owned();
    let delivery = words::delivery_of(&text).to_owned();
    Some((Key { room, delivery }, text))
}
