//! The owner's routes: handoffs, status, and one address for every operation.
//!
//! An operator token passes, and a device as far as its grants go; a captain, a lane or an account
//! gets 403 whatever it asks.
//! These routes must be served behind [`crate::http::gate::Gate::guard`].

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use axum::extract::{DefaultBodyLimit, FromRef};
use clankie_actors::ports::Clock;
use clankie_domain::grant::Plan;
use clankie_domain::ids::{ExecutorName, RoomId};
use clankie_domain::time::Timestamp;
use metrics_exporter_prometheus::PrometheusHandle;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::files::Files;
use crate::http::bearer::Access;
use crate::http::drain::Draining;
use crate::http::gate::DISPATCH_BODY_MAX;
use crate::owner::notify::Notifier;
use crate::owner::wire::DiscordBody;

mod cancel;
mod conversations;
mod devices;
mod dispatch;
mod events;
mod file;
mod handoffs;
mod health;
mod mail;
mod needs;
pub mod openapi;
mod pair;
mod repost;
mod tokens;
mod transcript;

/// What does not change while the service runs.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The service's version.
    pub version: &'static str,
    /// Where it listens.
    pub url: String,
    /// The address that people and devices open: the public one when there is one.
    pub open_at: String,
    /// Where it keeps its state.
    pub state_dir: String,
    /// When it started.
    pub started_at: Timestamp,
    /// Which executor runs each plan.
    pub routes: BTreeMap<Plan, ExecutorName>,
    /// The configured local rooms.
    pub local_rooms: Vec<RoomId>,
}

/// Reads the configuration again and puts it in force.
#[async_trait]
pub trait ConfigReload: Send + Sync {
    /// The keys that changed, each as a line; or why the old configuration stays, as a sentence.
    async fn reload(&self) -> Result<Vec<String>, String>;
}

/// Tells how the Discord bot stands.
pub trait DiscordView: Send + Sync {
    /// Now.
    fn now(&self) -> DiscordBody;
}

/// What the owner's routes are made of.
#[derive(Clone)]
pub struct Surface {
    /// The way in.
    pub access: Access,
    /// What does not change.
    pub facts: Arc<Facts>,
    /// The files of replies.
    pub files: Files,
    /// The wall clock.
    pub clock: Arc<dyn Clock>,
    /// Reads the configuration again.
    pub reload: Arc<dyn ConfigReload>,
    /// Whether the service stops.
    pub draining: Draining,
    /// How the Discord bot stands, when there is one.
    pub discord: Option<Arc<dyn DiscordView>>,
    /// What tells the owner elsewhere.
    pub notifier: Notifier,
    /// Renders what was counted.
    pub metrics: PrometheusHandle,
}

impl fmt::Debug for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surface").field("facts", &self.facts).field("draining", &self.draining).finish_non_exhaustive()
    }
}

impl Surface {
    /// The moment.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

impl FromRef<Surface> for Access {
    fn from_ref(surface: &Surface) -> Self {
        surface.access.clone()
    }
}

/// The owner's routes, and those that need no credential, with what each takes and answers.
pub fn routes() -> OpenApiRouter<Surface> {
    let dispatch =
        OpenApiRouter::new().routes(routes!(dispatch::dispatch)).layer(DefaultBodyLimit::max(DISPATCH_BODY_MAX));
    OpenApiRouter::new()
        .routes(routes!(handoffs::list))
        .routes(routes!(handoffs::show))
        .routes(routes!(transcript::read))
        .routes(routes!(file::read))
        .routes(routes!(cancel::cancel))
        .routes(routes!(events::events))
        .routes(routes!(health::status))
        .merge(dispatch)
        .routes(routes!(pair::redeem))
        .routes(routes!(pair::poll))
        .routes(routes!(health::live))
        .routes(routes!(health::ready))
        .routes(routes!(health::metrics))
        .routes(routes!(openapi::serve))
}
