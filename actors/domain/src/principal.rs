//! Who may call: the principals that hold tokens, and the rules for their names.

use std::collections::BTreeSet;

use crate::grant::{Gateway, Transport};
use crate::ids::{LaneName, TokenId};
use crate::scope::{self, Need};
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
    /// A paired device of the owner.
    Device,
}

/// What a paired device may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeviceGrant {
    /// Talk in local rooms.
    Chat,
    /// Cancel and message handoffs.
    Steer,
    /// Read handoffs and transcripts.
    Observe,
    /// All of the mailbox.
    TerminalControl,
    /// Approve devices.
    DeviceAdmin,
}

impl DeviceGrant {
    /// Every grant.
    pub const ALL: [Self; 5] = [Self::Chat, Self::Steer, Self::Observe, Self::TerminalControl, Self::DeviceAdmin];

    /// The grant as the contract writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Steer => "steer",
            Self::Observe => "observe",
            Self::TerminalControl => "terminal_control",
            Self::DeviceAdmin => "device_admin",
        }
    }

    /// Reads a grant by its name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|grant| grant.as_str() == name)
    }
}

impl TokenKind {
    /// Every kind.
    pub const ALL: [Self; 6] =
        [Self::Operator, Self::Captain, Self::LaneText, Self::LaneVoice, Self::Account, Self::Device];

    /// The name on the command line and the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Captain => "captain",
            Self::LaneText => "lane-text",
            Self::LaneVoice => "lane-voice",
            Self::Account => "account",
            Self::Device => "device",
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
            Self::Device => "device",
        }
    }

    /// Reads a kind by its name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Kinds whose names share one space: both lanes do, since room ids carry the lane's name, and
    /// people and devices do, since what they say in local rooms carries theirs.
    fn name_space(self) -> u8 {
        match self {
            Self::LaneText | Self::LaneVoice => 0,
            Self::Account | Self::Device => 1,
            Self::Operator => 2,
            Self::Captain => 3,
        }
    }

    /// Whether rooms or actors carry the name, so that it must not be reused after revocation.
    fn name_is_identity(self) -> bool {
        match self {
            Self::LaneText | Self::LaneVoice | Self::Account | Self::Device => true,
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
    /// What a device called itself when it was paired; nothing for other kinds. Never authority.
    pub reported_name: Option<String>,
    /// What a device may do; nothing for other kinds.
    pub grants: BTreeSet<DeviceGrant>,
    /// SHA-256 of the secret.
    pub secret_hash: [u8; 32],
    /// The secret before the last rotation, while it still works.
    pub former: Option<Former>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it stops by itself.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

/// A secret that was replaced and works a little longer, so that its holder can take the new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Former {
    /// SHA-256 of the secret.
    pub secret_hash: [u8; 32],
    /// When it stops.
    pub until: Timestamp,
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
/// How long a replaced secret works beside the new one: long enough to put the new one in its place.
pub const OVERLAP_MS: u64 = 60_000;

impl Token {
    /// The transport that the token speaks for, when rooms or actors carry its name.
    pub fn transport(&self) -> Option<Transport> {
        let gateway = match self.kind {
            TokenKind::LaneText | TokenKind::LaneVoice => Gateway::Ingress,
            TokenKind::Account | TokenKind::Device => Gateway::Local,
            TokenKind::Operator | TokenKind::Captain => return None,
        };
        Some(Transport { gateway, lane: self.name.clone() })
    }

    /// Whether it may do what needs `need` while it stands.
    pub fn may(&self, need: Need) -> bool {
        scope::may(self.kind, &self.grants, need)
    }

    /// Whether nothing that was said in its name is heard any more: it was revoked, or it is a device
    /// that may not talk now.
    pub fn is_silenced(&self) -> bool {
        self.revoked_at.is_some() || (self.kind == TokenKind::Device && !self.may(Need::Chat))
    }

    /// The hashes of the secrets that work at `now`; none when the token does not stand.
    pub fn secrets(&self, now: Timestamp) -> Vec<[u8; 32]> {
        if !self.stands(now) {
            return Vec::new();
        }
        let former = self.former.filter(|former| now < former.until).map(|former| former.secret_hash);
        std::iter::once(self.secret_hash).chain(former).collect()
    }

    /// The same token with another secret; the one before works for [`OVERLAP_MS`] more. `None` when
    /// it does not stand: nothing brings a revoked token back.
    pub fn rotated(&self, secret_hash: [u8; 32], now: Timestamp) -> Option<Self> {
        let former = Some(Former { secret_hash: self.secret_hash, until: now.plus(OVERLAP_MS) });
        self.stands(now).then(|| Self { secret_hash, former, ..self.clone() })
    }

    /// The same token, revoked: no secret of it works from then on.
    pub fn revoked(&self, now: Timestamp) -> Self {
        Self { revoked_at: Some(now), former: None, ..self.clone() }
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
    if is_full(existing) { Err(TokenRefused::TooMany) } else { Ok(()) }
}

/// Whether there are as many live tokens as may be.
pub fn is_full(existing: &[Token]) -> bool {
    existing.iter().filter(|token| token.revoked_at.is_none()).count() >= TOKENS_MAX
}

#[cfg(test)]
mod tests;
