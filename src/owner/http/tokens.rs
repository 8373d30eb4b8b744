//! Making, listing, rotating and revoking tokens. A whole token leaves the service once, in the answer that made it.

use std::path::Path;

use clankie_domain::ids::{LaneName, TokenId};
use clankie_domain::principal::{TokenKind, TokenRefused};
use clankie_domain::time::Timestamp;
use uuid::Uuid;

use crate::http::bearer::{Credential, Secret};
use crate::http::problem::{Problem, Reason};
use crate::http::wire::read_moment;
use crate::owner::auth::{self, Principal};
use crate::owner::wire::{
    AccountOpen, Dispatched, Refusal, TokenBody, TokenCreate, TokenMade, TokenRevoke, TokenRotate, Tokens,
};

pub(super) async fn create(principal: &Principal, wanted: TokenCreate) -> Result<Dispatched<TokenMade>, Problem> {
    let rule = "must be operator, captain, lane-text, lane-voice or account";
    // A device gets its token by being paired: nobody else ever holds its secret.
    let kind = TokenKind::parse(&wanted.kind).filter(|kind| *kind != TokenKind::Device);
    let kind = kind.ok_or_else(|| Problem::field("kind", rule))?;
    let expires_at = wanted.expires_at.as_deref().map(expiry).transpose()?;
    make(principal, kind, &wanted.name, expires_at).await
}

/// Opens a local account. One whose token lives is refused: its holder would not know of the other.
pub(super) async fn open(principal: &Principal, wanted: AccountOpen) -> Result<Dispatched<TokenMade>, Problem> {
    make(principal, TokenKind::Account, &wanted.name, None).await
}

pub(super) fn list(principal: &Principal) -> Result<Dispatched<Tokens>, Problem> {
    let tokens = principal.access().clankie().tokens()?;
    Ok(Dispatched::Ready(Tokens { tokens: tokens.iter().map(TokenBody::from).collect() }))
}

pub(super) async fn revoke(principal: &Principal, which: TokenRevoke) -> Result<Dispatched<TokenBody>, Problem> {
    Ok(match principal.access().clankie().revoke_token(token_id(&which.id)?).await? {
        Some(token) => Dispatched::Ready(TokenBody::from(&token)),
        None => Dispatched::Refused(unknown("there is no such token; token_list shows them")),
    })
}

/// Gives a token another secret. A token that is kept in the operator's file is replaced there too.
pub(super) async fn rotate(principal: &Principal, which: TokenRotate) -> Result<Dispatched<TokenMade>, Problem> {
    let (id, secret) = (token_id(&which.id)?, fresh()?);
    let rotated = principal.access().clankie().rotate_token(id, secret.expose()).await?;
    let Some(token) = rotated else {
        return Ok(Dispatched::Refused(unknown("there is no such token, or it was revoked; token_list shows them")));
    };
    let credential = Credential { kind: token.kind, id: token.id, secret };
    if let Err(fault) = auth::replace(Path::new(&principal.surface.facts.state_dir), &credential) {
        tracing::error!(%fault, "the operator's file still holds the token before; its secret stops within a minute");
    }
    Ok(Dispatched::Ready(TokenMade { token: TokenBody::from(&token), secret: credential.expose() }))
}

fn token_id(text: &str) -> Result<TokenId, Problem> {
    let rule = "must be the id of a token, 32 hexadecimal digits";
    Uuid::try_parse(text).map(TokenId).map_err(|_| Problem::field("id", rule))
}

fn unknown(detail: &str) -> Refusal {
    Refusal { reason: "unknown_token".to_owned(), detail: detail.to_owned() }
}

fn expiry(text: &str) -> Result<Timestamp, Problem> {
    read_moment(text).ok_or_else(|| Problem::field("expires_at", "must be RFC 3339 with an offset"))
}

async fn make(
    principal: &Principal,
    kind: TokenKind,
    name: &str,
    expires_at: Option<Timestamp>,
) -> Result<Dispatched<TokenMade>, Problem> {
    let name = LaneName::parse(name)?;
    let secret = fresh()?;
    let made = principal.access().clankie().create_token(kind, name, secret.expose(), expires_at).await?;
    Ok(match made {
        Ok(token) => {
            let credential = Credential { kind: token.kind, id: token.id, secret };
            Dispatched::Ready(TokenMade { token: TokenBody::from(&token), secret: credential.expose() })
        }
        Err(refused) => Dispatched::Refused(refusal(refused)),
    })
}

/// A fresh secret.
pub(super) fn fresh() -> Result<Secret, Problem> {
    Secret::fresh().map_err(|fault| {
        tracing::error!(%fault, "the system gave no randomness for a token");
        Problem::new(Reason::StoreUnavailable).because("the system gave no randomness; try again")
    })
}

fn refusal(refused: TokenRefused) -> Refusal {
    let reason = match refused {
        TokenRefused::NameTaken => "name_taken",
        TokenRefused::NameRetired => "name_retired",
        TokenRefused::TooMany => "too_many_tokens",
    };
    Refusal { reason: reason.to_owned(), detail: refused.to_string() }
}
