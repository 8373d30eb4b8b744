//! Channels, threads, guilds and users over REST.

use serde_json::{Value, json};

use super::call::{Answered, Call, Reply};
use super::dispatch::Scope;
use super::ids::{Channel, Guild, Message, Person};
use super::json;
use super::log::Happening;
use super::messages::missing;
use super::world::{Kind, Right, World};

const THREAD: &[&str] = &["name", "auto_archive_duration", "type", "invitable", "rate_limit_per_user"];
const POST: &[&str] = &["name", "auto_archive_duration", "rate_limit_per_user", "message", "applied_tags"];
const PATCH: &[&str] = &[
    "name",
    "archived",
    "auto_archive_duration",
    "locked",
    "invitable",
    "rate_limit_per_user",
    "flags",
    "applied_tags",
    "topic",
];
/// Characters in a channel's name at most.
const NAME: usize = 100;

impl World {
    pub(super) fn channels(&mut self, call: &Call, channel: Channel, rest: &[&str]) -> Answered {
        let place = self.seen(channel)?;
        match (call.method.as_str(), rest) {
            ("GET", []) => Ok(Reply::ok(json::channel(self, channel))),
            ("PATCH", []) => self.patch(call, channel),
            ("DELETE", []) if place.kind == Kind::Direct => Ok(Reply::ok(json::channel(self, channel))),
            ("POST", ["threads"]) if place.kind == Kind::Forum => self.forum_post(call, channel),
            ("POST", ["threads"]) => self.free_thread(call, channel),
            ("PUT" | "DELETE", ["thread-members", "@me"]) if place.kind == Kind::Thread => Ok(Reply::nothing()),
            ("GET", ["threads", "archived", "public"]) => {
                let inside = |place: &&super::world::Place| place.parent == Some(channel) && place.archived;
                let ids: Vec<Channel> = self.places.values().filter(inside).map(|place| place.id).collect();
                let threads: Vec<Value> = ids.iter().map(|id| json::channel(self, *id)).collect();
                Ok(Reply::ok(json!({ "threads": threads, "members": [], "has_more": false })))
            }
            ("DELETE", []) => Err(missing("permissions")),
            _ => Err(self.unknown(call)),
        }
    }

    fn patch(&mut self, call: &Call, channel: Channel) -> Answered {
        let body = call.json().clone();
        self.only(&body, PATCH)?;
        let place = self.places.get_mut(&channel).unwrap();
        if place.kind != Kind::Thread || place.owner != self.bot {
            return Err(missing("permissions"));
        }
        place.archived = body["archived"].as_bool().unwrap_or(place.archived);
        place.locked = body["locked"].as_bool().unwrap_or(place.locked);
        if let Some(name) = body["name"].as_str() {
            place.name = name.to_owned();
        }
        let shown = json::channel(self, channel);
        self.tell(Scope::Place(channel), "THREAD_UPDATE", &shown);
        Ok(Reply::ok(shown))
    }

    fn thread_name(&mut self, body: &Value, known: &[&str]) -> Result<String, Reply> {
        self.only(body, known)?;
        match body["name"].as_str() {
            Some(name) if (1..=NAME).contains(&name.chars().count()) => Ok(name.to_owned()),
            _ => Err(Reply::invalid("name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")),
        }
    }

    pub(super) fn thread_of(&mut self, call: &Call, channel: Channel, message: Message) -> Answered {
        self.seen(channel)?;
        let name = self.thread_name(&call.json().clone(), THREAD)?;
        if !self.said.contains_key(&(channel, message)) {
            return Err(Reply::refused(404, 10008, "Unknown Message"));
        }
        if self.places.contains_key(&Channel(message.0)) {
            return Err(Reply::refused(400, 160_004, "A thread has already been created for this message"));
        }
        if !self.may(channel, Right::CreateThreads) {
            return Err(missing("permissions"));
        }
        let thread = self.new_thread((channel, Some(message)), &name, self.bot);
        Ok(Reply::created(json::channel(self, thread)))
    }

    fn free_thread(&mut self, call: &Call, channel: Channel) -> Answered {
        let name = self.thread_name(&call.json().clone(), THREAD)?;
        if !self.may(channel, Right::CreateThreads) {
            return Err(missing("permissions"));
        }
        let thread = self.new_thread((channel, None), &name, self.bot);
        Ok(Reply::created(json::channel(self, thread)))
    }

    fn forum_post(&mut self, call: &Call, forum: Channel) -> Answered {
        let body = call.json().clone();
        let name = self.thread_name(&body, POST)?;
        self.only(&body["message"], super::strict::POST)?;
        self.check_content(&body["message"]["content"])?;
        self.check_mentions(&body["message"]["allowed_mentions"])?;
        self.check_empty(&body["message"], call.files())?;
        if !self.may(forum, Right::Send) {
            return Err(missing("permissions"));
        }
        let thread = self.new_thread((forum, None), &name, self.bot);
        let said = self.stand(thread, &body["message"], (None, call.files()));
        let (channel, message, content) = (thread, said.id, said.content.clone());
        self.note(Happening::Posted { channel, message, content, reply_to: None, nonce: None });
        self.tell_message("MESSAGE_CREATE", &said);
        let mut shown = json::channel(self, thread);
        shown["message"] = json::message(self, &said);
        Ok(Reply::created(shown))
    }

    /// A thread of a message has that message's id.
    pub(super) fn new_thread(
        &mut self,
        (parent, message): (Channel, Option<Message>),
        name: &str,
        owner: Person,
    ) -> Channel {
        let id = Channel(message.map_or_else(|| self.mint.next(), |message| message.0));
        let guild = self.member_of(parent);
        self.place_at(id, guild, Kind::Thread, name);
        let place = self.places.get_mut(&id).unwrap();
        (place.parent, place.owner) = (Some(parent), owner);
        if owner == self.bot {
            self.note(Happening::ThreadMade { channel: id, parent });
        }
        let mut shown = json::channel(self, id);
        shown["newly_created"] = json!(true);
        self.tell(Scope::Place(id), "THREAD_CREATE", &shown);
        id
    }

    pub(super) fn users(&mut self, call: &Call, rest: &[&str]) -> Answered {
        match (call.method.as_str(), rest) {
            ("GET", ["@me"]) => Ok(Reply::ok(json::own_user(self))),
            ("GET", ["@me", "guilds"]) => {
                let row = |(guild, name): (&Guild, &String)| {
                    json!({
                        "id": guild.to_string(), "name": name, "icon": null, "owner": false,
                        "permissions": "1125899906842623", "features": [],
                    })
                };
                Ok(Reply::ok(self.guilds.iter().map(row).collect()))
            }
            ("POST", ["@me", "channels"]) => {
                let body = call.json().clone();
                self.only(&body, &["recipient_id"])?;
                let recipient = Person(self.id(body["recipient_id"].as_str().unwrap_or_default())?);
                if !self.people.contains_key(&recipient) || recipient == self.bot {
                    return Err(Reply::refused(400, 50033, "Invalid Recipient(s)"));
                }
                let channel = self.direct(recipient);
                Ok(Reply::ok(json::channel(self, channel)))
            }
            ("GET", [id]) => {
                let person = Person(self.id(id)?);
                if !self.people.contains_key(&person) {
                    return Err(Reply::refused(404, 10013, "Unknown User"));
                }
                Ok(Reply::ok(json::user(self, person)))
            }
            _ => Err(self.unknown(call)),
        }
    }

    /// The direct conversation with this person; its owner is the other side.
    pub(super) fn direct(&mut self, person: Person) -> Channel {
        let known = self.places.values().find(|place| place.kind == Kind::Direct && place.owner == person);
        if let Some(place) = known {
            return place.id;
        }
        let id = self.place(None, Kind::Direct, "", None);
        self.places.get_mut(&id).unwrap().owner = person;
        id
    }

    pub(super) fn guilds(&mut self, call: &Call, guild: &str, rest: &[&str]) -> Answered {
        let guild = Guild(self.id(guild)?);
        if !self.guilds.contains_key(&guild) {
            return Err(Reply::refused(404, 10004, "Unknown Guild"));
        }
        let here = |world: &Self, thread: bool| -> Vec<Value> {
            let mine = world.places.values().filter(|place| place.guild == Some(guild) && !place.archived);
            let kind = mine.filter(|place| (place.kind == Kind::Thread) == thread);
            kind.map(|place| json::channel(world, place.id)).collect()
        };
        match (call.method.as_str(), rest) {
            ("GET", []) => Ok(Reply::ok(json::guild(self, guild))),
            ("GET", ["channels"]) => Ok(Reply::ok(Value::Array(here(self, false)))),
            ("GET", ["threads", "active"]) => Ok(Reply::ok(json!({ "threads": here(self, true), "members": [] }))),
            ("GET", ["roles"]) => Ok(Reply::ok(json::guild(self, guild)["roles"].clone())),
            ("GET", ["members", id]) => {
                let person = Person(self.id(id)?);
                match self.people.contains_key(&person) {
                    true => Ok(Reply::ok(json::member(self, person))),
                    false => Err(Reply::refused(404, 10007, "Unknown Member")),
                }
            }
            _ => Err(self.unknown(call)),
        }
    }
}
