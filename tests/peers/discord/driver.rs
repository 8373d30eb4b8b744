//! What a test does: people who talk, channels that change, trouble that is put in, and what is seen.

use std::time::Duration;

use serde_json::Value;

use super::FakeDiscord;
use super::call::File;
use super::dispatch::Scope;
use super::ids::{Channel, Guild, Interaction, Message, Person};
use super::json;
use super::log::{Answer, Happening, Posted};
use super::mentions;
use super::world::{AskedState, Kind, Right, Said, World};

/// Who and where.
impl FakeDiscord {
    /// The person of this name, who is a member of every guild.
    pub(crate) fn people(&self, name: &str) -> Person {
        self.change(|world| {
            if let Some((person, _)) = world.people.iter().find(|(_, known)| *known == name) {
                return *person;
            }
            let person = Person(world.mint.next());
            world.people.insert(person, name.to_owned());
            person
        })
    }

    /// The bot as a person; its application has the same id.
    pub(crate) fn bot(&self) -> Person {
        self.world().bot
    }

    /// How the bot is mentioned.
    pub(crate) fn mention(&self) -> String {
        format!("<@{}>", self.bot())
    }

    /// The guild of this name; a new one is announced to the bot.
    pub(crate) fn guild(&self, name: &str) -> Guild {
        self.change(|world| {
            let known = world.guilds.len();
            let guild = world.guild(name);
            if world.guilds.len() > known {
                let whole = json::whole_guild(world, guild);
                world.tell(Scope::Guild(guild), "GUILD_CREATE", &whole);
            }
            guild
        })
    }

    /// The text channel of this name.
    pub(crate) fn channel(&self, guild: Guild, name: &str) -> Channel {
        self.change(|world| world.channel_of(guild, Kind::Text, name))
    }

    /// The forum of this name.
    pub(crate) fn forum(&self, guild: Guild, name: &str) -> Channel {
        self.change(|world| world.channel_of(guild, Kind::Forum, name))
    }

    /// The voice channel of this name; it has a text chat.
    pub(crate) fn voice_channel(&self, guild: Guild, name: &str) -> Channel {
        self.change(|world| world.channel_of(guild, Kind::Voice, name))
    }

    /// `general` in `home`.
    pub(crate) fn general(&self) -> Channel {
        let home = self.guild("home");
        self.channel(home, "general")
    }

    /// The direct conversation of this person with the bot.
    pub(crate) fn direct(&self, who: Person) -> Channel {
        self.change(|world| world.direct(who))
    }
}

/// What people do.
impl FakeDiscord {
    /// Says something. It mentions whom it names; see [`FakeDiscord::mention`].
    pub(crate) fn say(&self, channel: Channel, who: Person, text: &str) -> Message {
        self.change(|world| world.speak((channel, who), text, None, &[]))
    }

    /// Says it to the bot: with a mention in front.
    pub(crate) fn ask(&self, channel: Channel, who: Person, text: &str) -> Message {
        self.say(channel, who, &format!("{} {text}", self.mention()))
    }

    /// Answers a message where it stands, and notifies its author.
    pub(crate) fn reply_to(&self, message: Message, who: Person, text: &str) -> Message {
        self.change(|world| {
            let channel = world.find(message).unwrap().channel;
            world.speak((channel, who), text, Some(message), &[])
        })
    }

    /// Says something with files: name and bytes. The text may be empty.
    pub(crate) fn attach(&self, channel: Channel, who: Person, text: &str, files: &[(&str, &[u8])]) -> Message {
        self.change(|world| world.speak((channel, who), text, None, files))
    }

    /// Says something by direct message.
    pub(crate) fn dm(&self, who: Person, text: &str) -> Message {
        let channel = self.direct(who);
        self.say(channel, who, text)
    }

    /// Something said this long ago that nobody was told of, as if the bot had been away.
    pub(crate) fn said_before(&self, channel: Channel, who: Person, text: &str, age: Duration) -> Message {
        self.change(|world| {
            let id = Message(world.mint.aged(age));
            world.put((channel, who), text, (id, None), &[]);
            id
        })
    }

    pub(crate) fn edit(&self, message: Message, text: &str) {
        self.change(|world| {
            let channel = world.find(message).unwrap().channel;
            world.edited(channel, message, Some(text));
        });
    }

    /// The same, told without its author, as Discord may.
    pub(crate) fn edit_unsigned(&self, message: Message, text: &str) {
        self.change(|world| {
            let channel = world.find(message).unwrap().channel;
            world.edited_unsigned(channel, message, text);
        });
    }

    /// Something of Discord's own in a person's name: a pin, a join, a boost, a new thread.
    pub(crate) fn notice(&self, channel: Channel, who: Person, (kind, text): (u8, &str)) -> Message {
        self.change(|world| {
            let id = Message(world.mint.next());
            world.put((channel, who), text, (id, None), &[]);
            let said = world.said.get_mut(&(channel, id)).unwrap();
            said.kind = Some(kind);
            let said = said.clone();
            world.tell_message("MESSAGE_CREATE", &said);
            id
        })
    }

    pub(crate) fn delete(&self, message: Message) {
        self.change(|world| {
            let channel = world.find(message).unwrap().channel;
            world.removed(channel, message);
        });
    }

    pub(crate) fn react(&self, message: Message, who: Person, emoji: &str) {
        self.change(|world| {
            let channel = world.find(message).unwrap().channel;
            world.reacted((channel, message), who, emoji);
        });
    }

    pub(crate) fn unreact(&self, message: Message, who: Person, emoji: &str) {
        self.change(|world| {
            let channel = world.find(message).unwrap().channel;
            world.unreacted((channel, message), who, emoji);
        });
    }

    /// Opens a thread that hangs on no message.
    pub(crate) fn thread(&self, parent: Channel, who: Person, name: &str) -> Channel {
        self.change(|world| world.new_thread((parent, None), name, who))
    }

    /// Opens a thread on a message; both have the same id.
    pub(crate) fn thread_on(&self, message: Message, who: Person, name: &str) -> Channel {
        self.change(|world| {
            let parent = world.find(message).unwrap().channel;
            world.new_thread((parent, Some(message)), name, who)
        })
    }

    /// Opens a forum post; its first message has the post's id.
    pub(crate) fn forum_post(&self, forum: Channel, who: Person, title: &str, text: &str) -> (Channel, Message) {
        self.change(|world| {
            let post = world.new_thread((forum, None), title, who);
            let first = Message(post.0);
            let said = world.put((post, who), text, (first, None), &[]);
            world.tell_message("MESSAGE_CREATE", &said);
            (post, first)
        })
    }

    /// Uses a slash command that the bot registered: its name and sub-commands, then its options.
    pub(crate) fn slash(&self, channel: Channel, who: Person, words: &[&str], options: &[(&str, &str)]) -> Interaction {
        self.change(|world| world.ask((channel, who), words, options))
    }

    /// The time to answer this one is over.
    pub(crate) fn expire(&self, interaction: Interaction) {
        self.change(|world| world.asked.get_mut(&interaction).unwrap().state = AskedState::Expired);
    }
}

/// What moderators and time do.
impl FakeDiscord {
    /// Archives a thread. A post brings it back, as on the real one; edits and reactions get 50083.
    pub(crate) fn archive(&self, thread: Channel) {
        self.change(|world| world.put_away(thread, (true, false)));
    }

    /// Archives a thread and locks it: everything gets 50083.
    pub(crate) fn lock(&self, thread: Channel) {
        self.change(|world| world.put_away(thread, (true, true)));
    }

    /// Opens a thread again.
    pub(crate) fn unarchive(&self, thread: Channel) {
        self.change(|world| world.put_away(thread, (false, false)));
    }

    /// Deletes a channel or thread with all that stands in it.
    pub(crate) fn delete_channel(&self, channel: Channel) {
        self.change(|world| {
            let shown = json::channel(world, channel);
            let (scope, thread) = (Scope::Place(channel), world.places[&channel].kind == Kind::Thread);
            world.tell(scope, if thread { "THREAD_DELETE" } else { "CHANNEL_DELETE" }, &shown);
            world.places.remove(&channel);
            world.said.retain(|(place, _), _| *place != channel);
        });
    }

    /// Takes a right from the bot in this channel and its threads. [`Right::Send`] in a direct
    /// conversation means that the person takes no messages: 50007.
    pub(crate) fn deny(&self, channel: Channel, right: Right) {
        self.change(|world| {
            world.places.get_mut(&channel).unwrap().denied.insert(right);
            world.changed(channel);
        });
    }

    /// Gives it back.
    pub(crate) fn allow(&self, channel: Channel, right: Right) {
        self.change(|world| {
            world.places.get_mut(&channel).unwrap().denied.remove(&right);
            world.changed(channel);
        });
    }

    /// All file addresses so far answer 403 from now on.
    pub(crate) fn expire_links(&self) {
        self.change(|world| world.links_expired = true);
    }

    /// The minutes in which a repeated nonce is known are over, and no history shows one any more.
    pub(crate) fn forget_nonces(&self) {
        self.change(|world| world.nonces.clear());
    }

    /// A custom emoji `name:id` that can be used.
    pub(crate) fn custom_emoji(&self, emoji: &str) {
        self.change(|world| world.custom_emoji.insert(emoji.to_owned()));
    }
}

/// What is seen.
impl FakeDiscord {
    /// What stands in a channel, oldest first.
    pub(crate) fn messages(&self, channel: Channel) -> Vec<Posted> {
        let world = self.world();
        world.said.values().filter(|said| said.channel == channel && json::visible(said)).map(posted).collect()
    }

    /// What the bot said there, oldest first.
    pub(crate) fn replies(&self, channel: Channel) -> Vec<Posted> {
        let bot = self.bot();
        self.messages(channel).into_iter().filter(|posted| posted.author == bot).collect()
    }

    /// What the bot said in answer to this message, oldest first.
    pub(crate) fn replies_to(&self, message: Message) -> Vec<Posted> {
        let world = self.world();
        let answers = |said: &&Said| said.author == world.bot && said.reply_to == Some(message);
        world.said.values().filter(answers).map(posted).collect()
    }

    /// How a slash command was answered so far.
    pub(crate) fn answers(&self, interaction: Interaction) -> Vec<Answer> {
        self.world().asked[&interaction].answers.clone()
    }

    /// The registered commands, as they were sent.
    pub(crate) fn commands(&self) -> Vec<Value> {
        self.world().commands.clone()
    }

    /// How often a new session was begun.
    pub(crate) fn identifies(&self) -> usize {
        self.count(|what| matches!(what, Happening::Identified { .. }))
    }

    /// How often an old one went on.
    pub(crate) fn resumes(&self) -> usize {
        self.count(|what| matches!(what, Happening::Resumed { .. }))
    }

    /// What no well-behaved client does.
    pub(crate) fn violations(&self) -> Vec<String> {
        let world = self.world();
        let violation = |entry: &super::Entry| match &entry.what {
            Happening::Violation { what } => Some(what.clone()),
            _ => None,
        };
        world.log.iter().filter_map(violation).collect()
    }

    /// How many entries of the log this holds for.
    pub(crate) fn count(&self, is: impl Fn(&Happening) -> bool) -> usize {
        self.world().log.iter().filter(|entry| is(&entry.what)).count()
    }

    /// Gateway sessions that are connected now.
    pub(crate) fn connected(&self) -> usize {
        self.world().wires.sessions.values().filter(|session| session.link.is_some()).count()
    }
}

fn posted(said: &Said) -> Posted {
    Posted {
        id: said.id,
        author: said.author,
        content: said.content.clone(),
        reply_to: said.reply_to,
        nonce: said.nonce.as_ref().map(|nonce| nonce.as_str().map_or_else(|| nonce.to_string(), str::to_owned)),
        pings: said.pings.clone(),
        reactions: said.reactions.clone(),
        files: said.files.iter().map(|file| (file.name.clone(), file.bytes.len())).collect(),
        edited: said.edited.is_some(),
    }
}

impl World {
    fn channel_of(&mut self, guild: Guild, kind: Kind, name: &str) -> Channel {
        let mut here = self.places.values().filter(|place| place.guild == Some(guild) && place.kind == kind);
        if let Some(place) = here.find(|place| place.name == name) {
            return place.id;
        }
        let id = self.place(Some(guild), kind, name, None);
        let shown = json::channel(self, id);
        self.tell(Scope::Place(id), "CHANNEL_CREATE", &shown);
        id
    }

    fn speak(
        &mut self,
        at: (Channel, Person),
        text: &str,
        reply_to: Option<Message>,
        files: &[(&str, &[u8])],
    ) -> Message {
        let id = Message(self.mint.next());
        let said = self.put(at, text, (id, reply_to), files);
        self.tell_message("MESSAGE_CREATE", &said);
        id
    }

    pub(super) fn put(
        &mut self,
        (channel, author): (Channel, Person),
        text: &str,
        (id, reply_to): (Message, Option<Message>),
        files: &[(&str, &[u8])],
    ) -> Said {
        let quoted = reply_to.and_then(|target| self.find(target)).map(|said| said.author);
        let file = |(name, bytes): &(&str, &[u8])| File {
            number: 0,
            name: (*name).to_owned(),
            kind: kind(name).to_owned(),
            bytes: bytes.to_vec(),
        };
        let files = files.iter().map(|given| self.store(&file(given))).collect();
        let said = Said {
            id,
            channel,
            author,
            content: text.to_owned(),
            reply_to,
            nonce: None,
            pings: mentions::pings(text, &Value::Null, quoted),
            reactions: Vec::new(),
            files,
            edited: None,
            flags: 0,
            kind: None,
        };
        self.said.insert((channel, id), said.clone());
        self.note(Happening::Said { channel, message: id, who: author, text: text.to_owned() });
        said
    }

    fn put_away(&mut self, thread: Channel, (archived, locked): (bool, bool)) {
        let place = self.places.get_mut(&thread).unwrap();
        (place.archived, place.locked) = (archived, locked);
        self.changed(thread);
    }

    /// Tells the bot how a channel now is, even where it has just lost sight of it.
    fn changed(&mut self, channel: Channel) {
        let place = &self.places[&channel];
        let event = if place.kind == Kind::Thread { "THREAD_UPDATE" } else { "CHANNEL_UPDATE" };
        if let Some(guild) = place.guild {
            let shown = json::channel(self, channel);
            self.tell(Scope::Guild(guild), event, &shown);
        }
    }
}

/// The media type that the real one would tell for this name.
fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("txt") => "text/plain; charset=utf-8",
        Some("exe") => "application/x-msdownload",
        _ => "application/octet-stream",
    }
}
