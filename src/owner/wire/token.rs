//! Tokens as the owner sees them. A secret is shown once, when it is made.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One token without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenBody {
    /// Its public half: 32 hexadecimal digits, as they stand in the token.
    pub id: String,
    /// `operator`, `captain`, `lane-text`, `lane-voice`, `account` or `device`.
    pub kind: String,
    /// What it speaks for.
    pub name: String,
    /// When it was made.
    pub created_at: String,
    /// When it stops by itself.
    pub expires_at: Option<String>,
    /// When it was last used, to the minute.
    pub last_used_at: Option<String>,
    /// When it was revoked.
    pub revoked_at: Option<String>,
}

/// A token that was just made, or has a new secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenMade {
    /// Without its secret.
    pub token: TokenBody,
    /// The whole token, `clk_…`: shown now and never again.
    pub secret: String,
}

impl fmt::Debug for TokenMade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenMade").field("token", &self.token).finish_non_exhaustive()
    }
}

/// Every token, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Tokens {
    /// Newest first, revoked ones included.
    pub tokens: Vec<TokenBody>,
}
