//! Updates on the wire: news for the owner that wants no answer.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{IssueBody, MailCountsBody};

/// `owner_update_list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnerUpdateList {
    /// Only this conversation's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^(room-[0-9a-f]{24}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$")]
    pub conversation_id: Option<String>,
    /// `unread`, `read`, `dismissed` or `all`; what was not dismissed when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^(unread|read|dismissed|all)$")]
    pub state: Option<String>,
}

/// `owner_update_read` and `owner_update_dismiss`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnerUpdateId {
    /// Which.
    #[schema(format = "uuid")]
    pub id: String,
}

/// A place to go to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkBody {
    /// What is shown.
    pub label: String,
    /// An http or https address, never fetched.
    pub url: String,
}

/// Something to look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MailMediaBody {
    /// An http or https address, never fetched.
    pub url: String,
    /// What it claims to be.
    pub mime_type: String,
    /// What it shows, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alt: Option<String>,
}

/// Where an update came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UpdateSourceBody {
    /// The conversation, bound by the host.
    pub conversation_id: String,
    /// A hint at a worker; no proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seat_id: Option<String>,
}

/// One update.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OwnerUpdateBody {
    /// Its identity.
    pub id: String,
    /// One line.
    pub title: String,
    /// The news.
    pub body: String,
    /// The conversation that it came from.
    pub conversation_id: String,
    /// Where it came from.
    pub source: UpdateSourceBody,
    /// Where to read more.
    pub links: Vec<LinkBody>,
    /// What to look at.
    pub media: Vec<MailMediaBody>,
    /// The issue that it is about.
    pub issue: Option<IssueBody>,
    /// When.
    pub at: String,
    /// `unread`, `read` or `dismissed`.
    pub state: String,
    /// When it was read.
    pub read_at: Option<String>,
    /// When it was put away.
    pub dismissed_at: Option<String>,
}

/// Updates, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OwnerUpdates {
    /// Newest first.
    pub updates: Vec<OwnerUpdateBody>,
    /// What waits in all of the mailbox.
    pub counts: MailCountsBody,
    /// The cursor of this snapshot.
    pub cursor: String,
}

/// One update as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OwnerUpdateFound {
    /// The update.
    pub update: OwnerUpdateBody,
}
