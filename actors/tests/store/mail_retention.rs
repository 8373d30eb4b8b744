//! What an unsettled ask refers to stays, and displays keep their newest lines.

use std::sync::Arc;

use clankie_actors::domain::admission::Change;
use clankie_actors::domain::ask::Ask;
use clankie_actors::domain::claim::{Claim, ClaimState, Seen};
use clankie_actors::domain::mailbox::MailChange;
use clankie_actors::domain::result::FailCode;
use clankie_actors::domain::retention::{CHUNK, ENDED_PER_ROOM, KEPT_MS, LINES_PER_CONVERSATION};
use clankie_actors::domain::session::Entry;
use clankie_actors::domain::time::Timestamp;
use clankie_actors::store::{Store, Txn};

use crate::mail::{answered, ask, cancelled, claim, conversation, head, line, mail};
use crate::world::{at, handoff, memory, room, settled, with_receipt};

/// Prunes until nothing goes. Says how many rows went.
fn prune(store: &Store, now: Timestamp) -> usize {
    let steps = std::iter::repeat_with(|| store.commit_now(Txn::prune(now)).unwrap().pruned);
    steps.take_while(|pruned| *pruned > 0).inspect(|pruned| assert!(*pruned <= CHUNK)).sum()
}

/// A store in which ended handoffs 1 to 5 each raised an ask with the same number.
fn asked() -> (Store, [Arc<Ask>; 5]) {
    let (store, lab) = (memory(), conversation(1));
    let asks = [1, 2, 3, 4, 5].map(|n| ask(n, &lab, n, at(n)));
    for n in 1..=5 {
        let record = settled(n, &room("lab"), at(n));
        store.commit_now(Txn::changes(with_receipt(&record))).unwrap();
        store.enqueue(Txn::transcript(record.id, at(n), vec![(at(n), Entry::Text("hm".into()))])).unwrap();
    }
    store.commit_now(mail([head(&lab, 1)].into_iter().chain(asks.clone().map(MailChange::Asked)))).unwrap();
    (store, asks)
}

fn kept(store: &Store) -> Vec<u64> {
    let now = store.snapshot().unwrap();
    (1..=5).filter(|n| now.handoff(handoff(*n)).unwrap().is_some()).collect()
}

#[test]
fn m3_what_an_unsettled_ask_refers_to_is_kept_until_the_ask_is_settled() {
    let (store, [pending, cancelled_one, delivered, lost, returned]) = asked();
    let late = at(9).plus(KEPT_MS);
    let claimed = |ask: &Ask, state| MailChange::Claim(claim(ask, state, at(9)));
    store.commit_now(mail([cancelled(&cancelled_one, at(8))])).unwrap();
    for (ask, state) in [
        (&delivered, ClaimState::Claimed),
        (&lost, ClaimState::Uncertain),
        (&returned, ClaimState::Returned(FailCode::Interrupted)),
    ] {
        store.commit_now(mail([answered(ask, "red", at(8)), claimed(ask, state)])).unwrap();
    }
    prune(&store, late);
    assert_eq!(kept(&store), [1, 3, 4, 5]);
    assert_eq!(store.snapshot().unwrap().transcript(handoff(1), 0, 9).unwrap().len(), 1);
    assert_eq!(prune(&store, late), 0, "what is held is passed over, again and again");

    store.commit_now(mail([claimed(&delivered, ClaimState::Delivered)])).unwrap();
    let seen = Claim { seen: Seen::Yes, ..claim(&lost, ClaimState::Uncertain, at(9)) };
    store.commit_now(mail([MailChange::Claim(seen)])).unwrap();
    prune(&store, late);
    assert_eq!(kept(&store), [1, 5], "nothing else has to happen in the room");

    store.commit_now(mail([MailChange::AskGone(returned), cancelled(&pending, at(9))])).unwrap();
    prune(&store, late);
    assert_eq!(kept(&store), Vec::<u64>::new());
    let now = store.snapshot().unwrap();
    assert_eq!(now.rooms().unwrap(), []);
    assert_eq!(now.transcript_bytes().unwrap(), 0);
}

#[test]
fn m3_a_handoff_of_several_asks_is_kept_for_the_last_of_them() {
    let (store, [first, ..]) = asked();
    let other = Arc::new(Ask { origin: first.origin.clone(), ..Ask::clone(&ask(9, &conversation(2), 0, at(9))) });
    store.commit_now(mail([head(&conversation(2), 1), MailChange::Asked(Arc::clone(&other))])).unwrap();
    store.commit_now(mail([cancelled(&first, at(9))])).unwrap();
    prune(&store, at(9).plus(KEPT_MS));
    assert_eq!(kept(&store), [1, 2, 3, 4, 5]);
    store.commit_now(mail([cancelled(&other, at(9))])).unwrap();
    prune(&store, at(9).plus(KEPT_MS));
    assert_eq!(kept(&store), [2, 3, 4, 5]);
}

#[test]
fn m3_a_full_room_keeps_what_is_held_and_the_newest_of_the_rest() {
    let (store, asks) = asked();
    let lab = room("lab");
    let many: Vec<_> = (10..10 + ENDED_PER_ROOM as u64).map(|n| settled(n, &lab, at(n))).collect();
    for records in many.chunks(200) {
        let changes = records.iter().map(|record| Change::Record(Arc::new(record.clone())));
        store.commit_now(Txn::changes(changes)).unwrap();
    }
    assert_eq!(prune(&store, at(20)), 5);
    assert_eq!(kept(&store), [1, 2, 3, 4, 5]);
    let now = store.snapshot().unwrap();
    assert_eq!([14, 15].map(|n| now.handoff(handoff(n)).unwrap().is_some()), [false, true]);
    drop(now);
    store.commit_now(mail(asks.iter().map(|ask| cancelled(ask, at(9))))).unwrap();
    assert_eq!(prune(&store, at(20)), 0, "it is not too much any more");
    store.commit_now(Txn::changes(with_receipt(&settled(5_000, &lab, at(5_000))))).unwrap();
    prune(&store, at(20));
    assert_eq!(kept(&store), [2, 3, 4, 5], "the oldest goes first again");
}

#[test]
fn a_display_keeps_its_newest_lines_and_its_places_go_on() {
    let (store, lab, other) = (memory(), conversation(1), conversation(2));
    let shown = |n: u64, of| mail([MailChange::Shown(line(&ask(n, of, n, at(n)), at(n)))]);
    let most = LINES_PER_CONVERSATION as u64;
    store.commit_now(shown(9_000, &other)).unwrap();
    for chunk in (1..=most + 7).collect::<Vec<_>>().chunks(200) {
        store.commit_group(chunk.iter().map(|n| shown(*n, &lab)).collect()).unwrap();
    }
    let now = store.snapshot().unwrap();
    let lines = now.display(&lab, 0, usize::MAX).unwrap();
    assert_eq!(lines.iter().map(|(place, _)| *place).collect::<Vec<_>>(), (8..=most + 7).collect::<Vec<_>>());
    assert_eq!(lines[0].1, line(&ask(8, &lab, 8, at(8)), at(8)));
    let some: Vec<_> = now.display(&lab, 10, 2).unwrap().into_iter().map(|(place, _)| place).collect();
    assert_eq!(some, [11, 12]);
    assert_eq!(now.display(&other, 0, 9).unwrap().len(), 1);
    drop(now);
    assert_eq!(prune(&store, at(10).plus(KEPT_MS)), 2, "the eighth and the ninth line are too old");
    let all = prune(&store, at(10_000).plus(KEPT_MS));
    assert_eq!(all as u64, most - 2 + 1);
    store.commit_now(shown(9_500, &lab)).unwrap();
    let now = store.snapshot().unwrap();
    let read: Vec<_> = now.display(&lab, most + 7, 9).unwrap().into_iter().map(|(place, _)| place).collect();
    assert_eq!(read, [most + 8], "a reader who had read the last line hears the new one");
}
