//! How the service stands: for a supervisor, a scraper and the owner.

use axum::Json;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use clankie_actors::{Failure, HandoffPage, HandoffQuery};
use serde_json::{Value, json};

use super::Surface;
use crate::http::metrics::{Scrape, scraped};
use crate::http::problem::Problem;
use crate::http::wire::moment;
use crate::owner::auth::Operator;
use crate::owner::wire::{Handoffs, Status, StoreBody, plan_name};

/// The process answers.
pub(super) async fn live() -> Json<Value> {
    Json(json!({"status": "live"}))
}

/// New deliveries are taken: the store stands and the service does not stop.
pub(super) async fn ready(State(surface): State<Surface>) -> Result<Json<Value>, Problem> {
    surface.access.clankie().health()?;
    if surface.draining.has_begun() {
        return Err(Problem::shutting_down());
    }
    Ok(Json(json!({"status": "ready"})))
}

/// Counts for a scraper. They hold no id, name or text, so they need no credential.
pub(super) async fn metrics(State(surface): State<Surface>) -> Response {
    if let Ok(page) = counted(&surface) {
        let (tally, last_event) = (page.tally, page.last_event);
        scraped(Scrape { running: tally.running, waiting: tally.waiting, owed: tally.owed, last_event });
    }
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], surface.metrics.render()).into_response()
}

/// Everything that `clankie status` shows, also when the store has stopped.
pub(super) async fn status(operator: Operator) -> Json<Status> {
    let (surface, facts) = (&operator.surface, &operator.surface.facts);
    let page = counted(surface).ok().map(|page| Handoffs::from(&page));
    let (counts, cursor) = page.map(|page| (page.counts, page.cursor)).unzip();
    Json(Status {
        version: facts.version.to_owned(),
        pid: std::process::id(),
        url: facts.url.clone(),
        state_dir: facts.state_dir.clone(),
        started_at: moment(facts.started_at),
        draining: surface.draining.has_begun(),
        store: store(surface.access.clankie().health()),
        counts,
        cursor,
        routes: facts.routes.iter().map(|(plan, executor)| (plan_name(*plan), executor.to_string())).collect(),
        local_rooms: facts.local_rooms.iter().map(ToString::to_string).collect(),
        discord: surface.discord.as_ref().map(|stands| stands.now()),
    })
}

fn store(health: Result<(), Failure>) -> StoreBody {
    match health {
        Ok(()) => StoreBody { state: "ready".to_owned(), reason: None },
        Err(failure) => StoreBody { state: "stopped".to_owned(), reason: Some(failure.to_string()) },
    }
}

fn counted(surface: &Surface) -> Result<HandoffPage, Failure> {
    surface.access.clankie().handoffs(&HandoffQuery { limit: 1, ..HandoffQuery::default() })
}
