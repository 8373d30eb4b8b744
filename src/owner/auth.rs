//! Who is the owner: the operator's credential, and the file that the first one is kept in.
//!
//! Authority is the kind of a stored token, never a name, a header or a field of a request.

mod token_file;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use clankie_domain::admission::room::Canceller;
use clankie_domain::principal::TokenKind;
use clankie_domain::result::{By, PrincipalKind};

pub use token_file::{Kept, TokenFileError, check_before_start, keep};

use super::http::Surface;
use crate::http::bearer::{Access, Caller};
use crate::http::problem::Problem;

/// The owner, by an operator token that stood when the request came.
#[derive(Debug)]
pub struct Operator {
    /// Their surface.
    pub surface: Surface,
    caller: Caller,
}

impl Operator {
    /// For the record.
    pub fn by(&self) -> By {
        By { kind: PrincipalKind::Operator, id: self.caller.token().id.0.simple().to_string() }
    }

    /// As one who may cancel any handoff.
    pub fn canceller(&self) -> Canceller {
        Canceller::Authority(self.by())
    }

    /// Refuses once the token was revoked or has expired.
    pub fn still_stands(&self) -> Result<(), Problem> {
        self.caller.still_stands(self.access())
    }

    /// The way in.
    pub fn access(&self) -> &Access {
        &self.surface.access
    }
}

impl FromRequestParts<Surface> for Operator {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, surface: &Surface) -> Result<Self, Problem> {
        let caller = Caller::from_request_parts(parts, surface).await?;
        caller.only(&[TokenKind::Operator])?;
        Ok(Self { surface: surface.clone(), caller })
    }
}
