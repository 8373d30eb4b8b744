//! Field reports that can be stated at the domain, each as the kind of history it tells of.

use clankie_domain::admission::Limits;
use clankie_domain::admission::room::{Answer, Canceller, RoomInput};
use clankie_domain::grant::Revoked;
use clankie_domain::handoff::{State, StateName, Usage};
use clankie_domain::ids::RunId;
use clankie_domain::request::Request;
use clankie_domain::result::{FailCode, TurnResult};
use clankie_domain::session::{AbortReason, ReadList, RunEnd, RunOutcome};
use uuid::Uuid;

use crate::house::{House, actor, key, replied, request, transport};

/// B1: messages that come during a run are consumed once each.
#[test]
fn b1_messages_during_a_run_are_consumed_once() {
    let mut house = House::with_one_slot();
    for delivery in ["m1", "m2", "m3"] {
        house.say("a", "ann", delivery);
    }
    let read = house.record("m2").id;
    house.end("m1", replied("one and two", &[read]));
    house.gone("m1");
    house.finish("m3");
    assert_eq!(
        (house.started.clone(), house.handed.clone()),
        (vec!["m1".into(), "m3".into()], vec!["m2".into(), "m3".to_owned()])
    );
    assert_eq!(house.record("m2").state_name(), StateName::Absorbed);
}

/// B2, B3: only the run that a record names can report for it, and only once.
#[test]
fn b2_b3_the_report_of_another_or_an_earlier_run_changes_nothing() {
    let mut house = House::with_one_slot();
    house.say("a", "ann", "m1");
    let (at, run) = house.run_of("m1");
    let other = RunId(Uuid::from_u128(999));
    house.decide(&at, RoomInput::Ended(other, replied("not mine", &[])));
    house.decide(&at, RoomInput::Gone(other));
    assert_eq!((house.record("m1").state_name(), house.permits()), (StateName::Running, 1));
    house.decide(&at, RoomInput::Ended(run, replied("first", &[])));
    house.decide(&at, RoomInput::Ended(run, replied("second", &[])));
    house.decide(&at, RoomInput::Doing(run, "more".into()));
    house.decide(&at, RoomInput::Ready(run));
    assert_eq!(*house.state("m1"), State::Ended(TurnResult::settled("first", vec![])));
}

/// B5: equal text under two ids is two handoffs; one id twice is one.
#[test]
fn b5_only_the_id_makes_a_repeat() {
    let mut house = House::new(Limits::default());
    let hello = |delivery: &str| Request { text: "hello".into(), ..request("a", "ann", delivery) };
    house.ask(hello("m1"));
    house.finish("m1");
    house.ask(hello("m2"));
    house.ask(hello("m2"));
    assert_eq!(house.started, vec!["m1", "m2"]);
}

/// B6: a message during a run neither aborts the run nor vanishes.
#[test]
fn b6_a_message_during_a_run_leaves_the_run_alone() {
    let mut house = House::with_one_slot();
    house.say("a", "ann", "m1");
    house.say("a", "ann", "m2");
    house.say("a", "bob", "m3");
    assert!(house.aborted.is_empty());
    let read = house.record("m2").id;
    house.end("m1", replied("done", &[read]));
    house.gone("m1");
    house.finish("m3");
    let names = ["m1", "m2", "m3"].map(|delivery| house.record(delivery).state_name());
    assert_eq!(names, [StateName::Completed, StateName::Absorbed, StateName::Completed]);
}

/// B18, B20: a steer that the run's end overtook is offered again as a run of its own.
#[test]
fn b18_b20_a_steer_admitted_in_the_last_moment_becomes_a_handoff() {
    let mut house = House::with_one_slot();
    house.say("a", "ann", "m1");
    let end = replied("done", &[]);
    let joined = house.say("a", "ann", "m2");
    assert!(matches!(joined, Answer::Accepted { state: StateName::Joined, .. }));
    house.end("m1", end);
    assert_eq!(*house.state("m2"), State::Pending);
    house.gone("m1");
    assert_eq!(house.started, vec!["m1", "m2"]);
}

/// B21: a steer under another authority than the run's is a handoff of its own, not an error.
#[test]
fn b21_words_under_another_authority_become_their_own_handoff() {
    let mut house = House::new(Limits::default());
    house.say("a", "ann", "m1");
    house.authority.policy.machine_actors.clear();
    assert!(matches!(house.say("a", "ann", "m2"), Answer::Accepted { .. }));
    assert_eq!(house.started, vec!["m1", "m2"]);
}

/// B22: the parts of one long message, sent at once, are read by one run in their order.
#[test]
fn b22_three_parts_of_one_message_reach_one_run_in_order() {
    let mut house = House::with_one_slot();
    for delivery in ["m1", "m2", "m3"] {
        house.submit(request("a", "ann", delivery));
    }
    house.pump();
    let read = ["m2", "m3"].map(|delivery| house.record(delivery).id);
    assert_eq!((house.started.clone(), house.handed.clone()), (vec!["m1".into()], vec!["m2".into(), "m3".to_owned()]));
    house.end("m1", replied("all three", &read));
    house.gone("m1");
    assert_eq!((house.records.len(), house.started.len(), house.said.len()), (3, 1, 4));
}

/// B25, B26: words that come after the end are a handoff of their own, and the ended delivery,
/// tried again, gets its saved result.
#[test]
fn b25_b26_nothing_joins_or_repeats_an_ended_run() {
    let mut house = House::new(Limits::default());
    house.say("a", "ann", "m1");
    house.end("m1", replied("done", &[]));
    house.say("a", "ann", "m2");
    assert!(matches!(house.say("a", "ann", "m1"), Answer::Settled { .. }));
    assert_eq!(house.started, vec!["m1", "m2"]);
}

/// B25: nothing joins a run that is being stopped.
#[test]
fn b25_words_after_a_cancel_are_their_own_handoff() {
    let mut house = House::new(Limits::default());
    house.say("a", "ann", "m1");
    house.cancel("a", "m1", Canceller::Speaker(actor("ann")));
    house.say("a", "ann", "m2");
    assert_eq!(house.started, vec!["m1", "m2"]);
}

/// B28, B38: a run that was stopped for its silence frees its slot, and the next message starts.
#[test]
fn b28_b38_a_stalled_run_fails_and_its_slot_is_free_again() {
    let mut house = House::with_one_slot();
    house.say("a", "ann", "m1");
    house.say("a", "bob", "m2");
    let outcome = RunOutcome::Stopped(AbortReason::Stalled);
    house.end("m1", RunEnd { outcome, read: ReadList::Exactly(vec![]), usage: Usage::default() });
    house.gone("m1");
    assert_eq!(*house.state("m1"), State::Ended(TurnResult::failed(FailCode::Stalled)));
    assert_eq!(house.started, vec!["m1", "m2"]);
}

/// B29, B30: stuck runs and every waiting place taken in one room leave the slots of the others.
#[test]
fn b29_b30_a_stuck_and_flooded_room_leaves_slots_to_the_others() {
    let mut house = House::new(Limits::default());
    for n in 0..50 {
        house.say("stuck", &format!("guest{n}"), &format!("s{n}"));
    }
    house.say("b", "ann", "m1");
    house.say("c", "bob", "m2");
    assert_eq!(house.started, vec!["s0", "s1", "m1", "m2"]);
}

/// B38: a run that died keeps no busy flag: its receipt has a result and its room goes on.
#[test]
fn b38_a_dead_run_blocks_nobody() {
    let mut house = House::with_one_slot();
    house.say("a", "ann", "m1");
    let outcome = RunOutcome::Failed(FailCode::ExecutorFailed);
    house.gone("m1");
    house.end("m1", RunEnd { outcome, read: ReadList::Unknown, usage: Usage::default() });
    house.say("a", "ann", "m2");
    assert_eq!(house.record("m2").state_name(), StateName::Running);
}

/// B79: somebody who is not heard is refused first: no steer, no record, no message, no busy.
#[test]
fn b79_the_busy_path_checks_authority_first() {
    let mut house = House::new(Limits { running: 1, running_per_room: 1, waiting: 1, ..Limits::default() });
    house.say("a", "ann", "m1");
    house.say("a", "bob", "m2");
    let before = (house.records.clone(), house.said.len());
    house.authority.sources.revoked.insert(transport());
    for delivery in ["m1", "m2", "m3"] {
        assert_eq!(house.say("a", "ann", delivery), Answer::Refused(Revoked::Source));
    }
    assert_eq!((house.records.clone(), house.said.len()), before);
    assert!(house.handed.is_empty());
}

/// B82: a second person neither joins, edits nor cancels the first person's work.
#[test]
fn b82_a_second_person_inherits_nothing() {
    let mut house = House::with_one_slot();
    house.say("a", "ann", "m1");
    house.say("a", "bob", "m2");
    let bob = Canceller::Speaker(actor("bob"));
    assert_eq!(house.cancel("a", "m1", bob), Answer::NotYours);
    let edit = house.edit(Request { text: "mine".into(), ..request("a", "bob", "m1") });
    assert_eq!(house.heard(edit), Answer::NotYours);
    let stolen = Request { delivery: key("m1"), ..request("a", "bob", "m1") };
    assert!(matches!(house.ask(stolen), Answer::Conflict { .. }));
    assert_eq!(house.record("m1").state_name(), StateName::Running);
    assert_eq!(*house.state("m2"), State::Pending);
    assert!(house.aborted.is_empty() && house.handed.is_empty());
}
