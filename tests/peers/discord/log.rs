//! The log: everything that happened, with order numbers, and what finally stands in a channel.

use super::ids::{Channel, Interaction, Message, Person};

/// One thing that happened. `order` grows by one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) order: u64,
    pub(crate) what: Happening,
}

/// What happened. People's doings are here too, so that order can be read off.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Happening {
    /// A person said something.
    Said { channel: Channel, message: Message, who: Person, text: String },
    /// The bot posted a message that now stands in the channel.
    Posted { channel: Channel, message: Message, content: String, reply_to: Option<Message>, nonce: Option<String> },
    /// A post with a nonce that was seen already: the earlier message was returned, none was made.
    Repeated { channel: Channel, message: Message, nonce: String },
    /// The bot, or a person, edited a message.
    Edited { channel: Channel, message: Message, content: String },
    /// The bot, or a person, deleted a message.
    Deleted { channel: Channel, message: Message },
    /// The bot, or a person, put a reaction.
    Reacted { channel: Channel, message: Message, who: Person, emoji: String },
    /// The bot, or a person, took a reaction back.
    Unreacted { channel: Channel, message: Message, who: Person, emoji: String },
    /// The bot showed that it types.
    Typing { channel: Channel },
    /// A new session on the gateway.
    Identified { session: String, intents: u64 },
    /// An identify was turned away.
    IdentifyRefused,
    /// An old session went on; so many missed dispatches were replayed.
    Resumed { session: String, replayed: usize },
    /// A resume was turned away.
    ResumeRefused { session: String },
    /// A gateway connection ended.
    Disconnected { session: String },
    /// The bot answered a slash command, or followed its answer up.
    Answered { interaction: Interaction, answer: Answer },
    /// The bot registered its commands, for all guilds or one.
    Commands { names: Vec<String> },
    /// A thread was made by the bot.
    ThreadMade { channel: Channel, parent: Channel },
    /// A call was refused, with Discord's code.
    Refused { call: String, status: u16, code: u64 },
    /// A call ran into a limit: the honest one, or one put in.
    RateLimited { call: String },
    /// A fault met a call.
    Faulted { call: String, fault: String },
    /// A call that was read to its end, whatever became of it.
    Called { call: String },
    /// Something that no well-behaved client does.
    Violation { what: String },
}

/// An answer to a slash command.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    /// `message`, `deferred`, `edit`, `followup`, `deleted`, or `other`.
    pub(crate) kind: &'static str,
    pub(crate) content: String,
    pub(crate) ephemeral: bool,
}

/// A message as it stands in its channel.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Posted {
    pub(crate) id: Message,
    pub(crate) author: Person,
    pub(crate) content: String,
    pub(crate) reply_to: Option<Message>,
    pub(crate) nonce: Option<String>,
    /// Who was notified by it.
    pub(crate) pings: Pings,
    /// Who reacted with what, in order.
    pub(crate) reactions: Vec<(Person, String)>,
    /// File names and sizes.
    pub(crate) files: Vec<(String, usize)>,
    pub(crate) edited: bool,
}

/// Whom a message notified.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Pings {
    pub(crate) everyone: bool,
    pub(crate) people: Vec<Person>,
    pub(crate) roles: Vec<u64>,
}

/// The log as text, for a test that failed.
pub(crate) fn shown(log: &[Entry]) -> String {
    let line = |entry: &Entry| format!("{:>4} {:?}", entry.order, entry.what);
    log.iter().map(line).collect::<Vec<_>>().join("\n")
}
