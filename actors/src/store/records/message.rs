//! Stored room messages.

use clankie_domain::ids::{ActorId, DeliveryId, HandoffId, RoomId};
use clankie_domain::message::{MessageKind, RoomMessage};
use clankie_domain::time::Timestamp;

use super::{Row, mirror_enum, mirror_struct};

mirror_enum! {
    MessageKindRow = MessageKind { Person, Reply, Update, Reaction, Notice }
}

mirror_struct! {
    MessageRow = RoomMessage {
        room: RoomId,
        id: String,
        kind: MessageKindRow,
        author: Option<ActorId>,
        author_name: String,
        text: String,
        reply_to: Option<DeliveryId>,
        handoff: HandoffId,
        at: Timestamp,
    }
}

impl Row for MessageRow {
    const TABLE: &'static str = "messages";
    const VERSION: u8 = 1;
}
