//! Where the parts of the service are put together: the one file, with its folder, that knows every room.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clankie_actors::ports::{Clock, Ids, RoomDelivery, Vault};
use clankie_actors::store::Store;
use clankie_actors::{Clankie, Ports};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::bench;
use crate::config::{Config, Environment, Sources};
use crate::files::Files;
use crate::gateways::discord::Discord;
use crate::http::attempts::Attempts;
use crate::http::bearer::Access;
use crate::http::drain::Draining;
use crate::http::gate::Gate;
use crate::http::metrics;
use crate::owner::auth;
use crate::owner::http::Surface;
use crate::owner::vault::FileVault;
use crate::sim;

mod connections;
mod discord;
mod doctor;
mod executors;
mod greeting;
mod kept;
mod logging;
mod notify;
mod real;
mod reload;
mod routes;
mod service_file;
mod settings;
mod stopping;
mod workspace;

use connections::Connections;
pub use doctor::doctor;
use greeting::Greeting;
use real::{SystemClock, TimeOrderedIds};
use reload::Reload;
use service_file::ServiceFile;

/// Runs the service until it is told to stop. `announce` hears one line at a time.
pub async fn serve(
    sources: Sources,
    config: Config,
    mut announce: impl FnMut(&str) + Send,
) -> anyhow::Result<ExitCode> {
    logging::begin(&config.log)?;
    clankie_actors::arm_crash_points();
    clankie_actors::choose_mutant();
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let ids = TimeOrderedIds;
    // Before the store is opened: a start that is refused must not begin work only to break it off.
    auth::check_before_start(&config.state_dir)?;
    let machine_tools = workspace::machine_tools(&sources, &config)?;
    let store = Store::open(&config.state_dir, ids.uuid())?;
    let listener = TcpListener::bind(config.listen).await.with_context(|| {
        format!("{} cannot be listened on; another program may have it: choose another with --listen", config.listen)
    })?;
    let address = listener.local_addr()?;
    let url = format!("http://{address}");
    store.note_url(&url);

    let (routes, settings) = (settings::routes(&config), settings::settings(&config)?);
    let executors = executors::executors(&config, &Environment::of_process())?;
    let bot = discord::discord(&config, &Environment::of_process(), &clock)?;
    let delivery = bot.clone().map(|bot| Arc::new(bot) as Arc<dyn RoomDelivery>);
    let vault = Arc::new(FileVault::open(&config.state_dir)?);
    let ports = Ports { clock: Arc::clone(&clock), ids: Arc::new(ids), executors, delivery, vault, machine_tools };
    let clankie = Clankie::start(store.clone(), ports, settings).await?;
    let kept = auth::keep(&clankie, &config.state_dir).await?;
    let draining = Draining::default();
    let access = Access::new(clankie.clone(), Arc::new(Attempts::new(Arc::clone(&clock))));
    let reload = Arc::new(Reload::new(sources, config.clone(), clankie.clone(), bot.as_ref().map(Discord::owners)));
    let public = config.public_url.as_ref().map(|url| url.as_str().trim_end_matches('/').to_owned());
    let open_at = public.clone().unwrap_or_else(|| url.clone());
    let facts = settings::facts(&config, (&url, &open_at), clock.now())?;
    let notifier = notify::notifier(&config, bot.as_ref(), store.epoch())?;
    let surface = Surface {
        access: access.clone(),
        facts: Arc::new(facts),
        files: Files::of(&config.state_dir),
        clock: Arc::clone(&clock),
        reload: reload.clone(),
        draining: draining.clone(),
        discord: bot.as_ref().map(discord::view),
        notifier: notifier.clone(),
        metrics: metrics::install()?,
    };
    let open = routes::served(surface)?;
    let waits = access;
    let routes_behind_gate = Gate::new(address, public.as_deref())?.guard(open);

    let file = ServiceFile::write(&config.state_dir, &url, clock.now())?;
    let connections = Arc::new(Connections::new());
    let serving = tokio::spawn(Arc::clone(&connections).serve(listener, routes_behind_gate));
    let mut beside = JoinSet::new();
    beside.spawn(Arc::clone(&reload).watch());
    beside.spawn(kept::tidy(Files::of(&config.state_dir), clankie.clone()));
    beside.spawn(notifier.run(clankie.clone(), Arc::clone(&clock)));
    if let Some(bot) = bot {
        beside.spawn(bot.run(clankie.clone()));
    }
    let rooms = settings::local_rooms(&config)?;
    let greeting = Greeting { url: &url, open_at: &open_at, routes: &routes, rooms: &rooms, kept: &kept };
    greeting.lines().iter().for_each(|line| announce(line));
    let code = stopping::until_stopped(&clankie, &draining, config.shutdown.grace.duration(), &mut announce).await;
    beside.abort_all();
    serving.abort();
    waits.close();
    connections.close().await;
    drop(file);
    store.close();
    Ok(code)
}

/// What measurements stand on: this machine's own clock and identities, and a vault that goes with them.
#[derive(Debug)]
pub struct Bench {
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    vault: Arc<dyn Vault>,
    _keys: tempfile::TempDir,
}

impl Bench {
    /// Makes the vault.
    pub fn new() -> anyhow::Result<Self> {
        let keys = tempfile::tempdir()?;
        let vault: Arc<dyn Vault> = Arc::new(FileVault::open(keys.path())?);
        Ok(Self { clock: Arc::new(SystemClock), ids: Arc::new(TimeOrderedIds), vault, _keys: keys })
    }

    /// As a measurement takes them.
    pub fn sources(&self) -> bench::Sources<'_> {
        bench::Sources { clock: &self.clock, ids: &self.ids, vault: &self.vault }
    }
}

/// Plays simulated worlds, which have clocks, identities and disks of their own.
pub fn simulate(plan: &sim::Plan) -> sim::Report {
    clankie_actors::choose_mutant();
    sim::run(plan)
}

/// Plays the world of one seed, and judges it.
pub fn simulate_one(seed: u64) -> anyhow::Result<(sim::History, Vec<sim::Violation>)> {
    clankie_actors::choose_mutant();
    let history = sim::play(seed)?;
    let violations = sim::judge(&history);
    Ok((history, violations))
}
