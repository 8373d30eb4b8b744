//! Walks a world completely, breadth first, and says how large it was.

use std::hash::Hash;
use std::sync::Arc;

use crate::digest::{Digest, Seen};
use crate::script::Script;
use crate::world::{Act, World};

/// A world larger than this was not meant to be, or does not close.
const STATES_MAX: usize = 2_000_000;

/// The way to a state, shared between all that came by it.
#[derive(Debug)]
struct Way {
    act: Act,
    before: Option<Arc<Way>>,
}

/// How large a world was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) states: usize,
    pub(crate) transitions: usize,
}

/// Walks every order of `script`; panics with the shortest way to a broken invariant.
pub(crate) fn walk(name: &str, script: Script) -> Size {
    let mut seen = Seen::default();
    let first = World::new(script);
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

fn fresh(seen: &mut Seen, state: &impl Hash) -> bool {
    seen.insert(Digest::of(state))
}

fn acts(way: &Arc<Way>) -> Vec<Act> {
    let mut acts = Vec::new();
    let mut at = Some(way);
    while let Some(way) = at {
        acts.push(way.act);
        at = way.before.as_ref();
    }
    acts.reverse();
    acts
}
