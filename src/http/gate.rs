//! What every request passes before routing and authentication.
//!
//! A page of another site can make a browser on this machine send requests here, and can give
//! its own name this address. So the Host must be one of ours, exactly; an Origin must be this
//! very one; and what a browser says was sent by another site is refused, unless a person followed
//! a link there: such a request reads at most what anybody may, since a link carries no credential
//! and cookies are none here. No answer ever allows another origin to read it.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, HOST, HeaderName, HeaderValue, ORIGIN, REFERRER_POLICY,
    UPGRADE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, Method, Uri};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};

use super::problem::{Problem, Reason};

/// Largest body of an ordinary request: four times the longest text that anyone may send.
pub const BODY_MAX: usize = 64 * 1024;
/// Largest body of an owner operation: an answer may hold 64 000 bytes, escaped.
pub const DISPATCH_BODY_MAX: usize = 288 * 1024;
/// Where owner operations go.
pub const DISPATCH_PATH: &str = "/operator/v1/dispatch";
/// All headers of a request together.
const HEADERS_MAX: usize = 16 * 1024;
/// Longest path and query: room and delivery id, percent-encoded, with room to spare.
const URI_MAX: usize = 8 * 1024;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// The hosts that are served, each with the one origin that its pages have.
#[derive(Debug, Clone)]
pub struct Gate {
    origins: Arc<BTreeMap<String, String>>,
}

/// Why a public address cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("public_url must be http:// or https:// with a host and nothing after it, such as https://clankie.example")]
pub struct BadPublicUrl;

impl Gate {
    /// A gate for this listen address, and for the address under which a proxy serves it.
    pub fn new(listen: SocketAddr, public_url: Option<&str>) -> Result<Self, BadPublicUrl> {
        let mut origins = BTreeMap::new();
        let mut serve = |host: String, scheme: &str| {
            let origin = format!("{scheme}://{host}");
            origins.insert(host, origin);
        };
        for host in own_names(listen) {
            serve(format!("{host}:{}", listen.port()), "http");
            if listen.port() == 80 {
                serve(host, "http");
            }
        }
        if let Some(url) = public_url {
            let (scheme, host) = public(url).ok_or(BadPublicUrl)?;
            serve(host, scheme);
        }
        Ok(Self { origins: Arc::new(origins) })
    }

    /// Puts `routes` behind this gate. Nothing of them is looked at before it.
    pub fn guard(self, routes: Router) -> Router {
        Router::new()
            .fallback_service(routes)
            .layer(DefaultBodyLimit::max(BODY_MAX))
            .layer(from_fn_with_state(self, pass))
            .layer(from_fn(harden))
    }

    fn check(&self, request: &Request) -> Result<(), Problem> {
        let (headers, uri) = (request.headers(), request.uri());
        small(headers, uri)?;
        let origin = self.host(headers, uri).ok_or_else(|| Problem::new(Reason::HostRefused))?;
        if !same_origin(headers, origin) && !follows_a_link(request) {
            return Err(Problem::new(Reason::OriginRefused));
        }
        stays_http(headers)?;
        fits(headers, uri.path())
    }

    /// The origin that belongs to the host of the request, if that is one of ours.
    fn host(&self, headers: &HeaderMap, uri: &Uri) -> Option<&str> {
        let mut named = headers.get_all(HOST).iter();
        let (first, second) = (named.next(), named.next());
        let host = match (first, second, uri.authority()) {
            (Some(host), None, None) => host.to_str().ok()?,
            (None, None, Some(authority)) => authority.as_str(),
            (Some(host), None, Some(authority)) if host.as_bytes() == authority.as_str().as_bytes() => {
                authority.as_str()
            }
            _ => return None,
        };
        self.origins.get(host).map(String::as_str)
    }
}

fn own_names(listen: SocketAddr) -> Vec<String> {
    let literal = |ip: IpAddr| match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    };
    // A wildcard is no name that a client can call; it is reached by loopback or the public name.
    let own = match listen.ip() {
        IpAddr::V4(ip) => IpAddr::V4(if ip.is_unspecified() { Ipv4Addr::LOCALHOST } else { ip }),
        IpAddr::V6(ip) => IpAddr::V6(if ip.is_unspecified() { Ipv6Addr::LOCALHOST } else { ip }),
    };
    vec![literal(own), "localhost".to_owned()]
}

fn public(url: &str) -> Option<(&'static str, String)> {
    let uri: Uri = url.parse().ok()?;
    let scheme = match uri.scheme_str()? {
        "http" => "http",
        "https" => "https",
        _ => return None,
    };
    let authority = uri.authority()?.as_str().to_ascii_lowercase();
    let bare = matches!(uri.path(), "" | "/") && uri.query().is_none() && !authority.contains('@');
    bare.then_some((scheme, authority))
}

fn small(headers: &HeaderMap, uri: &Uri) -> Result<(), Problem> {
    let bytes: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    if bytes > HEADERS_MAX {
        return Err(Problem::new(Reason::HeadersTooLarge));
    }
    if uri.path_and_query().is_some_and(|path| path.as_str().len() > URI_MAX) {
        return Err(Problem::new(Reason::UriTooLong));
    }
    Ok(())
}

fn same_origin(headers: &HeaderMap, own: &str) -> bool {
    let mut origins = headers.get_all(ORIGIN).iter();
    let origin = match (origins.next(), origins.next()) {
        (None, _) => true,
        (Some(origin), None) => origin.as_bytes() == own.as_bytes(),
        (Some(_), Some(_)) => false,
    };
    let ours = |site: &HeaderValue| matches!(site.as_bytes(), b"same-origin" | b"none");
    origin && headers.get_all(SEC_FETCH_SITE).iter().all(ours)
}

/// Whether a browser opens this address as a page of its own because somebody followed a link on
/// another site, such as one in a message. A page of the same site, which may be any other program on
/// this machine, is refused as ever.
fn follows_a_link(request: &Request) -> bool {
    let headers = request.headers();
    let says = |name: HeaderName, word: &str| {
        let mut values = headers.get_all(name).iter();
        matches!((values.next(), values.next()), (Some(value), None) if value.as_bytes() == word.as_bytes())
    };
    request.method() == Method::GET
        && !headers.contains_key(ORIGIN)
        && says(SEC_FETCH_SITE, "cross-site")
        && says(SEC_FETCH_MODE, "navigate")
        && says(SEC_FETCH_DEST, "document")
}

/// No route speaks anything but HTTP: a page's socket is refused rather than ignored, since a browser
/// opens one to any address without asking first.
fn stays_http(headers: &HeaderMap) -> Result<(), Problem> {
    let socket =
        |value: &HeaderValue| value.as_bytes().to_ascii_lowercase().windows(9).any(|word| word == b"websocket");
    if headers.get_all(UPGRADE).iter().any(socket) {
        return Err(Problem::new(Reason::BadRequest).because("there are no WebSockets here"));
    }
    Ok(())
}

/// Refuses a declared length at once; an undeclared one is cut where the body is read.
fn fits(headers: &HeaderMap, path: &str) -> Result<(), Problem> {
    let most = if path == DISPATCH_PATH { DISPATCH_BODY_MAX } else { BODY_MAX };
    let declared = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if declared.is_some_and(|length| length > most) { Err(Problem::new(Reason::TooLarge)) } else { Ok(()) }
}

async fn pass(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    match gate.check(&request) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

/// Puts the headers on every answer that keep a browser from making more of it than it is.
async fn harden(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let nothing = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(nothing);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

#[cfg(test)]
mod tests;
