//! Words that wait for their start, after a time in which nobody was told what became of them.
//!
//! Edits and deletions are told live only. So the messages whose handoffs wait are looked at by every
//! new session, and by a lane that had to refuse something: there are at most as many as may wait.

use clankie_actors::{Clankie, HandoffQuery};
use clankie_domain::handoff::{HandoffRecord, StateName};
use clankie_domain::ids::RoomId;
use serenity::http::{LightMethod, Request, Route};
use serenity::model::channel::Message;
use serenity::model::id::{ChannelId, MessageId};
use tokio::time::Instant;

use super::identity::{channel_of, message_of};
use super::lane::{Lane, Reworded};
use super::lanes::{Item, Lanes, Roads};
use super::limits::CallError;
use super::places::At;
use super::rest::READ_DEADLINE;
use super::translate::attachment;

/// Handoffs of one state that are looked at: at most that many can wait.
const WAITING_MOST: usize = 256;
/// Discord's code of a message that is not there.
const UNKNOWN_MESSAGE: i64 = 10_008;

/// Has each lane look at the messages of its channel whose handoffs wait.
pub(super) fn look_at_all(roads: &Roads, lanes: &Lanes) {
    for record in waiting(&roads.clankie, None) {
        if let (Some(channel), Some(message)) = (channel_of(&record.room), message_of(&record.delivery)) {
            let guild = record.guild.as_deref().and_then(|guild| guild.parse().ok());
            lanes.put(At { guild, channel }, Item::Waits { message });
        }
    }
}

/// What waits, in one room or in all. What joined a handoff that waits itself has not begun either.
fn waiting(clankie: &Clankie, room: Option<&RoomId>) -> Vec<HandoffRecord> {
    let of = |state| {
        let query = HandoffQuery { room: room.cloned(), state: Some(state), limit: WAITING_MOST, ..Default::default() };
        clankie.handoffs(&query).map(|page| page.handoffs).unwrap_or_default()
    };
    [StateName::Pending, StateName::Joined].into_iter().flat_map(of).collect()
}

impl Lane {
    /// Looks at every message of this channel whose handoff waits.
    pub(super) async fn look_at_own(&mut self) {
        let Ok(room) = self.at.room() else { return };
        let waiting = waiting(&self.roads.clankie, Some(&room));
        for message in waiting.iter().filter_map(|record| message_of(&record.delivery)) {
            self.waits(message).await;
        }
    }

    /// Takes back what was deleted, and replaces what was edited.
    pub(super) async fn waits(&mut self, id: u64) {
        match self.fetched(id).await {
            Ok(message) if message.edited_timestamp.is_some() => {
                let files = Some(message.attachments.iter().map(attachment).collect());
                let author = Some(message.author.id.get());
                self.reworded(Reworded { id, author, content: &message.content, files }).await;
            }
            Ok(_) => {}
            Err(CallError::Refused { code: UNKNOWN_MESSAGE, .. }) => self.deleted(id).await,
            Err(error) => {
                tracing::info!(message = id, %error, "nobody can say whether a message that waits was changed")
            }
        }
    }

    async fn fetched(&self, id: u64) -> Result<Message, CallError> {
        let _reading = self.roads.readers.acquire().await;
        let (channel_id, message_id) = (ChannelId::new(self.at.channel), MessageId::new(id));
        let request = Request::new(Route::ChannelMessage { channel_id, message_id }, LightMethod::Get);
        let bucket = format!("message {}", self.at.channel);
        self.roads.shared.rest.call(&bucket, request, Instant::now() + READ_DEADLINE).await
    }
}
