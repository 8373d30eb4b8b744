//! The HTTP ingress: a lane hands deliveries in, edits, cancels and reads them.
//!
//! A lane speaks for the actors and rooms under its own name and no others; the name comes from
//! its token. A text lane brings text and a voice lane voice.

use std::time::Duration;

use axum::Json as Answered;
use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::response::Response;
use clankie_domain::admission::room::{Canceller, Which};
use clankie_domain::grant::Gateway;
use clankie_domain::ids::{ActorId, DeliveryId, RoomId};
use clankie_domain::principal::Token;
use clankie_domain::scope::Need;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::answer::{Asked, Call};
use super::messages::{Reader, Whose};
use crate::http::bearer::{Access, Caller};
use crate::http::json::Json;
use crate::http::path::Path;
use crate::http::problem::Problem;
use crate::http::query::{After, Query};
use crate::http::wait::Patience;
use crate::http::wire::{CancelBody, EditBody, ProblemBody, RoomMessages, TurnAnswer, TurnBody};
use crate::http::{metrics, wait};

mod turn;

/// The routes of the ingress.
pub fn routes() -> OpenApiRouter<Access> {
    OpenApiRouter::new().routes(routes!(submit)).routes(routes!(inspect, edit, cancel)).routes(routes!(messages))
}

/// A lane that calls.
#[derive(Debug)]
struct Lane {
    access: Access,
    caller: Caller,
}

impl FromRequestParts<Access> for Lane {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, access: &Access) -> Result<Self, Problem> {
        let caller = Caller::from_request_parts(parts, access).await?;
        caller.need(Need::Ingress)?;
        Ok(Self { access: access.clone(), caller })
    }
}

impl Lane {
    fn token(&self) -> &Token {
        self.caller.token()
    }

    fn named(&self, (room, delivery): &(String, String)) -> Result<(RoomId, DeliveryId), Problem> {
        Ok((RoomId::ingress(&self.token().name, room)?, DeliveryId::parse(delivery)?))
    }

    fn call<'a>(&'a self, (room, delivery): &'a (RoomId, DeliveryId), wait: Duration) -> Call<'a> {
        Call { access: &self.access, caller: &self.caller, room, delivery, wait }
    }
}

/// Hands a delivery in; a repeat gets the saved result.
#[utoipa::path(
    post,
    path = "/ingress/v1/turns",
    operation_id = "turn_submit",
    params(("wait" = Option<u64>, Query, description = "How many seconds to wait for the end", maximum = 60), ("prefer" = Option<String>, Header, description = "`wait=N`, as the query")),
    request_body = TurnBody,
    responses((status = 200, body = TurnAnswer, description = "It is over"), (status = 202, body = TurnAnswer, description = "It goes on"), (status = 409, body = ProblemBody, content_type = "application/problem+json", description = "The delivery id was used for another request")),
    security(("bearer" = []))
)]
async fn submit(lane: Lane, Patience(wait): Patience, Json(body): Json<TurnBody>) -> Result<Response, Problem> {
    let request = turn::request(lane.token(), body)?;
    let names = (request.room.clone(), request.delivery.clone());
    let answer = lane.access.clankie().submit(request).await?;
    metrics::answered(Gateway::Ingress, &answer);
    lane.call(&names, wait).respond(Asked::Admit, answer).await
}

/// What became of a delivery.
#[utoipa::path(
    get,
    path = "/ingress/v1/turns/{room}/{delivery_id}",
    operation_id = "turn_get",
    params(("room" = String, Path, description = "The lane's short name of the room", max_length = 128, pattern = "^(\\.|([A-Za-z0-9_:-]|\\.[A-Za-z0-9_:/-])(\\.?[A-Za-z0-9_:/-])*\\.?)$"), ("delivery_id" = String, Path, description = "The delivery", min_length = 1, max_length = 512, pattern = "^[^\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff]*[^\\s\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff][^\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff]*$"), ("wait" = Option<u64>, Query, description = "How many seconds to wait for the end", maximum = 60), ("prefer" = Option<String>, Header, description = "`wait=N`, as the query")),
    responses((status = 200, body = TurnAnswer, description = "It is over"), (status = 202, body = TurnAnswer, description = "It goes on"), (status = 409, body = ProblemBody, content_type = "application/problem+json", description = "The delivery id was used for another request")),
    security(("bearer" = []))
)]
async fn inspect(
    lane: Lane,
    Path(path): Path<(String, String)>,
    Patience(wait): Patience,
) -> Result<Response, Problem> {
    let names = lane.named(&path)?;
    lane.call(&names, wait).inspect().await
}

/// Replaces the words before the start, joins them later.
#[utoipa::path(
    put,
    path = "/ingress/v1/turns/{room}/{delivery_id}",
    operation_id = "turn_edit",
    params(("room" = String, Path, description = "The lane's short name of the room", max_length = 128, pattern = "^(\\.|([A-Za-z0-9_:-]|\\.[A-Za-z0-9_:/-])(\\.?[A-Za-z0-9_:/-])*\\.?)$"), ("delivery_id" = String, Path, description = "The delivery", min_length = 1, max_length = 512, pattern = "^[^\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff]*[^\\s\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff][^\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff]*$"), ("wait" = Option<u64>, Query, description = "How many seconds to wait for the end", maximum = 60), ("prefer" = Option<String>, Header, description = "`wait=N`, as the query")),
    request_body = EditBody,
    responses((status = 200, body = TurnAnswer, description = "It is over"), (status = 202, body = TurnAnswer, description = "It goes on"), (status = 409, body = ProblemBody, content_type = "application/problem+json", description = "The delivery id was used for another request")),
    security(("bearer" = []))
)]
async fn edit(
    lane: Lane,
    Path(path): Path<(String, String)>,
    Patience(wait): Patience,
    Json(body): Json<EditBody>,
) -> Result<Response, Problem> {
    let request = turn::edited(lane.token(), path, body)?;
    let names = (request.room.clone(), request.delivery.clone());
    let answer = lane.access.clankie().edit(request).await?;
    metrics::answered(Gateway::Ingress, &answer);
    lane.call(&names, wait).respond(Asked::Admit, answer).await
}

/// Cancels what the speaker asked for.
#[utoipa::path(
    delete,
    path = "/ingress/v1/turns/{room}/{delivery_id}",
    operation_id = "turn_cancel",
    params(("room" = String, Path, description = "The lane's short name of the room", max_length = 128, pattern = "^(\\.|([A-Za-z0-9_:-]|\\.[A-Za-z0-9_:/-])(\\.?[A-Za-z0-9_:/-])*\\.?)$"), ("delivery_id" = String, Path, description = "The delivery", min_length = 1, max_length = 512, pattern = "^[^\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff]*[^\\s\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff][^\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff]*$"), ("wait" = Option<u64>, Query, description = "How many seconds to wait for the end", maximum = 60), ("prefer" = Option<String>, Header, description = "`wait=N`, as the query")),
    request_body = CancelBody,
    responses((status = 200, body = TurnAnswer, description = "It is over"), (status = 202, body = TurnAnswer, description = "It goes on"), (status = 409, body = ProblemBody, content_type = "application/problem+json", description = "The delivery id was used for another request")),
    security(("bearer" = []))
)]
async fn cancel(
    lane: Lane,
    Path(path): Path<(String, String)>,
    Patience(wait): Patience,
    Json(body): Json<CancelBody>,
) -> Result<Response, Problem> {
    let names = lane.named(&path)?;
    let speaker = Canceller::Speaker(ActorId::ingress(&lane.token().name, &body.actor.id)?);
    let answer = lane.access.clankie().cancel(&names.0, Which::Delivery(names.1.clone()), speaker).await?;
    lane.call(&names, wait).respond(Asked::Cancel, answer).await
}

/// What the agent said in a room.
#[utoipa::path(
    get,
    path = "/ingress/v1/rooms/{room}/messages",
    operation_id = "room_replies",
    params(("room" = String, Path, description = "The lane's short name of the room", max_length = 128, pattern = "^(\\.|([A-Za-z0-9_:-]|\\.[A-Za-z0-9_:/-])(\\.?[A-Za-z0-9_:/-])*\\.?)$"), After),
    responses((status = 200, body = RoomMessages, description = "What the agent said, oldest first")),
    security(("bearer" = []))
)]
async fn messages(
    lane: Lane,
    Path(room): Path<String>,
    headers: HeaderMap,
    Query(query): Query<After>,
) -> Result<Answered<RoomMessages>, Problem> {
    let wait = wait::wanted(&headers, query.wait)?;
    let room = RoomId::ingress(&lane.token().name, &room)?;
    let reader = Reader { access: &lane.access, caller: &lane.caller, room: &room, whose: Whose::Agent };
    reader.page(query, wait).await.map(Answered)
}
