//! One address for every owner operation: which one, read strictly, and its answer as a value.

use axum::Json as Answered;
use axum::response::{IntoResponse, Response};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::handoffs::{find, page, parse_id, shown};
use super::needs::needed;
use super::repost::{self, Again};
use super::{cancel, conversations, devices, mail, tokens};
use crate::http::json::{Json, typed};
use crate::http::problem::{Problem, Reason};
use crate::owner::auth::Principal;
use crate::owner::wire::{
    Cancelled, DispatchAnswer, DispatchRequest, Dispatched, HandoffFound, HandoffGet, NoArguments, Operation, Refusal,
    Reloaded, Reposted, RoomBody, Rooms, SCHEMA_VERSION,
};

/// Every owner operation: one shape for each `op`.
#[utoipa::path(
    post,
    path = "/operator/v1/dispatch",
    operation_id = "dispatch",
    request_body = DispatchRequest,
    responses((status = 200, body = DispatchAnswer, description = "What the operation came to, refusals included")),
    security(("bearer" = []))
)]
pub(super) async fn dispatch(principal: Principal, Json(body): Json<Value>) -> Result<Response, Problem> {
    let (op, fields) = named(body)?;
    principal.need(needed(&op).ok_or_else(no_operation)?)?;
    run(&principal, operation(&op, fields)?).await
}

/// Which operation a call names, before anything else of it is read: who may not call it learns
/// nothing about its fields.
fn named(body: Value) -> Result<(String, Map<String, Value>), Problem> {
    let Value::Object(mut fields) = body else {
        return Err(Problem::new(Reason::BadRequest).because("the body must be an object"));
    };
    if fields.remove("schema_version") != Some(Value::from(SCHEMA_VERSION)) {
        return Err(Problem::field("schema_version", "must be 1"));
    }
    let Some(Value::String(op)) = fields.remove("op") else {
        return Err(Problem::field("op", "must name an operation"));
    };
    Ok((op, fields))
}

fn no_operation() -> Problem {
    Problem::field("op", "is no operation")
}

fn operation(op: &str, fields: Map<String, Value>) -> Result<Operation, Problem> {
    Ok(match op {
        "token_create" => Operation::TokenCreate(take(fields)?),
        "token_list" => Operation::TokenList(take(fields)?),
        "token_revoke" => Operation::TokenRevoke(take(fields)?),
        "token_rotate" => Operation::TokenRotate(take(fields)?),
        "device_list" => Operation::DeviceList(take(fields)?),
        "device_pair_begin" => Operation::DevicePairBegin(take(fields)?),
        "device_approve" => Operation::DeviceApprove(take(fields)?),
        "device_revoke" => Operation::DeviceRevoke(take(fields)?),
        "account_open" => Operation::AccountOpen(take(fields)?),
        "handoff_list" => Operation::HandoffList(take(fields)?),
        "handoff_get" => Operation::HandoffGet(take(fields)?),
        "handoff_cancel" => Operation::HandoffCancel(take(fields)?),
        "input_list" => Operation::InputList(take(fields)?),
        "input_get" => Operation::InputGet(take(fields)?),
        "input_answer" => Operation::InputAnswer(take(fields)?),
        "input_cancel" => Operation::InputCancel(take(fields)?),
        "mark_seen" => Operation::MarkSeen(take(fields)?),
        "owner_update_list" => Operation::OwnerUpdateList(take(fields)?),
        "owner_update_read" => Operation::OwnerUpdateRead(take(fields)?),
        "owner_update_dismiss" => Operation::OwnerUpdateDismiss(take(fields)?),
        "conversation_list" => Operation::ConversationList(take(fields)?),
        "conversation_get" => Operation::ConversationGet(take(fields)?),
        "conversation_tail" => Operation::ConversationTail(take(fields)?),
        "handoff_repost" => Operation::HandoffRepost(take(fields)?),
        "rooms_list" => Operation::RoomsList(take(fields)?),
        "config_reload" => Operation::ConfigReload(take(fields)?),
        _ => return Err(no_operation()),
    })
}

fn take<T: Serialize + DeserializeOwned>(fields: Map<String, Value>) -> Result<T, Problem> {
    typed(Value::Object(fields))
}

async fn run(principal: &Principal, operation: Operation) -> Result<Response, Problem> {
    Ok(match operation {
        Operation::TokenCreate(wanted) => value(tokens::create(principal, wanted).await?),
        Operation::TokenList(NoArguments {}) => value(tokens::list(principal)?),
        Operation::TokenRevoke(which) => value(tokens::revoke(principal, which).await?),
        Operation::TokenRotate(which) => value(tokens::rotate(principal, which).await?),
        Operation::DeviceList(NoArguments {}) => value(devices::list(principal).await?),
        Operation::DevicePairBegin(wanted) => value(devices::begin(principal, wanted).await?),
        Operation::DeviceApprove(wanted) => value(devices::approve(principal, wanted).await?),
        Operation::DeviceRevoke(which) => value(devices::revoke(principal, which).await?),
        Operation::AccountOpen(wanted) => value(tokens::open(principal, wanted).await?),
        Operation::HandoffList(query) => value(Dispatched::Ready(page(principal, query)?)),
        Operation::HandoffGet(which) => value(handoff(principal, &which)?),
        Operation::HandoffCancel(which) => value(cancelled(principal, &which).await?),
        Operation::HandoffRepost(which) => value(reposted(principal, &which).await?),
        Operation::InputList(query) => value(mail::list(principal, &query)?),
        Operation::InputGet(which) => value(mail::get(principal, &which)?),
        Operation::InputAnswer(call) => value(mail::answer(principal, call).await?),
        Operation::InputCancel(call) => value(mail::cancel(principal, &call).await?),
        Operation::MarkSeen(which) => value(mail::mark_seen(principal, &which).await?),
        Operation::OwnerUpdateList(query) => value(mail::list_updates(principal, &query)?),
        Operation::OwnerUpdateRead(which) => value(mail::read(principal, &which).await?),
        Operation::OwnerUpdateDismiss(which) => value(mail::dismiss(principal, &which).await?),
        Operation::ConversationList(NoArguments {}) => value(conversations::list(principal)?),
        Operation::ConversationGet(which) => value(conversations::get(principal, &which)?),
        Operation::ConversationTail(call) => value(conversations::tail(principal, &call).await?),
        Operation::RoomsList(NoArguments {}) => value(rooms(principal)?),
        Operation::ConfigReload(NoArguments {}) => value(reloaded(principal).await),
    })
}

/// Every value of the contract has HTTP status 200, refusals included.
fn value<T: Serialize>(answer: T) -> Response {
    Answered(answer).into_response()
}

fn handoff(principal: &Principal, which: &HandoffGet) -> Result<Dispatched<HandoffFound>, Problem> {
    let found = find(principal, parse_id(&which.handoff_id, "handoff_id")?)?;
    Ok(found.map_or_else(unknown, |record| Dispatched::Ready(HandoffFound { handoff: shown(principal, &record) })))
}

async fn cancelled(principal: &Principal, which: &HandoffGet) -> Result<Dispatched<Cancelled>, Problem> {
    let stopped = cancel::stop(principal, parse_id(&which.handoff_id, "handoff_id")?).await?;
    Ok(stopped.map_or_else(unknown, Dispatched::Ready))
}

async fn reposted(principal: &Principal, which: &HandoffGet) -> Result<Dispatched<Reposted>, Problem> {
    let again = repost::again(principal, parse_id(&which.handoff_id, "handoff_id")?).await?;
    Ok(match again {
        Again::Open(reposted) => Dispatched::Ready(reposted),
        Again::Unknown => unknown(),
        Again::Nothing => Dispatched::Refused(Refusal {
            reason: "nothing_to_repost".to_owned(),
            detail: "only a reply whose delivery failed or is uncertain can be posted once more".to_owned(),
        }),
    })
}

fn unknown<T>() -> Dispatched<T> {
    let detail = "there is no such handoff; handoff_list shows them".to_owned();
    Dispatched::Refused(Refusal { reason: "unknown_handoff".to_owned(), detail })
}

/// Every room in which anything is kept, and the configured ones where nobody has spoken yet.
fn rooms(principal: &Principal) -> Result<Dispatched<Rooms>, Problem> {
    let mut rooms: Vec<RoomBody> = principal.access().clankie().rooms()?.iter().map(RoomBody::from).collect();
    for room in &principal.surface.facts.local_rooms {
        if !rooms.iter().any(|known| known.room == room.as_str()) {
            rooms.push(RoomBody { room: room.to_string(), live: 0, last_message_at: None });
        }
    }
    rooms.sort_by(|a, b| a.room.cmp(&b.room));
    Ok(Dispatched::Ready(Rooms { rooms }))
}

async fn reloaded(principal: &Principal) -> Dispatched<Reloaded> {
    match principal.surface.reload.reload().await {
        Ok(changed) => Dispatched::Ready(Reloaded { changed }),
        Err(detail) => Dispatched::Refused(Refusal { reason: "config_refused".to_owned(), detail }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::owner::http::needs::OPERATIONS;
    use crate::owner::wire::TokenCreate;

    fn read(body: Value) -> Result<Operation, Problem> {
        let (op, fields) = named(body)?;
        operation(&op, fields)
    }

    #[test]
    fn every_operation_that_is_read_needs_something() {
        for (op, _) in OPERATIONS {
            let read = operation(op, Map::new());
            assert!(read.is_ok() || read.is_err_and(|problem| problem.body().field.as_deref() != Some("op")), "{op}");
        }
    }

    fn field(body: Value) -> Option<String> {
        read(body).err().and_then(|problem| problem.body().field.clone())
    }

    #[test]
    fn what_a_client_writes_is_what_is_read() {
        let wanted = TokenCreate { kind: "lane-text".into(), name: "t".into(), expires_at: None };
        for operation in [Operation::TokenCreate(wanted), Operation::RoomsList(NoArguments {})] {
            let body = serde_json::to_value(DispatchRequest::new(operation.clone())).unwrap();
            assert_eq!(read(body), Ok(operation));
        }
    }

    #[test]
    fn an_unknown_operation_is_a_problem() {
        assert_eq!(field(json!({"schema_version": 1, "op": "format_disk"})).as_deref(), Some("op"));
    }

    #[test]
    fn a_malformed_call_names_its_field() {
        assert_eq!(field(json!({"op": "token_list"})).as_deref(), Some("schema_version"));
        assert_eq!(field(json!({"schema_version": "1", "op": "token_list"})).as_deref(), Some("schema_version"));
        assert_eq!(field(json!({"schema_version": 1})).as_deref(), Some("op"));
        let more = json!({"schema_version": 1, "op": "token_list", "role": "operator"});
        assert_eq!(field(more).as_deref(), Some("role"));
        assert!(read(json!([1])).is_err());
    }
}
