//! What a room answered, as HTTP; and waiting for the result of what it took.

use std::time::Duration;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use clankie_domain::admission::room::Answer;
use clankie_domain::grant::Revoked;
use clankie_domain::handoff::StateName;
use clankie_domain::ids::{DeliveryId, HandoffId, RoomId};
use clankie_domain::result::TurnResult;

use crate::http::bearer::{Access, Caller};
use crate::http::metrics;
use crate::http::problem::{Problem, Reason};
use crate::http::wait::{Progress, until};
use crate::http::wire::{ResultBody, TurnAnswer};

/// One call about one delivery, and how long it may take.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) access: &'a Access,
    pub(super) caller: &'a Caller,
    pub(super) room: &'a RoomId,
    pub(super) delivery: &'a DeliveryId,
    pub(super) wait: Duration,
}

/// What an answer means before anything is waited for.
#[derive(Debug, PartialEq)]
enum Meaning {
    /// It goes on: its result may be waited for.
    Going(HandoffId, StateName),
    /// It is over.
    Over(HandoffId, TurnResult),
    /// There was nothing to say.
    Empty,
    /// No ordinary answer.
    Problem(Problem),
}

fn meaning(answer: Answer) -> Meaning {
    match answer {
        Answer::Accepted { handoff, state } => Meaning::Going(handoff, state),
        Answer::Cancelling { handoff } => Meaning::Going(handoff, StateName::Running),
        Answer::Settled { handoff, result } => Meaning::Over(handoff, result),
        Answer::Busy(facts) => Meaning::Problem(Problem::busy(&facts)),
        Answer::Conflict { handoff } => Meaning::Problem(Problem::conflict(Some(handoff))),
        Answer::ConflictInFlight => Meaning::Problem(Problem::conflict(None)),
        Answer::Refused(Revoked::Authority) => {
            Meaning::Problem(Problem::new(Reason::NotFound).because("there is no such room here"))
        }
        Answer::Refused(Revoked::Owner | Revoked::Source) | Answer::NotYours => {
            Meaning::Problem(Problem::new(Reason::Forbidden))
        }
        Answer::ShuttingDown => Meaning::Problem(Problem::shutting_down()),
        // Answers to a posting; no lane asks for one.
        Answer::NotFound | Answer::Posted(_) | Answer::NoSuchStep | Answer::Outdated => {
            Meaning::Problem(Problem::new(Reason::NotFound))
        }
        Answer::Forgotten => Meaning::Empty,
    }
}

/// Whose try an answer is about, for the one answer that means different things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// To take words in.
    Admit,
    /// To cancel.
    Cancel,
}

impl Call<'_> {
    /// The response to `answer`, after waiting for its result if that is wanted.
    pub(super) async fn respond(&self, asked: Asked, answer: Answer) -> Result<Response, Problem> {
        match meaning(answer) {
            Meaning::Going(handoff, state) => self.outcome(handoff, state).await,
            Meaning::Over(handoff, result) => Ok(self.ended(handoff, &result)),
            Meaning::Problem(problem) => Err(problem),
            Meaning::Empty => match asked {
                Asked::Admit => Err(Problem::new(Reason::Forgotten)),
                Asked::Cancel => Ok(StatusCode::NO_CONTENT.into_response()),
            },
        }
    }

    /// 200 when `handoff` ends within the wait, else 202.
    async fn outcome(&self, handoff: HandoffId, known: StateName) -> Result<Response, Problem> {
        let look = || self.look(handoff, known);
        let clankie = self.access.clankie();
        let found = until(self.wait, look, |slice| clankie.wait_result(handoff, slice)).await?;
        match found {
            Stand::Over(result) => Ok(self.ended(handoff, &result)),
            Stand::Going(state) => Ok((StatusCode::ACCEPTED, Json(self.body(handoff, state, None))).into_response()),
        }
    }

    fn look(&self, handoff: HandoffId, known: StateName) -> Result<Progress<Stand>, Problem> {
        self.caller.still_stands(self.access)?;
        let record = self.access.clankie().handoff(handoff)?;
        Ok(match record {
            Some(record) => match record.result() {
                Some(result) => Progress::Done(Stand::Over(result.clone())),
                None => Progress::NotYet(Stand::Going(record.state_name())),
            },
            None => Progress::Done(Stand::Going(known)),
        })
    }

    /// The response about a delivery of which only the receipt is asked for.
    pub(super) async fn inspect(&self) -> Result<Response, Problem> {
        let receipt = self.access.clankie().receipt(self.room, self.delivery)?;
        match receipt {
            None => Err(Problem::new(Reason::NotFound)),
            Some(receipt) => match receipt.result {
                Some(result) => Ok(self.ended(receipt.handoff, &result)),
                None => self.outcome(receipt.handoff, StateName::Pending).await,
            },
        }
    }

    fn ended(&self, handoff: HandoffId, result: &TurnResult) -> Response {
        metrics::handed(kind(result));
        (StatusCode::OK, Json(self.body(handoff, end_state(result), Some(result)))).into_response()
    }

    fn body(&self, handoff: HandoffId, state: StateName, result: Option<&TurnResult>) -> TurnAnswer {
        TurnAnswer {
            handoff_id: handoff.to_string(),
            state: state.as_str().to_owned(),
            room: self.room.to_string(),
            delivery_id: self.delivery.to_string(),
            result: result.map(ResultBody::from),
        }
    }
}

#[derive(Debug)]
enum Stand {
    Going(StateName),
    Over(TurnResult),
}

/// The state of a record that ended with `result`.
fn end_state(result: &TurnResult) -> StateName {
    match result {
        TurnResult::Settled { .. } | TurnResult::Silent => StateName::Completed,
        TurnResult::Absorbed { .. } => StateName::Absorbed,
        TurnResult::WaitingUser { .. } => StateName::WaitingUser,
        TurnResult::Failed { .. } => StateName::Failed,
        TurnResult::Cancelled { .. } => StateName::Cancelled,
    }
}

fn kind(result: &TurnResult) -> &'static str {
    match result {
        TurnResult::Settled { .. } => "settled",
        TurnResult::Silent => "silent",
        TurnResult::Absorbed { .. } => "absorbed",
        TurnResult::WaitingUser { .. } => "waiting_user",
        TurnResult::Failed { .. } => "failed",
        TurnResult::Cancelled { .. } => "cancelled",
    }
}

#[cfg(test)]
mod tests {
    use clankie_domain::admission::{BusyFacts, Limit};
    use clankie_domain::grant::Revoked;
    use uuid::Uuid;

    use super::*;

    const ONE: HandoffId = HandoffId(Uuid::from_u128(1));

    fn status(answer: Answer) -> Option<u16> {
        match meaning(answer) {
            Meaning::Problem(problem) => Some(problem.body().status),
            Meaning::Going(..) | Meaning::Over(..) | Meaning::Empty => None,
        }
    }

    #[test]
    fn every_answer_has_its_place_in_the_contract() {
        let facts = BusyFacts { limit: Limit::Waiting, position: 1, running: 4, waiting: 32, oldest_wait_ms: 0 };
        assert_eq!(status(Answer::Busy(facts)), Some(429));
        assert_eq!(status(Answer::Conflict { handoff: ONE }), Some(409));
        assert_eq!(status(Answer::ConflictInFlight), Some(409));
        assert_eq!(status(Answer::Refused(Revoked::Authority)), Some(404));
        assert_eq!(status(Answer::Refused(Revoked::Source)), Some(403));
        assert_eq!(status(Answer::NotYours), Some(403));
        assert_eq!(status(Answer::ShuttingDown), Some(503));
        assert_eq!(status(Answer::NotFound), Some(404));
        assert_eq!(meaning(Answer::Cancelling { handoff: ONE }), Meaning::Going(ONE, StateName::Running));
    }

    #[test]
    fn a_refusal_of_authority_says_nothing_more() {
        let Meaning::Problem(problem) = meaning(Answer::Refused(Revoked::Owner)) else { panic!("a refusal") };
        assert_eq!((&problem.body().detail, &problem.body().field), (&None, &None));
    }
}
