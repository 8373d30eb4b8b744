//! From values of the domain and the actors to the shapes of the wire.

use std::collections::BTreeSet;

use clankie_actors::digest::room_conversation;
use clankie_actors::feed::FeedPlace;
use clankie_actors::{HandoffPage, RoomSummary, Tally, TranscriptLine};
use clankie_domain::admission::Limits;
use clankie_domain::delivery::{Posting, RoomDelivery};
use clankie_domain::grant::{Gateway, Grant, MachineStanding, OwnerProof, OwnerStanding, Plan, Transport};
use clankie_domain::handoff::{Class, HandoffRecord, Owed, Phase, State, Usage};
use clankie_domain::pairing::Waiting;
use clankie_domain::principal::{DeviceGrant, Token};
use clankie_domain::request::{Attachment, Source};
use clankie_domain::session::{Entry, ToolPhase};
use clankie_domain::steering::Mark;
use clankie_domain::time::Timestamp;

use super::{
    AttachmentBody, ClassBody, CountsBody, DeviceBody, EntryBody, GrantBody, HandoffBody, Handoffs, LimitsBody,
    OwedBody, PostingBody, ResultBody, RoomBody, RoomDeliveryBody, TokenBody, TranscriptEntry, TransportBody,
    UsageBody,
};
use crate::http::wire::moment;

mod event;
mod mail;

impl From<&HandoffRecord> for HandoffBody {
    fn from(record: &HandoffRecord) -> Self {
        Self {
            id: record.id.to_string(),
            conversation_id: room_conversation(&record.room).ok().map(|id| id.to_string()),
            room: record.room.to_string(),
            delivery_id: record.delivery.to_string(),
            trigger: record.trigger.as_ref().map(ToString::to_string),
            actor: record.actor.to_string(),
            actor_name: record.actor_name.clone(),
            source: source(record.source).to_owned(),
            class: record.class.into(),
            run_id: record.run.to_string(),
            state: record.state_name().as_str().to_owned(),
            phase: phase(&record.state).map(str::to_owned),
            transport: (&record.transport).into(),
            request: record.request.clone(),
            attachments: record.attachments.iter().map(AttachmentBody::from).collect(),
            grant: (&record.grant).into(),
            doing: record.doing.clone(),
            executor: record.executor.as_ref().map(ToString::to_string),
            native_child: record.native_child.clone(),
            result: record.result().map(ResultBody::from),
            room_delivery: (&record.room_delivery).into(),
            joined: record.joined.map(|id| id.to_string()),
            joiner_count: record.joiner_count,
            usage: record.usage.into(),
            created_at: moment(record.created_at),
            started_at: record.started_at.map(moment),
            ended_at: record.ended_at.map(moment),
            revision: record.revision,
            reason_code: record.reason_code.clone(),
        }
    }
}

fn source(source: Source) -> &'static str {
    match source {
        Source::Text => "text",
        Source::Voice => "voice",
        Source::Continuation => "continuation",
    }
}

fn phase(state: &State) -> Option<&'static str> {
    match state {
        State::Running(Phase::Starting) => Some("starting"),
        State::Running(Phase::Started) => Some("started"),
        State::Pending | State::Joined { .. } | State::Ended(_) => None,
    }
}

/// A plan's name on the wire and in configuration.
pub(crate) fn plan_name(plan: Plan) -> String {
    let name = match plan {
        Plan::Social => "social",
        Plan::Machine => "machine",
        Plan::Owner => "owner",
    };
    name.to_owned()
}

impl From<Class> for ClassBody {
    fn from(class: Class) -> Self {
        match class {
            Class::Fresh => Self::Fresh,
            Class::Owed(Owed::Unread) => Self::Owed(OwedBody::Unread),
            Class::Owed(Owed::Answer) => Self::Owed(OwedBody::Answer),
        }
    }
}

impl From<&Transport> for TransportBody {
    fn from(transport: &Transport) -> Self {
        let gateway = match transport.gateway {
            Gateway::Local => "local",
            Gateway::Ingress => "ingress",
            Gateway::DiscordText => "discord_text",
            Gateway::DiscordVoice => "discord_voice",
        };
        Self { gateway: gateway.to_owned(), lane: transport.lane.to_string() }
    }
}

impl From<&Attachment> for AttachmentBody {
    fn from(file: &Attachment) -> Self {
        Self {
            id: file.id.clone(),
            name: file.name.clone(),
            mime_type: file.mime_type.clone(),
            size: file.size,
            url: file.url.clone(),
        }
    }
}

impl From<&Grant> for GrantBody {
    fn from(grant: &Grant) -> Self {
        let owner_standing = match grant.owner_standing {
            OwnerStanding::None => "none",
            OwnerStanding::Owner => "owner",
        };
        let machine_standing = match grant.machine_standing {
            MachineStanding::None => "none",
            MachineStanding::Room => "room",
            MachineStanding::Guild => "guild",
            MachineStanding::Individual => "individual",
        };
        Self {
            plan: plan_name(grant.plan),
            owner_standing: owner_standing.to_owned(),
            machine_standing: machine_standing.to_owned(),
            verified_owner_proof: grant.owner_proof == OwnerProof::Verified,
            transport: (&grant.transport).into(),
            tools: grant.tools.clone(),
        }
    }
}

impl From<&RoomDelivery> for RoomDeliveryBody {
    fn from(delivery: &RoomDelivery) -> Self {
        let posting = match &delivery.state {
            Posting::None => PostingBody::None,
            Posting::Pending { part } => PostingBody::Pending { part: *part },
            Posting::Sending { part, nonce, at } => {
                PostingBody::Sending { part: *part, nonce: nonce.clone(), at: moment(*at) }
            }
            Posting::Confirmed => PostingBody::Confirmed,
            Posting::Failed { why } => PostingBody::Failed { why: why.clone() },
            Posting::Uncertain => PostingBody::Uncertain,
            Posting::Suppressed { why } => PostingBody::Suppressed { why: why.clone() },
        };
        Self { posting, ids: delivery.confirmed.clone() }
    }
}

impl From<Usage> for UsageBody {
    fn from(usage: Usage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cost_micros: usage.cost_micros,
            tool_calls: usage.tool_calls,
            bytes: usage.bytes,
        }
    }
}

impl From<&HandoffPage> for Handoffs {
    fn from(page: &HandoffPage) -> Self {
        Self {
            handoffs: page.handoffs.iter().map(HandoffBody::from).collect(),
            counts: (page.tally, page.limits).into(),
            cursor: FeedPlace { epoch: page.epoch, seq: page.last_event }.to_string(),
        }
    }
}

impl From<(Tally, Limits)> for CountsBody {
    fn from((tally, limits): (Tally, Limits)) -> Self {
        let limits = LimitsBody {
            running: limits.running,
            running_per_room: limits.running_per_room,
            waiting: limits.waiting,
            waiting_per_room: limits.waiting_per_room,
            waiting_per_actor: limits.waiting_per_actor,
        };
        Self { running: tally.running, waiting: tally.waiting, owed: tally.owed, limits }
    }
}

impl From<&TranscriptLine> for TranscriptEntry {
    fn from(line: &TranscriptLine) -> Self {
        Self { seq: line.seq, at: moment(line.at), entry: (&line.entry).into() }
    }
}

impl From<&Entry> for EntryBody {
    fn from(entry: &Entry) -> Self {
        match entry {
            Entry::Given { delivery, text } => Self::Given { delivery_id: delivery.clone(), text: text.clone() },
            Entry::Text(text) => Self::Text { text: text.clone() },
            Entry::Tool { id, name, phase, detail } => {
                let phase = match phase {
                    ToolPhase::Began => "began",
                    ToolPhase::Ended => "ended",
                };
                let (call_id, phase) = (id.clone(), phase.to_owned());
                Self::Tool { call_id, name: name.clone(), phase, detail: detail.clone() }
            }
            Entry::Steer { handoff, mark } => {
                let mark = match mark {
                    Mark::Queued => "queued",
                    Mark::Taken => "taken",
                    Mark::Read => "read",
                    Mark::Unread => "unread",
                };
                Self::Steer { handoff_id: handoff.to_string(), mark: mark.to_owned() }
            }
            Entry::Note(text) => Self::Note { text: text.clone() },
        }
    }
}

impl From<&Token> for TokenBody {
    fn from(token: &Token) -> Self {
        Self {
            id: token.id.0.simple().to_string(),
            kind: token.kind.as_str().to_owned(),
            name: token.name.to_string(),
            created_at: moment(token.created_at),
            expires_at: token.expires_at.map(moment),
            last_used_at: token.last_used_at.map(moment),
            revoked_at: token.revoked_at.map(moment),
        }
    }
}

/// Grants as the contract writes them.
pub(crate) fn grant_names(grants: &BTreeSet<DeviceGrant>) -> Vec<String> {
    grants.iter().map(|grant| grant.as_str().to_owned()).collect()
}

impl DeviceBody {
    /// The device of a token, as it stands at `now`.
    pub(crate) fn of(token: &Token, now: Timestamp) -> Self {
        let state = match token.revoked_at {
            Some(_) => "revoked",
            None if token.stands(now) => "active",
            None => "expired",
        };
        Self {
            device_id: token.id.0.simple().to_string(),
            state: state.to_owned(),
            reported_name: token.reported_name.clone().unwrap_or_default(),
            account: Some(token.name.to_string()),
            grants: grant_names(&token.grants),
            offered: Vec::new(),
            address: None,
            created_at: moment(token.created_at),
            expires_at: token.expires_at.map(moment),
            last_used_at: token.last_used_at.map(moment),
            revoked_at: token.revoked_at.map(moment),
        }
    }
}

impl From<&Waiting> for DeviceBody {
    fn from(waiting: &Waiting) -> Self {
        Self {
            device_id: waiting.applicant.id.0.simple().to_string(),
            state: "pending".to_owned(),
            reported_name: waiting.applicant.name.as_str().to_owned(),
            account: None,
            grants: Vec::new(),
            offered: grant_names(&waiting.offered),
            address: Some(waiting.applicant.address.clone()),
            created_at: moment(waiting.since),
            expires_at: Some(moment(waiting.expires_at)),
            last_used_at: None,
            revoked_at: None,
        }
    }
}

impl From<&RoomSummary> for RoomBody {
    fn from(room: &RoomSummary) -> Self {
        Self { room: room.room.to_string(), live: room.live, last_message_at: room.last_message_at.map(moment) }
    }
}

#[cfg(test)]
mod tests {
    use clankie_domain::ids::{ActorId, Arrival, DeliveryId, Fingerprint, HandoffId, LaneName, RoomId, RunId, Ticket};
    use clankie_domain::request::{Minted, Request, Submission};
    use clankie_domain::time::Timestamp;
    use serde_json::json;
    use uuid::Uuid;

    use super::*;

    fn record() -> HandoffRecord {
        let lane = LaneName::parse("t").unwrap();
        let transport = Transport { gateway: Gateway::Ingress, lane: lane.clone() };
        let request = Request {
            room: RoomId::ingress(&lane, "lab").unwrap(),
            delivery: DeliveryId::parse("m-1").unwrap(),
            actor: ActorId::ingress(&lane, "u:7").unwrap(),
            actor_name: "Ann".into(),
            source: Source::Text,
            transport: transport.clone(),
            guild: None,
            wanted: None,
            text: "hello".into(),
            attachments: vec![],
            context: vec![],
        };
        let minted = Minted { ticket: Ticket(1), handoff: HandoffId(Uuid::nil()), run: RunId(Uuid::nil()) };
        let submission = Submission { request, fingerprint: Fingerprint([0; 32]), minted };
        let grant = Grant {
            plan: Plan::Social,
            owner_standing: OwnerStanding::None,
            machine_standing: MachineStanding::None,
            owner_proof: OwnerProof::Absent,
            transport,
            tools: ["react".to_owned()].into(),
        };
        HandoffRecord::admitted(&submission, grant, Arrival(0), State::Pending, Timestamp(0))
    }

    #[test]
    fn a_record_is_written_with_every_field_of_the_contract() {
        let nil = "00000000-0000-0000-0000-000000000000";
        let transport = json!({"gateway": "ingress", "lane": "t"});
        let wire = serde_json::to_value(HandoffBody::from(&record())).unwrap();
        let expected = json!({
            "id": nil, "conversation_id": wire["conversation_id"], "room": "ingress:t:lab", "delivery_id": "m-1",
            "actor": "ingress:t:u:7", "actor_name": "Ann", "source": "text", "class": "fresh", "run_id": nil,
            "state": "pending", "phase": null, "transport": transport, "request": "hello", "attachments": [],
            "grant": {"plan": "social", "owner_standing": "none", "machine_standing": "none",
                "verified_owner_proof": false, "transport": transport, "tools": ["react"]},
            "doing": "", "executor": null, "native_child": null, "result": null,
            "room_delivery": {"state": "none", "ids": []}, "joined": null, "joiner_count": 0,
            "usage": {"input_tokens": 0, "output_tokens": 0, "cost_micros": 0, "tool_calls": 0, "bytes": 0},
            "created_at": "1970-01-01T00:00:00Z", "started_at": null, "ended_at": null,
            "revision": wire["revision"], "reason_code": null,
        });
        assert_eq!(wire, expected);
        assert!(wire["conversation_id"].as_str().is_some_and(|id| id.starts_with("room-") && id.len() == 29));
        assert_eq!(serde_json::from_value::<HandoffBody>(wire).unwrap(), HandoffBody::from(&record()));
    }

    #[test]
    fn d5_computed_and_delivered_are_different_facts_on_the_wire() {
        let sending = RoomDelivery {
            state: Posting::Sending { part: 1, nonce: "n".into(), at: Timestamp(0) },
            confirmed: vec!["7".into()],
        };
        let wire = serde_json::to_value(RoomDeliveryBody::from(&sending)).unwrap();
        let at = "1970-01-01T00:00:00Z";
        assert_eq!(wire, json!({"state": "sending", "part": 1, "nonce": "n", "at": at, "ids": ["7"]}));
    }

    #[test]
    fn promised_work_says_why_it_is_promised() {
        let wire = serde_json::to_value(ClassBody::from(Class::Owed(Owed::Unread))).unwrap();
        assert_eq!(wire, json!({"owed": "unread"}));
    }
}
