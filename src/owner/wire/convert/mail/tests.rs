//! Asks, answers and events as old and strict clients read them.

use std::collections::BTreeMap;
use std::sync::Arc;

use clankie_domain::answer::Sealed;
use clankie_domain::ask::{CancelReason, Purpose};
use clankie_domain::event::Event;
use clankie_domain::grant::{Gateway, Grant, MachineStanding, OwnerProof, OwnerStanding, Plan, Transport};
use clankie_domain::ids::{
    ActorId, ConversationId, DeliveryId, HandoffId, IncarnationId, LaneName, OptionId, RequestId, RoomId, RunId,
    TokenId,
};
use clankie_domain::mailbox::{Entry, Head};
use clankie_domain::result::By;
use clankie_domain::time::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

use super::*;
use crate::owner::wire::FeedEvent;

const NIL: &str = "00000000-0000-0000-0000-000000000000";
const EPOCH: &str = "1970-01-01T00:00:00Z";
const CONVERSATION: &str = "room-0123456789abcdef01234567";

fn origin() -> Origin {
    let transport = Transport { gateway: Gateway::Local, lane: LaneName::parse("ann").unwrap() };
    Origin {
        handoff: HandoffId(Uuid::nil()),
        run: RunId(Uuid::nil()),
        actor: ActorId::local(&transport.lane),
        actor_name: "Ann".into(),
        room: RoomId::local("lab").unwrap(),
        delivery: DeliveryId::parse("m-1").unwrap(),
        transport: transport.clone(),
        guild: None,
        grant: Grant {
            plan: Plan::Social,
            owner_standing: OwnerStanding::None,
            machine_standing: MachineStanding::None,
            owner_proof: OwnerProof::Absent,
            transport,
            tools: ["request_user_input".to_owned()].into(),
        },
    }
}

fn ask(purpose: Purpose) -> Ask {
    let option = |id, label: &str| AskOption {
        id: OptionId(Uuid::from_u128(id)),
        label: label.into(),
        description: None,
        role: Role::Plain,
    };
    Ask {
        request: RequestId(Uuid::nil()),
        conversation: ConversationId::parse(CONVERSATION).unwrap(),
        incarnation: IncarnationId(Uuid::nil()),
        seq: 0,
        purpose,
        kind: AskKind::Choice,
        prompt: "which way?".into(),
        options: vec![option(1, "left"), option(2, "right")],
        freeform: Freeform::Refused,
        recommendation: Some("left".into()),
        waiting_on: Some("the road".into()),
        steps: vec![],
        gate: None,
        secrecy: Secrecy::Open,
        issue: None,
        worker: None,
        workspace: None,
        context: None,
        provenance: None,
        origin: origin(),
        created_at: Timestamp(0),
    }
}

fn wire(ask: Ask, resolution: Resolution) -> Value {
    let head = Head {
        conversation: ask.conversation.clone(),
        room: Some(RoomId::local("lab").unwrap()),
        incarnation: ask.incarnation,
        revision: 4,
        version: 9,
        next_ask: 1,
        next_update: 0,
    };
    let view = AskView { entry: Entry { ask: Arc::new(ask), resolution, claim: None }, head };
    let body = QuestionBody::from(&view);
    let wire = serde_json::to_value(&body).unwrap();
    assert_eq!(serde_json::from_value::<QuestionBody>(wire.clone()).unwrap(), body, "a client reads it back");
    wire
}

fn submitted(answer: StoredAnswer) -> Resolution {
    Resolution::Submitted {
        answer,
        by: By::service(),
        answerer: TokenId(Uuid::nil()),
        at: Timestamp(0),
        run: RunId(Uuid::nil()),
    }
}

#[test]
fn an_ask_is_written_with_every_field_of_the_contract() {
    let option = |id: u128, label: &str| json!({"option_id": Uuid::from_u128(id).to_string(), "label": label});
    let expected = json!({
        "request_id": NIL, "conversation_id": CONVERSATION, "incarnation_id": NIL, "revision": 4,
        "purpose": "decision", "kind": "choice", "prompt": "which way?",
        "options": [option(1, "left"), option(2, "right")], "allow_freeform": false, "recommendation": "left",
        "waiting_on": "the road", "steps": [], "gate": null, "secret": false, "issue": null,
        "worker_question": null, "workspace": null, "context": null, "provenance": null,
        "origin": {"handoff_id": NIL, "run_id": NIL, "actor": "local:ann", "actor_name": "Ann", "room": "local:lab"},
        "created_at": EPOCH, "status": "pending", "answer": null, "resolved_at": null, "resolved_by": null,
        "reason": null, "continuation": null,
    });
    assert_eq!(wire(ask(Purpose::Decision), Resolution::Pending), expected);
}

#[test]
fn m5_what_was_cancelled_shows_why_and_no_answer() {
    let resolution =
        Resolution::Cancelled { reason: CancelReason::OwnerCancelled, by: By::service(), at: Timestamp(0) };
    let wire = wire(ask(Purpose::Decision), resolution);
    assert_eq!(
        (&wire["status"], &wire["reason"], &wire["answer"], &wire["resolved_by"]["kind"]),
        (&json!("cancelled"), &json!("owner_cancelled"), &Value::Null, &json!("service"))
    );
}

#[test]
fn a_chosen_option_is_shown_with_its_label() {
    let chosen = StoredAnswer::Open(Answer::Choice { option: OptionId(Uuid::from_u128(2)) });
    let wire = wire(ask(Purpose::Decision), submitted(chosen));
    let answer = json!({"kind": "choice", "option_id": Uuid::from_u128(2).to_string(), "label": "right"});
    assert_eq!((&wire["status"], &wire["answer"]), (&json!("submitted"), &answer));
}

#[test]
fn m7_what_is_sealed_or_private_is_not_on_the_wire() {
    let sealed = Sealed { nonce: [7; 12], ciphertext: vec![0x5e; 16], digest: [9; 32] };
    let sealed = wire(ask(Purpose::Decision), submitted(StoredAnswer::Sealed(sealed)));
    assert_eq!(sealed["answer"], json!({"kind": "private"}));

    let item = |id: &str, secrecy| WorkerItem { id: id.into(), text: id.into(), options: vec![], secrecy };
    let worker = WorkerQuestion {
        seat_id: "s".into(),
        session_id: "s".into(),
        request_id: WorkerRequestId::Number(7),
        questions: vec![item("open", Secrecy::Open), item("private", Secrecy::Secret)],
    };
    let said: BTreeMap<_, _> = ["open", "private"].map(|id| (id.to_owned(), vec![format!("canary of {id}")])).into();
    let answer = StoredAnswer::Open(Answer::Worker { answers: said });
    let wire = wire(Ask { worker: Some(worker), ..ask(Purpose::Decision) }, submitted(answer));
    assert_eq!(wire["answer"]["answers"], json!({"open": ["canary of open"], "private": []}));
    assert_eq!(wire["worker_question"]["request_id"], 7, "its type is kept");
}

/// Strict old clients know these fields and no others.
#[test]
fn a_new_ask_is_told_with_exactly_its_fields() {
    let told = |purpose| {
        let FeedEvent::InputRequested(body) = FeedEvent::from(&Event::InputRequested(Arc::new(ask(purpose)))) else {
            panic!("it is told as something else");
        };
        serde_json::to_value(body).unwrap()
    };
    let option = |id: u128, label: &str| json!({"option_id": Uuid::from_u128(id).to_string(), "label": label});
    let mut expected = json!({"conversation_id": CONVERSATION, "request_id": NIL, "incarnation_id": NIL,
        "kind": "choice", "prompt": "which way?", "options": [option(1, "left"), option(2, "right")],
        "created_at": EPOCH});
    assert_eq!(told(Purpose::Preference), expected);
    expected["purpose"] = json!("decision");
    expected["waiting_on"] = json!("the road");
    expected["recommendation"] = json!("left");
    expected["steps"] = json!([]);
    assert_eq!(told(Purpose::Decision), expected);
}
