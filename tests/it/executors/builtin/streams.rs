//! Streams of a provider, cut anywhere and changed by chance: a run ends with a reply or a typed
//! failure, and says no more than it was sent.

use std::cell::Cell;
use std::time::Duration;

use clankie::executors::builtin::settings::{ApiKey, Patience, Provider, Retries, Settings};
use clankie_domain::session::{Outcome, SessionEvent};
use proptest::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::super::bank::Bank;
use super::super::completed;
use super::{CANARY, Ended, run};
use crate::fuzz::{changed, changes, corpus, runner};

/// Streams that are tried: what a debug build hears in some ten seconds.
const CASES: u32 = 120;
/// Connections that get the changed stream; later ones get the good one, so that a tool loop ends.
const CHANGED: usize = 3;
/// Only a run that hangs meets this.
const SAFETY_NET: Duration = Duration::from_secs(30);
/// Bytes of notes and names beside what was sent.
const BESIDE: usize = 16 * 1_024;

/// What a server sends, in pieces that end at these shares of it.
struct Script {
    changed: Vec<u8>,
    good: Vec<u8>,
    cuts: Vec<u16>,
}

impl Script {
    async fn serve(self, listener: TcpListener) {
        let mut served = 0;
        while let Ok((stream, _)) = listener.accept().await {
            let bytes = if served < CHANGED { &self.changed } else { &self.good };
            served += 1;
            // A client that has heard enough closes, which is no failure of the server.
            let _ = self.answer(stream, bytes).await;
        }
    }

    async fn answer(&self, mut stream: TcpStream, bytes: &[u8]) -> std::io::Result<()> {
        stream.set_nodelay(true)?;
        request(&mut stream).await?;
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n").await?;
        let mut ends: Vec<usize> = self.cuts.iter().map(|cut| usize::from(*cut) * bytes.len() / 65_536).collect();
        ends.push(bytes.len());
        ends.sort_unstable();
        let mut from = 0;
        for end in ends {
            stream.write_all(&bytes[from..end]).await?;
            stream.flush().await?;
            tokio::task::yield_now().await;
            from = end;
        }
        stream.shutdown().await
    }
}

/// Reads a request to its end.
async fn request(stream: &mut TcpStream) -> std::io::Result<()> {
    let (mut bytes, mut piece) = (Vec::new(), [0; 4_096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return Ok(());
            }
        }
        match stream.read(&mut piece).await? {
            0 => return Ok(()),
            read => bytes.extend_from_slice(&piece[..read]),
        }
    }
}

fn settings(name: &str, address: std::net::SocketAddr) -> Settings {
    let (provider, base) = match name.starts_with("anthropic") {
        true => (Provider::Anthropic, format!("http://{address}")),
        false => (Provider::OpenAiChat, format!("http://{address}/v1")),
    };
    let mut settings = Settings::new(provider, "scripted");
    settings.base_url = Some(base);
    settings.api_key = Some(ApiKey::new(CANARY));
    settings.retries = Retries { attempts: 2, first_delay: Duration::from_millis(1), cap: Duration::from_millis(1) };
    let long = Duration::from_secs(20);
    settings.patience = Patience { connect: long, first_byte: long, idle: long };
    settings
}

async fn heard(name: &str, script: Script) -> Option<Ended> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let settings = settings(name, listener.local_addr().unwrap());
    let server = tokio::spawn(script.serve(listener));
    let ended = tokio::time::timeout(SAFETY_NET, run(settings, "say something", Bank::empty())).await.ok();
    server.abort();
    ended
}

fn said(ended: &Ended) -> usize {
    ended.events.iter().map(|event| format!("{event:?}").len()).sum()
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

#[test]
fn a_stream_changed_by_chance_ends_its_run_and_says_no_more_than_was_sent() {
    let (runtime, good) = (runtime(), corpus("streams"));
    let (replied, failed) = (Cell::new(0), Cell::new(0));
    let cases = (0..good.len(), changes(), prop::collection::vec(any::<u16>(), 0..12));
    let ran = runner("streams", CASES).run(&cases, |(which, changes, cuts)| {
        let (name, bytes) = &good[which];
        let script = Script { changed: changed(bytes, &changes), good: good[which].1.clone(), cuts };
        // A word may be written as six bytes for one, and a reply is said in pieces and once whole.
        let most = 14 * (CHANGED * script.changed.len() + script.good.len()) + BESIDE;
        let Some(ended) = runtime.block_on(heard(name, script)) else {
            return Err(TestCaseError::fail(format!("{name}: the run hangs")));
        };
        match ended.outcome() {
            Some(Outcome::Completed(_)) => replied.set(replied.get() + 1),
            Some(Outcome::Failed(_)) => failed.set(failed.get() + 1),
            other => return Err(TestCaseError::fail(format!("{name}: it ended as {other:?}"))),
        }
        prop_assert!(said(&ended) <= most, "{} bytes were said", said(&ended));
        let settled = ended.events.iter().filter(|event| matches!(event, SessionEvent::Settled(_))).count();
        prop_assert_eq!(settled, 1);
        Ok(())
    });
    println!("{} runs replied, {} failed", replied.get(), failed.get());
    if let Err(error) = ran {
        panic!("{error}");
    }
    assert!(replied.get() > 0 && failed.get() > 0, "chance reached one side alone");
}

#[test]
fn a_good_stream_is_heard_whole_however_it_is_cut() {
    let runtime = runtime();
    for (name, bytes) in corpus("streams").into_iter().filter(|(name, _)| name.contains("text")) {
        for every in [1, 2, 7, 64] {
            let pieces = bytes.len() / every;
            let cuts = (1..pieces).map(|n| u16::try_from(n * 65_536 / pieces).unwrap()).collect();
            let script = Script { changed: bytes.clone(), good: bytes.clone(), cuts };
            let ended = runtime.block_on(heard(&name, script)).unwrap();
            assert_eq!(ended.outcome(), Some(&completed("Grüße, 👋 all.")), "{name} by {every}: {:?}", ended.notes());
        }
    }
}
