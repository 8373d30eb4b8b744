//! Cancels, stalls, drains, and rooms that end when they are idle.

use std::time::Duration;

use clankie_actors::domain::admission::Limits;
use clankie_actors::domain::admission::room::Answer;
use clankie_actors::domain::handoff::StateName;
use clankie_actors::domain::result::{FailCode, TurnResult};
use clankie_actors::domain::session::{Command, Outcome, Reply, SessionEvent};

use crate::env::{Env, settled};

#[tokio::test]
async fn a_speaker_cancels_their_own_run_and_nobody_elses() {
    let mut env = Env::start().await;
    let id = env.accept("r", "m1", "ann", "work").await;
    let mut session = env.ready().await;
    assert_eq!(env.cancel("r", "m1", "bob").await, Answer::NotYours);
    assert_eq!(env.cancel("r", "m1", "ann").await, Answer::Cancelling { handoff: id });
    assert_eq!(session.next_command().await, Command::Abort);
    session.settle(Outcome::Aborted).await;
    let TurnResult::Cancelled { by } = env.result(id).await else { panic!("not cancelled") };
    assert_eq!(by.id, "ingress:t:ann");
    assert_eq!(env.cancel("r", "m9", "ann").await, Answer::NotFound);
}

/// A session that does not obey is ended after its grace, and its permit comes back.
#[tokio::test]
async fn an_abort_that_is_not_obeyed_ends_after_its_grace() {
    let mut env = Env::start().await;
    let id = env.accept("r", "m1", "ann", "work").await;
    let _deaf = env.ready().await;
    env.cancel_as_owner("r", id).await;
    assert!(matches!(env.result(id).await, TurnResult::Cancelled { .. }));
}

/// B3: a run whose time is over cannot end again what was ended.
#[tokio::test]
async fn b3_what_a_session_says_after_its_end_is_dropped() {
    let mut env = Env::start().await;
    let id = env.accept("r", "m1", "ann", "work").await;
    let deaf = env.ready().await;
    env.cancel_as_owner("r", id).await;
    let cancelled = env.result(id).await;
    let too_late = Outcome::Completed(Reply::Text { text: "too late".to_owned(), media: vec![] });
    // Its sink may be closed by then; either way nothing comes of it.
    let _ = deaf.events.send(SessionEvent::Settled(too_late)).await;
    let next = env.accept("r", "m2", "ann", "again").await;
    env.ready().await.reply("here").await;
    assert_eq!(env.result(next).await, settled("here"));
    assert_eq!(env.result(id).await, cancelled);
}

/// A stop lets what runs finish, starts nothing, admits nothing, and leaves what waits in its place.
#[tokio::test]
async fn a_stop_drains_and_keeps_what_waits() {
    let mut env = Env::start().await;
    for n in 0..3 {
        env.accept("r", &format!("m{n}"), &format!("u{n}"), "work").await;
    }
    let (first, _deaf) = (env.ready().await, env.ready().await);
    let (done, waits) = (first.spec.handoff, env.accept("q", "q", "q", "work").await);
    let third = env.ready().await;
    let clankie = env.clankie.clone();
    let stop = tokio::spawn(async move { clankie.stop(Duration::from_millis(300)).await });
    first.reply("in time").await;
    assert_eq!(env.result(done).await, settled("in time"));
    third.reply("also in time").await;
    assert_eq!(env.result(waits).await, settled("also in time"));
    assert_eq!(env.submit("r", "late", "late", "work").await, Answer::ShuttingDown);
    let stopped = stop.await.unwrap();
    assert_eq!((stopped.settled, stopped.interrupted), (2, 1));
    let states: Vec<StateName> = env.states().into_iter().map(|(_, state)| state).collect();
    use StateName::{Completed, Failed, Pending};
    assert_eq!(states, [Completed, Failed, Pending, Completed]);
    let mut env = env.restart().await;
    assert_eq!(env.session().await.spec.delivery.to_string(), "m2");
}

/// B28: nothing heard for too long ends the run, and its permit comes back.
#[tokio::test(start_paused = true)]
async fn b28_a_silent_run_is_stalled_after_five_minutes() {
    let mut env = Env::inline(Limits::default()).await;
    let id = env.accept("r", "m1", "ann", "work").await;
    let _silent = env.ready().await;
    let clock = std::sync::Arc::clone(&env.clock);
    let ticking = tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_secs(5)).await;
            clock.advance(5_000);
        }
    });
    env.clankie.wait_result(id, Duration::from_secs(3_600)).await;
    ticking.abort();
    assert_eq!(env.record(id).result(), Some(&TurnResult::failed(FailCode::Stalled)));
}

/// 10 000 idle rooms must cost nothing: a room's actor ends when nothing lives there, and only then.
#[tokio::test]
async fn a_room_that_is_idle_has_no_actor() {
    let mut env = Env::start().await;
    for n in 0..4 {
        env.accept(&format!("r{n}"), "m", "ann", "work").await;
    }
    assert_eq!(env.clankie.room_actors(), 4);
    for _ in 0..4 {
        let session = env.ready().await;
        let id = session.spec.handoff;
        session.reply("done").await;
        env.result(id).await;
    }
    let idle = async {
        while env.clankie.room_actors() > 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(crate::env::LONG, idle).await.expect("idle rooms end");
    let again = env.accept("r0", "m2", "ann", "again").await;
    env.ready().await.reply("back").await;
    assert_eq!(env.result(again).await, settled("back"));
}
