//! The port: accepts connections, reads calls, cuts where it was told to, goes down and up again.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::{Body as HttpBody, to_bytes};
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{DefaultBodyLimit, FromRequest, FromRequestParts, Multipart, Request};
use axum::response::{IntoResponse, Response};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;

use super::call::{Body, Call, File};
use super::dispatch::Out;
use super::{Order, Shared, gateway, rest};

/// The largest body that is read at all; what is larger is answered 413.
const BODY_BYTES: usize = 25 * 1024 * 1024;

/// Why a connection ends without an answer.
#[derive(Debug, thiserror::Error)]
#[error("cut by the test")]
pub(super) struct Cut;

pub(super) fn serve(
    listener: std::net::TcpListener,
    address: SocketAddr,
    shared: Arc<Shared>,
    orders: UnboundedReceiver<Order>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    listener.set_nonblocking(true).unwrap();
    runtime.block_on(run(listener, address, shared, orders));
    runtime.shutdown_background();
}

async fn run(
    listener: std::net::TcpListener,
    address: SocketAddr,
    shared: Arc<Shared>,
    mut orders: UnboundedReceiver<Order>,
) {
    let mut listener = Some(TcpListener::from_std(listener).unwrap());
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = accept(listener.as_ref()) => {
                if let Some(stream) = accepted {
                    connections.spawn(connection(stream, Arc::clone(&shared)));
                }
            }
            Some(_) = connections.join_next() => {}
            order = orders.recv() => match order {
                Some(Order::Down(done)) => {
                    listener = None;
                    connections.shutdown().await;
                    hang_up(&shared).await;
                    let _ = done.send(());
                }
                Some(Order::Deaf(done)) => {
                    listener = None;
                    connections.shutdown().await;
                    let _ = done.send(());
                }
                Some(Order::Up(done)) => {
                    listener = Some(TcpListener::bind(address).await.unwrap());
                    let _ = done.send(());
                }
                Some(Order::Stop) | None => break,
            },
        }
    }
}

async fn accept(listener: Option<&TcpListener>) -> Option<TcpStream> {
    match listener {
        Some(listener) => listener.accept().await.ok().map(|(stream, _)| stream),
        None => std::future::pending().await,
    }
}

/// The websockets have left their connections' tasks; they are ended by word.
async fn hang_up(shared: &Shared) {
    loop {
        let left = shared.change(|world| {
            world.wires.tell_all(|| Out::Kill);
            world.wires.links.len()
        });
        if left == 0 {
            return;
        }
        tokio::task::yield_now().await;
    }
}

async fn connection(stream: TcpStream, shared: Arc<Shared>) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| answer(Arc::clone(&shared), request));
    let served = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    // An error here is a client that left, or a cut that was asked for.
    let _ = served.with_upgrades().await;
}

async fn answer(shared: Arc<Shared>, request: hyper::Request<Incoming>) -> Result<Response, Cut> {
    let request: Request = request.map(HttpBody::new);
    let path = request.uri().path().to_owned();
    if path == "/" {
        return Ok(upgrade(shared, request).await);
    }
    if path.starts_with("/attachments/") {
        return Ok(rest::attachment(&shared, &path));
    }
    match read(request, &path).await {
        Some(call) => rest::answer(&shared, call).await,
        None => Ok(rest::too_large(&shared, &path)),
    }
}

async fn upgrade(shared: Arc<Shared>, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    let query = parts.uri.query().unwrap_or_default().to_owned();
    if !query.split('&').any(|pair| pair == "v=10") {
        shared.change(|world| world.violation(format!("gateway version: ?{query}")));
    }
    match WebSocketUpgrade::from_request_parts(&mut parts, &()).await {
        Ok(upgrade) => upgrade.on_upgrade(move |socket| gateway::serve(shared, socket)),
        Err(refused) => refused.into_response(),
    }
}

/// The call, or nothing when it is too large to be read.
async fn read(request: Request, path: &str) -> Option<Call> {
    let authorization = header(&request, "authorization");
    let kind = header(&request, "content-type").unwrap_or_default();
    let method = request.method().to_string();
    let below = path.strip_prefix("/api/v10/").unwrap_or(path);
    let path = below.split('/').filter(|piece| !piece.is_empty()).map(decoded).collect();
    let query = request.uri().query().unwrap_or_default().split('&').filter_map(pair).collect();
    let body = if kind.starts_with("multipart/form-data") {
        form(request).await?
    } else {
        let bytes = to_bytes(request.into_body(), BODY_BYTES).await.ok()?;
        match (bytes.is_empty(), serde_json::from_slice(&bytes)) {
            (true, _) => Body::Empty,
            (false, Ok(value)) if kind.starts_with("application/json") => Body::Json(value),
            (false, _) => Body::Unreadable,
        }
    };
    Some(Call { method, path, query, authorization, body })
}

fn header(request: &Request, name: &str) -> Option<String> {
    request.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

async fn form(request: Request) -> Option<Body> {
    let (parts, body) = request.into_parts();
    let bytes = to_bytes(body, BODY_BYTES).await.ok()?;
    let mut request = Request::from_parts(parts, HttpBody::from(bytes));
    DefaultBodyLimit::disable().apply(&mut request);
    let Ok(mut fields) = Multipart::from_request(request, &()).await else { return Some(Body::Unreadable) };
    let (mut json, mut files) = (serde_json::Value::Null, Vec::new());
    while let Ok(Some(field)) = fields.next_field().await {
        let name = field.name().unwrap_or_default().to_owned();
        let file = field.file_name().unwrap_or_default().to_owned();
        let kind = field.content_type().unwrap_or("application/octet-stream").to_owned();
        let Ok(bytes) = field.bytes().await else { return Some(Body::Unreadable) };
        if name == "payload_json" {
            json = serde_json::from_slice(&bytes).unwrap_or_default();
        } else if let Some(number) = name.strip_prefix("files[").and_then(|rest| rest.strip_suffix(']')) {
            let Ok(number) = number.parse() else { return Some(Body::Unreadable) };
            files.push(File { number, name: file, kind, bytes: bytes.to_vec() });
        } else {
            return Some(Body::Unreadable);
        }
    }
    Some(Body::Form(json, files))
}

fn pair(text: &str) -> Option<(String, String)> {
    let (key, value) = text.split_once('=')?;
    Some((decoded(key), decoded(value)))
}

/// Without percent signs.
pub(super) fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
