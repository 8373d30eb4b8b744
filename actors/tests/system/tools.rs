//! The room tools: bound by the host, checked on every call, committed with what they were decided under.

use std::collections::BTreeSet;

use clankie_actors::domain::admission::Limits;
use clankie_actors::domain::grant::GrantPolicy;
use clankie_actors::domain::message::MessageKind;
use clankie_actors::ports::ToolReply;
use serde_json::{Value, json};

use crate::env::{Env, actor, room};
use crate::puppet::Strings;

async fn call(session: &Strings, name: &str, arguments: Value) -> ToolReply {
    session.spec.tools.call("call-1", name, arguments).await
}

fn code(reply: ToolReply) -> String {
    match reply {
        ToolReply::Refused { code, .. } => code,
        ToolReply::Done(done) => panic!("{done} was not refused"),
    }
}

fn said(env: &Env) -> Vec<(MessageKind, String)> {
    let messages = env.clankie.messages(&room("r"), 0, 100).unwrap();
    messages.into_iter().map(|(_, message)| (message.kind, message.text)).collect()
}

#[tokio::test]
async fn i8_arguments_cannot_name_another_room_actor_or_destination() {
    let mut env = Env::start().await;
    env.accept("r", "m1", "ann", "work").await;
    let session = env.ready().await;
    for extra in ["room", "actor", "reply_to", "grant"] {
        let arguments = json!({"text": "hi", extra: "ingress:t:other"});
        assert_eq!(code(call(&session, "send_text_update", arguments).await), "invalid_arguments");
    }
    assert_eq!(said(&env).len(), 1, "a refused call said something");
}

#[tokio::test]
async fn a_word_on_the_way_is_said_once_in_thirty_seconds() {
    let mut env = Env::start().await;
    env.accept("r", "m1", "ann", "work").await;
    let session = env.ready().await;
    let on_it = json!({"text": "on it"});
    assert_eq!(call(&session, "send_text_update", on_it.clone()).await, ToolReply::Done("sent".into()));
    env.clock.advance(29_999);
    assert_eq!(code(call(&session, "send_text_update", on_it.clone()).await), "too_soon");
    env.clock.advance(1);
    let reply = session.spec.tools.call("call-2", "send_text_update", on_it).await;
    assert_eq!(reply, ToolReply::Done("sent".into()));
    let updates = said(&env).iter().filter(|(kind, _)| *kind == MessageKind::Update).count();
    assert_eq!(updates, 2);
    for wrong in [json!({"text": ""}), json!({"text": "x".repeat(601)}), json!({"text": 1}), json!([])] {
        assert_eq!(code(call(&session, "send_text_update", wrong).await), "invalid_arguments");
    }
}

#[tokio::test]
async fn react_takes_one_of_the_configured_set() {
    let mut env = Env::start().await;
    env.accept("r", "m1", "ann", "work").await;
    let session = env.ready().await;
    assert_eq!(call(&session, "react", json!({"reaction": "seen"})).await, ToolReply::Done("sent".into()));
    assert_eq!(code(call(&session, "react", json!({"reaction": "@everyone"})).await), "invalid_arguments");
    assert_eq!(said(&env)[1], (MessageKind::Reaction, "seen".into()));
}

#[tokio::test]
async fn unknown_names_do_not_exist() {
    let mut env = Env::start().await;
    env.accept("r", "m1", "ann", "work").await;
    let session = env.ready().await;
    for name in ["shell", "room_task_tools"] {
        assert_eq!(code(call(&session, name, json!({})).await), "tool_unavailable");
    }
}

/// No intent commits after revocation, and none after the run is over.
#[tokio::test]
async fn i4_no_intent_commits_after_revocation_or_after_the_end() {
    let policy = GrantPolicy { machine_actors: BTreeSet::from([actor("ann")]), ..GrantPolicy::default() };
    let mut env = Env::with(policy.clone(), Limits::default()).await;
    env.accept("r", "m1", "ann", "work").await;
    let session = env.ready().await;
    let routes = [(clankie_actors::domain::grant::Plan::Social, "puppet")]
        .map(|(plan, name)| (plan, clankie_actors::domain::ids::ExecutorName::parse(name).unwrap()));
    env.clankie.reload(GrantPolicy::default(), routes.into()).await.unwrap();
    let hi = json!({"text": "hi"});
    assert_eq!(code(call(&session, "send_text_update", hi.clone()).await), "authority_revoked");

    let id = env.accept("q", "m2", "bob", "work").await;
    let other = env.ready().await;
    let tools = std::sync::Arc::clone(&other.spec.tools);
    other.reply("done").await;
    env.result(id).await;
    assert_eq!(code(tools.call("late", "send_text_update", hi).await), "run_over");
}

#[tokio::test]
async fn history_and_handoffs_are_of_the_own_room_only() {
    let mut env = Env::start().await;
    env.accept("q", "m0", "eve", "elsewhere").await;
    env.accept("r", "m1", "ann", "here").await;
    let (_other, session) = (env.ready().await, env.ready().await);
    for name in ["room_history", "list_handoffs"] {
        let ToolReply::Done(text) = call(&session, name, json!({})).await else { panic!("{name} was refused") };
        assert!(text.contains("here") && !text.contains("elsewhere"), "{name}: {text}");
    }
}
