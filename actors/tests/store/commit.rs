//! What a commit promises: grouped, guarded, heard of, or stopped for good.

use std::pin::Pin;
use std::sync::mpsc::Sender;
use std::task::{Context, Waker};

use clankie_actors::HandoffQuery;
use clankie_actors::domain::admission::Change;
use clankie_actors::domain::event::Event;
use clankie_actors::domain::grant::GrantEpoch;
use clankie_actors::domain::handoff::StateName;
use clankie_actors::domain::ids::{DeliveryId, RequestId};
use clankie_actors::domain::retention::TRANSCRIPT_PER_HANDOFF;
use clankie_actors::domain::session::Entry;
use clankie_actors::store::{Applied, Committed, Guard, Store, StoreError, Txn, Write};

use crate::disk::Disk;
use crate::world::{EPOCH, at, dump, handoff, memory, pending, room, said, settled, started, uuid, with_receipt};

type Answer = Pin<Box<dyn Future<Output = Result<Committed, StoreError>> + Send>>;

fn epoch(n: u64) -> Txn {
    Txn::of(Write::GrantEpoch(GrantEpoch(n)))
}

fn accepted(n: u64) -> Txn {
    Txn::changes(with_receipt(&pending(n, &room("lab"))))
}

/// Queues a commit.
fn queued(store: &Store, txn: Txn) -> Answer {
    let store = store.clone();
    let mut answer: Answer = Box::pin(async move { store.commit(txn).await });
    let poll = answer.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(poll.is_pending(), "the answer was there before the flush: {poll:?}");
    answer
}

/// A store with one commit that waits for the disk and `behind` more that wait for it.
fn held_up(disk: &Disk, behind: u64) -> (Store, Vec<Answer>, Sender<()>) {
    let store = Store::open_backend_with_writer(disk.clone(), EPOCH).unwrap();
    let (came, go) = disk.gate();
    let mut answers = vec![queued(&store, accepted(1))];
    came.recv().unwrap();
    answers.extend((2..2 + behind).map(|n| queued(&store, accepted(n))));
    (store, answers, go)
}

#[tokio::test]
async fn i2_what_waits_together_is_durable_together() {
    let disk = Disk::default();
    let (store, answers, go) = held_up(&disk, 100);
    go.send(()).unwrap();
    let mut last = 0;
    for answer in answers {
        let done = answer.await.unwrap();
        assert_eq!(done.applied, Applied::Yes);
        assert!(done.last_event > last, "events are numbered in the order of the commits");
        last = done.last_event;
    }
    assert_eq!(store.commits(), 2, "101 transactions, of which 100 waited for the first");
    assert_eq!(store.snapshot().unwrap().live().unwrap().len(), 101);
    assert_eq!(*store.changes().borrow(), 101);
}

#[tokio::test]
async fn i2_after_a_disk_error_everything_queued_and_everything_later_fails() {
    let disk = Disk::default();
    let (store, answers, go) = held_up(&disk, 20);
    disk.full_after(0);
    go.send(()).unwrap();
    let mut failed = store.failed();
    for answer in answers {
        assert!(matches!(answer.await, Err(StoreError::Failed(_))));
    }
    let reason = failed.wait_for(Option::is_some).await.unwrap().clone().unwrap();
    assert!(reason.contains("no space left"), "{reason}");
    let stopped = StoreError::Failed(reason);
    assert_eq!(store.commit(accepted(50)).await, Err(stopped.clone()));
    assert_eq!(store.enqueue(accepted(50)), Err(stopped.clone()));
    assert_eq!(store.health(), Err(stopped));
    let image = disk.image();
    store.close();
    let again = Store::open_backend(Disk::holding(image), EPOCH).unwrap();
    let live = again.snapshot().unwrap().live().unwrap().len();
    assert!(live <= 1, "{live} records of commits that were never begun");
}

#[cfg(feature = "failpoints")]
#[tokio::test]
async fn a_commit_that_panics_stops_the_store() {
    let scenario = fail::FailScenario::setup();
    let store = Store::open_backend_with_writer(Disk::default(), EPOCH).unwrap();
    fail::cfg("store.commit.before", "panic").unwrap();
    let stopped = StoreError::Failed("a commit panicked".into());
    assert_eq!(store.commit(accepted(1)).await, Err(stopped.clone()));
    scenario.teardown();
    assert_eq!(store.commit(accepted(2)).await, Err(stopped.clone()));
    assert_eq!(store.health(), Err(stopped));
}

#[tokio::test]
async fn closing_commits_what_is_queued_and_refuses_what_comes_later() {
    let disk = Disk::default();
    let store = Store::open_backend_with_writer(disk.clone(), EPOCH).unwrap();
    let other = store.clone();
    for n in 1..=20 {
        store.enqueue(accepted(n)).unwrap();
    }
    store.close();
    let closed = StoreError::Failed("it was closed".into());
    assert_eq!(other.commit(accepted(30)).await, Err(closed.clone()));
    assert_eq!(other.snapshot().err(), Some(closed));
    let again = Store::open_backend(Disk::holding(disk.image()), EPOCH).unwrap();
    assert_eq!(again.snapshot().unwrap().live().unwrap().len(), 20);
}

#[test]
fn a_guard_that_does_not_hold_applies_nothing_and_harms_no_other() {
    let store = memory();
    store.commit_group(vec![epoch(3), accepted(1)]).unwrap();
    let before = dump(&store);
    let (stale, moved) = (Guard::GrantEpoch(GrantEpoch(2)), Guard::RecordRevision(handoff(1), 7));
    for guard in [stale.clone(), moved, Guard::RecordRevision(handoff(1), 0), Guard::RecordRevision(handoff(2), 1)] {
        let done =
            store.commit_now(accepted(2).guarded(Guard::GrantEpoch(GrantEpoch(3))).guarded(guard.clone())).unwrap();
        assert_eq!(done, Committed { last_event: 1, applied: Applied::GuardFailed(guard), pruned: 0 });
        assert_eq!(dump(&store), before);
    }
    assert_eq!(store.commits(), 1, "nothing was written for a transaction that was not applied");
    let between = store.commit_group(vec![
        accepted(2).guarded(Guard::RecordRevision(handoff(2), 0)),
        accepted(3).guarded(stale.clone()),
        accepted(4).guarded(Guard::RecordRevision(handoff(2), 1)).guarded(Guard::GrantEpoch(GrantEpoch(3))),
    ]);
    let applied: Vec<_> = between.unwrap().into_iter().map(|done| done.applied).collect();
    assert_eq!(applied, [Applied::Yes, Applied::GuardFailed(stale), Applied::Yes]);
    let live: Vec<_> = store.snapshot().unwrap().live().unwrap().iter().map(|record| record.id).collect();
    assert_eq!(live, [handoff(1), handoff(2), handoff(4)]);
}

#[test]
fn i3_no_client_can_name_the_receipt_of_a_minted_delivery() {
    let store = memory();
    let minted = [
        DeliveryId::Continuation(RequestId(uuid(1))),
        DeliveryId::Edit { of: "m-1".into(), digest: "ab".into() },
        DeliveryId::Edit { of: "1:m-1".into(), digest: "a".into() },
    ];
    let texts = [format!("c:{}", uuid(1)), uuid(1).to_string(), "e:2:ab:m-1".into(), "t:e:2:ab:m-1".into()];
    let sent = texts.map(|text| DeliveryId::parse(&text).unwrap());
    for (n, key) in minted.iter().chain(&sent).enumerate() {
        let record =
            clankie_actors::domain::handoff::HandoffRecord { delivery: key.clone(), ..pending(n as u64, &room("lab")) };
        store.commit_now(Txn::changes(with_receipt(&record))).unwrap();
    }
    let now = store.snapshot().unwrap();
    for (n, key) in minted.iter().chain(&sent).enumerate() {
        let receipt = now.receipt(&room("lab"), key).unwrap().unwrap();
        assert_eq!((receipt.handoff, &receipt.delivery), (handoff(n as u64), key));
    }
}

#[test]
fn a_message_is_said_once_and_has_its_place_in_its_room() {
    let store = memory();
    let (lab, lobby) = (room("lab"), room("lobby"));
    for (id, room, n) in [("a", &lab, 1), ("a", &lobby, 2), ("b", &lab, 3), ("a", &lab, 4), ("c", &lab, 5)] {
        store.commit_now(Txn::changes([Change::Message(said(id, &pending(n, room), at(n)))])).unwrap();
    }
    let now = store.snapshot().unwrap();
    let places = |messages: Vec<(u64, clankie_actors::domain::message::RoomMessage)>| -> Vec<(u64, String)> {
        messages.into_iter().map(|(place, message)| (place, message.text)).collect()
    };
    let text = |n: u64| format!("what is {n} and {n}?");
    assert_eq!(places(now.messages(&lab, 0, 9).unwrap()), [(1, text(1)), (2, text(3)), (3, text(5))]);
    assert_eq!(places(now.messages(&lab, 1, 1).unwrap()), [(2, text(3))]);
    assert_eq!(places(now.last_messages(&lab, 2).unwrap()), [(2, text(3)), (3, text(5))]);
    assert_eq!(places(now.messages(&lobby, 0, 9).unwrap()), [(1, text(2))]);
    let events = now.events_after(0, 9).unwrap();
    let rooms = [&lab, &lobby, &lab, &lab].map(|room| Event::Message { room: room.clone() });
    assert_eq!(events, (1..).zip(rooms).collect::<Vec<_>>());
}

#[test]
fn records_are_found_by_room_state_and_age_newest_first() {
    let store = memory();
    let (lab, lobby) = (room("lab"), room("lobby"));
    let records = [
        settled(1, &lab, at(9)),
        pending(2, &lobby),
        started(&pending(3, &lab), at(9)),
        settled(4, &lobby, at(9)),
        pending(5, &lab),
    ];
    for record in &records {
        store.commit_now(Txn::changes(with_receipt(record))).unwrap();
    }
    let now = store.snapshot().unwrap();
    let ids = |query: HandoffQuery| -> Vec<u64> {
        let found = now.handoffs(&query).unwrap();
        found.iter().map(|record| record.arrival.0).collect()
    };
    let some = || HandoffQuery { limit: 9, ..HandoffQuery::default() };
    assert_eq!(ids(some()), [5, 4, 3, 2, 1]);
    assert_eq!(ids(HandoffQuery { limit: 2, ..some() }), [5, 4]);
    assert_eq!(ids(HandoffQuery { before: Some(handoff(4)), ..some() }), [3, 2, 1]);
    assert_eq!(ids(HandoffQuery { room: Some(lab.clone()), ..some() }), [5, 3, 1]);
    assert_eq!(ids(HandoffQuery { room: Some(lab.clone()), before: Some(handoff(5)), limit: 1, ..some() }), [3]);
    assert_eq!(ids(HandoffQuery { state: Some(StateName::Pending), ..some() }), [5, 2]);
    assert_eq!(ids(HandoffQuery { state: Some(StateName::Pending), room: Some(lobby), ..some() }), [2]);
    assert_eq!(ids(HandoffQuery { state: Some(StateName::Completed), before: Some(handoff(4)), ..some() }), [1]);
    assert_eq!(ids(HandoffQuery { actor: Some(actor("local:bob")), ..some() }), Vec::<u64>::new());
    assert_eq!(now.live_of(&lab).unwrap(), [records[2].clone(), records[4].clone()]);
    let tally = now.tally().unwrap();
    assert_eq!((tally.running, tally.waiting, tally.owed), (1, 2, 0));
}

fn actor(text: &str) -> clankie_actors::domain::ids::ActorId {
    clankie_actors::domain::ids::ActorId::parse(text).unwrap()
}

#[test]
fn a_full_transcript_says_what_was_dropped() {
    let store = memory();
    store.commit_now(accepted(1)).unwrap();
    let long = Entry::Text("x".repeat(1024 * 1024));
    let fits = TRANSCRIPT_PER_HANDOFF / (1024 * 1024) - 1;
    for _ in 0..fits + 2 {
        store.enqueue(Txn::transcript(handoff(1), at(2), vec![(at(1), long.clone())])).unwrap();
    }
    store.enqueue(Txn::transcript(handoff(1), at(3), vec![(at(1), Entry::Note("late".into()))])).unwrap();
    store.enqueue(Txn::transcript(handoff(9), at(3), vec![(at(1), Entry::Note("nobody's".into()))])).unwrap();
    let now = store.snapshot().unwrap();
    let lines = now.transcript(handoff(1), 0, 99).unwrap();
    assert_eq!(lines.iter().map(|line| line.seq).collect::<Vec<_>>(), (1..=fits + 1).collect::<Vec<_>>());
    let last = lines.last().unwrap();
    let Entry::Note(note) = &last.entry else { panic!("the last line is no note: {last:?}") };
    assert!(note.starts_with("This transcript is full: 3 more lines ("), "{note}");
    assert_eq!(last.at, at(3));
    assert_eq!(now.transcript(handoff(9), 0, 9).unwrap(), []);
    assert!(now.transcript_bytes().unwrap() <= TRANSCRIPT_PER_HANDOFF);
}
