//! Whatever is committed is read back as it was.

use std::sync::Arc;

use clankie_actors::domain::admission::Change;
use clankie_actors::domain::delivery::{Posting, RoomDelivery};
use clankie_actors::domain::grant::{Gateway, Grant, MachineStanding, OwnerProof, OwnerStanding, Plan, Transport};
use clankie_actors::domain::handoff::{Class, HandoffRecord, Owed, Phase, State, Usage};
use clankie_actors::domain::ids::{
    ActorId, Arrival, DeliveryId, ExecutorName, Fingerprint, HandoffId, LaneName, RequestId, RoomId, RunId,
};
use clankie_actors::domain::message::{MessageKind, RoomMessage};
use clankie_actors::domain::receipt::Receipt;
use clankie_actors::domain::request::{Attachment, Quote, Source};
use clankie_actors::domain::result::{Approval, By, FailCode, KeptFile, Media, PrincipalKind, TurnResult};
use clankie_actors::domain::session::{Entry, ToolPhase};
use clankie_actors::domain::steering::Mark;
use clankie_actors::domain::time::Timestamp;
use clankie_actors::store::Txn;
use proptest::collection::{btree_set, vec};
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;
use uuid::Uuid;

use crate::world::{memory, pending, with_receipt};

/// Text with everything that JSON must escape, and what it must not.
pub(crate) fn text() -> impl Strategy<Value = String> {
    "[a-z\"\\\\\u{1}\n€😀 ]{0,12}"
}

pub(crate) fn uuid() -> impl Strategy<Value = Uuid> {
    any::<u128>().prop_map(Uuid::from_u128)
}

pub(crate) fn moment() -> impl Strategy<Value = Timestamp> {
    any::<i64>().prop_map(Timestamp)
}

fn lane() -> impl Strategy<Value = LaneName> {
    "[a-z0-9_-]{1,12}".prop_map(|name| LaneName::parse(&name).unwrap())
}

pub(crate) fn actor() -> impl Strategy<Value = ActorId> {
    "[!-~é]{1,12}".prop_map(|id| ActorId::parse(&id).unwrap())
}

pub(crate) fn room() -> impl Strategy<Value = RoomId> {
    "[a-zA-Z0-9_:-]{1,12}".prop_map(|name| RoomId::parse(&name).unwrap())
}

pub(crate) fn delivery() -> impl Strategy<Value = DeliveryId> {
    prop_oneof![
        "[!-~é]{1,12}".prop_map(|id| DeliveryId::parse(&id).unwrap()),
        ("[!-~]{1,12}", "[0-9a-f]{0,8}").prop_map(|(of, digest)| DeliveryId::Edit { of, digest }),
        uuid().prop_map(|id| DeliveryId::Continuation(RequestId(id))),
    ]
}

pub(crate) fn grant() -> impl Strategy<Value = Grant> {
    let plan = select(vec![Plan::Social, Plan::Machine, Plan::Owner]);
    let owner = select(vec![OwnerStanding::None, OwnerStanding::Owner]);
    let machines =
        vec![MachineStanding::None, MachineStanding::Room, MachineStanding::Guild, MachineStanding::Individual];
    let proof = select(vec![OwnerProof::Absent, OwnerProof::Verified]);
    (plan, owner, select(machines), proof, transport(), btree_set(text(), 0..3)).prop_map(
        |(plan, owner_standing, machine_standing, owner_proof, transport, tools)| Grant {
            plan,
            owner_standing,
            machine_standing,
            owner_proof,
            transport,
            tools,
        },
    )
}

pub(crate) fn transport() -> impl Strategy<Value = Transport> {
    let gateways = vec![Gateway::Local, Gateway::Ingress, Gateway::DiscordText, Gateway::DiscordVoice];
    (select(gateways), lane()).prop_map(|(gateway, lane)| Transport { gateway, lane })
}

fn result() -> impl Strategy<Value = TurnResult> {
    let file = proptest::option::of((text(), any::<u64>()).prop_map(|(name, size)| KeptFile { name, size }));
    let media = (text(), text(), file).prop_map(|(url, mime_type, file)| Media { url, mime_type, file });
    let media = vec(media, 0..3);
    let kinds = vec![PrincipalKind::Operator, PrincipalKind::Device, PrincipalKind::Service, PrincipalKind::Speaker];
    let by = (select(kinds), text()).prop_map(|(kind, id)| By { kind, id });
    let approval = select(vec![Approval::NotRequired, Approval::Required]);
    prop_oneof![
        (text(), media).prop_map(|(text, media)| TurnResult::Settled { text, media }),
        Just(TurnResult::Silent),
        (delivery(), uuid())
            .prop_map(|(reply_delivery, joined)| TurnResult::Absorbed { reply_delivery, joined: HandoffId(joined) }),
        (text(), approval).prop_map(|(prompt, approval)| TurnResult::WaitingUser { prompt, approval }),
        "[a-z_]{1,20}".prop_map(|code| TurnResult::Failed { code: FailCode::parse(&code) }),
        select(vec!["interrupted", "stale", "gate_closed"])
            .prop_map(|code| TurnResult::Failed { code: FailCode::parse(code) }),
        by.prop_map(|by| TurnResult::Cancelled { by }),
    ]
}

fn state() -> impl Strategy<Value = State> {
    prop_oneof![
        Just(State::Pending),
        select(vec![Phase::Starting, Phase::Started]).prop_map(State::Running),
        uuid().prop_map(|target| State::Joined { target: HandoffId(target) }),
        result().prop_map(State::Ended),
    ]
}

fn posting() -> impl Strategy<Value = RoomDelivery> {
    let state = prop_oneof![
        select(vec![Posting::None, Posting::Confirmed, Posting::Uncertain]),
        any::<u32>().prop_map(|part| Posting::Pending { part }),
        (any::<u32>(), text(), moment()).prop_map(|(part, nonce, at)| Posting::Sending { part, nonce, at }),
        text().prop_map(|why| Posting::Failed { why }),
        text().prop_map(|why| Posting::Suppressed { why }),
    ];
    (state, vec(text(), 0..3)).prop_map(|(state, confirmed)| RoomDelivery { state, confirmed })
}

fn usage() -> impl Strategy<Value = Usage> {
    any::<[u64; 5]>().prop_map(|[input_tokens, output_tokens, cost_micros, tool_calls, bytes]| Usage {
        input_tokens,
        output_tokens,
        cost_micros,
        tool_calls,
        bytes,
    })
}

fn attachment() -> impl Strategy<Value = Attachment> {
    ([text(), text(), text(), text()], any::<u64>()).prop_map(|([id, name, mime_type, url], size)| Attachment {
        id,
        name,
        mime_type,
        size,
        url,
    })
}

fn quote() -> impl Strategy<Value = Quote> {
    (text(), text()).prop_map(|(author, text)| Quote { author, text })
}

prop_compose! {
    fn identity()(
        id in uuid(), room in room(), delivery in delivery(), fingerprint in any::<[u8; 32]>(), actor in actor(),
        actor_name in text(), run in uuid(), transport in transport(), grant in grant(), state in state(),
    ) -> HandoffRecord {
        let basis = pending(1, &room);
        let (id, run, fingerprint) = (HandoffId(id), RunId(run), Fingerprint(fingerprint));
        HandoffRecord { id, delivery, fingerprint, actor, actor_name, run, transport, grant, state, ..basis }
    }
}

prop_compose! {
    fn content()(
        source in select(vec![Source::Text, Source::Voice, Source::Continuation]),
        class in select(vec![Class::Fresh, Class::Owed(Owed::Unread), Class::Owed(Owed::Answer)]),
        arrival in any::<u64>(), guild in of(text()), wanted in of(select(vec![Plan::Social, Plan::Owner])),
        request in text(), attachments in vec(attachment(), 0..3), context in vec(quote(), 0..3), doing in text(),
        native_child in of(text()), room_delivery in posting(), usage in usage(), trigger in of(delivery()),
    ) -> HandoffRecord {
        let basis = pending(1, &RoomId::parse("x").unwrap());
        let arrival = Arrival(arrival);
        HandoffRecord {
            source, class, arrival, guild, wanted, request, attachments, context, doing, native_child, room_delivery,
            usage, trigger, ..basis
        }
    }
}

prop_compose! {
    fn record()(
        of_whom in identity(), of_what in content(), executor in of("[a-z:]{1,9}"), joined in of(uuid()),
        joiner_count in any::<u32>(), created_at in moment(), started_at in of(moment()), ended_at in of(moment()),
        revision in any::<u64>(), reason_code in of(text()),
    ) -> HandoffRecord {
        let HandoffRecord { id, room, delivery, fingerprint, actor, actor_name, run, transport, grant, state, .. } =
            of_whom;
        HandoffRecord {
            id, room, delivery, fingerprint, actor, actor_name, run, transport, grant, state,
            executor: executor.map(|name| ExecutorName::parse(&name).unwrap()),
            joined: joined.map(HandoffId),
            joiner_count, created_at, started_at, ended_at, revision, reason_code,
            ..of_what
        }
    }
}

fn entry() -> impl Strategy<Value = Entry> {
    let phase = select(vec![ToolPhase::Began, ToolPhase::Ended]);
    let mark = select(vec![Mark::Queued, Mark::Taken, Mark::Read, Mark::Unread]);
    prop_oneof![
        (text(), text()).prop_map(|(delivery, text)| Entry::Given { delivery, text }),
        text().prop_map(Entry::Text),
        (text(), text(), phase, text()).prop_map(|(id, name, phase, detail)| Entry::Tool { id, name, phase, detail }),
        (uuid(), mark).prop_map(|(handoff, mark)| Entry::Steer { handoff: HandoffId(handoff), mark }),
        text().prop_map(Entry::Note),
    ]
}

fn message() -> impl Strategy<Value = RoomMessage> {
    use MessageKind::{Notice, Person, Reaction, Reply, Update};
    let kind = select(vec![Person, Reply, Update, Reaction, Notice]);
    (room(), [text(), text(), text()], kind, of(actor()), of(delivery()), uuid(), moment()).prop_map(
        |(room, [id, author_name, text], kind, author, reply_to, handoff, at)| {
            let handoff = HandoffId(handoff);
            RoomMessage { room, id, kind, author, author_name, text, reply_to, handoff, at }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(32) })]

    #[test]
    fn records_and_receipts_read_back(records in vec(record(), 1..4), at in moment()) {
        let store = memory();
        for record in &records {
            store.commit_now(Txn::changes(with_receipt(record))).unwrap();
            let receipt = Receipt { at, ..record.receipt() };
            store.commit_now(Txn::changes([Change::Receipt(receipt.clone())])).unwrap();
            let now = store.snapshot().unwrap();
            prop_assert_eq!(now.handoff(record.id).unwrap(), Some(record.clone()));
            prop_assert_eq!(now.receipt(&record.room, &record.delivery).unwrap(), Some(receipt));
        }
    }

    #[test]
    fn messages_read_back(messages in vec(message(), 1..4)) {
        let store = memory();
        for message in &messages {
            store.commit_now(Txn::changes([Change::Message(message.clone())])).unwrap();
            let last = store.snapshot().unwrap().last_messages(&message.room, 9).unwrap();
            let said = last.into_iter().find(|(_, said)| said.id == message.id).unwrap().1;
            let first = messages.iter().find(|first| (&first.room, &first.id) == (&message.room, &message.id));
            prop_assert_eq!(Some(&said), first, "what was said first stands");
        }
    }

    #[test]
    fn transcripts_read_back(entries in vec((moment(), entry()), 1..8), after in 0..8u64) {
        let store = memory();
        let record = Arc::new(pending(1, &RoomId::parse("x").unwrap()));
        store.commit_now(Txn::changes([Change::Record(Arc::clone(&record))])).unwrap();
        let (begin, end) = entries.split_at(entries.len() / 2);
        for half in [begin, end] {
            store.enqueue(Txn::transcript(record.id, Timestamp(0), half.to_vec())).unwrap();
        }
        let lines = store.snapshot().unwrap().transcript(record.id, after, 99).unwrap();
        let read: Vec<_> = lines.into_iter().map(|line| (line.seq, (line.at, line.entry))).collect();
        let written: Vec<_> = (1..).zip(entries).skip(after as usize).collect();
        prop_assert_eq!(read, written);
    }
}
