//! One newtype per identity, parsed once at the edge.
//!
//! A value of one of these types has passed its grammar; nothing further in re-checks it.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Longest room name that a gateway may bring: the short name of the contract.
pub const ROOM_NAME_MAX: usize = 128;
/// Longest full room id: `ingress:`, a lane name and a room name, with room to spare.
pub const ROOM_ID_MAX: usize = 256;
/// Longest delivery id and longest actor id that a transport may bring, in characters.
pub const TRANSPORT_ID_MAX: usize = 512;
/// Longest full actor id: `ingress:`, a lane name and the transport's own id.
pub const ACTOR_ID_MAX: usize = 640;
/// How the service's own delivery keys begin where they are shown. No client's id may.
pub const MINTED: &str = "clankie:";
/// How the delivery of an answered ask's continuation begins where it is shown; the ask's id follows.
pub const MINTED_ANSWER: &str = "clankie:answer:";
/// Hexadecimal digits of an edit's fingerprint that are shown: enough to tell edits of one room apart.
const EDIT_DIGITS: usize = 24;
/// Longest name of a lane or account.
pub const LANE_NAME_MAX: usize = 64;

/// Why a text is not an identity. `field` names what was parsed, `rule` what it must be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {rule}")]
pub struct Malformed {
    /// What was being parsed.
    pub field: &'static str,
    /// The rule that it breaks, as a sentence for the sender.
    pub rule: &'static str,
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The identity as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                Self::parse(&String::deserialize(from)?).map_err(serde::de::Error::custom)
            }
        }
    };
}

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

text_id!(
    /// One place people talk in: `discord:text:…`, `discord:voice:…`, `local:<name>` or
    /// `ingress:<lane>:<room>`.
    RoomId
);
text_id!(
    /// The authenticated speaker: `discord:user:<snowflake>`, `local:<account>` or
    /// `ingress:<lane>:<id>`. Never a display name.
    ActorId
);
text_id!(
    /// The name of a lane or an account: what a token speaks for.
    LaneName
);
text_id!(
    /// The name an executor is configured under: `demo`, `builtin`, `acp:<name>`.
    ExecutorName
);
text_id!(
    /// `room-` and 24 hexadecimal digits, or the UUID of an owner conversation.
    ConversationId
);

uuid_id!(
    /// A handoff's identity: UUIDv7, so that ids sort by creation.
    HandoffId
);
uuid_id!(
    /// One attempt to execute a handoff. Events carry it as their fence.
    RunId
);
uuid_id!(
    /// The public half of a token: which row to compare the secret with.
    TokenId
);

uuid_id!(
    /// One ask of the owner's mailbox: UUIDv7, so that ids sort by creation.
    RequestId
);
uuid_id!(
    /// A conversation's life: a reset makes a new one.
    IncarnationId
);
uuid_id!(
    /// One option of an ask, opaque to whoever chooses it.
    OptionId
);
uuid_id!(
    /// One informational update of the owner's mailbox.
    UpdateId
);

/// One try to be admitted. Minted per try, never reused, and not the delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// One of the slots that bound running work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PermitId(pub u64);

/// Who waits for the reply to one call. Opaque to the domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Caller(pub u64);

/// A place in a room's order, set when the room handles the submit, and stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Arrival(pub u64);

/// SHA-256 over the stable fields of a request; computed outside the domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Fingerprint(pub [u8; 32]);

/// One inbound request as its transport names it.
///
/// Keys that the service mints are variants of their own, so no client can write one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryId {
    /// The transport's own id, 1–512 printable characters.
    Transport(String),
    /// An edit of a running request, one per edited text: repeats of one edit are one delivery.
    Edit {
        /// The delivery that was edited.
        of: String,
        /// The fingerprint of the edited request, in hexadecimal.
        digest: String,
    },
    /// The continuation of an answered ask.
    Continuation(RequestId),
}

impl DeliveryId {
    /// The ask whose answer this delivery carries, if it is a continuation.
    pub fn answered(&self) -> Option<RequestId> {
        match self {
            Self::Continuation(request) => Some(*request),
            Self::Transport(_) | Self::Edit { .. } => None,
        }
    }

    /// Parses a transport's own id.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        if text.starts_with(MINTED) {
            let rule = "must not begin with clankie:, which names the service's own deliveries";
            return Err(Malformed { field: "delivery_id", rule });
        }
        printable(text, "delivery_id", "must be 1–512 printable characters")?;
        Ok(Self::Transport(text.to_owned()))
    }
}

impl fmt::Display for DeliveryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transport(id) => f.write_str(id),
            Self::Edit { digest, .. } => write!(f, "{MINTED}edit:{}", &digest[..digest.len().min(EDIT_DIGITS)]),
            Self::Continuation(id) => write!(f, "{MINTED_ANSWER}{id}"),
        }
    }
}

impl RoomId {
    /// Parses a full room id.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        room_grammar(text, ROOM_ID_MAX, "must be a room id of at most 256 characters")?;
        Ok(Self(text.to_owned()))
    }

    /// The room that the embedded default calls `name`.
    pub fn local(name: &str) -> Result<Self, Malformed> {
        Self::named(format!("local:{}", room_name(name)?))
    }

    /// The room that an ingress lane calls `name`.
    pub fn ingress(lane: &LaneName, name: &str) -> Result<Self, Malformed> {
        Self::named(format!("ingress:{lane}:{}", room_name(name)?))
    }

    fn named(full: String) -> Result<Self, Malformed> {
        Ok(Self(full))
    }
}

impl ActorId {
    /// Parses a full actor id.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        let rule = "must be 1–640 printable characters";
        if text.chars().count() > ACTOR_ID_MAX || !is_printable(text) {
            return Err(Malformed { field: "actor", rule });
        }
        Ok(Self(text.to_owned()))
    }

    /// The person that a local account token speaks for.
    pub fn local(account: &LaneName) -> Self {
        Self(format!("local:{account}"))
    }

    /// The person that an ingress lane names `id`.
    pub fn ingress(lane: &LaneName, id: &str) -> Result<Self, Malformed> {
        printable(id, "actor.id", "must be 1–512 printable characters")?;
        Ok(Self(format!("ingress:{lane}:{id}")))
    }
}

impl LaneName {
    /// Parses the name of a lane or account.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if text.is_empty() || text.len() > LANE_NAME_MAX || !text.chars().all(legal) || text.contains("..") {
            let rule = "must be 1–64 letters, digits, '-', '_' or '.', without '..' and without ':'";
            return Err(Malformed { field: "name", rule });
        }
        Ok(Self(text.to_owned()))
    }
}

impl ExecutorName {
    /// Parses the name of an executor.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':');
        if text.is_empty() || text.len() > LANE_NAME_MAX || !text.chars().all(legal) {
            return Err(Malformed { field: "executor", rule: "must be 1–64 letters, digits, '-', '_' or ':'" });
        }
        Ok(Self(text.to_owned()))
    }
}

impl ConversationId {
    /// Parses `room-` with 24 hexadecimal digits, or a UUID.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        let room = text
            .strip_prefix("room-")
            .is_some_and(|hex| hex.len() == 24 && hex.chars().all(|c| c.is_ascii_digit() || matches!(c, 'a'..='f')));
        if !room && Uuid::parse_str(text).is_err() {
            return Err(Malformed { field: "conversation_id", rule: "must be room- with 24 hex digits, or a UUID" });
        }
        Ok(Self(text.to_owned()))
    }
}

/// Checks the short name of a room, as a lane or the local gateway uses it.
pub fn room_name(name: &str) -> Result<&str, Malformed> {
    room_grammar(name, ROOM_NAME_MAX, "must be 1–128 letters, digits or -_.:/ without '..' or a leading '/'")?;
    Ok(name)
}

fn room_grammar(text: &str, most: usize, rule: &'static str) -> Result<(), Malformed> {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '/');
    let sound = !text.is_empty() && text.len() <= most && text.chars().all(legal);
    if !sound || text.contains("..") || text.starts_with('/') {
        return Err(Malformed { field: "room", rule });
    }
    Ok(())
}

fn printable(text: &str, field: &'static str, rule: &'static str) -> Result<(), Malformed> {
    if text.chars().count() > TRANSPORT_ID_MAX || !is_printable(text) {
        return Err(Malformed { field, rule });
    }
    Ok(())
}

fn is_printable(text: &str) -> bool {
    let odd = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}');
    !text.trim().is_empty() && !text.chars().any(odd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minted_key_is_no_text_that_a_client_can_send() {
        let edit = DeliveryId::Edit { of: "m-1".into(), digest: "0afd808d".into() };
        for minted in [edit, DeliveryId::Continuation(RequestId(Uuid::nil()))] {
            assert!(DeliveryId::parse(&minted.to_string()).is_err(), "{minted} can be sent");
        }
    }

    #[test]
    fn room_names_follow_the_contract() {
        for good in ["lab", "a/b", "guild:1", "x.y", &"r".repeat(128)] {
            assert_eq!(room_name(good), Ok(good));
        }
        for bad in ["", "/lab", "a..b", "ä", "a b", &"r".repeat(129), "a\0b"] {
            assert!(room_name(bad).is_err(), "{bad:?} was taken");
        }
    }

    #[test]
    fn a_lane_name_cannot_forge_another_lanes_room() {
        assert!(LaneName::parse("a:b").is_err());
    }
}
