//! How an ingress lane hands a delivery in, edits and cancels it, and what it hears.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::result::ResultBody;

/// `POST /ingress/v1/turns`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct TurnBody {
    /// Always 1.
    #[schema(minimum = 1, maximum = 1)]
    pub schema_version: u32,
    /// The lane's short name of the room.
    #[schema(max_length = 128, pattern = "^(\\.|([A-Za-z0-9_:-]|\\.[A-Za-z0-9_:/-])(\\.?[A-Za-z0-9_:/-])*\\.?)$")]
    pub room: String,
    /// The transport's own id of the request.
    #[schema(
        min_length = 1,
        max_length = 512,
        pattern = "^[^\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff]*[^\\s\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff][^\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff]*$"
    )]
    pub delivery_id: String,
    /// `text` or `voice`, as the lane's token is.
    #[schema(pattern = "^(text|voice)$")]
    pub source: String,
    /// Who speaks.
    pub actor: ActorBody,
    /// The words.
    pub body: String,
    /// The files, by reference.
    #[serde(default)]
    pub attachments: Vec<AttachmentBody>,
    /// Messages quoted for context.
    #[serde(default)]
    pub context: Vec<QuoteBody>,
    /// The most it wants: `social`, `machine` or `owner`. Absent means no narrowing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^(social|machine|owner)$")]
    pub grant: Option<String>,
}

/// `PUT /ingress/v1/turns/{room}/{delivery_id}`. What the path says may be left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct EditBody {
    /// Always 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 1)]
    pub schema_version: Option<u32>,
    /// As in the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<String>,
    /// As in the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_id: Option<String>,
    /// `text` or `voice`, as the lane's token is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Who speaks.
    pub actor: ActorBody,
    /// The new words.
    pub body: String,
    /// The files, by reference.
    #[serde(default)]
    pub attachments: Vec<AttachmentBody>,
    /// Messages quoted for context.
    #[serde(default)]
    pub context: Vec<QuoteBody>,
    /// The most it wants, as when it was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^(social|machine|owner)$")]
    pub grant: Option<String>,
}

/// `DELETE /ingress/v1/turns/{room}/{delivery_id}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct CancelBody {
    /// The speaker, who may cancel only what they asked for.
    pub actor: ActorRef,
}

/// The speaker of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct ActorBody {
    /// The transport's own id of the person.
    #[schema(
        min_length = 1,
        max_length = 512,
        pattern = "^[^\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff]*[^\\s\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff][^\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff]*$"
    )]
    pub id: String,
    /// How the person is shown; never identity. Absent: the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A speaker by id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct ActorRef {
    /// The transport's own id of the person.
    #[schema(
        min_length = 1,
        max_length = 512,
        pattern = "^[^\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff]*[^\\s\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff][^\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff]*$"
    )]
    pub id: String,
}

/// A file that comes with a request, by reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct AttachmentBody {
    /// The transport's id for it.
    pub id: String,
    /// Its name, without any path.
    pub name: String,
    /// Its media type.
    pub mime_type: String,
    /// Its size in bytes.
    pub size: u64,
    /// Where the transport keeps it. Never fetched by the service itself.
    pub url: String,
}

/// A message quoted for context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct QuoteBody {
    /// Who said it, as display text.
    pub author: String,
    /// What was said.
    pub text: String,
}

/// 202 without a result while it goes on, 200 with one when it is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TurnAnswer {
    /// The handoff.
    pub handoff_id: String,
    /// Its state, as in the record.
    pub state: String,
    /// The full id of the room.
    pub room: String,
    /// The delivery.
    pub delivery_id: String,
    /// Its one result, when it is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<ResultBody>,
}
