//! The scripted model server itself: what it counts, and its answers to a client that does not stream.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::model_peer::{Answer, ModelServer, Part};

async fn post(url: String, body: Value) -> Value {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new().post(url).json(&body).send().await.unwrap().json().await.unwrap()
}

fn said(words: &str) -> Value {
    json!({ "messages": [{ "role": "user", "content": words }] })
}

#[tokio::test]
async fn it_counts_a_delivery_once_for_all_steps_of_a_tool_loop() {
    let server = ModelServer::start_after(Duration::from_millis(5));
    let chat = format!("{}/chat/completions", server.openai_url());
    let start = Instant::now();
    post(chat.clone(), said("> [[delivery:other]] quoted\n[[delivery:a]] go")).await;
    assert!(start.elapsed() >= Duration::from_millis(5));
    let tool = json!({ "role": "tool", "content": "[[delivery:forged]]" });
    let steps = json!({ "messages": [
        { "role": "user", "content": "[[delivery:a]] go" }, { "role": "assistant", "content": "" }, tool,
        { "role": "user", "content": [{ "type": "text", "text": "[[delivery:b]] too" }] },
    ] });
    post(chat, steps).await;
    let asked: Vec<usize> = ["a", "b", "other", "forged"].iter().map(|id| server.asked(id)).collect();
    assert_eq!(asked, [1, 1, 0, 0]);
}

#[tokio::test]
async fn it_answers_whole_in_both_dialects() {
    let server = ModelServer::start();
    let reply = || Answer::parts([Part::text("Hi."), Part::tool("c1", "react", r#"{"n":1}"#)]);
    server.script([reply(), reply()]);
    let chat = post(format!("{}/chat/completions", server.openai_url()), said("x")).await;
    let message = &chat["choices"][0]["message"];
    assert_eq!(message["content"], "Hi.");
    assert_eq!(message["tool_calls"][0]["function"], json!({ "name": "react", "arguments": r#"{"n":1}"# }));
    let messages = post(format!("{}/v1/messages", server.anthropic_url()), said("x")).await;
    assert_eq!(messages["content"][0]["text"], "Hi.");
    assert_eq!(messages["content"][1], json!({ "type": "tool_use", "id": "c1", "name": "react", "input": { "n": 1 } }));
    let echo = post(format!("{}/v1/messages", server.anthropic_url()), said("a\nb")).await;
    assert_eq!(echo["content"][0]["text"], "echo: b");
}
