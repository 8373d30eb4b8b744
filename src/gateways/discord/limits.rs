//! One way out to Discord that keeps to its rate limits.
//!
//! The library's own limiter ignores a configured API base and would send the token to Discord
//! itself, so it is switched off; its requests are built with the base and sent here. A bucket that
//! is used up rests until Discord said it is full again, and 429 is waited for and tried again: it
//! is no outcome. Callers have deadlines of their own.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use discord_reqwest::{Client, Response};
use serde::Deserialize;
use serenity::http::Request;
use tokio::time::Instant;

/// Buckets that are remembered; beyond it those that are full again are forgotten.
const BUCKETS_MAX: usize = 4_096;
/// Rest after a 429 that does not say how long.
const UNTOLD_REST: Duration = Duration::from_secs(1);
/// Longest rest that is believed.
const REST_MAX: Duration = Duration::from_secs(3_600);
/// The bucket that stands for the whole bot.
const WHOLE_BOT: &str = "";

/// The way out.
#[derive(Debug)]
pub(super) struct Limits {
    client: Client,
    api_url: Option<String>,
    /// Until when each used-up bucket rests.
    rests: Mutex<BTreeMap<String, Instant>>,
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
}

#[derive(Debug, Default, Deserialize)]
struct Refusal {
    #[serde(default)]
    code: i64,
}

impl Limits {
    pub(super) fn new(api_url: Option<&str>) -> Self {
        Self { client: Client::new(), api_url: api_url.map(str::to_owned), rests: Mutex::default() }
    }

    /// Sends a request, and again as long as Discord says that it comes too fast.
    pub(super) async fn send(&self, bucket: &str, token: &str, request: Request<'_>) -> Result<Response, CallError> {
        let unclear = |error: &dyn std::error::Error| CallError::Unclear(chain(error));
        let built = request.build(&self.client, token, self.api_url.as_deref()).map_err(|error| unclear(&error))?;
        loop {
            self.rest(bucket).await;
            let Some(again) = built.try_clone() else {
                return Err(CallError::Unclear("the request cannot be sent twice".to_owned()));
            };
            let answer = again.send().await.map_err(|error| unclear(&error))?;
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
            let body = answer.bytes().await.unwrap_or_default();
            let refusal: Refusal = serde_json::from_slice(&body).unwrap_or_default();
            return Err(CallError::Refused { status: status.as_u16(), code: refusal.code });
        }
    }

    /// Waits until neither the bucket nor the whole bot rests.
    async fn rest(&self, bucket: &str) {
        loop {
            let until = {
                let rests = self.rests.lock().unwrap_or_else(PoisonError::into_inner);
                rests.get(bucket).max(rests.get(WHOLE_BOT)).copied()
            };
            match until {
                Some(until) if until > Instant::now() => tokio::time::sleep_until(until).await,
                Some(_) | None => return,
            }
        }
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
