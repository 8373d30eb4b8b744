//! An evening in two rooms, as the transactions that admission commits.

use std::collections::BTreeSet;
use std::sync::Arc;

use clankie_actors::domain;
use clankie_actors::store::{Guard, Txn, Write};
use domain::admission::Change;
use domain::ask::Ask;
use domain::claim::ClaimState;
use domain::delivery::{PostingStep, RoomDelivery};
use domain::grant::GrantEpoch;
use domain::handoff::{HandoffRecord, State, Step};
use domain::ids::{LaneName, PermitId, TokenId};
use domain::mailbox::MailChange;
use domain::message::{MessageKind, RoomMessage};
use domain::principal::{Token, TokenKind};
use domain::result::{FailCode, TurnResult};
use domain::retention::KEPT_MS;
use domain::session::Entry;
use domain::update::{OwnerUpdate, UpdateState};

use crate::mail::{self, conversation, mail};
use crate::world::{
    admitted, at, delivery, ended, handoff, pending, permit_taken, room, said, started, uuid, with_receipt,
};

/// One durable step: the transactions that are committed together.
pub(crate) type Group = Vec<Txn>;

/// `handoffs` deliveries from acceptance to the end of their process group, two at a time.
pub(crate) fn evening(handoffs: u64) -> Vec<Group> {
    let bookmark = Write::Bookmark { name: "discord/seen/1".into(), value: "2".into() };
    let begun = [Write::Token(token()), Write::GrantEpoch(GrantEpoch(1)), bookmark];
    let mut groups = vec![begun.map(Txn::of).into()];
    for pair in 0..handoffs / 2 {
        let (a, b) = (Life::new(4 * pair + 1), Life::new(4 * pair + 3));
        groups.push(vec![a.accepted()]);
        groups.push(vec![b.accepted(), a.begun()]);
        groups.push(vec![b.begun(), a.asked()]);
        groups.push(vec![a.joined(), a.spoken(), b.spoken(), b.asked(), a.mailed()]);
        groups.push(vec![a.over(), b.over(), a.answered()]);
        groups.push(vec![a.gone(), a.dispatched(), b.cancelled(), b.sending()]);
        groups.push(vec![b.gone(), a.delivered(), a.put_away(), b.arrived()]);
    }
    groups.push(vec![Life::new(1).cleared(), Life::new(1).asked_again()]);
    groups.push(vec![Txn::prune(at(0).plus(KEPT_MS + 5_000))]);
    groups.push(vec![Life::new(4 * handoffs + 1).accepted()]);
    groups
}

/// One delivery and the one that joins it.
struct Life {
    n: u64,
    pending: HandoffRecord,
    running: HandoffRecord,
    joiner: HandoffRecord,
}

impl Life {
    fn new(n: u64) -> Self {
        let room = room(if n % 4 == 1 { "lab" } else { "lobby" });
        let pending = pending(n, &room);
        let running = started(&pending, at(n));
        let joiner = admitted(n + 1, &room, State::Joined { target: pending.id });
        Self { n, pending, running, joiner }
    }

    fn accepted(&self) -> Txn {
        let words = said(&format!("m-{}", self.n), &self.pending, at(self.n));
        let changes = with_receipt(&self.pending).into_iter().chain([Change::Message(words)]);
        Txn::changes(changes).guarded(Guard::GrantEpoch(GrantEpoch(1)))
    }

    fn begun(&self) -> Txn {
        let changes = [Change::Record(Arc::new(self.running.clone())), permit_taken(self.n, &self.running)];
        Txn::changes(changes).guarded(Guard::RecordRevision(self.pending.id, self.pending.revision))
    }

    fn joined(&self) -> Txn {
        let target = self.running.advance(Step::Joiner, at(self.n)).unwrap();
        Txn::changes(with_receipt(&self.joiner).into_iter().chain([Change::Record(Arc::new(target))]))
    }

    fn spoken(&self) -> Txn {
        let lines = [Entry::Text(format!("thinking about {}", self.n)), Entry::Note("a".repeat(3_000))];
        Txn::transcript(handoff(self.n), at(self.n), lines.map(|line| (at(self.n), line)).into())
    }

    /// How it ends. The lobby is elsewhere: what is said there is posted step by step.
    fn end(&self) -> HandoffRecord {
        let result = match self.n % 8 {
            1 => TurnResult::settled(&"long ".repeat(800), vec![]),
            _ => TurnResult::failed(FailCode::ExecutorFailed),
        };
        let end = ended(&self.running, result, at(self.n + 1));
        if self.n % 4 == 3 { HandoffRecord { room_delivery: RoomDelivery::pending(), ..end } } else { end }
    }

    fn sent(&self) -> HandoffRecord {
        self.end().posted(PostingStep::Send { part: 0, nonce: format!("nonce {}", self.n) }, at(self.n + 2)).unwrap()
    }

    fn sending(&self) -> Txn {
        Txn::changes([Change::Record(Arc::new(self.sent()))])
    }

    fn arrived(&self) -> Txn {
        let there = PostingStep::Arrived { part: 0, id: format!("post {}", self.n), parts: 1 };
        Txn::changes([Change::Record(Arc::new(self.sent().posted(there, at(self.n + 3)).unwrap()))])
    }

    fn over(&self) -> Txn {
        let end = self.end();
        let reply = RoomMessage {
            kind: MessageKind::Reply,
            author: None,
            reply_to: Some(delivery(self.n)),
            ..said(&format!("reply m-{}", self.n), &end, at(self.n + 1))
        };
        let changes = with_receipt(&end).into_iter().chain([Change::Message(reply)]);
        // Only the lab's handoffs have a joiner.
        if self.n % 4 == 3 {
            return Txn::changes(changes);
        }
        let absorbed = TurnResult::Absorbed { reply_delivery: delivery(self.n), joined: end.id };
        Txn::changes(changes.chain(with_receipt(&ended(&self.joiner, absorbed, at(self.n + 1)))))
    }

    /// The mailbox of one delivery's own conversation, before and after its `version`th commit.
    fn mail(&self, version: u64, changes: impl IntoIterator<Item = MailChange>) -> Txn {
        let of = conversation(self.n);
        mail([mail::head(&of, version)].into_iter().chain(changes)).guarded(Guard::Mailbox(of, version - 1))
    }

    fn ask(&self) -> Arc<Ask> {
        mail::ask(self.n, &conversation(self.n), 0, at(self.n))
    }

    fn update(&self) -> OwnerUpdate {
        mail::update(self.n, &conversation(self.n), 0, at(self.n))
    }

    fn asked(&self) -> Txn {
        self.mail(1, [MailChange::Asked(self.ask())])
    }

    fn mailed(&self) -> Txn {
        self.mail(2, [MailChange::Update(Arc::new(self.update()))])
    }

    fn answered(&self) -> Txn {
        let ask = self.ask();
        let claim = MailChange::Claim(mail::claim(&ask, ClaimState::Claimed, at(self.n + 1)));
        let shown = MailChange::Shown(mail::line(&ask, at(self.n + 1)));
        self.mail(3, [mail::answered(&ask, &"red ".repeat(900), at(self.n + 1)), claim, shown])
    }

    fn cancelled(&self) -> Txn {
        self.mail(2, [mail::cancelled(&self.ask(), at(self.n + 1))])
    }

    fn dispatched(&self) -> Txn {
        mail([MailChange::Claim(mail::claim(&self.ask(), ClaimState::Dispatching, at(self.n + 2)))])
    }

    fn delivered(&self) -> Txn {
        let ask = self.ask();
        let used = MailChange::GateUsed { request: ask.request, at: at(self.n + 3) };
        let claim = MailChange::Claim(mail::claim(&ask, ClaimState::Delivered, at(self.n + 3)));
        mail([claim, used]).guarded(Guard::GateUnused(ask.request))
    }

    fn put_away(&self) -> Txn {
        let state = UpdateState::Dismissed { read_at: at(self.n + 2), at: at(self.n + 3) };
        self.mail(4, [mail::moved(&self.update(), state)])
    }

    fn cleared(&self) -> Txn {
        self.mail(5, [MailChange::AskGone(self.ask()), MailChange::UpdateGone(Arc::new(self.update()))])
    }

    fn asked_again(&self) -> Txn {
        self.mail(6, [MailChange::Asked(mail::ask(self.n + 500, &conversation(self.n), 1, at(self.n + 4)))])
    }

    fn gone(&self) -> Txn {
        Txn::changes([Change::PermitGone { permit: PermitId(self.n) }])
    }
}

pub(crate) fn token() -> Token {
    Token {
        id: TokenId(uuid(7)),
        kind: TokenKind::Account,
        name: LaneName::parse("ann").unwrap(),
        reported_name: None,
        grants: BTreeSet::new(),
        secret_hash: [7; 32],
        former: None,
        created_at: at(0),
        expires_at: Some(at(9)),
        last_used_at: None,
        revoked_at: None,
    }
}
