//! Stored claims: how far an accepted answer has come.

use clankie_domain::claim::{Claim, ClaimState, Seen};
use clankie_domain::ids::{ConversationId, HandoffId, RequestId, RunId, TokenId};
use clankie_domain::result::FailCode;
use clankie_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Row, mirror_enum, mirror_struct};

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::store) enum ClaimStateRow {
    Claimed,
    Dispatching,
    Delivered,
    Uncertain,
    Returned(String),
}

impl From<ClaimState> for ClaimStateRow {
    fn from(from: ClaimState) -> Self {
        match from {
            ClaimState::Claimed => Self::Claimed,
            ClaimState::Dispatching => Self::Dispatching,
            ClaimState::Delivered => Self::Delivered,
            ClaimState::Uncertain => Self::Uncertain,
            ClaimState::Returned(why) => Self::Returned(why.as_str().to_owned()),
        }
    }
}

impl From<ClaimStateRow> for ClaimState {
    fn from(from: ClaimStateRow) -> Self {
        match from {
            ClaimStateRow::Claimed => Self::Claimed,
            ClaimStateRow::Dispatching => Self::Dispatching,
            ClaimStateRow::Delivered => Self::Delivered,
            ClaimStateRow::Uncertain => Self::Uncertain,
            ClaimStateRow::Returned(why) => Self::Returned(FailCode::parse(&why)),
        }
    }
}

mirror_enum! {
    SeenRow = Seen { No, Yes }
}

mirror_struct! {
    ClaimRow = Claim {
        request: RequestId,
        conversation: ConversationId,
        handoff: Option<HandoffId>,
        run: RunId,
        answerer: TokenId,
        state: ClaimStateRow,
        at: Timestamp,
        seen: SeenRow,
    }
}

impl Row for ClaimRow {
    const TABLE: &'static str = "claims";
    const VERSION: u8 = 1;
}
