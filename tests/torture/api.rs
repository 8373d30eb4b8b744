//! The public HTTP surface as a client sees it, read leniently into shapes of the harness's own.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::service::Endpoint;

/// What a client heard.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    /// Admitted and not over; or a cancel is on its way.
    Accepted { handoff: String, state: String },
    /// Over, with its result.
    Settled { handoff: String, result: Value },
    /// No place; nothing was kept.
    Busy,
    /// The key is another request's.
    Conflict,
    /// It was cancelled before it was admitted.
    Forgotten,
    /// There is no such delivery.
    NotFound,
    /// Try the same delivery again: whether it was kept is unknown.
    Unavailable(String),
    /// No answer came: whether it was kept is unknown.
    Lost(String),
    /// Something that this client never earns.
    Unexpected(u16, String),
}

impl Answer {
    /// A short form for histories.
    pub(crate) fn brief(&self) -> String {
        match self {
            Self::Accepted { handoff, state } => format!("202 {state} {handoff}"),
            Self::Settled { handoff, result } => format!("200 {handoff} {result}"),
            Self::Busy => "429 busy".to_owned(),
            Self::Conflict => "409 conflict".to_owned(),
            Self::Forgotten => "409 forgotten".to_owned(),
            Self::NotFound => "404".to_owned(),
            Self::Unavailable(kind) => format!("503 {kind}"),
            Self::Lost(why) => format!("no answer ({why})"),
            Self::Unexpected(status, body) => format!("{status} {body}"),
        }
    }
}

/// One record as the owner sees it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Record {
    pub(crate) id: String,
    pub(crate) room: String,
    pub(crate) delivery_id: String,
    pub(crate) trigger: Option<String>,
    pub(crate) actor: String,
    pub(crate) class: Value,
    pub(crate) run_id: String,
    pub(crate) state: String,
    pub(crate) request: String,
    pub(crate) grant: Value,
    pub(crate) result: Option<Value>,
    pub(crate) joined: Option<String>,
    pub(crate) created_at: String,
    pub(crate) started_at: Option<String>,
    pub(crate) ended_at: Option<String>,
    pub(crate) revision: u64,
}

impl Record {
    /// Whether it has its result.
    pub(crate) fn is_over(&self) -> bool {
        !matches!(self.state.as_str(), "pending" | "running" | "joined")
    }

    /// The delivery that its reply quotes.
    pub(crate) fn quoted(&self) -> &str {
        self.trigger.as_deref().unwrap_or(&self.delivery_id)
    }

    /// Whether it took a waiting place when it came.
    pub(crate) fn is_fresh(&self) -> bool {
        self.class == "fresh"
    }

    /// The ask whose answer woke it.
    pub(crate) fn wakes(&self) -> Option<&str> {
        if self.class["owed"] != "answer" {
            return None;
        }
        self.delivery_id.rsplit_once("answer:").map(|(_, request)| request)
    }

    /// The code of a failure.
    pub(crate) fn code(&self) -> Option<&str> {
        self.result.as_ref()?["code"].as_str()
    }
}

/// Counts of one snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Counts {
    pub(crate) running: usize,
    pub(crate) waiting: usize,
    pub(crate) owed: usize,
}

/// One page of records.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Page {
    pub(crate) handoffs: Vec<Record>,
    pub(crate) counts: Counts,
}

/// One thing that was said in a room.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Message {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) text: String,
    pub(crate) handoff_id: String,
    pub(crate) reply_to: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Messages {
    messages: Vec<Message>,
    next: u64,
}

/// Why a question of the harness itself got no answer.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The service is gone, which under kills is no fault.
    Gone,
    /// It answered what it should not.
    Wrong(String),
}

/// One client of one life of the service.
#[derive(Debug, Clone)]
pub(crate) struct Api {
    pub(crate) http: reqwest::Client,
    pub(crate) at: Endpoint,
    pub(crate) lane: String,
}

impl Api {
    /// Hands a delivery in.
    pub(crate) async fn post(&self, room: &str, delivery: &str, actor: &str, body: &str) -> Answer {
        let turn = json!({ "schema_version": 1, "room": room, "delivery_id": delivery, "source": "text",
            "actor": { "id": actor, "name": actor }, "body": body });
        self.tell(self.http.post(format!("{}/ingress/v1/turns", self.at.url)).json(&turn)).await
    }

    /// Edits a delivery.
    pub(crate) async fn put(&self, room: &str, delivery: &str, actor: &str, body: &str) -> Answer {
        let edit = json!({ "schema_version": 1, "source": "text", "actor": { "id": actor, "name": actor },
            "body": body });
        self.tell(self.http.put(self.turn(room, delivery)).json(&edit)).await
    }

    /// Cancels a delivery as its speaker.
    pub(crate) async fn delete(&self, room: &str, delivery: &str, actor: &str) -> Answer {
        let who = json!({ "actor": { "id": actor } });
        self.tell(self.http.delete(self.turn(room, delivery)).json(&who)).await
    }

    /// Asks for a delivery, waiting up to `wait` seconds for its result.
    pub(crate) async fn turn_of(&self, room: &str, delivery: &str, wait: u64) -> Answer {
        self.tell(self.http.get(format!("{}?wait={wait}", self.turn(room, delivery)))).await
    }

    /// A page of records; `query` is what stands behind the question mark.
    pub(crate) async fn handoffs(&self, query: &str) -> Result<Page, Trouble> {
        self.owner(&format!("handoffs?{query}")).await
    }

    /// One record.
    pub(crate) async fn handoff(&self, id: &str) -> Result<Record, Trouble> {
        self.owner(&format!("handoffs/{id}")).await
    }

    /// Cancels a handoff as the owner.
    pub(crate) async fn cancel(&self, id: &str) -> Result<Value, Trouble> {
        let call = self.http.post(format!("{}/operator/v1/handoffs/{id}/cancel", self.at.url));
        read(call.bearer_auth(&self.at.operator).header("content-type", "application/json").body("{}")).await
    }

    /// One operation of the owner.
    pub(crate) async fn dispatch(&self, operation: Value) -> Result<Value, Trouble> {
        self.dispatch_as(&self.at.operator, operation).await
    }

    /// One operation of whoever holds that token.
    pub(crate) async fn dispatch_as(&self, token: &str, operation: Value) -> Result<Value, Trouble> {
        let call = self.http.post(format!("{}/operator/v1/dispatch", self.at.url));
        read(call.bearer_auth(token).json(&operation)).await
    }

    /// Pairs a device that may deal with the mailbox, and gives its token.
    pub(crate) async fn pair(&self) -> Result<Value, Trouble> {
        let grants = json!(["observe", "terminal_control"]);
        let begin = json!({ "schema_version": 1, "op": "device_pair_begin", "grants": grants });
        let code = self.dispatch(begin).await?["code"].clone();
        let redeem = self.http.post(format!("{}/pair/v1/redeem", self.at.url));
        let device: Value = read(redeem.json(&json!({ "code": code, "name": "torture" }))).await?;
        let (op, id) = ("device_approve", &device["device_id"]);
        self.dispatch(json!({ "schema_version": 1, "op": op, "device_id": id, "grants": grants })).await?;
        let secret = device["poll_token"].as_str().unwrap_or_default();
        let poll: Value = read(self.http.get(format!("{}/pair/v1/poll", self.at.url)).bearer_auth(secret)).await?;
        Ok(poll["token"].clone())
    }

    /// Whether it says that it is ready.
    pub(crate) async fn is_ready(&self) -> Result<bool, Trouble> {
        let sent = self.http.get(format!("{}/readyz", self.at.url)).send().await;
        Ok(sent.map_err(|_| Trouble::Gone)?.status().is_success())
    }

    /// Everything that was said in a room and is kept.
    pub(crate) async fn messages(&self, room: &str) -> Result<Vec<Message>, Trouble> {
        let (mut all, mut after) = (Vec::new(), 0);
        loop {
            let url = format!("{}/ingress/v1/rooms/{room}/messages?after={after}", self.at.url);
            let page: Messages = read(self.http.get(url).bearer_auth(&self.lane)).await?;
            if page.messages.is_empty() {
                return Ok(all);
            }
            after = page.next;
            all.extend(page.messages);
        }
    }

    fn turn(&self, room: &str, delivery: &str) -> String {
        format!("{}/ingress/v1/turns/{room}/{delivery}", self.at.url)
    }

    async fn owner<T: serde::de::DeserializeOwned>(&self, path: &str) -> Result<T, Trouble> {
        let call = self.http.get(format!("{}/operator/v1/{path}", self.at.url)).bearer_auth(&self.at.operator);
        read(call).await
    }

    async fn tell(&self, call: reqwest::RequestBuilder) -> Answer {
        let answer = match call.bearer_auth(&self.lane).send().await {
            Ok(answer) => answer,
            Err(error) => return Answer::Lost(cause(&error)),
        };
        let status = answer.status().as_u16();
        match answer.text().await {
            Ok(body) => understand(status, &body),
            Err(error) => Answer::Lost(cause(&error)),
        }
    }
}

async fn read<T: serde::de::DeserializeOwned>(call: reqwest::RequestBuilder) -> Result<T, Trouble> {
    let answer = call.send().await.map_err(|_| Trouble::Gone)?;
    let (status, body) = (answer.status(), answer.text().await.map_err(|_| Trouble::Gone)?);
    if !status.is_success() {
        return Err(Trouble::Wrong(format!("{status} {body}")));
    }
    serde_json::from_str(&body).map_err(|error| Trouble::Wrong(format!("{error} in {body}")))
}

fn cause(error: &reqwest::Error) -> String {
    let mut at: &dyn std::error::Error = error;
    while let Some(source) = at.source() {
        at = source;
    }
    at.to_string()
}

fn understand(status: u16, body: &str) -> Answer {
    let value: Value = serde_json::from_str(body).unwrap_or(Value::Null);
    let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let kind = text("type");
    match status {
        200 if value["result"].is_object() => {
            Answer::Settled { handoff: text("handoff_id"), result: value["result"].clone() }
        }
        200 | 202 if !text("handoff_id").is_empty() => {
            Answer::Accepted { handoff: text("handoff_id"), state: text("state") }
        }
        409 if kind.ends_with("/delivery-conflict") => Answer::Conflict,
        409 if kind.ends_with("/forgotten") => Answer::Forgotten,
        429 if kind.ends_with("/busy") => Answer::Busy,
        404 => Answer::NotFound,
        503 => Answer::Unavailable(kind),
        _ => Answer::Unexpected(status, body.chars().take(300).collect()),
    }
}
