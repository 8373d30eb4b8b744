//! A file that an agent made: the bytes of what a reply names, for as long as they are kept.

use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use clankie_domain::result::TurnResult;
use clankie_domain::scope::Need;
use utoipa::ToSchema;

use super::Surface;
use super::handoffs::{find, parse_id};
use crate::http::path::Path;
use crate::http::problem::{Problem, Reason};
use crate::owner::auth::Principal;

/// Whatever it calls itself, it is bytes to be saved: a browser neither runs nor shows it.
const HEADERS: [(HeaderName, HeaderValue); 2] = [
    (CONTENT_TYPE, HeaderValue::from_static("application/octet-stream")),
    (CONTENT_DISPOSITION, HeaderValue::from_static("attachment")),
];

/// The bytes of a file.
#[derive(Debug, ToSchema)]
#[schema(value_type = String, format = Binary)]
pub(super) struct FileBytes(Vec<u8>);

impl IntoResponse for FileBytes {
    fn into_response(self) -> Response {
        (HEADERS, self.0).into_response()
    }
}

/// A file of a reply. It is kept until it stands in its room, else as long as its handoff.
#[utoipa::path(
    get,
    path = "/operator/v1/handoffs/{id}/files/{number}",
    operation_id = "handoff_file",
    params(
        ("id" = String, Path, description = "The id of a handoff", format = "uuid"),
        ("number" = u32, Path, description = "What follows the slash in the file's `kept:` address")
    ),
    responses((status = 200, content_type = "application/octet-stream", body = FileBytes, description = "Its bytes")),
    security(("bearer" = []))
)]
pub(super) async fn read(
    principal: Principal,
    State(surface): State<Surface>,
    Path((id, number)): Path<(String, u32)>,
) -> Result<FileBytes, Problem> {
    principal.need(Need::ReadHandoffs)?;
    let id = parse_id(&id, "id")?;
    let record = find(&principal, id)?.ok_or_else(|| Problem::new(Reason::NotFound))?;
    let Some(TurnResult::Settled { media, .. }) = record.result() else { return Err(Problem::new(Reason::NotFound)) };
    match surface.files.numbered(id, media, number).await {
        Some(bytes) => Ok(FileBytes(bytes)),
        None => Err(Problem::new(Reason::NotFound)),
    }
}
