//! Who is heard where, and what a message means: pure rules over numeric ids.
//!
//! Invariant I8: actor, room and guild come from the ids that Discord authenticated; a display
//! name, a role or a text never counts.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};

use clankie_domain::grant::{Gateway, Transport};
use clankie_domain::ids::{ActorId, DeliveryId, LaneName, Malformed, RoomId};
use clankie_domain::request::{Attachment, Request, Source, display_name};

use super::incoming::taken_in;
use super::places::At;

/// The lane of everything that comes through the bot.
const LANE: &str = "discord";
/// What stands for the words of a message that only mentions the bot.
const MENTION_ONLY: &str = "(mentioned without words)";

/// Whose direct messages are heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direct {
    /// Those of owners.
    Owners,
    /// Nobody's.
    Nobody,
    /// Everybody's.
    Everyone,
}

/// Whether a thread has the policy of the channel it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// It has.
    Inherit,
    /// It must be listed itself.
    Apart,
}

/// Whom the bot hears.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Guilds that are heard.
    pub guilds: BTreeSet<u64>,
    /// Channels that are heard; empty is every channel of those guilds.
    pub channels: BTreeSet<u64>,
    /// Whose direct messages are heard.
    pub direct: Direct,
    /// Channels where nobody needs to mention the bot.
    pub free_talk: BTreeSet<u64>,
    /// Whether a thread has its parent's policy.
    pub threads: Threads,
    /// The word that ends one's own run.
    pub stop_word: String,
    /// The owners, for direct messages.
    pub owners: Owners,
}

/// The owners as configuration has them now: all clones see a change at once.
#[derive(Debug, Clone, Default)]
pub struct Owners(Arc<RwLock<BTreeSet<ActorId>>>);

impl Owners {
    /// These, until they are replaced.
    pub fn new(owners: BTreeSet<ActorId>) -> Self {
        Self(Arc::new(RwLock::new(owners)))
    }

    /// Puts others in force.
    pub fn replace(&self, owners: BTreeSet<ActorId>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = owners;
    }

    /// All of them.
    pub(super) fn all(&self) -> BTreeSet<ActorId> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether this person is one.
    pub(super) fn contains(&self, actor: &ActorId) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).contains(actor)
    }
}

/// A channel, thread, forum post or direct conversation: each is a room of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// The guild; absent in a direct conversation.
    pub(super) guild: Option<u64>,
    /// The channel or thread.
    pub(super) channel: u64,
    /// The channel or forum that a thread belongs to.
    pub(super) parent: Option<u64>,
}

/// What kind of account wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Author {
    /// A person.
    Person,
    /// A bot, a webhook or Discord itself.
    Machine,
}

/// Whether the words are for the bot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Addressed {
    /// By a mention or a reply.
    Yes,
    /// Neither.
    No,
}

/// One message, free of the library's types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) id: u64,
    pub(super) place: Place,
    pub(super) author: Author,
    pub(super) author_id: u64,
    pub(super) author_name: String,
    pub(super) addressed: Addressed,
    pub(super) text: String,
    pub(super) attachments: Vec<Attachment>,
}

/// What a message means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meaning {
    /// It is not for the bot.
    Ignored,
    /// Its author ends their own run.
    Stop,
    /// It asks for something.
    Asks(Box<Request>),
}

impl Policy {
    /// Whether anything of this place can be for the bot. In a direct conversation it depends on who speaks.
    pub(super) fn hears(&self, place: &Place) -> bool {
        let Some(guild) = place.guild else { return self.direct != Direct::Nobody };
        if self.guilds.is_empty() && self.channels.is_empty() {
            return false;
        }
        let guild_listed = self.guilds.is_empty() || self.guilds.contains(&guild);
        guild_listed && (self.channels.is_empty() || self.listed(&self.channels, place))
    }

    /// Whether it may hear a place of which no more is known than its numbers.
    pub(super) fn may_hear(&self, at: At) -> bool {
        let At { guild, channel } = at;
        match self.threads {
            // It may be a thread of whatever channel is listed.
            Threads::Inherit => self.hears(&Place { guild, channel, parent: self.channels.first().copied() }),
            Threads::Apart => self.hears(&Place { guild, channel, parent: None }),
        }
    }

    /// Whether anything in a direct conversation can be for the bot, by who wrote it.
    pub(super) fn hears_directly(&self, author: u64) -> bool {
        match self.direct {
            Direct::Owners => actor(author).is_ok_and(|actor| self.owners.contains(&actor)),
            Direct::Nobody => false,
            Direct::Everyone => true,
        }
    }

    /// Whether a thread must be known for what it is before anything of it is judged.
    pub(super) fn asks_for_parents(&self) -> bool {
        match self.threads {
            Threads::Inherit => !self.channels.is_empty() || !self.free_talk.is_empty(),
            Threads::Apart => false,
        }
    }

    /// What `said` means; `bot` is the bot's own number.
    pub(super) fn judge(&self, said: &Said, bot: u64) -> Result<Meaning, Malformed> {
        if said.author == Author::Machine || said.author_id == bot || !self.hears(&said.place) {
            return Ok(Meaning::Ignored);
        }
        let actor = actor(said.author_id)?;
        let direct = said.place.guild.is_none();
        if direct && !self.hears_directly(said.author_id) {
            return Ok(Meaning::Ignored);
        }
        let words = without_mention(&said.text, bot);
        if words.trim().to_lowercase() == self.stop_word.to_lowercase() {
            return Ok(Meaning::Stop);
        }
        let free = direct || self.listed(&self.free_talk, &said.place);
        if said.addressed == Addressed::No && !free {
            return Ok(Meaning::Ignored);
        }
        // A sticker, a system notice or an empty embed asks for nothing.
        if said.text.trim().is_empty() && said.attachments.is_empty() {
            return Ok(Meaning::Ignored);
        }
        request(said, actor, &words).map(|request| Meaning::Asks(Box::new(request)))
    }

    fn listed(&self, list: &BTreeSet<u64>, place: &Place) -> bool {
        let by_parent = match self.threads {
            Threads::Inherit => place.parent.is_some_and(|parent| list.contains(&parent)),
            Threads::Apart => false,
        };
        by_parent || list.contains(&place.channel)
    }
}

impl Place {
    /// The room that this place is.
    pub(super) fn room(&self) -> Result<RoomId, Malformed> {
        At { guild: self.guild, channel: self.channel }.room()
    }
}

/// The channel or thread of a room that is one of Discord's.
pub(super) fn channel_of(room: &RoomId) -> Option<u64> {
    let (_, channel) = room.as_str().strip_prefix("discord:text:")?.rsplit_once(':')?;
    channel.parse().ok().filter(|channel| *channel != 0)
}

/// The message that a delivery came from. What the service minted itself came from none.
pub(super) fn message_of(delivery: &DeliveryId) -> Option<u64> {
    let id = match delivery {
        DeliveryId::Transport(id) | DeliveryId::Edit { of: id, .. } => id,
        DeliveryId::Continuation(_) => return None,
    };
    id.parse().ok().filter(|id| *id != 0)
}

/// The person of that number.
pub(super) fn actor(user: u64) -> Result<ActorId, Malformed> {
    ActorId::parse(&format!("discord:user:{user}"))
}

/// The number of a person.
pub(super) fn user_of(actor: &ActorId) -> Option<u64> {
    actor.as_str().strip_prefix("discord:user:")?.parse().ok().filter(|user| *user != 0)
}

/// The words without the mention that only says whom they are for.
pub(super) fn without_mention(text: &str, bot: u64) -> String {
    let without = text.replace(&format!("<@{bot}>"), "").replace(&format!("<@!{bot}>"), "");
    without.trim().to_owned()
}

/// How the words come: the lane of the bot, whose gateway authenticated the author itself.
pub(super) fn transport() -> Result<Transport, Malformed> {
    Ok(Transport { gateway: Gateway::DiscordText, lane: LaneName::parse(LANE)? })
}

fn request(said: &Said, actor: ActorId, words: &str) -> Result<Request, Malformed> {
    let words = if words.is_empty() && said.attachments.is_empty() { MENTION_ONLY } else { words };
    // A text never carries NUL on Discord's side; one that does must not be refused for it.
    let (text, attachments) = taken_in(&words.replace('\0', ""), &said.attachments)?;
    Ok(Request {
        room: said.place.room()?,
        delivery: DeliveryId::parse(&said.id.to_string())?,
        actor_name: display_name(&said.author_name).unwrap_or_else(|| actor.to_string()),
        actor,
        source: Source::Text,
        transport: transport()?,
        guild: said.place.guild.map(|guild| guild.to_string()),
        wanted: None,
        text,
        attachments,
        context: Vec::new(),
    })
}

#[cfg(test)]
mod tests;
