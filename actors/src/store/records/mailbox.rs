//! Stored counters of a conversation's mailbox.

use clankie_domain::ids::{ConversationId, IncarnationId, RoomId};
use clankie_domain::mailbox::Head;

use super::{Row, mirror_struct};

mirror_struct! {
    MailboxRow = Head {
        conversation: ConversationId,
        room: Option<RoomId>,
        incarnation: IncarnationId,
        revision: u64,
        version: u64,
        next_ask: u64,
        next_update: u64,
    }
}

impl Row for MailboxRow {
    const TABLE: &'static str = "mailboxes";
    const VERSION: u8 = 1;
}
