//! Small mail to commit, and everything that a store says of its mailbox.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use clankie_actors::domain;
use clankie_actors::mail::{AskQuery, AskView, UpdateFilter, UpdateQuery};
use clankie_actors::store::{LIST_MAX, Snapshot, Txn};
use domain::admission::Change;
use domain::answer::{Answer, StoredAnswer};
use domain::ask::{Ask, AskKind, AskStatus, CancelReason, Freeform, Origin, Purpose, Resolution, Secrecy};
use domain::claim::{Claim, ClaimState, Seen};
use domain::ids::{ConversationId, IncarnationId, RequestId, RunId, TokenId, UpdateId};
use domain::mailbox::{Head, MailChange};
use domain::message::AnswerLine;
use domain::result::{By, PrincipalKind};
use domain::time::Timestamp;
use domain::update::{OwnerUpdate, Publication, UpdateDraft, UpdateState};

use crate::world::{delivery, grant, handoff, room, transport, uuid};

pub(crate) fn conversation(n: u64) -> ConversationId {
    ConversationId::parse(&format!("room-{n:024x}")).unwrap()
}

pub(crate) fn mail(changes: impl IntoIterator<Item = MailChange>) -> Txn {
    Txn::changes(changes.into_iter().map(Change::Mail))
}

pub(crate) fn head(of: &ConversationId, version: u64) -> MailChange {
    MailChange::Head(Head {
        conversation: of.clone(),
        room: Some(room("lab")),
        incarnation: IncarnationId(uuid(1)),
        revision: version,
        version,
        next_ask: version,
        next_update: version,
    })
}

/// The ask with that number, the `seq`th of its conversation, raised by the handoff with the same number.
pub(crate) fn ask(n: u64, of: &ConversationId, seq: u64, at: Timestamp) -> Arc<Ask> {
    Arc::new(Ask {
        request: RequestId(uuid(n)),
        conversation: of.clone(),
        incarnation: IncarnationId(uuid(1)),
        seq,
        purpose: Purpose::OwnerAction,
        kind: AskKind::Text,
        prompt: format!("which colour has {n}?"),
        options: Vec::new(),
        freeform: Freeform::Allowed,
        recommendation: None,
        waiting_on: Some("the paint".into()),
        steps: vec!["look".into()],
        gate: None,
        secrecy: Secrecy::Open,
        issue: None,
        worker: None,
        workspace: None,
        context: None,
        provenance: None,
        origin: origin(n),
        created_at: at,
    })
}

pub(crate) fn origin(n: u64) -> Origin {
    Origin {
        handoff: handoff(n),
        run: RunId(uuid(n)),
        actor: domain::ids::ActorId::parse("local:ann").unwrap(),
        actor_name: "Ann".into(),
        room: room("lab"),
        delivery: delivery(n),
        transport: transport(),
        guild: None,
        grant: grant(),
    }
}

pub(crate) fn owner() -> By {
    By { kind: PrincipalKind::Operator, id: "operator".into() }
}

pub(crate) fn answered(ask: &Arc<Ask>, text: &str, at: Timestamp) -> MailChange {
    let answer = StoredAnswer::Open(Answer::Text { text: text.into() });
    let (answerer, run) = (TokenId(uuid(7)), RunId(uuid(900)));
    let resolution = Resolution::Submitted { answer, by: owner(), answerer, at, run };
    MailChange::Resolved { ask: Arc::clone(ask), resolution }
}

pub(crate) fn cancelled(ask: &Arc<Ask>, at: Timestamp) -> MailChange {
    let resolution = Resolution::Cancelled { reason: CancelReason::OwnerCancelled, by: owner(), at };
    MailChange::Resolved { ask: Arc::clone(ask), resolution }
}

pub(crate) fn claim(ask: &Ask, state: ClaimState, at: Timestamp) -> Claim {
    Claim {
        request: ask.request,
        conversation: ask.conversation.clone(),
        handoff: Some(handoff(901)),
        run: RunId(uuid(900)),
        answerer: TokenId(uuid(7)),
        state,
        at,
        seen: Seen::No,
    }
}

pub(crate) fn line(ask: &Ask, at: Timestamp) -> AnswerLine {
    let text = format!("{}\nYou answered: red", ask.prompt);
    AnswerLine { conversation: ask.conversation.clone(), request: ask.request, by: owner(), text, at }
}

pub(crate) fn update(n: u64, of: &ConversationId, seq: u64, at: Timestamp) -> OwnerUpdate {
    let (links, media) = (Vec::new(), Vec::new());
    OwnerUpdate {
        id: UpdateId(uuid(n)),
        conversation: of.clone(),
        seq,
        handoff: handoff(n),
        publication: Publication { run: RunId(uuid(n)), call: format!("call-{n}") },
        draft: UpdateDraft {
            title: format!("news {n}"),
            body: "done".into(),
            links,
            media,
            issue: None,
            seat_id: None,
        },
        at,
        state: UpdateState::Unread,
    }
}

/// The same update in another state.
pub(crate) fn moved(update: &OwnerUpdate, state: UpdateState) -> MailChange {
    MailChange::Update(Arc::new(OwnerUpdate { state, ..update.clone() }))
}

/// Every ask of a query, page by page.
pub(crate) fn pages(now: &Snapshot, query: &AskQuery) -> Vec<AskView> {
    let mut query = query.clone();
    let mut asks = Vec::new();
    loop {
        let page = now.asks(&query).unwrap();
        assert!(page.asks.len() <= query.limit);
        let is_full = page.asks.len() == query.limit;
        asks.extend(page.asks);
        assert!(page.next.is_none() || page.next != query.after, "the next page begins where this one did");
        query.after = page.next;
        if query.after.is_none() {
            return asks;
        }
        assert!(is_full, "a page that is not the last is full");
    }
}

pub(crate) fn every_ask(now: &Snapshot) -> Vec<AskView> {
    pages(now, &AskQuery { limit: LIST_MAX, ..AskQuery::default() })
}

pub(crate) fn every_update(now: &Snapshot) -> Vec<OwnerUpdate> {
    let query = UpdateQuery { show: UpdateFilter::All, limit: usize::MAX, ..UpdateQuery::default() };
    now.updates(&query).unwrap().updates
}

/// Everything that a store says of its mailbox.
pub(crate) fn dump(now: &Snapshot) -> String {
    let mut text = format!("{:?} {:?}\n{:?}\n", now.mail_counts().unwrap(), now.heads().unwrap(), every_update(now));
    for view in every_ask(now) {
        let used = now.gate_used(view.entry.ask.request).unwrap();
        writeln!(text, "{view:?} {used}").unwrap();
    }
    for conversation in now.mail_conversations().unwrap() {
        let lines = now.display(&conversation, 0, usize::MAX).unwrap();
        writeln!(text, "{:?}\n{lines:?}", now.mailbox(&conversation).unwrap()).unwrap();
    }
    text
}

/// Lists, mailboxes and counts agree.
pub(crate) fn assert_whole(now: &Snapshot) {
    let (asks, updates) = (every_ask(now), every_update(now));
    let counts = now.mail_counts().unwrap();
    let pending = asks.iter().filter(|view| view.entry.resolution == Resolution::Pending).count();
    let unread = updates.iter().filter(|update| update.state == UpdateState::Unread).count();
    assert_eq!((counts.asks, counts.updates), (pending as u64, unread as u64), "a count is wrong");
    let mut boxes: BTreeMap<_, _> = BTreeMap::new();
    for conversation in now.mail_conversations().unwrap() {
        boxes.insert(conversation.clone(), now.mailbox(&conversation).unwrap().unwrap());
    }
    assert_eq!(boxes.values().map(|mailbox| mailbox.asks.len()).sum::<usize>(), asks.len());
    assert_eq!(boxes.values().map(|mailbox| mailbox.updates.len()).sum::<usize>(), updates.len());
    for AskView { entry, head } in asks {
        let mailbox = &boxes[&entry.ask.conversation];
        assert_eq!((&*mailbox.asks[&entry.ask.request], &mailbox.head), (&entry, &head));
        let claimed = entry.claim.is_some();
        assert_eq!(claimed, entry.resolution.status() == AskStatus::Submitted, "an answer and its claim differ");
    }
    for update in updates {
        assert_eq!(*boxes[&update.conversation].updates[&update.id], update);
    }
}
