//! Stored permits: one row for each run whose process group may still be there.

use clankie_domain::ids::{HandoffId, PermitId, RoomId, RunId};

use super::{Row, mirror_struct};
use crate::store::HeldPermit;

mirror_struct! {
    PermitRow = HeldPermit { permit: PermitId, room: RoomId, handoff: HandoffId, run: RunId }
}

impl Row for PermitRow {
    const TABLE: &'static str = "permits";
    const VERSION: u8 = 1;
}
