//! The builtin agent against the scripted model server.

mod calls;
mod faults;
mod limits;
mod steering;
mod streams;

use std::sync::Arc;
use std::time::Duration;

use clankie::executors::builtin::Builtin;
use clankie::executors::builtin::settings::{ApiKey, Patience, Provider, Retries, Settings};
use clankie_domain::ids::ExecutorName;

use super::bank::Bank;
use super::{Ended, Live, spec};
use crate::model_peer::ModelServer;

/// A key that must be found nowhere but at the provider.
const CANARY: &str = "sk-canary-5f1d";

/// The two providers that are proven.
const PROVEN: [Provider; 2] = [Provider::OpenAiChat, Provider::Anthropic];

/// Settings for this server, with delays that a test can wait for.
fn settings(provider: Provider, server: &ModelServer) -> Settings {
    let mut settings = Settings::new(provider, "scripted");
    settings.base_url = Some(match provider {
        Provider::Anthropic => server.anthropic_url(),
        _ => server.openai_url(),
    });
    settings.api_key = Some(ApiKey::new(CANARY));
    settings.retries = Retries { attempts: 3, first_delay: Duration::from_millis(1), cap: Duration::from_secs(1) };
    let long = Duration::from_secs(60);
    settings.patience = Patience { connect: long, first_byte: long, idle: long };
    settings
}

fn builtin(settings: Settings) -> Builtin {
    // The first test of the process installs it; for the others it is there.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Builtin::new(ExecutorName::parse("builtin").unwrap(), settings).unwrap()
}

fn start(settings: Settings, request: &str, bank: Arc<Bank>) -> Live {
    Live::start(&builtin(settings), spec(request, bank))
}

/// Runs a request to its end and checks that the key is in nothing that was heard.
async fn run(settings: Settings, request: &str, bank: Arc<Bank>) -> Ended {
    let ended = start(settings, request, bank).end().await;
    assert!(!format!("{:?}", ended.events).contains(CANARY), "the key was said");
    ended
}
