//! Small worlds of admission, steering, recovery and the mailbox, walked completely against a second
//! model.
//!
//! A world is the owner of the counts, two rooms, the queues between them, what is durable, and
//! the runs with their agents. Each test walks every order in which its script can happen.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails, and says how large its worlds were"
)]

mod counts;
mod digest;
mod judge;
mod mail;
mod random;
mod run;
mod script;
mod step;
mod store;
mod walk;
mod world;

use clankie_domain::grant::Plan;

use mail::{MailScript, MailWorld, Owner};
use script::{EditOf, Ending, Habit, Outage, Script, Standing, Who, Words};
use walk::{walk, walk_from};

fn repeated(room: usize, who: Who, key: &'static str, times: u8) -> Words {
    Words { room, who, key, text: key, wanted: None, times }
}

fn social(room: usize, who: Who, key: &'static str) -> Words {
    Words { room, who, key, text: key, wanted: Some(Plan::Social), times: 1 }
}

#[test]
fn i1_i5_i6_two_rooms_share_one_slot_and_one_place() {
    let script = Script::new([1, 1, 1]).says(0, Who::Ann, "a").says(0, Who::Bob, "b").says(1, Who::Ann, "c").says(
        1,
        Who::Bob,
        "d",
    );
    walk("one slot, one place", script);
}

#[test]
fn i1_i5_i6_two_rooms_share_two_slots_and_two_places() {
    let script = Script::new([2, 1, 2]).says(0, Who::Ann, "a").says(0, Who::Bob, "b").says(1, Who::Ann, "c").says(
        1,
        Who::Bob,
        "d",
    );
    walk("two slots, two places", script);
}

#[test]
fn i6_rooms_take_turns_at_one_slot() {
    let script = Script::new([1, 1, 4])
        .says(0, Who::Ann, "a")
        .says(0, Who::Bob, "b")
        .says(0, Who::Guest(1), "c")
        .says(1, Who::Ann, "d")
        .says(1, Who::Bob, "e");
    walk("turns", script);
}

#[test]
fn i2_i3_repeats_conflicts_and_other_grants() {
    let script = Script::new([1, 1, 1])
        .words(repeated(0, Who::Bob, "a", 3))
        .words(Words { text: "other", ..repeated(0, Who::Bob, "a", 1) })
        .words(repeated(0, Who::Ann, "b", 1))
        .words(social(0, Who::Ann, "c"));
    walk("repeats", script);
}

#[test]
fn i4_i9_a_burst_is_read_or_owed() {
    let mut script = Script::new([1, 1, 1]).says(0, Who::Bob, "x");
    for key in ["a", "b", "c"] {
        script = script.says(0, Who::Ann, key);
    }
    script.habit = Habit::Reads;
    walk("burst", script);
}

#[test]
fn i2_i9_words_held_behind_a_try_share_what_it_gets_or_try_again() {
    let script = Script::new([1, 1, 1])
        .says(1, Who::Bob, "d")
        .says(1, Who::Guest(1), "e")
        .says(0, Who::Ann, "a")
        .says(0, Who::Ann, "b")
        .says(0, Who::Ann, "c");
    walk("held", script);
}

#[test]
fn i4_i9_every_end_of_a_run_settles_its_joiners() {
    let mut script =
        Script::new([1, 1, 1]).says(0, Who::Ann, "a").says(0, Who::Ann, "b").words(social(0, Who::Ann, "c"));
    script.habit = Habit::Reads;
    script.endings = vec![Ending::Reply, Ending::Wait, Ending::Fail, Ending::Die, Ending::GoneFirst];
    walk("ends", script);
}

#[test]
fn i5_i9_cancels_lose_no_permit_and_no_joiner() {
    let mut script = Script::new([1, 1, 1])
        .says(0, Who::Ann, "a")
        .says(0, Who::Ann, "b")
        .says(0, Who::Bob, "c")
        .speaker_cancels(0)
        .owner_cancels(1);
    script.habit = Habit::Reads;
    walk("cancels", script);
}

#[test]
fn i2_i5_cancels_in_flight_and_pending_pass_permits_on() {
    let script = Script::new([2, 1, 1])
        .words(repeated(0, Who::Bob, "a", 2))
        .says(0, Who::Ann, "b")
        .says(1, Who::Bob, "c")
        .speaker_cancels(0)
        .owner_cancels(1);
    walk("cancelled tries", script);
}

#[test]
fn i3_i8_edits_replace_or_steer() {
    let mut script = Script::new([1, 1, 1])
        .words(repeated(0, Who::Ann, "a", 2))
        .says(0, Who::Ann, "b")
        .edits(0, "a2", 2)
        .edits(1, "b2", 1);
    script.habit = Habit::Reads;
    walk("edits", script);
}

#[test]
fn i3_i8_edits_that_cannot_steer_are_their_own_handoff_once() {
    let mut script = Script::new([1, 1, 1]).says(0, Who::Bob, "x").says(0, Who::Ann, "a").edits(1, "a2", 3);
    script.switches = vec![Standing::Unsteered, Standing::Narrow];
    walk("edits without steering", script);
}

#[test]
fn i4_i8_authority_that_shrinks_stops_and_never_widens() {
    let mut script = Script::new([1, 1, 1]).says(0, Who::Ann, "a").says(0, Who::Ann, "b").says(1, Who::Bob, "c");
    script.habit = Habit::Reads;
    script.switches = vec![Standing::Narrow, Standing::Full];
    walk("narrowed", script);
}

#[test]
fn i2_i5_authority_that_goes_refuses_without_a_record() {
    let mut script = Script::new([1, 1, 1]).says(0, Who::Ann, "a").says(0, Who::Ann, "b").says(1, Who::Bob, "c");
    script.switches = vec![Standing::Revoked, Standing::Full];
    walk("revoked", script);
}

#[test]
fn i9_routing_that_cannot_steer_owes_the_joiners() {
    let mut script = Script::new([1, 1, 1]).says(0, Who::Bob, "x").says(0, Who::Ann, "a").says(0, Who::Ann, "b");
    script.switches = vec![Standing::Unsteered];
    script.habit = Habit::Reads;
    walk("unsteered", script);
}

#[test]
fn i1_i3_i9_a_crash_at_any_step_is_recovered() {
    let mut script =
        Script::new([1, 1, 1]).says(0, Who::Ann, "a").words(repeated(0, Who::Ann, "b", 2)).says(1, Who::Bob, "c");
    script.habit = Habit::Reads;
    script.crashes = 1;
    walk("crash", script);
}

#[test]
fn i1_i3_i9_a_crash_while_authority_goes() {
    let mut script = Script::new([1, 1, 1]).says(0, Who::Bob, "x").says(0, Who::Ann, "a").says(0, Who::Ann, "b");
    script.crashes = 2;
    script.switches = vec![Standing::Revoked, Standing::Full];
    walk("crash and revocation", script);
}

/// B13, B34: a backlog is not started as fresh work after a long outage.
#[test]
fn i3_i9_b13_b34_a_long_outage_leaves_stale_work_unstarted() {
    let mut script = Script::new([1, 1, 1]).says(0, Who::Ann, "a").says(0, Who::Ann, "b").says(0, Who::Ann, "c");
    script.habit = Habit::Reads;
    script.crashes = 1;
    script.outage = Outage::Long;
    walk("long outage", script);
}

#[test]
fn i2_i5_i9_a_drain_at_any_step_starts_nothing_and_loses_nothing() {
    let mut script = Script::new([1, 1, 1]).says(0, Who::Ann, "a").says(0, Who::Ann, "b").says(1, Who::Bob, "c");
    script.drains = 1;
    walk("drain", script);
}

#[test]
fn i1_i9_what_a_drain_left_pending_starts_after_the_restart() {
    let mut script = Script::new([1, 1, 1]).says(0, Who::Ann, "a").says(0, Who::Ann, "b");
    script.habit = Habit::Reads;
    script.drains = 1;
    script.crashes = 1;
    walk("drain and restart", script);
}

/// The unread joiner is older than the try whose permit comes first.
#[test]
fn i1_i2_i6_a_permit_serves_the_oldest_and_the_displaced_try_goes_round_again() {
    let mut script =
        Script::new([2, 2, 1]).says(0, Who::Ann, "a").says(0, Who::Ann, "b").says(0, Who::Bob, "c").speaker_cancels(2);
    script.habit = Habit::Reads;
    walk("displaced", script);
}

#[test]
fn i4_i8_an_edit_that_wants_less_is_never_carried_by_more() {
    let mut script = Script::new([1, 1, 1]).says(0, Who::Ann, "a").says(0, Who::Ann, "b").says(0, Who::Ann, "c");
    script.edits = vec![
        EditOf { words: 0, text: "a2", wanted: Some(Plan::Social), times: 1 },
        EditOf { words: 1, text: "b2", wanted: Some(Plan::Social), times: 1 },
    ];
    walk("edits that want less", script);
}

#[test]
fn m1_m2_m5_m6_two_asks_two_owners_and_every_way_of_their_answers() {
    let script = MailScript { owners: &[Owner::A, Owner::B], asks: 2, ..MailScript::default() };
    walk_from("two asks, two owners", MailWorld::new(script));
}

#[test]
fn m1_m2_m5_m6_one_ask_through_boots_resets_and_revocations() {
    let owners = &[Owner::A, Owner::B];
    let script = MailScript { owners, asks: 1, boots: 2, resets: 2, revocations: 1, ..MailScript::default() };
    walk_from("one ask, boots, resets, a revocation", MailWorld::new(script));
}

#[test]
fn m1_m5_m6_two_asks_through_a_boot_and_a_reset() {
    let script = MailScript { owners: &[Owner::A], asks: 2, boots: 1, resets: 1, ..MailScript::default() };
    walk_from("two asks, a boot, a reset", MailWorld::new(script));
}

#[test]
fn m3_a_full_mailbox_forgets_only_what_is_settled() {
    let script = MailScript { owners: &[Owner::A], asks: 2, waiting: 223, settled: 32, ..MailScript::default() };
    walk_from("a full mailbox", MailWorld::new(script));
}
