//! The oracle is judged too: sound histories pass, and each fault that is planted in one is noticed
//! under the name of its invariant.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{INVARIANTS, judge};
use crate::sim::history::{Fact, History, What};
use crate::sim::world::play;

mod deliveries;
mod made_up;
mod mailbox;

/// Worlds whose histories are doctored.
const WORLDS: std::ops::Range<u64> = 0..14;

/// One fault: whose law must notice it, what it is, and how it is planted. It says whether the
/// history had anything to plant it in.
pub(super) type Plant = (&'static str, &'static str, fn(&mut Vec<Fact>) -> bool);

fn plants() -> Vec<Plant> {
    [deliveries::PLANTS, deliveries::MORE, mailbox::PLANTS].concat()
}

#[test]
fn every_planted_fault_is_noticed_under_its_invariants_name() {
    let histories: Vec<History> = WORLDS.map(|seed| play(seed).unwrap()).collect();
    for (seed, history) in WORLDS.zip(&histories) {
        assert_eq!(judge(history), [], "world {seed} is sound");
    }
    let (mut named, mut unnoticed) = (BTreeSet::new(), Vec::new());
    for (invariant, what, plant) in plants() {
        let mut planted = 0;
        for (seed, history) in WORLDS.zip(&histories) {
            let mut facts = history.facts().to_vec();
            if !plant(&mut facts) {
                continue;
            }
            planted += 1;
            let found = judge(&History::with(facts));
            let noticed = found.iter().any(|violation| violation.invariant == invariant);
            if !noticed {
                unnoticed.push(format!("{invariant} {what}: planted in world {seed}, and found is {found:?}"));
            }
        }
        if planted == 0 {
            unnoticed.push(format!("{invariant} {what}: no world has anything to plant it in"));
        }
        named.insert(invariant);
    }
    assert!(unnoticed.is_empty(), "{}", unnoticed.join("\n"));
    assert_eq!(named, INVARIANTS.into_iter().collect(), "every invariant has a fault that breaks it");
}

/// The first fact that `change` takes.
pub(super) fn change(facts: &mut [Fact], change: impl Fn(&mut What) -> bool) -> Option<&mut Fact> {
    facts.iter_mut().find_map(|fact| change(&mut fact.what).then_some(fact))
}

/// Everything that `change` takes; whether that was anything.
pub(super) fn change_all(facts: &mut [Fact], change: impl Fn(&mut What) -> bool) -> bool {
    facts.iter_mut().filter_map(|fact| change(&mut fact.what).then_some(())).count() > 0
}

/// The last look at the store.
pub(super) fn last(facts: &mut [Fact], change_it: impl Fn(&mut crate::sim::history::Last) -> bool) -> bool {
    let look = |what: &mut What| {
        let What::Last(last) = what else { return false };
        change_it(Arc::make_mut(last))
    };
    change(facts, look).is_some()
}
