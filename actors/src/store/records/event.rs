//! Stored events.

use clankie_domain::event::Event;
use clankie_domain::handoff::StateName;
use clankie_domain::ids::{HandoffId, RoomId};
use clankie_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Row, mirror_enum};

mirror_enum! {
    StateNameRow = StateName { Pending, Running, Joined, Completed, Absorbed, WaitingUser, Failed, Cancelled }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(in crate::store) enum WhatRow {
    Handoff { id: HandoffId, room: RoomId, state: StateNameRow, revision: u64 },
    Message { room: RoomId },
}

impl From<Event> for WhatRow {
    fn from(from: Event) -> Self {
        match from {
            Event::Handoff { id, room, state, revision } => Self::Handoff { id, room, state: state.into(), revision },
            Event::Message { room } => Self::Message { room },
        }
    }
}

impl From<WhatRow> for Event {
    fn from(from: WhatRow) -> Self {
        match from {
            WhatRow::Handoff { id, room, state, revision } => Self::Handoff { id, room, state: state.into(), revision },
            WhatRow::Message { room } => Self::Message { room },
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
