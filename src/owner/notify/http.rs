//! What the sinks over HTTP share: a client that goes where it is told and nowhere else.

use std::time::Duration;

use reqwest::{RequestBuilder, StatusCode};

use super::sink::Untold;

/// How long one request may take: the least that Standard Webhooks gives a receiver.
const DEADLINE: Duration = Duration::from_secs(15);
/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(5);

/// The client cannot be made.
#[derive(Debug, thiserror::Error)]
#[error("notifications need an HTTP client, and there is none: {0}")]
pub struct SetupError(String);

/// A client for sinks. No redirect and no proxy: what is told goes to the configured address alone.
pub fn client() -> Result<reqwest::Client, SetupError> {
    let builder = reqwest::Client::builder()
        .connect_timeout(CONNECT)
        .timeout(DEADLINE)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("clankie/", env!("CARGO_PKG_VERSION")))
        .no_proxy();
    builder.build().map_err(|error| SetupError(error.to_string()))
}

/// Sends it once. The answer's body is not read: it is nobody's business here.
pub(super) async fn send(request: RequestBuilder) -> Result<StatusCode, Untold> {
    let sent = request.send().await;
    sent.map(|answer| answer.status()).map_err(|error| Untold::NotNow(words(&error)))
}

/// What went wrong, without the address: one may be a secret by itself (field report B106).
fn words(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        "it did not answer in time".to_owned()
    } else if error.is_connect() {
        "it cannot be reached".to_owned()
    } else {
        "the connection to it broke".to_owned()
    }
}
