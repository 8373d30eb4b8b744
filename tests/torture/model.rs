//! A model server on loopback whose answers depend on what it is asked, with a log by run.
//!
//! A conversation without a word of the model is the first call of a run; the answer names the
//! run, so every later call of it is known by the model's own words in it. Calls never fail: what
//! goes wrong in a run is then the service's doing.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::rng::Rng;
use crate::words::{self, Manner};

/// The shortest and the longest slow answer, in milliseconds: long enough that the queue fills.
const SLOW_MS: (u64, u64) = (150, 650);

/// The longest answer while a queue is to drain.
const HURRIED: Duration = Duration::from_millis(5);

/// One run as the model saw it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Run {
    /// The texts of its first message; one in a service that isolates its threads.
    pub(crate) opening: Vec<String>,
    /// Every text that came later, with those handed over right at the start.
    pub(crate) steers: BTreeSet<String>,
    /// Calls made.
    pub(crate) calls: usize,
    /// The ask or the update that it was told it published.
    pub(crate) published: Option<String>,
}

/// One time that the model was woken with an owner's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Woken {
    /// The run that asked.
    pub(crate) ask: usize,
    /// The answer's words.
    pub(crate) told: String,
}

/// The server.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    inner: Arc<Inner>,
    url: String,
}

#[derive(Debug)]
struct Inner {
    log: Mutex<Log>,
    held: watch::Sender<u64>,
    hurried: AtomicBool,
}

#[derive(Debug)]
struct Log {
    runs: Vec<Run>,
    woken: Vec<Woken>,
    strays: Vec<String>,
    rng: Rng,
}

/// How fast slow requests are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// As they ask for.
    Usual,
    /// Like quick ones, so that a queue drains.
    Hurried,
}

/// What one call is answered with, and when.
enum Plan {
    Say { text: String, after: Duration },
    Use { id: String, tool: (&'static str, Value), after: Duration },
    Held { text: String },
}

impl Model {
    /// Serves on a free port until the runtime ends.
    pub(crate) async fn start(seed: u64) -> std::io::Result<Self> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/v1/", listener.local_addr()?);
        let log = Log { runs: Vec::new(), woken: Vec::new(), strays: Vec::new(), rng: Rng::new(seed, 0x30DE1) };
        let inner =
            Arc::new(Inner { log: Mutex::new(log), held: watch::Sender::new(0), hurried: AtomicBool::new(false) });
        let router = Router::new().route("/v1/chat/completions", post(complete)).with_state(Arc::clone(&inner));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self { inner, url })
    }

    /// Where the service finds it.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Every run so far.
    pub(crate) fn runs(&self) -> Vec<Run> {
        self.inner.log().runs.clone()
    }

    /// Calls that belong to no run: their conversation shows words that this model never said.
    pub(crate) fn strays(&self) -> Vec<String> {
        self.inner.log().strays.clone()
    }

    /// Every time that it was woken with an answer.
    pub(crate) fn woken(&self) -> Vec<Woken> {
        self.inner.log().woken.clone()
    }

    /// Calls so far.
    pub(crate) fn calls(&self) -> usize {
        let log = self.inner.log();
        log.woken.len() + log.runs.iter().map(|run| run.calls).sum::<usize>()
    }

    /// Answers slow requests quickly from now on, or slowly again.
    pub(crate) fn pace(&self, pace: Pace) {
        self.inner.hurried.store(pace == Pace::Hurried, Ordering::Relaxed);
    }

    /// Answers every call that is held now.
    pub(crate) fn let_go(&self) {
        self.inner.held.send_modify(|round| *round += 1);
    }
}

impl Inner {
    fn log(&self) -> std::sync::MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn complete(State(inner): State<Arc<Inner>>, body: String) -> Response {
    let body: Value = serde_json::from_str(&body).unwrap_or(Value::Null);
    let mut held = inner.held.subscribe();
    let plan = inner.log().plan(&body);
    let chunks = match plan {
        Plan::Say { text, after } => {
            let hurried = inner.hurried.load(Ordering::Relaxed);
            let after = if hurried { after.min(HURRIED) } else { after };
            tokio::time::sleep(after).await;
            said(&text)
        }
        Plan::Use { id, tool, after } => {
            tokio::time::sleep(after).await;
            uses(&id, &tool)
        }
        Plan::Held { text } => {
            // The sender lives in `inner`, so this only ends when the harness lets go.
            let _ = held.changed().await;
            said(&text)
        }
    };
    ([(header::CONTENT_TYPE, "text/event-stream")], chunks).into_response()
}

impl Log {
    fn plan(&mut self, body: &Value) -> Plan {
        let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let role = |one: &Value| one["role"].as_str().unwrap_or_default().to_owned();
        let users: Vec<String> =
            messages.iter().filter(|one| role(one) == "user").map(|one| content(&one["content"])).collect();
        let own: Vec<&Value> = messages.iter().filter(|one| role(one) == "assistant").collect();
        if own.is_empty()
            && let Some((ask, told)) = users.first().and_then(|first| words::woken(first))
        {
            return self.wake(ask, told);
        }
        let opening = users.first().map(|first| words::texts(first)).unwrap_or_default();
        let steers: Vec<String> = users.iter().skip(1).flat_map(|later| words::texts(later)).collect();
        let run = match own.first().map(|first| words::run_in(&first.to_string())) {
            None => {
                self.runs.push(Run { opening: opening.clone(), ..Run::default() });
                self.runs.len() - 1
            }
            Some(Some(run)) if run < self.runs.len() => run,
            Some(_) => {
                self.strays.push(opening.join(" "));
                return Plan::Say { text: "stray".to_owned(), after: Duration::ZERO };
            }
        };
        let known = &mut self.runs[run];
        known.calls += 1;
        let heard =
            messages.iter().filter(|one| role(one) == "tool").find_map(|one| published(&content(&one["content"])));
        known.published = known.published.take().or(heard);
        let mut fresh = opening;
        fresh.extend(steers.into_iter().filter(|text| known.steers.insert(text.clone())));
        let manner = users.first().map_or(Manner::Quick, |first| words::manner(first));
        self.answer(run, &fresh, manner, own.is_empty())
    }

    #[allow(clippy::fn_params_excessive_bools, reason = "one flag of a private step")]
    fn answer(&mut self, run: usize, fresh: &[String], manner: Manner, first: bool) -> Plan {
        let (quick, slow) = (self.rng.between(2, 8), self.rng.between(SLOW_MS.0, SLOW_MS.1));
        let text = words::reply(run, fresh);
        let (quick, slow) = (Duration::from_millis(quick), Duration::from_millis(slow));
        if !first {
            return Plan::Say { text, after: quick };
        }
        match (manner, tool(manner, run)) {
            (_, Some(tool)) => Plan::Use { id: format!("call-run-{run}"), tool, after: quick },
            (Manner::Hold, None) => Plan::Held { text },
            (Manner::Slow, None) => Plan::Say { text, after: slow },
            (_, None) => Plan::Say { text, after: quick },
        }
    }

    /// Repeats the answer, which a secret one must not survive; half of the time slowly, so that a
    /// kill finds it on its way.
    fn wake(&mut self, ask: usize, told: String) -> Plan {
        let most = if self.rng.chance(50) { SLOW_MS.1 } else { 8 };
        let after = Duration::from_millis(self.rng.between(2, most));
        let text = format!("heard ask-{ask}: {told}");
        self.woken.push(Woken { ask, told });
        Plan::Say { text, after }
    }
}

fn content(value: &Value) -> String {
    match value.as_array() {
        Some(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        None => value.as_str().unwrap_or_default().to_owned(),
    }
}

fn said(text: &str) -> String {
    stream(&json!({ "role": "assistant", "content": text }), "stop")
}

/// What a run does before it replies, by the manner of its request.
fn tool(manner: Manner, run: usize) -> Option<(&'static str, Value)> {
    let prompt = words::prompt(run);
    let ask = |more: Value| {
        let mut draft = json!({ "prompt": prompt, "waiting_on": "the road" });
        for (field, value) in more.as_object().into_iter().flatten() {
            draft[field] = value.clone();
        }
        Some(("request_user_input", draft))
    };
    match manner {
        Manner::Quick | Manner::Slow | Manner::Hold => None,
        Manner::Update => Some(("send_text_update", json!({ "text": format!("call-run-{run}: still at it") }))),
        Manner::Decide => ask(json!({ "purpose": "decision", "kind": "choice", "recommendation": "left",
            "options": [{ "label": "left" }, { "label": "right" }, { "label": "neither" }] })),
        Manner::Approve => ask(json!({ "purpose": "approval", "gate": "release" })),
        Manner::Describe => ask(json!({ "purpose": "owner_action", "kind": "text", "steps": ["look"] })),
        Manner::Secret => {
            ask(json!({ "purpose": "owner_action", "kind": "text", "steps": ["sign in"], "secret": true }))
        }
        Manner::Mail => Some(("mail_owner_update", json!({ "title": format!("mail-{run}"), "body": "it goes on" }))),
    }
}

/// The id that a tool's output gives to what was published.
fn published(output: &str) -> Option<String> {
    let output: Value = serde_json::from_str(output).ok()?;
    let id = output["request_id"].as_str().or(output["id"].as_str())?;
    Some(id.to_owned())
}

fn uses(id: &str, (name, arguments): &(&'static str, Value)) -> String {
    let call = json!({ "index": 0, "id": id, "type": "function",
        "function": { "name": name, "arguments": arguments.to_string() } });
    stream(&json!({ "role": "assistant", "tool_calls": [call] }), "tool_calls")
}

fn stream(delta: &Value, reason: &str) -> String {
    let chunk = |choices: Value, usage: Value| {
        let body = json!({ "id": "c", "object": "chat.completion.chunk", "created": 0, "model": "scripted",
            "choices": choices, "usage": usage });
        format!("data: {body}\n\n")
    };
    let usage = json!({ "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 });
    [
        chunk(json!([{ "index": 0, "delta": delta, "finish_reason": null }]), Value::Null),
        chunk(json!([{ "index": 0, "delta": {}, "finish_reason": reason }]), Value::Null),
        chunk(json!([]), usage),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat()
}
