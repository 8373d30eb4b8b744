//! How the service stands: for a supervisor, a scraper and the owner.

use axum::Json;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use clankie_actors::{Failure, HandoffPage, HandoffQuery};
use clankie_domain::scope::Need;

use super::Surface;
use crate::http::metrics::{Scrape, scraped};
use crate::http::problem::Problem;
use crate::http::wire::moment;
use crate::owner::auth::Principal;
use crate::owner::wire::{Handoffs, MailCountsBody, SinkBody, Standing, Status, StoreBody, plan_name};

/// The process answers.
#[utoipa::path(
    get,
    path = "/healthz",
    operation_id = "live",
    responses((status = 200, body = Standing, description = "The process answers"))
)]
pub(super) async fn live() -> Json<Standing> {
    Json(Standing { status: "live".to_owned() })
}

/// New deliveries are taken: the store stands and the service does not stop.
#[utoipa::path(
    get,
    path = "/readyz",
    operation_id = "ready",
    responses((status = 200, body = Standing, description = "New deliveries are taken"))
)]
pub(super) async fn ready(State(surface): State<Surface>) -> Result<Json<Standing>, Problem> {
    surface.access.clankie().health()?;
    if surface.draining.has_begun() {
        return Err(Problem::shutting_down());
    }
    Ok(Json(Standing { status: "ready".to_owned() }))
}

/// Counts for a scraper. They hold no id, name or text, so they need no credential.
#[utoipa::path(
    get,
    path = "/metrics",
    operation_id = "metrics",
    responses((status = 200, body = String, content_type = "text/plain", description = "Counts for a scraper"))
)]
pub(super) async fn metrics(State(surface): State<Surface>) -> Response {
    if let Ok(page) = counted(&surface) {
        let (tally, last_event) = (page.tally, page.last_event);
        scraped(Scrape { running: tally.running, waiting: tally.waiting, owed: tally.owed, last_event });
    }
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], surface.metrics.render()).into_response()
}

/// Everything that `clankie status` shows, also when the store has stopped.
#[utoipa::path(
    get,
    path = "/operator/v1/status",
    operation_id = "status",
    responses((status = 200, body = Status, description = "How the service stands")),
    security(("bearer" = []))
)]
pub(super) async fn status(principal: Principal) -> Result<Json<Status>, Problem> {
    principal.need(Need::ReadHandoffs)?;
    let (surface, facts) = (&principal.surface, &principal.surface.facts);
    let page = counted(surface).ok().map(|page| Handoffs::from(&page));
    let (counts, cursor) = page.map(|page| (page.counts, page.cursor)).unzip();
    Ok(Json(Status {
        version: facts.version.to_owned(),
        pid: std::process::id(),
        url: facts.url.clone(),
        state_dir: facts.state_dir.clone(),
        started_at: moment(facts.started_at),
        draining: surface.draining.has_begun(),
        store: store(surface.access.clankie().health()),
        counts,
        mail: mail(&principal),
        cursor,
        routes: facts.routes.iter().map(|(plan, executor)| (plan_name(*plan), executor.to_string())).collect(),
        local_rooms: facts.local_rooms.iter().map(ToString::to_string).collect(),
        discord: surface.discord.as_ref().map(|stands| stands.now()),
        notify: sinks(&principal),
    }))
}

/// What waits for the owner, for who may read the mailbox.
fn mail(principal: &Principal) -> Option<MailCountsBody> {
    principal.need(Need::Mailbox).ok()?;
    principal.access().clankie().mail_counts().ok().map(Into::into)
}

/// Where the owner is told; how often is a count of the mailbox.
fn sinks(principal: &Principal) -> Vec<SinkBody> {
    match principal.need(Need::Mailbox) {
        Ok(_) => principal.surface.notifier.stands().iter().map(SinkBody::from).collect(),
        Err(_) => Vec::new(),
    }
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
