//! ntfy: a message to a topic, as JSON to the root of a server.
//!
//! A message offers nothing to press: a button that answers would put an answering credential into a
//! third party's hands.

use async_trait::async_trait;
use reqwest::{Client, StatusCode, Url};
use serde_json::{Value, json};

use super::http;
use super::news::{News, Subject};
use super::sink::{Sink, Untold};

/// Something waits for the owner: it makes a sound of its own.
const HIGH: u8 = 4;
/// Something is only told.
const PLAIN: u8 = 3;

/// A topic of a server. It has no debug form: topic and token are secrets.
#[allow(missing_debug_implementations, reason = "topic and token must not be printed by accident")]
pub struct Ntfy {
    client: Client,
    server: Url,
    topic: String,
    token: Option<String>,
}

impl Ntfy {
    /// That topic of that server, with an access token where one is needed.
    pub fn new(client: Client, server: Url, topic: &str, token: Option<&str>) -> Self {
        Self { client, server, topic: topic.to_owned(), token: token.map(str::to_owned) }
    }

    fn body(&self, news: &News) -> Value {
        let (priority, tags) = match &news.subject {
            Subject::Ask { purpose, .. } => (HIGH, vec!["question", purpose.as_str()]),
            Subject::Update { .. } => (PLAIN, vec!["memo", "update"]),
            Subject::Several { asks: 0, .. } => (PLAIN, vec!["memo", "several"]),
            Subject::Several { .. } => (HIGH, vec!["question", "several"]),
        };
        let lines = [news.words.as_deref(), Some(&news.facts), Some(&news.command)];
        let message = lines.into_iter().flatten().collect::<Vec<_>>().join("\n");
        json!({
            "topic": self.topic, "title": news.title, "message": message, "priority": priority, "tags": tags,
        })
    }
}

#[async_trait]
impl Sink for Ntfy {
    fn name(&self) -> &'static str {
        "ntfy"
    }

    async fn tell(&self, news: &News) -> Result<(), Untold> {
        let mut request = self.client.post(self.server.clone()).json(&self.body(news));
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        let status = http::send(request).await?;
        match status {
            status if status.is_success() => Ok(()),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                Err(Untold::Refused(format!("it does not let us publish there (status {})", status.as_u16())))
            }
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => Err(Untold::NotNow(said(status))),
            status if status.is_server_error() => Err(Untold::NotNow(said(status))),
            status => Err(Untold::Refused(said(status))),
        }
    }
}

fn said(status: StatusCode) -> String {
    format!("it answered with status {}", status.as_u16())
}
