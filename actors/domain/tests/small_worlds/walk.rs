//! Walks a world completely, breadth first, and says how large it was.

use std::hash::Hash;
use std::sync::Arc;

use crate::digest::{Digest, Seen};
use crate::script::Script;
use crate::world::{Act, World};

/// A world larger than this was not meant to be, or does not close.
const STATES_MAX: usize = 2_000_000;

/// A state of a world that can be walked: what may happen next, and what comes of it.
pub(crate) trait Walked: Hash + Sized {
    type Act: Copy + std::fmt::Debug;

    fn enabled(&self) -> Vec<Self::Act>;

    /// The state after `act`, or which invariant it broke.
    fn after(&self, act: Self::Act) -> Result<Self, String>;
}

impl Walked for World {
    type Act = Act;

    fn enabled(&self) -> Vec<Act> {
        self.enabled()
    }

    fn after(&self, act: Act) -> Result<Self, String> {
        self.after(act)
    }
}

/// The way to a state, shared between all that came by it.
#[derive(Debug)]
struct Way<Act> {
    act: Act,
    before: Option<Arc<Way<Act>>>,
}

/// How large a world was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) states: usize,
    pub(crate) transitions: usize,
}

/// Walks every order of `script`; panics with the shortest way to a broken invariant.
pub(crate) fn walk(name: &str, script: Script) -> Size {
    walk_from(name, World::new(script))
}

/// Walks every order of what may happen after `first`.
pub(crate) fn walk_from<W: Walked>(name: &str, first: W) -> Size {
    choose_mutant();
    let mut seen = Seen::default();
    seen.insert(Digest::of(&first));
    let mut level = vec![(first, None)];
    let (mut transitions, mut depth) = (0, 0);
    while !level.is_empty() {
        let mut next = Vec::new();
        for (world, way) in level {
            for act in world.enabled() {
                transitions += 1;
                let way = Arc::new(Way { act, before: way.clone() });
                match world.after(act) {
                    Ok(state) if fresh(&mut seen, &state) => next.push((state, Some(way))),
                    Ok(_) => {}
                    Err(broken) => panic!("{name}: {broken}\nafter {:?}", acts(&way)),
                }
            }
        }
        assert!(seen.len() <= STATES_MAX, "{name}: more than {STATES_MAX} states");
        level = next;
        depth += 1;
    }
    println!("{name}: {} states, {transitions} transitions, {depth} deep", seen.len());
    Size { states: seen.len(), transitions }
}

/// Makes this process the mutant that the environment names, if it names one.
pub(crate) fn choose_mutant() {
    if let Ok(name) = std::env::var(clankie_domain::mutant::VARIABLE) {
        clankie_domain::mutant::choose(&name);
    }
}

fn fresh(seen: &mut Seen, state: &impl Hash) -> bool {
    seen.insert(Digest::of(state))
}

fn acts<Act: Copy>(way: &Arc<Way<Act>>) -> Vec<Act> {
    let mut acts = Vec::new();
    let mut at = Some(way);
    while let Some(way) = at {
        acts.push(way.act);
        at = way.before.as_ref();
    }
    acts.reverse();
    acts
}
