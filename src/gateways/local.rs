//! Local rooms: people with account tokens talk there, and read what everybody said.

use axum::extract::{FromRequestParts, State};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::response::Response;
use axum::routing::get;
use axum::{Json as Answered, Router};
use clankie_domain::grant::{Gateway, Transport};
use clankie_domain::ids::{ActorId, DeliveryId, RoomId};
use clankie_domain::principal::{Token, TokenKind};
use clankie_domain::request::{Request, Source, request_text};

use super::answer::{Asked, Call};
use super::messages::{Reader, Whose};
use crate::http::bearer::{Access, Caller};
use crate::http::json::Json;
use crate::http::path::Path;
use crate::http::problem::{Problem, Reason};
use crate::http::query::{After, Query};
use crate::http::wait::Patience;
use crate::http::wire::{RoomMessages, SayBody};
use crate::http::{metrics, wait};

/// The routes of local rooms.
pub fn router(access: Access) -> Router {
    Router::new()
        .route("/rooms/v1/{room}/messages", get(read).post(say))
        .method_not_allowed_fallback(async || Problem::new(Reason::MethodNotAllowed))
        .with_state(access)
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
        caller.only(&[TokenKind::Account])?;
        Ok(Self { access: access.clone(), caller })
    }
}

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
async fn read(
    (State(access), caller): (State<Access>, Caller),
    Path(room): Path<String>,
    headers: HeaderMap,
    Query(query): Query<After>,
) -> Result<Answered<RoomMessages>, Problem> {
    caller.only(&[TokenKind::Account, TokenKind::Operator])?;
    let wait = wait::wanted(&headers, query.wait)?;
    let room = RoomId::local(&room)?;
    let reader = Reader { access: &access, caller: &caller, room: &room, whose: Whose::All };
    reader.page(query, wait).await.map(Answered)
}

/// What an account says in a local room: the account is the actor, whatever the body holds.
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
    use clankie_domain::time::Timestamp;
    use uuid::Uuid;

    use super::*;

    fn account(name: &str) -> Token {
        Token {
            id: TokenId(Uuid::nil()),
            kind: TokenKind::Account,
            name: LaneName::parse(name).unwrap(),
            secret_hash: [0; 32],
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
