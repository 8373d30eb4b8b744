//! Every combination of host, origin, fetch site, method and media type against the running service:
//! what the rule refuses changes nothing, and what it lets through is exactly what was done.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::service::{Ask, Service};

const SITES: [Option<&str>; 4] = [None, Some("same-origin"), Some("same-site"), Some("cross-site")];

/// A method and the media type of its body.
const CALLS: [(&str, Option<&str>); 6] = [
    ("POST", Some("application/json")),
    ("POST", Some("text/plain")),
    ("POST", Some("application/x-www-form-urlencoded")),
    ("POST", None),
    ("GET", Some("application/json")),
    ("OPTIONS", None),
];

struct Case {
    host: String,
    origin: Option<String>,
    site: Option<&'static str>,
    call: (&'static str, Option<&'static str>),
}

impl Case {
    /// What must come of it, written without any of the service's code: our own name, nobody else's
    /// page, and a body that no form can send.
    fn expected(&self, own: &[String]) -> u16 {
        let foreign = self.origin.as_ref().is_some_and(|origin| *origin != format!("http://{}", self.host));
        let site = matches!(self.site, Some("same-site" | "cross-site"));
        match self.call {
            _ if !own.contains(&self.host) => 421,
            _ if foreign || site => 403,
            ("POST", Some("application/json")) => 200,
            ("POST", _) => 415,
            _ => 405,
        }
    }
}

fn cases(port: &str) -> Vec<Case> {
    let hosts = [
        "127.0.0.1:PORT",
        "localhost:PORT",
        "evil.test:PORT",
        "127.0.0.1.evil.test:PORT",
        "localhost.:PORT",
        "127.0.0.1",
    ];
    let origins =
        ["", "http://127.0.0.1:PORT", "http://localhost:PORT", "http://127.0.0.1:3000", "http://evil.test", "null"];
    let mut cases = Vec::new();
    for host in hosts {
        for origin in origins {
            for site in SITES {
                cases.extend(CALLS.map(|call| Case {
                    host: host.replace("PORT", port),
                    origin: (!origin.is_empty()).then(|| origin.replace("PORT", port)),
                    site,
                    call,
                }));
            }
        }
    }
    cases
}

fn accounts(service: &Service) -> BTreeSet<String> {
    let tokens = service.dispatch(json!({"op": "token_list"}));
    let named = |token: &Value| (token["kind"] == "account").then(|| token["name"].as_str().unwrap().to_owned());
    tokens["tokens"].as_array().unwrap().iter().filter_map(named).collect()
}

#[test]
fn a_generated_matrix_of_requests_is_let_through_exactly_where_the_rule_says_and_else_changes_nothing() {
    let service = Service::start("");
    let port = service.address().rsplit(':').next().unwrap().to_owned();
    let own = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    let cases = cases(&port);
    assert!(cases.len() > 600, "{}", cases.len());
    let mut done = BTreeSet::new();
    for (place, case) in cases.iter().enumerate() {
        let name = format!("case-{place}");
        let body = json!({"schema_version": 1, "op": "account_open", "name": name}).to_string();
        let mut ask =
            Ask::new(case.call.0, "/operator/v1/dispatch").token(service.operator()).header("host", &case.host);
        let optional =
            [("origin", case.origin.as_deref()), ("sec-fetch-site", case.site), ("content-type", case.call.1)];
        for (header, value) in optional {
            ask = value.iter().fold(ask, |ask, value| ask.header(header, value));
        }
        let answer = service.send(&ask.bytes(body.as_bytes()));
        let wanted = case.expected(&own);
        let said = (&case.host, &case.origin, case.site, case.call);
        assert_eq!(answer.status, wanted, "{said:?}");
        assert!(!answer.headers.iter().any(|(name, _)| name.starts_with("access-control-")), "{said:?}");
        if wanted == 200 {
            done.insert(name);
        }
    }
    assert!(!done.is_empty());
    assert_eq!(accounts(&service), done, "exactly what was let through was done");
}

#[test]
fn no_read_changes_anything() {
    let service = Service::start("");
    service.settle(&crate::service::turn("lab", "m1", "ann", "hello"));
    let state = || (service.handoffs(), accounts(&service), service.said("lab"));
    let before = state();
    let paths = [
        "/operator/v1/handoffs",
        "/operator/v1/status",
        "/operator/v1/dispatch",
        "/operator/v1/dispatch?op=account_open&name=x",
        "/pair/v1/redeem?code=BBBB-BBBB&name=x",
        "/pair/v1/poll",
        "/rooms/v1/lab/messages",
        "/ingress/v1/turns",
        "/healthz",
        "/readyz",
        "/metrics",
    ];
    for path in paths {
        for method in ["GET", "HEAD"] {
            service.send(&Ask::new(method, path).token(service.operator()));
        }
    }
    assert_eq!(state(), before);
}

#[test]
fn two_hosts_an_absolute_line_and_a_socket_are_refused() {
    let service = Service::start("");
    let address = service.address().to_owned();
    let health = || Ask::get("/healthz");
    let status = |ask: Ask| service.send(&ask).status;
    assert_eq!(status(health().header("host", &address).header("host", &address)), 421);
    assert_eq!(status(health().header("host", &address).header("host", "evil.test")), 421);
    assert_eq!(status(Ask::get("http://evil.test/healthz")), 421);
    assert_eq!(status(Ask::get(&format!("http://{address}/healthz")).header("host", "evil.test")), 421);
    assert_eq!(status(Ask::get(&format!("http://{address}/healthz"))), 200);
    for path in ["/healthz", "/operator/v1/handoffs", "/operator/v1/dispatch", "/nowhere"] {
        for upgrade in ["websocket", "WebSocket", "h2c, websocket"] {
            let socket = Ask::get(path).token(service.operator()).header("upgrade", upgrade);
            assert_eq!(status(socket.header("sec-websocket-version", "13")), 400, "{path} {upgrade}");
        }
    }
}

/// A public name is served with its own origin, beside the names of this machine and nothing else.
#[test]
fn the_public_address_is_one_more_name_and_one_more_origin() {
    let service = Service::prepare("");
    let text = std::fs::read_to_string(service.config_file()).unwrap();
    std::fs::write(service.config_file(), format!("public_url = \"https://clankie.example\"\n{text}")).unwrap();
    let mut service = service;
    service.launch();
    let status = |host: &str, origin: &str| {
        service.send(&Ask::get("/healthz").header("host", host).header("origin", origin)).status
    };
    assert_eq!(status("clankie.example", "https://clankie.example"), 200);
    assert_eq!(status("clankie.example", "http://clankie.example"), 403);
    assert_eq!(status("clankie.example", &format!("http://{}", service.address())), 403);
    assert_eq!(status(service.address(), "https://clankie.example"), 403);
    assert_eq!(status("clankie.example:443", "https://clankie.example"), 421);
    assert_eq!(status("www.clankie.example", "https://www.clankie.example"), 421);
    let offered = service.dispatch(json!({"op": "device_pair_begin", "grants": ["observe"]}));
    assert_eq!(offered["url"], "https://clankie.example/pair/v1/redeem");
    assert!(service.log().contains("API       https://clankie.example/openapi.json"), "{}", service.log());
}
