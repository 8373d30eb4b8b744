//! Where the parts of the service are put together: the one file, with its folder, that knows every room.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clankie_actors::ports::{Clock, Ids, RoomDelivery};
use clankie_actors::store::Store;
use clankie_actors::{Clankie, Ports};
use clankie_domain::grant::Plan;
use clankie_domain::ids::{ExecutorName, RoomId};
use tokio::net::TcpListener;

use crate::config::{Config, Environment, Sources};
use crate::gateways::discord::Discord;
use crate::http::attempts::Attempts;
use crate::http::bearer::Access;
use crate::http::drain::Draining;
use crate::http::gate::Gate;
use crate::http::metrics;
use crate::owner::auth::{self, Kept};
use crate::owner::http::{Facts, Surface};
use crate::{bench, gateways, owner};

mod connections;
mod discord;
mod executors;
mod logging;
mod real;
mod reload;
mod service_file;
mod settings;
mod stopping;

use connections::Connections;
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
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let ids = TimeOrderedIds;
    // Before the store is opened: a start that is refused must not begin work only to break it off.
    auth::check_before_start(&config.state_dir)?;
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
    let ports = Ports { clock: Arc::clone(&clock), ids: Arc::new(ids), executors, delivery };
    let clankie = Clankie::start(store.clone(), ports, settings).await?;
    let kept = auth::keep(&clankie, &config.state_dir).await?;
    let draining = Draining::default();
    let access = Access::new(clankie.clone(), Arc::new(Attempts::new(Arc::clone(&clock))));
    let reload = Arc::new(Reload::new(sources, config.clone(), clankie.clone(), bot.as_ref().map(Discord::owners)));
    let facts = Facts {
        version: env!("CARGO_PKG_VERSION"),
        url: url.clone(),
        state_dir: config.state_dir.display().to_string(),
        started_at: clock.now(),
        routes: routes.clone(),
        local_rooms: settings::local_rooms(&config)?.into_iter().collect(),
    };
    let surface = Surface {
        access: access.clone(),
        facts: Arc::new(facts),
        reload: reload.clone(),
        draining: draining.clone(),
        discord: bot.as_ref().map(discord::view),
        metrics: metrics::install()?,
    };
    let open = owner::http::router(surface)
        .merge(gateways::ingress::router(access.clone()))
        .merge(gateways::local::router(access.clone()));
    let waits = access;
    let public = config.public_url.as_ref().map(ToString::to_string);
    let routes_behind_gate = Gate::new(address, public.as_deref())?.guard(open);

    let file = ServiceFile::write(&config.state_dir, &url, clock.now())?;
    let connections = Arc::new(Connections::new());
    let serving = tokio::spawn(Arc::clone(&connections).serve(listener, routes_behind_gate));
    let watching = tokio::spawn(Arc::clone(&reload).watch());
    let talking = bot.map(|bot| tokio::spawn(bot.run(clankie.clone())));
    for line in greeting(&url, &routes, &settings::local_rooms(&config)?.into_iter().collect::<Vec<_>>(), &kept) {
        announce(&line);
    }
    let code = stopping::until_stopped(&clankie, &draining, config.shutdown.grace.duration(), &mut announce).await;
    watching.abort();
    if let Some(talking) = talking {
        talking.abort();
    }
    serving.abort();
    waits.close();
    connections.close().await;
    drop(file);
    store.close();
    Ok(code)
}

/// Measures durable admission on this machine's own clock and identities.
pub async fn bench_admission(plan: &bench::Plan) -> anyhow::Result<bench::Report> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let ids: Arc<dyn Ids> = Arc::new(TimeOrderedIds);
    Ok(bench::admission(plan, bench::Sources { clock: &clock, ids: &ids }).await?)
}

/// What a person who just started the service needs to know.
fn greeting(
    url: &str,
    routes: &std::collections::BTreeMap<Plan, ExecutorName>,
    rooms: &[RoomId],
    kept: &Kept,
) -> Vec<String> {
    let (Kept::Made(path) | Kept::Stands(path) | Kept::Stale(path)) = kept;
    let executors: Vec<String> =
        routes.iter().map(|(plan, name)| format!("{}: {name}", settings::plan_word(*plan))).collect();
    let rooms: Vec<String> = rooms.iter().map(|room| room.as_str().trim_start_matches("local:").to_owned()).collect();
    let mut lines = vec![
        format!("clankie {} is ready at {url}", env!("CARGO_PKG_VERSION")),
        format!("  executor  {}", executors.join(", ")),
        format!(
            "  rooms     {} (talk there: clankie chat {} --as NAME)",
            rooms.join(", "),
            rooms.first().map_or("ROOM", String::as_str)
        ),
        format!("  operator  {}", path.display()),
    ];
    if routes.values().any(|name| name.as_str() == executors::DEMO) {
        lines.push(
            "  The demo executor is no model. Configure [model] or set OPENAI_API_KEY or ANTHROPIC_API_KEY for one."
                .to_owned(),
        );
    }
    if matches!(kept, Kept::Stale(_)) {
        lines.push(format!(
            "  The token in {} no longer stands: delete the file and start again for a new one.",
            path.display()
        ));
    }
    lines
}
