//! What the explored model of admission does not cover: drains, fair shares, steers that are taken
//! back, and words that come within one round trip.

use clankie_domain::admission::room::{Answer, Canceller, RoomInput};
use clankie_domain::admission::{Limit, Limits};
use clankie_domain::handoff::{State, StateName};
use clankie_domain::result::{By, TurnResult};
use clankie_domain::session::AbortReason;

use crate::house::{House, actor, replied, request, room};

fn owner() -> Canceller {
    Canceller::Authority(By::service())
}

#[test]
fn two_texts_within_one_round_trip_become_one_handoff() {
    let mut house = House::with_one_slot();
    let callers = ["m1", "m2", "m3"].map(|delivery| house.submit(request("a", "ann", delivery)));
    house.pump();
    let states = callers.map(|caller| {
        let Answer::Accepted { state, .. } = house.heard(caller) else { panic!("not accepted") };
        state
    });
    assert_eq!(states, [StateName::Pending, StateName::Joined, StateName::Joined]);
    assert_eq!((house.started.clone(), house.handed.clone()), (vec!["m1".into()], vec!["m2".into(), "m3".into()]));
}

#[test]
fn sixteen_deliveries_join_and_the_next_is_its_own_handoff() {
    let mut house = House::with_one_slot();
    for n in 0..=17 {
        house.say("a", "ann", &format!("m{n}"));
    }
    assert_eq!((house.handed.len(), house.state("m17")), (16, &State::Pending));
    let mut together = House::with_one_slot();
    for n in 0..=17 {
        together.submit(request("a", "ann", &format!("m{n}")));
    }
    together.pump();
    assert_eq!((together.handed.len(), together.state("m17")), (16, &State::Pending));
}

#[test]
fn words_held_behind_a_busy_try_get_a_try_of_their_own() {
    let mut house = House::new(Limits { running: 1, running_per_room: 1, waiting: 1, ..Limits::default() });
    house.say("b", "bob", "x");
    house.say("b", "cyd", "y");
    let callers = ["m1", "m2"].map(|delivery| house.submit(request("a", "ann", delivery)));
    house.pump();
    for caller in callers {
        assert!(matches!(house.heard(caller), Answer::Busy(_)));
    }
    assert!(house.find("m1").is_none() && house.find("m2").is_none());
}

#[test]
fn a_cancelled_try_gives_its_place_to_the_words_behind_it() {
    let mut house = House::new(Limits { running: 1, running_per_room: 1, waiting: 1, ..Limits::default() });
    house.say("b", "bob", "x");
    let first = house.submit(request("a", "ann", "m1"));
    let (at, reserve) = house.up.pop_front().unwrap();
    let posts = house.global.handle(&at, reserve, house.now);
    house.down.extend(posts.into_iter().map(|post| (post.room, post.message)));
    let second = house.submit(request("a", "ann", "m2"));
    house.cancel("a", "m1", owner());
    assert_eq!(house.heard(first), Answer::Forgotten);
    assert!(matches!(house.heard(second), Answer::Accepted { .. }), "its place was free again");
}

#[test]
fn i2_a_drain_answers_every_try_and_starts_nothing_more() {
    let mut house = House::with_one_slot();
    house.say("a", "ann", "m1");
    house.say("a", "bob", "m2");
    let in_flight = house.submit(request("a", "cyd", "m3"));
    let held = house.submit(request("a", "cyd", "m4"));
    house.global.drain();
    house.decide(&room("a"), RoomInput::Drain);
    house.pump();
    assert_eq!((house.heard(in_flight), house.heard(held)), (Answer::ShuttingDown, Answer::ShuttingDown));
    assert_eq!(house.say("a", "dan", "m5"), Answer::ShuttingDown);
    house.finish("m1");
    assert_eq!((house.started.clone(), house.state("m2")), (vec!["m1".to_owned()], &State::Pending));
    assert!(matches!(house.say("a", "ann", "m1"), Answer::Settled { .. }), "saved results are still told");
    house.crash();
    assert_eq!(house.started, vec!["m1", "m2"], "what stayed pending starts after the restart");
}

#[test]
fn stop_runs_aborts_each_run_once_and_the_first_reason_stands() {
    let mut house = House::with_one_slot();
    house.say("a", "ann", "m1");
    assert!(matches!(house.cancel("a", "m1", owner()), Answer::Cancelling { .. }));
    house.decide(&room("a"), RoomInput::StopRuns);
    let run = house.record("m1").run;
    assert_eq!(house.aborted, vec![(run, AbortReason::Cancelled(By::service()))]);
}

/// B30: a fair share of the waiting places leaves a path to everybody else.
#[test]
fn b30_one_room_cannot_take_every_place_where_a_share_is_set() {
    let mut house = House::new(Limits { waiting_per_room: Some(24), ..Limits::default() });
    for n in 0..40 {
        house.say("hooks", &format!("hook{n}"), &format!("h{n}"));
    }
    let Answer::Busy(facts) = house.say("hooks", "late", "late") else { panic!("there is room") };
    assert_eq!((facts.limit, facts.waiting, facts.position), (Limit::WaitingPerRoom, 24, 25));
    house.say("b", "ann", "m1");
    assert_eq!(house.record("m1").state_name(), StateName::Running, "a free slot is for other rooms");
}

#[test]
fn b30_one_actor_cannot_take_every_place_where_a_share_is_set() {
    let mut house =
        House::new(Limits { running: 1, running_per_room: 1, waiting_per_actor: Some(1), ..Limits::default() });
    for (at, delivery) in [("a", "m1"), ("b", "m2")] {
        assert!(matches!(house.say(at, "ann", delivery), Answer::Accepted { .. }));
    }
    let Answer::Busy(facts) = house.say("c", "ann", "m3") else { panic!("there is room") };
    assert_eq!(facts.limit, Limit::WaitingPerActor);
    assert!(matches!(house.say("c", "bob", "m4"), Answer::Accepted { .. }));
}

/// A joiner that is cancelled while the run reads it stays cancelled; the run's read list is late.
#[test]
fn i3_a_steer_that_was_read_after_its_cancel_stays_cancelled() {
    let mut house = House::with_one_slot();
    house.say("a", "ann", "m1");
    house.say("a", "ann", "m2");
    let joiner = house.record("m2").id;
    let by = Canceller::Speaker(actor("ann"));
    let Answer::Settled { result, .. } = house.cancel("a", "m2", by) else { panic!("not cancelled") };
    assert_eq!(house.taken_back, vec![joiner]);
    house.end("m1", replied("read it all the same", &[joiner]));
    assert!(matches!(result, TurnResult::Cancelled { .. }));
    assert_eq!(*house.state("m2"), State::Ended(result));
    assert_eq!(house.counts().owed, 0);
}

/// A joiner of a pending target that is cancelled is not handed over at the start.
#[test]
fn i9_a_joiner_cancelled_before_the_start_is_not_handed_over() {
    let mut house = House::with_one_slot();
    house.say("b", "bob", "x");
    house.say("a", "ann", "m1");
    house.say("a", "ann", "m2");
    house.say("a", "ann", "m3");
    house.cancel("a", "m2", owner());
    house.finish("x");
    assert_eq!((house.handed.clone(), house.taken_back.len()), (vec!["m3".to_owned()], 0));
}

#[test]
fn an_edit_before_the_start_replaces_and_later_steers_once() {
    let mut house = House::with_one_slot();
    let edit = |text: &str| {
        let mut edited = request("a", "ann", "m1");
        edited.text = text.to_owned();
        edited
    };
    house.say("b", "bob", "x");
    house.say("a", "ann", "m1");
    let before = house.edit(edit("better"));
    assert!(matches!(house.heard(before), Answer::Accepted { state: StateName::Pending, .. }));
    assert_eq!((house.record("m1").request.as_str(), house.records.len()), ("better", 2));
    house.finish("x");
    for _ in 0..2 {
        let late = house.edit(edit("best"));
        assert!(matches!(house.heard(late), Answer::Accepted { state: StateName::Joined, .. }));
    }
    assert_eq!((house.records.len(), house.handed.len()), (3, 1));
    let words: Vec<_> = house.records.values().map(|record| record.request.clone()).collect();
    assert!(words.contains(&"(edited) best".to_owned()), "{words:?}");
}

/// Whoever takes an edit back during the run has the run hear it, once.
#[test]
fn an_edit_back_to_the_first_words_reaches_the_run() {
    let mut house = House::with_one_slot();
    house.say("a", "ann", "m1");
    let first = request("a", "ann", "m1");
    let mut other = first.clone();
    other.text = "other".to_owned();
    // Nothing was said otherwise yet: it is what the run has.
    let same = house.edit(first.clone());
    assert!(matches!(house.heard(same), Answer::Accepted { state: StateName::Running, .. }));
    for (edited, records) in [(other, 2), (first.clone(), 3), (first.clone(), 3)] {
        let late = house.edit(edited);
        assert!(matches!(house.heard(late), Answer::Accepted { state: StateName::Joined, .. }));
        assert_eq!(house.records.len(), records);
    }
    let back = format!("(edited) {}", first.text);
    assert!(house.records.values().any(|record| record.request == back), "{:?}", house.records);
}

/// What is over hears its one result again, also while its reply is on its way.
#[test]
fn i3_an_edit_after_the_end_is_no_second_run() {
    let mut house = House::with_one_slot();
    house.say("a", "ann", "m1");
    house.end("m1", replied("done", &[]));
    let mut edited = request("a", "ann", "m1");
    edited.text = "better".into();
    for gone in [false, true] {
        if gone {
            house.gone("m1");
        }
        let late = house.edit(edited.clone());
        house.pump();
        assert!(matches!(house.heard(late), Answer::Settled { .. }), "{gone}");
        assert_eq!(house.records.len(), 1);
    }
}

/// A late edit that joins nothing and comes twice within one round trip is one handoff.
#[test]
fn i3_a_late_edit_that_comes_twice_in_flight_is_one_handoff() {
    let mut house = House::new(Limits { running_per_room: 4, ..Limits::default() });
    house.say("a", "ann", "m1");
    house.authority.policy.machine_actors.clear();
    let mut edited = request("a", "ann", "m1");
    edited.text = "better".into();
    let callers = [house.edit(edited.clone()), house.edit(edited)];
    house.pump();
    let handoffs = callers.map(|caller| {
        let Answer::Accepted { handoff, .. } = house.heard(caller) else { panic!("not accepted") };
        handoff
    });
    assert_eq!((handoffs[0], house.records.len()), (handoffs[1], 2));
}
