//! What happened in a simulated world, as plain facts in the order in which they were heard.
//!
//! The oracle judges these facts and nothing else. Each has a line; the lines are the trace.

use std::collections::BTreeSet;
use std::sync::Arc;

use clankie_actors::mail::{AskView, MailReply};
use clankie_actors::store::HeldPermit;
use clankie_domain::admission::Limits;
use clankie_domain::admission::room::Answer;
use clankie_domain::answer::Answer as OwnersAnswer;
use clankie_domain::event::Event;
use clankie_domain::grant::{Grant, GrantPolicy, Transport};
use clankie_domain::handoff::HandoffRecord;
use clankie_domain::ids::{
    ActorId, ConversationId, DeliveryId, HandoffId, RequestId, RoomId, RunId, TokenId, UpdateId,
};
use clankie_domain::mailbox::Aim;
use clankie_domain::message::{AnswerLine, RoomMessage};
use clankie_domain::receipt::Receipt;
use clankie_domain::request::Request;
use clankie_domain::steering::Mark;
use clankie_domain::update::OwnerUpdate;
use serde_json::Value;

use super::dice::digest_on;

mod line;

/// One fact and when it was heard.
#[derive(Debug, Clone)]
pub struct Fact {
    /// The world's age in milliseconds. No clock jump moves it.
    pub at: u64,
    /// What.
    pub what: What,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// The power went.
    Cut,
    /// It was killed; what it wrote stands.
    Killed,
    /// It was told to stop, and did.
    Stopped,
    /// It ended itself, because the store or admission could not go on.
    Failed,
    /// The world is over.
    WorldOver,
}

/// How a delivery is handed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// For the first time or once more.
    Submit,
    /// With other words.
    Edit,
}

/// A session's given part.
#[derive(Debug, Clone)]
pub struct Given {
    /// Its run.
    pub run: RunId,
    /// Its record.
    pub handoff: HandoffId,
    /// Where.
    pub room: RoomId,
    /// Which delivery.
    pub delivery: DeliveryId,
    /// Whose words.
    pub actor: ActorId,
    /// What it may do.
    pub grant: Grant,
    /// The words.
    pub request: String,
    /// The ask that it continues, and what it is told.
    pub answered: Option<(RequestId, String)>,
}

/// What an owner's surface wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    /// To answer.
    Answer(ConversationId, Aim, OwnersAnswer),
    /// To cancel.
    Cancel(ConversationId, Aim),
    /// To take note of an answer that did not arrive.
    Seen(RequestId),
    /// To mark an update as read.
    Read(UpdateId),
    /// To put an update away.
    Dismiss(UpdateId),
    /// To have a reply posted once more.
    Repost(RoomId, HandoffId),
}

/// What becomes of a credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It was made. It may deal with the mailbox, or speaks for a transport.
    Made {
        /// Whether it may answer.
        answers: bool,
        /// What it speaks for.
        transport: Option<Transport>,
    },
    /// Somebody asked for its end.
    EndAsked,
    /// Its end is in force.
    Ended,
}

/// The store when the world is over, read once.
#[derive(Debug, Clone, Default)]
pub struct Last {
    /// Every record.
    pub records: Vec<Arc<HandoffRecord>>,
    /// The receipt of every delivery that was ever handed in, when there is one.
    pub receipts: Vec<Receipt>,
    /// Every run that holds a permit.
    pub permits: Vec<HeldPermit>,
    /// Every ask that is kept.
    pub asks: Vec<Arc<AskView>>,
    /// Every update that is kept.
    pub updates: Vec<Arc<OwnerUpdate>>,
    /// Pending asks and unread updates, as badges show them.
    pub counts: (u64, u64),
    /// What was said in every room.
    pub messages: Vec<RoomMessage>,
    /// What displays show of answers.
    pub lines: Vec<AnswerLine>,
    /// Every transcript, as text.
    pub transcripts: Vec<(HandoffId, String)>,
    /// Secrets that stand on the disk.
    pub on_disk: Vec<String>,
}

/// A message of ours that stands in a chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Post {
    /// Where.
    pub room: RoomId,
    /// The chat's own id for it.
    pub id: String,
    /// What the chat knows repeats by.
    pub nonce: String,
    /// The words.
    pub text: String,
    /// The delivery that it answers.
    pub answers: String,
    /// The handoff that it belongs to.
    pub handoff: HandoffId,
}

/// What a session does.
#[derive(Debug, Clone)]
pub enum Doing {
    /// It begins.
    Began(Arc<Given>),
    /// It took what it was given.
    Took,
    /// It says what became of a joiner.
    Marked(HandoffId, Mark),
    /// It calls a tool.
    Called {
        /// Its own name for the call.
        call: String,
        /// The tool.
        name: String,
        /// With what.
        arguments: Value,
    },
    /// The tool gave something back.
    Returned {
        /// Which call.
        call: String,
        /// What was done, or the code of a refusal.
        reply: Result<String, String>,
    },
    /// A machine tool had its effect in that call.
    Shipped(String),
    /// It ends its turn and says so.
    Settled(String),
    /// Nothing of it is left.
    Gone,
}

/// What happens to the owner's mailbox.
#[derive(Debug, Clone)]
pub enum Mail {
    /// An ask as it is stored.
    Ask(Arc<AskView>),
    /// An ask that an event named is not kept.
    AskGone(RequestId),
    /// An update as it is stored.
    Update(Arc<OwnerUpdate>),
    /// An owner's surface calls, under that credential.
    Wished(u64, TokenId, Wish),
    /// What came of it, and how many commits there were meanwhile if the world was at rest.
    Granted(u64, Option<MailReply>, Option<u64>),
    /// What came of the wish to post once more.
    Reposted(u64, Option<Answer>),
    /// A secret that an owner answers with.
    Secret(RequestId, String),
}

/// What happened.
#[derive(Debug, Clone)]
pub enum What {
    /// A process begins over the store, under these limits.
    Born(u32, Limits),
    /// It takes work.
    Up,
    /// Why it did not start.
    NotUp(String),
    /// The power went.
    Cut,
    /// The disk failed: full, or for one call.
    DiskFailed(bool),
    /// The process ended.
    Over(Ending),
    /// Faults are over: everything must settle.
    Calm,
    /// The wall clock was moved.
    Jump(i64),
    /// The clock breaks under whoever asks next.
    Breaks,
    /// Configuration is to say this.
    PolicyAsked(u32, Arc<GrantPolicy>),
    /// It does.
    PolicyInForce(u32),
    /// A credential.
    Token(TokenId, Standing),
    /// A delivery is handed in.
    Sent(u64, Manner, Arc<Request>),
    /// What came of it; nothing when nobody heard.
    Heard(u64, Option<Answer>),
    /// Somebody wants a delivery to end.
    Halt(RoomId, DeliveryId),
    /// What came of that.
    Halted(RoomId, DeliveryId, Option<Answer>),
    /// A durable event and its sequence number.
    Event(u64, Event),
    /// Everything up to that event was read, and was durable whole.
    Seen(u64),
    /// A record as it is stored.
    Record(Arc<HandoffRecord>),
    /// The world is at rest: who holds permits, and what lives.
    Rest(Vec<HeldPermit>, Vec<Arc<HandoffRecord>>),
    /// What a session does.
    Run(RunId, Doing),
    /// A message of ours stands in a chat.
    Posted(Arc<Post>),
    /// The owner's mailbox.
    Mail(Mail),
    /// The store when the world is over.
    Last(Arc<Last>),
}

/// Everything that happened.
#[derive(Debug, Clone, Default)]
pub struct History {
    facts: Vec<Fact>,
    digest: u64,
    lines: u64,
    leaving: (u64, BTreeSet<RunId>),
}

impl History {
    /// Adds a fact.
    pub(super) fn push(&mut self, at: u64, what: What) {
        if at != self.leaving.0 {
            self.flush_gone();
        }
        self.add(Fact { at, what });
    }

    pub(super) fn gone(&mut self, at: u64, run: RunId) {
        if at != self.leaving.0 {
            self.flush_gone();
            self.leaving.0 = at;
        }
        self.leaving.1.insert(run);
    }

    fn flush_gone(&mut self) {
        let at = self.leaving.0;
        for run in std::mem::take(&mut self.leaving.1) {
            self.add(Fact { at, what: What::Run(run, Doing::Gone) });
        }
    }

    fn add(&mut self, fact: Fact) {
        self.digest = digest_on(self.digest, fact.line().as_bytes());
        self.lines += 1;
        self.facts.push(fact);
    }

    /// Every fact, in order.
    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }

    /// The same history with other facts: for planting faults.
    #[cfg(test)]
    pub(super) fn with(facts: Vec<Fact>) -> Self {
        Self { facts, ..Self::default() }
    }

    /// One number over all lines.
    pub fn digest(&self) -> u64 {
        self.digest
    }
}
