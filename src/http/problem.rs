//! Answers that are no ordinary answer: problem details after RFC 9457.
//!
//! What the outside hears is fixed here for each type; the inside text of a failure goes to the
//! log and never into an answer.

use axum::Json;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use clankie_actors::Failure;
use clankie_domain::admission::BusyFacts;
use clankie_domain::ids::{HandoffId, Malformed};

use super::wire::{BusyBody, ProblemBody};

/// When a caller may try a busy room or a stopping service again: about one short run.
const RETRY_AFTER_S: u64 = 5;

/// Every type of problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// A field is wrong.
    BadRequest,
    /// No credential, or none that stands.
    Unauthorized,
    /// The credential may not do that.
    Forbidden,
    /// The Host header names another service.
    HostRefused,
    /// A page of another origin sent it.
    OriginRefused,
    /// There is no such thing.
    NotFound,
    /// The route has no such method.
    MethodNotAllowed,
    /// The delivery id was used for another request.
    DeliveryConflict,
    /// The try was cancelled before it was admitted.
    Forgotten,
    /// The body is too large.
    TooLarge,
    /// The address is too long.
    UriTooLong,
    /// The body is no JSON by its headers.
    UnsupportedMediaType,
    /// The headers are too large.
    HeadersTooLarge,
    /// No permit and no place.
    Busy,
    /// Too many wrong credentials from that address.
    TooManyAttempts,
    /// Too many event streams of that credential or address.
    TooManyStreams,
    /// A stored row cannot be read.
    Damaged,
    /// The store stopped.
    StoreUnavailable,
    /// The service stops.
    ShuttingDown,
    /// Too many submits of one room are in flight.
    TooManyInFlight,
}

impl Reason {
    fn facts(self) -> (StatusCode, &'static str, &'static str) {
        match self {
            Self::BadRequest => (StatusCode::BAD_REQUEST, "bad-request", "the request is malformed"),
            Self::Unauthorized => (StatusCode::UNAUTHORIZED, "unauthorized", "a valid credential is needed"),
            Self::Forbidden => (StatusCode::FORBIDDEN, "forbidden", "this credential may not do that"),
            Self::HostRefused => (StatusCode::MISDIRECTED_REQUEST, "host-refused", "this host is not served here"),
            Self::OriginRefused => (StatusCode::FORBIDDEN, "origin-refused", "pages of other origins may not call"),
            Self::NotFound => (StatusCode::NOT_FOUND, "not-found", "there is no such thing"),
            Self::MethodNotAllowed => {
                (StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", "this route has no such method")
            }
            Self::DeliveryConflict => {
                (StatusCode::CONFLICT, "delivery-conflict", "this delivery id was used for another request")
            }
            Self::Forgotten => (StatusCode::CONFLICT, "forgotten", "it was cancelled before it was admitted"),
            Self::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "too-large", "the body is too large"),
            Self::UriTooLong => (StatusCode::URI_TOO_LONG, "uri-too-long", "the address is too long"),
            Self::UnsupportedMediaType => {
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type", "send plain application/json")
            }
            Self::HeadersTooLarge => {
                (StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "headers-too-large", "the headers are too large")
            }
            Self::Busy => (StatusCode::TOO_MANY_REQUESTS, "busy", "every place is taken; try the same delivery again"),
            Self::TooManyAttempts => {
                (StatusCode::TOO_MANY_REQUESTS, "too-many-attempts", "too many wrong credentials from this address")
            }
            Self::TooManyStreams => {
                (StatusCode::TOO_MANY_REQUESTS, "too-many-streams", "too many event streams are open")
            }
            Self::Damaged => (StatusCode::INTERNAL_SERVER_ERROR, "damaged", "a stored row cannot be read"),
            Self::StoreUnavailable => (StatusCode::SERVICE_UNAVAILABLE, "store-unavailable", "the store has stopped"),
            Self::ShuttingDown => (StatusCode::SERVICE_UNAVAILABLE, "shutting-down", "the service is stopping"),
            Self::TooManyInFlight => {
                (StatusCode::SERVICE_UNAVAILABLE, "too-many-in-flight", "too many submits of this room are in flight")
            }
        }
    }
}

/// An answer that is no ordinary answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    reason: Reason,
    body: Box<ProblemBody>,
    retry_after_s: Option<u64>,
}

impl Problem {
    /// A problem of that type, without detail.
    pub fn new(reason: Reason) -> Self {
        let (status, slug, title) = reason.facts();
        let body = Box::new(ProblemBody {
            kind: format!("/problems/{slug}"),
            title: title.to_owned(),
            status: status.as_u16(),
            detail: None,
            field: None,
            handoff_id: None,
            busy: None,
        });
        Self { reason, body, retry_after_s: None }
    }

    /// A wrong field and the rule that it breaks.
    pub fn field(field: impl Into<String>, rule: impl Into<String>) -> Self {
        let mut problem = Self::new(Reason::BadRequest).because(rule);
        problem.body.field = Some(field.into());
        problem
    }

    /// No permit and no place, with the facts.
    pub fn busy(facts: &BusyFacts) -> Self {
        let mut problem = Self::new(Reason::Busy).after(RETRY_AFTER_S);
        problem.body.busy = Some(BusyBody::from(facts));
        problem
    }

    /// The delivery id was used for another request, which made that handoff if it is known.
    pub fn conflict(handoff: Option<HandoffId>) -> Self {
        let mut problem = Self::new(Reason::DeliveryConflict);
        problem.body.handoff_id = handoff.map(|id| id.to_string());
        problem
    }

    /// The service stops.
    pub fn shutting_down() -> Self {
        let again = "retry the same delivery id after the service is back";
        Self::new(Reason::ShuttingDown).because(again).after(RETRY_AFTER_S)
    }

    /// With what is wrong with this call.
    #[must_use]
    pub fn because(mut self, detail: impl Into<String>) -> Self {
        self.body.detail = Some(detail.into());
        self
    }

    /// With the seconds after which to try again.
    #[must_use]
    pub fn after(mut self, seconds: u64) -> Self {
        self.retry_after_s = Some(seconds);
        self
    }

    /// Its type.
    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// What goes over the wire.
    pub fn body(&self) -> &ProblemBody {
        &self.body
    }
}

impl From<Malformed> for Problem {
    fn from(malformed: Malformed) -> Self {
        Self::field(malformed.field, malformed.rule)
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::StoreUnavailable(inside) => {
                tracing::warn!(%inside, "a call found the store stopped");
                let again = "retry the same delivery id after the service is back; the receipt decides";
                Self::new(Reason::StoreUnavailable).because(again).after(RETRY_AFTER_S)
            }
            Failure::ShuttingDown => Self::shutting_down(),
            Failure::Restarting => {
                let again = "the service is starting again; retry the same delivery id in a moment";
                Self::new(Reason::StoreUnavailable).because(again).after(1)
            }
            Failure::TooManyInFlight => {
                Self::new(Reason::TooManyInFlight).because("retry the same delivery id in a moment").after(1)
            }
            Failure::Damaged(inside) => {
                tracing::error!(%inside, "a stored row cannot be read");
                Self::new(Reason::Damaged).because(
                    "the service's log names the row; restore a backup of the store, or set the damaged one aside",
                )
            }
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (status, _, _) = self.reason.facts();
        let mut response = (status, Json(*self.body)).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.retry_after_s {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.reason == Reason::Unauthorized {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use clankie_domain::admission::Limit;
    use serde_json::json;

    use super::*;

    #[test]
    fn busy_carries_its_facts_and_when_to_retry() {
        let facts = BusyFacts { limit: Limit::Waiting, position: 33, running: 4, waiting: 32, oldest_wait_ms: 9 };
        let problem = Problem::busy(&facts);
        let body = serde_json::to_value(problem.body()).unwrap();
        let title = "every place is taken; try the same delivery again";
        assert_eq!(
            body,
            json!({"type": "/problems/busy", "title": title, "status": 429, "limit": "waiting",
                "position": 33, "running": 4, "waiting": 32, "oldest_wait_ms": 9})
        );
        let response = problem.into_response();
        assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(response.headers()[RETRY_AFTER], "5");
        assert_eq!(response.headers()[CONTENT_TYPE], "application/problem+json");
    }

    #[test]
    fn the_inside_of_a_failure_stays_inside() {
        for failure in [Failure::StoreUnavailable("/secret/path".into()), Failure::Damaged("/secret/path".into())] {
            let body = serde_json::to_string(Problem::from(failure).body()).unwrap();
            assert!(!body.contains("secret"), "{body}");
        }
    }
}
