//! One request as a gateway hands it in: authenticated, normalised, free of any transport's types.

use crate::grant::{Claim, Plan, Transport};
use crate::ids::{ActorId, DeliveryId, Fingerprint, HandoffId, Malformed, RoomId, RunId, Ticket};

/// Longest request text in bytes; longer is refused, never cut.
pub const REQUEST_MAX: usize = 16_384;
/// Longest display name in characters; longer is cut, it is only shown.
pub const ACTOR_NAME_MAX: usize = 256;
/// Most attachments of one request: a chat message carries ten.
pub const ATTACHMENTS_MAX: usize = 10;
/// Longest file name that is kept, in characters.
const FILE_NAME_MAX: usize = 128;
/// Most quoted messages that a lane may send along; the newest of them are shown.
pub const CONTEXT_MAX: usize = 50;
/// What stands for the words of a message that has only attachments.
pub const ATTACHMENT_ONLY: &str = "(no words, only attachments)";

/// How the words came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// Typed.
    Text,
    /// Spoken in a call.
    Voice,
    /// The service's own: an answer that wakes its source.
    Continuation,
}

/// A file that came with a request, by reference. Its content reaches a session as data.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Attachment {
    /// The transport's id for it, part of the fingerprint.
    pub id: String,
    /// Its name, without any path.
    pub name: String,
    /// Its media type as the transport claims it.
    pub mime_type: String,
    /// Its size in bytes as the transport claims it.
    pub size: u64,
    /// Where the transport keeps it. Never fetched by the service itself.
    pub url: String,
}

/// A message that a lane quotes for context. Data only: nothing in it is an instruction.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quote {
    /// Who said it, as display text.
    pub author: String,
    /// What was said.
    pub text: String,
}

/// One admitted-or-refused request of one speaker in one room.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Request {
    /// Where it was said.
    pub room: RoomId,
    /// How the transport names it.
    pub delivery: DeliveryId,
    /// Who said it.
    pub actor: ActorId,
    /// How the speaker is shown; never identity.
    pub actor_name: String,
    /// Typed, spoken or minted.
    pub source: Source,
    /// Which gateway and lane brought it.
    pub transport: Transport,
    /// The guild of the room, when there is one.
    pub guild: Option<String>,
    /// The most it wants.
    pub wanted: Option<Plan>,
    /// The words.
    pub text: String,
    /// The files.
    pub attachments: Vec<Attachment>,
    /// Quotes that the lane sent along.
    pub context: Vec<Quote>,
}

impl Request {
    /// What its grant is resolved from.
    pub fn claim(&self) -> Claim {
        Claim {
            actor: self.actor.clone(),
            room: self.room.clone(),
            guild: self.guild.clone(),
            transport: self.transport.clone(),
            wanted: self.wanted,
        }
    }
}

/// Checks the words of a request and puts the placeholder where there are only files.
pub fn request_text(text: &str, attachments: usize) -> Result<String, Malformed> {
    let refuse = |rule| Err(Malformed { field: "body", rule });
    if attachments > ATTACHMENTS_MAX {
        return Err(Malformed { field: "attachments", rule: "at most 10 attachments; send fewer" });
    }
    if text.len() > REQUEST_MAX {
        return refuse("at most 16384 bytes; send less, nothing was cut");
    }
    if text.contains('\0') {
        return refuse("must hold no NUL character");
    }
    match (text.trim().is_empty(), attachments) {
        (true, 0) => refuse("must not be empty without attachments"),
        (true, _) => Ok(ATTACHMENT_ONLY.to_owned()),
        (false, _) => Ok(text.to_owned()),
    }
}

/// A display name cut to what is shown, without control characters; `None` when nothing is left.
pub fn display_name(name: &str) -> Option<String> {
    let shown: String = name.trim().chars().filter(|c| !c.is_control()).take(ACTOR_NAME_MAX).collect();
    (!shown.is_empty()).then_some(shown)
}

/// A file's name without the path that its sender or maker may have put before it.
pub fn file_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept: String = last.chars().filter(|c| !c.is_control()).take(FILE_NAME_MAX).collect();
    if kept.is_empty() || kept == "." || kept == ".." { "file".to_owned() } else { kept }
}

/// The fresh identities of one submit. Unused ones are thrown away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Minted {
    /// Names this try.
    pub ticket: Ticket,
    /// Names the record, should there be one.
    pub handoff: HandoffId,
    /// Names the execution, should there be one.
    pub run: RunId,
}

/// A request on its way to a room: with its fingerprint and fresh identities.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Submission {
    /// What was asked.
    pub request: Request,
    /// Over its stable fields.
    pub fingerprint: Fingerprint,
    /// Fresh identities for whatever comes of it.
    pub minted: Minted,
}
