//! The Discord bot, as configuration wants it, and how the owner's surface sees it.

use std::sync::Arc;

use anyhow::Context;
use clankie_actors::ports::Clock;

use crate::config::{self, Config, DirectMessages, Environment};
use crate::files::Files;
use crate::gateways::discord::{Commands, Direct, Discord, Link, Owners, Policy, Settings, Signals, Threads};
use crate::owner::http::DiscordView;
use crate::owner::wire::DiscordBody;

/// How the owner's surface sees the bot.
struct View(Discord);

/// The bot that is configured, if one is. Needs no network.
pub(super) fn discord(
    config: &Config,
    environment: &Environment,
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<Option<Discord>> {
    let Some(bot) = &config.discord else { return Ok(None) };
    let token = bot.token.read(environment).context("the Discord bot's token")?;
    let token = token.context("the Discord bot has no token")?.expose().to_owned();
    // Each call carries it in a header, which takes no such text.
    anyhow::ensure!(
        token.chars().all(|c| c.is_ascii_graphic()),
        "the Discord bot's token is not one word: something stands beside it where it is read from"
    );
    warn_of_deaf_channels(bot);
    let settings = Settings {
        token,
        api_url: bot.api_url.as_ref().map(|url| url.as_str().trim_end_matches('/').to_owned()),
        policy: policy(bot, config),
        signals: Signals {
            seen: bot.signals.seen.clone(),
            joined: bot.signals.joined.clone(),
            done: bot.signals.done.clone(),
            busy: bot.signals.busy.clone(),
        },
        catch_up_count: bot.catch_up_count.into(),
        files: Files::of(&config.state_dir),
        catch_up_age: Some(bot.catch_up_age.duration()).filter(|age| !age.is_zero()),
    };
    Ok(Some(Discord::new(settings, Arc::clone(clock))))
}

/// A channel that is not heard is not heard where talk is free either.
fn warn_of_deaf_channels(bot: &config::Discord) {
    let deaf: Vec<&u64> = bot.free_talk.difference(&bot.channels).collect();
    if !bot.channels.is_empty() && !deaf.is_empty() {
        tracing::warn!(
            ?deaf,
            "discord.free_talk names what is not in discord.channels; only a thread of one of those is heard there"
        );
    }
}

/// The bot as the owner's surface sees it.
pub(super) fn view(discord: &Discord) -> Arc<dyn DiscordView> {
    Arc::new(View(discord.clone()))
}

fn policy(bot: &config::Discord, config: &Config) -> Policy {
    Policy {
        guilds: bot.guilds.clone(),
        channels: bot.channels.clone(),
        direct: match bot.dms {
            DirectMessages::Owners => Direct::Owners,
            DirectMessages::Nobody => Direct::Nobody,
            DirectMessages::Everyone => Direct::Everyone,
        },
        free_talk: bot.free_talk.clone(),
        threads: if bot.threads_inherit { Threads::Inherit } else { Threads::Apart },
        stop_word: bot.stop_word.clone(),
        owners: Owners::new(config.grants.owners.clone()),
    }
}

impl DiscordView for View {
    fn now(&self) -> DiscordBody {
        let stands = self.0.status();
        let link = match stands.link {
            Link::Waiting => "waiting",
            Link::Connecting => "connecting",
            Link::Open => "open",
            Link::Ready => "ready",
        };
        let commands = match stands.commands {
            Commands::NotYet => "not_yet",
            Commands::Synced => "synced",
            Commands::Refused => "refused",
        };
        DiscordBody {
            link: link.to_owned(),
            commands: commands.to_owned(),
            trouble: stands.trouble,
            identifies: stands.identifies,
            identifies_left: stands.identifies_left,
            missed: stands.missed,
        }
    }
}
