//! Waiting inside one request, for at most a minute. Waiting requests are no event streams.
//!
//! A wait is cut into slices, and the caller's credential is looked at after each: what was
//! revoked hears nothing more.

use std::future::Future;
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use tokio::time::Instant;

use super::problem::Problem;
use super::query::{Query, Waiting};

/// Longest wait of one request: proxies cut idle connections not much later.
pub const WAIT_MAX: Duration = Duration::from_secs(60);
/// Longest time that a revoked credential still holds a connection.
const SLICE: Duration = Duration::from_millis(500);

/// How long a request may take, where waiting is all that its query can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience(pub Duration);

impl<S: Send + Sync> FromRequestParts<S> for Patience {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Query(Waiting { wait }) = Query::from_request_parts(parts, state).await?;
        wanted(&parts.headers, wait).map(Self)
    }
}

/// How long a request wants to wait: `?wait=N`, else `Prefer: wait=N`, else not at all.
pub fn wanted(headers: &HeaderMap, query: Option<u64>) -> Result<Duration, Problem> {
    let preferred = || headers.get_all("prefer").iter().filter_map(|value| value.to_str().ok()).find_map(preference);
    let seconds = match query {
        Some(seconds) => Some(seconds),
        None => preferred().transpose().map_err(|NotSeconds| refused())?,
    };
    let wait = Duration::from_secs(seconds.unwrap_or(0));
    if wait > WAIT_MAX { Err(refused()) } else { Ok(wait) }
}

fn refused() -> Problem {
    Problem::field("wait", "must be whole seconds, at most 60")
}

struct NotSeconds;

fn preference(header: &str) -> Option<Result<u64, NotSeconds>> {
    header.split([',', ';']).find_map(|part| {
        let (name, value) = part.split_once('=')?;
        let wait = name.trim().eq_ignore_ascii_case("wait");
        wait.then(|| value.trim().trim_matches('"').parse().map_err(|_| NotSeconds))
    })
}

/// What a look at the store found.
#[derive(Debug)]
pub enum Progress<T> {
    /// What was waited for.
    Done(T),
    /// What there is so far.
    NotYet(T),
}

/// Looks, and looks again after each pause, until it is done or `wait` is over.
///
/// `look` also checks whether the caller still stands; its error ends the wait.
pub async fn until<T, P>(
    wait: Duration,
    look: impl Fn() -> Result<Progress<T>, Problem>,
    pause: impl Fn(Duration) -> P,
) -> Result<T, Problem>
where
    P: Future<Output = ()>,
{
    let end = Instant::now() + wait;
    loop {
        let so_far = match look()? {
            Progress::Done(found) => return Ok(found),
            Progress::NotYet(so_far) => so_far,
        };
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(so_far);
        }
        drop(so_far);
        pause(left.min(SLICE)).await;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use axum::http::HeaderValue;

    use super::*;
    use crate::http::problem::Reason;

    fn check(prefer: &'static str, query: Option<u64>, expected: Option<u64>) {
        let mut headers = HeaderMap::new();
        headers.insert("prefer", HeaderValue::from_static(prefer));
        assert_eq!(wanted(&headers, query).ok(), expected.map(Duration::from_secs), "{prefer:?} {query:?}");
    }

    #[test]
    fn a_wait_is_whole_seconds_up_to_a_minute() {
        check("wait=20", None, Some(20));
        check("respond-async, wait=20", None, Some(20));
        check("respond-async", None, Some(0));
        check("wait=20", Some(5), Some(5));
        check("wait=60", None, Some(60));
        check("wait=61", None, None);
        check("wait=-1", None, None);
        check("wait=soon", None, None);
        check("", Some(61), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_ends_with_what_there_is_when_its_time_is_over() {
        let began = Instant::now();
        let looks = Cell::new(0);
        let look = || {
            looks.set(looks.get() + 1);
            Ok(Progress::NotYet(looks.get()))
        };
        let found = until(Duration::from_secs(2), look, tokio::time::sleep).await;
        assert_eq!((found, began.elapsed()), (Ok(5), Duration::from_secs(2)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_revoked_caller_hears_nothing_more() {
        let began = Instant::now();
        let looks = Cell::new(0);
        let look = || {
            looks.set(looks.get() + 1);
            if looks.get() == 1 { Ok(Progress::NotYet(())) } else { Err(Problem::new(Reason::Unauthorized)) }
        };
        let found = until(WAIT_MAX, look, tokio::time::sleep).await;
        assert_eq!(found, Err(Problem::new(Reason::Unauthorized)));
        assert!(began.elapsed() <= Duration::from_secs(1));
    }
}
