//! Histories that are made up whole, for what sound worlds seldom come near.

use clankie_domain::admission::Limits;
use clankie_domain::event::Event;
use clankie_domain::handoff::StateName;
use clankie_domain::ids::{HandoffId, RoomId};
use uuid::Uuid;

use crate::sim::history::{Fact, History, What};
use crate::sim::oracle::judge;

/// One move of one of the records `a1`, `a2` of one room and `b1` of another.
type Move = (u64, &'static str, StateName);

/// Whether I6 is broken by those moves.
fn breaks_turns(moves: &[Move]) -> bool {
    let mut facts = vec![Fact { at: 0, what: What::Born(1, Limits::default()) }];
    for (place, (at, name, state)) in moves.iter().enumerate() {
        let id = HandoffId(Uuid::from_u128(u128::from(name.as_bytes()[0]) << 8 | u128::from(name.as_bytes()[1])));
        let room = RoomId::parse(&format!("local:{}", &name[..1])).unwrap();
        let event = Event::Handoff { id, room, state: *state, revision: 1 };
        facts.push(Fact { at: *at, what: What::Event(place as u64 + 1, event) });
    }
    facts.push(Fact { at: 1_000, what: What::Calm });
    judge(&History::with(facts)).iter().any(|violation| violation.invariant == "I6")
}

#[test]
fn i6_a_room_that_has_two_turns_while_another_waits_is_noticed() {
    use StateName::{Completed, Pending, Running};
    let waits = [(5, "a1", Pending), (5, "a2", Pending), (10, "b1", Pending)];
    let turns = |first, second, other| {
        let mut moves =
            [&waits[..], &[(first, "a1", Running), (first, "a1", Completed)], &[(second, "a2", Running)]].concat();
        moves.extend([(other, "b1", Running)]);
        moves
    };
    assert!(breaks_turns(&turns(20, 30, 40)), "b was passed over");
    assert!(!breaks_turns(&turns(20, 30, 30)), "b starts in the same moment, in whatever order");
    assert!(!breaks_turns(&turns(10, 30, 40)), "b began to wait in the moment of the first turn");
    assert!(!breaks_turns(&turns(30, 30, 40)), "both turns of a may have been one decision");
}
