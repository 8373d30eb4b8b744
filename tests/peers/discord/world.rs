//! What stands in this Discord: people, guilds, channels, messages, sessions, and the log.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::dispatch::Wires;
use super::faults::{Calls, Fault};
use super::ids::{Channel, Guild, Interaction, Message, Mint, Person};
use super::log::{Answer, Entry, Happening, Pings};

/// Calls into one bucket per second unless a test says otherwise: more than any test needs.
const GENEROUS: u32 = 200;
/// The largest file that is taken, as for a bot in a guild without boosts.
const FILE_BYTES: usize = 10 * 1024 * 1024;

/// What the bot may do in a channel. All of it, until it is denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Right {
    View,
    Send,
    SendInThreads,
    React,
    ReadHistory,
    Attach,
    CreateThreads,
    MentionEveryone,
}

impl Right {
    pub(super) fn bits(self) -> u64 {
        match self {
            Self::View => 1 << 10,
            Self::Send => 1 << 11,
            Self::SendInThreads => 1 << 38,
            Self::React => 1 << 6,
            Self::ReadHistory => 1 << 16,
            Self::Attach => 1 << 15,
            Self::CreateThreads => 1 << 35,
            Self::MentionEveryone => 1 << 17,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Direct,
    Voice,
    Thread,
    Forum,
}

#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) id: Channel,
    pub(super) guild: Option<Guild>,
    pub(super) kind: Kind,
    pub(super) name: String,
    pub(super) parent: Option<Channel>,
    pub(super) owner: Person,
    pub(super) archived: bool,
    pub(super) locked: bool,
    pub(super) denied: BTreeSet<Right>,
}

#[derive(Debug, Clone)]
pub(super) struct Said {
    pub(super) id: Message,
    pub(super) channel: Channel,
    pub(super) author: Person,
    pub(super) content: String,
    pub(super) reply_to: Option<Message>,
    pub(super) nonce: Option<Value>,
    pub(super) pings: Pings,
    pub(super) reactions: Vec<(Person, String)>,
    pub(super) files: Vec<Stored>,
    pub(super) edited: Option<String>,
    pub(super) flags: u64,
    /// What Discord's own kinds of message are numbered by; `None` is words of somebody.
    pub(super) kind: Option<u8>,
}

/// Only its asker sees such a message.
pub(super) const EPHEMERAL: u64 = 1 << 6;
/// "… is thinking".
pub(super) const LOADING: u64 = 1 << 7;

#[derive(Debug, Clone)]
pub(super) struct Stored {
    pub(super) id: u64,
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) bytes: Vec<u8>,
}

#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) token: String,
    pub(super) channel: Channel,
    pub(super) state: AskedState,
    pub(super) original: Option<Message>,
    pub(super) answers: Vec<Answer>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AskedState {
    Waiting,
    Acknowledged,
    Expired,
}

/// One bucket of the honest rate limit.
#[derive(Debug)]
pub(super) struct Bucket {
    pub(super) since: Instant,
    pub(super) used: u32,
}

#[derive(Debug)]
pub(crate) struct World {
    pub(super) address: SocketAddr,
    pub(super) mint: Mint,
    pub(super) bot: Person,
    pub(super) people: BTreeMap<Person, String>,
    pub(super) guilds: BTreeMap<Guild, String>,
    pub(super) places: BTreeMap<Channel, Place>,
    pub(super) said: BTreeMap<(Channel, Message), Said>,
    pub(super) nonces: Vec<(Channel, String, Message, Instant)>,
    pub(super) asked: BTreeMap<Interaction, Asked>,
    pub(super) commands: Vec<Value>,
    pub(super) custom_emoji: BTreeSet<String>,
    pub(super) links_expired: bool,
    /// Channels that are announced with an older newest message than they have.
    pub(super) announced: BTreeMap<Channel, Message>,
    pub(super) wires: Wires,
    pub(super) faults: Vec<(Calls, Fault)>,
    pub(super) limit: (u32, Duration),
    pub(super) buckets: BTreeMap<String, Bucket>,
    pub(super) file_bytes: usize,
    pub(super) log: Vec<Entry>,
}

impl World {
    pub(super) fn new(address: SocketAddr) -> Self {
        let mut mint = Mint::default();
        let bot = Person(mint.next());
        let mut world = Self {
            address,
            mint,
            bot,
            people: BTreeMap::from([(bot, "clankie".to_owned())]),
            guilds: BTreeMap::new(),
            places: BTreeMap::new(),
            said: BTreeMap::new(),
            nonces: Vec::new(),
            asked: BTreeMap::new(),
            commands: Vec::new(),
            custom_emoji: BTreeSet::new(),
            links_expired: false,
            announced: BTreeMap::new(),
            wires: Wires::default(),
            faults: Vec::new(),
            limit: (GENEROUS, Duration::from_secs(1)),
            buckets: BTreeMap::new(),
            file_bytes: FILE_BYTES,
            log: Vec::new(),
        };
        let home = world.guild("home");
        world.place(Some(home), Kind::Text, "general", None);
        world
    }

    pub(super) fn note(&mut self, what: Happening) {
        let order = self.log.len() as u64;
        self.log.push(Entry { order, what });
    }

    pub(super) fn violation(&mut self, what: impl Into<String>) {
        self.note(Happening::Violation { what: what.into() });
    }

    pub(super) fn guild(&mut self, name: &str) -> Guild {
        if let Some((guild, _)) = self.guilds.iter().find(|(_, known)| *known == name) {
            return *guild;
        }
        let guild = Guild(self.mint.next());
        self.guilds.insert(guild, name.to_owned());
        guild
    }

    pub(super) fn place(&mut self, guild: Option<Guild>, kind: Kind, name: &str, parent: Option<Channel>) -> Channel {
        let id = Channel(self.mint.next());
        self.place_at(id, guild, kind, name);
        self.places.get_mut(&id).unwrap().parent = parent;
        id
    }

    /// A thread of a message has the message's own id.
    pub(super) fn place_at(&mut self, id: Channel, guild: Option<Guild>, kind: Kind, name: &str) {
        let (owner, denied) = (self.bot, BTreeSet::new());
        let name = name.to_owned();
        let (parent, archived, locked) = (None, false, false);
        self.places.insert(id, Place { id, guild, kind, name, parent, owner, archived, locked, denied });
    }

    /// Whether the bot may do this here; a thread goes by its parent.
    pub(super) fn may(&self, channel: Channel, right: Right) -> bool {
        let Some(place) = self.places.get(&channel) else { return false };
        let above = place.parent.and_then(|parent| self.places.get(&parent));
        !place.denied.contains(&right) && above.is_none_or(|above| !above.denied.contains(&right))
    }

    pub(super) fn member_of(&self, channel: Channel) -> Option<Guild> {
        self.places.get(&channel).and_then(|place| place.guild)
    }

    pub(super) fn find(&self, message: Message) -> Option<&Said> {
        self.said.values().find(|said| said.id == message)
    }
}
