//! REST: faults first, then the token, the limits, and the route.

use std::time::{Duration, Instant};

use axum::body::Body as HttpBody;
use axum::response::Response;
use serde_json::{Value, json};

use super::call::{Answered, Body, Call, Reply};
use super::faults::Fault;
use super::ids::{Channel, Interaction, Message, now_ms};
use super::line::{Cut, decoded};
use super::log::Happening;
use super::world::{Bucket, World};
use super::{Shared, TOKEN};

/// What the headers of an answer say about its bucket.
#[derive(Debug, Clone)]
struct Standing {
    limit: u32,
    remaining: u32,
    reset_after: Duration,
    bucket: String,
}

pub(super) async fn answer(shared: &Shared, call: Call) -> Result<Response, Cut> {
    let shown = format!("{} {}", call.method, call.shown());
    let fault = shared.change(|world| {
        world.note(Happening::Called { call: shown.clone() });
        world.fault_for(&call, &shown)
    });
    match &fault {
        Some(Fault::CutBefore) => return Err(Cut),
        Some(Fault::HeldBefore(gate)) => gate.pass().await,
        Some(Fault::Status(status)) => return Ok(bare(*status, json!({}))),
        Some(Fault::Refused(status, code)) => {
            let reply = Reply::refused(*status, *code, "refused by the test");
            return Ok(bare(reply.status, reply.body));
        }
        Some(Fault::RateLimited(after)) => return Ok(limited(&call.bucket(), *after, "user")),
        Some(Fault::RateLimitedGlobally(after)) => return Ok(limited(&call.bucket(), *after, "global")),
        _ => {}
    }
    let (reply, standing) = shared.change(|world| world.honest(&call, &shown));
    match fault {
        Some(Fault::CutAfter) => Err(Cut),
        Some(Fault::StatusAfter(status)) => Ok(bare(status, json!({}))),
        Some(Fault::GarbledAfter) => Ok(bare(reply.status, json!({ "id": "not a snowflake", "garbled": true }))),
        Some(Fault::HeldAfter(gate)) => {
            gate.pass().await;
            Ok(with_headers(reply, standing))
        }
        _ => Ok(with_headers(reply, standing)),
    }
}

/// A body that nobody reads to its end.
pub(super) fn too_large(shared: &Shared, path: &str) -> Response {
    let reply = Reply::refused(413, 40005, "Request entity too large");
    let call = format!("POST {path}");
    shared.change(|world| world.note(Happening::Refused { call, status: 413, code: 40005 }));
    bare(reply.status, reply.body)
}

/// A file of a message. Its address is good for a day, or until the test says it is over.
pub(super) fn attachment(shared: &Shared, path: &str) -> Response {
    let id = path.split('/').nth(3).and_then(|id| id.parse::<u64>().ok());
    let world = shared.lock();
    let stored = world.said.values().flat_map(|said| &said.files).find(|file| Some(file.id) == id);
    match stored {
        Some(_) if world.links_expired => bare(403, json!({ "message": "expired" })),
        Some(file) => {
            let built = Response::builder().status(200).header("content-type", &file.kind);
            built.body(HttpBody::from(file.bytes.clone())).unwrap()
        }
        None => bare(404, json!({ "message": format!("nothing at {}", decoded(path)) })),
    }
}

fn bare(status: u16, body: Value) -> Response {
    let built = Response::builder().status(status).header("content-type", "application/json");
    let body = if status == 204 { HttpBody::empty() } else { HttpBody::from(body.to_string()) };
    built.body(body).unwrap()
}

fn limited(bucket: &str, after: Duration, scope: &str) -> Response {
    let global = scope == "global";
    let seconds = after.as_secs_f64();
    let body = json!({ "message": "You are being rate limited.", "retry_after": seconds, "global": global });
    let mut response = bare(429, body);
    let headers = response.headers_mut();
    // The header is in whole seconds, rounded up; only the body says it exactly.
    headers.insert("retry-after", (seconds.ceil() as u64).into());
    headers.insert("x-ratelimit-scope", scope.parse().unwrap());
    if global {
        headers.insert("x-ratelimit-global", "true".parse().unwrap());
        return response;
    }
    let standing = Standing { limit: 5, remaining: 0, reset_after: after, bucket: bucket.to_owned() };
    put_headers(&mut response, &standing);
    response
}

fn with_headers(reply: Reply, standing: Option<Standing>) -> Response {
    if let (429, Some(standing)) = (reply.status, &standing) {
        return limited(&standing.bucket, standing.reset_after, "user");
    }
    let mut response = bare(reply.status, reply.body);
    if let Some(standing) = standing {
        put_headers(&mut response, &standing);
    }
    response
}

fn put_headers(response: &mut Response, standing: &Standing) {
    let reset = now_ms() as f64 / 1000.0 + standing.reset_after.as_secs_f64();
    let bucket = standing.bucket.bytes().fold(5381u64, |hash, byte| hash.wrapping_mul(33) ^ u64::from(byte));
    let values = [
        ("x-ratelimit-limit", standing.limit.to_string()),
        ("x-ratelimit-remaining", standing.remaining.to_string()),
        ("x-ratelimit-reset", format!("{reset:.3}")),
        ("x-ratelimit-reset-after", format!("{:.3}", standing.reset_after.as_secs_f64())),
        ("x-ratelimit-bucket", format!("{bucket:016x}")),
    ];
    for (name, value) in values {
        response.headers_mut().insert(name, value.parse().unwrap());
    }
}

impl World {
    fn fault_for(&mut self, call: &Call, shown: &str) -> Option<Fault> {
        let at = self.faults.iter_mut().position(|(calls, _)| calls.take(call))?;
        let fault = self.faults[at].1.clone();
        if self.faults[at].0.spent() {
            self.faults.remove(at);
        }
        self.note(Happening::Faulted { call: shown.to_owned(), fault: format!("{fault:?}") });
        Some(fault)
    }

    fn honest(&mut self, call: &Call, shown: &str) -> (Reply, Option<Standing>) {
        let open = matches!(call.path.first().map(String::as_str), Some("webhooks" | "interactions"));
        let token = call.authorization.as_deref().and_then(|header| header.strip_prefix("Bot "));
        if !open && token != Some(TOKEN) {
            let refused = Reply { status: 401, body: json!({ "message": "401: Unauthorized", "code": 0 }) };
            self.note(Happening::Refused { call: shown.to_owned(), status: 401, code: 0 });
            return (refused, None);
        }
        let standing = self.count(call);
        if standing.as_ref().is_some_and(|standing| standing.limit == 0) {
            self.note(Happening::RateLimited { call: shown.to_owned() });
            let full = standing.map(|standing| Standing { limit: self.limit.0, ..standing });
            return (Reply { status: 429, body: Value::Null }, full);
        }
        let reply = self.route(call).unwrap_or_else(|refused| refused);
        if reply.status >= 400 {
            let (status, code) = (reply.status, reply.code());
            self.note(Happening::Refused { call: shown.to_owned(), status, code });
        }
        (reply, standing)
    }

    /// The call's bucket after it was counted; a limit of zero says that it was full before.
    fn count(&mut self, call: &Call) -> Option<Standing> {
        if call.path.first().is_some_and(|first| first == "gateway") {
            return None;
        }
        let (limit, window) = self.limit;
        let name = call.bucket();
        let fresh = || Bucket { since: Instant::now(), used: 0 };
        let bucket = self.buckets.entry(name.clone()).or_insert_with(fresh);
        if bucket.since.elapsed() >= window {
            *bucket = fresh();
        }
        let reset_after = window.saturating_sub(bucket.since.elapsed());
        if bucket.used >= limit {
            return Some(Standing { limit: 0, remaining: 0, reset_after, bucket: name });
        }
        bucket.used += 1;
        Some(Standing { limit, remaining: limit - bucket.used, reset_after, bucket: name })
    }

    fn route(&mut self, call: &Call) -> Answered {
        if call.body == Body::Unreadable {
            self.violation("a body that is neither JSON nor a form");
            return Err(Reply::refused(400, 50109, "The request body contains invalid JSON."));
        }
        let pieces = call.pieces();
        match (call.method.as_str(), pieces.as_slice()) {
            ("GET", ["gateway"]) => Ok(Reply::ok(json!({ "url": self.handed_out() }))),
            ("GET", ["gateway", "bot"]) => Ok(Reply::ok(self.gateway_bot())),
            (_, ["channels", channel, "messages", rest @ ..]) => self.messages(call, channel, rest),
            ("POST", ["channels", channel, "typing"]) => {
                let channel = Channel(self.id(channel)?);
                self.typing(channel)
            }
            (_, ["channels", channel, rest @ ..]) => {
                let channel = Channel(self.id(channel)?);
                self.channels(call, channel, rest)
            }
            (_, ["users", rest @ ..]) => self.users(call, rest),
            (_, ["guilds", guild, rest @ ..]) => self.guilds(call, guild, rest),
            ("GET", ["oauth2", "applications", "@me"] | ["applications", "@me"]) => Ok(Reply::ok(self.application())),
            (_, ["applications", _, rest @ ..]) => self.applications(call, rest),
            ("POST", ["interactions", id, token, "callback"]) => {
                let id = Interaction(self.id(id)?);
                self.callback(call, id, token)
            }
            (_, ["webhooks", _, token, rest @ ..]) => self.followups(call, token, rest),
            _ => Err(self.unknown(call)),
        }
    }

    fn messages(&mut self, call: &Call, channel: &str, rest: &[&str]) -> Answered {
        let channel = Channel(self.id(channel)?);
        match (call.method.as_str(), rest) {
            ("POST", []) => self.post(call, channel),
            ("GET", []) => self.list(call, channel),
            ("POST", [message, "threads"]) => {
                let message = Message(self.id(message)?);
                self.thread_of(call, channel, message)
            }
            (method, [message, "reactions", emoji, who]) => {
                let message = Message(self.id(message)?);
                self.reaction(method, (channel, message), emoji, who)
            }
            (method, [message]) => {
                let message = Message(self.id(message)?);
                match method {
                    "GET" => self.get(channel, message),
                    "PATCH" => self.edit(call, channel, message),
                    "DELETE" => self.remove(channel, message),
                    _ => Err(self.unknown(call)),
                }
            }
            _ => Err(self.unknown(call)),
        }
    }

    pub(super) fn unknown(&mut self, call: &Call) -> Reply {
        self.violation(format!("no such route: {} {}", call.method, call.shown()));
        Reply { status: 404, body: json!({ "message": "404: Not Found", "code": 0 }) }
    }

    pub(super) fn id(&mut self, text: &str) -> Result<u64, Reply> {
        text.parse().map_err(|_| {
            self.violation(format!("{text} is no snowflake"));
            Reply::invalid("id", "NUMBER_TYPE_COERCE", "Value is not snowflake.")
        })
    }

    fn handed_out(&self) -> String {
        self.wires.handed_out.clone().unwrap_or_else(|| format!("ws://{}", self.address))
    }

    fn gateway_bot(&self) -> Value {
        let starts = &self.wires.starts;
        json!({
            "url": self.handed_out(), "shards": 1,
            "session_start_limit": {
                "total": starts.total, "remaining": starts.remaining,
                "reset_after": starts.reset_after_ms, "max_concurrency": 1,
            },
        })
    }

    fn application(&self) -> Value {
        // Message content, as a bot in few guilds has it.
        let flags = if self.wires.denied_intents & super::dispatch::intent::MESSAGE_CONTENT == 0 { 1 << 19 } else { 0 };
        json!({
            "id": self.bot.to_string(), "name": "clankie", "icon": null, "description": "", "bot_public": false,
            "bot_require_code_grant": false, "owner": super::json::user(self, self.bot), "verify_key": "00",
            "team": null, "flags": flags, "summary": "", "install_params": null, "tags": [], "rpc_origins": [],
        })
    }
}
