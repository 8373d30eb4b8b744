//! Making, listing and revoking tokens. A whole token leaves the service once, in the answer that made it.

use clankie_domain::ids::{LaneName, TokenId};
use clankie_domain::principal::{TokenKind, TokenRefused};
use clankie_domain::time::Timestamp;
use uuid::Uuid;

use crate::http::bearer::{Credential, Secret};
use crate::http::problem::{Problem, Reason};
use crate::http::wire::read_moment;
use crate::owner::auth::Operator;
use crate::owner::wire::{AccountOpen, Dispatched, Refusal, TokenBody, TokenCreate, TokenMade, TokenRevoke, Tokens};

pub(super) async fn create(operator: &Operator, wanted: TokenCreate) -> Result<Dispatched<TokenMade>, Problem> {
    let rule = "must be operator, captain, lane-text, lane-voice or account";
    let kind = TokenKind::parse(&wanted.kind).ok_or_else(|| Problem::field("kind", rule))?;
    let expires_at = wanted.expires_at.as_deref().map(expiry).transpose()?;
    make(operator, kind, &wanted.name, expires_at).await
}

/// Opens a local account. One whose token lives is refused: its holder would not know of the other.
pub(super) async fn open(operator: &Operator, wanted: AccountOpen) -> Result<Dispatched<TokenMade>, Problem> {
    make(operator, TokenKind::Account, &wanted.name, None).await
}

pub(super) fn list(operator: &Operator) -> Result<Dispatched<Tokens>, Problem> {
    let tokens = operator.access().clankie().tokens()?;
    Ok(Dispatched::Ready(Tokens { tokens: tokens.iter().map(TokenBody::from).collect() }))
}

pub(super) async fn revoke(operator: &Operator, which: TokenRevoke) -> Result<Dispatched<TokenBody>, Problem> {
    let id = Uuid::try_parse(&which.id).map(TokenId);
    let id = id.map_err(|_| Problem::field("id", "must be the id of a token, 32 hexadecimal digits"))?;
    Ok(match operator.access().clankie().revoke_token(id).await? {
        Some(token) => Dispatched::Ready(TokenBody::from(&token)),
        None => Dispatched::Refused(Refusal {
            reason: "unknown_token".to_owned(),
            detail: "there is no such token; token_list shows them".to_owned(),
        }),
    })
}

fn expiry(text: &str) -> Result<Timestamp, Problem> {
    read_moment(text).ok_or_else(|| Problem::field("expires_at", "must be RFC 3339 with an offset"))
}

async fn make(
    operator: &Operator,
    kind: TokenKind,
    name: &str,
    expires_at: Option<Timestamp>,
) -> Result<Dispatched<TokenMade>, Problem> {
    let name = LaneName::parse(name)?;
    let secret = fresh()?;
    let made = operator.access().clankie().create_token(kind, name, secret.expose(), expires_at).await?;
    Ok(match made {
        Ok(token) => {
            let credential = Credential { kind: token.kind, id: token.id, secret };
            Dispatched::Ready(TokenMade { token: TokenBody::from(&token), secret: credential.expose() })
        }
        Err(refused) => Dispatched::Refused(refusal(refused)),
    })
}

fn fresh() -> Result<Secret, Problem> {
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
