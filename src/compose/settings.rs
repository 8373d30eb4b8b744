//! What configuration means to the actors.

use std::collections::{BTreeMap, BTreeSet};

use clankie_actors::Settings;
use clankie_domain::admission::Limits;
use clankie_domain::autonomy::{Autonomy, Category};
use clankie_domain::grant::{GrantPolicy, Plan};
use clankie_domain::ids::{ExecutorName, Malformed, RoomId};
use clankie_domain::time::Timestamp;

use crate::config::{self, Config};
use crate::owner::http::Facts;

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

/// What the owner's surface tells about this service: where it listens, and what people open.
pub(super) fn facts(config: &Config, (url, open_at): (&str, &str), now: Timestamp) -> Result<Facts, Malformed> {
    Ok(Facts {
        version: env!("CARGO_PKG_VERSION"),
        url: url.to_owned(),
        open_at: open_at.to_owned(),
        state_dir: config.state_dir.display().to_string(),
        started_at: now,
        routes: routes(config),
        local_rooms: local_rooms(config)?.into_iter().collect(),
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
        autonomy: autonomy(&config.autonomy),
    })
}

/// Which kinds of step the owner keeps.
fn autonomy(config: &config::Autonomy) -> Autonomy {
    let config::Autonomy { commit, push, release, merge, spend, destructive, external_write, plan } = config;
    let says = [
        (Category::Commit, commit),
        (Category::Push, push),
        (Category::Release, release),
        (Category::Merge, merge),
        (Category::Spend, spend),
        (Category::Destructive, destructive),
        (Category::ExternalWrite, external_write),
        (Category::Plan, plan),
    ];
    let delegated = says.into_iter().filter(|(_, decision)| **decision == config::Decision::Delegate);
    Autonomy { delegated: delegated.map(|(category, _)| category).collect(), projects: BTreeMap::new() }
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
