//! A plain serenity client with no policy: it writes down what it hears, and can be stopped.

use std::sync::Arc;
use std::time::Duration;

use serenity::all::{
    Client, ClientBuilder, Context, EventHandler, GatewayIntents, Guild, Http, HttpBuilder, Interaction, Message,
    MessageUpdateEvent, Reaction, Ready, ResumedEvent, ShardManager,
};
use serenity::async_trait;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

use crate::fake::{FakeDiscord, STUCK};

/// What serenity handed over.
#[derive(Debug)]
pub(crate) enum Heard {
    Ready,
    Guild(Box<Guild>),
    Resumed,
    Said(Box<Message>),
    Edited(u64, String),
    Reacted(String),
    Used(Box<Interaction>),
    Thread(u64, bool),
}

pub(crate) struct Bot {
    pub(crate) http: Arc<Http>,
    heard: UnboundedReceiver<Heard>,
    shards: Arc<ShardManager>,
    running: JoinHandle<()>,
}

struct Ear(UnboundedSender<Heard>);

#[async_trait]
impl EventHandler for Ear {
    async fn ready(&self, _: Context, _: Ready) {
        let _ = self.0.send(Heard::Ready);
    }
    async fn guild_create(&self, _: Context, guild: Guild, _: Option<bool>) {
        let _ = self.0.send(Heard::Guild(Box::new(guild)));
    }
    async fn resume(&self, _: Context, _: ResumedEvent) {
        let _ = self.0.send(Heard::Resumed);
    }
    async fn message(&self, _: Context, message: Message) {
        let _ = self.0.send(Heard::Said(Box::new(message)));
    }
    async fn message_update(&self, _: Context, _: Option<Message>, _: Option<Message>, event: MessageUpdateEvent) {
        let _ = self.0.send(Heard::Edited(event.id.get(), event.content.unwrap_or_default()));
    }
    async fn reaction_add(&self, _: Context, reaction: Reaction) {
        let _ = self.0.send(Heard::Reacted(reaction.emoji.to_string()));
    }
    async fn interaction_create(&self, _: Context, interaction: Interaction) {
        let _ = self.0.send(Heard::Used(Box::new(interaction)));
    }
    async fn thread_create(&self, _: Context, thread: serenity::all::GuildChannel) {
        let _ = self.0.send(Heard::Thread(thread.id.get(), false));
    }
    async fn thread_update(
        &self,
        _: Context,
        _: Option<serenity::all::GuildChannel>,
        thread: serenity::all::GuildChannel,
    ) {
        let archived = thread.thread_metadata.is_some_and(|metadata| metadata.archived);
        let _ = self.0.send(Heard::Thread(thread.id.get(), archived));
    }
}

/// A client for REST alone. Its rate limiter must be off: serenity's leaves the proxy out of the
/// calls that it makes.
pub(crate) fn http(fake: &FakeDiscord) -> Http {
    let _ = rustls::crypto::ring::default_provider().install_default();
    HttpBuilder::new(fake.token()).proxy(fake.url()).ratelimiter_disabled(true).build()
}

impl Bot {
    pub(crate) async fn start(fake: &FakeDiscord) -> Self {
        let (tell, heard) = unbounded_channel();
        let intents = GatewayIntents::non_privileged() | GatewayIntents::MESSAGE_CONTENT;
        let builder = ClientBuilder::new_with_http(http(fake), intents).event_handler(Ear(tell));
        let mut client: Client = builder.await.unwrap();
        let (http, shards) = (Arc::clone(&client.http), Arc::clone(&client.shard_manager));
        let running = tokio::spawn(async move {
            let _ = client.start().await;
        });
        Self { http, heard, shards, running }
    }

    /// The next thing heard that this says something about.
    pub(crate) async fn hear<T>(&mut self, wanted: impl Fn(&Heard) -> Option<T>) -> T {
        let waiting = async {
            loop {
                let heard = self.heard.recv().await.expect("the client ended");
                if let Some(found) = wanted(&heard) {
                    return found;
                }
            }
        };
        tokio::time::timeout(STUCK, waiting).await.expect("nothing like it was heard")
    }

    pub(crate) async fn message(&mut self, words: &str) -> Message {
        self.hear(|heard| match heard {
            Heard::Said(message) if message.content.contains(words) => Some((**message).clone()),
            _ => None,
        })
        .await
    }

    pub(crate) async fn ready(&mut self) {
        self.hear(|heard| matches!(heard, Heard::Ready).then_some(())).await;
    }

    pub(crate) async fn stop(self) {
        self.shards.shutdown_all().await;
        tokio::time::timeout(Duration::from_secs(20), self.running).await.unwrap().unwrap();
    }
}
