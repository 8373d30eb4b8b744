//! One conversation's part of the owner's mailbox: its asks, its updates, and every decision on them.
//!
//! [`Mailbox::decide`] reads this value and says what is next and which changes make one durable
//! commit. An accepted answer is the one decision whose changes go into somebody else's commit: the
//! room composes them with the continuation that they promise.
//!
//! Invariants: M1 (with [`crate::claim`]), M2, M3, M5, M6.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::ask::{Ask, Resolution};
use crate::claim::Claim;
use crate::ids::{ConversationId, IncarnationId, RequestId, RoomId, UpdateId};
use crate::message::AnswerLine;
use crate::time::Timestamp;
use crate::update::OwnerUpdate;

mod answer;
mod cancel;
mod changing;
mod context;
mod input;
mod keep;
mod outcome;
mod publish;
mod updates;

use answer::Call;
use publish::Posted;
use updates::{News, UpdateMove};

pub use context::{ContextFact, Facts, MailContext, NativeFact, WorkerFact};
pub use input::{Aim, Answerer, MailInput, MintedAsk, Offered};
pub use outcome::{MailDecision, MailOutcome, MailRefusal, PublishRefused};

/// Most asks, and most updates, of one conversation.
pub const RECORDS_MAX: usize = 256;
/// Most bytes of the asks, and of the updates, of one conversation.
pub const BYTES_MAX: usize = 512_000;
/// Settled asks, and dismissed updates, that a conversation keeps.
pub const SETTLED_KEPT: usize = 32;
/// What stands as the request of a continuation; its runner reads the answer from the ask.
pub const CONTINUATION_REQUEST: &str = "(the owner's answer to an earlier question)";

/// A conversation's counters: one row.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Head {
    /// Whose.
    pub conversation: ConversationId,
    /// The room of a room conversation.
    pub room: Option<RoomId>,
    /// The conversation's life.
    pub incarnation: IncarnationId,
    /// Moves by one with every decision that publishes or resolves asks, and with nothing else.
    pub revision: u64,
    /// Moves by one with every commit of this mailbox; what a commit is fenced by.
    pub version: u64,
    /// The place of the next ask.
    pub next_ask: u64,
    /// The place of the next update.
    pub next_update: u64,
}

/// One ask and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Entry {
    /// As it was published.
    pub ask: Arc<Ask>,
    /// What became of it.
    pub resolution: Resolution,
    /// How far its answer has come.
    pub claim: Option<Claim>,
}

/// One conversation's part of the mailbox.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Mailbox {
    /// Its counters.
    pub head: Head,
    /// Its asks. Shared, so that a decision that changes one copies no other.
    pub asks: BTreeMap<RequestId, Arc<Entry>>,
    /// Its updates.
    pub updates: BTreeMap<UpdateId, Arc<OwnerUpdate>>,
}

/// One durable change of the mailbox. All changes of a decision are one transaction.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MailChange {
    /// The counters after it. Comes with every change but a claim's move.
    Head(Head),
    /// A new ask.
    Asked(Arc<Ask>),
    /// What became of an ask.
    Resolved {
        /// Which.
        ask: Arc<Ask>,
        /// What became of it.
        resolution: Resolution,
    },
    /// A settled ask is not kept any more.
    AskGone(Arc<Ask>),
    /// How far an answer has come.
    Claim(Claim),
    /// An update, new or moved.
    Update(Arc<OwnerUpdate>),
    /// A dismissed update is not kept any more.
    UpdateGone(Arc<OwnerUpdate>),
    /// What the conversation's display shows of an answer.
    Shown(AnswerLine),
    /// A category that an Approve opened was used, once and for all.
    GateUsed {
        /// The ask that was approved.
        request: RequestId,
        /// When.
        at: Timestamp,
    },
}

/// What a call finds where its conversation should be.
#[derive(Debug, Clone, Copy)]
pub enum Found<'a> {
    /// Nothing.
    Nothing,
    /// A row that cannot be read.
    Unreadable,
    /// The mailbox.
    Mailbox(&'a Mailbox),
}

impl Mailbox {
    /// A mailbox without mail.
    pub fn new(conversation: ConversationId, room: Option<RoomId>, incarnation: IncarnationId) -> Self {
        let head = Head { conversation, room, incarnation, revision: 0, version: 0, next_ask: 0, next_update: 0 };
        Self { head, asks: BTreeMap::new(), updates: BTreeMap::new() }
    }

    /// Decides one input. What is refused leaves the mailbox as it is, but for what the host had to cancel.
    pub fn decide(&self, input: MailInput, ctx: MailContext<'_>) -> MailDecision {
        match input {
            MailInput::Publish { draft, origin, minted } => {
                self.publish(Posted { draft: *draft, origin: *origin, minted }, ctx)
            }
            MailInput::File { prompt, origin, minted } => self.file(&prompt, *origin, minted, ctx),
            MailInput::Answer { aim, offered, by, run } => {
                self.resolve(&aim, Call::Answer { offered: *offered, run }, by, ctx)
            }
            MailInput::Cancel { aim, by } => self.resolve(&aim, Call::Cancel, by, ctx),
            MailInput::CancelAll { reason, fresh } => self.cancel_all(reason, fresh, ctx),
            MailInput::MarkSeen { request, by } => self.mark_seen(request, &by, ctx),
            MailInput::PublishUpdate { draft, handoff, publication, minted } => {
                self.publish_update(News { draft: *draft, handoff, publication, minted }, ctx.now)
            }
            MailInput::ReadUpdate { id, by } => self.move_update(id, UpdateMove::Read, &by, ctx),
            MailInput::DismissUpdate { id, by } => self.move_update(id, UpdateMove::Dismiss, &by, ctx),
        }
    }
}

/// Decides an owner's call where its conversation may not be there: the first of the checks.
/// `None` when the mailbox itself decides.
pub fn refuse_early(found: Found<'_>, by: &Answerer, ctx: MailContext<'_>) -> Option<MailRefusal> {
    if !ctx.authority.may_answer(by.token, ctx.now) {
        return Some(MailRefusal::OwnerUnavailable);
    }
    match found {
        Found::Nothing => Some(MailRefusal::UnknownConversation),
        Found::Unreadable => Some(MailRefusal::StateUnavailable),
        Found::Mailbox(_) => None,
    }
}
