//! The gateway connection: in the background, for as long as it takes, within the identify budget.
//!
//! The library spawns a task for each event, so their order is lost there; messages are therefore
//! taken where it reads them, by a callback that it calls in order, and go into one queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use clankie_actors::{Clankie, HandoffQuery};
use clankie_domain::handoff::StateName;
use serenity::all::{
    ClientBuilder, Context, EventHandler, GatewayIntents, Guild, GuildChannel, Interaction, PartialGuildChannel, Ready,
    ShardManager, ShardStageUpdateEvent,
};
use serenity::cache::Settings as CacheSettings;
use serenity::gateway::{CollectorCallback, ConnectionStage, GatewayError, ShardMessenger};
use serenity::model::event::Event;
use serenity::model::id::ShardId;
use tokio::sync::{Mutex, Notify, mpsc};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::catch_up::snowflake;
use super::identifies::{self, Identifies, Left, Verdict};
use super::identity::{Place, channel_of, message_of};
use super::lanes::{Item, Lanes, Roads};
use super::limits::chain;
use super::places::{Places, is_written_in};
use super::rest::builder;
use super::signals::{First, Trigger, follow};
use super::status::Link;
use super::{Shared, commands};

/// Rest after a failed try; doubles.
const FIRST_REST: Duration = Duration::from_secs(1);
/// Longest such rest.
const LONGEST_REST: Duration = Duration::from_secs(60);
/// How long Discord may take to say where its gateway is.
const ASK_DEADLINE: Duration = Duration::from_secs(10);
/// How often the connection's stage is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// The address that the library falls back to when it cannot ask.
const REAL_GATEWAY: &str = "gateway.discord.gg";
/// When the bot first ran, as a snowflake: nothing before it was ever for us.
const BORN: &str = "discord:born";
/// Direct conversations that are caught up with, the most recent first.
const DIRECT_MOST: usize = 200;
/// Waiting handoffs whose signals go on after a restart: at most that many can wait.
const WAITING_MOST: usize = 256;

/// What the gateway's events are handled with.
struct Wire {
    roads: Roads,
    lanes: Lanes,
    /// What piles up here is what Discord sends while the lanes wait for commits.
    events: mpsc::UnboundedSender<Event>,
    attached: Arc<AtomicU64>,
    /// Whether the present session's callback is in place already.
    hears: AtomicBool,
    identifies: Mutex<Identifies>,
    /// Whether the next identify was counted before it was made.
    counted: AtomicBool,
    /// Tells that the present connection must end: the library would go on identifying.
    give_up: Notify,
}

/// Connects again and again until it is dropped.
pub(super) async fn run(shared: Arc<Shared>, clankie: Clankie) {
    let Some(born) = born(&shared, &clankie).await else { return };
    let (events, heard) = mpsc::unbounded_channel();
    let (places, epoch) = (Arc::new(Places::default()), Arc::new(AtomicU64::new(0)));
    let roads = Roads { shared: Arc::clone(&shared), clankie: clankie.clone(), places, epoch, born };
    let mut tasks = JoinSet::new();
    let lanes = Lanes::start(&roads, &mut tasks);
    tasks.spawn(pump(heard, lanes.clone()));
    let kept = clankie.bookmark(identifies::BOOKMARK).ok().flatten().unwrap_or_default();
    let wire = Arc::new(Wire {
        roads,
        lanes,
        events,
        attached: Arc::new(AtomicU64::new(0)),
        hears: AtomicBool::new(false),
        identifies: Mutex::new(Identifies::parse(&kept)),
        counted: AtomicBool::new(false),
        give_up: Notify::new(),
    });
    let mut rest = FIRST_REST;
    loop {
        let began = Instant::now();
        shared.board.link(Link::Connecting);
        let why = match connect(&wire).await {
            Ok(()) => "the connection ended".to_owned(),
            Err(why) => why,
        };
        // What held for a while was no failed try.
        if began.elapsed() > LONGEST_REST {
            rest = FIRST_REST;
        }
        shared.board.link(Link::Waiting);
        tracing::warn!(why, rest_s = rest.as_secs(), "not connected to Discord; it is tried again");
        shared.board.change(|status| status.trouble = Some(why));
        tokio::time::sleep(rest).await;
        rest = (rest * 2).min(LONGEST_REST);
    }
}

/// One client, from asking where the gateway is to its end.
async fn connect(wire: &Arc<Wire>) -> Result<(), String> {
    let shared = &wire.roads.shared;
    let asked = tokio::time::timeout(ASK_DEADLINE, shared.rest.http().get_bot_gateway()).await;
    let gateway = asked.map_err(|_| "Discord does not answer".to_owned())?.map_err(|error| sentence(&error))?;
    let limit = &gateway.session_start_limit;
    let left = Left { remaining: limit.remaining, reset_after: Duration::from_millis(limit.reset_after) };
    shared.board.change(|status| status.identifies_left = Some(left.remaining));
    wire.spend(Some(left)).await?;
    wire.counted.store(true, Ordering::Release);
    let settings = &shared.settings;
    let intents = GatewayIntents::GUILDS
        | GatewayIntents::GUILD_MESSAGES
        | GatewayIntents::DIRECT_MESSAGES
        | GatewayIntents::MESSAGE_CONTENT;
    let http = builder(&settings.token, settings.api_url.as_deref()).build();
    let building =
        ClientBuilder::new_with_http(http, intents).event_handler_arc(Arc::clone(wire)).cache_settings(no_cache());
    let mut client = building.await.map_err(|error| sentence(&error))?;
    let address = client.ws_url.lock().await.clone();
    if settings.api_url.is_some() && address.contains(REAL_GATEWAY) {
        return Err("the configured api_url names no gateway of its own, and Discord's own is not used then".to_owned());
    }
    let shards = Arc::clone(&client.shard_manager);
    tokio::select! {
        ended = client.start() => ended.map_err(|error| sentence(&error)),
        () = look(shared, &shards) => Ok(()),
        () = wire.give_up.notified() => {
            shards.shutdown_all().await;
            Err("the day's identifies are used up".to_owned())
        }
    }
}

/// Domain truth stands in the store; the library's cache would only grow with the guilds.
fn no_cache() -> CacheSettings {
    let mut cache = CacheSettings::default();
    cache.max_messages = 0;
    cache.cache_guilds = false;
    cache.cache_channels = false;
    cache.cache_users = false;
    cache
}

/// Shows the stage of the connection, for as long as the client runs.
async fn look(shared: &Shared, shards: &ShardManager) {
    let mut tick = tokio::time::interval(LOOK_EVERY);
    loop {
        tick.tick().await;
        let stage = shards.runners.lock().await.get(&ShardId(0)).map(|runner| runner.stage);
        let link = match stage {
            Some(ConnectionStage::Connected) => Link::Ready,
            Some(ConnectionStage::Handshake | ConnectionStage::Identifying | ConnectionStage::Resuming) => Link::Open,
            Some(_) | None => Link::Connecting,
        };
        shared.board.link(link);
    }
}

/// Brings events into their channels' lanes, in the order in which they were read.
async fn pump(mut heard: mpsc::UnboundedReceiver<Event>, lanes: Lanes) {
    while let Some(event) = heard.recv().await {
        for item in items(event) {
            lanes.put(item).await;
        }
    }
}

fn is_about_messages(event: &Event) -> bool {
    matches!(
        event,
        Event::MessageCreate(_) | Event::MessageUpdate(_) | Event::MessageDelete(_) | Event::MessageDeleteBulk(_)
    )
}

fn items(event: Event) -> Vec<Item> {
    if let Event::MessageCreate(created) = event {
        return vec![Item::Message(Box::new(created.message))];
    }
    if let Event::MessageUpdate(update) = event {
        return vec![Item::Edited(Box::new(update))];
    }
    let (channel, guild, gone) = if let Event::MessageDelete(gone) = event {
        (gone.channel_id, gone.guild_id, vec![gone.message_id])
    } else if let Event::MessageDeleteBulk(gone) = event {
        (gone.channel_id, gone.guild_id, gone.ids)
    } else {
        return Vec::new();
    };
    let (channel, guild) = (channel.get(), guild.map(|guild| guild.get()));
    gone.iter().map(|message| Item::Deleted { channel, guild, message: message.get() }).collect()
}

async fn born(shared: &Shared, clankie: &Clankie) -> Option<u64> {
    let kept = clankie.bookmark(BORN).ok()?.and_then(|text| text.parse().ok());
    if kept.is_some() {
        return kept;
    }
    let born = snowflake(shared.clock.now());
    match clankie.keep_bookmark(BORN, born.to_string()).await {
        Ok(()) => Some(born),
        Err(error) => {
            tracing::error!(%error, "the store does not keep anything; Discord is not connected");
            None
        }
    }
}

fn sentence(error: &serenity::Error) -> String {
    let serenity::Error::Gateway(refused) = error else { return chain(error) };
    if matches!(refused, GatewayError::InvalidAuthentication) {
        return "Discord does not accept the bot's token".to_owned();
    }
    if matches!(refused, GatewayError::DisallowedGatewayIntents) {
        return "the bot lacks the message content intent; switch it on in Discord's developer portal".to_owned();
    }
    error.to_string()
}

impl Wire {
    /// Counts an identify, durably, before it is made; rests first where that is due.
    async fn spend(&self, left: Option<Left>) -> Result<(), String> {
        let shared = &self.roads.shared;
        let mut identifies = self.identifies.lock().await;
        match identifies.verdict(left, shared.clock.now()) {
            Verdict::Refused(wait) => {
                let hours = wait.as_secs() / 3_600;
                return Err(format!("the day's identifies are used up; Discord allows more in about {hours} h"));
            }
            Verdict::After(rest) => tokio::time::sleep(rest).await,
        }
        let now = shared.clock.now();
        identifies.spend(now);
        let used = identifies.used(now);
        shared.board.change(|status| status.identifies = used);
        let kept = self.roads.clankie.keep_bookmark(identifies::BOOKMARK, identifies.kept()).await;
        kept.map_err(|error| error.to_string())
    }

    /// Hears the messages of a session from now on, in order; the session before is not heard any more.
    fn attach(&self, shard: &ShardMessenger) {
        let number = self.attached.load(Ordering::Acquire) + 1;
        let (attached, epoch, events) =
            (Arc::clone(&self.attached), Arc::clone(&self.roads.epoch), self.events.clone());
        // What came before this moment is caught up with.
        epoch.fetch_add(1, Ordering::AcqRel);
        shard.add_collector(CollectorCallback(Box::new(move |event| {
            if attached.load(Ordering::Acquire) > number {
                return false;
            }
            if matches!(event, Event::Ready(_)) {
                epoch.fetch_add(1, Ordering::AcqRel);
            }
            !is_about_messages(event) || events.send(event.clone()).is_ok()
        })));
        self.attached.fetch_max(number, Ordering::AcqRel);
    }

    /// Direct conversations are in no guild's list: those that the store knows are looked at.
    async fn catch_up_directly(&self) {
        let Ok(mut rooms) = self.roads.clankie.rooms() else { return };
        rooms.retain(|room| room.room.as_str().starts_with("discord:text:dm:"));
        rooms.sort_by_key(|room| std::cmp::Reverse(room.last_message_at));
        for channel in rooms.iter().take(DIRECT_MOST).filter_map(|room| channel_of(&room.room)) {
            let place = Place { guild: None, channel, parent: None };
            self.lanes.put(Item::CatchUp { place, newest: None }).await;
        }
    }

    /// Work that was waiting at the start goes on being shown.
    fn follow_waiting(&self) {
        let query = HandoffQuery { state: Some(StateName::Pending), limit: WAITING_MOST, ..HandoffQuery::default() };
        let Ok(page) = self.roads.clankie.handoffs(&query) else { return };
        for record in page.handoffs {
            let (Some(channel), Some(message)) = (channel_of(&record.room), message_of(&record.delivery)) else {
                continue;
            };
            let trigger = (Trigger { channel, message }, First::Known);
            follow(&self.roads.shared, &self.roads.clankie, (record.id, StateName::Pending), trigger);
        }
    }

    async fn learn(&self, channel: &GuildChannel) {
        let place = self.roads.places.learn(channel);
        if is_written_in(channel) {
            let newest = channel.last_message_id.map(|id| id.get());
            self.lanes.put(Item::CatchUp { place, newest }).await;
        }
    }
}

#[async_trait]
impl EventHandler for Wire {
    async fn shard_stage_update(&self, context: Context, event: ShardStageUpdateEvent) {
        if event.new != ConnectionStage::Identifying {
            return;
        }
        self.hears.store(true, Ordering::Release);
        self.attach(&context.shard);
        if !self.counted.swap(false, Ordering::AcqRel)
            && let Err(why) = self.spend(None).await
        {
            // The library identifies again by itself; past the budget it must not.
            tracing::error!(why, "the connection to Discord is given up for now");
            self.give_up.notify_one();
        }
    }

    async fn ready(&self, context: Context, ready: Ready) {
        let shared = &self.roads.shared;
        shared.bot.store(ready.user.id.get(), Ordering::Release);
        shared.rest.http().set_application_id(ready.application.id);
        if !self.hears.swap(false, Ordering::AcqRel) {
            self.attach(&context.shard);
        }
        shared.board.change(|status| {
            status.link = Link::Ready;
            status.trouble = None;
        });
        tracing::info!(bot = ready.user.id.get(), guilds = ready.guilds.len(), "connected to Discord");
        self.follow_waiting();
        self.catch_up_directly().await;
        commands::sync(shared).await;
    }

    async fn guild_create(&self, _: Context, guild: Guild, _: Option<bool>) {
        let mut channels: Vec<&GuildChannel> = guild.channels.values().chain(&guild.threads).collect();
        channels.sort_by_key(|channel| channel.id);
        for channel in channels {
            self.learn(channel).await;
        }
    }

    async fn channel_create(&self, _: Context, channel: GuildChannel) {
        self.learn(&channel).await;
    }

    async fn thread_create(&self, _: Context, thread: GuildChannel) {
        self.learn(&thread).await;
    }

    async fn thread_update(&self, _: Context, _: Option<GuildChannel>, thread: GuildChannel) {
        self.roads.places.learn(&thread);
    }

    async fn thread_delete(&self, _: Context, thread: PartialGuildChannel, _: Option<GuildChannel>) {
        self.roads.places.forget(thread.id.get());
    }

    async fn channel_delete(
        &self,
        _: Context,
        channel: GuildChannel,
        _: Option<Vec<serenity::model::channel::Message>>,
    ) {
        self.roads.places.forget(channel.id.get());
    }

    async fn interaction_create(&self, _: Context, interaction: Interaction) {
        if let Interaction::Command(command) = interaction {
            let (shared, clankie) = (Arc::clone(&self.roads.shared), self.roads.clankie.clone());
            commands::answer(shared, clankie, Arc::clone(&self.roads.places), command).await;
        }
    }
}
