//! What an actor may do in a room at a moment, and how that is decided again later.
//!
//! Equality is derived over the whole grant: two deliveries share a run only when nothing differs.
//! Invariant I8: a grant comes from configuration and from what a gateway authenticated, never
//! from a text, a display name or an argument of a model.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::autonomy::Autonomy;
use crate::ids::{ActorId, LaneName, RoomId, TokenId};
use crate::mutant::{self, Mutant};
use crate::time::Timestamp;

/// How much of the machine a handoff may use. Ordered: a lesser plan is a narrower one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Plan {
    /// Talk: the room tools and nothing else.
    Social,
    /// The room's configured closed list of machine tools as well.
    Machine,
    /// The owner, proven.
    Owner,
}

/// Whether configuration names the actor as an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnerStanding {
    /// Not an owner.
    None,
    /// Listed under `[grants] owners`.
    Owner,
}

/// Whether a gateway that authenticated the person itself matched a configured owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnerProof {
    /// Nobody vouched.
    Absent,
    /// Set by our own code only.
    Verified,
}

/// Which rule of the configuration gives the machine plan; the narrowest one that does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MachineStanding {
    /// No rule.
    None,
    /// The whole room.
    Room,
    /// The whole guild.
    Guild,
    /// This actor.
    Individual,
}

/// Which kind of gateway brought a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gateway {
    /// A local room.
    Local,
    /// The HTTP ingress.
    Ingress,
    /// A Discord text channel, thread or DM.
    DiscordText,
    /// A Discord voice call.
    DiscordVoice,
}

/// The way a request came: gateway and lane. Text and voice lanes differ, so text never steers voice.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Transport {
    /// The kind of gateway.
    pub gateway: Gateway,
    /// The lane or account that the credential speaks for.
    pub lane: LaneName,
}

/// What an actor may do in a room at a moment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Grant {
    /// How much of the machine.
    pub plan: Plan,
    /// Whether configuration names the actor as an owner.
    pub owner_standing: OwnerStanding,
    /// Which rule gives the machine plan.
    pub machine_standing: MachineStanding,
    /// Whether a gateway vouched for the owner.
    pub owner_proof: OwnerProof,
    /// How the request came.
    pub transport: Transport,
    /// Every tool name that exists for this grant.
    pub tools: BTreeSet<String>,
}

/// A counter that moves whenever configuration changes what anybody may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GrantEpoch(pub u64);

/// The facts that a gateway established about one request: what a grant is resolved from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Claim {
    /// Who speaks.
    pub actor: ActorId,
    /// Where.
    pub room: RoomId,
    /// The Discord guild of the room, when there is one.
    pub guild: Option<String>,
    /// How the request came.
    pub transport: Transport,
    /// The most the request wants; it may narrow and never widen.
    pub wanted: Option<Plan>,
}

/// `[grants]` and the lists that go with it, as configuration has them now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GrantPolicy {
    /// Actors that are owners.
    pub owners: BTreeSet<ActorId>,
    /// Actors with machine standing of their own.
    pub machine_actors: BTreeSet<ActorId>,
    /// Guilds whose members have machine standing.
    pub machine_guilds: BTreeSet<String>,
    /// Rooms whose speakers have machine standing.
    pub machine_rooms: BTreeSet<RoomId>,
    /// The tools that every grant has.
    pub room_tools: BTreeSet<String>,
    /// The tools that a machine or owner grant adds, for every room.
    pub machine_tools: BTreeSet<String>,
    /// Ingress lanes whose word proves an owner.
    pub vouching_lanes: BTreeSet<LaneName>,
    /// The local rooms that exist.
    pub local_rooms: BTreeSet<RoomId>,
    /// Which kinds of step the owner keeps.
    pub autonomy: Autonomy,
}

/// Whether the credential behind a transport still stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sources {
    /// Lanes and accounts whose credential was revoked. Their names are not reused.
    pub revoked: BTreeSet<Transport>,
}

/// The authority in force: policy, revoked sources and the epoch that names this combination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authority {
    /// Which combination this is.
    pub epoch: GrantEpoch,
    /// What configuration says.
    pub policy: GrantPolicy,
    /// Which credentials are gone.
    pub sources: Sources,
    /// Which executor runs each plan.
    pub routes: BTreeMap<Plan, crate::steering::Route>,
    /// The credentials that may read and answer the owner's mailbox, and when each stops by itself.
    pub answerers: BTreeMap<TokenId, Option<Timestamp>>,
}

/// Why authority that once stood is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revoked {
    /// The actor is no longer heard there, or its grant shrank while it ran.
    Authority,
    /// The owner's standing or proof went.
    Owner,
    /// The credential that vouched for the speaker is gone.
    Source,
}

impl Authority {
    /// Whether that credential may read and answer the owner's mailbox now (invariant M2).
    pub fn may_answer(&self, token: TokenId, now: Timestamp) -> bool {
        self.answerers.get(&token).is_some_and(|end| end.is_none_or(|end| now < end))
            || mutant::on(Mutant::M2AnybodyAnswers)
    }

    /// Resolves what `claim` may do now, or why nobody there is heard.
    pub fn resolve(&self, claim: &Claim) -> Result<Grant, Revoked> {
        if self.sources.revoked.contains(&claim.transport) {
            return Err(Revoked::Source);
        }
        if claim.transport.gateway == Gateway::Local && !self.policy.local_rooms.contains(&claim.room) {
            return Err(Revoked::Authority);
        }
        Ok(self.policy.grant(claim))
    }

    /// Resolves `claim` again for work admitted under `arrival`: the lesser of both, never wider.
    ///
    /// A lost owner plan ends the work; a lost machine plan only narrows work that has not begun.
    pub fn resolve_again(&self, claim: &Claim, arrival: &Grant) -> Result<Grant, Revoked> {
        let now = self.resolve(claim)?;
        if arrival.plan == Plan::Owner && now.plan < Plan::Owner {
            return Err(Revoked::Owner);
        }
        if mutant::on(Mutant::I8GrantGrows) {
            return Ok(now);
        }
        if now.plan >= arrival.plan {
            let tools = arrival.tools.intersection(&now.tools).cloned().collect();
            return Ok(Grant { tools, ..arrival.clone() });
        }
        Ok(Grant {
            plan: now.plan,
            owner_standing: now.owner_standing.min(arrival.owner_standing),
            machine_standing: now.machine_standing.min(arrival.machine_standing),
            owner_proof: now.owner_proof.min(arrival.owner_proof),
            transport: arrival.transport.clone(),
            tools: arrival.tools.intersection(&now.tools).cloned().collect(),
        })
    }

    /// Whether a run that executes under `held` may go on: anything less ends it.
    pub fn still_holds(&self, claim: &Claim, held: &Grant) -> Result<(), Revoked> {
        let again = self.resolve_again(claim, held)?;
        if again == *held { Ok(()) } else { Err(Revoked::Authority) }
    }
}

impl GrantPolicy {
    fn grant(&self, claim: &Claim) -> Grant {
        let owner_standing =
            if self.owners.contains(&claim.actor) { OwnerStanding::Owner } else { OwnerStanding::None };
        let owner_proof = self.proof(claim, owner_standing);
        let machine_standing = self.machine(claim);
        let most = match (owner_proof, machine_standing) {
            (OwnerProof::Verified, _) => Plan::Owner,
            (OwnerProof::Absent, MachineStanding::None) => Plan::Social,
            (OwnerProof::Absent, MachineStanding::Room | MachineStanding::Guild | MachineStanding::Individual) => {
                Plan::Machine
            }
        };
        let plan = claim
            .wanted
            .map_or(most, |wanted| if mutant::on(Mutant::I8WishIsGranted) { wanted } else { wanted.min(most) });
        let transport = claim.transport.clone();
        Grant { plan, owner_standing, machine_standing, owner_proof, transport, tools: self.tools(plan) }
    }

    fn tools(&self, plan: Plan) -> BTreeSet<String> {
        match plan {
            Plan::Social => self.room_tools.clone(),
            Plan::Machine | Plan::Owner => self.room_tools.union(&self.machine_tools).cloned().collect(),
        }
    }

    fn proof(&self, claim: &Claim, standing: OwnerStanding) -> OwnerProof {
        let vouched = match claim.transport.gateway {
            Gateway::Local | Gateway::DiscordText | Gateway::DiscordVoice => true,
            Gateway::Ingress => {
                self.vouching_lanes.contains(&claim.transport.lane) || mutant::on(Mutant::I8AnyLaneVouches)
            }
        };
        match (standing, vouched) {
            (OwnerStanding::Owner, true) => OwnerProof::Verified,
            (OwnerStanding::Owner, false) | (OwnerStanding::None, _) => OwnerProof::Absent,
        }
    }

    fn machine(&self, claim: &Claim) -> MachineStanding {
        if self.machine_actors.contains(&claim.actor) {
            MachineStanding::Individual
        } else if claim.guild.as_ref().is_some_and(|guild| self.machine_guilds.contains(guild)) {
            MachineStanding::Guild
        } else if self.machine_rooms.contains(&claim.room) {
            MachineStanding::Room
        } else {
            MachineStanding::None
        }
    }
}
