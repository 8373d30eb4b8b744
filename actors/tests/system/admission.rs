//! Who runs, waits, is told busy, and gets a saved result.

use clankie_actors::domain::admission::room::Answer;
use clankie_actors::domain::handoff::StateName::{Completed, Pending, Running};
use clankie_actors::{HandoffQuery, Tally};

use crate::env::{Env, request, settled};

fn tally(env: &Env) -> Tally {
    env.clankie.handoffs(&HandoffQuery { limit: 1, ..HandoffQuery::default() }).unwrap().tally
}

/// I1 and B29: a full room keeps to its share and blocks nobody.
#[tokio::test]
async fn i1_four_run_two_in_a_room_and_a_full_room_blocks_nobody() {
    let mut env = Env::start().await;
    for n in 0..3 {
        env.accept("a", &format!("a{n}"), &format!("u{n}"), "work").await;
    }
    for room in ["b", "c"] {
        env.accept(room, room, room, "work").await;
    }
    let sessions = [env.session().await, env.session().await, env.session().await, env.session().await];
    let mut rooms: Vec<String> = sessions.iter().map(|session| session.spec.room.to_string()).collect();
    rooms.sort();
    assert_eq!(rooms, ["ingress:t:a", "ingress:t:a", "ingress:t:b", "ingress:t:c"]);
    assert_eq!(tally(&env), Tally { running: 4, waiting: 1, owed: 0 });
}

/// I1, I2: 32 wait, the next one is told busy with the facts and leaves no record.
#[tokio::test]
async fn i2_a_busy_answer_has_facts_and_no_record_and_may_be_tried_again() {
    let mut env = Env::start().await;
    for n in 0..36 {
        env.accept(&format!("r{n}"), &format!("d{n}"), &format!("u{n}"), "work").await;
    }
    let Answer::Busy(facts) = env.submit("late", "late", "late", "work").await else {
        panic!("the 37th was not told busy");
    };
    assert_eq!((facts.limit.as_str(), facts.position, facts.running, facts.waiting), ("waiting", 33, 4, 32));
    assert!(!env.states().iter().any(|(delivery, _)| delivery == "late"));
    let first = env.ready().await;
    first.reply("done").await;
    env.session().await;
    env.session().await;
    env.session().await;
    env.session().await;
    env.accept("late", "late", "late", "work").await;
}

/// I3, B5: one key, one execution, one result; same words under another key are their own handoff.
#[tokio::test]
async fn i3_a_repeated_delivery_shares_the_run_and_then_gets_the_saved_result() {
    let mut env = Env::start().await;
    let first = env.accept("r", "m1", "ann", "hello").await;
    assert_eq!(env.accept("r", "m1", "ann", "hello").await, first);
    assert_eq!(env.submit("r", "m1", "ann", "other").await, Answer::Conflict { handoff: first });
    env.ready().await.reply("hi").await;
    assert_eq!(env.result(first).await, settled("hi"));
    let again = env.submit("r", "m1", "ann", "hello").await;
    assert_eq!(again, Answer::Settled { handoff: first, result: settled("hi") });
    let other = env.accept("r", "m2", "ann", "hello").await;
    assert_ne!(other, first);
    assert_eq!(env.session().await.spec.handoff, other);

    let env = env.restart().await;
    let again = env.submit("r", "m1", "ann", "hello").await;
    assert_eq!(again, Answer::Settled { handoff: first, result: settled("hi") });
    assert_eq!(env.submit("r", "m1", "ann", "other").await, Answer::Conflict { handoff: first });
}

/// I6: in a room the oldest goes first.
#[tokio::test]
async fn i6_a_room_is_served_in_order() {
    let mut env = Env::start().await;
    for n in 0..5 {
        env.accept("r", &format!("m{n}"), &format!("u{n}"), "work").await;
    }
    let mut order = Vec::new();
    for n in 0..5 {
        let session = env.ready().await;
        order.push(session.spec.delivery.to_string());
        session.reply(&format!("{n}")).await;
    }
    assert_eq!(order, ["m0", "m1", "m2", "m3", "m4"]);
}

/// B32: the permit is released when the session is gone, not when somebody read the reply.
#[tokio::test]
async fn i5_a_permit_stays_out_until_nothing_of_the_session_is_left() {
    let mut env = Env::start().await;
    for n in 0..3 {
        env.accept("r", &format!("m{n}"), &format!("u{n}"), "work").await;
    }
    let (first, _second) = (env.ready().await, env.ready().await);
    let id = first.spec.handoff;
    let crate::puppet::Strings { events, gone, commands, .. } = first;
    let reply = clankie_actors::domain::session::Reply::Text { text: "done".into(), media: vec![] };
    let outcome = clankie_actors::domain::session::Outcome::Completed(reply);
    events.send(clankie_actors::domain::session::SessionEvent::Settled(outcome)).await.unwrap();
    assert_eq!(env.result(id).await, settled("done"));
    assert!(env.sessions.try_recv().is_err(), "a session started while the first one's group was there");
    drop((events, commands, gone));
    assert_eq!(env.session().await.spec.delivery.to_string(), "m2");
}

/// B42, B43: parallel handoffs answer apart, each to its own delivery.
#[tokio::test]
async fn b43_parallel_handoffs_never_swap_replies() {
    let mut env = Env::start().await;
    let (one, two) = (env.accept("r", "m1", "ann", "one").await, env.accept("r", "m2", "bob", "two").await);
    let (first, second) = (env.ready().await, env.ready().await);
    second.reply("to two").await;
    first.reply("to one").await;
    assert_eq!((env.result(one).await, env.result(two).await), (settled("to one"), settled("to two")));
    let said = env.clankie.messages(&crate::env::room("r"), 0, 100).unwrap();
    let replies: Vec<_> = said.iter().filter(|(_, m)| m.author.is_none()).collect();
    for (_, reply) in replies {
        let answered = reply.reply_to.as_ref().unwrap().to_string();
        assert_eq!(reply.text, if answered == "m1" { "to one" } else { "to two" });
    }
}

/// A pending record keeps its place over a restart; a running one is interrupted and never replayed.
#[tokio::test]
async fn b35_a_restart_leaves_no_limbo() {
    let mut env = Env::start().await;
    for n in 0..3 {
        env.accept("r", &format!("m{n}"), &format!("u{n}"), "work").await;
    }
    let (first, _second) = (env.ready().await, env.ready().await);
    let id = first.spec.handoff;
    env.until("two run", |env| env.states().iter().filter(|(_, state)| *state == Running).count() == 2).await;
    assert_eq!(env.states()[2], ("m2".to_owned(), Pending));
    let mut env = env.restart().await;
    assert_eq!(env.record(id).reason_code.as_deref(), Some("interrupted"));
    let third = env.ready().await;
    assert_eq!(third.spec.delivery.to_string(), "m2");
    third.reply("late").await;
    env.until("m2 is done", |env| env.states()[2].1 == Completed).await;
    assert_eq!(tally(&env), Tally::default());
}

/// 64 submits of one room may be in flight; that bound stands before the actor's mailbox.
#[tokio::test]
async fn submits_in_flight_are_bounded_before_the_mailbox() {
    let env = Env::start().await;
    let tries = (0..200).map(|n| {
        let clankie = env.clankie.clone();
        let request = request("r", &format!("m{n}"), &format!("u{n}"), "work");
        tokio::spawn(async move { clankie.submit(request).await })
    });
    let mut full = 0;
    for tried in tries.collect::<Vec<_>>() {
        match tried.await.unwrap() {
            Ok(Answer::Accepted { .. } | Answer::Busy(_)) => {}
            Err(clankie_actors::Failure::TooManyInFlight) => full += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(full <= 200 - 64, "{full} of 200 were refused at once");
    assert_eq!(tally(&env).running + tally(&env).waiting, 34);
}
