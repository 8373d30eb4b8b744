//! A burst steers only its speaker's own handoff, and what was not read is never lost.

use std::collections::BTreeSet;

use clankie_actors::domain::admission::Limits;
use clankie_actors::domain::admission::room::Answer;
use clankie_actors::domain::grant::{GrantPolicy, Plan};
use clankie_actors::domain::handoff::StateName;
use clankie_actors::domain::result::{FailCode, TurnResult};
use clankie_actors::domain::session::Command;
use clankie_actors::domain::steering::Mark;

use crate::env::{Env, actor, delivery, request, settled};

fn absorbed(env: &Env, by: clankie_actors::domain::ids::HandoffId) -> TurnResult {
    TurnResult::Absorbed { reply_delivery: env.record(by).delivery, joined: by }
}

/// B22: parts of one message within a moment are one handoff, read in order.
#[tokio::test]
async fn b22_a_burst_is_read_in_order_and_absorbed() {
    let mut env = Env::start().await;
    let first = env.accept("r", "m1", "ann", "one").await;
    let mut session = env.ready().await;
    let second = env.accept("r", "m2", "ann", "two").await;
    let third = env.accept("r", "m3", "ann", "three").await;
    for (id, text) in [(second, "two"), (third, "three")] {
        let steer = session.next_steer().await;
        assert_eq!((steer.handoff, steer.text.as_str()), (id, text));
        session.mark(id, Mark::Read).await;
    }
    session.reply("all three").await;
    assert_eq!(env.result(first).await, settled("all three"));
    for id in [second, third] {
        assert_eq!(env.result(id).await, absorbed(&env, first));
    }
    assert_eq!(env.record(first).joiner_count, 2);
    let again = env.submit("r", "m2", "ann", "two").await;
    assert_eq!(again, Answer::Settled { handoff: second, result: absorbed(&env, first) });
}

/// I4, B79, B82: another speaker, and the same speaker under another grant, are handoffs of their own.
#[tokio::test]
async fn i4_another_speaker_or_another_grant_never_joins() {
    let policy = GrantPolicy { machine_actors: BTreeSet::from([actor("ann")]), ..GrantPolicy::default() };
    let mut env = Env::with(policy, Limits::default()).await;
    let social =
        clankie_actors::domain::request::Request { wanted: Some(Plan::Social), ..request("r", "m1", "ann", "careful") };
    env.clankie.submit(social).await.unwrap();
    let mut session = env.ready().await;
    env.accept("r", "m2", "bob", "mine").await;
    let bob = env.ready().await;
    assert_eq!(bob.spec.actor, actor("bob"));
    env.accept("r", "m3", "ann", "with more power").await;
    bob.reply("bob's").await;
    let powerful = env.ready().await;
    assert_eq!((powerful.spec.delivery.clone(), powerful.spec.grant.plan), (delivery("m3"), Plan::Machine));
    assert!(!session.was_steered(), "the social run was steered");
}

/// I9, B18, B20: a steer that came too late to be read becomes its own handoff under the same record.
#[tokio::test]
async fn i9_an_unread_steer_is_owed_and_runs_on_its_own() {
    let mut env = Env::start().await;
    let first = env.accept("r", "m1", "ann", "one").await;
    let session = env.ready().await;
    let late = env.accept("r", "m2", "ann", "two").await;
    assert_eq!(env.record(late).state_name(), StateName::Joined);
    session.reply("only one").await;
    assert_eq!(env.result(first).await, settled("only one"));
    let own = env.ready().await;
    assert_eq!(own.spec.handoff, late);
    own.reply("and two").await;
    assert_eq!(env.result(late).await, settled("and two"));
}

/// A session that dies without a read list fails its joiners: whether they were read is unknown.
#[tokio::test]
async fn a_session_that_dies_fails_its_joiners_with_it() {
    let mut env = Env::start().await;
    let first = env.accept("r", "m1", "ann", "one").await;
    let session = env.ready().await;
    let second = env.accept("r", "m2", "ann", "two").await;
    drop(session);
    for id in [first, second] {
        assert_eq!(env.result(id).await, TurnResult::failed(FailCode::ExecutorFailed));
    }
}

/// Words that come while the first is being decided are held and join it; joiners of a waiting
/// record go with its start.
#[tokio::test]
async fn joiners_of_a_waiting_record_are_handed_over_in_order_with_its_start() {
    let mut env = Env::start().await;
    for n in 0..2 {
        env.accept("r", &format!("busy{n}"), &format!("u{n}"), "work").await;
    }
    let (running, _other) = (env.ready().await, env.ready().await);
    let waiting = env.accept("r", "m1", "ann", "one").await;
    let joined = [env.accept("r", "m2", "ann", "two").await, env.accept("r", "m3", "ann", "three").await];
    assert_eq!(env.record(joined[0]).joined, Some(waiting));
    running.reply("free").await;
    let mut session = env.ready().await;
    assert_eq!(session.spec.handoff, waiting);
    for id in joined {
        assert_eq!(session.next_steer().await.handoff, id);
    }
}

/// A cancelled waiting record leaves its joiners owed, each on its own.
#[tokio::test]
async fn i9_a_target_cancelled_before_its_start_makes_its_joiners_owed() {
    let mut env = Env::start().await;
    for n in 0..2 {
        env.accept("r", &format!("busy{n}"), &format!("u{n}"), "work").await;
    }
    let (running, _other) = (env.ready().await, env.ready().await);
    let waiting = env.accept("r", "m1", "ann", "one").await;
    let joined = env.accept("r", "m2", "ann", "two").await;
    let Answer::Settled { result: TurnResult::Cancelled { .. }, .. } = env.cancel("r", "m1", "ann").await else {
        panic!("a waiting record is cancelled at once");
    };
    assert_eq!(env.record(waiting).state_name(), StateName::Cancelled);
    assert_eq!(env.record(joined).state_name(), StateName::Pending);
    running.reply("free").await;
    assert_eq!(env.ready().await.spec.handoff, joined);
}

/// A cancelled joiner is taken back from the session; it never counts as read.
#[tokio::test]
async fn a_cancelled_joiner_is_taken_back() {
    let mut env = Env::start().await;
    let first = env.accept("r", "m1", "ann", "one").await;
    let mut session = env.ready().await;
    let second = env.accept("r", "m2", "ann", "two").await;
    assert_eq!(session.next_steer().await.handoff, second);
    env.cancel("r", "m2", "ann").await;
    assert_eq!(session.next_command().await, Command::CancelSteer(second));
    session.mark(second, Mark::Read).await;
    session.reply("one").await;
    assert_eq!(env.result(first).await, settled("one"));
    assert_eq!(env.record(second).state_name(), StateName::Cancelled);
}

/// Edited before its start the words are replaced; edited while it runs they come as a steer that says so.
#[tokio::test]
async fn an_edit_replaces_before_the_start_and_steers_after_it() {
    let mut env = Env::start().await;
    for n in 0..2 {
        env.accept("r", &format!("busy{n}"), &format!("u{n}"), "work").await;
    }
    let (running, _other) = (env.ready().await, env.ready().await);
    let waiting = env.accept("r", "m1", "ann", "teh").await;
    let edited = env.clankie.edit(request("r", "m1", "ann", "the")).await.unwrap();
    assert_eq!(edited, Answer::Accepted { handoff: waiting, state: StateName::Pending });
    running.reply("free").await;
    let mut session = env.ready().await;
    assert_eq!(session.spec.request, "the");
    let Answer::Accepted { handoff: steer, .. } = env.clankie.edit(request("r", "m1", "ann", "THE")).await.unwrap()
    else {
        panic!("an edit of a running request joins it");
    };
    assert_ne!(steer, waiting);
    let heard = session.next_steer().await;
    assert_eq!((heard.handoff, heard.text.as_str()), (steer, "(edited) THE"));
    let again = env.clankie.edit(request("r", "m1", "ann", "THE")).await.unwrap();
    assert_eq!(again, Answer::Accepted { handoff: steer, state: StateName::Joined });
}
