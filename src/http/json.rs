//! A JSON body, read strictly and whole before anything is done with it.
//!
//! Unknown keys, keys that stand twice (also deep inside), NUL characters, lone surrogates and
//! deep nesting are refused with the field they stand in; so is an array in an object's place.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, FailedToBufferBody};
use axum::extract::{FromRequest, Request};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::{Path, Segment};

use tokio::time::timeout;

use super::problem::{Problem, Reason};

mod shape;
mod strict;

/// How long a body may take: a slow one must not hold a connection.
const BODY_WITHIN: Duration = Duration::from_secs(10);

/// A body that was read strictly. The route's own body limit bounds it.
#[derive(Debug, Clone)]
pub struct Json<T>(pub T);

impl<S, T> FromRequest<S> for Json<T>
where
    S: Send + Sync,
    T: Serialize + DeserializeOwned,
{
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        plain_json(request.headers())?;
        let body = timeout(BODY_WITHIN, Bytes::from_request(request, state)).await;
        let Ok(body) = body else {
            return Err(Problem::new(Reason::BadRequest).because("the body did not come within 10 seconds"));
        };
        let bytes = match body {
            Ok(bytes) => bytes,
            Err(BytesRejection::FailedToBufferBody(FailedToBufferBody::LengthLimitError(_))) => {
                return Err(Problem::new(Reason::TooLarge));
            }
            Err(_) => return Err(Problem::new(Reason::BadRequest).because("the body ended early")),
        };
        parse(&bytes).map(Self)
    }
}

/// Refuses what a form or a foreign page can send without asking first.
fn plain_json(headers: &HeaderMap) -> Result<(), Problem> {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let (first, second) = (types.next().and_then(|value| value.to_str().ok()), types.next());
    let essence = first.and_then(|value| value.split(';').next()).map(str::trim);
    let json = essence.is_some_and(|name| name.eq_ignore_ascii_case("application/json"));
    if !json || second.is_some() || headers.contains_key(CONTENT_ENCODING) {
        return Err(Problem::new(Reason::UnsupportedMediaType));
    }
    Ok(())
}

/// Reads `bytes` strictly as a `T`.
pub fn parse<T: Serialize + DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    typed(strict::read(bytes)?)
}

/// Reads a value that was read strictly as a `T`.
pub fn typed<T: Serialize + DeserializeOwned>(value: Value) -> Result<T, Problem> {
    let read: T = serde_path_to_error::deserialize(&value).map_err(|fault| {
        let field = field(fault.path());
        let rule = fault.into_inner().to_string();
        if field.is_empty() { Problem::new(Reason::BadRequest).because(rule) } else { Problem::field(field, rule) }
    })?;
    shape::same(&value, &read)?;
    Ok(read)
}

/// A field has one name, whichever check refuses it: its keys and places, with dots between them.
fn field(path: &Path) -> String {
    let part = |segment: &Segment| match segment {
        Segment::Seq { index } => index.to_string(),
        Segment::Map { key } => key.clone(),
        Segment::Enum { variant } => variant.clone(),
        Segment::Unknown => "?".to_owned(),
    };
    path.iter().map(part).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests;
