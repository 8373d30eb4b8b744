//! The gateway's side of one connection: hello, identify, resume, heartbeats.

use std::sync::Arc;

use axum::extract::ws::{CloseFrame, Message as Frame, WebSocket};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::dispatch::Out;
use super::json;
use super::log::Happening;
use super::world::World;
use super::{Shared, TOKEN};

/// Whether heartbeats are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heartbeats {
    Answered,
    Ignored,
}

/// How every gateway connection is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Close {
    /// The socket is cut.
    Cut,
    /// Op 7: please come again.
    Reconnect,
    /// Op 9 for a session that may be resumed.
    InvalidResumable,
    /// Op 9 for a session that is gone.
    Invalid,
    /// A close frame with this code, e.g. 4004 or 4009.
    Code(u16),
}

const UNKNOWN_OPCODE: u16 = 4001;
const DECODE_ERROR: u16 = 4002;
const NOT_AUTHENTICATED: u16 = 4003;
const AUTHENTICATION_FAILED: u16 = 4004;
const ALREADY_AUTHENTICATED: u16 = 4005;
const INVALID_SEQUENCE: u16 = 4007;
const DISALLOWED_INTENTS: u16 = 4014;

pub(super) async fn serve(shared: Arc<Shared>, mut socket: WebSocket) {
    let (out, mut outgoing) = mpsc::unbounded_channel();
    let link = shared.change(|world| {
        let link = world.wires.connect(out);
        let hello = json!({ "op": 10, "s": null, "t": null, "d": { "heartbeat_interval": world.wires.heartbeat_ms } });
        world.wires.tell(link, Out::Text(hello.to_string()));
        link
    });
    loop {
        tokio::select! {
            out = outgoing.recv() => match out {
                Some(Out::Text(text)) => {
                    if socket.send(Frame::Text(text.into())).await.is_err() {
                        break;
                    }
                }
                Some(Out::Close(code, reason)) => {
                    let frame = CloseFrame { code, reason: reason.into() };
                    let _ = socket.send(Frame::Close(Some(frame))).await;
                    break;
                }
                Some(Out::Kill) | None => break,
            },
            frame = socket.recv() => match frame {
                Some(Ok(Frame::Text(text))) => shared.change(|world| world.hear(link, &text)),
                Some(Ok(Frame::Binary(_))) => shared.change(|world| world.turn_away(link, DECODE_ERROR, "binary")),
                Some(Ok(Frame::Ping(_) | Frame::Pong(_))) => {}
                Some(Ok(Frame::Close(_)) | Err(_)) | None => break,
            },
        }
    }
    shared.change(|world| world.unlink(link));
}

impl World {
    fn hear(&mut self, link: u64, text: &str) {
        let Ok(heard) = serde_json::from_str::<Value>(text) else {
            return self.turn_away(link, DECODE_ERROR, "no JSON");
        };
        let known = self.wires.sessions.values().any(|session| session.link == Some(link));
        match heard["op"].as_u64() {
            Some(1) if self.wires.heartbeats == Heartbeats::Answered => {
                self.wires.tell(link, Out::Text(json!({ "op": 11 }).to_string()));
            }
            Some(1) => {}
            Some(2 | 6) if known => self.turn_away(link, ALREADY_AUTHENTICATED, "identified twice"),
            Some(2) => self.identify(link, &heard["d"]),
            Some(6) => self.resume(link, &heard["d"]),
            Some(3 | 4 | 8 | 31) if !known => self.turn_away(link, NOT_AUTHENTICATED, "spoke before identify"),
            Some(3 | 4 | 8 | 31) => {}
            _ => self.turn_away(link, UNKNOWN_OPCODE, "unknown opcode"),
        }
    }

    fn turn_away(&mut self, link: u64, code: u16, why: &'static str) {
        if code != AUTHENTICATION_FAILED {
            self.violation(format!("gateway: {why}"));
        }
        self.wires.tell(link, Out::Close(code, why));
    }

    fn identify(&mut self, link: u64, asked: &Value) {
        let token = asked["token"].as_str().unwrap_or_default();
        if token.trim_start_matches("Bot ") != TOKEN {
            self.note(Happening::IdentifyRefused);
            return self.turn_away(link, AUTHENTICATION_FAILED, "Authentication failed.");
        }
        let intents = asked["intents"].as_u64();
        let complete = asked["properties"].is_object() && intents.is_some();
        let intents = intents.unwrap_or_default();
        if !complete {
            return self.turn_away(link, DECODE_ERROR, "identify without properties or intents");
        }
        if intents & self.wires.denied_intents != 0 {
            self.note(Happening::IdentifyRefused);
            return self.turn_away(link, DISALLOWED_INTENTS, "Disallowed intent(s).");
        }
        if self.wires.starts.remaining == 0 {
            self.violation("identified beyond the day's budget: Discord resets the token now");
            self.note(Happening::IdentifyRefused);
            return self.turn_away(link, AUTHENTICATION_FAILED, "Authentication failed.");
        }
        self.wires.starts.remaining -= 1;
        if self.wires.refuse_identifies > 0 {
            self.wires.refuse_identifies -= 1;
            self.note(Happening::IdentifyRefused);
            return self.wires.tell(link, Out::Text(json!({ "op": 9, "d": false }).to_string()));
        }
        self.welcome(link, intents);
    }

    fn welcome(&mut self, link: u64, intents: u64) {
        let session = format!("session-{}", self.mint.next());
        self.wires.begin(&session, intents, link);
        self.note(Happening::Identified { session: session.clone(), intents });
        let guilds: Vec<_> = self.guilds.keys().copied().collect();
        let unavailable = |guild: &super::Guild| json!({ "id": guild.to_string(), "unavailable": true });
        let ready = json!({
            "v": 10, "user": json::own_user(self), "guilds": guilds.iter().map(unavailable).collect::<Vec<_>>(),
            "session_id": session, "resume_gateway_url": format!("ws://{}", self.address), "shard": [0, 1],
            "application": { "id": self.bot.to_string(), "flags": 0 }, "session_type": "normal",
            "private_channels": [], "presences": [], "relationships": [],
        });
        self.wires.dispatch(&session, "READY", &ready);
        if intents & super::dispatch::intent::GUILDS != 0 {
            for guild in guilds {
                let whole = json::whole_guild(self, guild);
                self.wires.dispatch(&session, "GUILD_CREATE", &whole);
            }
        }
    }

    fn resume(&mut self, link: u64, asked: &Value) {
        let name = asked["session_id"].as_str().unwrap_or_default().to_owned();
        let token = asked["token"].as_str().unwrap_or_default();
        if token.trim_start_matches("Bot ") != TOKEN {
            return self.turn_away(link, AUTHENTICATION_FAILED, "Authentication failed.");
        }
        let Some(session) = self.wires.sessions.get_mut(&name) else {
            self.note(Happening::ResumeRefused { session: name });
            return self.wires.tell(link, Out::Text(json!({ "op": 9, "d": false }).to_string()));
        };
        let from = asked["seq"].as_u64().unwrap_or_default();
        if from > session.sequence {
            return self.turn_away(link, INVALID_SEQUENCE, "Invalid seq");
        }
        // The old socket of a session that is resumed is dead to Discord from here on.
        let old = session.link.replace(link);
        let missed: Vec<String> =
            session.sent.iter().filter(|(number, _)| *number > from).map(|(_, text)| text.clone()).collect();
        if let Some(old) = old {
            self.wires.tell(old, Out::Kill);
        }
        self.note(Happening::Resumed { session: name.clone(), replayed: missed.len() });
        missed.into_iter().for_each(|text| self.wires.tell(link, Out::Text(text)));
        self.wires.dispatch(&name, "RESUMED", &json!({ "_trace": [] }));
    }

    /// Ends every gateway connection like this; sessions that Discord calls gone are forgotten.
    pub(super) fn end_connections(&mut self, how: Close) {
        match how {
            Close::Cut => self.wires.tell_all(|| Out::Kill),
            Close::Reconnect => self.wires.tell_all(|| Out::Text(json!({ "op": 7, "d": null }).to_string())),
            Close::InvalidResumable => self.wires.tell_all(|| Out::Text(json!({ "op": 9, "d": true }).to_string())),
            Close::Invalid => {
                self.wires.sessions.clear();
                self.wires.tell_all(|| Out::Text(json!({ "op": 9, "d": false }).to_string()));
            }
            Close::Code(code) => self.wires.tell_all(|| Out::Close(code, "closed by the test")),
        }
    }
}
