//! The description of every route, made from the handlers: `/openapi.json`.
//!
//! What each handler says of itself is completed here with what they have in common: the credential,
//! and the problems that the gate and the readers answer before a handler is reached.

use std::sync::Arc;

use axum::Extension;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::schema::{AdditionalProperties, Schema};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Components, ContentBuilder, Info, OpenApi, Ref, RefOr, Response as Documented, ResponseBuilder};
use utoipa::{PartialSchema, ToSchema};

use crate::owner::wire::{AnswerBody, BusyBody, FeedEvent, InputPurposeBody, InputRequestedEvent, ProblemBody};

/// The name of the credential in the document.
const BEARER: &str = "bearer";

/// Problems that any request may get, by status; what is not routed gets the first two.
const OF_ALL: [(&str, &str, &str); 10] = [
    ("404", "NotFound", "there is no such thing"),
    ("405", "MethodNotAllowed", "the route has no such method"),
    ("400", "BadRequest", "a field, the path or the query is malformed; `field` names it"),
    ("403", "Forbidden", "the credential may not do that, or a page of another origin sent it"),
    ("413", "TooLarge", "the body is too large"),
    ("414", "UriTooLong", "the address is too long"),
    ("421", "HostRefused", "the Host header names another service"),
    ("431", "HeadersTooLarge", "the headers are too large"),
    ("500", "Damaged", "a stored row cannot be read"),
    ("503", "Unavailable", "the store has stopped or the service stops; try the same again"),
];
/// Problems of routes that need a credential.
const OF_CREDENTIALS: [(&str, &str, &str); 2] = [
    ("401", "Unauthorized", "a valid credential is needed"),
    ("429", "TooMany", "no place is left: `busy` with its facts, too many attempts, or too many streams"),
];
/// Problems of routes that take a body.
const OF_BODIES: [(&str, &str, &str); 1] = [("415", "UnsupportedMediaType", "the body is not plain application/json")];

/// The document as it is served.
#[derive(Debug, Clone)]
pub struct Document(Arc<str>);

impl Document {
    /// Written out once.
    pub fn new(api: &OpenApi) -> Result<Self, serde_json::Error> {
        Ok(Self(written(api)?.into()))
    }
}

/// The document as it is served and committed.
pub fn written(api: &OpenApi) -> Result<String, serde_json::Error> {
    // Through a value, so that keys are sorted and the text changes only when the document does.
    let mut value: Value = serde_json::to_value(api)?;
    name_unsigned(&mut value);
    serde_json::to_string_pretty(&value).map(|text| text + "\n")
}

/// Numbers of 64 bits that are never negative are described as what they are: the derived
/// description calls them signed, and half of what is accepted would not be among those.
fn name_unsigned(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if fields.get("format").is_some_and(|format| format == "int64") && fields.get("minimum").is_some() {
                fields.insert("format".to_owned(), Value::from("uint64"));
                fields.entry("maximum").or_insert(Value::from(u64::MAX));
            }
            fields.values_mut().for_each(name_unsigned);
        }
        Value::Array(items) => items.iter_mut().for_each(name_unsigned),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// This description.
#[utoipa::path(
    get,
    path = "/openapi.json",
    operation_id = "openapi",
    responses((status = 200, body = Object, description = "OpenAPI 3.1"))
)]
pub(super) async fn serve(Extension(document): Extension<Document>) -> Response {
    ([(CONTENT_TYPE, "application/json")], document.0.to_string()).into_response()
}

/// Puts into what the handlers say of themselves what they have in common.
#[must_use]
pub fn complete(mut api: OpenApi) -> OpenApi {
    api.info = Info::new("Clankie", env!("CARGO_PKG_VERSION"));
    api.info.description = Some("An AI agent for rooms where several people talk at once, kept in hand.".to_owned());
    let mut components = api.components.take().unwrap_or_default();
    name_schemas(&mut components);
    let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some("`clk_<kind>_<id>_<secret>`"));
    components.security_schemes.insert(BEARER.to_owned(), SecurityScheme::Http(scheme.build()).into());
    for (_, name, description) in OF_ALL.iter().chain(&OF_CREDENTIALS).chain(&OF_BODIES) {
        components.responses.insert((*name).to_owned(), problem(description).into());
    }
    api.components = Some(components);
    api.paths.paths.values_mut().flat_map(operations).for_each(add_problems);
    api
}

fn name_schemas(components: &mut Components) {
    let mut named = vec![(FeedEvent::name().into_owned(), FeedEvent::schema())];
    FeedEvent::schemas(&mut named);
    for (name, schema) in named {
        components.schemas.entry(name).or_insert(schema);
    }
    let asked = with_optional(InputRequestedEvent::schema(), InputPurposeBody::schema());
    let completed = [
        (ProblemBody::name(), with_optional(ProblemBody::schema(), BusyBody::schema())),
        (InputRequestedEvent::name(), asked),
        (AnswerBody::name(), closed(AnswerBody::schema())),
    ];
    components.schemas.extend(completed.map(|(name, schema)| (name.into_owned(), schema)));
}

/// A union whose shapes refuse every other field.
fn closed(union: RefOr<Schema>) -> RefOr<Schema> {
    let close = |shape: RefOr<Schema>| match shape {
        RefOr::T(Schema::Object(mut shape)) => {
            shape.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
            Schema::Object(shape).into()
        }
        other @ (RefOr::T(_) | RefOr::Ref(_)) => other,
    };
    match union {
        RefOr::T(Schema::OneOf(mut union)) => {
            union.items = union.items.into_iter().map(close).collect();
            Schema::OneOf(union).into()
        }
        other @ (RefOr::T(_) | RefOr::Ref(_)) => other,
    }
}

/// `base` with the fields of `more`, none of which must be there.
fn with_optional(base: RefOr<Schema>, more: RefOr<Schema>) -> RefOr<Schema> {
    match (base, more) {
        (RefOr::T(Schema::Object(mut base)), RefOr::T(Schema::Object(more))) => {
            base.properties.extend(more.properties);
            Schema::Object(base).into()
        }
        (base, _) => base,
    }
}

fn problem(description: &str) -> Documented {
    let body = ContentBuilder::new().schema(Some(Ref::from_schema_name(ProblemBody::name()))).build();
    ResponseBuilder::new().description(description).content("application/problem+json", body).build()
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    let PathItem { get, put, post, delete, .. } = item;
    [get, put, post, delete].into_iter().flatten()
}

fn add_problems(operation: &mut Operation) {
    let secured = operation.security.is_some();
    let takes_body = operation.request_body.is_some();
    let credentials = OF_CREDENTIALS.iter().filter(|_| secured);
    let bodies = OF_BODIES.iter().filter(|_| takes_body);
    for (status, name, _) in OF_ALL.iter().chain(credentials).chain(bodies) {
        let answer = RefOr::Ref(Ref::from_response_name(*name));
        operation.responses.responses.entry((*status).to_owned()).or_insert(answer);
    }
}
