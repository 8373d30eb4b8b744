//! Stored tokens: hashes, never secrets.

use clankie_domain::ids::{LaneName, TokenId};
use clankie_domain::principal::{Token, TokenKind};
use clankie_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Row, hex32, mirror_enum};

mirror_enum! {
    TokenKindRow = TokenKind { Operator, Captain, LaneText, LaneVoice, Account }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::store) struct TokenRow {
    id: TokenId,
    kind: TokenKindRow,
    name: LaneName,
    #[serde(with = "hex32")]
    secret_hash: [u8; 32],
    created_at: Timestamp,
    expires_at: Option<Timestamp>,
    last_used_at: Option<Timestamp>,
    revoked_at: Option<Timestamp>,
}

impl Row for TokenRow {
    const TABLE: &'static str = "tokens";
    const VERSION: u8 = 1;
}

impl From<Token> for TokenRow {
    fn from(from: Token) -> Self {
        let Token { id, kind, name, secret_hash, created_at, expires_at, last_used_at, revoked_at } = from;
        Self { id, kind: kind.into(), name, secret_hash, created_at, expires_at, last_used_at, revoked_at }
    }
}

impl From<TokenRow> for Token {
    fn from(from: TokenRow) -> Self {
        let TokenRow { id, kind, name, secret_hash, created_at, expires_at, last_used_at, revoked_at } = from;
        Self { id, kind: kind.into(), name, secret_hash, created_at, expires_at, last_used_at, revoked_at }
    }
}
