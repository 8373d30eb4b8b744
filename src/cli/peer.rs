//! A service for tests: it answers one call after the other as it was told, and remembers each.

use reqwest::Url;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::client::Client;
use super::connection::Credential;

/// What one call gets.
#[derive(Debug, Clone)]
pub(super) enum Reply {
    /// A value of the contract.
    Value(Value),
    /// The connection is cut after the call was read.
    Cut,
    /// These bytes, then the end of the connection.
    Bytes(&'static str),
}

/// A client of it, and everything that it was asked: the head as text, and the body.
pub(super) async fn peer(replies: Vec<Reply>) -> (Client, JoinHandle<Vec<(String, Value)>>) {
    let _already = rustls::crypto::ring::default_provider().install_default();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let service = tokio::spawn(async move {
        let mut asked = Vec::new();
        for reply in replies {
            let (mut socket, _) = listener.accept().await.unwrap();
            asked.push(read(&mut socket).await);
            let bytes = match reply {
                Reply::Value(value) => {
                    let body = value.to_string();
                    let length = body.len();
                    format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}")
                }
                Reply::Bytes(bytes) => bytes.to_owned(),
                Reply::Cut => String::new(),
            };
            socket.write_all(bytes.as_bytes()).await.unwrap();
        }
        asked
    });
    (Client::new(Url::parse(&url).unwrap(), Credential::new("clk_test")).unwrap(), service)
}

async fn read(socket: &mut TcpStream) -> (String, Value) {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let length = socket.read(&mut piece).await.unwrap();
        bytes.extend_from_slice(&piece[..length]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        if head.starts_with("GET") || length == 0 {
            return (head.to_owned(), Value::Null);
        }
        if let Ok(body) = serde_json::from_str(body) {
            return (head.to_owned(), body);
        }
    }
}
