//! What is kept, what goes, and that nothing live ever goes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use clankie_actors::domain::admission::Change;
use clankie_actors::domain::handoff::{HandoffRecord, State};
use clankie_actors::domain::ids::RoomId;
use clankie_actors::domain::mailbox::MailChange;
use clankie_actors::domain::retention::{
    CHUNK, ENDED_PER_ROOM, EVENTS_KEPT, EVENTS_KEPT_MS, KEPT_MS, MESSAGES_PER_ROOM, RECEIPTS_PER_ROOM, TRANSCRIPT_BYTES,
};
use clankie_actors::domain::session::Entry;
use clankie_actors::domain::time::Timestamp;
use clankie_actors::store::{Store, Txn};

use crate::mail::{ask, conversation, head, mail};
use crate::raw;
use crate::world::{
    EPOCH, admitted, all, assert_whole, at, delivery, handoff, memory, pending, permit_taken, room, said, settled,
    started, with_receipt,
};

/// Prunes until nothing goes, each time at most a chunk. Says how many rows went.
fn prune(store: &Store, now: Timestamp) -> usize {
    let mut rows = 0;
    loop {
        match store.commit_now(Txn::prune(now)).unwrap().pruned {
            0 => return rows,
            some => {
                assert!(some <= CHUNK, "{some} rows in one transaction");
                rows += some;
            }
        }
    }
}

fn commit_all(store: &Store, changes: impl Iterator<Item = Vec<Change>>) {
    let txns: Vec<_> = changes.map(Txn::changes).collect();
    for group in txns.chunks(200) {
        store.commit_group(group.to_vec()).unwrap();
    }
}

/// What lives in a room: pending, running and joined, older than everything else.
fn live(room: &RoomId) -> [HandoffRecord; 3] {
    let running = started(&pending(1, room), at(1));
    let joined = admitted(3, room, State::Joined { target: running.id });
    [running, pending(2, room), joined]
}

fn commit_live(store: &Store, room: &RoomId) -> [HandoffRecord; 3] {
    let live = live(room);
    for record in &live {
        store.commit_now(Txn::changes(with_receipt(record))).unwrap();
    }
    store.commit_now(Txn::changes([permit_taken(1, &live[0])])).unwrap();
    live
}

#[test]
fn a_room_keeps_the_newest_of_each_kind_and_all_that_lives() {
    let (store, lab) = (memory(), room("lab"));
    let living = commit_live(&store, &lab);
    let ended = (10..).map(|n| settled(n, &lab, at(n))).take(RECEIPTS_PER_ROOM + 100);
    commit_all(&store, ended.map(|record| with_receipt(&record).into()));
    let words = (0..MESSAGES_PER_ROOM + 50).map(|n| vec![Change::Message(said(&format!("w{n}"), &living[1], at(1)))]);
    commit_all(&store, words);
    let other = settled(1_000_000, &room("lobby"), at(1));
    store.commit_now(Txn::changes(with_receipt(&other))).unwrap();

    let gone = prune(&store, at(20));

    assert_eq!(gone, (RECEIPTS_PER_ROOM + 100 - ENDED_PER_ROOM) + 100 + 50);
    let now = store.snapshot().unwrap();
    assert_eq!(now.live().unwrap(), living);
    assert_eq!(now.permits().unwrap().len(), 1);
    let first_kept = 10 + RECEIPTS_PER_ROOM as u64 + 100 - ENDED_PER_ROOM as u64;
    assert_eq!(now.handoff(handoff(first_kept - 1)).unwrap(), None);
    assert_eq!(now.handoff(handoff(first_kept)).unwrap(), Some(settled(first_kept, &lab, at(first_kept))));
    assert_eq!(now.receipt(&lab, &delivery(109)).unwrap(), None);
    assert!(now.receipt(&lab, &delivery(110)).unwrap().is_some(), "receipts outlive their records");
    for record in living.iter().chain([&other]) {
        assert_eq!(now.receipt(&record.room, &record.delivery).unwrap(), Some(record.receipt()));
    }
    let kept = now.messages(&lab, 0, 1).unwrap();
    assert_eq!((kept[0].0, kept[0].1.id.as_str()), (51, "w50"));
    assert_eq!(prune(&store, at(20)), 0);
}

#[test]
fn after_thirty_days_only_what_lives_is_kept_and_places_go_on() {
    let (store, lab) = (memory(), room("lab"));
    let living = commit_live(&store, &lab);
    for n in 10..40 {
        let (record, lobby) = (settled(n, &lab, at(n)), settled(100 + n, &room("lobby"), at(n)));
        let words = [Change::Message(said("old", &lobby, at(n)))];
        let changes = with_receipt(&record).into_iter().chain(with_receipt(&lobby)).chain(words);
        store.commit_now(Txn::changes(changes)).unwrap();
        store.enqueue(Txn::transcript(record.id, at(n), vec![(at(n), Entry::Text("hm".into())); 20])).unwrap();
    }
    store.enqueue(Txn::transcript(living[0].id, at(1), vec![(at(1), Entry::Text("hm".into()))])).unwrap();
    assert_eq!(prune(&store, at(50).plus(EVENTS_KEPT_MS)), 3 + 2 * 30 + 1, "events are hints and go sooner");
    assert_eq!(prune(&store, at(10).plus(KEPT_MS)), 0, "the moment before the first is too old");
    assert_eq!(prune(&store, at(11).plus(KEPT_MS)), 2 + 2 + 1 + 20, "the oldest of each, and a transcript");
    prune(&store, at(50).plus(KEPT_MS));
    let now = store.snapshot().unwrap();
    let mut left = now.handoffs(&all()).unwrap();
    left.reverse();
    assert_eq!(left, living);
    assert_whole(&now);
    assert_eq!(now.transcript(living[0].id, 0, 9).unwrap().len(), 1);
    assert_eq!(now.transcript(handoff(20), 0, 9).unwrap(), []);
    let rooms: Vec<_> = now.rooms().unwrap().into_iter().map(|summary| (summary.room, summary.live)).collect();
    assert_eq!(rooms, [(lab, 3)], "a room of which nothing is kept is forgotten");
    assert_eq!(now.first_event().unwrap(), None);
    store
        .commit_now(Txn::changes([Change::Message(said("new", &settled(200, &room("lobby"), at(60)), at(60)))]))
        .unwrap();
    let said = store.snapshot().unwrap().messages(&room("lobby"), 1, 9).unwrap();
    assert_eq!(said.len(), 1, "a reader who had read the old message hears the new one");
}

#[test]
fn the_oldest_transcripts_of_ended_handoffs_go_when_all_are_too_long() {
    let (dir, lab) = (tempfile::tempdir().unwrap(), room("lab"));
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let store = Store::open(dir.path(), EPOCH).unwrap();
    let line = vec![(at(1), Entry::Text("x".repeat(1_000))); 2];
    for record in [
        pending(1, &lab),
        settled(2, &lab, at(2)),
        settled(3, &lab, at(3)),
        settled(4, &lab, at(4)),
        settled(5, &lab, at(5)),
    ] {
        store.commit_now(Txn::changes(with_receipt(&record))).unwrap();
        store.enqueue(Txn::transcript(record.id, at(4), line.clone())).unwrap();
    }
    let held = MailChange::Asked(ask(2, &conversation(1), 0, at(2)));
    store.commit_now(mail([head(&conversation(1), 1), held])).unwrap();
    store.close();
    // As if there were others, so that these are three lines too long together.
    let store = with_number(dir.path(), raw::TRANSCRIPT_BYTES, TRANSCRIPT_BYTES + 2_500);
    assert_eq!(prune(&store, at(5)), 4);
    let now = store.snapshot().unwrap();
    let lines = |n| now.transcript(handoff(n), 0, 9).unwrap().len();
    assert_eq!([1, 2, 3, 4, 5].map(lines), [2, 2, 0, 0, 2], "one handoff still lives, to one an ask refers");
    assert!(now.handoff(handoff(3)).unwrap().is_some());
    assert!(now.transcript_bytes().unwrap() <= TRANSCRIPT_BYTES);
}

#[test]
fn old_events_go_and_their_numbers_are_never_used_again() {
    let (dir, lab) = (tempfile::tempdir().unwrap(), room("lab"));
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let store = Store::open(dir.path(), EPOCH).unwrap();
    for n in 1..=10 {
        store.commit_now(Txn::changes(with_receipt(&settled(n, &lab, at(n))))).unwrap();
    }
    store.close();
    let store = with_number(dir.path(), raw::LAST_EVENT, EVENTS_KEPT + 3);
    let done = store.commit_now(Txn::changes(with_receipt(&settled(11, &lab, at(11))))).unwrap();
    assert_eq!(done.last_event, EVENTS_KEPT + 4);
    assert_eq!(prune(&store, at(12)), 4);
    let now = store.snapshot().unwrap();
    assert_eq!(now.first_event().unwrap(), Some(5));
    let after: Vec<_> = now.events_after(6, 2).unwrap().into_iter().map(|(seq, _)| seq).collect();
    assert_eq!(after, [7, 8]);
}

fn with_number(dir: &Path, which: u64, number: u64) -> Store {
    raw::put(dir, raw::EVENTS, which, &number.to_be_bytes());
    Store::open(dir, EPOCH).unwrap()
}
