//! Stored asks: written once, as they were published.

use clankie_domain::ask::{
    Ask, AskKind, AskOption, Freeform, IssueRef, Origin, Purpose, Role, Secrecy, WorkerItem, WorkerQuestion,
    WorkerRequestId,
};
use clankie_domain::autonomy::Category;
use clankie_domain::ids::{
    ActorId, ConversationId, DeliveryId, HandoffId, IncarnationId, OptionId, RequestId, RoomId, RunId,
};
use clankie_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::grant::{GrantRow, TransportRow};
use super::{Row, mirror_enum, mirror_struct};
use crate::store::mailbox::Source;

mirror_enum! {
    PurposeRow = Purpose { Preference, Decision, Approval, OwnerAction, Gate, Verify, RunQuestion }
}

mirror_enum! {
    KindRow = AskKind { Text, Choice }
}

mirror_enum! {
    FreeformRow = Freeform { Refused, Allowed }
}

mirror_enum! {
    SecrecyRow = Secrecy { Open, Secret }
}

mirror_enum! {
    RoleRow = Role { Plain, Approve, Decline }
}

mirror_enum! {
    CategoryRow = Category {
        Commit, Push, Release, Merge, Spend, Destructive, ExternalWrite, Plan, Unspecified,
    }
}

mirror_struct! {
    OptionRow = AskOption { id: OptionId, label: String, description: Option<String>, role: RoleRow }
}

mirror_struct! {
    IssueRow = IssueRef { tracker: String, key: String, url: String }
}

mirror_struct! {
    WorkerItemRow = WorkerItem { id: String, text: String, options: Vec<String>, secrecy: SecrecyRow }
}

mirror_struct! {
    OriginRow = Origin {
        handoff: HandoffId,
        run: RunId,
        actor: ActorId,
        actor_name: String,
        room: RoomId,
        delivery: DeliveryId,
        transport: TransportRow,
        guild: Option<String>,
        grant: GrantRow,
    }
}

/// A worker's own request id: text or an integer, as it was.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::store) enum WorkerRequestIdRow {
    Text(String),
    Number(i64),
}

impl From<WorkerRequestId> for WorkerRequestIdRow {
    fn from(from: WorkerRequestId) -> Self {
        match from {
            WorkerRequestId::Text(id) => Self::Text(id),
            WorkerRequestId::Number(id) => Self::Number(id),
        }
    }
}

impl From<WorkerRequestIdRow> for WorkerRequestId {
    fn from(from: WorkerRequestIdRow) -> Self {
        match from {
            WorkerRequestIdRow::Text(id) => Self::Text(id),
            WorkerRequestIdRow::Number(id) => Self::Number(id),
        }
    }
}

mirror_struct! {
    WorkerRow = WorkerQuestion {
        seat_id: String,
        session_id: String,
        request_id: WorkerRequestIdRow,
        questions: Vec<WorkerItemRow> => each,
    }
}

mirror_struct! {
    AskRow = Ask {
        request: RequestId,
        conversation: ConversationId,
        incarnation: IncarnationId,
        seq: u64,
        purpose: PurposeRow,
        kind: KindRow,
        prompt: String,
        options: Vec<OptionRow> => each,
        freeform: FreeformRow,
        recommendation: Option<String>,
        waiting_on: Option<String>,
        steps: Vec<String>,
        gate: Option<CategoryRow> => maybe,
        secrecy: SecrecyRow,
        issue: Option<IssueRow> => maybe,
        worker: Option<WorkerRow> => maybe,
        workspace: Option<String>,
        context: Option<String>,
        provenance: Option<String>,
        origin: OriginRow,
        created_at: Timestamp,
    }
}

impl Row for AskRow {
    const TABLE: &'static str = "asks";
    const VERSION: u8 = 1;
}

impl AskRow {
    /// The handoff that it refers to.
    pub(in crate::store) fn source(self) -> Source {
        Source { handoff: self.origin.handoff, room: self.origin.room }
    }
}
