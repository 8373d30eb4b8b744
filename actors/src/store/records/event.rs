//! Stored events.

use std::sync::Arc;

use clankie_domain::ask::AskStatus;
use clankie_domain::claim::ClaimState;
use clankie_domain::event::Event;
use clankie_domain::handoff::StateName;
use clankie_domain::ids::{ConversationId, HandoffId, RequestId, RoomId, UpdateId};
use clankie_domain::time::Timestamp;
use clankie_domain::update::UpdateState;
use serde::{Deserialize, Serialize};

use super::ask::AskRow;
use super::claim::ClaimStateRow;
use super::update::UpdateStateRow;
use super::{Row, mirror_enum};

mirror_enum! {
    StateNameRow = StateName { Pending, Running, Joined, Completed, Absorbed, WaitingUser, Failed, Cancelled }
}

mirror_enum! {
    AskStatusRow = AskStatus { Pending, Submitted, Cancelled }
}

/// What changed. A new ask is kept whole, since its event carries its content and may outlive it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(in crate::store) enum WhatRow {
    Handoff { id: HandoffId, room: RoomId, state: StateNameRow, revision: u64 },
    Message { room: RoomId },
    InputRequested(Box<AskRow>),
    InputResolved { conversation: ConversationId, request: RequestId, outcome: AskStatusRow },
    InputClaim { conversation: ConversationId, request: RequestId, state: ClaimStateRow },
    Update { conversation: ConversationId, id: UpdateId, state: UpdateStateRow },
}

impl From<WhatRow> for Event {
    fn from(from: WhatRow) -> Self {
        match from {
            WhatRow::Handoff { id, room, state, revision } => Self::Handoff { id, room, state: state.into(), revision },
            WhatRow::Message { room } => Self::Message { room },
            WhatRow::InputRequested(ask) => Self::InputRequested(Arc::new((*ask).into())),
            WhatRow::InputResolved { conversation, request, outcome } => {
                Self::InputResolved { conversation, request, outcome: outcome.into() }
            }
            WhatRow::InputClaim { conversation, request, state } => {
                Self::InputClaim { conversation, request, state: ClaimState::from(state).name() }
            }
            WhatRow::Update { conversation, id, state } => {
                Self::Update { conversation, id, state: UpdateState::from(state).name() }
            }
        }
    }
}

/// An event and the newest moment that its change names, by which it is pruned.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::store) struct EventRow {
    pub(in crate::store) at: Timestamp,
    pub(in crate::store) what: WhatRow,
}

impl Row for EventRow {
    const TABLE: &'static str = "events";
    const VERSION: u8 = 1;
}
