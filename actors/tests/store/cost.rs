//! What a commit costs the disk: flushes and pages, counted, so that no clock is asked.

use std::sync::Arc;

use clankie_actors::domain::admission::Change;
use clankie_actors::domain::claim::ClaimState;
use clankie_actors::domain::mailbox::MailChange;
use clankie_actors::domain::update::UpdateState;
use clankie_actors::store::{Store, Txn};

use crate::disk::{Disk, Move};
use crate::mail::{answered, ask, claim, conversation, head, line, mail, moved, update};
use crate::world::{EPOCH, at, pending, permit_taken, room, said, started, with_receipt};

/// Mail of one conversation while a store is filled.
const EACH: u64 = 200;
/// Most pages that a commit may write at the larger size beyond those at the smaller one: two more levels
/// of each of the four tables that mail stands in.
const LEVELS: usize = 8;

/// What one commit did to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cost {
    pages: usize,
    flushes: usize,
}

/// A store that counts, and the number of what is made next.
struct Counted {
    disk: Disk,
    store: Store,
    next: u64,
}

impl Counted {
    fn holding(records: u64) -> Self {
        let disk = Disk::default();
        let store = Store::open_backend(disk.clone(), EPOCH).unwrap();
        let mut counted = Self { disk, store, next: 1 };
        for box_of in 0..records / EACH {
            let of = conversation(1_000 + box_of);
            let group = (0..EACH).map(|seq| {
                let n = counted.number();
                let published = match n % 2 {
                    0 => MailChange::Asked(ask(n, &of, seq, at(n))),
                    _ => MailChange::Update(Arc::new(update(n, &of, seq, at(n)))),
                };
                mail([head(&of, seq + 1), published])
            });
            let group = group.collect();
            counted.store.commit_group(group).unwrap();
        }
        counted
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn cost(&self, txn: Txn) -> Cost {
        let before = self.disk.moves().len();
        self.store.commit_now(txn).unwrap();
        let moves = self.disk.moves();
        let count = |what: fn(&Move) -> bool| moves[before..].iter().filter(|one| what(one)).count();
        // The header is written once for each flush and is no page.
        let flushes = count(|one| matches!(one, Move::Sync));
        Cost { pages: count(|one| matches!(one, Move::Write { .. })) - flushes, flushes }
    }

    /// Each write of the mailbox, and an admission, after the first has made room for itself.
    fn costs(&mut self) -> Vec<(&'static str, Cost)> {
        let of = conversation(1);
        self.round(&of, 0);
        self.round(&of, 10)
    }

    fn round(&mut self, of: &clankie_actors::domain::ids::ConversationId, version: u64) -> Vec<(&'static str, Cost)> {
        let (news, question, run) = (self.number(), self.number(), self.number());
        let news = update(news, of, version, at(news));
        let question = ask(question, of, version, at(question));
        let read = moved(&news, UpdateState::Read { at: at(run) });
        let continuation = pending(run, &room("lab"));
        let accepted = [
            head(of, version + 4),
            answered(&question, "red", at(run)),
            MailChange::Claim(claim(&question, ClaimState::Claimed, at(run))),
            MailChange::Shown(line(&question, at(run))),
        ];
        let answer = Txn::changes(with_receipt(&continuation).into_iter().chain(accepted.map(Change::Mail)));
        let fresh = self.number();
        let fresh = started(&pending(fresh, &room("lab")), at(fresh));
        let words = Change::Message(said(&format!("m-{}", fresh.arrival.0), &fresh, fresh.created_at));
        let admission = with_receipt(&fresh).into_iter().chain([permit_taken(fresh.arrival.0, &fresh), words]);
        vec![
            ("publish an update", self.cost(mail([head(of, version + 1), MailChange::Update(Arc::new(news))]))),
            ("mark it as read", self.cost(mail([head(of, version + 2), read]))),
            ("publish an ask", self.cost(mail([head(of, version + 3), MailChange::Asked(question)]))),
            ("answer it", self.cost(answer)),
            ("admit a delivery", self.cost(Txn::changes(admission))),
        ]
    }
}

#[test]
fn m4_one_write_of_the_mailbox_is_one_commit_whose_pages_do_not_grow_with_the_mail() {
    let (few, many) = (Counted::holding(200).costs(), Counted::holding(4_000).costs());
    println!("{few:?}\n{many:?}");
    for ((what, few), (_, many)) in few.into_iter().zip(many) {
        assert_eq!((few.flushes, many.flushes), (2, 2), "{what}: two flushes are one durable commit");
        assert!(many.pages <= few.pages + LEVELS, "{what}: {} pages at first, {} later", few.pages, many.pages);
    }
}

#[test]
fn m4_pages_of_each_write_stay_within_what_was_measured_when_the_tables_were_laid_out() {
    // A table more for a write costs it a page for each level. These are the counts and one to spare.
    let most = [17, 18, 19, 24, 19];
    for ((what, cost), most) in Counted::holding(1_000).costs().into_iter().zip(most) {
        assert!(cost.pages <= most, "{what} writes {} pages, more than {most}", cost.pages);
    }
}
