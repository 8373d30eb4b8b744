//! One address for every owner operation: which one, read strictly, and its answer as a value.

use axum::Json as Answered;
use axum::response::{IntoResponse, Response};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::handoffs::{find, page, parse_id};
use super::{cancel, tokens};
use crate::http::json::{Json, typed};
use crate::http::problem::{Problem, Reason};
use crate::owner::auth::Operator;
use crate::owner::wire::{
    Cancelled, Dispatched, HandoffBody, HandoffFound, HandoffGet, NoArguments, Operation, Refusal, Reloaded, RoomBody,
    Rooms, SCHEMA_VERSION,
};

/// Operations of the contract that this build does not have. A client learns so by a value.
const NOT_BUILT: [&str; 16] = [
    "conversation_get",
    "conversation_list",
    "conversation_tail",
    "device_approve",
    "device_list",
    "device_pair_begin",
    "device_revoke",
    "input_answer",
    "input_cancel",
    "input_get",
    "input_list",
    "mark_seen",
    "owner_update_dismiss",
    "owner_update_list",
    "owner_update_read",
    "token_rotate",
];

pub(super) async fn dispatch(operator: Operator, Json(body): Json<Value>) -> Result<Response, Problem> {
    match read(body)? {
        Called::Known(operation) => run(&operator, operation).await,
        Called::NotBuilt => Ok(value(Dispatched::<NoArguments>::Refused(Refusal {
            reason: "unsupported_op".to_owned(),
            detail: "this build does not have that operation".to_owned(),
        }))),
    }
}

/// What a call means.
#[derive(Debug, PartialEq)]
enum Called {
    /// An operation with its fields.
    Known(Operation),
    /// One of the contract that is not built.
    NotBuilt,
}

fn read(body: Value) -> Result<Called, Problem> {
    let Value::Object(mut fields) = body else {
        return Err(Problem::new(Reason::BadRequest).because("the body must be an object"));
    };
    if fields.remove("schema_version") != Some(Value::from(SCHEMA_VERSION)) {
        return Err(Problem::field("schema_version", "must be 1"));
    }
    let Some(Value::String(op)) = fields.remove("op") else {
        return Err(Problem::field("op", "must name an operation"));
    };
    operation(&op, fields)
}

fn operation(op: &str, fields: Map<String, Value>) -> Result<Called, Problem> {
    let known = match op {
        "token_create" => Operation::TokenCreate(take(fields)?),
        "token_list" => Operation::TokenList(take(fields)?),
        "token_revoke" => Operation::TokenRevoke(take(fields)?),
        "account_open" => Operation::AccountOpen(take(fields)?),
        "handoff_list" => Operation::HandoffList(take(fields)?),
        "handoff_get" => Operation::HandoffGet(take(fields)?),
        "handoff_cancel" => Operation::HandoffCancel(take(fields)?),
        "rooms_list" => Operation::RoomsList(take(fields)?),
        "config_reload" => Operation::ConfigReload(take(fields)?),
        other if NOT_BUILT.contains(&other) => return Ok(Called::NotBuilt),
        _ => return Err(Problem::field("op", "is no operation")),
    };
    Ok(Called::Known(known))
}

fn take<T: Serialize + DeserializeOwned>(fields: Map<String, Value>) -> Result<T, Problem> {
    typed(Value::Object(fields))
}

async fn run(operator: &Operator, operation: Operation) -> Result<Response, Problem> {
    Ok(match operation {
        Operation::TokenCreate(wanted) => value(tokens::create(operator, wanted).await?),
        Operation::TokenList(NoArguments {}) => value(tokens::list(operator)?),
        Operation::TokenRevoke(which) => value(tokens::revoke(operator, which).await?),
        Operation::AccountOpen(wanted) => value(tokens::open(operator, wanted).await?),
        Operation::HandoffList(query) => value(Dispatched::Ready(page(operator, query)?)),
        Operation::HandoffGet(which) => value(handoff(operator, &which)?),
        Operation::HandoffCancel(which) => value(cancelled(operator, &which).await?),
        Operation::RoomsList(NoArguments {}) => value(rooms(operator)?),
        Operation::ConfigReload(NoArguments {}) => value(reloaded(operator).await),
    })
}

/// Every value of the contract has HTTP status 200, refusals included.
fn value<T: Serialize>(answer: Dispatched<T>) -> Response {
    Answered(answer).into_response()
}

fn handoff(operator: &Operator, which: &HandoffGet) -> Result<Dispatched<HandoffFound>, Problem> {
    let found = find(operator, parse_id(&which.handoff_id, "handoff_id")?)?;
    Ok(found.map_or_else(unknown, |record| Dispatched::Ready(HandoffFound { handoff: HandoffBody::from(&record) })))
}

async fn cancelled(operator: &Operator, which: &HandoffGet) -> Result<Dispatched<Cancelled>, Problem> {
    let stopped = cancel::stop(operator, parse_id(&which.handoff_id, "handoff_id")?).await?;
    Ok(stopped.map_or_else(unknown, Dispatched::Ready))
}

fn unknown<T>() -> Dispatched<T> {
    let detail = "there is no such handoff; handoff_list shows them".to_owned();
    Dispatched::Refused(Refusal { reason: "unknown_handoff".to_owned(), detail })
}

/// Every room in which anything is kept, and the configured ones where nobody has spoken yet.
fn rooms(operator: &Operator) -> Result<Dispatched<Rooms>, Problem> {
    let mut rooms: Vec<RoomBody> = operator.access().clankie().rooms()?.iter().map(RoomBody::from).collect();
    for room in &operator.surface.facts.local_rooms {
        if !rooms.iter().any(|known| known.room == room.as_str()) {
            rooms.push(RoomBody { room: room.to_string(), live: 0, last_message_at: None });
        }
    }
    rooms.sort_by(|a, b| a.room.cmp(&b.room));
    Ok(Dispatched::Ready(Rooms { rooms }))
}

async fn reloaded(operator: &Operator) -> Dispatched<Reloaded> {
    match operator.surface.reload.reload().await {
        Ok(changed) => Dispatched::Ready(Reloaded { changed }),
        Err(detail) => Dispatched::Refused(Refusal { reason: "config_refused".to_owned(), detail }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::owner::wire::{DispatchRequest, TokenCreate};

    fn field(body: Value) -> Option<String> {
        read(body).err().and_then(|problem| problem.body().field.clone())
    }

    #[test]
    fn what_a_client_writes_is_what_is_read() {
        let wanted = TokenCreate { kind: "lane-text".into(), name: "t".into(), expires_at: None };
        for operation in [Operation::TokenCreate(wanted), Operation::RoomsList(NoArguments {})] {
            let body = serde_json::to_value(DispatchRequest::new(operation.clone())).unwrap();
            assert_eq!(read(body), Ok(Called::Known(operation)));
        }
    }

    #[test]
    fn an_operation_that_is_not_built_is_a_value_and_an_unknown_one_a_problem() {
        assert_eq!(read(json!({"schema_version": 1, "op": "input_list", "status": "pending"})), Ok(Called::NotBuilt));
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
