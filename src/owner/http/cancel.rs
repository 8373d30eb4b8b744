//! The owner cancels a handoff, whoever asked for it.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use clankie_domain::admission::room::{Answer, Which};
use clankie_domain::handoff::{HandoffRecord, State, StateName};
use clankie_domain::ids::HandoffId;

use super::handoffs::{find, parse_id};
use crate::http::path::Path;
use crate::http::problem::{Problem, Reason};
use crate::owner::auth::Operator;
use crate::owner::wire::{Cancelled, ResultBody};

/// 202 while its run is being stopped, 200 when it is over.
pub(super) async fn cancel(operator: Operator, Path(id): Path<String>) -> Result<Response, Problem> {
    let cancelled = stop(&operator, parse_id(&id, "id")?).await?.ok_or_else(|| Problem::new(Reason::NotFound))?;
    let status = if cancelled.result.is_some() { StatusCode::OK } else { StatusCode::ACCEPTED };
    Ok((status, Json(cancelled)).into_response())
}

/// Cancels; `None` when there is no such handoff. What is over stays as it ended.
pub(super) async fn stop(operator: &Operator, id: HandoffId) -> Result<Option<Cancelled>, Problem> {
    let Some(record) = find(operator, id)? else { return Ok(None) };
    if let State::Ended(_) = record.state {
        return Ok(Some(told(&record, "ended")));
    }
    let clankie = operator.access().clankie();
    let answer = clankie.cancel(&record.room, Which::Handoff(id), operator.canceller()).await?;
    match answer {
        Answer::Cancelling { .. } => Ok(Some(cancelling(id))),
        Answer::Settled { .. } => again(operator, id, "cancelled"),
        // It ended between the look and the cancel.
        Answer::NotFound | Answer::Forgotten | Answer::Accepted { .. } | Answer::Posted(_) | Answer::NoSuchStep => {
            again(operator, id, "ended")
        }
        Answer::ShuttingDown => Err(Problem::shutting_down()),
        Answer::Refused(_) | Answer::NotYours => Err(Problem::new(Reason::Forbidden)),
        Answer::Busy(facts) => Err(Problem::busy(&facts)),
        Answer::Conflict { .. } | Answer::ConflictInFlight => Err(Problem::conflict(Some(id))),
    }
}

fn again(operator: &Operator, id: HandoffId, outcome: &str) -> Result<Option<Cancelled>, Problem> {
    Ok(find(operator, id)?.map(|record| told(&record, outcome)))
}

fn told(record: &HandoffRecord, outcome: &str) -> Cancelled {
    Cancelled {
        handoff_id: record.id.to_string(),
        outcome: outcome.to_owned(),
        state: record.state_name().as_str().to_owned(),
        result: record.result().map(ResultBody::from),
    }
}

fn cancelling(id: HandoffId) -> Cancelled {
    let state = StateName::Running.as_str().to_owned();
    Cancelled { handoff_id: id.to_string(), outcome: "cancelling".to_owned(), state, result: None }
}
