//! `POST /operator/v1/dispatch`: one shape for every owner operation.
//!
//! A request is `{"schema_version":1,"op":…}` with the operation's own fields beside it. An
//! answer has a `status`; a refusal is a value with a reason code and HTTP status 200.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{DeviceApprove, DevicePairBegin, DeviceRevoke, SCHEMA_VERSION};

mod documented;

pub use documented::DispatchAnswer;

/// One call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DispatchRequest {
    /// Always 1.
    pub schema_version: u32,
    /// The operation, side by side with its fields.
    #[serde(flatten)]
    pub operation: Operation,
}

impl DispatchRequest {
    /// A call of that operation.
    pub fn new(operation: Operation) -> Self {
        Self { schema_version: SCHEMA_VERSION, operation }
    }
}

/// Every operation: `{"op": …}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Operation {
    /// Makes a token; answers [`super::TokenMade`].
    TokenCreate(TokenCreate),
    /// Lists tokens; answers [`super::Tokens`].
    TokenList(NoArguments),
    /// Revokes a token; answers [`super::TokenBody`].
    TokenRevoke(TokenRevoke),
    /// Gives a token another secret; answers [`super::TokenMade`].
    TokenRotate(TokenRotate),
    /// Lists devices; answers [`super::Devices`].
    DeviceList(NoArguments),
    /// Offers a pairing; answers [`super::PairingOffer`].
    DevicePairBegin(DevicePairBegin),
    /// Gives a device grants; answers [`super::DeviceBody`].
    DeviceApprove(DeviceApprove),
    /// Revokes or denies a device; answers [`super::DeviceBody`].
    DeviceRevoke(DeviceRevoke),
    /// Opens a local account; answers [`super::TokenMade`].
    AccountOpen(AccountOpen),
    /// Lists handoffs; answers [`super::Handoffs`].
    HandoffList(HandoffList),
    /// Shows one; answers [`super::HandoffFound`].
    HandoffGet(HandoffGet),
    /// Cancels one; answers [`super::Cancelled`].
    HandoffCancel(HandoffGet),
    /// Lists asks; answers [`super::Questions`].
    InputList(super::InputList),
    /// Shows one ask; answers [`super::InputResult`].
    InputGet(super::InputGet),
    /// Answers an ask; answers [`super::InputResult`].
    InputAnswer(super::InputAnswer),
    /// Cancels an ask; answers [`super::InputResult`].
    InputCancel(super::InputCancel),
    /// Takes note of an answer that was not delivered; answers [`super::InputResult`].
    MarkSeen(super::MarkSeen),
    /// Lists updates; answers [`super::OwnerUpdates`].
    OwnerUpdateList(super::OwnerUpdateList),
    /// Marks an update as read; answers [`super::OwnerUpdateFound`].
    OwnerUpdateRead(super::OwnerUpdateId),
    /// Puts an update away; answers [`super::OwnerUpdateFound`].
    OwnerUpdateDismiss(super::OwnerUpdateId),
    /// Lists conversations; answers [`super::Conversations`].
    ConversationList(NoArguments),
    /// Shows one; answers [`super::ConversationFound`].
    ConversationGet(super::ConversationGet),
    /// Reads a conversation's display; answers [`super::ConversationLines`].
    ConversationTail(super::ConversationTail),
    /// Posts once more what did not arrive of a reply, or may not have; answers [`super::Reposted`].
    HandoffRepost(HandoffGet),
    /// Lists rooms; answers [`Rooms`].
    RoomsList(NoArguments),
    /// Reads the configuration again; answers [`Reloaded`].
    ConfigReload(NoArguments),
}

/// For operations without fields.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NoArguments {}

/// `token_create`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenCreate {
    /// `operator`, `captain`, `lane-text`, `lane-voice` or `account`.
    #[schema(pattern = "^(operator|captain|lane-text|lane-voice|account)$")]
    pub kind: String,
    /// What it speaks for.
    #[schema(pattern = "^[A-Za-z0-9_.-]{1,64}$")]
    pub name: String,
    /// When it stops by itself, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = "date-time")]
    pub expires_at: Option<String>,
}

/// `token_revoke`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenRevoke {
    /// The public half, as `token_list` shows it.
    #[schema(pattern = "^[0-9a-f]{32}$")]
    pub id: String,
}

/// `token_rotate`. The secret before works for a minute more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenRotate {
    /// The public half, as `token_list` shows it.
    #[schema(pattern = "^[0-9a-f]{32}$")]
    pub id: String,
}

/// `account_open`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AccountOpen {
    /// The account's name: its actor id is `local:<name>`.
    #[schema(pattern = "^[A-Za-z0-9_.-]{1,64}$")]
    pub name: String,
}

/// `handoff_list`, and the query of `GET /operator/v1/handoffs`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct HandoffList {
    /// Only this room, by full id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 256, pattern = "^(\\.|([A-Za-z0-9_:-]|\\.[A-Za-z0-9_:/-])(\\.?[A-Za-z0-9_:/-])*\\.?)$")]
    #[param(max_length = 256, pattern = "^(\\.|([A-Za-z0-9_:-]|\\.[A-Za-z0-9_:/-])(\\.?[A-Za-z0-9_:/-])*\\.?)$")]
    pub room: Option<String>,
    /// Only this state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^(pending|running|joined|completed|absorbed|waiting_user|failed|cancelled)$")]
    #[param(pattern = "^(pending|running|joined|completed|absorbed|waiting_user|failed|cancelled)$")]
    pub state: Option<String>,
    /// Only this actor, by full id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(
        min_length = 1,
        max_length = 640,
        pattern = "^[^\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff]*[^\\s\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff][^\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff]*$"
    )]
    #[param(
        min_length = 1,
        max_length = 640,
        pattern = "^[^\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff]*[^\\s\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff][^\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff]*$"
    )]
    pub actor: Option<String>,
    /// At most this many, 1–1000; 200 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 1_000)]
    #[param(minimum = 1, maximum = 1_000)]
    pub limit: Option<usize>,
    /// Only older ones than this handoff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = "uuid")]
    #[param(format = "uuid")]
    pub before: Option<String>,
}

/// `handoff_get`, `handoff_cancel` and `handoff_repost`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HandoffGet {
    /// Which.
    #[schema(format = "uuid")]
    pub handoff_id: String,
}

/// An answer of the contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Dispatched<T> {
    /// It was done or read.
    Ready(T),
    /// It was refused; nothing changed.
    Refused(Refusal),
}

/// Why nothing was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Refusal {
    /// A stable code such as `name_taken`, `unknown_handoff` or `unsupported_op`.
    pub reason: String,
    /// What to do, as a sentence.
    pub detail: String,
}

/// Every room in which anything is kept, and every configured local one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Rooms {
    /// By id.
    pub rooms: Vec<RoomBody>,
}

/// One room as lists show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RoomBody {
    /// Its full id.
    pub room: String,
    /// Handoffs that run, wait or join there.
    pub live: usize,
    /// When something was last said there.
    pub last_message_at: Option<String>,
}

/// What a reload of the configuration changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Reloaded {
    /// The keys that changed, each as a line; empty when nothing did.
    pub changed: Vec<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_carries_its_fields_beside_the_operation() {
        let list = HandoffList { room: Some("local:lab".into()), ..HandoffList::default() };
        let wire = serde_json::to_value(DispatchRequest::new(Operation::HandoffList(list))).unwrap();
        assert_eq!(wire, json!({"schema_version": 1, "op": "handoff_list", "room": "local:lab"}));
    }

    #[test]
    fn a_refusal_is_a_value_with_its_reason() {
        let refusal = Refusal { reason: "name_taken".into(), detail: "choose another".into() };
        let wire = serde_json::to_value(Dispatched::<Reloaded>::Refused(refusal)).unwrap();
        assert_eq!(wire, json!({"status": "refused", "reason": "name_taken", "detail": "choose another"}));
    }
}
