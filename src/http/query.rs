//! The query of an address, read as strictly as a body: unknown and repeated keys are refused.

use axum::extract::{FromRequestParts, Query as Pairs};
use axum::http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;

use super::problem::{Problem, Reason};

/// A query that was read whole.
#[derive(Debug, Clone)]
pub struct Query<T>(pub T);

/// The query of everything that is read page by page and may be waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct After {
    /// Only what came after this place.
    #[serde(default)]
    pub after: u64,
    /// How many seconds to wait for more.
    #[param(maximum = 60)]
    pub wait: Option<u64>,
}

/// The query of everything that may be waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct Waiting {
    /// How many seconds to wait for the end.
    #[param(maximum = 60)]
    pub wait: Option<u64>,
}

impl<S, T> FromRequestParts<S> for Query<T>
where
    S: Send + Sync,
    T: DeserializeOwned + Send,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Pairs::<T>::from_request_parts(parts, state).await {
            Ok(Pairs(query)) => Ok(Self(query)),
            Err(refused) => {
                let text = refused.body_text();
                let rule = text.trim_start_matches("Failed to deserialize query string: ");
                Err(Problem::new(Reason::BadRequest).because(format!("query: {rule}")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::{Body, to_bytes};
    use axum::http::{Request, StatusCode};
    use axum::routing::get;
    use tower::ServiceExt;

    use super::*;
    use crate::http::path::Path;
    use crate::http::wait::Patience;

    async fn call(uri: &str) -> (StatusCode, String) {
        let page = get(async |Path(room): Path<String>, Query(after): Query<After>| format!("{room} {}", after.after));
        let turn = get(async |Path((room, id)): Path<(String, String)>, Patience(wait): Patience| {
            format!("{room} {id} {}", wait.as_secs())
        });
        let router: Router = Router::new().route("/rooms/{room}", page).route("/turns/{room}/{id}", turn);
        let response = router.oneshot(Request::get(uri).body(Body::empty()).unwrap()).await.unwrap();
        let status = response.status();
        let bytes = to_bytes(response.into_body(), 10_000).await.unwrap();
        (status, String::from_utf8_lossy(&bytes).into_owned())
    }

    #[tokio::test]
    async fn a_segment_may_hold_a_slash() {
        assert_eq!(call("/rooms/a%2Fb?after=7").await, (StatusCode::OK, "a/b 7".into()));
        assert_eq!(call("/turns/a%2Fb/m%2F1%20x?wait=20").await, (StatusCode::OK, "a/b m/1 x 20".into()));
        assert_eq!(call("/rooms/a/b").await.0, StatusCode::NOT_FOUND);
    }

    #[tokio::test]
    async fn what_does_not_decode_or_is_not_known_is_a_problem() {
        let wrong =
            ["/rooms/%ff", "/rooms/a?after=-1", "/rooms/a?after=1&after=2", "/rooms/a?since=1", "/turns/a/b?wait=61"];
        for uri in wrong {
            let (status, body) = call(uri).await;
            assert_eq!(status, StatusCode::BAD_REQUEST, "{uri}");
            assert!(body.contains("/problems/bad-request"), "{uri}: {body}");
        }
    }
}
