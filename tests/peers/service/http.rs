//! A client that sends exactly what a test says, also what no proper client would send.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// Only a hung service meets this: the longest wait of the contract, and some.
const SAFETY_NET: Duration = Duration::from_secs(90);

/// One request, as bytes in the making.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// What came back.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Ask {
    pub(crate) fn new(method: &str, path: &str) -> Self {
        Self { method: method.to_owned(), path: path.to_owned(), headers: Vec::new(), body: Vec::new() }
    }

    pub(crate) fn get(path: &str) -> Self {
        Self::new("GET", path)
    }

    pub(crate) fn post(path: &str) -> Self {
        Self::new("POST", path)
    }

    /// One more header. `host` replaces the service's own.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn token(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.text(&body.to_string())
    }

    /// A body that says it is JSON, whatever it is.
    pub(crate) fn text(self, body: &str) -> Self {
        self.header("content-type", "application/json").bytes(body.as_bytes())
    }

    pub(crate) fn bytes(mut self, body: &[u8]) -> Self {
        self.body = body.to_vec();
        self
    }

    /// Sends it and reads to the end of the connection. A service may answer before it has read a
    /// large body, so a broken write is no failure as long as an answer comes.
    pub(crate) fn send(&self, address: &str) -> Answer {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(SAFETY_NET)).unwrap();
        let head = self.head(address);
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&self.body));
        let mut bytes = Vec::new();
        let read = stream.read_to_end(&mut bytes);
        assert!(read.is_ok() || !bytes.is_empty(), "{} {}: {read:?}", self.method, self.path);
        Answer::parse(&bytes)
    }

    /// Sends it to a service that may die of it. None when no answer came.
    pub(crate) fn attempt(&self, address: &str) -> Option<Answer> {
        let mut stream = TcpStream::connect(address).ok()?;
        stream.set_read_timeout(Some(SAFETY_NET)).unwrap();
        let head = self.head(address);
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&self.body));
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        // An answer that was cut off is none.
        let whole = bytes.windows(4).any(|four| four == b"\r\n\r\n");
        whole.then(|| Answer::parse(&bytes)).filter(|answer| !answer.body.is_empty())
    }

    fn head(&self, address: &str) -> String {
        let mut head = format!("{} {} HTTP/1.1\r\nconnection: close\r\n", self.method, self.path);
        if !self.headers.iter().any(|(name, _)| name == "host") {
            head.push_str(&format!("host: {address}\r\n"));
        }
        if !self.body.is_empty() || self.method != "GET" {
            head.push_str(&format!("content-length: {}\r\n", self.body.len()));
        }
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head + "\r\n"
    }
}

impl Answer {
    fn parse(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|code| code.parse().ok());
        let headers = lines.filter_map(|line| line.split_once(": "));
        let headers: Vec<_> = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
        let answer = Self { status: status.unwrap(), headers, body: body.to_owned() };
        assert_eq!(answer.header("transfer-encoding"), None, "this client reads no chunks");
        answer
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|why| panic!("{why}: {self:?}"))
    }

    /// The last word of the problem's type.
    pub(crate) fn problem(&self) -> String {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        let body = self.json();
        assert_eq!(body["status"], self.status, "{body}");
        body["type"].as_str().unwrap().rsplit('/').next().unwrap().to_owned()
    }
}

/// One segment of a path.
pub(crate) fn encoded(segment: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
    let one = |byte: u8| if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    segment.bytes().map(one).collect()
}
