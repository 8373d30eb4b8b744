//! What dies, and who survives it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clankie_actors::domain::handoff::StateName;
use clankie_actors::domain::result::{FailCode, TurnResult};

use crate::env::{Env, LONG, request, settled};

/// The death of one handoff is one failed record; its neighbours and its room go on.
#[tokio::test]
async fn the_death_of_a_handoff_is_survived_by_the_rest() {
    let mut env = Env::start().await;
    let well = env.accept("r", "m1", "ann", "work").await;
    let neighbour = env.ready().await;
    env.executor_panics.store(1, Ordering::SeqCst);
    let dead = env.accept("r", "m2", "bob", "work").await;
    assert_eq!(env.result(dead).await, TurnResult::failed(FailCode::ExecutorFailed));
    neighbour.reply("alive").await;
    assert_eq!(env.result(well).await, settled("alive"));
    for n in 0..4 {
        env.accept(&format!("q{n}"), "m", "cat", "work").await;
    }
    // I5: the permit of a session that never began is free again.
    env.until("no permit leaked", |env| env.states().iter().filter(|s| s.1 == StateName::Running).count() == 4).await;
}

/// B12, B28: an executor that drops a session without a word ends it as failed, and the lane goes on.
#[tokio::test]
async fn b12_a_session_that_vanishes_is_an_error_and_never_silence() {
    let mut env = Env::start().await;
    let id = env.accept("r", "m1", "ann", "work").await;
    drop(env.session().await);
    assert_eq!(env.result(id).await, TurnResult::failed(FailCode::ExecutorFailed));
    let next = env.accept("r", "m2", "ann", "again").await;
    env.ready().await.reply("here").await;
    assert_eq!(env.result(next).await, settled("here"));
}

/// The death of an admission actor is answered by one restart of admission through boot recovery.
#[tokio::test]
async fn the_death_of_an_admission_actor_restarts_admission_through_recovery() {
    let mut env = Env::start().await;
    let running = env.accept("a", "m1", "ann", "work").await;
    let _session = env.ready().await;
    let waiting: Vec<_> = {
        let mut ids = Vec::new();
        for n in 0..6 {
            ids.push(env.accept(&format!("w{n}"), "w", "bob", "work").await);
        }
        ids
    };
    env.until("four run", |env| env.states().iter().filter(|s| s.1 == StateName::Running).count() == 4).await;
    env.clock.panics.store(1, Ordering::SeqCst);
    let lost = env.clankie.submit(request("a", "m2", "cat", "work")).await;
    assert!(lost.is_err(), "the outcome of a submit in a dying room is unknown: {lost:?}");
    assert_eq!(env.result(running).await, TurnResult::failed(FailCode::Interrupted));
    for _ in 0..3 {
        // The sessions that ran before the death.
        drop(env.sessions.try_recv());
    }
    env.until("the rest runs again", |env| {
        waiting.iter().filter(|id| env.record(**id).state_name() == StateName::Running).count() == 3
    })
    .await;
    let again = env.accept("a", "m2", "cat", "work").await;
    assert_ne!(again, running);
}

/// A second death within a minute ends the process.
#[tokio::test]
async fn a_second_death_of_admission_within_a_minute_is_fatal() {
    let env = Env::start().await;
    env.accept("a", "m", "ann", "work").await;
    let hammer = async {
        for tries in 0.. {
            env.clock.panics.store(1, Ordering::SeqCst);
            // While admission is rebuilt a submit is refused before it reaches the clock.
            let _ = env.clankie.submit(request("a", &format!("m{tries}"), "bob", "work")).await;
            tokio::task::yield_now().await;
        }
    };
    let why = tokio::select! {
        why = tokio::time::timeout(LONG, env.clankie.failed()) => why.expect("the process is told to end"),
        () = hammer => panic!("the hammer rested"),
    };
    assert!(why.contains("twice") || why.contains("the supervisor is gone"), "{why}");
}

/// I6, I9: admission opens again only when every room that was found stands in its place, so no
/// submit can make a second actor of such a room, which no rebuild would find and end.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn admission_opens_again_with_every_room_in_its_place() {
    const DEATHS: usize = 8;
    // A rebuild waits ten seconds for a session that nobody ends, and hardly at all when there is none.
    const REBUILT: Duration = Duration::from_secs(8);
    let env = Arc::new(Env::start().await);
    let over = Arc::new(AtomicBool::new(false));
    let hammers: Vec<_> = (0..4).map(|of| tokio::spawn(hammer(Arc::clone(&env), Arc::clone(&over), of))).collect();
    let mut deaths = 0;
    while deaths < DEATHS {
        let four = env.until("four run", |env| running(env).len() == 4);
        tokio::time::timeout(REBUILT, four).await.expect("no session of an earlier life is left");
        let ran = running(&env);
        // A second death within a minute would be fatal.
        env.clock.advance(61_000);
        env.clock.panics.store(1, Ordering::SeqCst);
        env.until("something dies", |env| ran.iter().any(|id| !running(env).contains(id))).await;
        // The clock may break under a handoff instead, which ends alone; admission interrupts all at once.
        deaths += usize::from(ran.iter().all(|id| !running(&env).contains(id)));
    }
    over.store(true, Ordering::SeqCst);
    for hammer in hammers {
        hammer.await.expect("every submit is answered");
    }
}

fn running(env: &Env) -> Vec<String> {
    env.states().into_iter().filter(|(_, state)| *state == StateName::Running).map(|(delivery, _)| delivery).collect()
}

/// Somebody new in one of the rooms, again and again: they keep the queue full and are told busy.
async fn hammer(env: Arc<Env>, over: Arc<AtomicBool>, of: usize) {
    const ROOMS: usize = 24;
    for n in 0.. {
        if over.load(Ordering::SeqCst) {
            return;
        }
        let request = request(&format!("r{}", n % ROOMS), &format!("m{of}-{n}"), &format!("u{of}-{n}"), "work");
        let answer = tokio::time::timeout(LONG, env.clankie.submit(request)).await;
        // While admission is rebuilt it is an error; what counts is that there is an answer.
        drop(answer.expect("a submit is answered"));
        tokio::task::yield_now().await;
    }
}
