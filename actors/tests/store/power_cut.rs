//! The disk loses power at every flush of an evening, and runs full at every move of one.

use std::collections::BTreeSet;

use clankie_actors::domain::grant::GrantEpoch;
use clankie_actors::store::{Applied, OpenError, Store, StoreError, Txn, Write};

use crate::disk::{Dice, Disk, Move, Unsynced, apply, cut};
use crate::history::{Group, evening};
use crate::world::{EPOCH, assert_whole, dump};

/// Torn cuts at each flush, beside one that loses everything and one that keeps it. The variable
/// `CLANKIE_TORN_CUTS` asks for more: 60 of them make more than 3 000 cuts.
const TORN: u64 = 5;

/// A run of a history: the disk, and what the store said after each of its steps.
struct Run {
    disk: Disk,
    said: Vec<String>,
}

fn run(history: &[Group]) -> Run {
    clankie_actors::choose_mutant();
    let disk = Disk::default();
    disk.mark(Move::Begun(0));
    let store = Store::open_backend(disk.clone(), EPOCH).unwrap();
    disk.mark(Move::Heard(0));
    let mut said = vec![dump(&store)];
    for (step, group) in history.iter().enumerate() {
        disk.mark(Move::Begun(step + 1));
        let done = store.commit_group(group.clone()).unwrap();
        disk.mark(Move::Heard(step + 1));
        assert!(done.iter().all(|one| one.applied == Applied::Yes), "step {step} was not applied");
        said.push(dump(&store));
    }
    Run { disk, said }
}

/// How far a history had come: the last step it had heard of, and the last that it had begun.
#[derive(Debug, Clone, Copy)]
struct Progress {
    heard: Option<usize>,
    begun: usize,
}

fn progress(moves: &[Move]) -> Progress {
    let mut progress = Progress { heard: None, begun: 0 };
    for step in moves {
        match step {
            Move::Heard(step) => progress.heard = Some(*step),
            Move::Begun(step) => progress.begun = *step,
            Move::Write { .. } | Move::Len(_) | Move::Sync => {}
        }
    }
    progress
}

/// Opens what a cut left and finds every step that was heard of, whole, and none that never began; or
/// says what it found in its place.
fn recovers(image: Vec<u8>, at: Progress, said: &[String]) -> Result<usize, String> {
    let store = match Store::open_backend(Disk::holding(image), EPOCH) {
        Ok(store) => store,
        // Half a new file is refused; on a real disk it never has the database's name.
        Err(OpenError::Damaged { .. }) if at.heard.is_none() => return Ok(0),
        Err(why) => return Err(format!("the store does not open: {why}")),
    };
    let now = dump(&store);
    let mut may_be = at.heard.unwrap_or(0)..=at.begun;
    let found = may_be.find(|step| said[*step] == now).ok_or_else(|| format!("it is not as after {at:?}:\n{now}"))?;
    assert_whole(&store.snapshot().unwrap());
    match store.commit_now(Txn::of(Write::GrantEpoch(GrantEpoch(9)))) {
        Ok(more) if more.applied == Applied::Yes => Ok(found),
        other => Err(format!("it takes no more commits: {other:?}")),
    }
}

/// What came of cuts: how many there were, the steps that were found after one, and what was violated.
#[derive(Debug, Default)]
struct Found {
    cuts: usize,
    flushes: usize,
    steps: BTreeSet<usize>,
    violations: Vec<String>,
}

/// Cuts the power at every flush of a run: all that was not flushed lost, all of it kept, and `torn` times
/// some sectors of it. A flush for which `lies` does nothing and says that it was done.
fn cut_at_every_flush(run: &Run, torn: u64, lies: fn(usize) -> bool) -> Found {
    let moves = run.disk.moves();
    let flushes: Vec<_> = (0..moves.len()).filter(|at| matches!(moves[*at], Move::Sync)).collect();
    let mut found = Found { flushes: flushes.len(), ..Found::default() };
    let (mut synced, mut done) = (Vec::new(), 0);
    for (flush, &end) in flushes.iter().chain([&moves.len()]).enumerate() {
        let unsynced = &moves[done..end];
        let mut cut_off = |image, until: usize, which: String| {
            found.cuts += 1;
            match std::panic::catch_unwind(|| recovers(image, progress(&moves[..until]), &run.said)) {
                Ok(Ok(step)) => drop(found.steps.insert(step)),
                Ok(Err(why)) => found.violations.push(format!("{which}: {why}")),
                Err(_) => found.violations.push(format!("{which}: it is not whole")),
            }
        };
        for fate in [Unsynced::Lost, Unsynced::Kept] {
            cut_off(cut(&synced, unsynced, fate, &mut Dice::seeded(0)), end, format!("flush {flush} {fate:?}"));
        }
        for seed in 0..torn {
            let mut dice = Dice::seeded(1_000_000 * flush as u64 + seed);
            let until = done + dice.below(unsynced.len() + 1);
            let image = cut(&synced, &moves[done..until], Unsynced::Torn, &mut dice);
            cut_off(image, until, format!("flush {flush} seed {seed}"));
        }
        if !lies(flush) {
            unsynced.iter().for_each(|change| apply(&mut synced, change));
            done = end;
        }
    }
    found
}

#[test]
fn i2_i3_whatever_was_acknowledged_survives_a_power_cut_at_every_flush_whole() {
    let run = run(&evening(6));
    let torn = std::env::var("CLANKIE_TORN_CUTS").map_or(TORN, |cuts| cuts.parse().unwrap());
    let found = cut_at_every_flush(&run, torn, |_| false);
    println!("{} cuts at {} flushes of {} steps", found.cuts, found.flushes, run.said.len());
    assert_eq!(found.violations, Vec::<String>::new());
    assert_eq!(found.steps.len(), run.said.len(), "every step was found after some cut");
}

#[test]
fn i2_a_flush_that_lies_is_caught() {
    let run = run(&evening(2));
    // All of them; only those that end a commit; only those before the header turns; a few.
    let lies: [fn(usize) -> bool; 4] = [|_| true, |n| n % 2 == 1, |n| n % 2 == 0, |n| n % 7 == 6];
    for (which, lies) in lies.into_iter().enumerate() {
        let found = cut_at_every_flush(&run, TORN, lies);
        println!("lie {which}: {} of {} cuts show it", found.violations.len(), found.cuts);
        assert!(!found.violations.is_empty(), "nobody noticed lie {which}");
    }
}

#[test]
fn i2_a_full_disk_stops_the_store_and_loses_nothing_that_was_acknowledged() {
    let history = evening(2);
    let whole = run(&history);
    let (mut tries, mut stopped) = (0, 0);
    for room_for in (0..whole.disk.moves().len()).step_by(3) {
        let disk = Disk::default();
        let store = Store::open_backend(disk.clone(), EPOCH).unwrap();
        disk.full_after(room_for);
        let heard = history.iter().take_while(|group| store.commit_group((*group).clone()).is_ok()).count();
        tries += 1;
        if heard < history.len() {
            stopped += 1;
            let reason = store.failed().borrow().clone().expect("it says that it stopped");
            assert!(reason.contains("no space left"), "{reason}");
            let refused = store.commit_now(Txn::of(Write::GrantEpoch(GrantEpoch(9)))).unwrap_err();
            assert_eq!(refused, StoreError::Failed(reason.clone()));
            assert_eq!(store.health(), Err(StoreError::Failed(reason)));
        }
        let image = disk.image();
        drop(store);
        let begun = (heard + 1).min(history.len());
        let found = recovers(image, Progress { heard: Some(heard), begun }, &whole.said);
        assert!(found.is_ok(), "room for {room_for} moves: {found:?}");
    }
    assert!(stopped > 20, "only {stopped} of {tries} runs met the full disk");
    println!("{stopped} of {tries} runs met a full disk");
}
