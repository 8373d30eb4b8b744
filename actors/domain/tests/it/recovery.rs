//! Boot: repeatable, never a replay, never a lost promise.

use clankie_domain::admission::STALE_AFTER_MS;
use clankie_domain::admission::global::PlaceClass;
use clankie_domain::handoff::{Class, Owed, State};
use clankie_domain::result::{FailCode, TurnResult};

use crate::house::{House, replied, transport};

fn failed(code: FailCode) -> State {
    State::Ended(TurnResult::failed(code))
}

/// "x" runs in another room; "m1" is pending with the joiner "m2".
fn pending_with_a_joiner() -> House {
    let mut house = House::with_one_slot();
    house.say("b", "bob", "x");
    house.say("a", "ann", "m1");
    house.say("a", "ann", "m2");
    house
}

/// Commits a boot without letting anything start, and checks that a second one changes nothing.
fn boot(house: &mut House) -> Vec<PlaceClass> {
    let first = house.recovery();
    let places = first.places.iter().map(|place| place.3).collect();
    house.commit(first.changes);
    let second = house.recovery();
    assert!(second.changes.is_empty(), "{:?}", second.changes);
    let again: Vec<PlaceClass> = second.places.iter().map(|place| place.3).collect();
    assert_eq!(again, places);
    places
}

#[test]
fn i9_what_was_pending_keeps_its_place_and_its_joiners() {
    let mut house = pending_with_a_joiner();
    assert_eq!(boot(&mut house), vec![PlaceClass::Waiting]);
    assert_eq!(*house.state("x"), failed(FailCode::Interrupted));
    assert_eq!(*house.state("m2"), State::Joined { target: house.record("m1").id });
    house.crash();
    assert_eq!((house.started.clone(), house.handed.clone()), (vec!["x".into(), "m1".into()], vec!["m2".to_owned()]));
}

/// B35: half-done work is over after a restart, and holds no permit.
#[test]
fn b35_what_ran_is_interrupted_with_its_joiners_and_frees_its_permit() {
    let mut house = House::with_one_slot();
    house.say("a", "ann", "m1");
    house.say("a", "ann", "m2");
    house.crash();
    assert_eq!([house.state("m1"), house.state("m2")], [&failed(FailCode::Interrupted); 2]);
    assert_eq!((house.permits(), house.counts().permits), (0, 0));
    house.say("a", "bob", "m3");
    assert_eq!(house.started, vec!["m1", "m3"]);
}

/// B13, B34: a stale backlog is ended, not run; only joiners that are as old go with their target.
#[test]
fn b13_b34_stale_work_ends_and_a_younger_joiner_is_owed() {
    let mut house = House::with_one_slot();
    house.say("b", "bob", "x");
    house.say("a", "ann", "m1");
    house.say("a", "ann", "m2");
    house.now = house.now.plus(STALE_AFTER_MS);
    house.say("a", "ann", "m3");
    house.now = house.now.plus(1);
    assert_eq!(boot(&mut house), vec![PlaceClass::Owed]);
    assert_eq!([house.state("m1"), house.state("m2")], [&failed(FailCode::Stale); 2]);
    assert_eq!(house.record("m3").class, Class::Owed(Owed::Unread));
    house.now = house.now.plus(10 * STALE_AFTER_MS);
    assert_eq!(boot(&mut house), vec![PlaceClass::Owed], "owed work has no age limit");
}

#[test]
fn pending_work_of_exactly_the_limit_is_not_stale() {
    let mut house = pending_with_a_joiner();
    house.now = house.now.plus(STALE_AFTER_MS);
    assert_eq!(boot(&mut house), vec![PlaceClass::Waiting]);
}

/// The joiners of a revoked target are resolved in the same boot, or the next one would end them.
#[test]
fn i9_a_revoked_target_and_its_revoked_joiners_end_in_one_boot() {
    let mut house = pending_with_a_joiner();
    house.authority.sources.revoked.insert(transport());
    assert_eq!(boot(&mut house), vec![]);
    assert_eq!([house.state("m1"), house.state("m2")], [&failed(FailCode::SourceExpired); 2]);
}

/// A crash between the end of a target and the commit of its joiners cannot be: this is the
/// record that an older store might hold, and no joiner is stuck in it.
#[test]
fn i9_a_joiner_whose_target_is_over_is_owed() {
    let mut house = pending_with_a_joiner();
    let target = house.record("m1").id;
    house.records.remove(&target);
    assert_eq!(boot(&mut house), vec![PlaceClass::Owed]);
    assert_eq!((house.state("m2"), house.record("m2").class), (&State::Pending, Class::Owed(Owed::Unread)));
}

#[test]
fn i3_a_saved_result_survives_a_boot_unchanged() {
    let mut house = House::with_one_slot();
    house.say("a", "ann", "m1");
    house.end("m1", replied("kept", &[]));
    let before = house.record("m1").clone();
    house.crash();
    assert_eq!((house.record("m1"), house.permits()), (&before, 0), "its group is reaped by the boot");
}

#[test]
fn i6_rooms_start_after_a_boot_in_the_order_they_waited() {
    let mut house = House::with_one_slot();
    house.say("b", "bob", "x");
    for (at, delivery) in [("c", "m1"), ("a", "m2"), ("c", "m3")] {
        house.now = house.now.plus(1);
        house.say(at, delivery, delivery);
    }
    house.crash();
    for delivery in ["m1", "m2", "m3"] {
        house.finish(delivery);
    }
    assert_eq!(house.started, vec!["x", "m1", "m2", "m3"]);
}
