//! The room tools of one handoff, bound by the host to its actor, room, destination and grant.
//!
//! The grant is read again on every call; an intent commits only in a transaction that also holds
//! the epoch it was decided under and that the run still lives. Promise: no intent commits after
//! revocation.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use clankie_domain::admission::Change;
use clankie_domain::grant::{Gateway, GrantEpoch};
use clankie_domain::handoff::HandoffRecord;
use clankie_domain::message::{MessageKind, RoomMessage};
use clankie_domain::mutant::{self, Mutant};
use clankie_domain::request::Source;
use clankie_domain::time::Timestamp;
use serde_json::{Value, json};

use super::answered::Secret;
use super::context;
use super::failpoint::{self, Side};
use super::room_admission::RoomPorts;
use crate::front::HandoffQuery;
use crate::ports::{RoomTools, ToolReply, ToolSpec};
use crate::store::{Applied, Guard, StoreError, Txn, Write};

mod catalog;
mod gate;
mod mail;

/// Longest word on the way, in characters.
const UPDATE_CHARS: usize = 600;
/// Shortest time between two words on the way: a room must not be flooded.
const UPDATE_EVERY_MS: u64 = 30_000;
/// Messages and handoffs that the reading tools give at most.
const LISTED: usize = 50;
/// Tries to commit an intent while the authority moves; each waits for the next epoch.
const EPOCH_TRIES: usize = 3;

/// The tools that every grant has.
pub(crate) const ROOM_TOOLS: [&str; 6] =
    ["send_text_update", "react", "room_history", "list_handoffs", "request_user_input", "mail_owner_update"];

/// The tools of one handoff.
#[derive(Debug)]
pub(crate) struct HostTools {
    record: Arc<HandoffRecord>,
    ports: Arc<RoomPorts>,
    last_update: AtomicI64,
    /// A secret answer that the session was given: no tool carries it on.
    secret: Option<Secret>,
}

impl HostTools {
    /// The tools of this running record.
    pub(crate) fn new(record: Arc<HandoffRecord>, ports: Arc<RoomPorts>, secret: Option<Secret>) -> Self {
        Self { record, ports, last_update: AtomicI64::new(i64::MIN), secret }
    }

    async fn update(&self, call_id: &str, arguments: &Value) -> ToolReply {
        if self.record.source == Source::Voice {
            return refused("text_rooms_only", "send_text_update works in text rooms only.");
        }
        let text = match only_text(arguments, "text") {
            Ok(text) if !text.is_empty() && text.chars().count() <= UPDATE_CHARS => text,
            Ok(_) => return refused("invalid_arguments", "text must be 1–600 characters."),
            Err(reply) => return reply,
        };
        let now = self.ports.clock.now();
        let last = self.last_update.load(Ordering::Acquire);
        if last != i64::MIN && now.since(Timestamp(last)) < UPDATE_EVERY_MS {
            return refused("too_soon", "One text update in 30 seconds; put the rest into the reply.");
        }
        self.last_update.store(now.0, Ordering::Release);
        self.say(MessageKind::Update, &format!("update/{call_id}"), text, now).await
    }

    async fn react(&self, arguments: &Value) -> ToolReply {
        let name = match only_text(arguments, "reaction") {
            Ok(name) => name,
            Err(reply) => return reply,
        };
        if !self.ports.reactions.iter().any(|known| known == name) {
            let sentence = format!("reaction must be one of: {}.", self.ports.reactions.join(", "));
            return refused("invalid_arguments", &sentence);
        }
        self.say(MessageKind::Reaction, &format!("react/{name}"), name, self.ports.clock.now()).await
    }

    /// Commits an intent under the epoch it was decided in, deciding again when the epoch moved.
    async fn say(&self, kind: MessageKind, id: &str, text: &str, at: Timestamp) -> ToolReply {
        for _ in 0..EPOCH_TRIES {
            let epoch = match self.permitted() {
                Ok(epoch) => epoch,
                Err(reply) => return reply,
            };
            let message = RoomMessage {
                room: self.record.room.clone(),
                id: format!("{}/{id}", self.record.id),
                kind,
                author: None,
                author_name: "clankie".to_owned(),
                text: text.to_owned(),
                reply_to: Some(self.record.quoted().clone()),
                handoff: self.record.id,
                at,
            };
            failpoint::hit("tool.say", Side::Before);
            let mut txn = Txn::of(Write::Change(Change::Message(message.clone()))).guarded(Guard::GrantEpoch(epoch));
            if !mutant::on(Mutant::I4IntentOutlivesItsRun) {
                txn = txn.guarded(Guard::Runs(self.record.id));
            }
            match self.ports.store.commit(txn).await.map(|done| done.applied) {
                Ok(Applied::Yes) => {
                    failpoint::hit("tool.say", Side::After);
                    self.post(message).await;
                    return ToolReply::Done("sent".to_owned());
                }
                Ok(Applied::GuardFailed(Guard::GrantEpoch(_))) => self.ports.authority.moved_from(epoch).await,
                Ok(Applied::GuardFailed(_)) => return refused("run_over", "This handoff is over."),
                Err(stopped) => return unavailable(&stopped),
            }
        }
        refused("busy", "The grants are being changed; try again.")
    }

    /// Rooms that live elsewhere hear it through their gateway.
    async fn post(&self, message: RoomMessage) {
        match (self.record.transport.gateway, &self.ports.delivery) {
            (Gateway::DiscordText, Some(delivery)) => delivery.say(Arc::clone(&self.record), message).await,
            (Gateway::DiscordText, None) | (Gateway::Local | Gateway::Ingress | Gateway::DiscordVoice, _) => {}
        }
    }

    /// The epoch under which this handoff's grant still holds.
    fn permitted(&self) -> Result<GrantEpoch, ToolReply> {
        let authority = self.ports.authority.current();
        match authority.still_holds(&self.record.claim(), &self.record.grant) {
            Ok(()) => Ok(authority.epoch),
            Err(_) => Err(refused("authority_revoked", "The permission for this request is gone.")),
        }
    }

    fn history(&self) -> Result<Value, StoreError> {
        let messages = self.ports.store.snapshot()?.last_messages(&self.record.room, LISTED)?;
        let shown = messages.iter().filter(|(_, message)| message.kind != MessageKind::Reaction);
        Ok(shown.map(|(_, m)| json!({"author": m.author_name, "text": m.text})).collect())
    }

    fn handoffs(&self) -> Result<Value, StoreError> {
        let room = Some(self.record.room.clone());
        let query = HandoffQuery { room, limit: LISTED, ..HandoffQuery::default() };
        let records = self.ports.store.snapshot()?.handoffs(&query)?;
        let shown = |r: &HandoffRecord| json!({"id": r.id, "actor_name": r.actor_name, "request": r.request, "state": r.state_name().as_str()});
        Ok(records.iter().map(shown).collect())
    }
}

#[async_trait]
impl RoomTools for HostTools {
    fn catalog(&self) -> Vec<ToolSpec> {
        let machine = self.ports.machine_tools.iter().map(|tool| tool.spec());
        catalog::specs(&self.ports.reactions)
            .into_iter()
            .chain(machine)
            .filter(|spec| self.record.grant.tools.contains(&spec.name))
            .collect()
    }

    fn quotes(&self) -> String {
        context::quotes(&self.ports.store, &self.record)
    }

    async fn call(&self, call_id: &str, name: &str, arguments: Value) -> ToolReply {
        if !self.record.grant.tools.contains(name) && !mutant::on(Mutant::I8AnyToolIsThere) {
            return refused("tool_unavailable", "There is no such tool here.");
        }
        if let Err(reply) = self.permitted() {
            return reply;
        }
        let secret = self.secret.as_ref().filter(|_| !mutant::on(Mutant::M7CarriedByTools));
        let carries = secret.is_some_and(|secret| secret.is_in(&arguments));
        let arguments = match secret {
            Some(secret) => secret.hide_in(arguments),
            None => arguments,
        };
        let read = |value: Result<Value, StoreError>| match value {
            Ok(value) => ToolReply::Done(value.to_string()),
            Err(stopped) => unavailable(&stopped),
        };
        match name {
            "send_text_update" => self.update(call_id, &arguments).await,
            "react" => self.react(&arguments).await,
            "room_history" => read(self.history()),
            "list_handoffs" => read(self.handoffs()),
            "request_user_input" => self.request_user_input(arguments).await,
            "mail_owner_update" => self.mail_owner_update(call_id, arguments).await,
            _ => match self.ports.machine_tools.iter().find(|tool| tool.spec().name == name) {
                Some(_) if carries => refused("secret_in_arguments", "No tool writes a private answer anywhere."),
                Some(tool) => self.machine(tool.as_ref(), arguments).await,
                None => refused("tool_unavailable", "This tool is not available in this build."),
            },
        }
    }
}

/// The one text argument `key`; anything else in the object is refused.
fn only_text<'a>(arguments: &'a Value, key: &str) -> Result<&'a str, ToolReply> {
    let fields = arguments.as_object().filter(|fields| fields.len() == 1 || mutant::on(Mutant::I8ArgumentsSayMore));
    let text = fields.and_then(|fields| fields.get(key)).and_then(Value::as_str);
    text.map(str::trim).ok_or_else(|| {
        let sentence = format!("arguments must be an object with the one text field {key:?}.");
        refused("invalid_arguments", &sentence)
    })
}

fn refused(code: &str, sentence: &str) -> ToolReply {
    ToolReply::Refused { code: code.to_owned(), sentence: sentence.to_owned() }
}

fn unavailable(stopped: &StoreError) -> ToolReply {
    tracing::warn!(error = %stopped, "a room tool could not reach the store");
    refused("store_unavailable", "The service cannot do this right now.")
}
