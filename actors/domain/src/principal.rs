//! Who may call: the principals that hold tokens, and the rules for their names.

use crate::grant::{Gateway, Transport};
use crate::ids::{LaneName, TokenId};
use crate::time::Timestamp;

/// What a token speaks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TokenKind {
    /// The owner.
    Operator,
    /// The agent's own service credential: it may raise asks and mail through its tools only.
    Captain,
    /// A text lane of the HTTP ingress.
    LaneText,
    /// A voice lane of the HTTP ingress.
    LaneVoice,
    /// A person in local rooms.
    Account,
}

impl TokenKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Operator, Self::Captain, Self::LaneText, Self::LaneVoice, Self::Account];

    /// The name on the command line and the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Captain => "captain",
            Self::LaneText => "lane-text",
            Self::LaneVoice => "lane-voice",
            Self::Account => "account",
        }
    }

    /// The word inside a token: letters only, so that `_` separates.
    pub fn tag(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Captain => "captain",
            Self::LaneText => "lanetext",
            Self::LaneVoice => "lanevoice",
            Self::Account => "account",
        }
    }

    /// Reads a kind by its name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Kinds whose names share one space: both lanes do, since room ids carry the lane's name.
    fn name_space(self) -> u8 {
        match self {
            Self::LaneText | Self::LaneVoice => 0,
            Self::Account => 1,
            Self::Operator => 2,
            Self::Captain => 3,
        }
    }

    /// Whether rooms or actors carry the name, so that it must not be reused after revocation.
    fn name_is_identity(self) -> bool {
        match self {
            Self::LaneText | Self::LaneVoice | Self::Account => true,
            Self::Operator | Self::Captain => false,
        }
    }
}

/// A stored token: the hash of its secret, never the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The public half.
    pub id: TokenId,
    /// What it speaks for.
    pub kind: TokenKind,
    /// Its name.
    pub name: LaneName,
    /// SHA-256 of the secret.
    pub secret_hash: [u8; 32],
    /// When it was made.
    pub created_at: Timestamp,
    /// When it stops by itself.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

/// Why no token was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenRefused {
    /// A live token has that name.
    #[error("a token of that name exists; revoke it first or choose another name")]
    NameTaken,
    /// The name stood in room or actor ids of a revoked token.
    #[error("that name was used by a revoked token and is not reused; choose another")]
    NameRetired,
    /// Too many tokens.
    #[error("there are 1000 tokens; revoke some first")]
    TooMany,
}

/// Most live tokens: each is read at most once a call, but lists must stay readable.
pub const TOKENS_MAX: usize = 1_000;

impl Token {
    /// The transport that the token speaks for, when rooms or actors carry its name.
    pub fn transport(&self) -> Option<Transport> {
        let gateway = match self.kind {
            TokenKind::LaneText | TokenKind::LaneVoice => Gateway::Ingress,
            TokenKind::Account => Gateway::Local,
            TokenKind::Operator | TokenKind::Captain => return None,
        };
        Some(Transport { gateway, lane: self.name.clone() })
    }

    /// Whether it is accepted at `now`.
    pub fn stands(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

/// Decides whether a token of that kind and name may be made beside `existing`.
pub fn may_create(existing: &[Token], kind: TokenKind, name: &LaneName) -> Result<(), TokenRefused> {
    let same = || existing.iter().filter(|t| t.kind.name_space() == kind.name_space() && t.name == *name);
    if same().any(|t| t.revoked_at.is_none()) {
        return Err(TokenRefused::NameTaken);
    }
    if kind.name_is_identity() && same().next().is_some() {
        return Err(TokenRefused::NameRetired);
    }
    if existing.iter().filter(|t| t.revoked_at.is_none()).count() >= TOKENS_MAX {
        return Err(TokenRefused::TooMany);
    }
    Ok(())
}
