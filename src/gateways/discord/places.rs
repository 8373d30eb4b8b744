//! What is known about channels and threads: which guild they are in and whose thread they are.
//!
//! Kept from the gateway's own events, and asked for where those are missing. It is no authority:
//! whether a place is heard is decided by number each time.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use clankie_domain::ids::{Malformed, RoomId};
use serenity::model::channel::{Channel, ChannelType, GuildChannel};

use super::Shared;
use super::identity::Place;
use super::limits::CallError;

/// Most places that are remembered; beyond it the map starts anew and asks again.
const PLACES_MAX: usize = 20_000;

/// Where something happened, as every event says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct At {
    /// The guild; absent in a direct conversation.
    pub(super) guild: Option<u64>,
    /// The channel or thread.
    pub(super) channel: u64,
}

/// What a look-up of a place came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Looked {
    /// It is this.
    Here(Place),
    /// The bot cannot see it, or it is gone.
    Nowhere,
    /// Discord did not say; it must be asked again.
    Unknown,
}

/// The known places, by channel.
#[derive(Debug, Default)]
pub(super) struct Places(Mutex<BTreeMap<u64, Place>>);

impl Places {
    /// Remembers a channel or thread.
    pub(super) fn learn(&self, channel: &GuildChannel) -> Place {
        let place = place(channel);
        let mut map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if map.len() >= PLACES_MAX {
            map.clear();
        }
        map.insert(place.channel, place);
        place
    }

    /// Forgets a channel or thread that is gone.
    pub(super) fn forget(&self, channel: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&channel);
    }

    /// The place, if it is known without asking. A message outside a guild is a direct one.
    pub(super) fn known(&self, at: At) -> Option<Place> {
        let At { guild, channel } = at;
        if guild.is_none() {
            return Some(Place { guild, channel, parent: None });
        }
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&channel).copied()
    }

    /// The place; Discord is asked where it matters and is not known.
    pub(super) async fn find(&self, shared: &Shared, at: At) -> Looked {
        let At { guild, channel } = at;
        if let Some(known) = self.known(at) {
            return Looked::Here(known);
        }
        let plain = Looked::Here(Place { guild, channel, parent: None });
        if !shared.settings.policy.asks_for_parents() {
            return plain;
        }
        match shared.rest.channel(channel).await {
            Ok(Channel::Guild(found)) => Looked::Here(self.learn(&found)),
            // A plain channel needs no more than its number; a thread is then simply not listed.
            Ok(_) => plain,
            Err(error @ CallError::Refused { .. }) => {
                tracing::debug!(channel, %error, "a channel cannot be seen");
                Looked::Nowhere
            }
            Err(error @ (CallError::Unclear(_) | CallError::NotSent(_))) => {
                tracing::info!(channel, %error, "a channel could not be asked for; it is asked for again");
                Looked::Unknown
            }
        }
    }
}

impl At {
    /// The room that is there.
    pub(super) fn room(&self) -> Result<RoomId, Malformed> {
        match self.guild {
            Some(guild) => RoomId::parse(&format!("discord:text:{guild}:{}", self.channel)),
            None => RoomId::parse(&format!("discord:text:dm:{}", self.channel)),
        }
    }
}

/// Whether people write there.
pub(super) fn is_written_in(channel: &GuildChannel) -> bool {
    matches!(channel.kind, ChannelType::Text | ChannelType::News | ChannelType::Voice) || is_thread(channel)
}

/// Whether it is a thread or a forum post.
pub(super) fn is_thread(channel: &GuildChannel) -> bool {
    matches!(channel.kind, ChannelType::PublicThread | ChannelType::PrivateThread | ChannelType::NewsThread)
}

fn place(channel: &GuildChannel) -> Place {
    let parent = channel.parent_id.filter(|_| is_thread(channel)).map(|parent| parent.get());
    Place { guild: Some(channel.guild_id.get()), channel: channel.id.get(), parent }
}
