//! Who acts for the owner: the operator's credential, or a device with what it was granted.
//!
//! Authority is the kind and the grants of a stored token, never a name, a header or a field of a
//! request. Every route and operation names what it needs before it reads anything.

mod token_file;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use clankie_domain::admission::room::Canceller;
use clankie_domain::ids::TokenId;
use clankie_domain::mailbox::Answerer;
use clankie_domain::principal::TokenKind;
use clankie_domain::result::{By, PrincipalKind};
use clankie_domain::scope::Need;

pub use token_file::{Kept, TokenFileError, check_before_start, keep, replace};

use super::http::Surface;
use crate::http::bearer::{Access, Caller};
use crate::http::problem::{Problem, Reason};
use crate::http::streams::StreamPlace;

/// The operator or a device, by a token that stood when the request came. It may nothing yet: see
/// [`Principal::need`].
#[derive(Debug)]
pub struct Principal {
    /// The owner's surface.
    pub surface: Surface,
    caller: Caller,
    kind: PrincipalKind,
}

impl Principal {
    /// Refuses who may not do that, without detail.
    pub fn need(&self, need: Need) -> Result<(), Problem> {
        self.caller.need(need)
    }

    /// Whether it may also do that: for an answer that shows some callers more than others.
    pub fn may(&self, need: Need) -> bool {
        self.caller.token().may(need)
    }

    /// Which credential it is.
    pub fn token(&self) -> TokenId {
        self.caller.token().id
    }

    /// For the record.
    pub fn by(&self) -> By {
        By { kind: self.kind, id: self.token().0.simple().to_string() }
    }

    /// As one who acts on the mailbox. Its authority is read again inside the transaction.
    pub fn answerer(&self) -> Answerer {
        Answerer { by: self.by(), token: self.token() }
    }

    /// As one who may cancel any handoff.
    pub fn canceller(&self) -> Canceller {
        Canceller::Authority(self.by())
    }

    /// Refuses once the token was revoked, has expired or may less than when the request came.
    pub fn still_stands(&self) -> Result<(), Problem> {
        self.caller.still_stands(self.access())
    }

    /// A place for an event stream, to be held as long as the stream is open.
    pub fn stream(&self) -> Result<StreamPlace, Problem> {
        self.access().stream(&self.caller)
    }

    /// The way in.
    pub fn access(&self) -> &Access {
        &self.surface.access
    }
}

impl FromRequestParts<Surface> for Principal {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, surface: &Surface) -> Result<Self, Problem> {
        let caller = Caller::from_request_parts(parts, surface).await?;
        let kind = match caller.token().kind {
            TokenKind::Operator => PrincipalKind::Operator,
            TokenKind::Device => PrincipalKind::Device,
            TokenKind::Captain | TokenKind::LaneText | TokenKind::LaneVoice | TokenKind::Account => {
                return Err(Problem::new(Reason::Forbidden));
            }
        };
        Ok(Self { surface: surface.clone(), caller, kind })
    }
}
