//! Serves HTTP on one listener, with bounds on how many connections there are and how slow a head may be.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tower::ServiceExt;

/// Connections at once: four credentials may use all that one may and others still come in.
const CONNECTIONS: u32 = 1_024;
/// How long the head of a request may take: a slow one must not hold a connection.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);
/// Rest after a failed accept, such as when file descriptors ran out.
const ACCEPT_REST: Duration = Duration::from_millis(100);
/// How long the last answers may take once the service has stopped.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// Every open connection, and the word that ends them.
#[derive(Debug)]
pub(super) struct Connections {
    places: Arc<Semaphore>,
    closing: watch::Sender<Closing>,
}

/// Whether connections end after the answer they are at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Closing {
    No,
    Yes,
}

impl Connections {
    /// None yet.
    pub(super) fn new() -> Self {
        let places = Arc::new(Semaphore::new(CONNECTIONS as usize));
        Self { places, closing: watch::Sender::new(Closing::No) }
    }

    /// Serves until it is dropped.
    pub(super) async fn serve(self: Arc<Self>, listener: TcpListener, routes: Router) {
        loop {
            let Ok(place) = Arc::clone(&self.places).acquire_owned().await else { return };
            match listener.accept().await {
                Ok((stream, peer)) => {
                    let (routes, closing) = (routes.clone(), self.closing.subscribe());
                    tokio::spawn(async move {
                        one(stream, peer, routes, closing).await;
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

    /// Ends every connection after the answer it is at, and returns when all have ended or their time is over.
    pub(super) async fn close(&self) {
        self.closing.send_replace(Closing::Yes);
        // A client that does not take its answer in time loses it; its delivery id brings it back.
        let _ = tokio::time::timeout(LAST_ANSWERS, self.places.acquire_many(CONNECTIONS)).await;
    }
}

async fn told_to_close(closing: &mut watch::Receiver<Closing>) {
    // A sender that is gone has nothing left to serve.
    let _ = closing.wait_for(|closing| *closing == Closing::Yes).await;
}

async fn one(stream: TcpStream, peer: SocketAddr, routes: Router, mut closing: watch::Receiver<Closing>) {
    // Small answers must not wait for more to send.
    let _ = stream.set_nodelay(true);
    let service = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        routes.clone().oneshot(request)
    });
    let mut server = Builder::new(TokioExecutor::new()).http1_only();
    server.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
    let mut connection = pin!(server.serve_connection(TokioIo::new(stream), service));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = told_to_close(&mut closing) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%peer, %error, "a connection ended");
    }
}
