//! The front door's part of the owner's mailbox: lists from one snapshot, and the calls that decide.

use clankie_domain::answer::Answer;
use std::collections::BTreeMap;

use clankie_domain::ask::AskStatus;
use clankie_domain::ids::{ConversationId, RequestId, RunId, UpdateId};
use clankie_domain::mailbox::{Aim, Answerer, Entry, Head, MailOutcome, MailRefusal};
use clankie_domain::message::{AnswerLine, RoomMessage};
use clankie_domain::update::OwnerUpdate;
use uuid::Uuid;

use super::{Clankie, Failure};
use crate::digest;
use crate::system::mailbox::{Called, What};

/// Which asks to list. Newest first; equal moments: newest insertion first inside a conversation,
/// then by conversation id.
#[derive(Debug, Clone, Default)]
pub struct AskQuery {
    /// Only this conversation's.
    pub conversation: Option<ConversationId>,
    /// Only those of this run.
    pub run: Option<RunId>,
    /// Only this status.
    pub status: Option<AskStatus>,
    /// Only what comes after this place of an earlier page.
    pub after: Option<ListPlace>,
    /// At most this many.
    pub limit: usize,
}

/// A place in a list of the mailbox, in the list's own order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListPlace {
    /// The moment of the last record, in milliseconds.
    pub at: i64,
    /// Its conversation.
    pub conversation: ConversationId,
    /// Its place in that conversation.
    pub seq: u64,
}

/// One ask with its conversation's counters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskView {
    /// The ask and what became of it.
    pub entry: Entry,
    /// Its conversation's counters, of the same snapshot.
    pub head: Head,
}

/// One page of asks, of one snapshot.
#[derive(Debug, Clone)]
pub struct AskPage {
    /// In the list's order.
    pub asks: Vec<AskView>,
    /// Where the next page goes on, when there is more.
    pub next: Option<ListPlace>,
    /// What waits in all of the mailbox.
    pub counts: MailCounts,
    /// Sequence number of the last event that the snapshot contains.
    pub last_event: u64,
    /// Identity of the store.
    pub epoch: Uuid,
}

/// Which updates to list, newest first.
#[derive(Debug, Clone, Default)]
pub struct UpdateQuery {
    /// Only this conversation's.
    pub conversation: Option<ConversationId>,
    /// Which states.
    pub show: UpdateFilter,
    /// At most this many.
    pub limit: usize,
}

/// Which updates are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UpdateFilter {
    /// What was not put away.
    #[default]
    Open,
    /// What was not read.
    Unread,
    /// What was read and not put away.
    Read,
    /// What was put away.
    Dismissed,
    /// All.
    All,
}

/// One page of updates, of one snapshot.
#[derive(Debug, Clone)]
pub struct UpdatePage {
    /// Newest first.
    pub updates: Vec<OwnerUpdate>,
    /// What waits in all of the mailbox.
    pub counts: MailCounts,
    /// Sequence number of the last event that the snapshot contains.
    pub last_event: u64,
    /// Identity of the store.
    pub epoch: Uuid,
}

/// What waits for the owner.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MailCounts {
    /// Asks that are pending.
    pub asks: u64,
    /// Updates that are unread.
    pub updates: u64,
}

/// One conversation as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationSummary {
    /// Which.
    pub conversation: ConversationId,
    /// Its room's id, for a room conversation.
    pub room: Option<clankie_domain::ids::RoomId>,
    /// Its mailbox's counters, when it has ever had mail.
    pub head: Option<Head>,
    /// Its asks that are pending.
    pub pending: u64,
}

/// One line of a conversation's display: what was said in its room, or an answer that was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DisplayLine {
    /// Said in the room.
    Said(RoomMessage),
    /// An accepted answer. Surfaces render it and nothing else does.
    Answered(AnswerLine),
}

/// What a call of an owner comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MailReply {
    /// Resolved as wanted, now or before: its receipt.
    Resolved(Box<AskView>),
    /// What the caller had read is not how it stands.
    RevisionConflict(Box<AskView>),
    /// Nothing changed for the caller.
    Refused(MailRefusal, Option<Box<AskView>>),
    /// An update stands so.
    Update(Box<OwnerUpdate>),
}

impl Clankie {
    /// Lists asks. The caller has authenticated an owner.
    pub fn asks(&self, query: &AskQuery) -> Result<AskPage, Failure> {
        Ok(self.store.snapshot()?.asks(query)?)
    }

    /// One ask.
    pub fn ask_of(&self, conversation: &ConversationId, request: RequestId) -> Result<Option<AskView>, Failure> {
        Ok(self.store.snapshot()?.ask(conversation, request)?)
    }

    /// The conversation of an ask.
    pub fn conversation_of(&self, request: RequestId) -> Result<Option<ConversationId>, Failure> {
        Ok(self.store.snapshot()?.conversation_of(request)?)
    }

    /// Lists updates.
    pub fn updates(&self, query: &UpdateQuery) -> Result<UpdatePage, Failure> {
        Ok(self.store.snapshot()?.updates(query)?)
    }

    /// What waits for the owner.
    pub fn mail_counts(&self) -> Result<MailCounts, Failure> {
        Ok(self.store.snapshot()?.mail_counts()?)
    }

    /// Every conversation: each room in which anything is kept, and each that has mail.
    pub fn conversations(&self) -> Result<Vec<ConversationSummary>, Failure> {
        let snapshot = self.store.snapshot()?;
        let mut found = BTreeMap::new();
        for summary in snapshot.rooms()? {
            if let Ok(conversation) = digest::room_conversation(&summary.room) {
                let room = Some(summary.room);
                found.insert(conversation.clone(), ConversationSummary { conversation, room, head: None, pending: 0 });
            }
        }
        for (head, pending) in snapshot.heads()? {
            let (conversation, room) = (head.conversation.clone(), head.room.clone());
            let summary = ConversationSummary { conversation: conversation.clone(), room, head: Some(head), pending };
            found.insert(conversation, summary);
        }
        Ok(found.into_values().collect())
    }

    /// A conversation's accepted answers as its display shows them, after the place `after`, oldest
    /// first, each with its place. What was said in its room is read by [`Clankie::messages`].
    pub fn answers_shown(
        &self,
        conversation: &ConversationId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<(u64, AnswerLine)>, Failure> {
        Ok(self.store.snapshot()?.display(conversation, after, limit)?)
    }

    /// Answers an ask. Accepted means stored together with the continuation that it promises.
    pub async fn answer(
        &self,
        conversation: &ConversationId,
        aim: Aim,
        answer: Answer,
        by: Answerer,
    ) -> Result<MailReply, Failure> {
        let request = aim.request;
        let run = RunId(self.ids.uuid());
        self.mail(conversation, What::Answer { aim, answer, by, run }, request).await
    }

    /// Cancels an ask; it is shown as cancelled everywhere.
    pub async fn cancel_ask(
        &self,
        conversation: &ConversationId,
        aim: Aim,
        by: Answerer,
    ) -> Result<MailReply, Failure> {
        let request = aim.request;
        self.mail(conversation, What::Cancel { aim, by }, request).await
    }

    /// Takes note of an answer that was not delivered.
    pub async fn mark_seen(&self, request: RequestId, by: Answerer) -> Result<MailReply, Failure> {
        match self.store.snapshot()?.conversation_of(request)? {
            Some(conversation) => self.mail(&conversation, What::MarkSeen { request, by }, request).await,
            None => Ok(self.refused(&by, MailRefusal::StaleRequest)),
        }
    }

    /// Marks an update as read.
    pub async fn read_update(&self, id: UpdateId, by: Answerer) -> Result<MailReply, Failure> {
        self.on_update(id, &by.clone(), What::Read { id, by }).await
    }

    /// Puts an update away.
    pub async fn dismiss_update(&self, id: UpdateId, by: Answerer) -> Result<MailReply, Failure> {
        self.on_update(id, &by.clone(), What::Dismiss { id, by }).await
    }

    async fn on_update(&self, id: UpdateId, by: &Answerer, what: What) -> Result<MailReply, Failure> {
        let Some(update) = self.store.snapshot()?.update(id)? else {
            return Ok(self.refused(by, MailRefusal::UnknownUpdate));
        };
        let outcome = self.called(&update.conversation, what).await?;
        if let MailOutcome::Updated(_) = outcome {
            let update = self.store.snapshot()?.update(id)?.unwrap_or(update);
            return Ok(MailReply::Update(Box::new(update)));
        }
        Ok(refusal(&outcome))
    }

    /// Authority comes before everything else, also where there is nothing to decide on.
    fn refused(&self, by: &Answerer, why: MailRefusal) -> MailReply {
        let may = self.rooms.authority().may_answer(by.token, self.clock.now());
        MailReply::Refused(if may { why } else { MailRefusal::OwnerUnavailable }, None)
    }

    async fn mail(&self, conversation: &ConversationId, what: What, request: RequestId) -> Result<MailReply, Failure> {
        let outcome = self.called(conversation, what).await?;
        let view = self.store.snapshot()?.ask(conversation, request)?.map(Box::new);
        Ok(match (outcome, view) {
            (MailOutcome::Accepted(_) | MailOutcome::Resolved(_), Some(view)) => MailReply::Resolved(view),
            (MailOutcome::RevisionConflict(_), Some(view)) => MailReply::RevisionConflict(view),
            (MailOutcome::Refused(why, of), view) => MailReply::Refused(why, of.and(view)),
            (outcome, _) => refusal(&outcome),
        })
    }

    async fn called(&self, conversation: &ConversationId, what: What) -> Result<MailOutcome, Failure> {
        let accepted = match &what {
            What::Answer { aim, .. } => Some(aim.request),
            What::Publish { .. }
            | What::Cancel { .. }
            | What::MarkSeen { .. }
            | What::Mail { .. }
            | What::Read { .. }
            | What::Dismiss { .. } => None,
        };
        self.store.health()?;
        match (self.mail.call(conversation.clone(), what).await, accepted) {
            (Called::Outcome(outcome), _) => Ok(outcome),
            (Called::Accepted, Some(request)) => Ok(MailOutcome::Accepted(request)),
            (Called::Failed(why), _) => Err(why.into()),
            (Called::Busy, _) => Ok(MailOutcome::Refused(MailRefusal::Busy, None)),
            (Called::Accepted | Called::RunOver | Called::Unknown, _) => Err(match self.store.health() {
                Err(stopped) => stopped.into(),
                Ok(()) => Failure::Restarting,
            }),
        }
    }
}

/// What is left of an outcome that no owner's call comes to.
fn refusal(outcome: &MailOutcome) -> MailReply {
    match outcome {
        MailOutcome::Refused(why, _) => MailReply::Refused(*why, None),
        MailOutcome::Asked(_)
        | MailOutcome::AlreadyAsked(_)
        | MailOutcome::NotPublished(_)
        | MailOutcome::Accepted(_)
        | MailOutcome::Resolved(_)
        | MailOutcome::RevisionConflict(_)
        | MailOutcome::Mailed(_)
        | MailOutcome::AlreadyMailed(_)
        | MailOutcome::Updated(_)
        | MailOutcome::CancelledAll(_) => MailReply::Refused(MailRefusal::StaleRequest, None),
    }
}
