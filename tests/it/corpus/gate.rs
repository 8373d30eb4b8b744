//! What is refused before anybody looks at the route or the credential.

use super::{Row, World, written_out};
use crate::service::{Ask, turn};

/// Names and values, in order.
type Headers = &'static [(&'static str, &'static str)];

/// What is wrong, the headers that make it so, and status and type of the answer.
const TABLE: &[(&str, Headers, (u16, &str))] = &[
    ("a name that was pointed here", &[("host", "evil.example")], (421, "host-refused")),
    ("such a name with our port", &[("host", "evil.example:4310")], (421, "host-refused")),
    ("our address without its port", &[("host", "127.0.0.1")], (421, "host-refused")),
    ("our name as another's", &[("host", "localhost.evil.example")], (421, "host-refused")),
    ("no host in the host", &[("host", "")], (421, "host-refused")),
    ("two hosts", &[("host", "evil.example"), ("host", "evil.example")], (421, "host-refused")),
    ("a page of another site", &[("origin", "https://evil.example")], (403, "origin-refused")),
    ("a page without an origin", &[("origin", "null")], (403, "origin-refused")),
    ("a page of the same machine", &[("origin", "http://localhost:1")], (403, "origin-refused")),
    ("a browser that says cross-site", &[("sec-fetch-site", "cross-site")], (403, "origin-refused")),
    ("a browser that says same-site", &[("sec-fetch-site", "same-site")], (403, "origin-refused")),
    (
        "a browser that says both",
        &[("sec-fetch-site", "none"), ("sec-fetch-site", "cross-site")],
        (403, "origin-refused"),
    ),
    ("headers beyond their bound", &[("x-long", "<9000>"), ("x-more", "<9000>")], (431, "headers-too-large")),
];

/// Media types that a form can send, or that are none of ours.
const MEDIA: &[Headers] = &[
    &[],
    &[("content-type", "text/plain")],
    &[("content-type", "application/x-www-form-urlencoded")],
    &[("content-type", "multipart/form-data; boundary=x")],
    &[("content-type", "application/jsonp")],
    &[("content-type", "application/json"), ("content-type", "application/json")],
    &[("content-type", "application/json"), ("content-encoding", "gzip")],
];

pub(super) fn rows(world: &World) -> Vec<Row> {
    let lane = world.lane();
    let body = turn("lab", "foreign", "ann", "hello").to_string();
    let with = |headers: &[(&str, &str)]| {
        let ask = Ask::post("/ingress/v1/turns").token(&lane).bytes(body.as_bytes());
        headers.iter().fold(ask, |ask, (name, value)| ask.header(name, &written_out(value)))
    };
    let mut rows = Vec::new();
    for (what, headers, (status, problem)) in TABLE {
        let ask = with(headers).header("content-type", "application/json");
        rows.push(Row { what: (*what).to_owned(), ask, status: *status, problem, field: "" });
    }
    for headers in MEDIA {
        let problem = "unsupported-media-type";
        rows.push(Row { what: format!("{headers:?}"), ask: with(headers), status: 415, problem, field: "" });
    }
    let large = |path: &str, token: &str, bytes: usize| Row {
        what: format!("{bytes} bytes to {path}"),
        ask: Ask::post(path).token(token).text(&" ".repeat(bytes)),
        status: 413,
        problem: "too-large",
        field: "",
    };
    rows.push(large("/ingress/v1/turns", &lane, 64 * 1024 + 1));
    rows.push(large("/rooms/v1/lab/messages", &world.account, 64 * 1024 + 1));
    rows.push(large("/operator/v1/dispatch", world.service.operator(), 288 * 1024 + 1));
    let ask = Ask::get(&written_out("/ingress/v1/turns/lab/<9000>")).token(&lane);
    let what = "an address beyond its bound".to_owned();
    rows.push(Row { what, ask, status: 414, problem: "uri-too-long", field: "" });
    rows
}

/// The service's own names are served, and so is a page of its own.
pub(super) fn own_names_pass(world: &World) {
    let port = world.service.address().rsplit(':').next().unwrap();
    for host in [format!("localhost:{port}"), format!("127.0.0.1:{port}")] {
        let page = Ask::get("/healthz").header("host", &host).header("sec-fetch-site", "same-origin");
        let answer = world.service.send(&page.header("origin", &format!("http://{host}")));
        assert_eq!(answer.status, 200, "{host}: {answer:?}");
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
}
