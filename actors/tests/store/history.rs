//! An evening in two rooms, as the transactions that admission commits.

use std::sync::Arc;

use clankie_actors::domain;
use clankie_actors::store::{Guard, Txn, Write};
use domain::admission::Change;
use domain::grant::GrantEpoch;
use domain::handoff::{HandoffRecord, State, Step};
use domain::ids::{LaneName, PermitId, TokenId};
use domain::message::{MessageKind, RoomMessage};
use domain::principal::{Token, TokenKind};
use domain::result::{FailCode, TurnResult};
use domain::retention::KEPT_MS;
use domain::session::Entry;

use crate::world::{
    admitted, at, delivery, ended, handoff, pending, permit_taken, room, said, started, uuid, with_receipt,
};

/// One durable step: the transactions that are committed together.
pub(crate) type Group = Vec<Txn>;

/// `handoffs` deliveries from acceptance to the end of their process group, two at a time.
pub(crate) fn evening(handoffs: u64) -> Vec<Group> {
    let mut groups = vec![vec![Txn::of(Write::Token(token())), Txn::of(Write::GrantEpoch(GrantEpoch(1)))]];
    for pair in 0..handoffs / 2 {
        let (a, b) = (Life::new(4 * pair + 1), Life::new(4 * pair + 3));
        groups.push(vec![a.accepted()]);
        groups.push(vec![b.accepted(), a.begun()]);
        groups.push(vec![b.begun()]);
        groups.push(vec![a.joined(), a.spoken(), b.spoken()]);
        groups.push(vec![a.over(), b.over()]);
        groups.push(vec![a.gone()]);
        groups.push(vec![b.gone()]);
    }
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

    fn over(&self) -> Txn {
        let result = match self.n % 8 {
            1 => TurnResult::settled(&"long ".repeat(800), vec![]),
            _ => TurnResult::failed(FailCode::ExecutorFailed),
        };
        let end = ended(&self.running, result, at(self.n + 1));
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

    fn gone(&self) -> Txn {
        Txn::changes([Change::PermitGone { permit: PermitId(self.n) }])
    }
}

pub(crate) fn token() -> Token {
    Token {
        id: TokenId(uuid(7)),
        kind: TokenKind::Account,
        name: LaneName::parse("ann").unwrap(),
        secret_hash: [7; 32],
        created_at: at(0),
        expires_at: Some(at(9)),
        last_used_at: None,
        revoked_at: None,
    }
}
