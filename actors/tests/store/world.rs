//! Small values to commit, and everything that a store says at once.

use std::fmt::Write as _;
use std::sync::Arc;

use clankie_actors::store::{Snapshot, Store};
use clankie_actors::{HandoffQuery, domain};
use domain::admission::Change;
use domain::delivery::RoomDelivery;
use domain::grant::{Gateway, Grant, MachineStanding, OwnerProof, OwnerStanding, Plan, Transport};
use domain::handoff::{HandoffRecord, State, Step, Usage};
use domain::ids::{
    ActorId, Arrival, DeliveryId, ExecutorName, Fingerprint, HandoffId, LaneName, PermitId, RoomId, RunId, Ticket,
};
use domain::message::{MessageKind, RoomMessage};
use domain::request::{Minted, Request, Source, Submission};
use domain::result::TurnResult;
use domain::time::Timestamp;
use redb::backends::InMemoryBackend;
use uuid::Uuid;

/// The moment everything begins.
pub(crate) const START: Timestamp = Timestamp(1_800_000_000_000);
/// The identity of every store here.
pub(crate) const EPOCH: Uuid = Uuid::from_u128(0xe90c);

pub(crate) fn memory() -> Store {
    clankie_actors::choose_mutant();
    Store::open_backend(InMemoryBackend::new(), EPOCH).unwrap()
}

pub(crate) fn room(name: &str) -> RoomId {
    RoomId::local(name).unwrap()
}

pub(crate) fn delivery(n: u64) -> DeliveryId {
    DeliveryId::parse(&format!("m-{n}")).unwrap()
}

/// Ids in the order of `n`, as UUIDv7 are in the order of time.
pub(crate) fn uuid(n: u64) -> Uuid {
    Uuid::from_u128((u128::from(n) << 80) | (0x7 << 76) | (0x8 << 60))
}

pub(crate) fn handoff(n: u64) -> HandoffId {
    HandoffId(uuid(n))
}

pub(crate) fn at(n: u64) -> Timestamp {
    START.plus(n * 1_000)
}

pub(crate) fn transport() -> Transport {
    Transport { gateway: Gateway::Local, lane: LaneName::parse("ann").unwrap() }
}

pub(crate) fn grant() -> Grant {
    Grant {
        plan: Plan::Social,
        owner_standing: OwnerStanding::None,
        machine_standing: MachineStanding::None,
        owner_proof: OwnerProof::Absent,
        transport: transport(),
        tools: ["react", "room_history"].map(String::from).into(),
    }
}

/// A record that was just admitted as the `n`th in `room`.
pub(crate) fn pending(n: u64, room: &RoomId) -> HandoffRecord {
    admitted(n, room, State::Pending)
}

pub(crate) fn admitted(n: u64, room: &RoomId, state: State) -> HandoffRecord {
    let request = Request {
        room: room.clone(),
        delivery: delivery(n),
        actor: ActorId::parse("local:ann").unwrap(),
        actor_name: "Ann".into(),
        source: Source::Text,
        transport: transport(),
        guild: None,
        wanted: None,
        text: format!("what is {n} and {n}?"),
        attachments: Vec::new(),
        context: Vec::new(),
    };
    let minted = Minted { ticket: Ticket(n), handoff: handoff(n), run: RunId(uuid(n)) };
    let submission = Submission { request, fingerprint: Fingerprint([n as u8; 32]), minted };
    HandoffRecord::admitted(&submission, grant(), Arrival(n), state, at(n))
}

pub(crate) fn started(record: &HandoffRecord, now: Timestamp) -> HandoffRecord {
    let executor = ExecutorName::parse("demo").unwrap();
    record.advance(Step::Start { executor, grant: grant() }, now).unwrap()
}

pub(crate) fn ended(record: &HandoffRecord, result: TurnResult, now: Timestamp) -> HandoffRecord {
    let room_delivery = RoomDelivery::in_store(format!("reply {}", record.delivery));
    record.advance(Step::End { result, usage: Usage::default(), room_delivery }, now).unwrap()
}

/// A record that went all its way and ended at `now`.
pub(crate) fn settled(n: u64, room: &RoomId, now: Timestamp) -> HandoffRecord {
    ended(&started(&pending(n, room), now), TurnResult::settled(&format!("{}", 2 * n), vec![]), now)
}

pub(crate) fn said(id: &str, by: &HandoffRecord, now: Timestamp) -> RoomMessage {
    RoomMessage {
        room: by.room.clone(),
        id: id.into(),
        kind: MessageKind::Person,
        author: Some(by.actor.clone()),
        author_name: by.actor_name.clone(),
        text: by.request.clone(),
        reply_to: None,
        handoff: by.id,
        at: now,
    }
}

/// A record together with its receipt.
pub(crate) fn with_receipt(record: &HandoffRecord) -> [Change; 2] {
    [Change::Record(Arc::new(record.clone())), Change::Receipt(record.receipt())]
}

pub(crate) fn permit_taken(permit: u64, by: &HandoffRecord) -> Change {
    Change::PermitTaken { permit: PermitId(permit), room: by.room.clone(), handoff: by.id, run: by.run }
}

pub(crate) fn all() -> HandoffQuery {
    HandoffQuery { limit: usize::MAX, ..HandoffQuery::default() }
}

/// Everything a store says, as text: two stores that say the same are the same.
pub(crate) fn dump(store: &Store) -> String {
    let now = store.snapshot().unwrap();
    let mut text = format!(
        "{} {:?} {:?} {:?} {:?} {}\n",
        now.epoch(),
        now.grant_epoch().unwrap(),
        now.tally().unwrap(),
        now.permits().unwrap(),
        now.tokens().unwrap(),
        now.transcript_bytes().unwrap(),
    );
    for record in now.handoffs(&all()).unwrap() {
        let receipt = now.receipt(&record.room, &record.delivery).unwrap();
        let transcript = now.transcript(record.id, 0, usize::MAX).unwrap();
        writeln!(text, "{record:?}\n{receipt:?}\n{transcript:?}").unwrap();
    }
    for summary in now.rooms().unwrap() {
        let live: Vec<_> = now.live_of(&summary.room).unwrap().into_iter().map(|record| record.id).collect();
        let messages = now.messages(&summary.room, 0, usize::MAX).unwrap();
        writeln!(text, "{summary:?} {live:?} {messages:?}").unwrap();
    }
    text.push_str(&crate::mail::dump(&now));
    writeln!(text, "{:?} {:?}", now.last_event().unwrap(), now.events_after(0, usize::MAX).unwrap()).unwrap();
    text
}

/// Records, receipts, permits and mail agree: no transaction was applied in part.
pub(crate) fn assert_whole(now: &Snapshot) {
    for record in now.handoffs(&all()).unwrap() {
        let receipt = now.receipt(&record.room, &record.delivery).unwrap();
        assert_eq!(receipt, Some(record.receipt()), "record and receipt of {} differ", record.id);
    }
    let permits = now.permits().unwrap();
    for record in now.live().unwrap() {
        // One that only waits for its reply to be posted may hold its permit, or may not any more.
        if matches!(record.state, State::Ended(_)) {
            continue;
        }
        let holds = permits.iter().any(|permit| permit.handoff == record.id);
        assert_eq!(holds, matches!(record.state, State::Running(_)), "permit and state of {} differ", record.id);
    }
    crate::mail::assert_whole(now);
}
