//! Messages, reactions and typing: what the bot may do with them, and what then stands there.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::call::{Answered, Call, File, Reply};
use super::dispatch::Scope;
use super::ids::{Channel, Message, Person, now};
use super::json;
use super::log::Happening;
use super::mentions;
use super::strict;
use super::world::{Kind, Place, Right, Said, Stored, World};

/// How long a nonce is remembered.
const NONCE_WINDOW: Duration = Duration::from_secs(300);
/// Messages in one page at most.
const PAGE: usize = 100;

pub(super) fn missing(right: &str) -> Reply {
    match right {
        "access" => Reply::refused(403, 50001, "Missing Access"),
        _ => Reply::refused(403, 50013, "Missing Permissions"),
    }
}

impl World {
    /// The channel, if the bot can see it.
    pub(super) fn seen(&self, channel: Channel) -> Result<Place, Reply> {
        let Some(place) = self.places.get(&channel) else {
            return Err(Reply::refused(404, 10003, "Unknown Channel"));
        };
        if self.may(channel, Right::View) { Ok(place.clone()) } else { Err(missing("access")) }
    }

    pub(super) fn may_post(&self, place: &Place, files: &[File]) -> Result<(), Reply> {
        if place.kind == Kind::Forum {
            return Err(Reply::refused(400, 50008, "Cannot send messages in a non-text channel"));
        }
        if place.archived && place.locked {
            return Err(Reply::refused(400, 50083, "Thread is archived"));
        }
        let right = if place.kind == Kind::Thread { Right::SendInThreads } else { Right::Send };
        if place.kind == Kind::Direct && place.denied.contains(&Right::Send) {
            return Err(Reply::refused(403, 50007, "Cannot send messages to this user"));
        }
        if !self.may(place.id, right) || (!files.is_empty() && !self.may(place.id, Right::Attach)) {
            return Err(missing("permissions"));
        }
        match files.iter().any(|file| file.bytes.len() > self.file_bytes) {
            true => Err(Reply::refused(413, 40005, "Request entity too large")),
            false => Ok(()),
        }
    }

    pub(super) fn post(&mut self, call: &Call, channel: Channel) -> Answered {
        let place = self.seen(channel)?;
        let body = call.json().clone();
        self.only(&body, strict::POST)?;
        self.check_content(&body["content"])?;
        self.check_mentions(&body["allowed_mentions"])?;
        let nonce = self.check_nonce(&body)?;
        self.may_post(&place, call.files())?;
        self.check_empty(&body, call.files())?;
        let reply_to = self.quoted(channel, &body["message_reference"])?;
        if let (Some(nonce), true) = (&nonce, body["enforce_nonce"] == true)
            && let Some(earlier) = self.earlier(channel, nonce)
        {
            self.note(Happening::Repeated { channel, message: earlier.id, nonce: nonce.clone() });
            return Ok(Reply::ok(json::message(self, &earlier)));
        }
        if place.archived {
            self.places.get_mut(&channel).unwrap().archived = false;
            self.tell(Scope::Place(channel), "THREAD_UPDATE", &json::channel(self, channel));
        }
        let said = self.stand(channel, &body, (reply_to, call.files()));
        if let Some(nonce) = nonce.clone() {
            self.nonces.push((channel, nonce, said.id, Instant::now()));
        }
        let (message, content) = (said.id, said.content.clone());
        self.note(Happening::Posted { channel, message, content, reply_to, nonce });
        self.tell_message("MESSAGE_CREATE", &said);
        Ok(Reply::ok(json::message(self, &said)))
    }

    pub(super) fn check_empty(&mut self, body: &Value, files: &[File]) -> Result<(), Reply> {
        let blank = body["content"].as_str().unwrap_or_default().trim().is_empty();
        let some = |name: &str| body[name].as_array().is_some_and(|list| !list.is_empty());
        if blank && files.is_empty() && !some("sticker_ids") && !some("embeds") && !some("components") {
            self.violation("an empty message");
            return Err(Reply::refused(400, 50006, "Cannot send an empty message"));
        }
        Ok(())
    }

    fn quoted(&mut self, channel: Channel, reference: &Value) -> Result<Option<Message>, Reply> {
        if reference.is_null() {
            return Ok(None);
        }
        self.only(reference, &["type", "message_id", "channel_id", "guild_id", "fail_if_not_exists"])?;
        let target = reference["message_id"].as_str().and_then(|id| id.parse().ok()).map(Message);
        let same = reference["channel_id"].as_str().is_none_or(|id| id == channel.to_string());
        let known = target.filter(|target| same && self.said.contains_key(&(channel, *target)));
        if known.is_some() && !self.may(channel, Right::ReadHistory) {
            let message = "Cannot reply without permission to read message history";
            return Err(Reply::refused(403, 160_002, message));
        }
        if known.is_none() && reference["fail_if_not_exists"] != false {
            return Err(Reply::invalid("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message"));
        }
        Ok(known)
    }

    fn earlier(&self, channel: Channel, nonce: &str) -> Option<Said> {
        let fresh = |at: &Instant| at.elapsed() < NONCE_WINDOW;
        let same = |(c, n, _, at): &&(Channel, String, Message, Instant)| *c == channel && n == nonce && fresh(at);
        let (_, _, message, _) = self.nonces.iter().rev().find(same)?;
        self.said.get(&(channel, *message)).cloned()
    }

    /// Puts the bot's message into the channel. Discord keeps no space around the words.
    pub(super) fn stand(
        &mut self,
        channel: Channel,
        body: &Value,
        (reply_to, files): (Option<Message>, &[File]),
    ) -> Said {
        let content = body["content"].as_str().unwrap_or_default().trim().to_owned();
        let quoted = reply_to.and_then(|target| self.said.get(&(channel, target))).map(|said| said.author);
        let mut pings = mentions::pings(&content, &body["allowed_mentions"], quoted);
        pings.everyone &= self.may(channel, Right::MentionEveryone);
        let said = Said {
            id: Message(self.mint.next()),
            channel,
            author: self.bot,
            content,
            reply_to,
            nonce: body.get("nonce").cloned(),
            pings,
            reactions: Vec::new(),
            files: files.iter().map(|file| self.store(file)).collect(),
            edited: None,
            flags: body["flags"].as_u64().unwrap_or_default(),
            kind: None,
        };
        self.said.insert((channel, said.id), said.clone());
        said
    }

    pub(super) fn store(&mut self, file: &File) -> Stored {
        let name = file.name.rsplit(['/', '\\']).next().unwrap_or_default().replace(' ', "_");
        Stored { id: self.mint.next(), name, kind: file.kind.clone(), bytes: file.bytes.clone() }
    }

    fn existing(&self, channel: Channel, message: Message) -> Result<Said, Reply> {
        let said = self.said.get(&(channel, message)).filter(|said| json::visible(said));
        said.cloned().ok_or_else(|| Reply::refused(404, 10008, "Unknown Message"))
    }

    pub(super) fn get(&mut self, channel: Channel, message: Message) -> Answered {
        self.seen(channel)?;
        if !self.may(channel, Right::ReadHistory) {
            return Err(missing("permissions"));
        }
        let said = self.existing(channel, message)?;
        Ok(Reply::ok(self.read_later(&said)))
    }

    /// A message as it is read later: with its nonce only as long as that is remembered.
    fn read_later(&self, said: &Said) -> Value {
        let mut shown = json::message(self, said);
        let remembered = |(_, _, message, at): &(Channel, String, Message, Instant)| {
            *message == said.id && at.elapsed() < NONCE_WINDOW
        };
        if !self.nonces.iter().any(remembered) {
            shown.as_object_mut().unwrap().remove("nonce");
        }
        shown
    }

    pub(super) fn list(&mut self, call: &Call, channel: Channel) -> Answered {
        self.seen(channel)?;
        let limit = call.asked("limit").map_or(Ok(50), str::parse::<usize>).unwrap_or_default();
        if !(1..=PAGE).contains(&limit) {
            return Err(Reply::invalid("limit", "NUMBER_TYPE_MAX", "int value should be between 1 and 100."));
        }
        if !self.may(channel, Right::ReadHistory) {
            return Ok(Reply::ok(json!([])));
        }
        let asked = |name| call.asked(name).and_then(|id| id.parse().ok()).map(Message);
        let (before, after, around) = (asked("before"), asked("after"), asked("around"));
        let here = self.said.values().filter(|said| said.channel == channel && json::visible(said));
        let mut ids: Vec<Message> = here.map(|said| said.id).collect();
        if let Some(after) = after {
            ids.retain(|id| *id > after);
            ids.truncate(limit);
        } else if let Some(around) = around {
            let middle = ids.partition_point(|id| *id < around);
            let from = middle.saturating_sub(limit / 2);
            ids = ids.into_iter().skip(from).take(limit).collect();
        } else {
            ids.retain(|id| before.is_none_or(|before| *id < before));
            ids.drain(..ids.len().saturating_sub(limit));
        }
        let shown = ids.iter().rev().map(|id| self.read_later(&self.said[&(channel, *id)]));
        Ok(Reply::ok(shown.collect()))
    }

    pub(super) fn edit(&mut self, call: &Call, channel: Channel, message: Message) -> Answered {
        let place = self.seen(channel)?;
        let said = self.existing(channel, message)?;
        let body = call.json().clone();
        self.only(&body, strict::EDIT)?;
        self.check_content(&body["content"])?;
        self.check_mentions(&body["allowed_mentions"])?;
        if said.author != self.bot {
            return Err(Reply::refused(403, 50005, "Cannot edit a message authored by another user"));
        }
        if place.archived {
            return Err(Reply::refused(400, 50083, "Thread is archived"));
        }
        if body["content"].as_str().is_some_and(|text| text.trim().is_empty()) && said.files.is_empty() {
            self.violation("an edit to nothing");
            return Err(Reply::refused(400, 50006, "Cannot send an empty message"));
        }
        let said = self.edited(channel, message, body["content"].as_str());
        Ok(Reply::ok(json::message(self, &said)))
    }

    /// The message with other words, told to all.
    pub(super) fn edited(&mut self, channel: Channel, message: Message, content: Option<&str>) -> Said {
        let said = self.said.get_mut(&(channel, message)).unwrap();
        if let Some(content) = content {
            said.content = content.trim().to_owned();
        }
        said.edited = Some(now());
        let said = said.clone();
        self.note(Happening::Edited { channel, message, content: said.content.clone() });
        self.tell_message("MESSAGE_UPDATE", &said);
        said
    }

    /// The same, told in a few words and without its author.
    pub(super) fn edited_unsigned(&mut self, channel: Channel, message: Message, content: &str) {
        let said = self.said.get_mut(&(channel, message)).unwrap();
        said.content = content.trim().to_owned();
        said.edited = Some(now());
        let mut told = json::message_gone(self, channel, message);
        told["content"] = json!(content.trim());
        self.note(Happening::Edited { channel, message, content: content.trim().to_owned() });
        self.tell(Scope::Message(channel), "MESSAGE_UPDATE", &told);
    }

    pub(super) fn remove(&mut self, channel: Channel, message: Message) -> Answered {
        self.seen(channel)?;
        let said = self.existing(channel, message)?;
        if said.author != self.bot {
            return Err(missing("permissions"));
        }
        self.removed(channel, message);
        Ok(Reply::nothing())
    }

    pub(super) fn removed(&mut self, channel: Channel, message: Message) {
        self.said.remove(&(channel, message));
        self.note(Happening::Deleted { channel, message });
        let gone = json::message_gone(self, channel, message);
        self.tell(Scope::Message(channel), "MESSAGE_DELETE", &gone);
    }

    pub(super) fn typing(&mut self, channel: Channel) -> Answered {
        let place = self.seen(channel)?;
        self.may_post(&place, &[])?;
        self.note(Happening::Typing { channel });
        Ok(Reply::nothing())
    }

    pub(super) fn reaction(&mut self, method: &str, at: (Channel, Message), emoji: &str, who: &str) -> Answered {
        let place = self.seen(at.0)?;
        self.existing(at.0, at.1)?;
        let unicode = |c: char| !c.is_ascii() || c == '#' || c == '*' || c.is_ascii_digit();
        let plain = !emoji.is_empty() && emoji.chars().all(unicode) && !emoji.is_ascii();
        if !plain && !self.custom_emoji.contains(emoji) {
            return Err(Reply::refused(400, 10014, "Unknown Emoji"));
        }
        if place.archived {
            return Err(Reply::refused(400, 50083, "Thread is archived"));
        }
        match (method, who) {
            ("PUT", "@me") if !self.may(at.0, Right::React) || !self.may(at.0, Right::ReadHistory) => {
                Err(missing("permissions"))
            }
            ("PUT", "@me") => {
                self.reacted(at, self.bot, emoji);
                Ok(Reply::nothing())
            }
            ("DELETE", "@me") => {
                self.unreacted(at, self.bot, emoji);
                Ok(Reply::nothing())
            }
            _ => Err(missing("permissions")),
        }
    }

    pub(super) fn reacted(&mut self, at: (Channel, Message), who: Person, emoji: &str) {
        let reaction = (who, emoji.to_owned());
        let said = self.said.get_mut(&at).unwrap();
        if said.reactions.contains(&reaction) {
            return;
        }
        said.reactions.push(reaction);
        let (channel, message, emoji) = (at.0, at.1, emoji.to_owned());
        let event = self.reaction_event(at, who, &emoji);
        self.note(Happening::Reacted { channel, message, who, emoji });
        self.tell(Scope::Reaction(channel), "MESSAGE_REACTION_ADD", &event);
    }

    pub(super) fn unreacted(&mut self, at: (Channel, Message), who: Person, emoji: &str) {
        let reaction = (who, emoji.to_owned());
        let said = self.said.get_mut(&at).unwrap();
        if !said.reactions.contains(&reaction) {
            return;
        }
        said.reactions.retain(|one| *one != reaction);
        let (channel, message, emoji) = (at.0, at.1, emoji.to_owned());
        let event = self.reaction_event(at, who, &emoji);
        self.note(Happening::Unreacted { channel, message, who, emoji });
        self.tell(Scope::Reaction(channel), "MESSAGE_REACTION_REMOVE", &event);
    }

    fn reaction_event(&self, (channel, message): (Channel, Message), who: Person, emoji: &str) -> Value {
        let mut event = json!({
            "user_id": who.to_string(), "channel_id": channel.to_string(), "message_id": message.to_string(),
            "emoji": json::emoji(emoji), "burst": false, "type": 0,
            "message_author_id": self.said.get(&(channel, message)).map(|said| said.author.to_string()),
        });
        if let Some(guild) = self.member_of(channel) {
            event["guild_id"] = json!(guild.to_string());
            event["member"] = json::member(self, who);
        }
        event
    }
}
