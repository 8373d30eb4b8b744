//! The names under which the service counts, and how one scrape is rendered.
//!
//! No label holds an id, a name or a text: only words of closed sets.

use clankie_domain::admission::room::Answer;
use clankie_domain::grant::Gateway;
use metrics::{counter, describe_counter, describe_gauge, gauge};
use metrics_exporter_prometheus::{BuildError, PrometheusBuilder, PrometheusHandle};

const ANSWERS: &str = "clankie_answers_total";
const RESULTS: &str = "clankie_results_total";
const EVENTS: &str = "clankie_events_total";
const LOG_LINES_LOST: &str = "clankie_log_lines_lost_total";
const RUNNING: &str = "clankie_handoffs_running";
const WAITING: &str = "clankie_handoffs_waiting";
const OWED: &str = "clankie_handoffs_owed";

/// Starts counting in this process. Fails when something counts already.
pub fn install() -> Result<PrometheusHandle, BuildError> {
    let handle = PrometheusBuilder::new().install_recorder()?;
    describe_counter!(ANSWERS, "Answers to deliveries, by gateway and answer: admitted, busy and the rest");
    describe_counter!(RESULTS, "Results that callers were given, by kind");
    describe_counter!(EVENTS, "Durable changes that the feed has numbered in this store");
    describe_counter!(LOG_LINES_LOST, "Log lines that nobody was there to read");
    describe_gauge!(RUNNING, "Handoffs that run");
    describe_gauge!(WAITING, "Handoffs that hold a waiting place");
    describe_gauge!(OWED, "Promised handoffs that wait");
    Ok(handle)
}

/// A delivery was answered.
pub fn answered(gateway: Gateway, answer: &Answer) {
    counter!(ANSWERS, "gateway" => gateway_word(gateway), "answer" => answer_word(answer)).increment(1);
}

/// A result was handed to a caller.
pub fn handed(kind: &'static str) {
    counter!(RESULTS, "kind" => kind).increment(1);
}

/// A log line could not be written.
pub fn log_line_lost() {
    counter!(LOG_LINES_LOST).increment(1);
}

/// How much runs and waits at the moment of a scrape.
#[derive(Debug, Clone, Copy)]
pub struct Scrape {
    /// Running.
    pub running: usize,
    /// Waiting.
    pub waiting: usize,
    /// Promised.
    pub owed: usize,
    /// Sequence number of the last durable event.
    pub last_event: u64,
}

/// Notes what a scrape found.
pub fn scraped(found: Scrape) {
    let whole = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    gauge!(RUNNING).set(whole(found.running));
    gauge!(WAITING).set(whole(found.waiting));
    gauge!(OWED).set(whole(found.owed));
    counter!(EVENTS).absolute(found.last_event);
}

fn gateway_word(gateway: Gateway) -> &'static str {
    match gateway {
        Gateway::Local => "local",
        Gateway::Ingress => "ingress",
        Gateway::DiscordText => "discord_text",
        Gateway::DiscordVoice => "discord_voice",
    }
}

fn answer_word(answer: &Answer) -> &'static str {
    match answer {
        Answer::Accepted { .. } => "admitted",
        Answer::Settled { .. } => "settled",
        Answer::Busy(_) => "busy",
        Answer::Conflict { .. } | Answer::ConflictInFlight => "conflict",
        Answer::Refused(_) => "refused",
        Answer::ShuttingDown => "shutting_down",
        Answer::Forgotten => "forgotten",
        Answer::Cancelling { .. } => "cancelling",
        Answer::NotFound => "not_found",
        Answer::NotYours => "not_yours",
        Answer::Posted(_) => "posted",
        Answer::NoSuchStep => "no_such_step",
        Answer::Outdated => "outdated",
    }
}
