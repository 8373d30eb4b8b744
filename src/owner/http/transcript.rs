//! Pages of a transcript, oldest first.

use std::time::Duration;

use axum::Json;
use axum::http::HeaderMap;
use clankie_domain::handoff::State;
use clankie_domain::ids::HandoffId;

use super::handoffs::{find, parse_id};
use crate::http::path::Path;
use crate::http::problem::{Problem, Reason};
use crate::http::query::{After, Query};
use crate::http::wait::{Progress, until, wanted};
use crate::owner::auth::Operator;
use crate::owner::wire::{Transcript, TranscriptEntry};

/// Lines of one page: a busy session writes some hundred.
const PAGE: usize = 500;

pub(super) async fn read(
    operator: Operator,
    Path(id): Path<String>,
    headers: HeaderMap,
    Query(query): Query<After>,
) -> Result<Json<Transcript>, Problem> {
    let id = parse_id(&id, "id")?;
    let wait = wanted(&headers, query.wait)?;
    let look = || page(&operator, id, query.after);
    let clankie = operator.access().clankie();
    let pause = |slice: Duration| clankie.wait_transcript(id, query.after, slice);
    until(wait, look, pause).await.map(Json)
}

/// Lines after `after`. An empty page of a handoff that is over is final.
fn page(operator: &Operator, id: HandoffId, after: u64) -> Result<Progress<Transcript>, Problem> {
    operator.still_stands()?;
    // The record is read first: a line that was written before its end is then never missed.
    let Some(record) = find(operator, id)? else { return Err(Problem::new(Reason::NotFound)) };
    let lines = operator.access().clankie().transcript(id, after, PAGE)?;
    let next = lines.last().map_or(after, |line| line.seq);
    let page = Transcript { entries: lines.iter().map(TranscriptEntry::from).collect(), next };
    let over = match record.state {
        State::Ended(_) => true,
        State::Pending | State::Running(_) | State::Joined { .. } => false,
    };
    Ok(if over || !page.entries.is_empty() { Progress::Done(page) } else { Progress::NotYet(page) })
}
