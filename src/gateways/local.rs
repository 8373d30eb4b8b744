//! Local rooms: people with account tokens and the owner's chatting devices talk there, and read what
//! everybody said.

use axum::Json as Answered;
use axum::extract::{FromRequestParts, State};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::response::Response;
use clankie_domain::grant::{Gateway, Transport};
use clankie_domain::ids::{ActorId, DeliveryId, RoomId};
use clankie_domain::principal::Token;
use clankie_domain::request::{Request, Source, request_text};
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
use crate::http::wire::{ProblemBody, RoomMessages, SayBody, TurnAnswer};
use crate::http::{metrics, wait};

/// The routes of local rooms.
pub fn routes() -> OpenApiRouter<Access> {
    OpenApiRouter::new().routes(routes!(read, say))
}

/// A person who talks in local rooms.
#[derive(Debug)]
struct Person {
    access: Access,
    caller: Caller,
}

impl FromRequestParts<Access> for Person {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, access: &Access) -> Result<Self, Problem> {
        let caller = Caller::from_request_parts(parts, access).await?;
        caller.need(Need::Chat)?;
        Ok(Self { access: access.clone(), caller })
    }
}

/// An account says something.
#[utoipa::path(
    post,
    path = "/rooms/v1/{room}/messages",
    operation_id = "room_say",
    params(("room" = String, Path, description = "The room's name", max_length = 128, pattern = "^(\\.|([A-Za-z0-9_:-]|\\.[A-Za-z0-9_:/-])(\\.?[A-Za-z0-9_:/-])*\\.?)$"), ("wait" = Option<u64>, Query, description = "How many seconds to wait for the end", maximum = 60), ("prefer" = Option<String>, Header, description = "`wait=N`, as the query")),
    request_body = SayBody,
    responses((status = 200, body = TurnAnswer, description = "It is over"), (status = 202, body = TurnAnswer, description = "It goes on"), (status = 409, body = ProblemBody, content_type = "application/problem+json", description = "The delivery id was used for another request")),
    security(("bearer" = []))
)]
async fn say(
    Person { access, caller }: Person,
    Path(room): Path<String>,
    Patience(wait): Patience,
    Json(said): Json<SayBody>,
) -> Result<Response, Problem> {
    let request = request(&room, caller.token(), &said)?;
    let (room, delivery) = (request.room.clone(), request.delivery.clone());
    let answer = access.clankie().submit(request).await?;
    metrics::answered(Gateway::Local, &answer);
    let call = Call { access: &access, caller: &caller, room: &room, delivery: &delivery, wait };
    call.respond(Asked::Admit, answer).await
}

/// The owner may read along.
#[utoipa::path(
    get,
    path = "/rooms/v1/{room}/messages",
    operation_id = "room_messages",
    params(("room" = String, Path, description = "The room's name", max_length = 128, pattern = "^(\\.|([A-Za-z0-9_:-]|\\.[A-Za-z0-9_:/-])(\\.?[A-Za-z0-9_:/-])*\\.?)$"), After),
    responses((status = 200, body = RoomMessages, description = "What was said, oldest first")),
    security(("bearer" = []))
)]
async fn read(
    (State(access), caller): (State<Access>, Caller),
    Path(room): Path<String>,
    headers: HeaderMap,
    Query(query): Query<After>,
) -> Result<Answered<RoomMessages>, Problem> {
    caller.need(Need::ReadRooms)?;
    let wait = wait::wanted(&headers, query.wait)?;
    let room = RoomId::local(&room)?;
    let reader = Reader { access: &access, caller: &caller, room: &room, whose: Whose::All };
    reader.page(query, wait).await.map(Answered)
}

/// What an account or device says in a local room: its name is the actor, whatever the body holds.
fn request(room: &str, account: &Token, said: &SayBody) -> Result<Request, Problem> {
    let text = request_text(&said.text, 0).map_err(|bad| Problem::field("text", bad.rule))?;
    Ok(Request {
        room: RoomId::local(room)?,
        delivery: DeliveryId::parse(&said.delivery_id)?,
        actor: ActorId::local(&account.name),
        actor_name: account.name.to_string(),
        source: Source::Text,
        transport: Transport { gateway: Gateway::Local, lane: account.name.clone() },
        guild: None,
        wanted: None,
        text,
        attachments: Vec::new(),
        context: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use clankie_domain::ids::{LaneName, TokenId};
    use clankie_domain::principal::TokenKind;
    use clankie_domain::time::Timestamp;
    use uuid::Uuid;

    use super::*;

    fn account(name: &str) -> Token {
        Token {
            id: TokenId(Uuid::nil()),
            kind: TokenKind::Account,
            name: LaneName::parse(name).unwrap(),
            reported_name: None,
            grants: std::collections::BTreeSet::new(),
            secret_hash: [0; 32],
            former: None,
            created_at: Timestamp(0),
            expires_at: None,
            last_used_at: None,
            revoked_at: None,
        }
    }

    fn said(delivery_id: &str, text: &str) -> SayBody {
        SayBody { delivery_id: delivery_id.into(), text: text.into() }
    }

    #[test]
    fn an_account_speaks_as_itself() {
        let request = request("lab", &account("ann"), &said("m1", "hello")).unwrap();
        assert_eq!((request.room.as_str(), request.actor.as_str()), ("local:lab", "local:ann"));
        assert_eq!(request.wanted, None);
    }

    #[test]
    fn a_bad_field_is_named_as_the_sender_knows_it() {
        let cases = [("lab", "m1", " ", "text"), ("lab", "", "hi", "delivery_id"), ("/lab", "m1", "hi", "room")];
        for (room, delivery, text, field) in cases {
            let problem = request(room, &account("ann"), &said(delivery, text)).unwrap_err();
            assert_eq!(problem.body().field.as_deref(), Some(field));
        }
    }
}
