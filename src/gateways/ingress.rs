//! The HTTP ingress: a lane hands deliveries in, edits, cancels and reads them.
//!
//! A lane speaks for the actors and rooms under its own name and no others; the name comes from
//! its token. A text lane brings text and a voice lane voice.

use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Json as Answered, Router};
use clankie_domain::admission::room::{Canceller, Which};
use clankie_domain::grant::Gateway;
use clankie_domain::ids::{ActorId, DeliveryId, RoomId};
use clankie_domain::principal::{Token, TokenKind};

use super::answer::{Asked, Call};
use super::messages::{Reader, Whose};
use crate::http::bearer::{Access, Caller};
use crate::http::json::Json;
use crate::http::path::Path;
use crate::http::problem::{Problem, Reason};
use crate::http::query::{After, Query};
use crate::http::wait::Patience;
use crate::http::wire::{CancelBody, EditBody, RoomMessages, TurnBody};
use crate::http::{metrics, wait};

mod turn;

/// The routes of the ingress.
pub fn router(access: Access) -> Router {
    Router::new()
        .route("/ingress/v1/turns", post(submit))
        .route("/ingress/v1/turns/{room}/{delivery_id}", get(inspect).put(edit).delete(cancel))
        .route("/ingress/v1/rooms/{room}/messages", get(messages))
        .method_not_allowed_fallback(async || Problem::new(Reason::MethodNotAllowed))
        .with_state(access)
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
        caller.only(&[TokenKind::LaneText, TokenKind::LaneVoice])?;
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

async fn submit(lane: Lane, Patience(wait): Patience, Json(body): Json<TurnBody>) -> Result<Response, Problem> {
    let request = turn::request(lane.token(), body)?;
    let names = (request.room.clone(), request.delivery.clone());
    let answer = lane.access.clankie().submit(request).await?;
    metrics::answered(Gateway::Ingress, &answer);
    lane.call(&names, wait).respond(Asked::Admit, answer).await
}

async fn inspect(
    lane: Lane,
    Path(path): Path<(String, String)>,
    Patience(wait): Patience,
) -> Result<Response, Problem> {
    let names = lane.named(&path)?;
    lane.call(&names, wait).inspect().await
}

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
