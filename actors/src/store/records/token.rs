//! Stored tokens: hashes, never secrets.
//!
//! What only devices and rotated tokens have is left out of the rows of all others.

use clankie_domain::ids::{LaneName, TokenId};
use clankie_domain::principal::{DeviceGrant, Former, Token, TokenKind};
use clankie_domain::time::Timestamp;

use super::{Row, hex, mirror_enum, mirror_struct};

mirror_enum! {
    TokenKindRow = TokenKind { Operator, Captain, LaneText, LaneVoice, Account, Device }
}

mirror_enum! {
    DeviceGrantRow = DeviceGrant { Chat, Steer, Observe, TerminalControl, DeviceAdmin }
}

mirror_struct! {
    FormerRow = Former {
        #[serde(with = "hex")]
        secret_hash: [u8; 32],
        until: Timestamp,
    }
}

mirror_struct! {
    TokenRow = Token {
        id: TokenId,
        kind: TokenKindRow,
        name: LaneName,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reported_name: Option<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        grants: Vec<DeviceGrantRow> => each,
        #[serde(with = "hex")]
        secret_hash: [u8; 32],
        #[serde(default, skip_serializing_if = "Option::is_none")]
        former: Option<FormerRow> => maybe,
        created_at: Timestamp,
        expires_at: Option<Timestamp>,
        last_used_at: Option<Timestamp>,
        revoked_at: Option<Timestamp>,
    }
}

impl Row for TokenRow {
    const TABLE: &'static str = "tokens";
    const VERSION: u8 = 1;
}
