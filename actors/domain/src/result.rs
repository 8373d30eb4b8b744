//! How a handoff ends: the typed result of the contract, and the closed sets of reason codes.

use crate::grant::Revoked;
use crate::ids::{DeliveryId, HandoffId};

/// Longest reply that a record keeps, in bytes; the transcript keeps it whole.
pub const REPLY_MAX: usize = 16_384;
/// What stands at the end of a reply that was cut.
pub const CUT_MARK: &str = "\n… (cut; the whole text is in the transcript)";

/// A file that goes with a reply, by reference.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Media {
    /// Where it is: a web address, or the service's own name for a file that it keeps.
    pub url: String,
    /// What it is.
    pub mime_type: String,
    /// How a file that the service keeps is shown; absent for an address elsewhere.
    pub file: Option<KeptFile>,
}

/// A file that an agent made and the service keeps.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeptFile {
    /// Its name as people see it, without any path; never where it is kept.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
}

impl Media {
    /// A file elsewhere.
    pub fn link(url: String, mime_type: String) -> Self {
        Self { url, mime_type, file: None }
    }

    /// Name, type and size of a kept file on one line, for who gets words only.
    pub fn line(&self) -> Option<String> {
        self.file.as_ref().map(|file| format!("[file: {}, {}, {} bytes]", file.name, self.mime_type, file.size))
    }
}

/// The kind of principal that an operation is attributed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PrincipalKind {
    /// The owner's own credential.
    Operator,
    /// A paired device.
    Device,
    /// The service itself.
    Service,
    /// The speaker of the request.
    Speaker,
}

/// Who did something, for the record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct By {
    /// What kind of principal.
    pub kind: PrincipalKind,
    /// Which one.
    pub id: String,
}

impl By {
    /// The service itself.
    pub fn service() -> Self {
        Self { kind: PrincipalKind::Service, id: "clankie".to_owned() }
    }
}

/// Why a handoff failed. A closed set; a demo agent's own code is the one open member.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FailCode {
    /// It was running when the service stopped; it is never replayed.
    Interrupted,
    /// It waited longer than pending work may across a restart.
    Stale,
    /// Nothing was heard from its session for too long.
    Stalled,
    /// Its grant shrank or went.
    AuthorityRevoked,
    /// The owner's standing or proof went.
    OwnerRevoked,
    /// The credential that vouched for the speaker is gone.
    SourceExpired,
    /// Its session died or broke its contract.
    ExecutorFailed,
    /// The model provider is down, refuses, or is out of quota.
    ModelUnavailable,
    /// It used up its tokens, tool calls or bytes.
    BudgetExhausted,
    /// A native child may or may not have finished.
    NativeUncertain,
    /// It needed an approval that is closed.
    GateClosed,
    /// It could not file the ask that its result needs.
    AskCapacity,
    /// A code that the agent itself named: 1–64 letters, digits or `_`.
    Named(String),
}

impl FailCode {
    /// The code as the contract writes it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Interrupted => "interrupted",
            Self::Stale => "stale",
            Self::Stalled => "stalled",
            Self::AuthorityRevoked => "authority_revoked",
            Self::OwnerRevoked => "owner_revoked",
            Self::SourceExpired => "source_expired",
            Self::ExecutorFailed => "executor_failed",
            Self::ModelUnavailable => "model_unavailable",
            Self::BudgetExhausted => "budget_exhausted",
            Self::NativeUncertain => "native_uncertain",
            Self::GateClosed => "gate_closed",
            Self::AskCapacity => "ask_capacity",
            Self::Named(code) => code,
        }
    }

    /// Reads a code back; an unknown one is one that an agent named.
    pub fn parse(code: &str) -> Self {
        const KNOWN: [FailCode; 12] = [
            FailCode::Interrupted,
            FailCode::Stale,
            FailCode::Stalled,
            FailCode::AuthorityRevoked,
            FailCode::OwnerRevoked,
            FailCode::SourceExpired,
            FailCode::ExecutorFailed,
            FailCode::ModelUnavailable,
            FailCode::BudgetExhausted,
            FailCode::NativeUncertain,
            FailCode::GateClosed,
            FailCode::AskCapacity,
        ];
        KNOWN.iter().find(|known| known.as_str() == code).cloned().unwrap_or_else(|| Self::Named(code.to_owned()))
    }

    /// One plain sentence for the room. It names no text of the request and no inner error.
    pub fn sentence(&self) -> &'static str {
        match self {
            Self::Interrupted => "I was restarted while working on this, so I stopped. Please ask again.",
            Self::Stale => "This waited too long while I was away, so I did not start it. Please ask again.",
            Self::Stalled => "I heard nothing from the agent for too long, so I stopped it. Please ask again.",
            Self::AuthorityRevoked | Self::OwnerRevoked => "The permission for this request is gone, so I stopped.",
            Self::SourceExpired => "The connection this request came through is no longer trusted, so I stopped.",
            Self::ExecutorFailed => "The agent failed while working on this. Please try again.",
            Self::ModelUnavailable => "The language model is not available right now. Please try again later.",
            Self::BudgetExhausted => "This request used up its budget, so I stopped.",
            Self::NativeUncertain => "I cannot tell whether this was finished; the owner can look at the record.",
            Self::GateClosed => "This needs the owner's approval, which is not given.",
            Self::AskCapacity => "The owner's mailbox is full, so I could not ask.",
            Self::Named(_) => "The agent ended this with an error of its own.",
        }
    }
}

impl From<Revoked> for FailCode {
    fn from(why: Revoked) -> Self {
        match why {
            Revoked::Authority => Self::AuthorityRevoked,
            Revoked::Owner => Self::OwnerRevoked,
            Revoked::Source => Self::SourceExpired,
        }
    }
}

/// The one result of one delivery.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TurnResult {
    /// The agent replied.
    Settled {
        /// What it said, at most [`REPLY_MAX`] bytes.
        text: String,
        /// What it showed.
        media: Vec<Media>,
    },
    /// The agent chose to say nothing.
    Silent,
    /// The delivery steered another handoff of the same speaker, which read it.
    Absorbed {
        /// The delivery whose reply answers this one.
        reply_delivery: DeliveryId,
        /// The handoff that read it.
        joined: HandoffId,
    },
    /// The agent waits for the owner.
    WaitingUser {
        /// What it waits for.
        prompt: String,
        /// Whether it is shaped like an approval.
        approval: Approval,
    },
    /// It failed.
    Failed {
        /// Why.
        code: FailCode,
    },
    /// Somebody cancelled it.
    Cancelled {
        /// Who.
        by: By,
    },
}

/// Whether a waiting result asks for an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Approval {
    /// It only asks.
    NotRequired,
    /// Only the owner may decide, on a surface of their own.
    Required,
}

impl TurnResult {
    /// A settled reply, visibly cut to what a record keeps.
    pub fn settled(text: &str, media: Vec<Media>) -> Self {
        Self::Settled { text: cut(text, REPLY_MAX, CUT_MARK), media }
    }

    /// A failure.
    pub fn failed(code: FailCode) -> Self {
        Self::Failed { code }
    }
}

/// `text` in at most `most` bytes, ending in `mark` when something was left out.
pub fn cut(text: &str, most: usize, mark: &str) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let mut end = most.saturating_sub(mark.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{mark}", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_reply_is_cut_visibly_and_on_a_character() {
        let text = "ü".repeat(REPLY_MAX);
        let TurnResult::Settled { text: kept, .. } = TurnResult::settled(&text, vec![]) else {
            panic!("a reply settles");
        };
        assert!(kept.len() <= REPLY_MAX && kept.ends_with(CUT_MARK));
    }

    #[test]
    fn every_code_reads_back_as_itself() {
        for code in ["interrupted", "stale", "stalled", "ask_capacity", "out_of_cheese"] {
            assert_eq!(FailCode::parse(code).as_str(), code);
        }
    }
}
