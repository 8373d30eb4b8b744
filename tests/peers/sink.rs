//! A place on loopback that owners are told at: it takes any request, answers as it was told, and
//! remembers what came.

#![allow(dead_code, reason = "each test binary uses its own part of this peer")]
#![allow(clippy::unwrap_used, reason = "it stops at what it did not expect")]

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde_json::Value;

/// One request that came.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    pub(crate) path: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Told {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(String::as_str).unwrap_or_default()
    }
}

/// How a request is answered.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Reply {
    /// With this status.
    Status(u16),
    /// With a redirect to its own `/elsewhere`.
    Redirect,
    /// Never, as long as the place stands.
    Never,
}

#[derive(Debug, Default)]
struct Seen {
    told: Vec<Told>,
    replies: VecDeque<Reply>,
    /// What is never answered is held open here.
    open: Vec<TcpStream>,
}

/// The place. It stands until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Place {
    /// One that takes everything.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (seen, over) = (Arc::<Mutex<Seen>>::default(), Arc::<AtomicBool>::default());
        let (kept, ended) = (Arc::clone(&seen), Arc::clone(&over));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::Acquire) {
                    return;
                }
                // A connection that was only opened, or broke, told nothing.
                let _ = stream.map(|stream| one(stream, &kept));
            }
        });
        Self { address, seen, over, thread: Some(thread) }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// How the next requests are answered, in order; after them everything is taken again.
    pub(crate) fn script(&self, replies: impl IntoIterator<Item = Reply>) {
        self.seen.lock().unwrap().replies.extend(replies);
    }

    /// Everything that came so far.
    pub(crate) fn told(&self) -> Vec<Told> {
        self.seen.lock().unwrap().told.clone()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        // Only to wake the thread.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn one(stream: TcpStream, seen: &Mutex<Seen>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let path = lines.first()?.split(' ').nth(1)?.to_owned();
    let headers = lines.iter().skip(1).filter_map(|line| line.split_once(": "));
    let headers: BTreeMap<_, _> = headers.map(|(name, text)| (name.to_ascii_lowercase(), text.to_owned())).collect();
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let mut seen = seen.lock().unwrap();
    seen.told.push(Told { path, headers, body: String::from_utf8(body).unwrap() });
    let reply = seen.replies.pop_front().unwrap_or(Reply::Status(200));
    answer(stream, reply, &mut seen.open)
}

fn answer(mut stream: TcpStream, reply: Reply, open: &mut Vec<TcpStream>) -> Option<()> {
    let (status, more) = match reply {
        Reply::Status(status) => (status, ""),
        Reply::Redirect => (302, "location: /elsewhere\r\n"),
        Reply::Never => {
            open.push(stream);
            return Some(());
        }
    };
    let head = format!("HTTP/1.1 {status} Told\r\n{more}content-length: 0\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).ok()
}
