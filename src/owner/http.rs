//! The owner's routes: handoffs, status, and one address for every operation.
//!
//! Only an operator token passes; a captain, a lane or an account gets 403 whatever it asks.
//! These routes must be served behind [`crate::http::gate::Gate::guard`].

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use axum::extract::{DefaultBodyLimit, FromRef};
use axum::routing::{get, post};
use clankie_domain::grant::Plan;
use clankie_domain::ids::{ExecutorName, RoomId};
use clankie_domain::time::Timestamp;
use metrics_exporter_prometheus::PrometheusHandle;

use crate::http::bearer::Access;
use crate::http::drain::Draining;
use crate::http::gate::{DISPATCH_BODY_MAX, DISPATCH_PATH};
use crate::http::problem::{Problem, Reason};
use crate::owner::wire::DiscordBody;

mod cancel;
mod dispatch;
mod handoffs;
mod health;
mod tokens;
mod transcript;

/// What does not change while the service runs.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The service's version.
    pub version: &'static str,
    /// Where it listens.
    pub url: String,
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
    /// Reads the configuration again.
    pub reload: Arc<dyn ConfigReload>,
    /// Whether the service stops.
    pub draining: Draining,
    /// How the Discord bot stands, when there is one.
    pub discord: Option<Arc<dyn DiscordView>>,
    /// Renders what was counted.
    pub metrics: PrometheusHandle,
}

impl fmt::Debug for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surface").field("facts", &self.facts).field("draining", &self.draining).finish_non_exhaustive()
    }
}

impl FromRef<Surface> for Access {
    fn from_ref(surface: &Surface) -> Self {
        surface.access.clone()
    }
}

/// The owner's routes, and the three that need no credential. What no route takes gets a problem.
pub fn router(surface: Surface) -> Router {
    let dispatch = post(dispatch::dispatch).layer(DefaultBodyLimit::max(DISPATCH_BODY_MAX));
    Router::new()
        .route("/operator/v1/handoffs", get(handoffs::list))
        .route("/operator/v1/handoffs/{id}", get(handoffs::show))
        .route("/operator/v1/handoffs/{id}/transcript", get(transcript::read))
        .route("/operator/v1/handoffs/{id}/cancel", post(cancel::cancel))
        .route("/operator/v1/status", get(health::status))
        .route(DISPATCH_PATH, dispatch)
        .route("/healthz", get(health::live))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(health::metrics))
        .fallback(async || Problem::new(Reason::NotFound))
        .method_not_allowed_fallback(async || Problem::new(Reason::MethodNotAllowed))
        .with_state(surface)
}
