//! Who and what a world consists of: its places, its people, its limits and what configuration says.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use clankie_actors::Settings;
use clankie_domain::admission::Limits;
use clankie_domain::autonomy::{Autonomy, Category};
use clankie_domain::grant::{Gateway, GrantPolicy, Plan, Transport};
use clankie_domain::ids::{ActorId, DeliveryId, ExecutorName, LaneName, Malformed, RoomId};
use clankie_domain::request::{Request, Source};

use super::dice::Dice;

/// Silence after which a run of a simulated world is dead: shorter than outside, so that a world is.
const STALL_MS: u64 = 60_000;
/// How long an aborted session may take.
const STOP_GRACE: Duration = Duration::from_secs(2);
/// Output of one run: no script comes near it.
const OUTPUT_MAX: u64 = 1 << 20;
/// People of one place, on a quiet evening and on a crowded one.
const PEOPLE: (u64, u64) = (3, 7);
/// Crowded evenings, of a hundred.
const CROWDED: u64 = 35;
/// Worlds whose agents ask much more than others, of a hundred: mailboxes then forget what is settled.
const CURIOUS: u64 = 7;

/// One room and how words come from it.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) room: RoomId,
    pub(super) transport: Transport,
}

/// What somebody says.
#[derive(Debug, Clone)]
pub(super) struct Said {
    pub(super) place: usize,
    pub(super) actor: ActorId,
    pub(super) delivery: DeliveryId,
    pub(super) wanted: Option<Plan>,
    pub(super) text: String,
}

/// A world's unchanging part.
#[derive(Debug, Clone)]
pub(super) struct Cast {
    pub(super) places: Vec<Place>,
    pub(super) limits: Limits,
    pub(super) executor: ExecutorName,
    pub(super) policies: Vec<GrantPolicy>,
    /// Whether more is said in less time than can be done.
    pub(super) is_crowded: bool,
    /// Whether agents ask much more than others.
    pub(super) is_curious: bool,
}

impl Cast {
    /// The cast of a seed.
    pub(super) fn of(seed: u64) -> Result<Self, Malformed> {
        let mut dice = Dice::of(seed, "cast");
        let (bot, lane) = (LaneName::parse("bot")?, LaneName::parse("lane")?);
        let chat = Transport { gateway: Gateway::DiscordText, lane: bot };
        let ingress = Transport { gateway: Gateway::Ingress, lane: lane.clone() };
        let places = [
            Place { room: RoomId::parse("discord:text:1:10")?, transport: chat.clone() },
            Place { room: RoomId::parse("discord:text:1:11")?, transport: chat },
            Place { room: RoomId::ingress(&lane, "a")?, transport: ingress.clone() },
            Place { room: RoomId::ingress(&lane, "b")?, transport: ingress },
        ];
        let most = usize::try_from(dice.between(2, 4)).unwrap_or(2);
        let waiting = [2, 4, 6, 32][usize::try_from(dice.below(4)).unwrap_or(0)];
        let limits = Limits { waiting, ..Limits::default() };
        let executor = ExecutorName::parse("script")?;
        let is_crowded = Dice::of(seed, "crowd").percent(CROWDED);
        let is_curious = Dice::of(seed, "curious").percent(CURIOUS);
        let places = places[..most].to_vec();
        let mut cast = Self { places, limits, executor, policies: Vec::new(), is_crowded, is_curious };
        cast.policies = (0..4).map(|version| cast.policy(version, &mut dice)).collect::<Result<_, _>>()?;
        Ok(cast)
    }

    /// Somebody of that place.
    pub(super) fn somebody(&self, place: usize, dice: &mut Dice) -> Result<ActorId, Malformed> {
        self.person(place, dice.below(if self.is_crowded { PEOPLE.1 } else { PEOPLE.0 }))
    }

    fn person(&self, place: usize, number: u64) -> Result<ActorId, Malformed> {
        match self.places.get(place).map(|place| &place.transport) {
            Some(Transport { gateway: Gateway::Ingress, lane }) => ActorId::ingress(lane, &number.to_string()),
            Some(_) | None => ActorId::parse(&format!("discord:user:{number}")),
        }
    }

    /// What configuration says in that version. The first gives most; later ones give and take.
    fn policy(&self, version: u32, dice: &mut Dice) -> Result<GrantPolicy, Malformed> {
        let gives = |dice: &mut Dice| version == 0 || dice.percent(50);
        let mut policy = GrantPolicy { machine_tools: BTreeSet::from(["ship".to_owned()]), ..GrantPolicy::default() };
        if gives(dice) {
            policy.owners.insert(self.person(0, 0)?);
        }
        if gives(dice) {
            policy.machine_actors.insert(self.person(0, 1)?);
        }
        if gives(dice) {
            policy.machine_rooms.insert(self.places[1].room.clone());
        }
        if version > 0 && dice.percent(30) {
            policy.autonomy = Autonomy { delegated: BTreeSet::from([Category::Push]), ..Autonomy::default() };
        }
        Ok(policy)
    }

    /// What a process is started with under that version of the configuration.
    pub(super) fn settings(&self, version: usize) -> Settings {
        let policy = self.policies.get(version).cloned().unwrap_or_default();
        let routes = self.routes();
        let reactions = vec!["seen".to_owned()];
        let (stall_ms, output_max, stop_grace) = (STALL_MS, OUTPUT_MAX, STOP_GRACE);
        Settings { limits: self.limits, policy, routes, stall_ms, output_max, stop_grace, reactions }
    }

    pub(super) fn routes(&self) -> BTreeMap<Plan, ExecutorName> {
        [Plan::Social, Plan::Machine, Plan::Owner].map(|plan| (plan, self.executor.clone())).into()
    }

    /// Those words as a gateway hands them in.
    pub(super) fn request(&self, said: &Said) -> Option<Request> {
        let Place { room, transport } = self.places.get(said.place)?.clone();
        Some(Request {
            room,
            delivery: said.delivery.clone(),
            actor: said.actor.clone(),
            actor_name: said.actor.as_str().to_owned(),
            source: Source::Text,
            transport,
            guild: None,
            wanted: said.wanted,
            text: said.text.clone(),
            attachments: Vec::new(),
            context: Vec::new(),
        })
    }
}
