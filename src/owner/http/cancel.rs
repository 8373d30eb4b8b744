//! The owner cancels a handoff, whoever asked for it.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use clankie_domain::admission::room::{Answer, Which};
use clankie_domain::handoff::{HandoffRecord, State, StateName};
use clankie_domain::ids::HandoffId;
use clankie_domain::scope::Need;

use super::handoffs::{find, parse_id};
use crate::http::path::Path;
use crate::http::problem::{Problem, Reason};
use crate::owner::auth::Principal;
use crate::owner::wire::{Cancelled, ResultBody};

/// What a cancel comes to while the run is being stopped.
const CANCELLING: &str = "cancelling";

/// 202 while its run is being stopped, 200 when it is over.
#[utoipa::path(
    post,
    path = "/operator/v1/handoffs/{id}/cancel",
    operation_id = "handoff_cancel",
    params(("id" = String, Path, description = "The id of a handoff", format = "uuid")),
    responses((status = 200, body = Cancelled, description = "It is over"), (status = 202, body = Cancelled, description = "Its run is being stopped")),
    security(("bearer" = []))
)]
pub(super) async fn cancel(principal: Principal, Path(id): Path<String>) -> Result<Response, Problem> {
    principal.need(Need::Steer)?;
    let cancelled = stop(&principal, parse_id(&id, "id")?).await?.ok_or_else(|| Problem::new(Reason::NotFound))?;
    let status = if cancelled.outcome == CANCELLING { StatusCode::ACCEPTED } else { StatusCode::OK };
    Ok((status, Json(cancelled)).into_response())
}

/// Cancels; `None` when there is no such handoff. What is over stays as it ended.
pub(super) async fn stop(principal: &Principal, id: HandoffId) -> Result<Option<Cancelled>, Problem> {
    let Some(record) = find(principal, id)? else { return Ok(None) };
    if let State::Ended(_) = record.state {
        return Ok(Some(told(principal, &record, "ended")));
    }
    let clankie = principal.access().clankie();
    let answer = clankie.cancel(&record.room, Which::Handoff(id), principal.canceller()).await?;
    match answer {
        Answer::Cancelling { .. } => Ok(Some(cancelling(id))),
        Answer::Settled { .. } => again(principal, id, "cancelled"),
        // It ended between the look and the cancel.
        Answer::NotFound
        | Answer::Forgotten
        | Answer::Accepted { .. }
        | Answer::Posted(_)
        | Answer::NoSuchStep
        | Answer::Outdated => again(principal, id, "ended"),
        Answer::ShuttingDown => Err(Problem::shutting_down()),
        Answer::Refused(_) | Answer::NotYours => Err(Problem::new(Reason::Forbidden)),
        Answer::Busy(facts) => Err(Problem::busy(&facts)),
        Answer::Conflict { .. } | Answer::ConflictInFlight => Err(Problem::conflict(Some(id))),
    }
}

fn again(principal: &Principal, id: HandoffId, outcome: &str) -> Result<Option<Cancelled>, Problem> {
    Ok(find(principal, id)?.map(|record| told(principal, &record, outcome)))
}

/// Who may cancel and not read is not told what a handoff came to.
fn told(principal: &Principal, record: &HandoffRecord, outcome: &str) -> Cancelled {
    let result = record.result().filter(|_| principal.may(Need::ReadHandoffs));
    Cancelled {
        handoff_id: record.id.to_string(),
        outcome: outcome.to_owned(),
        state: record.state_name().as_str().to_owned(),
        result: result.map(ResultBody::from),
    }
}

fn cancelling(id: HandoffId) -> Cancelled {
    let state = StateName::Running.as_str().to_owned();
    Cancelled { handoff_id: id.to_string(), outcome: CANCELLING.to_owned(), state, result: None }
}
