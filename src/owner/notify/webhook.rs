//! Webhooks: Standard Webhooks 1.0.0 signatures over CloudEvents 1.0.2 in JSON.
//!
//! The message's id is the news's own, so a receiver that saw it before knows it again. 410 ends
//! it; every other answer but 2xx is a failure and is tried again, as the standard has it. A
//! redirect is not followed: the next address was not configured by anybody.

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use clankie_domain::time::Timestamp;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, StatusCode, Url};
use ring::hmac;
use serde_json::{Value, json};
use uuid::Uuid;

use super::http;
use super::news::{News, Subject};
use super::sink::{Sink, Untold};
use crate::http::wire::moment;

/// How a secret begins, by the standard.
const PREFIX: &str = "whsec_";
/// Fewest bytes of a secret, by the standard.
const KEY_LEAST: usize = 24;
/// Most bytes of a secret, by the standard.
const KEY_MOST: usize = 64;

/// The secret that signs. It has no debug form.
#[allow(missing_debug_implementations, reason = "a secret must not be printed by accident")]
pub struct Secret(hmac::Key);

/// The secret is none. The text does not repeat it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the signing secret must be whsec_ and 24 to 64 bytes in base64, such as: echo whsec_$(openssl rand -base64 32)"
)]
pub struct SecretError;

impl Secret {
    /// Reads `whsec_…`.
    pub fn parse(text: &str) -> Result<Self, SecretError> {
        let encoded = text.strip_prefix(PREFIX).ok_or(SecretError)?;
        let key = STANDARD.decode(encoded).map_err(|_| SecretError)?;
        let fits = (KEY_LEAST..=KEY_MOST).contains(&key.len());
        if fits { Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, &key))) } else { Err(SecretError) }
    }

    /// The value of `webhook-signature`.
    fn sign(&self, id: &str, timestamp: i64, body: &str) -> String {
        let tag = hmac::sign(&self.0, format!("{id}.{timestamp}.{body}").as_bytes());
        format!("v1,{}", STANDARD.encode(tag))
    }
}

/// A receiver. It has no debug form: address and secret are secrets.
#[allow(missing_debug_implementations, reason = "address and secret must not be printed by accident")]
pub struct Webhook {
    client: Client,
    url: Url,
    secret: Secret,
    store: Uuid,
}

impl Webhook {
    /// That receiver. `store` is the store's identity: the source of every event.
    pub fn new(client: Client, url: Url, secret: Secret, store: Uuid) -> Self {
        Self { client, url, secret, store }
    }

    fn event(&self, news: &News) -> Value {
        let (kind, subject, mut data) = match &news.subject {
            Subject::Ask { conversation, request, purpose } => {
                let data = json!({
                    "request_id": request.to_string(), "conversation_id": conversation.as_str(),
                    "purpose": purpose.as_str(), "created_at": moment(news.since),
                });
                ("dev.clankie.ask.opened.v1", request.to_string(), data)
            }
            Subject::Update { conversation, id } => {
                let data = json!({
                    "id": id.to_string(), "conversation_id": conversation.as_str(), "at": moment(news.since),
                });
                ("dev.clankie.update.sent.v1", id.to_string(), data)
            }
            Subject::Several { asks, updates } => {
                let data = json!({"asks": asks, "updates": updates, "since": moment(news.since)});
                ("dev.clankie.mail.waiting.v1", "mailbox".to_owned(), data)
            }
        };
        data["title"] = json!(news.title);
        data["facts"] = json!(news.facts);
        data["command"] = json!(news.command);
        if let Some(words) = &news.words {
            data["text"] = json!(words);
        }
        json!({
            "specversion": "1.0", "id": news.id, "source": format!("urn:uuid:{}", self.store), "type": kind,
            "subject": subject, "time": moment(news.since), "datacontenttype": "application/json", "data": data,
        })
    }
}

#[async_trait]
impl Sink for Webhook {
    fn name(&self) -> &'static str {
        "webhook"
    }

    async fn tell(&self, news: &News) -> Result<(), Untold> {
        let (body, timestamp) = (self.event(news).to_string(), seconds(news.now));
        let request = self
            .client
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/cloudevents+json; charset=utf-8")
            .header("webhook-id", &news.id)
            .header("webhook-timestamp", timestamp)
            .header("webhook-signature", self.secret.sign(&news.id, timestamp, &body))
            .body(body);
        match http::send(request).await? {
            status if status.is_success() => Ok(()),
            StatusCode::GONE => Err(Untold::Gone("it answered 410: it wants nothing any more".to_owned())),
            status if status.is_redirection() => {
                Err(Untold::NotNow("it answered with a redirect, which is not followed".to_owned()))
            }
            status => Err(Untold::NotNow(format!("it answered with status {}", status.as_u16()))),
        }
    }
}

fn seconds(at: Timestamp) -> i64 {
    at.0.div_euclid(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_read_by_the_standards_rules_and_its_refusal_does_not_repeat_it() {
        let of = |bytes: usize| format!("{PREFIX}{}", STANDARD.encode(vec![7; bytes]));
        assert!(Secret::parse(&of(24)).is_ok() && Secret::parse(&of(64)).is_ok());
        for wrong in [of(23), of(65), "whsec_canary!".to_owned(), STANDARD.encode([7; 32])] {
            let refused = Secret::parse(&wrong).map(|_| ()).unwrap_err();
            assert!(!refused.to_string().contains(wrong.trim_start_matches(PREFIX)), "{refused}");
        }
    }
}
