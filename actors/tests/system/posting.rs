//! Replies into rooms that live elsewhere: each part is durable before and after it is posted.

use std::sync::Arc;

use async_trait::async_trait;
use clankie_actors::domain::admission::room::Answer;
use clankie_actors::domain::delivery::{Posting, PostingStep};
use clankie_actors::domain::grant::{Gateway, Transport};
use clankie_actors::domain::handoff::HandoffRecord;
use clankie_actors::domain::ids::{HandoffId, RoomId};
use clankie_actors::domain::message::RoomMessage;
use clankie_actors::domain::request::Request;
use clankie_actors::ports::{PostingLog, RoomDelivery};
use serde_json::json;
use tokio::sync::mpsc;

use crate::env::{Env, LONG, lane, request};

/// A room elsewhere, whose posts a test makes itself.
#[derive(Debug)]
pub(crate) struct Elsewhere(mpsc::UnboundedSender<Heard>);

#[derive(Debug)]
pub(crate) enum Heard {
    Deliver(Arc<HandoffRecord>, PostingLog),
    Say(RoomMessage),
}

impl Elsewhere {
    pub(crate) fn new() -> (Arc<Self>, mpsc::UnboundedReceiver<Heard>) {
        let (tell, heard) = mpsc::unbounded_channel();
        (Arc::new(Self(tell)), heard)
    }
}

#[async_trait]
impl RoomDelivery for Elsewhere {
    async fn deliver(&self, record: Arc<HandoffRecord>, log: PostingLog) {
        let _ = self.0.send(Heard::Deliver(record, log));
    }

    async fn say(&self, _: Arc<HandoffRecord>, message: RoomMessage) {
        let _ = self.0.send(Heard::Say(message));
    }
}

fn there() -> RoomId {
    RoomId::parse("discord:text:1:2").unwrap()
}

fn from_discord(id: &str, text: &str) -> Request {
    let transport = Transport { gateway: Gateway::DiscordText, lane: lane() };
    Request { room: there(), transport, ..request("r", id, "ann", text) }
}

async fn accept(env: &Env, id: &str) -> HandoffId {
    match env.clankie.submit(from_discord(id, "work")).await.unwrap() {
        Answer::Accepted { handoff, .. } => handoff,
        other => panic!("{other:?}"),
    }
}

async fn delivery(env: &mut Env) -> (Arc<HandoffRecord>, PostingLog) {
    match tokio::time::timeout(LONG, env.elsewhere.recv()).await.unwrap().unwrap() {
        Heard::Deliver(record, log) => (record, log),
        Heard::Say(said) => panic!("{said:?} was said"),
    }
}

fn send(part: u32) -> PostingStep {
    PostingStep::Send { part, nonce: format!("n{part}") }
}

fn arrived(part: u32, id: &str, parts: u32) -> PostingStep {
    PostingStep::Arrived { part, id: id.into(), parts }
}

/// B16: computed and delivered are different facts, each with one visible end.
#[tokio::test]
async fn a_reply_is_sending_before_it_is_posted_and_confirmed_after() {
    let mut env = Env::start().await;
    let id = accept(&env, "m1").await;
    env.ready().await.reply("hello").await;
    let (record, log) = delivery(&mut env).await;
    assert_eq!((record.id, &env.record(id).room_delivery.state), (id, &Posting::Pending { part: 0 }));
    log.step(send(0)).await.unwrap();
    assert!(matches!(env.record(id).room_delivery.state, Posting::Sending { part: 0, .. }));
    let posted = log.step(arrived(0, "900", 1)).await.unwrap();
    assert_eq!((posted.state, posted.confirmed), (Posting::Confirmed, vec!["900".to_owned()]));
    assert!(log.step(send(0)).await.is_err(), "a confirmed reply was posted once more");
}

/// A restart while a part is being sent comes back to that part, with what was confirmed before it.
#[tokio::test]
async fn i7_a_restart_comes_back_to_the_part_that_may_stand_in_the_room() {
    let mut env = Env::start().await;
    let id = accept(&env, "m1").await;
    env.ready().await.reply("two parts").await;
    let (_, log) = delivery(&mut env).await;
    log.step(send(0)).await.unwrap();
    log.step(arrived(0, "900", 2)).await.unwrap();
    log.step(send(1)).await.unwrap();
    let mut env = env.restart().await;
    let (record, log) = delivery(&mut env).await;
    assert_eq!(record.room_delivery.confirmed, ["900"]);
    assert!(matches!(record.room_delivery.state, Posting::Sending { part: 1, .. }));
    log.step(PostingStep::Lost { part: 1 }).await.unwrap();
    assert_eq!(env.record(id).room_delivery.state, Posting::Uncertain);
    let env = env.restart().await;
    assert_eq!(env.record(id).room_delivery.state, Posting::Uncertain);
    assert_eq!(env.clankie.room_actors(), 0, "an uncertain reply waits for nobody but the owner");
}

/// I7: a room that is begun anew hands its reply out again while who had it before still waits for an
/// answer. That one comes late, and says nothing about the part after.
#[tokio::test]
async fn i7_a_late_answer_about_a_part_confirms_no_other() {
    let mut env = Env::start().await;
    let id = accept(&env, "m1").await;
    env.ready().await.reply("two parts").await;
    let (_, log) = delivery(&mut env).await;
    let late = log.clone();
    log.step(send(0)).await.unwrap();
    log.step(arrived(0, "900", 2)).await.unwrap();
    log.step(send(1)).await.unwrap();
    for step in [send(0), arrived(0, "900", 2), PostingStep::Lost { part: 0 }, PostingStep::Unsent { part: 0 }] {
        assert!(late.step(step).await.is_err());
    }
    let stands = env.record(id).room_delivery;
    assert!(matches!(stands.state, Posting::Sending { part: 1, .. }) && stands.confirmed == ["900"], "{stands:?}");
    log.step(arrived(1, "901", 2)).await.unwrap();
    assert_eq!(env.record(id).room_delivery.confirmed, ["900", "901"]);
}

/// What did not arrive is posted once more by the owner's wish only, from the first open part.
#[tokio::test]
async fn the_owner_may_post_once_more_what_did_not_arrive() {
    let mut env = Env::start().await;
    let id = accept(&env, "m1").await;
    env.ready().await.reply("two parts").await;
    let (_, log) = delivery(&mut env).await;
    log.step(send(0)).await.unwrap();
    log.step(arrived(0, "900", 2)).await.unwrap();
    log.step(send(1)).await.unwrap();
    log.step(PostingStep::Refused { part: 1, why: "no permission".into() }).await.unwrap();
    let Answer::Posted(again) = env.clankie.repost(&there(), id).await.unwrap() else { panic!("not posted") };
    assert_eq!(again.state, Posting::Pending { part: 1 });
    let (record, log) = delivery(&mut env).await;
    assert_eq!(record.room_delivery.confirmed, ["900"]);
    log.step(send(1)).await.unwrap();
    log.step(arrived(1, "901", 2)).await.unwrap();
    assert_eq!(env.record(id).room_delivery.confirmed, ["900", "901"]);
    assert_eq!(env.clankie.repost(&there(), id).await.unwrap(), Answer::NoSuchStep);
}

/// A start finds a reply that the owner wants once more, as it finds every other that is on its way.
#[tokio::test]
async fn i7_a_reply_that_is_posted_once_more_goes_on_after_a_restart() {
    let mut env = Env::start().await;
    let id = accept(&env, "m1").await;
    env.ready().await.reply("hello").await;
    let (_, log) = delivery(&mut env).await;
    log.step(send(0)).await.unwrap();
    log.step(PostingStep::Refused { part: 0, why: "no permission".into() }).await.unwrap();
    env.clankie.repost(&there(), id).await.unwrap();
    let (_, log) = delivery(&mut env).await;
    log.step(send(0)).await.unwrap();
    let mut env = env.restart().await;
    let (record, log) = delivery(&mut env).await;
    assert!(record.id == id && matches!(record.room_delivery.state, Posting::Sending { part: 0, .. }));
    log.step(arrived(0, "900", 1)).await.unwrap();
    let env = env.restart().await;
    assert_eq!(env.record(id).room_delivery.state, Posting::Confirmed);
    assert_eq!(env.clankie.room_actors(), 0, "it is over, and nothing of it lives");
}

/// Places of a room begin anew with its actor: what comes next does not take that of an old reply.
#[tokio::test]
async fn i7_a_reply_that_is_posted_once_more_is_not_pushed_aside_by_the_next_delivery() {
    let mut env = Env::start().await;
    let id = accept(&env, "m1").await;
    env.ready().await.reply("hello").await;
    let (_, log) = delivery(&mut env).await;
    log.step(send(0)).await.unwrap();
    log.step(PostingStep::Refused { part: 0, why: "no permission".into() }).await.unwrap();
    let mut env = env.restart().await;
    env.clankie.repost(&there(), id).await.unwrap();
    let (_, log) = delivery(&mut env).await;
    let next = accept(&env, "m2").await;
    log.step(send(0)).await.unwrap();
    log.step(arrived(0, "900", 1)).await.unwrap();
    assert_eq!(env.record(id).room_delivery.state, Posting::Confirmed);
    env.ready().await.reply("hello again").await;
    assert_eq!(env.result(next).await, crate::env::settled("hello again"));
}

/// A message that was deleted before its start is cancelled; later nothing changes.
#[tokio::test]
async fn a_deleted_trigger_is_cancelled_before_its_start_only() {
    let mut env = Env::start().await;
    for n in 0..2 {
        env.clankie
            .submit(Request { actor: crate::env::actor(&format!("u{n}")), ..from_discord(&format!("b{n}"), "x") })
            .await
            .unwrap();
    }
    let (_one, _two) = (env.ready().await, env.ready().await);
    let waits = accept(&env, "m1").await;
    let by = crate::env::actor("ann");
    env.clankie.retract(&there(), crate::env::delivery("m1"), by).await.unwrap();
    assert_eq!(env.record(waits).state_name().as_str(), "cancelled");
    let running = crate::env::delivery("b0");
    env.clankie.retract(&there(), running, crate::env::actor("u0")).await.unwrap();
    assert_eq!(env.states()[0].1.as_str(), "running");
}

/// A word on the way is said by the gateway after it is durable.
#[tokio::test]
async fn a_word_on_the_way_goes_through_the_gateway() {
    let mut env = Env::start().await;
    accept(&env, "m1").await;
    let session = env.ready().await;
    session.spec.tools.call("1", "send_text_update", json!({"text": "on it"})).await;
    match tokio::time::timeout(LONG, env.elsewhere.recv()).await.unwrap().unwrap() {
        Heard::Say(said) => assert_eq!(said.text, "on it"),
        Heard::Deliver(record, _) => panic!("{record:?} was delivered"),
    }
}
