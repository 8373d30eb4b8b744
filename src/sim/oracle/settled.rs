//! I5 and I9 at the end: once faults are over, everything that was admitted comes to its end.

use clankie_domain::handoff::{Class, StateName};

use super::Found;
use crate::sim::history::{Fact, Last, What};

pub(super) fn judge(facts: &[Fact], found: &mut Found) {
    let last = facts.iter().rev().find_map(|fact| {
        let What::Last(last) = &fact.what else { return None };
        Some((fact.at, last))
    });
    match last {
        Some((at, last)) => everything_ended(last, at, found),
        None => found.broken("I5", facts.last().map_or(0, |fact| fact.at), "the world did not come to its end"),
    }
}

fn everything_ended(last: &Last, at: u64, found: &mut Found) {
    for record in &last.records {
        let (id, state) = (record.id, record.state_name());
        let is_over = match state {
            StateName::Pending | StateName::Running | StateName::Joined => false,
            StateName::Completed
            | StateName::Absorbed
            | StateName::WaitingUser
            | StateName::Failed
            | StateName::Cancelled => true,
        };
        let law = match record.class {
            Class::Owed(_) => "I9",
            Class::Fresh => "I5",
        };
        if !is_over {
            found.broken(law, at, format!("handoff {id} is {state:?} 10 minutes after the last fault"));
        }
        if record.room_delivery.is_open() {
            found.broken("I7", at, format!("the reply of handoff {id} is on its way 10 minutes after the last fault"));
        }
    }
    if let Some(held) = last.permits.first() {
        found.broken("I5", at, format!("run {} holds a permit 10 minutes after the last fault", held.run));
    }
}
