//! Lists of handoffs, and one.

use axum::Json;
use clankie_actors::HandoffQuery;
use clankie_domain::handoff::{HandoffRecord, StateName};
use clankie_domain::ids::{ActorId, HandoffId, RoomId};
use clankie_domain::scope::Need;
use uuid::Uuid;

use crate::http::path::Path;
use crate::http::problem::{Problem, Reason};
use crate::http::query::Query;
use crate::owner::auth::Principal;
use crate::owner::wire::{HandoffBody, HandoffList, Handoffs};

/// Most handoffs of one page.
const LIMIT_MAX: usize = 1_000;
/// Handoffs of a page that names no limit.
const LIMIT: usize = 200;

/// Handoffs, newest first.
#[utoipa::path(
    get,
    path = "/operator/v1/handoffs",
    operation_id = "handoff_list",
    params(HandoffList),
    responses((status = 200, body = Handoffs, description = "One page, newest first")),
    security(("bearer" = []))
)]
pub(super) async fn list(principal: Principal, Query(query): Query<HandoffList>) -> Result<Json<Handoffs>, Problem> {
    principal.need(Need::ReadHandoffs)?;
    page(&principal, query).map(Json)
}

/// One handoff.
#[utoipa::path(
    get,
    path = "/operator/v1/handoffs/{id}",
    operation_id = "handoff_get",
    params(("id" = String, Path, description = "The id of a handoff", format = "uuid")),
    responses((status = 200, body = HandoffBody, description = "The record")),
    security(("bearer" = []))
)]
pub(super) async fn show(principal: Principal, Path(id): Path<String>) -> Result<Json<HandoffBody>, Problem> {
    principal.need(Need::ReadHandoffs)?;
    match find(&principal, parse_id(&id, "id")?)? {
        Some(record) => Ok(Json(shown(&principal, &record))),
        None => Err(Problem::new(Reason::NotFound)),
    }
}

/// One page, of one snapshot.
pub(super) fn page(principal: &Principal, query: HandoffList) -> Result<Handoffs, Problem> {
    let query = parse(query)?;
    let mut page = Handoffs::from(&principal.access().clankie().handoffs(&query)?);
    if !principal.may(Need::Mailbox) {
        page.handoffs.iter_mut().for_each(HandoffBody::leave_mail_out);
    }
    Ok(page)
}

/// One record as that reader may see it.
pub(super) fn shown(principal: &Principal, record: &HandoffRecord) -> HandoffBody {
    let mut body = HandoffBody::from(record);
    if !principal.may(Need::Mailbox) {
        body.leave_mail_out();
    }
    body
}

pub(super) fn find(principal: &Principal, id: HandoffId) -> Result<Option<HandoffRecord>, Problem> {
    Ok(principal.access().clankie().handoff(id)?)
}

/// Reads a handoff's id, which `field` holds.
pub(super) fn parse_id(text: &str, field: &str) -> Result<HandoffId, Problem> {
    Uuid::try_parse(text).map(HandoffId).map_err(|_| Problem::field(field, "must be the id of a handoff, a UUID"))
}

fn parse(query: HandoffList) -> Result<HandoffQuery, Problem> {
    let limit = query.limit.unwrap_or(LIMIT);
    if !(1..=LIMIT_MAX).contains(&limit) {
        return Err(Problem::field("limit", "must be 1–1000"));
    }
    let state = |name: String| StateName::parse(&name).ok_or_else(|| Problem::field("state", "is no state"));
    Ok(HandoffQuery {
        room: query.room.map(|room| RoomId::parse(&room)).transpose()?,
        state: query.state.map(state).transpose()?,
        actor: query.actor.map(|actor| ActorId::parse(&actor)).transpose()?,
        limit,
        before: query.before.map(|id| parse_id(&id, "before")).transpose()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(query: HandoffList) -> Option<String> {
        parse(query).err().and_then(|problem| problem.body().field.clone())
    }

    #[test]
    fn a_query_is_checked_before_anything_is_read() {
        let whole = parse(HandoffList::default()).unwrap();
        assert_eq!((whole.limit, whole.room, whole.state), (200, None, None));
        let with = HandoffList { limit: Some(1_001), ..HandoffList::default() };
        assert_eq!(refused(with).as_deref(), Some("limit"));
        let with = HandoffList { limit: Some(0), ..HandoffList::default() };
        assert_eq!(refused(with).as_deref(), Some("limit"));
        let with = HandoffList { state: Some("busy".into()), ..HandoffList::default() };
        assert_eq!(refused(with).as_deref(), Some("state"));
        let with = HandoffList { room: Some("../x".into()), ..HandoffList::default() };
        assert_eq!(refused(with).as_deref(), Some("room"));
        let with = HandoffList { before: Some("1".into()), ..HandoffList::default() };
        assert_eq!(refused(with).as_deref(), Some("before"));
    }
}
