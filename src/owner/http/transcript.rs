//! Pages of a transcript, oldest first.

use std::time::Duration;

use axum::Json;
use axum::http::HeaderMap;
use clankie_domain::handoff::State;
use clankie_domain::ids::HandoffId;
use clankie_domain::scope::Need;

use super::handoffs::{find, parse_id};
use crate::http::path::Path;
use crate::http::problem::{Problem, Reason};
use crate::http::query::{After, Query};
use crate::http::wait::{Progress, until, wanted};
use crate::owner::auth::Principal;
use crate::owner::wire::{Transcript, TranscriptEntry};

/// Lines of one page: a busy session writes some hundred.
const PAGE: usize = 500;

/// What a session was given, said and did.
#[utoipa::path(
    get,
    path = "/operator/v1/handoffs/{id}/transcript",
    operation_id = "handoff_transcript",
    params(("id" = String, Path, description = "The id of a handoff", format = "uuid"), After),
    responses((status = 200, body = Transcript, description = "Lines, oldest first")),
    security(("bearer" = []))
)]
pub(super) async fn read(
    principal: Principal,
    Path(id): Path<String>,
    headers: HeaderMap,
    Query(query): Query<After>,
) -> Result<Json<Transcript>, Problem> {
    principal.need(Need::ReadHandoffs)?;
    let id = parse_id(&id, "id")?;
    let wait = wanted(&headers, query.wait)?;
    let look = || page(&principal, id, query.after);
    let clankie = principal.access().clankie();
    let pause = |slice: Duration| clankie.wait_transcript(id, query.after, slice);
    until(wait, look, pause).await.map(Json)
}

/// Lines after `after`. An empty page of a handoff that is over is final.
fn page(principal: &Principal, id: HandoffId, after: u64) -> Result<Progress<Transcript>, Problem> {
    principal.still_stands()?;
    // The record is read first: a line that was written before its end is then never missed.
    let Some(record) = find(principal, id)? else { return Err(Problem::new(Reason::NotFound)) };
    let lines = principal.access().clankie().transcript(id, after, PAGE)?;
    let next = lines.last().map_or(after, |line| line.seq);
    let mut page = Transcript { entries: lines.iter().map(TranscriptEntry::from).collect(), next };
    if !principal.may(Need::Mailbox) {
        page.entries.iter_mut().for_each(TranscriptEntry::leave_mail_out);
    }
    let over = match record.state {
        State::Ended(_) => true,
        State::Pending | State::Running(_) | State::Joined { .. } => false,
    };
    Ok(if over || !page.entries.is_empty() { Progress::Done(page) } else { Progress::NotYet(page) })
}
