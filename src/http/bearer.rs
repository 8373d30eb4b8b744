//! Bearer tokens: their grammar, and who calls.
//!
//! `clk_<kind>_<id>_<secret>`: the id finds the row, the secret is compared there in constant
//! time. Cookies are never read. A refusal says nothing about which part was wrong.

use std::fmt;
use std::sync::Arc;

use axum::extract::{FromRef, FromRequestParts};
use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, HeaderValue};
use axum::http::request::Parts;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use clankie_actors::Clankie;
use clankie_domain::ids::TokenId;
use clankie_domain::principal::{Token, TokenKind};
use clankie_domain::scope::Need;
use dashmap::DashMap;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use uuid::Uuid;

use super::attempts::{Attempts, Verdict};
use super::drain::Draining;
use super::peer::Peer;
use super::problem::{Problem, Reason};
use super::streams::{StreamPlace, Streams};

/// Requests of one credential at once, waiting ones included: a quarter of all connections, so that
/// no lane can keep the owner out.
const REQUESTS: usize = 256;
/// Random bytes of a secret: 256 bits.
const SECRET_BYTES: usize = 32;
/// What they are as base64url without padding.
const SECRET_CHARS: usize = 43;
/// A UUID without hyphens.
const ID_CHARS: usize = 32;

/// The secret half of a token. It is never printed by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A fresh one from the system's randomness.
    pub fn fresh() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; SECRET_BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(Self(URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// The secret itself, for hashing and for showing it once.
    pub fn expose(&self) -> &str {
        &self.0
    }

    fn parse(text: &str) -> Option<Self> {
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        (text.len() == SECRET_CHARS && text.bytes().all(legal)).then(|| Self(text.to_owned()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A whole token as its holder has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credential {
    /// What it says that it speaks for; the stored row decides.
    pub kind: TokenKind,
    /// Which row.
    pub id: TokenId,
    /// What is compared there.
    pub secret: Secret,
}

impl Credential {
    /// Reads `clk_<kind>_<id>_<secret>`; `None` when it is none, without saying why.
    pub fn parse(text: &str) -> Option<Self> {
        let (tag, id, secret) = split(text)?;
        let kind = TokenKind::ALL.into_iter().find(|kind| kind.tag() == tag)?;
        Some(Self { kind, id, secret })
    }

    /// The token as text, to be shown once.
    pub fn expose(&self) -> String {
        join(self.kind.tag(), self.id, &self.secret)
    }

    fn from_header(value: &HeaderValue) -> Option<Self> {
        Self::parse(bearer(value)?)
    }
}

/// What a device polls with while it waits. It is no token: no other route takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PollToken {
    /// The device, and its token's id once it is approved.
    pub id: TokenId,
    /// Its secret, and its token's once it is approved.
    pub secret: Secret,
}

impl PollToken {
    /// The word in the place of a kind.
    const TAG: &str = "pair";

    /// The one poll token of a request's headers.
    pub fn of(headers: &HeaderMap) -> Option<Self> {
        let (tag, id, secret) = split(bearer(only(headers)?)?)?;
        (tag == Self::TAG).then_some(Self { id, secret })
    }

    /// The poll token as text.
    pub fn expose(&self) -> String {
        join(Self::TAG, self.id, &self.secret)
    }

    /// The device's token, once it is approved.
    pub fn approved(self) -> Credential {
        Credential { kind: TokenKind::Device, id: self.id, secret: self.secret }
    }
}

fn split(text: &str) -> Option<(&str, TokenId, Secret)> {
    let mut parts = text.splitn(4, '_');
    let (prefix, tag, id) = (parts.next()?, parts.next()?, parts.next()?);
    let secret = Secret::parse(parts.next()?)?;
    let hex = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
    if prefix != "clk" || id.len() != ID_CHARS || !id.bytes().all(hex) {
        return None;
    }
    Some((tag, TokenId(Uuid::try_parse(id).ok()?), secret))
}

fn join(tag: &str, id: TokenId, secret: &Secret) -> String {
    format!("clk_{tag}_{}_{}", id.0.simple(), secret.expose())
}

fn bearer(value: &HeaderValue) -> Option<&str> {
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token)
}

/// The one `Authorization` header of a request; two are none.
fn only(headers: &HeaderMap) -> Option<&HeaderValue> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let first = values.next()?;
    values.next().is_none().then_some(first)
}

/// The way in that every surface shares: the actors, and how often an address guessed.
#[derive(Debug, Clone)]
pub struct Access {
    clankie: Clankie,
    attempts: Arc<Attempts>,
    in_flight: Arc<DashMap<TokenId, Arc<Semaphore>>>,
    streams: Streams,
    closed: Draining,
}

impl Access {
    /// One for the whole service: guesses at one surface count at all.
    pub fn new(clankie: Clankie, attempts: Arc<Attempts>) -> Self {
        Self { clankie, attempts, in_flight: Arc::default(), streams: Streams::default(), closed: Draining::default() }
    }

    /// The actors.
    pub fn clankie(&self) -> &Clankie {
        &self.clankie
    }

    /// From now on whoever waits hears that the service stops.
    pub fn close(&self) {
        self.closed.begin();
    }

    /// One of the places that this token has for requests at once.
    fn place(&self, token: TokenId) -> Result<Arc<OwnedSemaphorePermit>, Problem> {
        let places = Arc::clone(&self.in_flight.entry(token).or_insert_with(|| Arc::new(Semaphore::new(REQUESTS))));
        let full = || {
            let why = "256 requests of this credential are in flight; wait for some of them";
            Problem::new(Reason::TooManyInFlight).because(why).after(1)
        };
        places.try_acquire_owned().map(Arc::new).map_err(|_| full())
    }

    fn caller(&self, parts: &Parts) -> Result<Caller, Problem> {
        if !parts.headers.contains_key(AUTHORIZATION) {
            return Err(Problem::new(Reason::Unauthorized));
        }
        let standing = match presented(&parts.headers) {
            Some(credential) => self.standing(&credential)?.map(|token| (token, credential)),
            None => None,
        };
        let peer = Peer::of(parts);
        let (token, credential) = standing.ok_or_else(|| self.wrong(peer))?;
        let place = self.place(token.id)?;
        Ok(Caller { token, credential, peer, _place: place })
    }

    /// What a wrong credential or code gets, which counts against its address.
    pub fn wrong(&self, peer: Peer) -> Problem {
        match self.attempts.wrong(peer.from) {
            Verdict::Wrong => Problem::new(Reason::Unauthorized),
            Verdict::Locked { seconds } => Problem::new(Reason::TooManyAttempts).after(seconds),
        }
    }

    /// One of the places that this caller and its address have for event streams. It is given back
    /// when it is dropped, so the stream must hold it.
    pub fn stream(&self, caller: &Caller) -> Result<StreamPlace, Problem> {
        self.streams.open(caller.token.id, caller.peer.from)
    }

    fn standing(&self, credential: &Credential) -> Result<Option<Token>, Problem> {
        let token = self.clankie.authenticate(credential.id, credential.secret.expose())?;
        Ok(token.filter(|token| token.kind == credential.kind))
    }
}

/// The one credential of a request; two are none.
fn presented(headers: &HeaderMap) -> Option<Credential> {
    Credential::from_header(only(headers)?)
}

/// Who calls: a token that stood when the request came.
#[derive(Debug, Clone)]
pub struct Caller {
    token: Token,
    credential: Credential,
    peer: Peer,
    /// Held as long as the request is.
    _place: Arc<OwnedSemaphorePermit>,
}

impl Caller {
    /// The token.
    pub fn token(&self) -> &Token {
        &self.token
    }

    /// Refuses who may not do that, without detail.
    pub fn need(&self, need: Need) -> Result<(), Problem> {
        if self.token.may(need) { Ok(()) } else { Err(Problem::new(Reason::Forbidden)) }
    }

    /// Refuses a caller whose token was revoked or expired since or may less than it might, and
    /// everybody once the service stops. Whatever waits asks this after each slice of its wait.
    pub fn still_stands(&self, access: &Access) -> Result<(), Problem> {
        if access.closed.has_begun() {
            return Err(Problem::shutting_down());
        }
        match access.standing(&self.credential)? {
            Some(now) if now.grants.is_superset(&self.token.grants) => Ok(()),
            Some(_) => Err(Problem::new(Reason::Forbidden)),
            None => Err(Problem::new(Reason::Unauthorized)),
        }
    }
}

impl<S> FromRequestParts<S> for Caller
where
    S: Send + Sync,
    Access: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        Access::from_ref(state).caller(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credential(kind: TokenKind) -> Credential {
        Credential { kind, id: TokenId(Uuid::from_u128(0xa1)), secret: Secret::fresh().unwrap() }
    }

    #[test]
    fn every_kind_reads_back_whatever_its_secret_holds() {
        for kind in TokenKind::ALL {
            for _ in 0..64 {
                let token = credential(kind);
                assert_eq!(Credential::parse(&token.expose()), Some(token));
            }
        }
        let scored = Secret::parse(&"_-".repeat(22)[..43]).unwrap();
        let token = Credential { secret: scored, ..credential(TokenKind::LaneText) };
        assert_eq!(Credential::parse(&token.expose()), Some(token));
    }

    #[test]
    fn nothing_beside_the_grammar_is_a_token() {
        let good = credential(TokenKind::Operator).expose();
        let (id, secret) = (&good[13..45], &good[46..]);
        let wrong = [
            String::new(),
            "clk".into(),
            good.replacen("clk", "CLK", 1),
            good.replacen("operator", "Operator", 1),
            good.replacen("operator", "owner", 1),
            good.replacen("operator", "lane-text", 1),
            good.replacen(id, &id.to_uppercase(), 1),
            good.replacen(id, &Uuid::from_u128(0xa1).to_string(), 1),
            good.replacen(id, &id[1..], 1),
            good[..good.len() - 1].to_owned(),
            format!("{good}A"),
            format!("{good}="),
            format!("{good}\n"),
            format!(" {good}"),
            good.replacen(secret, &"+".repeat(43), 1),
            good.replacen(secret, &format!("{}A", "ä".repeat(21)), 1),
        ];
        for text in wrong {
            assert_eq!(Credential::parse(&text), None, "{text:?}");
        }
    }

    fn presents(values: &[&str]) -> bool {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, HeaderValue::from_str(value).unwrap());
        }
        presented(&headers).is_some()
    }

    #[test]
    fn one_bearer_header_is_a_credential_and_nothing_else_is() {
        let good = credential(TokenKind::Account).expose();
        assert!(presents(&[&format!("Bearer {good}")]));
        assert!(presents(&[&format!("bearer {good}")]));
        for value in [good.clone(), format!("Basic {good}"), format!("Bearer  {good}"), format!("Bearer {good} x")] {
            assert!(!presents(&[&value]), "{value:?}");
        }
        let twice = format!("Bearer {good}");
        assert!(!presents(&[&twice, &twice]));
        assert!(!presents(&[]));
    }

    #[test]
    fn a_secret_is_not_printed_by_accident() {
        let token = credential(TokenKind::Captain);
        assert!(!format!("{token:?}").contains(token.secret.expose()));
    }

    #[test]
    fn what_a_device_polls_with_is_no_token_and_no_token_polls() {
        let poll = PollToken { id: TokenId(Uuid::from_u128(0xa1)), secret: Secret::fresh().unwrap() };
        let header = |text: &str| HeaderMap::from_iter([(AUTHORIZATION, format!("Bearer {text}").parse().unwrap())]);
        assert_eq!(PollToken::of(&header(&poll.expose())), Some(poll.clone()));
        assert_eq!(Credential::parse(&poll.expose()), None);
        let token = poll.clone().approved();
        assert_eq!(PollToken::of(&header(&token.expose())), None);
        assert_eq!((token.kind, token.secret), (TokenKind::Device, poll.secret));
    }
}
