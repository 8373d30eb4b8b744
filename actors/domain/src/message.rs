//! What was said in a room: people's words, the agent's replies, updates and notices, as quotes.

use crate::ids::{ActorId, ConversationId, DeliveryId, HandoffId, RequestId, RoomId};
use crate::result::By;
use crate::time::Timestamp;

/// What kind of thing was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MessageKind {
    /// A person spoke.
    Person,
    /// The reply to a delivery.
    Reply,
    /// A word on the way, by `send_text_update`.
    Update,
    /// A reaction to the triggering message.
    Reaction,
    /// A fixed sentence of the service, when there is no reply.
    Notice,
}

/// One thing said in a room. The store gives it its place in the room's order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RoomMessage {
    /// Where.
    pub room: RoomId,
    /// Its own id, unique in the room.
    pub id: String,
    /// What kind of thing.
    pub kind: MessageKind,
    /// The person, for [`MessageKind::Person`].
    pub author: Option<ActorId>,
    /// How the author is shown.
    pub author_name: String,
    /// The words, or the name of the reaction.
    pub text: String,
    /// The delivery that it answers.
    pub reply_to: Option<DeliveryId>,
    /// The handoff that it belongs to.
    pub handoff: HandoffId,
    /// When.
    pub at: Timestamp,
}

/// What a conversation's display shows of an accepted answer. It carries no authority, is kept apart
/// from what was said in the room, and reaches no model.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AnswerLine {
    /// Where it is shown.
    pub conversation: ConversationId,
    /// The ask that was answered.
    pub request: RequestId,
    /// Who answered.
    pub by: By,
    /// The prompt, `You answered:` and the chosen label or the words.
    pub text: String,
    /// When.
    pub at: Timestamp,
}
