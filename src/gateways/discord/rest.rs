//! Calls to Discord's REST interface, each with a deadline of our own that a wait for a rate limit counts to.
//!
//! A post has four outcomes. Only a definite refusal is one, and only what never left was not sent: a
//! timeout, a lost connection, a 5xx and an answer that does not parse may all have had their effect.

use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serenity::all::{
    ChannelId, CreateAllowedMentions, CreateAttachment, CreateMessage, Http, HttpBuilder, MessageId, MessageReference,
    MessageReferenceKind, Nonce, ReactionType, UserId,
};
use serenity::http::{LightMethod, Multipart, MultipartUpload, Request, Route};
use serenity::model::channel::{Channel, Message};
use tokio::time::Instant;

use super::limits::{CallError, Limits};

/// How long one post may take, waiting for a rate limit included: Discord's own waits are up to a minute.
const POST_DEADLINE: Duration = Duration::from_secs(75);
/// How long a read may take.
pub(super) const READ_DEADLINE: Duration = Duration::from_secs(30);
/// How long a reaction or a typing signal may take: later it says nothing any more.
const SIGNAL_DEADLINE: Duration = Duration::from_secs(10);
/// What Discord says of a message that does not exist, to whom may read those that do.
const UNKNOWN_MESSAGE: i64 = 10_008;
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
    /// The file that goes along.
    pub(super) file: Option<&'a Upload>,
}

/// A file on its way out.
#[derive(Debug, Clone)]
pub(super) struct Upload {
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
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
    /// Nothing of it was taken; the same may be posted later.
    NotSent,
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
        self.post_within(draft, POST_DEADLINE).await
    }

    /// Posts once, and has nothing leave after this time.
    pub(super) async fn post_within(&self, draft: &Draft<'_>, within: Duration) -> Posted {
        let Ok(body) = serde_json::to_string(&message(draft)) else {
            return Posted::Refused("The message cannot be written down.".to_owned());
        };
        let route = Route::ChannelMessages { channel_id: ChannelId::new(draft.channel) };
        let request = Request::new(route, LightMethod::Post);
        let request = match draft.file {
            None => request.body(Some(body.into_bytes())),
            Some(file) => request.multipart(Some(form(file, body))),
        };
        match self.call::<Message>(&posts_in(draft.channel), request, Instant::now() + within.min(POST_DEADLINE)).await
        {
            Ok(stands) => Posted::Stands(stands.id.get()),
            Err(CallError::Refused { status, code }) => Posted::Refused(refusal(status, code)),
            Err(CallError::Unclear(why)) => {
                tracing::info!(channel = draft.channel, why, "the outcome of a post is unclear");
                Posted::Unclear
            }
            Err(CallError::NotSent(why)) => {
                tracing::info!(channel = draft.channel, why, "a post was not sent");
                Posted::NotSent
            }
        }
    }

    /// Returns once Discord takes posts into this channel again, however long that is.
    pub(super) async fn takes_posts(&self, channel: u64) {
        self.limits.free(&posts_in(channel)).await;
    }

    /// One page of a room's history, newest first.
    pub(super) async fn history(&self, channel: u64, page: Page) -> Result<Vec<Message>, CallError> {
        let mut params = vec![("limit", PAGE.to_string())];
        match page {
            Page::Newest => {}
            Page::Before(id) => params.push(("before", id.to_string())),
            Page::After(id) => params.push(("after", id.to_string())),
        }
        let route = Route::ChannelMessages { channel_id: ChannelId::new(channel) };
        let request = Request::new(route, LightMethod::Get).params(Some(params));
        let mut messages: Vec<Message> =
            self.call(&format!("read {channel}"), request, Instant::now() + READ_DEADLINE).await?;
        messages.sort_by_key(|message| std::cmp::Reverse(message.id));
        Ok(messages)
    }

    /// Whether a room's history may be read. Without that right Discord shows an empty history and no
    /// refusal; a single message it does refuse.
    pub(super) async fn may_read(&self, channel: u64, message: u64) -> Result<bool, CallError> {
        let (channel_id, message_id) = (ChannelId::new(channel), MessageId::new(message));
        let request = Request::new(Route::ChannelMessage { channel_id, message_id }, LightMethod::Get);
        let until = Instant::now() + READ_DEADLINE;
        match self.call::<Message>(&format!("read one {channel}"), request, until).await {
            Ok(_) | Err(CallError::Refused { code: UNKNOWN_MESSAGE, .. }) => Ok(true),
            Err(CallError::Refused { .. }) => Ok(false),
            Err(unknown @ (CallError::Unclear(_) | CallError::NotSent(_))) => Err(unknown),
        }
    }

    /// What a channel is.
    pub(super) async fn channel(&self, channel: u64) -> Result<Channel, CallError> {
        let route = Route::Channel { channel_id: ChannelId::new(channel) };
        self.call(&format!("channel {channel}"), Request::new(route, LightMethod::Get), Instant::now() + READ_DEADLINE)
            .await
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

    /// One call whose answer says nothing.
    pub(super) async fn done(&self, bucket: &str, request: Request<'_>, until: Instant) -> Result<(), CallError> {
        self.limits.send((bucket, self.http.token()), request, until).await.map(drop)
    }

    async fn signal(&self, bucket: &str, request: Request<'_>) {
        let until = Instant::now() + SIGNAL_DEADLINE;
        let Ok(_turn) = tokio::time::timeout_at(until, self.limits.turn(bucket)).await else {
            tracing::debug!(bucket, "a signal was not shown: too many stood in front of it");
            return;
        };
        if let Err(error) = self.done(bucket, request, until).await {
            tracing::debug!(bucket, %error, "a signal was not shown");
        }
    }

    /// One call and what it answers. An answer that does not parse, or breaks off, had its effect all the same.
    pub(super) async fn call<T: DeserializeOwned>(
        &self,
        bucket: &str,
        request: Request<'_>,
        until: Instant,
    ) -> Result<T, CallError> {
        let answer = self.limits.send((bucket, self.http.token()), request, until).await?;
        let body = match tokio::time::timeout_at(until, answer.bytes()).await {
            Ok(body) => body.map_err(|error| CallError::Unclear(error.to_string()))?,
            Err(late) => return Err(CallError::Unclear(late.to_string())),
        };
        serde_json::from_slice(&body).map_err(|error| CallError::Unclear(error.to_string()))
    }
}

/// The bucket of posts into this channel.
pub(super) fn posts_in(channel: u64) -> String {
    format!("post {channel}")
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

fn form(file: &Upload, body: String) -> Multipart {
    let upload = vec![CreateAttachment::bytes(file.bytes.clone(), file.name.clone())];
    Multipart { upload: MultipartUpload::Attachments(upload), fields: Vec::new(), payload_json: Some(body) }
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
