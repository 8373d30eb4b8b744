//! All routes together, and the description of them.

use axum::{Extension, Router};
use utoipa::openapi::OpenApi;

use crate::http::problem::{Problem, Reason};
use crate::owner::http::Surface;
use crate::owner::http::openapi::{Document, complete};
use crate::{gateways, owner};

/// Every route of the service. What none of them takes gets a problem.
pub(super) fn served(surface: Surface) -> Result<Router, serde_json::Error> {
    let access = surface.access.clone();
    let document = Document::new(&described())?;
    let (routes, _) = owner::http::routes()
        .with_state(surface)
        .merge(gateways::ingress::routes().with_state(access.clone()))
        .merge(gateways::local::routes().with_state(access))
        .layer(Extension(document))
        .split_for_parts();
    Ok(routes
        .fallback(async || Problem::new(Reason::NotFound))
        .method_not_allowed_fallback(async || Problem::new(Reason::MethodNotAllowed)))
}

/// What every route of the service takes and answers.
pub(super) fn described() -> OpenApi {
    let mut api = owner::http::routes().into_openapi();
    api.merge(gateways::ingress::routes().into_openapi());
    api.merge(gateways::local::routes().into_openapi());
    complete(api)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::owner::http::openapi::written;

    /// With `CLANKIE_BLESS` set, the committed copy is written anew.
    #[test]
    fn the_committed_description_is_what_the_handlers_say() {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/openapi.json");
        let now = written(&described()).unwrap();
        if std::env::var_os("CLANKIE_BLESS").is_some() {
            std::fs::write(&path, &now).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap();
        assert!(committed == now, "docs/openapi.json is not what the handlers say; bless it with CLANKIE_BLESS=1");
    }

    #[test]
    fn every_reference_of_the_description_leads_somewhere() {
        let api = serde_json::to_value(described()).unwrap();
        let (mut open, mut seen) = (vec![&api], 0);
        while let Some(value) = open.pop() {
            if let Some(at) = value.get("$ref").and_then(|at| at.as_str()) {
                assert!(api.pointer(at.trim_start_matches('#')).is_some(), "{at}");
                seen += 1;
            }
            open.extend(value.as_object().into_iter().flat_map(|object| object.values()));
            open.extend(value.as_array().into_iter().flatten());
        }
        assert!(seen > 100, "{seen}");
    }

    #[test]
    fn every_operation_of_dispatch_is_one_of_its_shapes() {
        let api = serde_json::to_value(described()).unwrap();
        let shapes = api.pointer("/components/schemas/DispatchRequest/oneOf").unwrap().as_array().unwrap();
        let ops: Vec<_> = shapes.iter().map(|shape| shape["properties"]["op"]["enum"][0].as_str().unwrap()).collect();
        for op in ["input_list", "input_answer", "mark_seen", "owner_update_list", "conversation_tail", "rooms_list"] {
            assert!(ops.contains(&op), "{op} is not among {ops:?}");
        }
        assert!(shapes.iter().all(|shape| shape["additionalProperties"] == false), "a stray field is refused");
    }
}
