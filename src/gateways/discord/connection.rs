//! The gateway connection: in the background, for as long as it takes, within the identify budget.
//!
//! The library spawns a task for each event, so their order is lost there; messages are therefore
//! taken where it reads them, by a callback that it calls in order, straight into their lanes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use clankie_actors::{Clankie, Failure, HandoffQuery};
use clankie_domain::handoff::StateName;
use serenity::all::{
    ClientBuilder, Context, EventHandler, GatewayIntents, Guild, GuildChannel, Interaction, PartialGuildChannel, Ready,
    ShardManager,
};
use serenity::cache::Settings as CacheSettings;
use serenity::gateway::{CollectorCallback, ConnectionStage, GatewayError, ShardMessenger};
use serenity::model::event::Event;
use serenity::model::id::ShardId;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::identifies::{self, Identifies, Left, Verdict};
use super::identity::{channel_of, message_of};
use super::lanes::{Item, Lanes, Roads};
use super::limits::chain;
use super::owed::OwedSigns;
use super::places::{At, is_written_in};
use super::rest::builder;
use super::signals::{First, Trigger, follow};
use super::status::Link;
use super::translate::{is_about_messages, items};
use super::{Shared, commands, gateway, marks, waiting};

/// Rest after a failed try; doubles.
const FIRST_REST: Duration = Duration::from_secs(1);
/// Longest such rest.
const LONGEST_REST: Duration = Duration::from_secs(60);
/// How long Discord may take to say where its gateway is.
const ASK_DEADLINE: Duration = Duration::from_secs(10);
/// What is wrong when Discord knows no such token, over REST or at the gateway.
const NO_SUCH_TOKEN: &str =
    "Discord does not accept the bot's token; put a sound one where discord.token_env or discord.token_file looks";
/// How often the connection's stage is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Direct conversations that are caught up with, the most recent first.
const DIRECT_MOST: usize = 200;
/// Waiting handoffs whose signals go on after a restart: at most that many can wait.
const WAITING_MOST: usize = 256;

/// What the gateway's events are handled with.
struct Wire {
    roads: Roads,
    lanes: Lanes,
    attached: Arc<AtomicU64>,
    budget: Mutex<Budget>,
}

/// What was identified, and what Discord last said about it.
struct Budget {
    identifies: Identifies,
    /// What is left, and since when.
    left: Option<(Left, Instant)>,
}

/// Connects again and again until it is dropped.
pub(super) async fn run(shared: Arc<Shared>, clankie: Clankie) {
    let kept = match kept(&shared, &clankie).await {
        Ok(kept) => kept,
        Err(error) => {
            tracing::error!(%error, "the store does not keep anything; Discord is not connected");
            return;
        }
    };
    let roads = Roads::new(&shared, &clankie, kept);
    let (lanes, _end) = Lanes::new(roads.clone());
    let kept = clankie.bookmark(identifies::BOOKMARK).ok().flatten().unwrap_or_default();
    let identifies = Identifies::parse(&kept);
    shared.board.change(|status| status.identifies = identifies.used(shared.clock.now()));
    let wire = Arc::new(Wire {
        roads,
        lanes,
        attached: Arc::new(AtomicU64::new(0)),
        budget: Mutex::new(Budget { identifies, left: None }),
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
    wire.spend(left).await?;
    let settings = &shared.settings;
    let intents = GatewayIntents::GUILDS
        | GatewayIntents::GUILD_MESSAGES
        | GatewayIntents::DIRECT_MESSAGES
        | GatewayIntents::MESSAGE_CONTENT;
    let address = gateway::allowed(&gateway.url, settings.api_url.as_deref()).map_err(|error| error.to_string())?;
    let http = builder(&settings.token, settings.api_url.as_deref()).build();
    let building =
        ClientBuilder::new_with_http(http, intents).event_handler_arc(Arc::clone(wire)).cache_settings(no_cache());
    let built = tokio::time::timeout(ASK_DEADLINE, building).await;
    let built = built.map_err(|_| "Discord does not answer".to_owned())?;
    let mut client = built.map_err(|error| sentence(&error))?;
    // The library asks once more, unchecked, and has a fall-back of its own; it connects to, and
    // resumes at, what stands here.
    *client.ws_url.lock().await = address;
    let shards = Arc::clone(&client.shard_manager);
    let ended = tokio::select! {
        ended = client.start() => return ended.map_err(|error| sentence(&error)),
        ended = wire.look(&shards) => ended,
    };
    shards.shutdown_all().await;
    Err(ended)
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

/// Which of the library's runners is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runner {
    /// The client's first, or the one that was seen before.
    Known,
    /// The next one.
    Another,
}

/// The stage of the runner, and whether it is another one than was seen last. A runner is told from
/// the next by a callback that goes with it.
async fn stage_of(shards: &ShardManager, present: &mut Option<Weak<()>>) -> (Link, Runner) {
    let runners = shards.runners.lock().await;
    let Some(runner) = runners.get(&ShardId(0)) else { return (Link::Connecting, Runner::Known) };
    let gone = present.as_ref().is_none_or(|present| present.strong_count() == 0);
    let which = if gone && present.is_some() { Runner::Another } else { Runner::Known };
    if gone {
        let alive = Arc::new(());
        *present = Some(Arc::downgrade(&alive));
        runner.runner_tx.add_collector(CollectorCallback(Box::new(move |_| Arc::strong_count(&alive) > 0)));
    }
    let link = match runner.stage {
        ConnectionStage::Connected => Link::Ready,
        ConnectionStage::Handshake | ConnectionStage::Identifying | ConnectionStage::Resuming => Link::Open,
        // The library's enum may grow.
        ConnectionStage::Connecting | ConnectionStage::Disconnected | _ => Link::Connecting,
    };
    (link, which)
}

/// What the store kept: the signs that are owed, and where channels begin.
async fn kept(shared: &Shared, clankie: &Clankie) -> Result<(OwedSigns, u64), Failure> {
    Ok((OwedSigns::load(clankie).await?, marks::floor(clankie, shared.clock.now()).await?))
}

fn used_up(wait: Duration) -> String {
    // At least a minute is said: a wait that is nearly over is still one.
    let minutes = wait.as_secs().div_ceil(60).max(1);
    let told = if minutes < 60 { format!("{minutes} min") } else { format!("{} h", minutes.div_ceil(60)) };
    format!("the day's identifies are used up; Discord allows more in about {told}")
}

fn sentence(error: &serenity::Error) -> String {
    if let serenity::Error::Http(refused) = error
        && refused.status_code().is_some_and(|status| status.as_u16() == 401)
    {
        return NO_SUCH_TOKEN.to_owned();
    }
    let serenity::Error::Gateway(refused) = error else { return chain(error) };
    if matches!(refused, GatewayError::InvalidAuthentication) {
        return NO_SUCH_TOKEN.to_owned();
    }
    if matches!(refused, GatewayError::DisallowedGatewayIntents) {
        return "the bot lacks the message content intent; switch it on in Discord's developer portal".to_owned();
    }
    error.to_string()
}

impl Wire {
    /// Counts an identify, durably, before it is made; rests first where that is due.
    async fn spend(&self, left: Left) -> Result<(), String> {
        let mut budget = self.budget.lock().await;
        match budget.identifies.verdict(Some(left), self.roads.shared.clock.now()) {
            Verdict::Refused(wait) => return Err(used_up(wait)),
            Verdict::After(rest) => tokio::time::sleep(rest).await,
        }
        budget.left = left.spent(Duration::ZERO).map(|left| (left, Instant::now()));
        self.count(&mut budget).await
    }

    /// Counts an identify that the library made by itself. Past the budget it must make no other.
    async fn spent_by_itself(&self) -> Result<(), String> {
        let mut budget = self.budget.lock().await;
        let left = budget.left.take();
        budget.left = left.and_then(|(left, at)| Some((left.spent(at.elapsed())?, Instant::now())));
        self.count(&mut budget).await?;
        let now = self.roads.shared.clock.now();
        match left.map(|(left, _)| left) {
            left if !budget.identifies.is_over(left, now) => Ok(()),
            left => Err(used_up(left.map_or(Duration::ZERO, |left| left.reset_after))),
        }
    }

    /// Shows the stage of the connection, and counts each identify that the library makes by itself;
    /// ends when the budget is spent. A runner of the library identifies once, and a resume keeps it.
    async fn look(&self, shards: &ShardManager) -> String {
        let mut tick = tokio::time::interval(LOOK_EVERY);
        let mut present: Option<Weak<()>> = None;
        loop {
            tick.tick().await;
            let (stage, is_new) = stage_of(shards, &mut present).await;
            self.roads.shared.board.link(stage);
            // The first one was counted before it was made.
            if is_new == Runner::Another
                && let Err(why) = self.spent_by_itself().await
            {
                tracing::error!(why, "the connection to Discord is given up for now");
                return why;
            }
        }
    }

    async fn count(&self, budget: &mut Budget) -> Result<(), String> {
        let now = self.roads.shared.clock.now();
        budget.identifies.spend(now);
        let (used, left) = (budget.identifies.used(now), budget.left.map(|(left, _)| left.remaining));
        self.roads.shared.board.change(|status| (status.identifies, status.identifies_left) = (used, left));
        let kept = self.roads.clankie.keep_bookmark(identifies::BOOKMARK, budget.identifies.kept()).await;
        kept.map_err(|error| error.to_string())
    }

    /// Hears the messages of a session from now on, in order; the session before is not heard any more.
    fn attach(&self, shard: &ShardMessenger) {
        let number = self.attached.load(Ordering::Acquire) + 1;
        let (attached, epoch, lanes) = (Arc::clone(&self.attached), Arc::clone(&self.roads.epoch), self.lanes.clone());
        // What came before this moment is caught up with before anything that is heard counts.
        epoch.fetch_add(1, Ordering::AcqRel);
        shard.add_collector(CollectorCallback(Box::new(move |event| {
            if attached.load(Ordering::Acquire) > number {
                return false;
            }
            if matches!(event, Event::Ready(_)) {
                epoch.fetch_add(1, Ordering::AcqRel);
            }
            if is_about_messages(event) {
                items(event.clone()).into_iter().for_each(|(at, item)| lanes.put(at, item));
            }
            true
        })));
        self.attached.fetch_max(number, Ordering::AcqRel);
        // What was read before this moment may lack what came between, and is read again.
        self.roads.epoch.fetch_add(1, Ordering::AcqRel);
        self.lanes.catch_up();
    }

    /// Direct conversations are in no guild's list: those that the store knows are looked at.
    fn catch_up_directly(&self) {
        let Ok(mut rooms) = self.roads.clankie.rooms() else { return };
        rooms.retain(|room| room.room.as_str().starts_with("discord:text:dm:"));
        rooms.sort_by_key(|room| std::cmp::Reverse(room.last_message_at));
        for channel in rooms.iter().take(DIRECT_MOST).filter_map(|room| channel_of(&room.room)) {
            self.lanes.put(At { guild: None, channel }, Item::CatchUp { newest: None });
        }
    }

    /// Work that was waiting at the start goes on being shown.
    fn follow_waiting(&self) {
        let query = HandoffQuery { state: Some(StateName::Pending), limit: WAITING_MOST, ..HandoffQuery::default() };
        let Ok(page) = self.roads.clankie.handoffs(&query) else { return };
        for record in page.handoffs {
            let (Some(channel), Some(message)) = (channel_of(&record.room), message_of(record.quoted())) else {
                continue;
            };
            let trigger = (Trigger { channel, message }, First::Known);
            follow(&self.roads.shared, &self.roads.clankie, (record.id, StateName::Pending), trigger);
        }
    }

    fn learn(&self, channel: &GuildChannel) {
        let place = self.roads.places.learn(channel);
        if is_written_in(channel) {
            let newest = channel.last_message_id.map(|id| id.get());
            self.lanes.put(At { guild: place.guild, channel: place.channel }, Item::CatchUp { newest });
        }
    }
}

#[async_trait]
impl EventHandler for Wire {
    async fn ready(&self, context: Context, ready: Ready) {
        let shared = &self.roads.shared;
        shared.bot.store(ready.user.id.get(), Ordering::Release);
        self.attach(&context.shard);
        shared.board.change(|status| {
            status.link = Link::Ready;
            status.trouble = None;
        });
        tracing::info!(bot = ready.user.id.get(), guilds = ready.guilds.len(), "connected to Discord");
        self.follow_waiting();
        waiting::look_at_all(&self.roads, &self.lanes);
        let roads = self.roads.clone();
        tokio::spawn(async move { roads.owed.give_all(&roads.shared, &roads.clankie).await });
        self.catch_up_directly();
        commands::sync(&self.roads, ready.application.id).await;
    }

    async fn guild_create(&self, _: Context, guild: Guild, _: Option<bool>) {
        let mut channels: Vec<&GuildChannel> = guild.channels.values().chain(&guild.threads).collect();
        channels.sort_by_key(|channel| channel.id);
        for channel in channels {
            self.learn(channel);
        }
    }

    async fn channel_create(&self, _: Context, channel: GuildChannel) {
        self.learn(&channel);
    }

    async fn thread_create(&self, _: Context, thread: GuildChannel) {
        self.learn(&thread);
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
            commands::answer(self.roads.clone(), command).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_for_identifies_is_never_told_as_nothing() {
        let told = [0, 61, 3_599, 3_601].map(|seconds| used_up(Duration::from_secs(seconds)));
        let about = told.each_ref().map(|sentence| sentence.rsplit_once("in about ").unwrap().1);
        assert_eq!(about, ["1 min", "2 min", "1 h", "2 h"]);
    }
}
