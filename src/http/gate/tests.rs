//! Every combination of host, origin, fetch site, method and content type, against a second opinion.

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{Method, StatusCode};
use axum::routing::get;
use tower::ServiceExt;

use super::*;
use crate::http::json::Json;

const HOSTS: [(&str, Option<&str>); 12] = [
    ("127.0.0.1:4310", Some("http://127.0.0.1:4310")),
    ("localhost:4310", Some("http://localhost:4310")),
    ("clankie.example", Some("https://clankie.example")),
    ("evil.test", None),
    ("evil.test:4310", None),
    ("127.0.0.1.evil.test:4310", None),
    ("localhost.:4310", None),
    ("LOCALHOST:4310", None),
    ("127.0.0.1", None),
    ("127.0.0.1:4311", None),
    ("user@127.0.0.1:4310", None),
    ("0.0.0.0:4310", None),
];

const ORIGINS: [Option<&str>; 14] = [
    None,
    Some("http://127.0.0.1:4310"),
    Some("http://localhost:4310"),
    Some("https://clankie.example"),
    Some("http://clankie.example"),
    Some("https://127.0.0.1:4310"),
    Some("http://127.0.0.1:3000"),
    Some("http://127.0.0.1:43100"),
    Some("http://127.0.0.1:4310/"),
    Some("http://127.0.0.1:4310.evil.test"),
    Some("http://evil.test@127.0.0.1:4310"),
    Some("HTTP://127.0.0.1:4310"),
    Some("null"),
    Some(""),
];

const SITES: [Option<&str>; 6] =
    [None, Some("none"), Some("same-origin"), Some("same-site"), Some("cross-site"), Some("Same-Origin")];

const TYPES: [Option<&str>; 4] =
    [None, Some("application/json"), Some("text/plain"), Some("application/x-www-form-urlencoded")];

fn served() -> Router {
    let routes = Router::new().route("/", get(async || "ok").post(async |Json(_): Json<serde_json::Value>| "ok"));
    Gate::new("127.0.0.1:4310".parse().unwrap(), Some("https://clankie.example")).unwrap().guard(routes)
}

#[derive(Debug, Clone, Copy)]
struct Case {
    host: (&'static str, Option<&'static str>),
    origin: Option<&'static str>,
    site: Option<&'static str>,
    method: &'static str,
    content: Option<&'static str>,
}

impl Case {
    /// What must come of it, written without the gate's code.
    fn expected(self) -> StatusCode {
        let Some(own) = self.host.1 else { return StatusCode::MISDIRECTED_REQUEST };
        let foreign_origin = self.origin.is_some_and(|origin| origin != own);
        let foreign_site = self.site.is_some_and(|site| site != "none" && site != "same-origin");
        match (foreign_origin || foreign_site, self.method, self.content) {
            (true, _, _) => StatusCode::FORBIDDEN,
            (false, "GET", _) | (false, "POST", Some("application/json")) => StatusCode::OK,
            (false, "POST", _) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            (false, _, _) => StatusCode::METHOD_NOT_ALLOWED,
        }
    }

    fn request(self) -> Request {
        let mut request = Request::builder().uri("/").method(Method::from_bytes(self.method.as_bytes()).unwrap());
        request = request.header(HOST, self.host.0);
        let optional = [(ORIGIN, self.origin), (SEC_FETCH_SITE, self.site), (CONTENT_TYPE, self.content)];
        for (name, value) in optional {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        request.body(Body::from("{}")).unwrap()
    }
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for host in HOSTS {
        for origin in ORIGINS {
            for site in SITES {
                for method in ["GET", "POST", "PUT", "OPTIONS"] {
                    cases.extend(TYPES.map(|content| Case { host, origin, site, method, content }));
                }
            }
        }
    }
    cases
}

#[tokio::test]
async fn only_the_exact_host_and_origin_pass_whatever_else_is_said() {
    let (served, cases) = (served(), cases());
    assert!(cases.len() > 10_000);
    for case in cases {
        let response = served.clone().oneshot(case.request()).await.unwrap();
        assert_eq!(response.status(), case.expected(), "{case:?}");
        let headers = response.headers();
        assert!(!headers.keys().any(|name| name.as_str().starts_with("access-control-")), "{case:?}");
        assert_eq!(headers[X_CONTENT_TYPE_OPTIONS], "nosniff");
        assert_eq!(headers[CACHE_CONTROL], "no-store");
        assert!(headers[CONTENT_SECURITY_POLICY].to_str().unwrap().starts_with("default-src 'none'"));
    }
}

async fn status(request: Request) -> StatusCode {
    served().oneshot(request).await.unwrap().status()
}

fn get_from(uri: &str, headers: &[(&'static str, &str)]) -> Request {
    let request = headers.iter().fold(Request::get(uri), |request, (name, value)| request.header(*name, *value));
    request.body(Body::empty()).unwrap()
}

#[tokio::test]
async fn a_host_must_be_named_once_and_agree_with_the_request_line() {
    let own = ("host", "127.0.0.1:4310");
    assert_eq!(status(get_from("/", &[])).await, StatusCode::MISDIRECTED_REQUEST);
    assert_eq!(status(get_from("/", &[own, own])).await, StatusCode::MISDIRECTED_REQUEST);
    assert_eq!(status(get_from("http://evil.test/", &[own])).await, StatusCode::MISDIRECTED_REQUEST);
    assert_eq!(status(get_from("http://127.0.0.1:4310/", &[own])).await, StatusCode::OK);
    assert_eq!(status(get_from("http://127.0.0.1:4310/", &[])).await, StatusCode::OK);
    let two = [own, ("origin", "http://127.0.0.1:4310"), ("origin", "http://evil.test")];
    assert_eq!(status(get_from("/", &two)).await, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn what_is_too_large_is_refused_before_it_is_read() {
    let own = ("host", "127.0.0.1:4310");
    let long = "x".repeat(HEADERS_MAX);
    assert_eq!(status(get_from("/", &[own, ("x-a", &long)])).await, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
    assert_eq!(status(get_from(&format!("/{}", "x".repeat(URI_MAX)), &[own])).await, StatusCode::URI_TOO_LONG);
    for (path, length, fits) in [("/", BODY_MAX, true), ("/", BODY_MAX + 1, false), (DISPATCH_PATH, BODY_MAX + 1, true)]
    {
        let refused = status(get_from(path, &[own, ("content-length", &length.to_string())])).await;
        assert_eq!(refused != StatusCode::PAYLOAD_TOO_LARGE, fits, "{path} {length}");
    }
    let most = (DISPATCH_BODY_MAX + 1).to_string();
    assert_eq!(status(get_from(DISPATCH_PATH, &[own, ("content-length", &most)])).await, StatusCode::PAYLOAD_TOO_LARGE);
}

#[test]
fn a_wildcard_listener_is_reached_by_loopback_and_its_public_name_only() {
    let gate = Gate::new("0.0.0.0:80".parse().unwrap(), Some("https://Clankie.Example/")).unwrap();
    let hosts: Vec<&str> = gate.origins.keys().map(String::as_str).collect();
    assert_eq!(hosts, ["127.0.0.1", "127.0.0.1:80", "clankie.example", "localhost", "localhost:80"]);
}

#[test]
fn a_public_url_is_an_origin_and_nothing_more() {
    let listen = "[::1]:4310".parse().unwrap();
    assert!(Gate::new(listen, None).unwrap().origins.contains_key("[::1]:4310"));
    for bad in ["clankie.example", "ftp://a", "https://a/b", "https://a?b", "https://u@a", ""] {
        assert_eq!(Gate::new(listen, Some(bad)).err(), Some(BadPublicUrl), "{bad:?}");
    }
}

#[tokio::test]
async fn a_body_of_undeclared_length_is_cut_where_it_is_read() {
    let text = async |Json(value): Json<serde_json::Value>| value.to_string();
    let dispatch = axum::routing::post(text).layer(DefaultBodyLimit::max(DISPATCH_BODY_MAX));
    let routes = Router::new().route("/", axum::routing::post(text)).route(DISPATCH_PATH, dispatch);
    let served = Gate::new("127.0.0.1:4310".parse().unwrap(), None).unwrap().guard(routes);
    let cases = [
        ("/", BODY_MAX, StatusCode::OK),
        ("/", BODY_MAX + 1, StatusCode::PAYLOAD_TOO_LARGE),
        (DISPATCH_PATH, DISPATCH_BODY_MAX, StatusCode::OK),
        (DISPATCH_PATH, DISPATCH_BODY_MAX + 1, StatusCode::PAYLOAD_TOO_LARGE),
    ];
    for (path, length, expected) in cases {
        let body = format!("\"{}\"", "x".repeat(length - 2));
        let request = Request::post(path).header(HOST, "127.0.0.1:4310").header(CONTENT_TYPE, "application/json");
        let response = served.clone().oneshot(request.body(Body::from(body)).unwrap()).await.unwrap();
        assert_eq!(response.status(), expected, "{path} {length}");
    }
}
