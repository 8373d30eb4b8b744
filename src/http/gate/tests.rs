//! Every combination of host, origin, fetch site, method and content type, against a second opinion.

use axum::body::Body;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
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

/// A link on another site opens an address here as a page; whatever else that site begins is refused.
#[tokio::test]
async fn only_a_followed_link_passes_of_what_another_site_begins() {
    let mut passed = 0;
    for method in [Method::GET, Method::HEAD, Method::POST] {
        for site in ["cross-site", "same-site", "Cross-Site"] {
            for mode in [None, Some("navigate"), Some("no-cors"), Some("cors"), Some("websocket")] {
                for dest in [None, Some("document"), Some("iframe"), Some("object"), Some("empty")] {
                    for origin in [None, Some("https://evil.test"), Some("null"), Some("http://127.0.0.1:4310")] {
                        let mut request = Request::builder().uri("/").method(method.clone()).header(HOST, HOSTS[0].0);
                        let optional = [(SEC_FETCH_MODE, mode), (SEC_FETCH_DEST, dest), (ORIGIN, origin)];
                        request = request.header(SEC_FETCH_SITE, site).header(CONTENT_TYPE, "application/json");
                        for (name, value) in optional.into_iter().filter_map(|(name, value)| Some((name, value?))) {
                            request = request.header(name, value);
                        }
                        let link = (&method, site, mode, dest, origin)
                            == (&Method::GET, "cross-site", Some("navigate"), Some("document"), None);
                        passed += usize::from(link);
                        let wanted = if link { StatusCode::OK } else { StatusCode::FORBIDDEN };
                        let told = status(request.body(Body::from("{}")).unwrap()).await;
                        assert_eq!(told, wanted, "{method} {site} {mode:?} {dest:?} {origin:?}");
                    }
                }
            }
        }
    }
    assert_eq!(passed, 1);
    let twice = [("host", HOSTS[0].0), ("sec-fetch-site", "cross-site"), ("sec-fetch-site", "cross-site")];
    let rest = [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
    assert_eq!(status(get_from("/", &[&twice[..], &rest[..]].concat())).await, StatusCode::FORBIDDEN);
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

/// One way to write an address so that a careless comparison takes it for the allowed one.
fn lookalike(origin: &str, how: usize, filler: &str) -> String {
    let (scheme, host) = origin.split_once("://").unwrap_or(("https", origin));
    match how {
        0 => format!("{origin}{filler}"),
        1 => format!("{filler}{origin}"),
        2 => format!("{scheme}://{filler}{host}"),
        3 => format!("{scheme}://{filler}@{host}"),
        4 => format!("{scheme}://{host}@{filler}"),
        5 => format!("{scheme}://{host}."),
        6 => format!("{scheme}://{}", host.to_uppercase()),
        7 => format!("{}://{host}", scheme.to_uppercase()),
        8 => format!("{origin}:443"),
        9 => format!("{origin}:80"),
        10 => format!("{scheme}:\\\\{host}"),
        11 => format!("{scheme}://{host}\\{filler}"),
        12 => format!("{scheme}://{}", host.replacen('a', "\u{430}", 1)),
        13 => format!("{scheme}://xn--{host}"),
        14 => format!("{scheme}://{host}/"),
        15 => format!("{scheme}://{host}.{filler}"),
        16 => format!("{scheme}://{}", host.replacen('.', "%2e", 1)),
        17 => format!("{scheme}://{}", host.replacen('.', "", 1)),
        18 => origin.replacen("https", "http", 1),
        _ => format!("{origin} {origin}"),
    }
}

proptest::proptest! {
    /// Only the exact tuple passes, as an origin and as a host, however near another one comes.
    #[test]
    fn no_lookalike_of_an_allowed_origin_or_host_passes(
        how in proptest::collection::vec(0usize..20, 1..4),
        filler in "[a-z0-9.:/@#?%-]{0,12}",
    ) {
        let own = "https://clankie.example";
        let origin = how.iter().fold(own.to_owned(), |origin, how| lookalike(&origin, *how, &filler));
        let value = HeaderValue::from_bytes(origin.as_bytes()).unwrap();
        let headers = HeaderMap::from_iter([(ORIGIN, value)]);
        proptest::prop_assert_eq!(same_origin(&headers, own), origin == own, "{}", origin);
        let host = origin.split_once("://").map_or(origin.as_str(), |(_, host)| host);
        let gate = Gate::new("127.0.0.1:4310".parse().unwrap(), Some(own)).unwrap();
        let headers = HeaderMap::from_iter([(HOST, HeaderValue::from_bytes(host.as_bytes()).unwrap())]);
        let passes = gate.host(&headers, &Uri::from_static("/")).is_some();
        proptest::prop_assert_eq!(passes, host == "clankie.example", "{}", host);
    }
}

#[tokio::test]
async fn a_socket_is_refused_rather_than_ignored() {
    let own = ("host", "127.0.0.1:4310");
    assert_eq!(status(get_from("/", &[own, ("upgrade", "WebSocket")])).await, StatusCode::BAD_REQUEST);
    assert_eq!(
        status(get_from("/", &[own, ("upgrade", "h2c"), ("upgrade", "websocket")])).await,
        StatusCode::BAD_REQUEST
    );
    assert_eq!(status(get_from("/", &[own, ("upgrade", "h2c")])).await, StatusCode::OK);
}
