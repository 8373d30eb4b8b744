//! Stored handoff records.

use clankie_domain::grant::Plan;
use clankie_domain::handoff::{Class, HandoffRecord, Owed, Phase, State, Usage};
use clankie_domain::ids::{ActorId, Arrival, DeliveryId, ExecutorName, Fingerprint, HandoffId, RoomId, RunId};
use clankie_domain::request::{Attachment, Quote, Source};
use clankie_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::grant::{GrantRow, TransportRow};
use super::result::{ResultRow, RoomDeliveryRow};
use super::{Row, each, hex, mirror_enum, mirror_struct};

mirror_enum! {
    SourceRow = Source { Text, Voice, Continuation }
}

mirror_struct! {
    AttachmentRow = Attachment { id: String, name: String, mime_type: String, size: u64, url: String }
}

mirror_struct! {
    QuoteRow = Quote { author: String, text: String }
}

mirror_struct! {
    UsageRow = Usage { input_tokens: u64, output_tokens: u64, cost_micros: u64, tool_calls: u64, bytes: u64 }
}

mirror_enum! {
    OwedRow = Owed { Unread, Answer }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ClassRow {
    Fresh,
    Owed(OwedRow),
}

impl From<Class> for ClassRow {
    fn from(from: Class) -> Self {
        match from {
            Class::Fresh => Self::Fresh,
            Class::Owed(why) => Self::Owed(why.into()),
        }
    }
}

impl From<ClassRow> for Class {
    fn from(from: ClassRow) -> Self {
        match from {
            ClassRow::Fresh => Self::Fresh,
            ClassRow::Owed(why) => Self::Owed(why.into()),
        }
    }
}

mirror_enum! {
    PhaseRow = Phase { Starting, Started }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum StateRow {
    Pending,
    Running(PhaseRow),
    Joined { target: HandoffId },
    Ended(ResultRow),
}

impl From<State> for StateRow {
    fn from(from: State) -> Self {
        match from {
            State::Pending => Self::Pending,
            State::Running(phase) => Self::Running(phase.into()),
            State::Joined { target } => Self::Joined { target },
            State::Ended(result) => Self::Ended(result.into()),
        }
    }
}

impl From<StateRow> for State {
    fn from(from: StateRow) -> Self {
        match from {
            StateRow::Pending => Self::Pending,
            StateRow::Running(phase) => Self::Running(phase.into()),
            StateRow::Joined { target } => Self::Joined { target },
            StateRow::Ended(result) => Self::Ended(result.into()),
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::store) struct HandoffRow {
    id: HandoffId,
    room: RoomId,
    delivery: DeliveryId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trigger: Option<DeliveryId>,
    #[serde(with = "hex")]
    fingerprint: [u8; 32],
    actor: ActorId,
    actor_name: String,
    source: SourceRow,
    class: ClassRow,
    arrival: Arrival,
    run: RunId,
    transport: TransportRow,
    guild: Option<String>,
    wanted: Option<Plan>,
    request: String,
    attachments: Vec<AttachmentRow>,
    context: Vec<QuoteRow>,
    grant: GrantRow,
    state: StateRow,
    doing: String,
    executor: Option<ExecutorName>,
    native_child: Option<String>,
    room_delivery: RoomDeliveryRow,
    joined: Option<HandoffId>,
    joiner_count: u32,
    usage: UsageRow,
    created_at: Timestamp,
    started_at: Option<Timestamp>,
    ended_at: Option<Timestamp>,
    pub(in crate::store) revision: u64,
    reason_code: Option<String>,
}

impl Row for HandoffRow {
    const TABLE: &'static str = "handoffs";
    const VERSION: u8 = 1;
}

impl HandoffRow {
    /// Whether the record is running.
    pub(in crate::store) fn runs(&self) -> bool {
        matches!(self.state, StateRow::Running(_))
    }
}

impl From<HandoffRecord> for HandoffRow {
    fn from(from: HandoffRecord) -> Self {
        Self {
            id: from.id,
            room: from.room,
            delivery: from.delivery,
            trigger: from.trigger,
            fingerprint: from.fingerprint.0,
            actor: from.actor,
            actor_name: from.actor_name,
            source: from.source.into(),
            class: from.class.into(),
            arrival: from.arrival,
            run: from.run,
            transport: from.transport.into(),
            guild: from.guild,
            wanted: from.wanted,
            request: from.request,
            attachments: each(from.attachments),
            context: each(from.context),
            grant: from.grant.into(),
            state: from.state.into(),
            doing: from.doing,
            executor: from.executor,
            native_child: from.native_child,
            room_delivery: from.room_delivery.into(),
            joined: from.joined,
            joiner_count: from.joiner_count,
            usage: from.usage.into(),
            created_at: from.created_at,
            started_at: from.started_at,
            ended_at: from.ended_at,
            revision: from.revision,
            reason_code: from.reason_code,
        }
    }
}

impl From<HandoffRow> for HandoffRecord {
    fn from(from: HandoffRow) -> Self {
        Self {
            id: from.id,
            room: from.room,
            delivery: from.delivery,
            trigger: from.trigger,
            fingerprint: Fingerprint(from.fingerprint),
            actor: from.actor,
            actor_name: from.actor_name,
            source: from.source.into(),
            class: from.class.into(),
            arrival: from.arrival,
            run: from.run,
            transport: from.transport.into(),
            guild: from.guild,
            wanted: from.wanted,
            request: from.request,
            attachments: each(from.attachments),
            context: each(from.context),
            grant: from.grant.into(),
            state: from.state.into(),
            doing: from.doing,
            executor: from.executor,
            native_child: from.native_child,
            room_delivery: from.room_delivery.into(),
            joined: from.joined,
            joiner_count: from.joiner_count,
            usage: from.usage.into(),
            created_at: from.created_at,
            started_at: from.started_at,
            ended_at: from.ended_at,
            revision: from.revision,
            reason_code: from.reason_code,
        }
    }
}
