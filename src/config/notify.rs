//! `[notify]`: where the owner is told that something waits, and how soon.
//!
//! The service is told secrets by variable or file only; an address may be a secret itself, so it is
//! never printed whole.

use std::fmt;
use std::path::PathBuf;

use reqwest::Url;
use serde::{Deserialize, Serialize};

use super::check::{repeatable, value, web_address};
use super::error::ConfigError;
use super::layers::Layers;
use super::model::{KeySource, is_variable};
use super::span::Span;

/// The public server of ntfy, which anybody can use without an account.
const NTFY_SERVER: &str = "https://ntfy.sh/";
/// Longest topic, in characters: ntfy's own limit.
const TOPIC_MAX: usize = 64;

/// The keys of `[notify]`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct NotifyKeys {
    pub(super) delay: Span,
    pub(super) updates: bool,
    pub(super) discord: bool,
    pub(super) ntfy: NtfyKeys,
    pub(super) webhook: WebhookKeys,
}

impl Default for NotifyKeys {
    fn default() -> Self {
        let (ntfy, webhook) = (NtfyKeys::default(), WebhookKeys::default());
        Self { delay: Span::seconds(0), updates: false, discord: true, ntfy, webhook }
    }
}

/// The keys of `[notify.ntfy]`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct NtfyKeys {
    pub(super) url: String,
    pub(super) topic: Option<String>,
    pub(super) token_env: Option<String>,
    pub(super) token_file: Option<PathBuf>,
}

impl Default for NtfyKeys {
    fn default() -> Self {
        Self { url: NTFY_SERVER.to_owned(), topic: None, token_env: None, token_file: None }
    }
}

/// The keys of `[notify.webhook]`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WebhookKeys {
    pub(super) url: Option<String>,
    pub(super) secret_env: Option<String>,
    pub(super) secret_file: Option<PathBuf>,
}

/// Where the owner is told that something waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notify {
    /// How long an ask waits before it is announced; one that is answered meanwhile never is.
    pub delay: Span,
    /// Whether updates are announced as well.
    pub updates: bool,
    /// Whether the bot, when there is one, writes to the owners.
    pub discord: bool,
    /// The topic to publish to, when one is named.
    pub ntfy: Option<Ntfy>,
    /// The address to post to, when one is named.
    pub webhook: Option<Webhook>,
}

/// A topic of an ntfy server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ntfy {
    /// The server.
    pub url: Address,
    /// The topic. On a public server whoever knows it can read it.
    pub topic: Topic,
    /// Where the access token is found, when the topic needs one.
    pub token: Option<KeySource>,
}

/// A receiver of Standard Webhooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    /// Where to post.
    pub url: Address,
    /// Where the signing secret is found.
    pub secret: KeySource,
}

/// An address that may be a secret by itself. It is never printed whole.
#[derive(Clone, PartialEq, Eq)]
pub struct Address(Url);

impl Address {
    /// The address itself, for the one request that needs it.
    pub fn expose(&self) -> &Url {
        &self.0
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Address(…)")
    }
}

/// The name of a topic. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Topic(String);

impl Topic {
    /// The name itself, for the one request that needs it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Topic(…)")
    }
}

/// What is configured.
pub(super) fn resolve(keys: &NotifyKeys, layers: &Layers) -> Result<Notify, ConfigError> {
    let NotifyKeys { delay, updates, discord, ntfy: ntfy_keys, webhook: webhook_keys } = keys;
    let (ntfy, webhook) = (ntfy(ntfy_keys, layers)?, webhook(webhook_keys, layers)?);
    Ok(Notify { delay: *delay, updates: *updates, discord: *discord, ntfy, webhook })
}

fn ntfy(keys: &NtfyKeys, layers: &Layers) -> Result<Option<Ntfy>, ConfigError> {
    let url = address("notify.ntfy.url", &keys.url, layers)?;
    let token = TOKEN.source(keys.token_env.as_deref(), keys.token_file.as_ref(), layers)?;
    let Some(topic) = &keys.topic else { return Ok(None) };
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if topic.is_empty() || topic.len() > TOPIC_MAX || !topic.chars().all(legal) {
        return Err(value("notify.ntfy.topic", topic, layers));
    }
    Ok(Some(Ntfy { url, topic: Topic(topic.clone()), token }))
}

fn webhook(keys: &WebhookKeys, layers: &Layers) -> Result<Option<Webhook>, ConfigError> {
    let secret = SECRET.source(keys.secret_env.as_deref(), keys.secret_file.as_ref(), layers)?;
    let Some(url) = &keys.url else { return Ok(None) };
    let url = address("notify.webhook.url", url, layers)?;
    let secret = secret.ok_or_else(|| ConfigError::UnsignedWebhook { at: layers.origin("notify.webhook.url") })?;
    Ok(Some(Webhook { url, secret }))
}

fn address(key: &str, text: &str, layers: &Layers) -> Result<Address, ConfigError> {
    let sound = web_address(text).filter(|url| url.fragment().is_none());
    sound.map(Address).ok_or_else(|| value(key, repeatable(text), layers))
}

/// The two keys that name one secret of a sink.
struct Named {
    variable: &'static str,
    file: &'static str,
}

const TOKEN: Named = Named { variable: "notify.ntfy.token_env", file: "notify.ntfy.token_file" };
const SECRET: Named = Named { variable: "notify.webhook.secret_env", file: "notify.webhook.secret_file" };

impl Named {
    fn source(
        &self,
        variable: Option<&str>,
        file: Option<&PathBuf>,
        layers: &Layers,
    ) -> Result<Option<KeySource>, ConfigError> {
        match (variable, file) {
            (Some(_), Some(_)) => {
                let at = layers.origin(self.file);
                Err(ConfigError::TwoSinkSecrets { variable: self.variable, file: self.file, at })
            }
            (Some(name), None) if is_variable(name) => Ok(Some(KeySource::Variable(name.to_owned()))),
            // The text is not repeated: who pastes the secret itself here must not find it in a log.
            (Some(_), None) => Err(value(self.variable, "no such name", layers)),
            (None, Some(path)) => Ok(Some(KeySource::File(path.clone()))),
            (None, None) => Ok(None),
        }
    }
}
