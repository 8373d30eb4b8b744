//! One way out to Discord that keeps to its rate limits.
//!
//! The library's own limiter ignores a configured API base and would send the token to Discord
//! itself, so it is switched off; its requests are built with the base and sent here. A bucket that
//! is used up rests until Discord said it is full again, and 429 is waited for and tried again: it
//! is no outcome. A call has a deadline; one that would rest beyond it is not sent, and is told so.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use discord_reqwest::{Client, Response};
use serde::Deserialize;
use serenity::http::Request;
use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;

/// Buckets that are remembered; beyond it those that are full again are forgotten.
const BUCKETS_MAX: usize = 4_096;
/// Rest after a 429 that does not say how long.
const UNTOLD_REST: Duration = Duration::from_secs(1);
/// Longest rest that is believed.
const REST_MAX: Duration = Duration::from_secs(3_600);
/// How long a connection may take to come about: far beyond what any that will come takes.
const CONNECT_DEADLINE: Duration = Duration::from_secs(10);
/// The bucket that stands for the whole bot.
const WHOLE_BOT: &str = "";

/// The way out.
#[derive(Debug)]
pub(super) struct Limits {
    client: Client,
    api_url: Option<String>,
    /// Until when each used-up bucket rests.
    rests: Mutex<BTreeMap<String, Instant>>,
    /// Whose turn it is in a bucket.
    turns: Mutex<BTreeMap<String, Arc<tokio::sync::Mutex<()>>>>,
}

/// Why a call gave nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum CallError {
    /// Discord refused; nothing happened.
    #[error("Discord refused (status {status}, code {code})")]
    Refused { status: u16, code: i64 },
    /// It may or may not have happened.
    #[error("nobody can say whether it happened: {0}")]
    Unclear(String),
    /// Nothing of it was taken: no connection came about, or it would have come too fast.
    #[error("it was not sent: {0}")]
    NotSent(String),
}

#[derive(Debug, Default, Deserialize)]
struct Refusal {
    #[serde(default)]
    code: i64,
}

impl Limits {
    pub(super) fn new(api_url: Option<&str>) -> Self {
        // Only a broken TLS setup makes it fail, which the plain client then shows.
        let client = Client::builder().connect_timeout(CONNECT_DEADLINE).build().unwrap_or_default();
        Self { client, api_url: api_url.map(str::to_owned), rests: Mutex::default(), turns: Mutex::default() }
    }

    /// Sends a request, and again as long as Discord says that it comes too fast.
    pub(super) async fn send(
        &self,
        (bucket, token): (&str, &str),
        request: Request<'_>,
        until: Instant,
    ) -> Result<Response, CallError> {
        loop {
            if self.rests_until(bucket).is_some_and(|rest| rest > until) {
                return Err(CallError::NotSent("Discord's wait is longer than this can wait".to_owned()));
            }
            self.free(bucket).await;
            // Another call may have made the rest longer while this one waited.
            if Instant::now() > until {
                return Err(CallError::NotSent("Discord's wait was longer than this could wait".to_owned()));
            }
            // Built each time: a form with a file in it cannot be sent twice.
            let again = request.clone().build(&self.client, token, self.api_url.as_deref());
            let sent = again.map_err(|error| CallError::NotSent(chain(&error)))?.send();
            let answer = match tokio::time::timeout_at(until, sent).await {
                Ok(Ok(answer)) => answer,
                Ok(Err(error)) if error.is_connect() => return Err(CallError::NotSent(chain(&error))),
                Ok(Err(error)) => return Err(CallError::Unclear(chain(&error))),
                Err(late) => return Err(CallError::Unclear(late.to_string())),
            };
            self.note(bucket, &answer);
            let status = answer.status();
            if status.as_u16() == 429 {
                tracing::debug!(bucket, "too fast for Discord; it is tried again");
                continue;
            }
            if status.is_success() {
                return Ok(answer);
            }
            if !status.is_client_error() || status.as_u16() == 408 {
                return Err(CallError::Unclear(format!("status {}", status.as_u16())));
            }
            let body = tokio::time::timeout_at(until, answer.bytes()).await.ok().and_then(Result::ok);
            let refusal: Refusal = serde_json::from_slice(&body.unwrap_or_default()).unwrap_or_default();
            return Err(CallError::Refused { status: status.as_u16(), code: refusal.code });
        }
    }

    /// Waits until neither the bucket nor the whole bot rests.
    pub(super) async fn free(&self, bucket: &str) {
        while let Some(until) = self.rests_until(bucket) {
            tokio::time::sleep_until(until).await;
        }
    }

    /// A turn of one's own in that bucket, first come first served, for calls of which many are made at
    /// once: all together they would come too fast again and again.
    pub(super) async fn turn(&self, bucket: &str) -> OwnedMutexGuard<()> {
        let turn = {
            let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
            if turns.len() >= BUCKETS_MAX {
                turns.retain(|_, turn| Arc::strong_count(turn) > 1);
            }
            Arc::clone(turns.entry(bucket.to_owned()).or_default())
        };
        turn.lock_owned().await
    }

    fn rests_until(&self, bucket: &str) -> Option<Instant> {
        let rests = self.rests.lock().unwrap_or_else(PoisonError::into_inner);
        let until = rests.get(bucket).max(rests.get(WHOLE_BOT)).copied();
        until.filter(|until| *until > Instant::now())
    }

    fn note(&self, bucket: &str, answer: &Response) {
        let header = |name: &str| answer.headers().get(name).and_then(|value| value.to_str().ok());
        let seconds = |name: &str| header(name).and_then(|text| text.parse::<f64>().ok());
        let used_up = header("x-ratelimit-remaining") == Some("0");
        let (bucket, rest) = if answer.status().as_u16() == 429 {
            let global = header("x-ratelimit-global").is_some();
            let told = seconds("retry-after").or_else(|| seconds("x-ratelimit-reset-after"));
            let told = told.and_then(|told| Duration::try_from_secs_f64(told).ok());
            (if global { WHOLE_BOT } else { bucket }, told.unwrap_or(UNTOLD_REST))
        } else {
            let told = seconds("x-ratelimit-reset-after").filter(|_| used_up);
            match told.and_then(|told| Duration::try_from_secs_f64(told).ok()) {
                Some(rest) => (bucket, rest),
                None => return,
            }
        };
        let now = Instant::now();
        let mut rests = self.rests.lock().unwrap_or_else(PoisonError::into_inner);
        if rests.len() >= BUCKETS_MAX {
            rests.retain(|_, until| *until > now);
        }
        rests.insert(bucket.to_owned(), now + rest.min(REST_MAX));
    }
}

/// An error with what caused it: the library's own words alone say nothing.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        // Some wrappers repeat their cause word for word.
        let said = cause.to_string();
        if !text.ends_with(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        source = cause.source();
    }
    text
}
