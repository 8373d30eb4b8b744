//! How everything begins and how it ends.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use clankie_domain::grant::{Authority, GrantEpoch, GrantPolicy, Plan};
use clankie_domain::ids::ExecutorName;
use clankie_domain::steering::Route;
use ractor::Actor;

use super::{Clankie, Ports, Settings, StartError, Stopped};
use crate::ports::Executor;
use crate::store::{Store, StoreError, Txn, Write};
use crate::system::authority::{AuthorityView, Principals, answerers, revoked_sources};
use crate::system::fatal::Fatal;
use crate::system::hints::Hints;
use crate::system::mailbox::{MailDoor, OwnerMail};
use crate::system::room_admission::RoomPorts;
use crate::system::rooms::{RoomBody, Rooms};
use crate::system::sessions::Sessions;
use crate::system::supervisor::{Supervisor, SupervisorMsg, Tickets};
use crate::system::tools::ROOM_TOOLS;

/// How long the last commits of an interrupted run may take beyond its stop grace.
const LAST_COMMITS: Duration = Duration::from_secs(2);

pub(super) async fn start(store: Store, ports: Ports, settings: Settings) -> Result<Clankie, StartError> {
    let Ports { clock, ids, executors, delivery, vault, machine_tools } = ports;
    let authority = authority(&store, &settings, &executors).await?;
    let view = AuthorityView::new(authority);
    let (hints, sessions, tickets) = (Hints::default(), Sessions::default(), Tickets::default());
    let mail = MailDoor::default();
    let rooms = Rooms::new(RoomPorts {
        store: store.clone(),
        clock: Arc::clone(&clock),
        authority: view.clone(),
        executors: executors.clone(),
        delivery,
        hints: hints.clone(),
        sessions: sessions.clone(),
        mail: mail.clone(),
        vault: Arc::clone(&vault),
        machine_tools,
        reactions: settings.reactions.clone(),
        stall_ms: settings.stall_ms,
        output_max: settings.output_max,
        stop_grace: settings.stop_grace,
    });
    let fatal = Fatal::default();
    let not_started = |error: ractor::SpawnErr| StartError::Actor(error.to_string());
    let mailbox = OwnerMail {
        store: store.clone(),
        clock: Arc::clone(&clock),
        ids: Arc::clone(&ids),
        vault,
        authority: view.clone(),
        rooms: rooms.clone(),
        sessions: sessions.clone(),
        tickets: tickets.clone(),
        fatal: fatal.clone(),
    };
    mail.open(Actor::spawn(None, mailbox, ()).await.map_err(not_started)?.0);
    let supervisor = Supervisor {
        store: store.clone(),
        clock: Arc::clone(&clock),
        authority: view.clone(),
        rooms: rooms.clone(),
        sessions,
        hints: hints.clone(),
        tickets: tickets.clone(),
        limits: settings.limits,
        mail: mail.clone(),
        fatal: fatal.clone(),
    };
    let (supervisor, _) = Actor::spawn(None, supervisor, ()).await.map_err(not_started)?;
    let tokens = store.snapshot()?.tokens()?;
    let keeper = Principals {
        store: store.clone(),
        clock: Arc::clone(&clock),
        view,
        rooms: rooms.clone(),
        fatal: fatal.clone(),
    };
    let (principals, _) = Actor::spawn(None, keeper, tokens).await.map_err(not_started)?;
    let (limits, executors) = (settings.limits, Arc::new(executors));
    Ok(Clankie { store, clock, ids, limits, executors, hints, rooms, tickets, mail, principals, supervisor, fatal })
}

/// The authority that configuration and the token store give, under an epoch of its own.
async fn authority(
    store: &Store,
    settings: &Settings,
    executors: &[Arc<dyn Executor>],
) -> Result<Authority, StartError> {
    let routes = routes(&settings.routes, executors)?;
    let last = store.snapshot()?.grant_epoch()?;
    let tokens = store.snapshot()?.tokens()?;
    let (sources, answerers) = (revoked_sources(&tokens), answerers(&tokens));
    let epoch = GrantEpoch(last.0 + 1);
    store.commit(Txn::of(Write::GrantEpoch(epoch))).await?;
    Ok(Authority { epoch, policy: with_room_tools(settings.policy.clone()), sources, routes, answerers })
}

/// Every grant has the room tools.
pub(super) fn with_room_tools(mut policy: GrantPolicy) -> GrantPolicy {
    policy.room_tools.extend(ROOM_TOOLS.map(str::to_owned));
    policy
}

/// Which executor runs each plan, and whether it can be joined.
pub(super) fn routes(
    names: &BTreeMap<Plan, ExecutorName>,
    executors: &[Arc<dyn Executor>],
) -> Result<BTreeMap<Plan, Route>, StartError> {
    let route = |(plan, name): (&Plan, &ExecutorName)| {
        let executor = executors.iter().find(|executor| executor.name() == name);
        let missing = || StartError::NoExecutor { plan: *plan, executor: name.clone() };
        let steer = executor.ok_or_else(missing)?.steer();
        Ok((*plan, Route { executor: name.clone(), steer }))
    };
    names.iter().map(route).collect()
}

pub(super) async fn stop(clankie: &Clankie, grace: Duration) -> Stopped {
    let running = || clankie.store.snapshot().and_then(|now| now.tally()).map_or(0, |tally| tally.running);
    let at_first = running();
    // A supervisor that is gone has nothing left to drain.
    let _ = clankie.supervisor.cast(SupervisorMsg::Drain);
    until_none_runs(clankie, running, grace).await;
    let interrupted = running();
    if interrupted > 0 {
        clankie.rooms.send_all(|| RoomBody::StopRuns);
        until_none_runs(clankie, running, clankie.rooms.stop_grace() + LAST_COMMITS).await;
    }
    clankie.rooms.sessions().none_left(LAST_COMMITS).await;
    clankie.supervisor.stop(None);
    clankie.principals.stop(None);
    clankie.mail.stop();
    Stopped { settled: at_first.saturating_sub(interrupted), interrupted }
}

async fn until_none_runs(clankie: &Clankie, running: impl Fn() -> usize, wait: Duration) {
    let mut changes = clankie.store.changes();
    let none = async { while running() > 0 && changes.changed().await.is_ok() {} };
    // What still runs after that is interrupted, here or at the next boot.
    let _ = tokio::time::timeout(wait, none).await;
}

impl From<StoreError> for StartError {
    fn from(error: StoreError) -> Self {
        Self::Store(error.to_string())
    }
}
