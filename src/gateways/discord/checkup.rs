//! Whether the bot that is configured can do what it is for: looked at from outside, changing nothing.
//!
//! Only Discord itself knows whether the token, the intents and the rights are right; it is asked for
//! each, and a check that it does not answer is skipped and not passed.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serenity::http::{LightMethod, Request, Route};
use serenity::model::Permissions;
use serenity::model::channel::GuildChannel;
use serenity::model::gateway::BotGateway;
use serenity::model::guild::{Member, PartialGuild};
use serenity::model::id::{ChannelId, GuildId, UserId};
use serenity::model::user::CurrentUser;
use tokio::time::Instant;

use super::Settings;
use super::gateway;
use super::identifies::LEFT_LEAST;
use super::limits::CallError;
use super::places::{is_thread, is_written_in};
use super::rest::{READ_DEADLINE, Rest};

/// Channels whose rights are looked at: each costs a call or two.
const CHANNELS_MOST: usize = 100;
/// The message content intent, as an application's flags have it: granted, or usable below a hundred guilds.
const MESSAGE_CONTENT: u64 = 1 << 18 | 1 << 19;
/// Rights without which a room is no room, and without which it only loses signs or files.
const NEEDED: [(Permissions, &str); 2] =
    [(Permissions::VIEW_CHANNEL, "see it"), (Permissions::READ_MESSAGE_HISTORY, "read its history")];
const USEFUL: [(Permissions, &str); 2] =
    [(Permissions::ADD_REACTIONS, "react"), (Permissions::ATTACH_FILES, "attach files")];

/// What one look came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// Which one, by a name that stays.
    pub id: String,
    /// What was seen.
    pub seen: Seen,
}

/// What was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// It is as it should be.
    Right(String),
    /// It is not, and what to do about it.
    Wrong(String, &'static str),
    /// Nobody can say.
    Unknown(String),
}

#[derive(Debug, Deserialize)]
struct Application {
    #[serde(default)]
    flags: u64,
}

/// Looks at everything. Nothing is posted, and no identify is spent.
pub(super) async fn look(settings: &Settings) -> Vec<Look> {
    let rest = Rest::new(&settings.token, settings.api_url.as_deref());
    let me: Result<CurrentUser, CallError> = rest.get("self", Route::UserMe).await;
    let (mut looks, me) = match me {
        Ok(me) => {
            (vec![right("reachable", "it answers".to_owned()), right("token", format!("it is {}'s", me.id))], me.id)
        }
        Err(CallError::Refused { status, .. }) => {
            let why = format!("Discord does not accept it (status {status})");
            let hint = "make a new token in Discord's developer portal and put it where the configuration looks";
            return vec![right("reachable", "it answers".to_owned()), wrong("token", why, hint)];
        }
        Err(error @ (CallError::Unclear(_) | CallError::NotSent(_))) => {
            let hint = "look at this machine's network, and at discord.api_url if it is set";
            return vec![wrong("reachable", error.to_string(), hint)];
        }
    };
    looks.push(intents(&rest).await);
    looks.push(door(&rest, settings).await);
    looks.extend(channels(&rest, settings, me).await);
    looks
}

async fn intents(rest: &Rest) -> Look {
    let application: Result<Application, CallError> = rest.get("application", Route::Oauth2ApplicationCurrent).await;
    match application {
        Ok(Application { flags }) if flags & MESSAGE_CONTENT != 0 => {
            right("intents", "message content may be read".to_owned())
        }
        Ok(_) => {
            let hint = "switch the message content intent on in Discord's developer portal";
            wrong("intents", "the bot may not read message content".to_owned(), hint)
        }
        Err(error) => unknown("intents", &error),
    }
}

async fn door(rest: &Rest, settings: &Settings) -> Look {
    let told: Result<BotGateway, CallError> = rest.get("gateway", Route::GatewayBot).await;
    let told = match told {
        Ok(told) => told,
        Err(error) => return unknown("gateway", &error),
    };
    let left = told.session_start_limit.remaining;
    match gateway::allowed(&told.url, settings.api_url.as_deref()) {
        Err(elsewhere) => {
            wrong("gateway", elsewhere.to_string(), "set discord.api_url to where the gateway is, or not at all")
        }
        Ok(_) if left <= LEFT_LEAST => {
            wrong("gateway", format!("only {left} identifies are left today"), "find out what restarts over and over")
        }
        Ok(_) => right("gateway", format!("{left} identifies are left today")),
    }
}

/// The rights in each channel that is heard: those that are listed, or else all of the guilds that are.
async fn channels(rest: &Rest, settings: &Settings, me: UserId) -> Vec<Look> {
    let policy = &settings.policy;
    let mut looks = Vec::new();
    let mut listed: BTreeSet<u64> = policy.channels.clone();
    if listed.is_empty() {
        for guild in &policy.guilds {
            let route = Route::GuildChannels { guild_id: GuildId::new(*guild) };
            let found: Result<Vec<GuildChannel>, CallError> = rest.get("channels", route).await;
            match found {
                Ok(found) => listed.extend(found.iter().filter(|one| is_written_in(one)).map(|one| one.id.get())),
                Err(error) => looks.push(in_vain(format!("guild.{guild}"), &error)),
            }
        }
    }
    for channel in listed.iter().take(CHANNELS_MOST) {
        let id = format!("channel.{channel}");
        looks.push(match rights(rest, *channel, me).await {
            Ok(seen) => Look { id: named(&id), seen },
            Err(error) => in_vain(id, &error),
        });
    }
    if let Some(more) = listed.len().checked_sub(CHANNELS_MOST).filter(|more| *more > 0) {
        looks.push(Look { id: named("channels"), seen: Seen::Unknown(format!("{more} more were not looked at")) });
    }
    looks
}

async fn rights(rest: &Rest, channel: u64, me: UserId) -> Result<Seen, CallError> {
    let channel = rest.guild_channel(ChannelId::new(channel)).await?;
    let (guild_id, in_thread) = (channel.guild_id, is_thread(&channel));
    // A thread has no rights of its own.
    let ruled_by = match channel.parent_id.filter(|_| in_thread) {
        Some(parent) => rest.guild_channel(parent).await?,
        None => channel,
    };
    let guild: PartialGuild = rest.get("guild", Route::Guild { guild_id }).await?;
    let member: Member = rest.get("member", Route::GuildMember { guild_id, user_id: me }).await?;
    let may = guild.user_permissions_in(&ruled_by, &member);
    let write = if in_thread { Permissions::SEND_MESSAGES_IN_THREADS } else { Permissions::SEND_MESSAGES };
    let missing = |rights: &[(Permissions, &'static str)]| {
        let missing = rights.iter().filter(|(right, _)| !may.contains(*right));
        missing.map(|(_, what)| *what).collect::<Vec<_>>().join(", ")
    };
    let needed = missing(&[NEEDED[0], NEEDED[1], (write, "write")]);
    let useful = missing(&USEFUL);
    Ok(match (needed.as_str(), useful.as_str()) {
        ("", "") => Seen::Right("the bot has every right that it uses".to_owned()),
        ("", useful) => Seen::Right(format!("the bot may not {useful}; words come and go")),
        (needed, _) => Seen::Wrong(format!("the bot may not {needed}"), "give its role these rights in the channel"),
    })
}

impl Rest {
    async fn get<T: DeserializeOwned>(&self, bucket: &str, route: Route<'_>) -> Result<T, CallError> {
        self.call(bucket, Request::new(route, LightMethod::Get), Instant::now() + READ_DEADLINE).await
    }

    async fn guild_channel(&self, channel_id: ChannelId) -> Result<GuildChannel, CallError> {
        self.get("channel", Route::Channel { channel_id }).await
    }
}

/// A refusal here is what everything else there would meet too.
fn in_vain(id: String, error: &CallError) -> Look {
    match error {
        CallError::Refused { status, code } => wrong(
            &id,
            format!("the bot cannot see it (status {status}, code {code})"),
            "invite the bot there, or take the number out of the configuration",
        ),
        CallError::Unclear(_) | CallError::NotSent(_) => unknown(&id, error),
    }
}

fn named(id: &str) -> String {
    format!("discord.{id}")
}

fn right(id: &str, seen: String) -> Look {
    Look { id: named(id), seen: Seen::Right(seen) }
}

fn wrong(id: &str, why: String, hint: &'static str) -> Look {
    Look { id: named(id), seen: Seen::Wrong(why, hint) }
}

fn unknown(id: &str, error: &CallError) -> Look {
    Look { id: named(id), seen: Seen::Unknown(error.to_string()) }
}
