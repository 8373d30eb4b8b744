//! One thing that happens to a conversation's mail, and who hears what comes of it: the caller who
//! waits, or, for an ask that is filed with the end of a run, the room of that run.

use clankie_domain::answer::Answer;
use clankie_domain::ask::{Draft, Origin};
use clankie_domain::handoff::HandoffRecord;
use clankie_domain::ids::{RequestId, RoomId, RunId, UpdateId};
use clankie_domain::mailbox::{Aim, Answerer, MailOutcome};
use clankie_domain::session::RunEnd;
use clankie_domain::update::{Publication, UpdateDraft};
use tokio::sync::oneshot;

use crate::store::StoreError;

/// A running handoff as the source of mail, bound by the host.
#[derive(Debug, Clone)]
pub(crate) struct Publisher {
    pub(crate) origin: Origin,
}

impl Publisher {
    /// That record as the source of mail.
    pub(crate) fn of(record: &HandoffRecord) -> Self {
        let origin = Origin {
            handoff: record.id,
            run: record.run,
            actor: record.actor.clone(),
            actor_name: record.actor_name.clone(),
            room: record.room.clone(),
            delivery: record.quoted().clone(),
            transport: record.transport.clone(),
            guild: record.guild.clone(),
            grant: record.grant.clone(),
        };
        Self { origin }
    }
}

/// What somebody wants of the mailbox and waits for.
#[derive(Debug)]
pub(crate) enum What {
    /// A draft of an ask.
    Publish { draft: Box<Draft>, from: Publisher },
    /// An owner answers.
    Answer { aim: Aim, answer: Answer, by: Answerer, run: RunId },
    /// An owner cancels.
    Cancel { aim: Aim, by: Answerer },
    /// An owner takes note of an answer that was not delivered.
    MarkSeen { request: RequestId, by: Answerer },
    /// A draft of an update.
    Mail { draft: Box<UpdateDraft>, from: Publisher, publication: Publication },
    /// An owner has read an update.
    Read { id: UpdateId, by: Answerer },
    /// An owner puts an update away.
    Dismiss { id: UpdateId, by: Answerer },
}

/// A run ended with what only the owner may approve: its end waits for the ask.
#[derive(Debug)]
pub(crate) struct Filing {
    pub(crate) prompt: String,
    pub(crate) from: Publisher,
    pub(crate) end: RunEnd,
}

/// What is told to the caller.
#[derive(Debug)]
pub(crate) enum Called {
    /// The mailbox decided, and it is durable.
    Outcome(MailOutcome),
    /// The answer is durable with what it wakes.
    Accepted,
    /// The handoff that published is over.
    RunOver,
    /// Too much happens at once; nothing changed.
    Busy,
    /// Whether it is durable is unknown; the same call again tells.
    Unknown,
    /// The store could not.
    Failed(StoreError),
}

/// Who waits for what comes of a call.
pub(crate) type Reply = oneshot::Sender<Called>;

/// One thing that happens.
#[derive(Debug)]
pub(crate) enum Job {
    /// Somebody wants something and waits.
    Asked(What, Reply),
    /// A run ended; nobody waits, the room is told in any case.
    Filed(Filing),
}

/// A job and how often it was tried before.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) job: Job,
    pub(crate) tried: usize,
}

impl Job {
    /// Something whose caller waits for an answer.
    pub(crate) fn asked(what: What) -> (Box<Self>, oneshot::Receiver<Called>) {
        let (reply, answer) = oneshot::channel();
        (Box::new(Self::Asked(what, reply)), answer)
    }

    /// The end of a run with an approval, which the room hears of.
    pub(crate) fn filed(prompt: String, from: Publisher, end: RunEnd) -> Box<Self> {
        Box::new(Self::Filed(Filing { prompt, from, end }))
    }

    /// The owner who wants it.
    pub(crate) fn by(&self) -> Option<&Answerer> {
        match self {
            Self::Asked(what, _) => what.by(),
            Self::Filed(_) => None,
        }
    }

    /// The room that a publication comes from.
    pub(crate) fn source_room(&self) -> Option<&RoomId> {
        let from = match self {
            Self::Asked(what, _) => what.publisher(),
            Self::Filed(filing) => Some(&filing.from),
        };
        from.map(|from| &from.origin.room)
    }
}

impl What {
    fn by(&self) -> Option<&Answerer> {
        match self {
            Self::Answer { by, .. }
            | Self::Cancel { by, .. }
            | Self::MarkSeen { by, .. }
            | Self::Read { by, .. }
            | Self::Dismiss { by, .. } => Some(by),
            Self::Publish { .. } | Self::Mail { .. } => None,
        }
    }

    /// The handoff that publishes. It must still run when its publication commits.
    pub(crate) fn publisher(&self) -> Option<&Publisher> {
        match self {
            Self::Publish { from, .. } | Self::Mail { from, .. } => Some(from),
            Self::Answer { .. }
            | Self::Cancel { .. }
            | Self::MarkSeen { .. }
            | Self::Read { .. }
            | Self::Dismiss { .. } => None,
        }
    }

    /// The name of its durable step.
    pub(crate) fn step(&self) -> &'static str {
        match self {
            Self::Publish { .. } => "mail.publish",
            Self::Answer { .. } => "mail.answer",
            Self::Cancel { .. } => "mail.cancel",
            Self::MarkSeen { .. } => "mail.seen",
            Self::Mail { .. } => "mail.update",
            Self::Read { .. } => "mail.read",
            Self::Dismiss { .. } => "mail.dismiss",
        }
    }
}
