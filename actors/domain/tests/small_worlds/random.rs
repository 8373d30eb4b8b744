//! Long random histories of three busy rooms under the real limits, with the same oracle.

use std::sync::Arc;

use clankie_domain::admission::Limits;
use clankie_domain::grant::Plan;
use proptest::prelude::{ProptestConfig, any, proptest};
use proptest::test_runner::TestCaseError;

use crate::counts::Draining;
use crate::script::{EditOf, Ending, Habit, Outage, Script, Standing, Who, Words};
use crate::store::is_live;
use crate::walk::choose_mutant;
use crate::world::{Act, World};

const KEYS: [&str; 8] = ["k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"];

/// Three rooms in which sixteen guests speak and Ann comes in bursts, with everything that
/// may go wrong.
fn evening() -> Script {
    let limits = Limits { waiting_per_room: Some(14), waiting_per_actor: Some(5), ..Limits::default() };
    let mut script = Script { rooms: 3, limits, ..Script::new([0; 3]) };
    for room in 0..3 {
        for (n, key) in KEYS.into_iter().enumerate() {
            let guest = Words { room, who: Who::Guest(n as u8), key, text: key, wanted: None, times: 2 };
            let burst = ["b0", "b1", "b2", "b3", "b4", "b5", "b6", "b7"][n];
            let wanted = (n == 5).then_some(Plan::Social);
            let ann = Words { who: Who::Ann, key: burst, text: burst, wanted, ..guest.clone() };
            let again = Words {
                who: Who::Guest(n as u8 + 8),
                text: "again",
                key: ["a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7"][n],
                ..guest.clone()
            };
            script = script.words(guest).words(ann).words(again);
        }
        let first = script.words.len() - 24;
        script = script.owner_cancels(first).speaker_cancels(first + 1).owner_cancels(first + 4);
        script.edits.push(EditOf { words: first + 7, text: "edited", wanted: None, times: 2 });
        script.edits.push(EditOf { words: first + 10, text: "less", wanted: Some(Plan::Social), times: 1 });
    }
    script.endings = vec![Ending::Reply, Ending::Reply, Ending::Wait, Ending::Fail, Ending::Die, Ending::GoneFirst];
    script.habit = Habit::Reads;
    script.switches = vec![Standing::Narrow, Standing::Full, Standing::Revoked, Standing::Unsteered, Standing::Full];
    script.crashes = 2;
    script.drains = 1;
    script
}

/// Picks what happens next; `people` of 8 picks go to what people do. Fate strikes rarely.
fn pick(world: &World, people: u16, n: u16) -> Option<Act> {
    let (inner, mut outer) = (world.inner(), world.outer());
    let is_fate = |act: &Act| matches!(act, Act::Crash | Act::Drain | Act::Switch);
    if !n.is_multiple_of(61) {
        outer.retain(|act| !is_fate(act));
    }
    let (acts, others) = if n % 8 < people { (outer, inner) } else { (inner, outer) };
    let acts = if acts.is_empty() { others } else { acts };
    (!acts.is_empty()).then(|| acts[usize::from(n / 8) % acts.len()])
}

/// Lets everything that is under way end, with a restart after a drain.
fn close(mut world: World) -> Result<World, String> {
    for _ in 0..10_000 {
        match world.inner().first() {
            Some(act) => world = world.after(*act)?,
            None if world.counts.draining == Draining::Yes => world = world.after(Act::Crash)?,
            None => return Ok(world),
        }
    }
    Err("it does not come to an end".into())
}

fn live(script: Script, people: u16, picks: &[u16]) -> Result<World, String> {
    choose_mutant();
    let mut world = World::new(script);
    for n in picks {
        if let Some(act) = pick(&world, people, *n) {
            world = world.after(act).map_err(|broken| format!("{broken} at {act:?}"))?;
        }
    }
    close(world)
}

fn holds(script: Script, people: u16, picks: &[u16]) -> Result<(), TestCaseError> {
    let world = live(script, people, picks).map_err(TestCaseError::fail)?;
    let open = world.store.records.values().find(|record| is_live(record));
    match open {
        None => Ok(()),
        Some(open) => Err(TestCaseError::fail(format!("I9: {open:?} has no result"))),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn i1_to_i9_hold_over_a_long_evening(people in 1_u16..7, picks in proptest::collection::vec(any::<u16>(), 0..900)) {
        holds(evening(), people, &picks)?;
    }

    #[test]
    fn i1_to_i9_hold_when_stale_work_is_found_at_boot(people in 2_u16..7, picks in proptest::collection::vec(any::<u16>(), 0..500)) {
        holds(Script { outage: Outage::Long, ..evening() }, people, &picks)?;
    }
}

/// A history that fills the house: the limits are really reached.
#[test]
fn i1_the_evening_reaches_its_limits() {
    let picks: Vec<u16> = (0..600_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u16 | 1).collect();
    let mut script = evening();
    (script.drains, script.crashes) = (0, 0);
    script.switches.clear();
    let mut world = World::new(script);
    let (mut most_running, mut most_waiting) = (0, 0);
    for n in picks {
        let Some(act) = pick(&world, 7, n) else { break };
        world = world.after(act).unwrap();
        let counts = world.global.counts();
        most_running = most_running.max(counts.permits);
        most_waiting = most_waiting.max(counts.waiting + counts.owed);
    }
    let limits = Arc::clone(&world.script).limits;
    assert_eq!(most_running, limits.running);
    assert!(most_waiting >= limits.waiting, "only {most_waiting} waited");
}
