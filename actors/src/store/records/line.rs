//! Stored lines of a conversation's display: what it shows of accepted answers.

use clankie_domain::ids::{ConversationId, RequestId};
use clankie_domain::message::AnswerLine;
use clankie_domain::time::Timestamp;

use super::result::ByRow;
use super::{Row, mirror_struct};

mirror_struct! {
    AnswerLineRow = AnswerLine { conversation: ConversationId, request: RequestId, by: ByRow, text: String, at: Timestamp }
}

impl Row for AnswerLineRow {
    const TABLE: &'static str = "display";
    const VERSION: u8 = 1;
}
