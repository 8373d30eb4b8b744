//! Serves HTTP on one listener, with bounds on how many connections there are and how slow a head may be.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tower::ServiceExt;

/// Connections at once: far more than an owner's clients and some lanes need.
const CONNECTIONS: usize = 256;
/// How long the head of a request may take: a slow one must not hold a connection.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);
/// Rest after a failed accept, such as when file descriptors ran out.
const ACCEPT_REST: Duration = Duration::from_millis(100);

/// Serves until it is dropped.
pub(super) async fn serve(listener: TcpListener, routes: Router) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, peer)) => {
                let routes = routes.clone();
                tokio::spawn(async move {
                    one(stream, peer, routes).await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::sleep(ACCEPT_REST).await;
            }
        }
    }
}

async fn one(stream: TcpStream, peer: SocketAddr, routes: Router) {
    // Small answers must not wait for more to send.
    let _ = stream.set_nodelay(true);
    let service = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        routes.clone().oneshot(request)
    });
    let mut server = Builder::new(TokioExecutor::new()).http1_only();
    server.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
    if let Err(error) = server.serve_connection(TokioIo::new(stream), service).await {
        tracing::debug!(%peer, %error, "a connection ended");
    }
}
