//! Calls to Discord's REST interface, each with a deadline of our own around the library's limiter.
//!
//! A post has three outcomes. Only a definite refusal is one: a timeout, a lost connection, a 5xx
//! and an answer that does not parse may all have had their effect.

use std::sync::Arc;
use std::time::Duration;

use discord_reqwest::Response;
use serde::de::DeserializeOwned;
use serenity::all::{
    ChannelId, CreateAllowedMentions, CreateMessage, Http, HttpBuilder, MessageId, MessageReference,
    MessageReferenceKind, Nonce, ReactionType, UserId,
};
use serenity::http::{LightMethod, Request, Route};
use serenity::model::channel::{Channel, Message};

use super::limits::{CallError, Limits};

/// How long one post may take, waiting for a rate limit included: Discord's own waits are up to a minute.
const POST_DEADLINE: Duration = Duration::from_secs(75);
/// How long a read may take.
const READ_DEADLINE: Duration = Duration::from_secs(30);
/// How long a reaction or a typing signal may take: later it says nothing any more.
const SIGNAL_DEADLINE: Duration = Duration::from_secs(10);
/// Messages of one page: Discord's most.
pub(super) const PAGE: u8 = 100;

/// The REST interface.
#[derive(Debug)]
pub(super) struct Rest {
    http: Arc<Http>,
    limits: Limits,
}

/// One message to post.
#[derive(Debug, Clone)]
pub(super) struct Draft<'a> {
    pub(super) channel: u64,
    /// The message that it answers.
    pub(super) answers: Option<u64>,
    pub(super) text: &'a str,
    /// What Discord deduplicates by, at most 25 characters.
    pub(super) nonce: &'a str,
    /// The only person who may be notified.
    pub(super) asker: Option<u64>,
    pub(super) ping: Ping,
}

/// Whether the reply itself notifies the asker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ping {
    /// It does.
    Asker,
    /// It stands there quietly.
    Nobody,
}

/// What came of a post.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Posted {
    /// It stands in the room under this id.
    Stands(u64),
    /// It was definitely refused; why, as a sentence.
    Refused(String),
    /// Nobody can say.
    Unclear,
}

/// Which way to read a room's history.
#[derive(Debug, Clone, Copy)]
pub(super) enum Page {
    /// The newest.
    Newest,
    /// What stands right before this message.
    Before(u64),
    /// What stands right after this message.
    After(u64),
}

/// A read that gave nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReadError {
    /// No answer in time.
    #[error("Discord did not answer in time")]
    Late,
    /// An answer that was no success.
    #[error("{0}")]
    Failed(#[from] CallError),
}

impl Rest {
    pub(super) fn new(token: &str, api_url: Option<&str>) -> Self {
        Self { http: Arc::new(builder(token, api_url).build()), limits: Limits::new(api_url) }
    }

    /// The library's own handle, for what only it can do.
    pub(super) fn http(&self) -> &Arc<Http> {
        &self.http
    }

    /// Posts once.
    pub(super) async fn post(&self, draft: &Draft<'_>) -> Posted {
        let Ok(body) = serde_json::to_vec(&message(draft)) else {
            return Posted::Refused("The message cannot be written down.".to_owned());
        };
        let route = Route::ChannelMessages { channel_id: ChannelId::new(draft.channel) };
        let request = Request::new(route, LightMethod::Post).body(Some(body));
        match tokio::time::timeout(POST_DEADLINE, self.message(draft.channel, request)).await {
            Ok(Ok(stands)) => Posted::Stands(stands.id.get()),
            Ok(Err(CallError::Refused { status, code })) => Posted::Refused(refusal(status, code)),
            Ok(Err(CallError::Unclear(why))) => {
                tracing::info!(channel = draft.channel, why, "the outcome of a post is unclear");
                Posted::Unclear
            }
            Err(_) => Posted::Unclear,
        }
    }

    async fn message(&self, channel: u64, request: Request<'_>) -> Result<Message, CallError> {
        parsed(self.send(&format!("post {channel}"), request).await?).await
    }

    /// One page of a room's history, newest first.
    pub(super) async fn history(&self, channel: u64, page: Page) -> Result<Vec<Message>, ReadError> {
        let mut params = vec![("limit", PAGE.to_string())];
        match page {
            Page::Newest => {}
            Page::Before(id) => params.push(("before", id.to_string())),
            Page::After(id) => params.push(("after", id.to_string())),
        }
        let route = Route::ChannelMessages { channel_id: ChannelId::new(channel) };
        let request = Request::new(route, LightMethod::Get).params(Some(params));
        let mut messages: Vec<Message> = self.read(&format!("read {channel}"), request).await?;
        messages.sort_by_key(|message| std::cmp::Reverse(message.id));
        Ok(messages)
    }

    /// What a channel is.
    pub(super) async fn channel(&self, channel: u64) -> Result<Channel, ReadError> {
        let route = Route::Channel { channel_id: ChannelId::new(channel) };
        self.read(&format!("channel {channel}"), Request::new(route, LightMethod::Get)).await
    }

    /// Puts a reaction. Best effort: a room without the right for it loses a signal and no words.
    pub(super) async fn react(&self, channel: u64, message: u64, emoji: &str) {
        let emoji = ReactionType::Unicode(emoji.to_owned()).as_data();
        let (channel_id, message_id) = (ChannelId::new(channel), MessageId::new(message));
        let route = Route::ChannelMessageReactionMe { channel_id, message_id, reaction: &emoji };
        self.signal(&format!("react {channel}"), Request::new(route, LightMethod::Put)).await;
    }

    /// Shows the typing signal for some ten seconds. Best effort.
    pub(super) async fn typing(&self, channel: u64) {
        let route = Route::ChannelTyping { channel_id: ChannelId::new(channel) };
        self.signal(&format!("typing {channel}"), Request::new(route, LightMethod::Post)).await;
    }

    async fn signal(&self, bucket: &str, request: Request<'_>) {
        if let Ok(Err(error)) = tokio::time::timeout(SIGNAL_DEADLINE, self.send(bucket, request)).await {
            tracing::debug!(bucket, %error, "a signal was not shown");
        }
    }

    async fn read<T: DeserializeOwned>(&self, bucket: &str, request: Request<'_>) -> Result<T, ReadError> {
        let read = async { parsed(self.send(bucket, request).await?).await };
        match tokio::time::timeout(READ_DEADLINE, read).await {
            Ok(read) => Ok(read?),
            Err(_) => Err(ReadError::Late),
        }
    }

    async fn send(&self, bucket: &str, request: Request<'_>) -> Result<Response, CallError> {
        self.limits.send(bucket, self.http.token(), request).await
    }
}

/// An answer that does not parse had its effect all the same.
async fn parsed<T: DeserializeOwned>(answer: Response) -> Result<T, CallError> {
    let unclear = |error: &dyn std::error::Error| CallError::Unclear(error.to_string());
    let body = answer.bytes().await.map_err(|error| unclear(&error))?;
    serde_json::from_slice(&body).map_err(|error| unclear(&error))
}

/// Every client of ours is built here, so that none mentions anybody by default (field report B94).
pub(super) fn builder(token: &str, api_url: Option<&str>) -> HttpBuilder {
    // The library's limiter would send past a configured base; `Limits` stands in its place.
    let builder =
        HttpBuilder::new(token).default_allowed_mentions(CreateAllowedMentions::new()).ratelimiter_disabled(true);
    match api_url {
        Some(url) => builder.proxy(url),
        None => builder,
    }
}

fn message(draft: &Draft<'_>) -> CreateMessage {
    let asker = draft.asker.map(UserId::new);
    let replied = match draft.ping {
        Ping::Asker => asker.is_some(),
        Ping::Nobody => false,
    };
    let message = CreateMessage::new()
        .content(draft.text)
        .nonce(Nonce::String(draft.nonce.to_owned()))
        .enforce_nonce(true)
        .allowed_mentions(CreateAllowedMentions::new().users(asker).replied_user(replied));
    match draft.answers {
        Some(id) => {
            let channel = ChannelId::new(draft.channel);
            let reference = MessageReference::new(MessageReferenceKind::Default, channel);
            message.reference_message(reference.message_id(MessageId::new(id)).fail_if_not_exists(false))
        }
        None => message,
    }
}

/// Why Discord refused, for the owner who reads the record.
fn refusal(status: u16, code: i64) -> String {
    let known = match (status, code) {
        (_, 10_003) => "The channel or thread was deleted.",
        (_, 50_083) => "The thread is archived.",
        (_, 160_005) => "The thread is locked.",
        (_, 50_001) => "The bot cannot see this channel any more.",
        (_, 50_013) => "The bot may not write in this channel.",
        (_, 50_007) => "This person takes no direct messages from the bot.",
        (401, _) => "Discord does not accept the bot's token.",
        (404, _) => "The channel or thread is gone.",
        _ => return format!("Discord refused the message (status {status}, code {code})."),
    };
    known.to_owned()
}
