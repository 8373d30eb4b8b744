//! Pages of what was said in a room, oldest first.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use clankie_domain::ids::RoomId;
use clankie_domain::message::{MessageKind, RoomMessage};

use crate::http::bearer::{Access, Caller};
use crate::http::problem::Problem;
use crate::http::query::After;
use crate::http::wait::{Progress, until};
use crate::http::wire::{RoomMessageBody, RoomMessages};

/// Messages of one page: at most three MiB of text.
const PAGE: usize = 200;

/// Whose words a reader gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// Everybody's.
    All,
    /// The agent's only: a lane knows what its people said.
    Agent,
}

impl Whose {
    fn includes(self, message: &RoomMessage) -> bool {
        match (self, message.kind) {
            (Self::All, _) => true,
            (Self::Agent, MessageKind::Person) => false,
            (Self::Agent, MessageKind::Reply | MessageKind::Update | MessageKind::Reaction | MessageKind::Notice) => {
                true
            }
        }
    }
}

/// A reader of one room.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pub(super) access: &'a Access,
    pub(super) caller: &'a Caller,
    pub(super) room: &'a RoomId,
    pub(super) whose: Whose,
}

impl Reader<'_> {
    /// What was said after `query.after`; with a wait, as soon as there is anything.
    pub(super) async fn page(&self, query: After, wait: Duration) -> Result<RoomMessages, Problem> {
        let read = AtomicU64::new(query.after);
        let clankie = self.access.clankie();
        let more = |slice| clankie.wait_message(self.room, read.load(Ordering::Relaxed), slice);
        until(wait, || self.look(&read), more).await
    }

    /// Reads on from `read`, which moves past whatever is not for this reader.
    fn look(&self, read: &AtomicU64) -> Result<Progress<RoomMessages>, Problem> {
        self.caller.still_stands(self.access)?;
        let mut after = read.load(Ordering::Relaxed);
        loop {
            let said = self.access.clankie().messages(self.room, after, PAGE)?;
            let full = said.len() == PAGE;
            after = said.last().map_or(after, |(seq, _)| *seq);
            read.store(after, Ordering::Relaxed);
            let page = self.shown(&said, after);
            match (page.messages.is_empty(), full) {
                (false, _) => return Ok(Progress::Done(page)),
                (true, false) => return Ok(Progress::NotYet(page)),
                (true, true) => {}
            }
        }
    }

    fn shown(&self, said: &[(u64, RoomMessage)], next: u64) -> RoomMessages {
        let shown = said.iter().filter(|(_, message)| self.whose.includes(message));
        let messages = shown.map(|(seq, message)| RoomMessageBody::from((*seq, message))).collect();
        RoomMessages { room: self.room.to_string(), messages, next }
    }
}
