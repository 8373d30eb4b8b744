//! `[discord]`: the bot, whom it hears and how it shows what it does. Ids are numbers; names never count.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::PathBuf;

use reqwest::Url;
use serde::{Deserialize, Serialize};

use super::check::{is_number, repeatable, value, web_address};
use super::error::ConfigError;
use super::layers::Layers;
use super::model::{KeySource, is_variable};
use super::span::Span;

/// Missed messages of one channel that are still answered: about what a room says in a busy minute.
const CATCH_UP_COUNT: u16 = 20;
/// Most of them: one page of Discord's own history.
const CATCH_UP_MOST: u16 = 100;
/// Age beyond which a missed message is noted and not answered: its asker has moved on.
const CATCH_UP_AGE: Span = Span::seconds(15 * 60);
/// Longest stop word, in characters.
const STOP_WORD_MAX: usize = 32;
/// Longest emoji, in bytes: a family of four joined together fits.
const EMOJI_MAX: usize = 64;

/// The keys of `[discord]`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct DiscordKeys {
    pub(super) token_env: Option<String>,
    pub(super) token_file: Option<PathBuf>,
    pub(super) api_url: Option<String>,
    pub(super) guilds: BTreeSet<String>,
    pub(super) channels: BTreeSet<String>,
    pub(super) dms: DirectMessages,
    pub(super) free_talk: BTreeSet<String>,
    pub(super) threads_inherit: bool,
    pub(super) stop_word: String,
    pub(super) reaction_seen: String,
    pub(super) reaction_joined: String,
    pub(super) reaction_done: String,
    pub(super) reaction_busy: String,
    pub(super) catch_up_count: u16,
    pub(super) catch_up_age: Span,
}

impl Default for DiscordKeys {
    fn default() -> Self {
        Self {
            token_env: None,
            token_file: None,
            api_url: None,
            guilds: BTreeSet::new(),
            channels: BTreeSet::new(),
            dms: DirectMessages::Owners,
            free_talk: BTreeSet::new(),
            threads_inherit: false,
            stop_word: "stop".to_owned(),
            reaction_seen: "👀".to_owned(),
            reaction_joined: "➕".to_owned(),
            reaction_done: "✅".to_owned(),
            reaction_busy: "⏳".to_owned(),
            catch_up_count: CATCH_UP_COUNT,
            catch_up_age: CATCH_UP_AGE,
        }
    }
}

/// Whose direct messages are heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DirectMessages {
    /// Those of owners.
    Owners,
    /// Nobody's.
    Nobody,
    /// Everybody's.
    Everyone,
}

/// A bot that is to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discord {
    /// Where its token is found.
    pub token: KeySource,
    /// Another API base than Discord's own.
    pub api_url: Option<Url>,
    /// Guilds that are heard.
    pub guilds: BTreeSet<u64>,
    /// Channels that are heard; empty is every channel of those guilds.
    pub channels: BTreeSet<u64>,
    /// Whose direct messages are heard.
    pub dms: DirectMessages,
    /// Channels where nobody needs to mention the bot.
    pub free_talk: BTreeSet<u64>,
    /// Whether a thread has its parent's policy.
    pub threads_inherit: bool,
    /// The word that ends one's own run.
    pub stop_word: String,
    /// The small signals.
    pub signals: Signals,
    /// Missed messages of one channel that are still answered.
    pub catch_up_count: u16,
    /// Age beyond which a missed message is noted and not answered; zero is no such bound.
    pub catch_up_age: Span,
}

/// The reaction of each signal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signals {
    /// Accepted.
    pub seen: String,
    /// Joined the speaker's running handoff.
    pub joined: String,
    /// Over.
    pub done: String,
    /// Told busy.
    pub busy: String,
}

/// The bot that is configured, if one is.
pub(super) fn resolve(keys: &DiscordKeys, layers: &Layers) -> Result<Option<Discord>, ConfigError> {
    let numbers = |key: &str, ids: &BTreeSet<String>| {
        let number = |id: &String| {
            let parsed = id.parse().ok().filter(|number| is_number(id) && *number != 0);
            parsed.ok_or_else(|| value(key, id, layers))
        };
        ids.iter().map(number).collect::<Result<BTreeSet<u64>, _>>()
    };
    let (guilds, channels) = (numbers("discord.guilds", &keys.guilds)?, numbers("discord.channels", &keys.channels)?);
    let free_talk = numbers("discord.free_talk", &keys.free_talk)?;
    let refused = |text: &String| value("discord.api_url", repeatable(text), layers);
    let api_url = keys.api_url.as_ref().map(|text| base(text).ok_or_else(|| refused(text))).transpose()?;
    let signals = signals(keys, layers)?;
    let stop_word = keys.stop_word.trim().to_owned();
    if stop_word.is_empty() || stop_word.chars().count() > STOP_WORD_MAX {
        return Err(value("discord.stop_word", &keys.stop_word, layers));
    }
    if keys.catch_up_count > CATCH_UP_MOST {
        return Err(value("discord.catch_up_count", keys.catch_up_count, layers));
    }
    let Some(token) = token(keys, layers)? else { return no_bot(keys, layers) };
    Ok(Some(Discord {
        token,
        api_url,
        guilds,
        channels,
        dms: keys.dms,
        free_talk,
        threads_inherit: keys.threads_inherit,
        stop_word,
        signals,
        catch_up_count: keys.catch_up_count,
        catch_up_age: keys.catch_up_age,
    }))
}

/// Who says where it is to be heard wants a bot.
fn no_bot(keys: &DiscordKeys, layers: &Layers) -> Result<Option<Discord>, ConfigError> {
    let places = [
        ("discord.guilds", &keys.guilds),
        ("discord.channels", &keys.channels),
        ("discord.free_talk", &keys.free_talk),
    ];
    match places.into_iter().find(|(_, named)| !named.is_empty()) {
        Some((key, _)) => Err(ConfigError::NoToken { key, at: layers.origin(key) }),
        None => Ok(None),
    }
}

fn base(text: &str) -> Option<Url> {
    let bare = |url: &Url| url.path() == "/" && url.query().is_none() && url.fragment().is_none();
    web_address(text).filter(|url| bare(url) && (url.scheme() == "https" || is_this_machine(url)))
}

/// The token goes there with every call: in clear text it stays on this machine.
fn is_this_machine(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

fn signals(keys: &DiscordKeys, layers: &Layers) -> Result<Signals, ConfigError> {
    let emoji = |key: &str, text: &String| {
        let sound = !text.is_empty() && text.len() <= EMOJI_MAX && !text.chars().any(|c| c.is_ascii_alphanumeric());
        if sound { Ok(text.clone()) } else { Err(value(key, text, layers)) }
    };
    Ok(Signals {
        seen: emoji("discord.reaction_seen", &keys.reaction_seen)?,
        joined: emoji("discord.reaction_joined", &keys.reaction_joined)?,
        done: emoji("discord.reaction_done", &keys.reaction_done)?,
        busy: emoji("discord.reaction_busy", &keys.reaction_busy)?,
    })
}

fn token(keys: &DiscordKeys, layers: &Layers) -> Result<Option<KeySource>, ConfigError> {
    match (&keys.token_env, &keys.token_file) {
        (Some(_), Some(_)) => Err(ConfigError::TwoTokens { at: layers.origin("discord.token_file") }),
        (Some(name), None) if is_variable(name) => Ok(Some(KeySource::Variable(name.clone()))),
        // The text is not repeated: who pastes the token itself here must not find it in a log.
        (Some(_), None) => Err(value("discord.token_env", "no such name", layers)),
        (None, Some(path)) => Ok(Some(KeySource::File(path.clone()))),
        (None, None) => Ok(None),
    }
}
