//! A provider that is down, refuses, breaks off or says nothing.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use clankie::executors::builtin::settings::{Patience, Provider, Settings};
use clankie::executors::builtin::{Builtin, SetupError};
use clankie_domain::ids::ExecutorName;
use clankie_domain::result::FailCode;
use serde_json::json;

use super::super::bank::Bank;
use super::super::{completed, failed};
use super::{CANARY, PROVEN, run, settings};
use crate::model_peer::{Answer, ModelServer, Part};

/// A passing fault, before anything was streamed, is tried again and leaves a note each time.
#[tokio::test]
async fn a_passing_fault_is_tried_again() {
    for provider in PROVEN {
        for fault in [
            Answer::status(429),
            Answer::status(500),
            Answer::status(529),
            Answer::parts([Part::Cut]),
            Answer::parts([Part::Garbage]),
        ] {
            let server = ModelServer::start();
            server.script([fault.clone(), fault.clone(), Answer::text(["Back."])]);
            let ended = run(settings(provider, &server), "[[delivery:m-1]]", Bank::empty()).await;
            assert_eq!(ended.outcome(), Some(&completed("Back.")), "{provider:?} {fault:?}: {:?}", ended.notes());
            assert_eq!((ended.notes().len(), server.asked("m-1")), (2, 3), "{:?}", ended.notes());
        }
    }
}

#[tokio::test]
async fn retry_after_is_honoured_and_too_long_a_wait_is_not_begun() {
    let asks = |seconds| Answer::Refuse { status: 429, body: json!({}), retry_after: Some(seconds) };
    let server = ModelServer::start();
    server.script([asks(1), Answer::text(["Back."])]);
    let start = Instant::now();
    let ended = run(settings(Provider::OpenAiChat, &server), "x", Bank::empty()).await;
    assert_eq!(ended.outcome(), Some(&completed("Back.")));
    assert!(start.elapsed() >= Duration::from_secs(1), "{:?}", start.elapsed());

    server.script([asks(2)]);
    let ended = run(settings(Provider::OpenAiChat, &server), "x", Bank::empty()).await;
    assert_eq!(ended.outcome(), Some(&failed(FailCode::ModelUnavailable)));
    assert_eq!(server.calls().len(), 3);
}

#[test]
fn an_address_that_is_none_is_refused_before_any_run() {
    let mut settings = Settings::new(Provider::OpenAiChat, "m");
    for base in ["localhost:8080", "api.example", "ftp://x", ""] {
        settings.base_url = Some(base.to_owned());
        let name = ExecutorName::parse("builtin").unwrap();
        assert_eq!(Builtin::new(name, settings.clone()).err(), Some(SetupError::BaseUrl), "{base}");
    }
}

/// What no second try changes ends the run at once, with a plain note.
#[tokio::test]
async fn a_refused_key_and_an_empty_account_are_model_unavailable_at_once() {
    let echo = json!({ "error": { "message": format!("Incorrect API key provided: {CANARY}") } });
    let quota = json!({ "error": { "type": "insufficient_quota", "code": "insufficient_quota" } });
    for provider in PROVEN {
        for (status, body, note) in [
            (401, &echo, "The model is not available: the provider refuses the key (HTTP 401)."),
            (429, &quota, "The model is not available: the provider's account has no quota left (HTTP 429)."),
            (400, &echo, "The model is not available: the provider refuses the request (HTTP 400)."),
        ] {
            let server = ModelServer::start();
            server.script([Answer::Refuse { status, body: body.clone(), retry_after: None }]);
            let ended = run(settings(provider, &server), "x", Bank::empty()).await;
            assert_eq!(ended.outcome(), Some(&failed(FailCode::ModelUnavailable)));
            assert_eq!((ended.notes(), server.calls().len()), (vec![note], 1));
        }
    }
}

#[tokio::test]
async fn a_provider_that_stays_down_is_given_up() {
    let server = ModelServer::start();
    server.script([Answer::status(500), Answer::status(502), Answer::status(503)]);
    let ended = run(settings(Provider::Anthropic, &server), "x", Bank::empty()).await;
    assert_eq!(ended.outcome(), Some(&failed(FailCode::ModelUnavailable)));
    assert_eq!(server.calls().len(), 3);
    let gone = settings(Provider::OpenAiChat, &server);
    drop(server);
    let ended = run(gone, "x", Bank::empty()).await;
    assert_eq!(ended.outcome(), Some(&failed(FailCode::ModelUnavailable)));
    assert!(ended.notes()[2].contains("cannot be reached"), "{:?}", ended.notes());
}

/// What people may have seen is not said twice: a reply that broke off is not tried again.
#[tokio::test]
async fn a_reply_that_breaks_off_after_its_first_words_is_not_repeated() {
    for provider in PROVEN {
        for fault in [Part::Cut, Part::Garbage] {
            let server = ModelServer::start();
            server.script([Answer::parts([Part::text("Half a"), fault])]);
            let ended = run(settings(provider, &server), "x", Bank::empty()).await;
            assert_eq!(ended.outcome(), Some(&failed(FailCode::ModelUnavailable)));
            assert_eq!((ended.texts(), server.calls().len()), (vec!["Half a"], 1));
        }
    }
}

/// B29: a wedged model call ends by itself, whether it never begins or stops in the middle.
#[tokio::test]
async fn b29_a_provider_that_says_nothing_is_given_up() {
    let (short, long) = (Duration::from_millis(60), Duration::from_secs(600));
    let never = Patience { connect: short, first_byte: short, idle: long };
    let stalls = Patience { connect: long, first_byte: long, idle: short };
    let middle = || Answer::parts([Part::text("Hm"), Part::Stall]);
    for (answer, patience, calls) in [(Answer::Never, never, 3), (middle(), stalls, 1)] {
        let server = ModelServer::start();
        server.script([answer.clone(), answer.clone(), answer]);
        let mut hasty = settings(Provider::OpenAiChat, &server);
        hasty.patience = patience;
        let run = run(hasty, "x", Bank::empty());
        let ended = tokio::time::timeout(Duration::from_secs(30), run).await.unwrap();
        assert_eq!(ended.outcome(), Some(&failed(FailCode::ModelUnavailable)));
        assert!(ended.notes().last().unwrap().contains("silent for too long"), "{:?}", ended.notes());
        assert_eq!(server.calls().len(), calls);
    }
}

/// B106: a provider that repeats the key in its answer does not get it into our log.
#[tokio::test]
async fn b106_the_key_is_in_no_log_line_at_any_level() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(move || writer.clone());
    let _guard = tracing::subscriber::set_default(subscriber.finish());
    let body = json!({ "error": { "message": format!("Incorrect API key provided: {CANARY}") } });
    for provider in PROVEN {
        let server = ModelServer::start();
        server.script([Answer::Refuse { status: 401, body: body.clone(), retry_after: None }]);
        run(settings(provider, &server), "x", Bank::empty()).await;
    }
    tracing::info!("the log is open");
    let text = log.text();
    assert!(text.contains("the log is open") && !text.contains(CANARY), "{text}");
}

/// What was logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
