//! Whatever mail is committed is read back as it was.

use std::sync::Arc;

use clankie_actors::domain::answer::{Answer, Sealed, StoredAnswer};
use clankie_actors::domain::ask::{
    Ask, AskKind, AskOption, CancelReason, Freeform, IssueRef, Origin, Purpose, Resolution, Role, Secrecy, WorkerItem,
    WorkerQuestion, WorkerRequestId,
};
use clankie_actors::domain::autonomy::Category;
use clankie_actors::domain::claim::{Claim, ClaimState, Seen};
use clankie_actors::domain::event::Event;
use clankie_actors::domain::ids::{
    ConversationId, HandoffId, IncarnationId, LaneName, OptionId, RequestId, RunId, TokenId, UpdateId,
};
use clankie_actors::domain::mailbox::{Entry, Head, MailChange};
use clankie_actors::domain::message::AnswerLine;
use clankie_actors::domain::principal::{DeviceGrant, Token, TokenKind};
use clankie_actors::domain::result::{By, FailCode, PrincipalKind};
use clankie_actors::domain::update::{Link, MailMedia, OwnerUpdate, Publication, UpdateDraft, UpdateState};
use clankie_actors::store::{Txn, Write};
use proptest::array::{uniform12, uniform32};
use proptest::collection::{btree_map, btree_set, vec};
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;

use crate::history::token;
use crate::mail::{ask, head, mail};
use crate::roundtrip::{actor, delivery, grant, moment, room, text, transport, uuid};
use crate::world::{START, memory};

fn conversation() -> impl Strategy<Value = ConversationId> {
    prop_oneof![
        "room-[0-9a-f]{24}".prop_map(|text| ConversationId::parse(&text).unwrap()),
        uuid().prop_map(|id| ConversationId::parse(&id.to_string()).unwrap()),
    ]
}

fn secrecy() -> impl Strategy<Value = Secrecy> {
    select(vec![Secrecy::Open, Secrecy::Secret])
}

fn issue() -> impl Strategy<Value = IssueRef> {
    [text(), text(), text()].prop_map(|[tracker, key, url]| IssueRef { tracker, key, url })
}

fn option() -> impl Strategy<Value = AskOption> {
    let role = select(vec![Role::Plain, Role::Approve, Role::Decline]);
    (uuid(), text(), of(text()), role).prop_map(|(id, label, description, role)| AskOption {
        id: OptionId(id),
        label,
        description,
        role,
    })
}

fn worker() -> impl Strategy<Value = WorkerQuestion> {
    let request = prop_oneof![text().prop_map(WorkerRequestId::Text), any::<i64>().prop_map(WorkerRequestId::Number)];
    let item = (text(), text(), vec(text(), 0..3), secrecy());
    let item = item.prop_map(|(id, text, options, secrecy)| WorkerItem { id, text, options, secrecy });
    (text(), text(), request, vec(item, 0..3)).prop_map(|(seat_id, session_id, request_id, questions)| WorkerQuestion {
        seat_id,
        session_id,
        request_id,
        questions,
    })
}

fn origin() -> impl Strategy<Value = Origin> {
    let what = (of(text()), grant());
    (uuid(), uuid(), actor(), text(), room(), delivery(), transport(), what).prop_map(
        |(handoff, run, actor, actor_name, room, delivery, transport, (guild, grant))| {
            let (handoff, run) = (HandoffId(handoff), RunId(run));
            Origin { handoff, run, actor, actor_name, room, delivery, transport, guild, grant }
        },
    )
}

prop_compose! {
    fn asked()(
        request in uuid(), conversation in conversation(), incarnation in uuid(), seq in any::<u64>(),
        purpose in select(Purpose::ALL.to_vec()), kind in select(vec![AskKind::Text, AskKind::Choice]),
        options in vec(option(), 0..3), freeform in select(vec![Freeform::Refused, Freeform::Allowed]),
        origin in origin(), created_at in moment(), secrecy in secrecy(),
    ) -> Ask {
        let basis = ask(1, &conversation, seq, created_at);
        let (request, incarnation) = (RequestId(request), IncarnationId(incarnation));
        Ask { request, incarnation, purpose, kind, options, freeform, origin, secrecy, ..Ask::clone(&basis) }
    }
}

prop_compose! {
    fn whole_ask()(
        ask in asked(), prompt in text(), recommendation in of(text()), waiting_on in of(text()),
        steps in vec(text(), 0..3), gate in of(select([&Category::NAMED[..], &[Category::Unspecified]].concat())),
        issue in of(issue()), worker in of(worker()), workspace in of(text()), context in of(text()),
        provenance in of(text()),
    ) -> Ask {
        Ask {
            prompt, recommendation, waiting_on, steps, gate, issue, worker, workspace, context, provenance, ..ask
        }
    }
}

fn by() -> impl Strategy<Value = By> {
    let kinds = vec![PrincipalKind::Operator, PrincipalKind::Device, PrincipalKind::Service, PrincipalKind::Speaker];
    (select(kinds), text()).prop_map(|(kind, id)| By { kind, id })
}

fn answer() -> impl Strategy<Value = StoredAnswer> {
    let sealed = (uniform12(any::<u8>()), vec(any::<u8>(), 0..40), uniform32(any::<u8>()));
    prop_oneof![
        uuid().prop_map(|id| StoredAnswer::Open(Answer::Choice { option: OptionId(id) })),
        text().prop_map(|text| StoredAnswer::Open(Answer::Text { text })),
        btree_map(text(), vec(text(), 0..3), 0..3).prop_map(|answers| StoredAnswer::Open(Answer::Worker { answers })),
        sealed.prop_map(|(nonce, ciphertext, digest)| StoredAnswer::Sealed(Sealed { nonce, ciphertext, digest })),
    ]
}

fn resolution() -> impl Strategy<Value = Resolution> {
    prop_oneof![
        (answer(), by(), uuid(), moment(), uuid()).prop_map(|(answer, by, answerer, at, run)| {
            Resolution::Submitted { answer, by, answerer: TokenId(answerer), at, run: RunId(run) }
        }),
        (select(CancelReason::ALL.to_vec()), by(), moment()).prop_map(|(reason, by, at)| Resolution::Cancelled {
            reason,
            by,
            at
        }),
    ]
}

fn claim() -> impl Strategy<Value = Claim> {
    let state = prop_oneof![
        select(vec![ClaimState::Claimed, ClaimState::Dispatching, ClaimState::Delivered, ClaimState::Uncertain]),
        "[a-z_]{1,20}".prop_map(|code| ClaimState::Returned(FailCode::parse(&code))),
    ];
    let seen = select(vec![Seen::No, Seen::Yes]);
    (conversation(), of(uuid()), uuid(), uuid(), state, moment(), seen).prop_map(
        |(conversation, handoff, run, answerer, state, at, seen)| {
            let (request, handoff) = (RequestId(run), handoff.map(HandoffId));
            Claim { request, conversation, handoff, run: RunId(run), answerer: TokenId(answerer), state, at, seen }
        },
    )
}

fn draft() -> impl Strategy<Value = UpdateDraft> {
    let links = vec((text(), text()).prop_map(|(label, url)| Link { label, url }), 0..3);
    let media = (text(), text(), of(text())).prop_map(|(url, mime_type, alt)| MailMedia { url, mime_type, alt });
    (text(), text(), links, vec(media, 0..3), of(issue()), of(text())).prop_map(
        |(title, body, links, media, issue, seat_id)| UpdateDraft { title, body, links, media, issue, seat_id },
    )
}

prop_compose! {
    fn update()(
        id in uuid(), conversation in conversation(), seq in any::<u64>(), handoff in uuid(), run in uuid(),
        call in text(), draft in draft(), at in moment(), state in prop_oneof![
            Just(UpdateState::Unread),
            moment().prop_map(|at| UpdateState::Read { at }),
            (moment(), moment()).prop_map(|(read_at, at)| UpdateState::Dismissed { read_at, at }),
        ],
    ) -> OwnerUpdate {
        let publication = Publication { run: RunId(run), call };
        OwnerUpdate { id: UpdateId(id), conversation, seq, handoff: HandoffId(handoff), publication, draft, at, state }
    }
}

prop_compose! {
    fn counters()(
        conversation in conversation(), room in of(room()), incarnation in uuid(), numbers in any::<[u64; 4]>(),
    ) -> Head {
        let [revision, version, next_ask, next_update] = numbers;
        let incarnation = IncarnationId(incarnation);
        Head { conversation, room, incarnation, revision, version, next_ask, next_update }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn asks_answers_and_claims_read_back(ask in whole_ask(), resolution in resolution(), claim in claim()) {
        let store = memory();
        let (conversation, ask) = (ask.conversation.clone(), Arc::new(ask));
        let claim = Claim { request: ask.request, conversation: conversation.clone(), ..claim };
        store.commit_now(mail([head(&conversation, 1), MailChange::Asked(Arc::clone(&ask))])).unwrap();
        let pending = Entry { ask: Arc::clone(&ask), resolution: Resolution::Pending, claim: None };
        let read = |request| store.snapshot().unwrap().ask(&conversation, request).unwrap().unwrap().entry;
        prop_assert_eq!(read(ask.request), pending);
        let resolved = MailChange::Resolved { ask: Arc::clone(&ask), resolution: resolution.clone() };
        store.commit_now(mail([resolved, MailChange::Claim(claim.clone())])).unwrap();
        let entry = Entry { ask: Arc::clone(&ask), resolution: resolution.clone(), claim: Some(claim.clone()) };
        prop_assert_eq!(read(ask.request), entry.clone());
        let now = store.snapshot().unwrap();
        prop_assert_eq!(&*now.mailbox(&conversation).unwrap().unwrap().asks[&ask.request], &entry);
        let (outcome, state) = (resolution.status(), claim.state.name());
        let (request, told) = (ask.request, now.events_after(0, 9).unwrap());
        let events = vec![
            (1, Event::InputRequested(ask)),
            (2, Event::InputResolved { conversation: conversation.clone(), request, outcome }),
            (3, Event::InputClaim { conversation, request, state }),
        ];
        prop_assert_eq!(told, events);
    }

    #[test]
    fn updates_and_counters_read_back(update in update(), counters in counters()) {
        let store = memory();
        let counters = Head { conversation: update.conversation.clone(), ..counters };
        let changes = [MailChange::Head(counters.clone()), MailChange::Update(Arc::new(update.clone()))];
        store.commit_now(mail(changes)).unwrap();
        let now = store.snapshot().unwrap();
        prop_assert_eq!(now.update(update.id).unwrap(), Some(update.clone()));
        let mailbox = now.mailbox(&update.conversation).unwrap().unwrap();
        prop_assert_eq!((mailbox.head, &*mailbox.updates[&update.id]), (counters, &update));
        let told = Event::Update { conversation: update.conversation, id: update.id, state: update.state.name() };
        prop_assert_eq!(now.events_after(0, 9).unwrap(), vec![(1, told)]);
    }

    #[test]
    fn lines_of_displays_read_back(
        conversation in conversation(), request in uuid(), by in by(), text in text(), at in moment(),
    ) {
        let store = memory();
        let line = AnswerLine { conversation, request: RequestId(request), by, text, at };
        store.commit_now(mail([MailChange::Shown(line.clone())])).unwrap();
        prop_assert_eq!(store.snapshot().unwrap().display(&line.conversation, 0, 9).unwrap(), vec![(1, line.clone())]);
    }

    #[test]
    fn tokens_read_back_with_what_a_device_may_do(
        kind in select(TokenKind::ALL.to_vec()), grants in btree_set(select(DeviceGrant::ALL.to_vec()), 0..5),
        name in "[a-z0-9_-]{1,12}",
    ) {
        let store = memory();
        let token = Token { kind, grants, name: LaneName::parse(&name).unwrap(), created_at: START, ..token() };
        store.commit_now(Txn::of(Write::Token(token.clone()))).unwrap();
        prop_assert_eq!(store.snapshot().unwrap().token(token.id).unwrap(), Some(token));
    }
}
