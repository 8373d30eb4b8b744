//! Stored resolutions: answers and cancellations. An ask without one is pending.

use std::collections::BTreeMap;

use clankie_domain::answer::{Answer, Sealed, StoredAnswer};
use clankie_domain::ask::{CancelReason, Resolution};
use clankie_domain::ids::{OptionId, RunId, TokenId};
use clankie_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::result::ByRow;
use super::{Row, hex, mirror_enum};

mirror_enum! {
    CancelReasonRow = CancelReason {
        OwnerCancelled,
        OwnerContextLost,
        ContextReset,
        ConversationClosed,
        ServiceRestarted,
        WorkerQuestionResolved,
        ResumedElsewhere,
        HandoffCancelled,
    }
}

/// An answer as it was given, or sealed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(in crate::store) enum AnswerRow {
    Choice {
        option: OptionId,
    },
    Text {
        text: String,
    },
    Worker {
        answers: BTreeMap<String, Vec<String>>,
    },
    Sealed {
        #[serde(with = "hex")]
        nonce: [u8; 12],
        #[serde(with = "hex")]
        ciphertext: Vec<u8>,
        #[serde(with = "hex")]
        digest: [u8; 32],
    },
}

impl From<StoredAnswer> for AnswerRow {
    fn from(from: StoredAnswer) -> Self {
        match from {
            StoredAnswer::Open(Answer::Choice { option }) => Self::Choice { option },
            StoredAnswer::Open(Answer::Text { text }) => Self::Text { text },
            StoredAnswer::Open(Answer::Worker { answers }) => Self::Worker { answers },
            StoredAnswer::Sealed(Sealed { nonce, ciphertext, digest }) => Self::Sealed { nonce, ciphertext, digest },
        }
    }
}

impl From<AnswerRow> for StoredAnswer {
    fn from(from: AnswerRow) -> Self {
        match from {
            AnswerRow::Choice { option } => Self::Open(Answer::Choice { option }),
            AnswerRow::Text { text } => Self::Open(Answer::Text { text }),
            AnswerRow::Worker { answers } => Self::Open(Answer::Worker { answers }),
            AnswerRow::Sealed { nonce, ciphertext, digest } => Self::Sealed(Sealed { nonce, ciphertext, digest }),
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(in crate::store) enum ResolutionRow {
    Submitted { answer: AnswerRow, by: ByRow, answerer: TokenId, at: Timestamp, run: RunId },
    Cancelled { reason: CancelReasonRow, by: ByRow, at: Timestamp },
}

impl Row for ResolutionRow {
    const TABLE: &'static str = "answers";
    const VERSION: u8 = 1;
}

impl ResolutionRow {
    /// The row of a resolution, and its moment; a pending ask has none.
    pub(in crate::store) fn of(resolution: Resolution) -> Option<(Self, Timestamp)> {
        match resolution {
            Resolution::Pending => None,
            Resolution::Submitted { answer, by, answerer, at, run } => {
                Some((Self::Submitted { answer: answer.into(), by: by.into(), answerer, at, run }, at))
            }
            Resolution::Cancelled { reason, by, at } => {
                Some((Self::Cancelled { reason: reason.into(), by: by.into(), at }, at))
            }
        }
    }
}

impl From<ResolutionRow> for Resolution {
    fn from(from: ResolutionRow) -> Self {
        match from {
            ResolutionRow::Submitted { answer, by, answerer, at, run } => {
                Self::Submitted { answer: answer.into(), by: by.into(), answerer, at, run }
            }
            ResolutionRow::Cancelled { reason, by, at } => Self::Cancelled { reason: reason.into(), by: by.into(), at },
        }
    }
}
