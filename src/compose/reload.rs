//! Reads the grants again while the service runs: on request, on SIGHUP, and when the file changed.
//!
//! A broken file keeps the last good grants and says so. Only grants, lanes, rooms and routes are
//! put in force; anything else that differs is named as needing a restart.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use clankie_actors::Clankie;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Mutex;

use super::settings;
use crate::config::{self, Config, Sources};
use crate::gateways::discord::Owners;
use crate::owner::http::ConfigReload;

/// How often the file's time is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What a reload needs.
pub(super) struct Reload {
    sources: Sources,
    clankie: Clankie,
    in_force: Mutex<Config>,
    owners: Option<Owners>,
}

impl Reload {
    /// A reload of what was loaded from `sources`.
    pub(super) fn new(sources: Sources, config: Config, clankie: Clankie, owners: Option<Owners>) -> Self {
        Self { sources, clankie, in_force: Mutex::new(config), owners }
    }

    /// Watches the file and SIGHUP until it is dropped.
    pub(super) async fn watch(self: Arc<Self>) {
        let Ok(mut hangup) = signal(SignalKind::hangup()) else { return };
        let mut seen = self.changed_at();
        let mut tick = tokio::time::interval(LOOK_EVERY);
        loop {
            tokio::select! {
                _ = hangup.recv() => {}
                _ = tick.tick() => {
                    let now = self.changed_at();
                    if now == seen {
                        continue;
                    }
                    seen = now;
                }
            }
            match self.reload().await {
                Ok(changed) if changed.is_empty() => {}
                Ok(changed) => tracing::info!(changed = changed.join("; "), "the configuration was read again"),
                Err(why) => tracing::error!(why, "the configuration is broken; the last good one stays in force"),
            }
        }
    }

    fn changed_at(&self) -> Option<SystemTime> {
        let file: &PathBuf = self.sources.file.as_ref()?;
        std::fs::metadata(file).and_then(|about| about.modified()).ok()
    }
}

#[async_trait]
impl ConfigReload for Reload {
    async fn reload(&self) -> Result<Vec<String>, String> {
        let mut in_force = self.in_force.lock().await;
        let next = config::load(&self.sources).map_err(|refused| refused.to_string())?.config;
        let policy = settings::policy(&next).map_err(|refused| refused.to_string())?;
        let routes = settings::routes(&next);
        self.clankie.reload(policy, routes).await.map_err(|refused| refused.to_string())?;
        if let Some(owners) = &self.owners {
            owners.replace(next.grants.owners.clone());
        }
        let changed = differences(&in_force, &next);
        // What waits for a restart is named again next time: it is not in force.
        let Config { grants, lanes, rooms, executors, autonomy, .. } = next;
        *in_force = Config { grants, lanes, rooms, executors, autonomy, ..in_force.clone() };
        Ok(changed)
    }
}

fn differences(was: &Config, now: &Config) -> Vec<String> {
    let live = [
        ("grants", was.grants != now.grants),
        ("lanes", was.lanes != now.lanes),
        ("rooms", was.rooms != now.rooms),
        ("executor", was.executors != now.executors),
        ("autonomy", was.autonomy != now.autonomy),
    ];
    let at_start = [
        ("state_dir", was.state_dir != now.state_dir),
        ("listen", was.listen != now.listen),
        ("public_url", was.public_url != now.public_url),
        ("limits", was.limits != now.limits),
        ("sessions", was.sessions != now.sessions),
        ("model", was.model != now.model),
        ("workspace", was.workspace != now.workspace),
        ("discord", was.discord != now.discord),
        ("notify", was.notify != now.notify),
        ("shutdown", was.shutdown != now.shutdown),
        ("log", was.log != now.log),
    ];
    let live = live.iter().filter(|(_, differs)| *differs).map(|(key, _)| format!("{key}: in force"));
    let late = at_start.iter().filter(|(_, differs)| *differs).map(|(key, _)| format!("{key}: after a restart"));
    live.chain(late).collect()
}
