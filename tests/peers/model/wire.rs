//! How the two APIs put an answer on the wire, streamed and whole.

use std::convert::Infallible;
use std::io;

use axum::body::{Body, Bytes};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::{Stream, StreamExt, stream};
use serde_json::{Value, json};

use super::script::{Answer, Part};

/// Which API is spoken.
#[derive(Debug, Clone, Copy)]
pub(super) enum Dialect {
    OpenAi,
    Anthropic,
}

/// One thing that happens to an open stream.
enum Frame {
    Send(String),
    Wait(super::Gate),
    Cut,
    Stall,
}

pub(super) async fn respond(dialect: Dialect, answer: Answer, request: &Value) -> Response {
    let (parts, tokens) = match answer {
        Answer::Reply { parts, input_tokens, output_tokens } => (parts, Some((input_tokens, output_tokens))),
        Answer::Uncounted { parts } => (parts, None),
        Answer::Refuse { status, body, retry_after } => return refuse(status, &body, retry_after),
        Answer::Never => return std::future::pending::<Response>().await,
    };
    if request["stream"] != json!(true) {
        return axum::Json(whole(dialect, &parts, tokens)).into_response();
    }
    let frames = match dialect {
        Dialect::OpenAi => openai(&parts, tokens),
        Dialect::Anthropic => anthropic(&parts, tokens),
    };
    let body = Body::from_stream(play(frames));
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

fn refuse(status: u16, body: &Value, retry_after: Option<u64>) -> Response {
    let mut response = (StatusCode::from_u16(status).unwrap(), axum::Json(body)).into_response();
    if let Some(seconds) = retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

fn play(frames: Vec<Frame>) -> impl Stream<Item = Result<Bytes, io::Error>> {
    stream::iter(frames)
        .then(async |frame| {
            match frame {
                Frame::Send(text) => Ok(Some(Bytes::from(text))),
                Frame::Wait(gate) => {
                    gate.pass().await;
                    Ok(None)
                }
                // What was sent before must be on its way: a body that fails at once sends nothing.
                Frame::Cut => {
                    tokio::task::yield_now().await;
                    Err(io::Error::other("cut by the script"))
                }
                Frame::Stall => match std::future::pending::<Infallible>().await {},
            }
        })
        .filter_map(async |frame| frame.transpose())
}

/// Every frame up to the first part that ends the stream, then the end marks if there was none.
fn frames(parts: &[Part], mut part: impl FnMut(usize, &Part) -> Vec<String>, end: Vec<String>) -> Vec<Frame> {
    let mut frames = Vec::new();
    for (index, one) in parts.iter().enumerate() {
        match one {
            Part::Gate(gate) => frames.push(Frame::Wait(gate.clone())),
            Part::Cut => return with(frames, Frame::Cut),
            Part::Stall => return with(frames, Frame::Stall),
            Part::Text(_) | Part::Tool { .. } | Part::Garbage => {
                frames.extend(part(index, one).into_iter().map(Frame::Send));
            }
        }
    }
    frames.extend(end.into_iter().map(Frame::Send));
    frames
}

fn with(mut frames: Vec<Frame>, last: Frame) -> Vec<Frame> {
    frames.push(last);
    frames
}

fn calls_tools(parts: &[Part]) -> bool {
    parts.iter().any(|part| matches!(part, Part::Tool { .. }))
}

fn openai(parts: &[Part], tokens: Option<(u32, u32)>) -> Vec<Frame> {
    let chunk = |choices: Value, usage: Value| {
        let body = json!({ "id": "c", "object": "chat.completion.chunk", "created": 0, "model": "scripted",
            "choices": choices, "usage": usage });
        format!("data: {body}\n\n")
    };
    let delta = |delta: Value| chunk(json!([{ "index": 0, "delta": delta, "finish_reason": null }]), Value::Null);
    let reason = if calls_tools(parts) { "tool_calls" } else { "stop" };
    let mut end = vec![chunk(json!([{ "index": 0, "delta": {}, "finish_reason": reason }]), Value::Null)];
    if let Some((input, output)) = tokens {
        let usage = json!({ "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output });
        end.push(chunk(json!([]), usage));
    }
    end.push("data: [DONE]\n\n".to_owned());
    let mut tools = 0;
    let part = |_, part: &Part| match part {
        Part::Text(text) => vec![delta(json!({ "content": text }))],
        Part::Tool { id, name, arguments } => {
            let (head, tail) = halves(arguments);
            let index = tools;
            tools += 1;
            let first = json!({ "index": index, "id": id, "type": "function",
                "function": { "name": name, "arguments": head } });
            let rest = json!({ "index": index, "function": { "arguments": tail } });
            vec![delta(json!({ "tool_calls": [first] })), delta(json!({ "tool_calls": [rest] }))]
        }
        _ => vec!["data: {broken\n\n".to_owned()],
    };
    frames(parts, part, end)
}

fn anthropic(parts: &[Part], tokens: Option<(u32, u32)>) -> Vec<Frame> {
    let event = |body: Value| format!("event: {}\ndata: {body}\n\n", body["type"].as_str().unwrap());
    let (input, output) = match tokens {
        Some((input, output)) => (json!({ "input_tokens": input }), json!({ "output_tokens": output })),
        None => (Value::Null, Value::Null),
    };
    let message = json!({ "id": "m", "type": "message", "role": "assistant", "model": "scripted", "content": [],
        "usage": input });
    let start = event(json!({ "type": "message_start", "message": message }));
    let reason = if calls_tools(parts) { "tool_use" } else { "end_turn" };
    let end = vec![
        event(json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": output })),
        event(json!({ "type": "message_stop" })),
    ];
    let block = |index: usize, block: Value, deltas: Vec<Value>| {
        let mut events = vec![event(json!({ "type": "content_block_start", "index": index, "content_block": block }))];
        for delta in deltas {
            events.push(event(json!({ "type": "content_block_delta", "index": index, "delta": delta })));
        }
        events.push(event(json!({ "type": "content_block_stop", "index": index })));
        events
    };
    let part = |index, part: &Part| match part {
        Part::Text(text) => {
            block(index, json!({ "type": "text", "text": "" }), vec![json!({ "type": "text_delta", "text": text })])
        }
        Part::Tool { id, name, arguments } => {
            let (head, tail) = halves(arguments);
            let delta = |json: &str| json!({ "type": "input_json_delta", "partial_json": json });
            let tool = json!({ "type": "tool_use", "id": id, "name": name, "input": {} });
            block(index, tool, vec![delta(head), delta(tail)])
        }
        _ => vec!["event: content_block_delta\ndata: {broken\n\n".to_owned()],
    };
    let mut all = vec![Frame::Send(start)];
    all.extend(frames(parts, part, end));
    all
}

/// A model streams arguments in pieces; two are enough to see them put together again.
fn halves(text: &str) -> (&str, &str) {
    let mut middle = text.len() / 2;
    while !text.is_char_boundary(middle) {
        middle -= 1;
    }
    text.split_at(middle)
}

/// The answer to a client that does not stream. Gates and faults need a stream and are left out.
fn whole(dialect: Dialect, parts: &[Part], tokens: Option<(u32, u32)>) -> Value {
    let text: String = parts.iter().map(|part| if let Part::Text(text) = part { text.as_str() } else { "" }).collect();
    let tools = parts.iter().filter_map(|part| match part {
        Part::Tool { id, name, arguments } => Some((id, name, arguments)),
        _ => None,
    });
    let (input, output) = tokens.unwrap_or_default();
    match dialect {
        Dialect::OpenAi => {
            let calls: Vec<Value> = tools
                .map(|(id, name, arguments)| {
                    json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } })
                })
                .collect();
            let reason = if calls.is_empty() { "stop" } else { "tool_calls" };
            let message = json!({ "role": "assistant", "content": text, "tool_calls": calls });
            json!({ "id": "c", "object": "chat.completion", "created": 0, "model": "scripted",
                "choices": [{ "index": 0, "message": message, "finish_reason": reason }],
                "usage": { "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output } })
        }
        Dialect::Anthropic => {
            let mut content = vec![json!({ "type": "text", "text": text })];
            content.extend(tools.map(|(id, name, arguments)| {
                let input: Value = serde_json::from_str(arguments).unwrap_or(json!({}));
                json!({ "type": "tool_use", "id": id, "name": name, "input": input })
            }));
            let reason = if calls_tools(parts) { "tool_use" } else { "end_turn" };
            json!({ "id": "m", "type": "message", "role": "assistant", "model": "scripted", "content": content,
                "stop_reason": reason, "usage": { "input_tokens": input, "output_tokens": output } })
        }
    }
}
