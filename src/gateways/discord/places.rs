//! What is known about channels and threads: which guild they are in and whose thread they are.
//!
//! Kept from the gateway's own events, and asked for where those are missing. It is no authority:
//! whether a place is heard is decided by number each time.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serenity::model::channel::{Channel, ChannelType, GuildChannel};

use super::Shared;
use super::identity::Place;

/// Most places that are remembered; beyond it the map starts anew and asks again.
const PLACES_MAX: usize = 20_000;

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

    /// The place of a channel; `guild` as an event had it: a message outside a guild is a direct one.
    pub(super) async fn find(&self, shared: &Shared, channel: u64, guild: Option<u64>) -> Place {
        let direct = Place { guild: None, channel, parent: None };
        let Some(guild) = guild else { return direct };
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&channel).copied();
        if let Some(known) = known {
            return known;
        }
        match shared.rest.channel(channel).await {
            Ok(Channel::Guild(found)) => self.learn(&found),
            // A plain channel needs no more than its number; a thread is then simply not listed.
            Ok(_) => Place { guild: Some(guild), ..direct },
            Err(error) => {
                tracing::debug!(channel, %error, "a channel could not be asked for");
                Place { guild: Some(guild), ..direct }
            }
        }
    }
}

/// Whether people write there.
pub(super) fn is_written_in(channel: &GuildChannel) -> bool {
    matches!(channel.kind, ChannelType::Text | ChannelType::News | ChannelType::Voice) || is_thread(channel)
}

fn is_thread(channel: &GuildChannel) -> bool {
    matches!(channel.kind, ChannelType::PublicThread | ChannelType::PrivateThread | ChannelType::NewsThread)
}

fn place(channel: &GuildChannel) -> Place {
    let parent = channel.parent_id.filter(|_| is_thread(channel)).map(|parent| parent.get());
    Place { guild: Some(channel.guild_id.get()), channel: channel.id.get(), parent }
}
