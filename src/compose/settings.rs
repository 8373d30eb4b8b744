//! What configuration means to the actors.

use std::collections::{BTreeMap, BTreeSet};

use clankie_actors::Settings;
use clankie_domain::admission::Limits;
use clankie_domain::grant::{GrantPolicy, Plan};
use clankie_domain::ids::{ExecutorName, Malformed, RoomId};

use crate::config::Config;

/// The reactions that `react` may use: small signals that every chat system has.
const REACTIONS: [&str; 6] = ["seen", "done", "yes", "no", "thanks", "thinking"];

/// Everything that the actors are told.
pub(super) fn settings(config: &Config) -> Result<Settings, Malformed> {
    let limits = &config.limits;
    Ok(Settings {
        limits: Limits {
            running: limits.running.get().into(),
            running_per_room: limits.running_per_room.get().into(),
            waiting: limits.waiting.get().into(),
            waiting_per_room: limits.waiting_per_room.map(|most| most.get().into()),
            waiting_per_actor: limits.waiting_per_actor.map(|most| most.get().into()),
        },
        policy: policy(config)?,
        routes: routes(config),
        stall_ms: config.sessions.stall_after.as_millis(),
        output_max: config.sessions.output_max.get(),
        stop_grace: config.sessions.stop_grace.duration(),
        reactions: REACTIONS.map(str::to_owned).to_vec(),
    })
}

/// Who may do what.
pub(super) fn policy(config: &Config) -> Result<GrantPolicy, Malformed> {
    let grants = &config.grants;
    let vouching = config.lanes.iter().filter(|(_, lane)| lane.vouches_owner);
    Ok(GrantPolicy {
        owners: grants.owners.clone(),
        machine_actors: grants.machine_actors.clone(),
        machine_guilds: grants.machine_guilds.clone(),
        machine_rooms: grants.machine_rooms.clone(),
        room_tools: BTreeSet::new(),
        machine_tools: grants.machine_tools.clone(),
        vouching_lanes: vouching.map(|(name, _)| name.clone()).collect(),
        local_rooms: local_rooms(config)?,
    })
}

/// Which executor runs each plan.
pub(super) fn routes(config: &Config) -> BTreeMap<Plan, ExecutorName> {
    let routes = &config.executors;
    BTreeMap::from([
        (Plan::Social, routes.social.clone()),
        (Plan::Machine, routes.machine.clone()),
        (Plan::Owner, routes.owner.clone()),
    ])
}

/// The local rooms, by full id.
pub(super) fn local_rooms(config: &Config) -> Result<BTreeSet<RoomId>, Malformed> {
    config.rooms.iter().map(|name| RoomId::local(name)).collect()
}

/// A plan as configuration writes it.
pub(super) fn plan_word(plan: Plan) -> &'static str {
    match plan {
        Plan::Social => "social",
        Plan::Machine => "machine",
        Plan::Owner => "owner",
    }
}
