//! The corpus of bodies that a strict reader refuses, and the field that each refusal names.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::DefaultBodyLimit;
use axum::http::{Request as HttpRequest, StatusCode};
use axum::routing::post;
use tower::ServiceExt;

use super::*;
use crate::http::wire::{ProblemBody, TurnBody};

fn turn(extra: &str) -> String {
    format!(
        r#"{{"schema_version":1,"room":"lab","delivery_id":"m-1","source":"text","actor":{{"id":"u:7","name":"Ann"}},"body":"hi"{extra}}}"#
    )
}

/// The field that the refusal of `body` names; the empty string when it is about the whole.
fn refused(body: &str) -> String {
    let problem = parse::<TurnBody>(body.as_bytes()).expect_err(body);
    assert_eq!(problem.reason(), Reason::BadRequest);
    assert!(problem.body().detail.is_some(), "a refusal says why: {body}");
    problem.body().field.clone().unwrap_or_default()
}

#[test]
fn a_sound_turn_is_read_whole() {
    let body = turn(r#","attachments":[],"context":[{"author":"Bob","text":"x"}],"grant":"social""#);
    let read: TurnBody = parse(body.as_bytes()).unwrap();
    assert_eq!((read.room.as_str(), read.context.len(), read.grant.as_deref()), ("lab", 1, Some("social")));
}

#[test]
fn every_unsound_body_is_refused_with_its_field() {
    let deep = format!(",\"context\":{}{}", "[".repeat(60), "]".repeat(60));
    let nul_body = turn("").replace("hi", r"h\u0000i");
    let cases = [
        (turn(r#","room":"other""#), "room"),
        (turn("").replace(r#""id":"u:7","#, r#""id":"u:7","id":"u:8","#), "actor.id"),
        (turn(r#","attachments":[1]"#), "attachments.0"),
        (turn(r#","context":[{"author":"a","text":"x","text":"y"}]"#), "context.0.text"),
        (turn(r#","scopes":["owner"]"#), "scopes"),
        (turn("").replace(r#""name":"#, r#""role":"#), "actor.role"),
        (nul_body, "body"),
        (turn("").replace("hi", r"\ud800"), "body"),
        (turn("").replace("hi", r"\udc00\ud800"), "body"),
        (turn("").replace("\"hi\"", "7"), "body"),
        (turn("").replace(r#"{"id":"u:7","name":"Ann"}"#, r#"["u:7","Ann"]"#), "actor"),
        (turn("").replace("\"schema_version\":1", "\"schema_version\":-1"), "schema_version"),
        ("[1,\"lab\",\"m-1\",\"text\",{\"id\":\"u:7\"},\"hi\"]".to_owned(), ""),
        (String::new(), ""),
        ("null".to_owned(), ""),
        (format!("{} {{}}", turn("")), ""),
        (turn("").replace("\"lab\"", "1e999"), "room"),
    ];
    for (body, field) in cases {
        assert_eq!(refused(&body), field, "{body}");
    }
    assert!(refused(&turn(&deep)).starts_with("context.0.0"), "depth");
    assert_eq!(refused(&turn("").replace("\"lab\"", "")), "room", "a torn value");
}

#[test]
fn a_million_brackets_are_refused_and_not_walked() {
    let problem = parse::<Value>("[".repeat(1_000_000).as_bytes()).unwrap_err();
    assert_eq!(problem.reason(), Reason::BadRequest);
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    assert!(parse::<Value>(b"{\"a\":\"\xff\"}").is_err());
}

async fn post_with(headers: &[(&str, &str)], body: String) -> (StatusCode, ProblemBody) {
    let echo = post(|Json(_): Json<TurnBody>| async {});
    let router: Router = Router::new().route("/", echo).layer(DefaultBodyLimit::max(1_000));
    let request = headers.iter().fold(HttpRequest::post("/"), |request, (name, value)| request.header(*name, *value));
    let response = router.oneshot(request.body(Body::from(body)).unwrap()).await.unwrap();
    let status = response.status();
    let bytes = to_bytes(response.into_body(), 10_000).await.unwrap();
    let none = || ProblemBody::clone(Problem::new(Reason::NotFound).body());
    (status, serde_json::from_slice(&bytes).unwrap_or_else(|_| none()))
}

const JSON: (&str, &str) = ("content-type", "application/json");

#[tokio::test]
async fn only_plain_json_is_read() {
    assert_eq!(post_with(&[JSON], turn("")).await.0, StatusCode::OK);
    let utf8 = [("content-type", "Application/JSON; charset=utf-8")];
    assert_eq!(post_with(&utf8, turn("")).await.0, StatusCode::OK);
    let wrong: [&[(&str, &str)]; 6] = [
        &[],
        &[("content-type", "text/plain")],
        &[("content-type", "application/x-www-form-urlencoded")],
        &[("content-type", "application/jsonp")],
        &[JSON, JSON],
        &[JSON, ("content-encoding", "gzip")],
    ];
    for headers in wrong {
        let (status, problem) = post_with(headers, turn("")).await;
        assert_eq!(status, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{headers:?}");
        assert_eq!(problem.kind, "/problems/unsupported-media-type");
    }
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_refused_without_a_length_too() {
    let long = turn("").replace("hi", &"h".repeat(1_000));
    let (status, problem) = post_with(&[JSON], long).await;
    assert_eq!((status, problem.kind.as_str()), (StatusCode::PAYLOAD_TOO_LARGE, "/problems/too-large"));
}
