//! What happens to a mailbox, and who or what it comes from.

use crate::answer::{Answer, Sealed};
use crate::ask::{CancelReason, Draft, Origin};
use crate::ids::{HandoffId, IncarnationId, OptionId, RequestId, RunId, TokenId, UpdateId};
use crate::result::By;
use crate::update::{Publication, UpdateDraft};

/// Who acts, by a credential that was authenticated.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Answerer {
    /// For the record.
    pub by: By,
    /// The credential.
    pub token: TokenId,
}

/// Which ask an owner means, and what they had read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Aim {
    /// Which.
    pub request: RequestId,
    /// The life of the conversation that they had read.
    pub incarnation: IncarnationId,
    /// The revision that they had read.
    pub revision: u64,
}

/// An answer as it is offered. A secret one comes sealed as well; its words are then only checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offered {
    /// The answer.
    pub answer: Answer,
    /// The same, sealed, for an ask that keeps its answer secret.
    pub sealed: Option<Sealed>,
}

/// Fresh identities of one ask. Unused ones are thrown away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MintedAsk {
    /// The ask's.
    pub request: RequestId,
    /// Its options', one for each that a draft may have.
    pub options: Vec<OptionId>,
}

/// What happens to a mailbox.
#[derive(Debug, Clone)]
pub enum MailInput {
    /// A draft comes from a running handoff.
    Publish {
        /// What.
        draft: Box<Draft>,
        /// Whence.
        origin: Box<Origin>,
        /// Fresh identities.
        minted: MintedAsk,
    },
    /// A run ended with what only the owner may approve: an ask of category `unspecified`, unless
    /// the run has a pending one.
    File {
        /// What it waits for.
        prompt: String,
        /// Whence.
        origin: Box<Origin>,
        /// Fresh identities.
        minted: MintedAsk,
    },
    /// An owner answers.
    Answer {
        /// Which ask.
        aim: Aim,
        /// The answer.
        offered: Box<Offered>,
        /// Who.
        by: Answerer,
        /// The run that an accepted answer wakes.
        run: RunId,
    },
    /// An owner cancels.
    Cancel {
        /// Which ask.
        aim: Aim,
        /// Who.
        by: Answerer,
    },
    /// The host cancels what it must, such as on a reset. Never an answer.
    CancelAll {
        /// Why. It says which asks are affected.
        reason: CancelReason,
        /// The conversation's next life, for a reset; thrown away otherwise.
        fresh: IncarnationId,
    },
    /// An owner takes note of an answer that was not delivered.
    MarkSeen {
        /// Which ask.
        request: RequestId,
        /// Who.
        by: Answerer,
    },
    /// News comes from a running handoff.
    PublishUpdate {
        /// What.
        draft: Box<UpdateDraft>,
        /// Which handoff.
        handoff: HandoffId,
        /// What makes it the same one again.
        publication: Publication,
        /// A fresh identity.
        minted: UpdateId,
    },
    /// An owner has read an update.
    ReadUpdate {
        /// Which.
        id: UpdateId,
        /// Who.
        by: Answerer,
    },
    /// An owner puts an update away.
    DismissUpdate {
        /// Which.
        id: UpdateId,
        /// Who.
        by: Answerer,
    },
}
