//! Why a model call failed, in words that hold nothing of a provider's answer, and whether
//! trying again can help.
//!
//! Nothing is decided by the text of a message: only by status codes, error types and headers.

use std::time::Duration;

use genai::Error;
use serde_json::Value;

/// Error types that a provider names and that no second try changes.
const FINAL_TYPES: [&str; 6] = [
    "authentication_error",
    "billing_error",
    "insufficient_quota",
    "invalid_request_error",
    "not_found_error",
    "permission_error",
];

/// A failed call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Failure {
    /// Trying again does not help.
    #[error("{0}")]
    Final(String),
    /// It may pass.
    #[error("{why}")]
    Passing {
        /// What happened.
        why: String,
        /// How long the provider asks to wait.
        after: Option<Duration>,
    },
}

impl Failure {
    pub(super) fn passing(why: &str) -> Self {
        Self::Passing { why: why.to_owned(), after: None }
    }
}

impl From<Error> for Failure {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the client's errors are not ours, and most cannot come of a stream"
    )]
    fn from(error: Error) -> Self {
        match error {
            Error::HttpError { status, body, headers, .. } => {
                of_status(status.as_u16(), &body, headers.get("retry-after").and_then(|value| value.to_str().ok()))
            }
            Error::WebStream { error, .. } => match error.downcast::<Error>() {
                Ok(inner) => Self::from(*inner),
                Err(other) => of_transport(&other),
            },
            Error::ChatResponse { body, .. } => of_error_event(&body),
            Error::StreamParse { .. } | Error::SerdeJson(_) | Error::JsonValueExt(_) => {
                Self::passing("its reply was malformed")
            }
            _ => Self::Final("the request could not be made".to_owned()),
        }
    }
}

fn of_status(status: u16, body: &str, retry_after: Option<&str>) -> Failure {
    let named = serde_json::from_str(body).ok().and_then(|body: Value| error_type(&body));
    let quota = named.as_deref().is_some_and(|named| matches!(named, "insufficient_quota" | "billing_error"));
    let final_ = |why: &str| Failure::Final(format!("{why} (HTTP {status})"));
    let passing = |why: &str| Failure::Passing {
        why: format!("{why} (HTTP {status})"),
        after: retry_after.and_then(|seconds| seconds.trim().parse().ok()).map(Duration::from_secs),
    };
    match status {
        _ if quota => final_("the provider's account has no quota left"),
        402 => final_("the provider's account has no quota left"),
        401 | 403 => final_("the provider refuses the key"),
        429 => passing("the provider asks to slow down"),
        408 | 409 | 425 => passing("the provider gave up on the request"),
        500..=599 => passing("the provider failed"),
        _ => final_("the provider refuses the request"),
    }
}

fn of_transport(error: &genai::BoxError) -> Failure {
    match error.downcast_ref::<reqwest::Error>() {
        Some(error) if error.is_connect() => Failure::passing("the provider cannot be reached"),
        Some(_) | None => Failure::passing("the connection broke off"),
    }
}

fn of_error_event(body: &Value) -> Failure {
    match error_type(body) {
        Some(named) if FINAL_TYPES.contains(&named.as_str()) => {
            Failure::Final("the provider refuses the request".to_owned())
        }
        Some(_) | None => Failure::passing("the provider failed in the middle of its reply"),
    }
}

/// `code` or `type` of an error object, wherever the provider puts it.
fn error_type(body: &Value) -> Option<String> {
    let error = body.get("error").unwrap_or(body);
    let field = |name: &str| error.get(name).and_then(Value::as_str);
    let known = |named: &&str| FINAL_TYPES.contains(named);
    field("code").filter(known).or_else(|| field("type")).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quota_is_final_and_a_rate_is_not_although_both_are_429() {
        let quota = r#"{"error":{"message":"x","type":"insufficient_quota","code":"insufficient_quota"}}"#;
        let rate = r#"{"error":{"message":"x","type":"requests","code":"rate_limit_exceeded"}}"#;
        assert!(matches!(of_status(429, quota, None), Failure::Final(_)));
        let after = Some(Duration::from_secs(7));
        let why = "the provider asks to slow down (HTTP 429)".to_owned();
        assert_eq!(of_status(429, rate, Some("7")), Failure::Passing { why, after });
    }

    #[test]
    fn nothing_of_the_providers_answer_is_in_the_words() {
        let Failure::Final(why) = of_status(401, "Incorrect API key: sk-canary", None) else {
            panic!("a refused key is final");
        };
        assert_eq!(why, "the provider refuses the key (HTTP 401)");
    }
}
