//! One handoff as the owner sees it, and lists of them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{AttachmentBody, ResultBody};

/// The record of one admitted delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HandoffBody {
    /// Its identity, a UUIDv7: ids sort by creation.
    pub id: String,
    /// The durable thread of its room: `room-` and 24 hexadecimal digits.
    pub conversation_id: Option<String>,
    /// The full id of the room.
    pub room: String,
    /// How the transport names it.
    pub delivery_id: String,
    /// The delivery that its reply quotes, where that is not its own: what the origin of an answered
    /// ask was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    /// The full id of the speaker.
    pub actor: String,
    /// How the speaker is shown.
    pub actor_name: String,
    /// `text`, `voice` or `continuation`.
    pub source: String,
    /// New or promised.
    pub class: ClassBody,
    /// Its one execution.
    pub run_id: String,
    /// `pending`, `running`, `joined`, `completed`, `absorbed`, `waiting_user`, `failed` or `cancelled`.
    pub state: String,
    /// `starting` or `started`, while it runs.
    pub phase: Option<String>,
    /// Which gateway and lane brought it.
    pub transport: TransportBody,
    /// The words.
    pub request: String,
    /// The files, by reference.
    pub attachments: Vec<AttachmentBody>,
    /// What it may do.
    pub grant: GrantBody,
    /// What its session does right now; empty at the end.
    pub doing: String,
    /// The executor that really ran it.
    pub executor: Option<String>,
    /// A native child, only after it was verified.
    pub native_child: Option<String>,
    /// Its one result.
    pub result: Option<ResultBody>,
    /// Whether and how the reply reached the room.
    pub room_delivery: RoomDeliveryBody,
    /// The handoff that it joined or was absorbed by.
    pub joined: Option<String>,
    /// How many deliveries joined it, ever.
    pub joiner_count: u32,
    /// What it used.
    pub usage: UsageBody,
    /// When it was admitted.
    pub created_at: String,
    /// When its permit came.
    pub started_at: Option<String>,
    /// When it ended.
    pub ended_at: Option<String>,
    /// Moves by one with each change.
    pub revision: u64,
    /// Why it ended as it did, where the result alone does not say.
    pub reason_code: Option<String>,
}

/// `"fresh"`, `{"owed":"unread"}` or `{"owed":"answer"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClassBody {
    /// It may be told busy.
    Fresh,
    /// It was promised.
    Owed(OwedBody),
}

/// Why work is owed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OwedBody {
    /// A joiner that was never read.
    Unread,
    /// An answered ask wakes its source.
    Answer,
}

/// The way a request came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TransportBody {
    /// `local`, `ingress`, `discord_text` or `discord_voice`.
    pub gateway: String,
    /// The lane or account of the credential.
    pub lane: String,
}

/// What an actor may do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GrantBody {
    /// `social`, `machine` or `owner`.
    pub plan: String,
    /// `none` or `owner`.
    pub owner_standing: String,
    /// `none`, `room`, `guild` or `individual`.
    pub machine_standing: String,
    /// Whether a gateway that authenticated the person matched a configured owner.
    pub verified_owner_proof: bool,
    /// How the request came.
    pub transport: TransportBody,
    /// Every tool that exists for it.
    pub tools: BTreeSet<String>,
}

/// Whether a computed reply reached its room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RoomDeliveryBody {
    /// The step, side by side with the ids.
    #[serde(flatten)]
    pub posting: PostingBody,
    /// The room's own ids of the parts that arrived, in order.
    pub ids: Vec<String>,
}

/// The step of a posting: `{"state": …}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum PostingBody {
    /// Nothing to post.
    None,
    /// This part is next.
    Pending {
        /// Counted from zero.
        part: u32,
    },
    /// This part may stand in the room already.
    Sending {
        /// Counted from zero.
        part: u32,
        /// What the transport deduplicates by.
        nonce: String,
        /// When it was first tried.
        at: String,
    },
    /// Every part stands in the room.
    Confirmed,
    /// A part was definitely refused.
    Failed {
        /// Why.
        why: String,
    },
    /// A part may or may not stand in the room.
    Uncertain,
    /// It was decided not to post it.
    Suppressed {
        /// Why.
        why: String,
    },
}

/// What a handoff has used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UsageBody {
    /// Tokens the model read.
    pub input_tokens: u64,
    /// Tokens the model wrote.
    pub output_tokens: u64,
    /// Cost in millionths of a US dollar.
    pub cost_micros: u64,
    /// Tool calls begun.
    pub tool_calls: u64,
    /// Bytes of text and tool output.
    pub bytes: u64,
}

/// One page of handoffs with the counts of the same snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Handoffs {
    /// Newest first. The next page is asked for with `before` = the last id.
    pub handoffs: Vec<HandoffBody>,
    /// How much runs and waits.
    pub counts: CountsBody,
    /// `<store epoch>-<sequence number>` of the snapshot.
    pub cursor: String,
}

/// How much runs and waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CountsBody {
    /// Running handoffs.
    pub running: usize,
    /// Handoffs that hold a waiting place.
    pub waiting: usize,
    /// Promised handoffs.
    pub owed: usize,
    /// The limits in force.
    pub limits: LimitsBody,
}

/// The limits in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LimitsBody {
    /// Running at once.
    pub running: usize,
    /// Running at once in one room.
    pub running_per_room: usize,
    /// Waiting at once.
    pub waiting: usize,
    /// Waiting at once in one room, where configured.
    pub waiting_per_room: Option<usize>,
    /// Waiting at once by one actor, where configured.
    pub waiting_per_actor: Option<usize>,
}

/// The answer to `handoff_get`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HandoffFound {
    /// The record.
    pub handoff: HandoffBody,
}

/// What a cancel did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Cancelled {
    /// The handoff.
    pub handoff_id: String,
    /// `cancelled` now, `cancelling` while its run is being stopped, `ended` when it was over before.
    pub outcome: String,
    /// Its state when the call was answered.
    pub state: String,
    /// Its one result, when it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<ResultBody>,
}

/// What a repost began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reposted {
    /// The handoff.
    pub handoff_id: String,
    /// How the posting stood when the call was answered: open again.
    pub room_delivery: RoomDeliveryBody,
}
