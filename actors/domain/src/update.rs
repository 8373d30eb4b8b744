//! Informational mail of the owner's mailbox: no answer, no gate, no continuation.

use crate::ask::bounds::{ASIDE, ID, LABEL, MIME_TYPE, WORDS, address, aside, optional, refused, text};
use crate::ask::{DraftRefused, IssueRef, issue_fits, json_text};
use crate::ids::{ConversationId, HandoffId, RunId, UpdateId};
use crate::time::Timestamp;

/// Longest title, in characters.
pub const TITLE_MAX: usize = 200;
/// Longest body, in characters.
pub const BODY_MAX: usize = 2_000;
/// Most links, and most media.
pub const LINKS_MAX: usize = 8;
/// Longest alternative text of a medium, in characters.
pub const ALT_MAX: usize = 500;
/// Longest media type, in characters.
pub const MIME_TYPE_MAX: usize = 100;
/// Longest address, in bytes: what browsers and proxies carry.
pub const URL_MAX: usize = 2_048;

/// What an update costs beside its texts, in bytes: its keys, identities and counters, and the room of
/// both timestamps, so that reading and putting away never meet a full mailbox.
const UPDATE_OVERHEAD: usize = 640;
/// What a link, a medium or an issue costs beside its texts: its keys.
const REFERENCE_OVERHEAD: usize = 64;

/// A place to go to. It is never fetched and confers no access.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link {
    /// What is shown.
    pub label: String,
    /// An http or https address.
    pub url: String,
}

/// Something to look at, by reference. It is never fetched.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MailMedia {
    /// An http or https address.
    pub url: String,
    /// What it claims to be.
    pub mime_type: String,
    /// What it shows, in words.
    pub alt: Option<String>,
}

/// What an agent wants to tell.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UpdateDraft {
    /// One line.
    pub title: String,
    /// The news.
    pub body: String,
    /// Where to read more.
    pub links: Vec<Link>,
    /// What to look at.
    pub media: Vec<MailMedia>,
    /// The issue that it is about.
    pub issue: Option<IssueRef>,
    /// A hint at the worker; no proof of anything.
    pub seat_id: Option<String>,
}

impl UpdateDraft {
    /// Checks it against the bounds of draft and wire.
    pub fn check(&self) -> Result<(), DraftRefused> {
        text("title", &self.title, LABEL)?;
        text("body", &self.body, WORDS)?;
        if self.links.len() > LINKS_MAX {
            return refused("links", "must be at most 8");
        }
        if self.media.len() > LINKS_MAX {
            return refused("media", "must be at most 8");
        }
        self.links.iter().try_for_each(Link::check)?;
        self.media.iter().try_for_each(MailMedia::check)?;
        self.issue.as_ref().map_or(Ok(()), issue_fits)?;
        optional("seat_id", self.seat_id.as_deref(), ID)
    }
}

impl Link {
    fn check(&self) -> Result<(), DraftRefused> {
        text("links.label", &self.label, LABEL)?;
        address("links.url", &self.url)
    }
}

impl MailMedia {
    fn check(&self) -> Result<(), DraftRefused> {
        address("media.url", &self.url)?;
        text("media.mime_type", &self.mime_type, MIME_TYPE)?;
        aside("media.alt", self.alt.as_deref().unwrap_or_default(), ASIDE)
    }
}

/// What makes two publications the same one: the run and the tool call.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Publication {
    /// The run.
    pub run: RunId,
    /// Its own name for the call.
    pub call: String,
}

/// How far the owner has dealt with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UpdateState {
    /// Not at all.
    Unread,
    /// It was read.
    Read {
        /// When.
        at: Timestamp,
    },
    /// It was put away. Reading never brings it back.
    Dismissed {
        /// When it was read.
        read_at: Timestamp,
        /// When it was put away.
        at: Timestamp,
    },
}

impl UpdateState {
    /// Its name alone.
    pub fn name(&self) -> UpdateStateName {
        match self {
            Self::Unread => UpdateStateName::Unread,
            Self::Read { .. } => UpdateStateName::Read,
            Self::Dismissed { .. } => UpdateStateName::Dismissed,
        }
    }

    /// The state as the contract writes it.
    pub fn as_str(&self) -> &'static str {
        self.name().as_str()
    }
}

/// The name of an update's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UpdateStateName {
    /// [`UpdateState::Unread`].
    Unread,
    /// [`UpdateState::Read`].
    Read,
    /// [`UpdateState::Dismissed`].
    Dismissed,
}

impl UpdateStateName {
    /// The name as the contract writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unread => "unread",
            Self::Read => "read",
            Self::Dismissed => "dismissed",
        }
    }
}

/// One update.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OwnerUpdate {
    /// Its identity.
    pub id: UpdateId,
    /// Its source: bound by the host.
    pub conversation: ConversationId,
    /// Its place in the conversation, from zero.
    pub seq: u64,
    /// The handoff that published it.
    pub handoff: HandoffId,
    /// What makes it the same one again.
    pub publication: Publication,
    /// What it says.
    pub draft: UpdateDraft,
    /// When.
    pub at: Timestamp,
    /// How far the owner has dealt with it.
    pub state: UpdateState,
}

impl OwnerUpdate {
    /// What it counts against a mailbox's bytes: never less than its JSON takes, whatever its state.
    pub fn stored_bytes(&self) -> usize {
        let draft = &self.draft;
        let texts = [&draft.title, &draft.body, &self.publication.call].map(|text| json_text(text));
        let links = draft.links.iter().map(|link| REFERENCE_OVERHEAD + json_text(&link.label) + json_text(&link.url));
        let media = draft.media.iter().map(MailMedia::stored_bytes);
        let issue = draft.issue.as_ref().map_or(0, IssueRef::stored_bytes);
        let seat = draft.seat_id.as_deref().map_or(0, json_text);
        let lists = links.chain(media).sum::<usize>();
        UPDATE_OVERHEAD + texts.iter().sum::<usize>() + lists + issue + seat
    }
}

impl MailMedia {
    fn stored_bytes(&self) -> usize {
        let alt = self.alt.as_deref().map_or(0, json_text);
        REFERENCE_OVERHEAD + json_text(&self.url) + json_text(&self.mime_type) + alt
    }
}
