//! Segments of a path, percent-decoded; a segment may hold `%2F`.

use axum::extract::{FromRequestParts, Path as Segments};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::problem::{Problem, Reason};

/// The decoded segments of the route.
#[derive(Debug, Clone)]
pub struct Path<T>(pub T);

impl<S, T> FromRequestParts<S> for Path<T>
where
    S: Send + Sync,
    T: DeserializeOwned + Send,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Segments::<T>::from_request_parts(parts, state).await {
            Ok(Segments(segments)) => Ok(Self(segments)),
            Err(_) => Err(Problem::new(Reason::BadRequest).because("the path does not decode")),
        }
    }
}
