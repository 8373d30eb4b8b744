//! A scripted model server: OpenAI chat completions and Anthropic messages on loopback.
//!
//! It serves from a thread and a runtime of its own, so a harness may block, and kill what it
//! tests, as it likes. Without a script it echoes. It logs every call and counts, for each
//! `[[delivery:ID]]` that it finds, how often that delivery was put to the model.

#![allow(dead_code, reason = "each test binary uses its own part of this peer")]
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "it stops at what it did not expect")]

#[path = "model/log.rs"]
mod log;
#[path = "model/script.rs"]
mod script;
#[path = "model/wire.rs"]
mod wire;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use serde_json::Value;
use tokio::sync::{oneshot, watch};

pub(crate) use log::Call;
pub(crate) use script::{Answer, Gate, Part};

/// A model server that runs until it is dropped.
#[derive(Debug)]
pub(crate) struct ModelServer {
    address: SocketAddr,
    inner: Arc<Inner>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Inner {
    answers: Mutex<VecDeque<Answer>>,
    calls: Mutex<Vec<Call>>,
    called: watch::Sender<usize>,
    delay: Duration,
}

impl ModelServer {
    /// A server that answers at once.
    pub(crate) fn start() -> Self {
        Self::start_after(Duration::ZERO)
    }

    /// A server that waits this long before each answer, so that a kill finds calls in flight.
    pub(crate) fn start_after(delay: Duration) -> Self {
        let (stop, stopped) = oneshot::channel();
        let inner = Arc::new(Inner {
            answers: Mutex::default(),
            calls: Mutex::default(),
            called: watch::Sender::new(0),
            delay,
        });
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let served = Arc::clone(&inner);
        let thread = std::thread::spawn(move || serve(listener, served, stopped));
        Self { address, inner, stop: Some(stop), thread: Some(thread) }
    }

    /// The base URL for an OpenAI client.
    pub(crate) fn openai_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The base URL for an Anthropic client.
    pub(crate) fn anthropic_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers of the next calls, in order; after them it echoes again.
    pub(crate) fn script(&self, answers: impl IntoIterator<Item = Answer>) {
        lock(&self.inner.answers).extend(answers);
    }

    /// Every call so far.
    pub(crate) fn calls(&self) -> Vec<Call> {
        lock(&self.inner.calls).clone()
    }

    /// How often this delivery was put to the model: calls in which it came after the last thing
    /// that the model itself said. Steps of a tool loop do not count; a retry of a call does.
    pub(crate) fn asked(&self, delivery: &str) -> usize {
        lock(&self.inner.calls).iter().filter(|call| call.fresh.iter().any(|id| id == delivery)).count()
    }

    /// Waits until this many calls have come in.
    pub(crate) async fn called(&self, times: usize) {
        let mut called = self.inner.called.subscribe();
        called.wait_for(|count| *count >= times).await.unwrap();
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(listener: std::net::TcpListener, inner: Arc<Inner>, stopped: oneshot::Receiver<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async move {
        listener.set_nonblocking(true).unwrap();
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        let router = Router::new()
            .route("/v1/chat/completions", post(openai))
            .route("/v1/messages", post(anthropic))
            .with_state(inner);
        // Open streams must not keep the server alive, so this is no graceful end.
        tokio::select! {
            served = axum::serve(listener, router).into_future() => served.unwrap(),
            _ = stopped => {}
        }
    });
    runtime.shutdown_background();
}

async fn openai(State(inner): State<Arc<Inner>>, body: String) -> Response {
    answer(inner, wire::Dialect::OpenAi, &body).await
}

async fn anthropic(State(inner): State<Arc<Inner>>, body: String) -> Response {
    answer(inner, wire::Dialect::Anthropic, &body).await
}

async fn answer(inner: Arc<Inner>, dialect: wire::Dialect, body: &str) -> Response {
    let body: Value = serde_json::from_str(body).unwrap_or(Value::Null);
    let call = Call::new(body.clone());
    let scripted = lock(&inner.answers).pop_front();
    let answer = scripted.unwrap_or_else(|| Answer::text([format!("echo: {}", call.last_words())]));
    lock(&inner.calls).push(call);
    inner.called.send_modify(|count| *count += 1);
    if !inner.delay.is_zero() {
        tokio::time::sleep(inner.delay).await;
    }
    wire::respond(dialect, answer, &body).await
}

/// A test that panicked while it held the lock must not hide its own message behind this one.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
