//! What goes out over the gateway: sessions, their numbered dispatches, and trouble on the wire.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use super::gateway::Heartbeats;
use super::ids::{Channel, Guild};
use super::json;
use super::log::Happening;
use super::world::{Right, Said, World};

/// Intents that an event needs.
pub(super) mod intent {
    pub(in super::super) const GUILDS: u64 = 1;
    pub(super) const GUILD_MESSAGES: u64 = 1 << 9;
    pub(super) const GUILD_REACTIONS: u64 = 1 << 10;
    pub(super) const DIRECT_MESSAGES: u64 = 1 << 12;
    pub(super) const DIRECT_REACTIONS: u64 = 1 << 13;
    pub(in super::super) const MESSAGE_CONTENT: u64 = 1 << 15;
}

/// What the serving side of a connection is told.
#[derive(Debug)]
pub(super) enum Out {
    Text(String),
    Close(u16, &'static str),
    /// The connection ends without a word.
    Kill,
}

#[derive(Debug)]
pub(super) struct Session {
    pub(super) sequence: u64,
    pub(super) intents: u64,
    /// Every dispatch, with its number, for a resume.
    pub(super) sent: Vec<(u64, String)>,
    pub(super) link: Option<u64>,
    /// Dispatches kept back so that they can go out in the wrong order.
    held: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Wires {
    pub(super) links: BTreeMap<u64, UnboundedSender<Out>>,
    pub(super) next_link: u64,
    pub(super) sessions: BTreeMap<String, Session>,
    pub(super) heartbeats: Heartbeats,
    pub(super) heartbeat_ms: u64,
    pub(super) denied_intents: u64,
    pub(super) refuse_identifies: usize,
    pub(super) starts: Starts,
    /// Where the gateway is said to be, if not here.
    pub(super) handed_out: Option<String>,
    duplicates: usize,
    reorder: usize,
}

/// The budget of identifies, as `GET /gateway/bot` shows it.
#[derive(Debug)]
pub(super) struct Starts {
    pub(super) total: u64,
    pub(super) remaining: u64,
    pub(super) reset_after_ms: u64,
}

impl Default for Wires {
    fn default() -> Self {
        Self {
            links: BTreeMap::new(),
            next_link: 0,
            sessions: BTreeMap::new(),
            heartbeats: Heartbeats::Answered,
            heartbeat_ms: 41_250,
            denied_intents: 0,
            refuse_identifies: 0,
            starts: Starts { total: 1000, remaining: 1000, reset_after_ms: 86_400_000 },
            handed_out: None,
            duplicates: 0,
            reorder: 0,
        }
    }
}

impl Wires {
    pub(super) fn connect(&mut self, out: UnboundedSender<Out>) -> u64 {
        self.next_link += 1;
        self.links.insert(self.next_link, out);
        self.next_link
    }

    pub(super) fn tell(&self, link: u64, out: Out) {
        if let Some(sender) = self.links.get(&link) {
            let _ = sender.send(out);
        }
    }

    pub(super) fn tell_all(&self, out: impl Fn() -> Out) {
        self.links.keys().for_each(|link| self.tell(*link, out()));
    }

    pub(super) fn begin(&mut self, name: &str, intents: u64, link: u64) {
        let session = Session { sequence: 0, intents, sent: Vec::new(), link: Some(link), held: Vec::new() };
        self.sessions.insert(name.to_owned(), session);
    }

    pub(super) fn duplicate_next(&mut self, count: usize) {
        self.duplicates = count;
    }

    pub(super) fn reorder_next(&mut self, count: usize) {
        self.reorder = count;
    }

    /// One dispatch to one session, connected or not.
    pub(super) fn dispatch(&mut self, name: &str, event: &str, data: &Value) {
        let Some(session) = self.sessions.get_mut(name) else { return };
        session.sequence += 1;
        let text = json!({ "op": 0, "t": event, "s": session.sequence, "d": data }).to_string();
        session.sent.push((session.sequence, text.clone()));
        let Some(link) = session.link else { return };
        if self.reorder > 0 {
            session.held.push(text);
            if session.held.len() < self.reorder {
                return;
            }
            self.reorder = 0;
            let turned: Vec<String> = session.held.drain(..).rev().collect();
            turned.into_iter().for_each(|text| self.tell(link, Out::Text(text)));
            return;
        }
        if self.duplicates > 0 {
            self.duplicates -= 1;
            self.tell(link, Out::Text(text.clone()));
        }
        self.tell(link, Out::Text(text));
    }
}

/// Where an event belongs.
#[derive(Debug, Clone, Copy)]
pub(super) enum Scope {
    Guild(Guild),
    Message(Channel),
    Reaction(Channel),
    Place(Channel),
    Always,
}

impl World {
    /// One event to every session that asked for its kind.
    pub(super) fn tell(&mut self, scope: Scope, event: &str, data: &Value) {
        let seen = match scope {
            Scope::Message(channel) | Scope::Reaction(channel) | Scope::Place(channel) => {
                !self.places.contains_key(&channel) || self.may(channel, Right::View)
            }
            Scope::Guild(_) | Scope::Always => true,
        };
        let needed = self.needed(scope);
        for name in self.wires.sessions.keys().cloned().collect::<Vec<_>>() {
            let intents = self.wires.sessions[&name].intents;
            if seen && (needed == 0 || intents & needed != 0) {
                self.wires.dispatch(&name, event, data);
            }
        }
    }

    fn needed(&self, scope: Scope) -> u64 {
        let direct = |channel| self.member_of(channel).is_none();
        match scope {
            Scope::Guild(_) => intent::GUILDS,
            Scope::Place(channel) => {
                if direct(channel) {
                    0
                } else {
                    intent::GUILDS
                }
            }
            Scope::Message(channel) if direct(channel) => intent::DIRECT_MESSAGES,
            Scope::Message(_) => intent::GUILD_MESSAGES,
            Scope::Reaction(channel) if direct(channel) => intent::DIRECT_REACTIONS,
            Scope::Reaction(_) => intent::GUILD_REACTIONS,
            Scope::Always => 0,
        }
    }

    /// A message event. Whoever did not ask for content gets it only where it concerns the bot.
    pub(super) fn tell_message(&mut self, event: &str, said: &Said) {
        if !json::visible(said) || !self.may(said.channel, Right::View) {
            return;
        }
        let whole = json::message_event(self, said);
        let concerns =
            said.author == self.bot || said.pings.people.contains(&self.bot) || self.member_of(said.channel).is_none();
        let needed = self.needed(Scope::Message(said.channel));
        for name in self.wires.sessions.keys().cloned().collect::<Vec<_>>() {
            let intents = self.wires.sessions[&name].intents;
            if intents & needed == 0 {
                continue;
            }
            let mut shown = whole.clone();
            if !concerns && intents & intent::MESSAGE_CONTENT == 0 {
                shown["content"] = json!("");
                shown["attachments"] = json!([]);
            }
            self.wires.dispatch(&name, event, &shown);
        }
    }

    pub(super) fn unlink(&mut self, link: u64) {
        self.wires.links.remove(&link);
        let gone = |session: &Session| session.link == Some(link);
        let name = self.wires.sessions.iter().find(|(_, session)| gone(session)).map(|(name, _)| name.clone());
        if let Some(name) = name {
            self.wires.sessions.get_mut(&name).unwrap().link = None;
            self.note(Happening::Disconnected { session: name });
        }
    }
}
