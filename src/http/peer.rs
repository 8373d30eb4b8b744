//! Where a request came from: the address of the connection, and nothing that a header says.

use std::convert::Infallible;
use std::fmt;
use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::header::ORIGIN;
use axum::http::request::Parts;

use super::attempts::From;

/// The other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// How its wrong credentials count.
    pub from: From,
    /// Its address, if the connection has one.
    pub address: Option<IpAddr>,
}

impl Peer {
    /// The peer of a request. Headers of proxies are not believed.
    pub fn of(parts: &Parts) -> Self {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        let address = peer.map(|ConnectInfo(peer)| peer.ip().to_canonical());
        let browser = parts.headers.contains_key(ORIGIN);
        let from = match address {
            Some(address) if address.is_loopback() && !browser => From::Loopback,
            Some(_) | None => From::Peer(address),
        };
        Self { from, address }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address {
            Some(address) => address.fmt(f),
            None => f.write_str("unknown"),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Peer {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(parts))
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn came_from(peer: &str, origin_header: Option<&str>) -> From {
        let mut request =
            Request::get("/").header("x-forwarded-for", "203.0.113.9").header("forwarded", "for=203.0.113.9");
        if let Some(value) = origin_header {
            request = request.header(ORIGIN, value);
        }
        let mut parts = request.body(()).unwrap().into_parts().0;
        parts.extensions.insert(ConnectInfo::<SocketAddr>(peer.parse().unwrap()));
        Peer::of(&parts).from
    }

    #[test]
    fn loopback_is_exempt_unless_a_browser_speaks_and_no_header_says_otherwise() {
        let here = |text: &str| From::Peer(Some(text.parse().unwrap()));
        assert_eq!(came_from("127.0.0.1:9", None), From::Loopback);
        assert_eq!(came_from("[::ffff:127.0.0.1]:9", None), From::Loopback);
        assert_eq!(came_from("127.0.0.1:9", Some("null")), here("127.0.0.1"));
        assert_eq!(came_from("203.0.113.7:9", None), here("203.0.113.7"));
    }
}
