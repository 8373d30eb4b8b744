//! The public HTTP surface as the play uses it: what people say, and what the owner reads.

use anyhow::{Context, Result, bail};
use reqwest::header::RETRY_AFTER;
use reqwest::{RequestBuilder, Response, StatusCode};
use serde::de::DeserializeOwned;

use super::people::{Person, Way};
use crate::owner::wire::{
    AccountOpen, ActorBody, ActorRef, BusyBody, CancelBody, DispatchRequest, Dispatched, Handoffs, Operation,
    ProblemBody, RoomMessages, SCHEMA_VERSION, SayBody, TokenCreate, TokenMade, Transcript, TurnAnswer, TurnBody,
};

/// Handoffs of one page: the most that the service gives, far more than an evening has.
const PAGE: usize = 1_000;

/// What a speaker hears.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Heard {
    /// It was admitted, or known: with its result when it is over.
    Turn(TurnAnswer),
    /// Every place is taken.
    Busy {
        /// The facts.
        facts: BusyBody,
        /// Seconds after which to try again.
        retry_after: Option<String>,
    },
    /// Something else is wrong.
    Problem(ProblemBody),
}

/// One thing that one person says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Words<'a> {
    /// The short name of the room.
    pub(super) room: &'a str,
    /// The delivery.
    pub(super) delivery: &'a str,
    /// The words, with what the demo agent is told to do.
    pub(super) text: &'a str,
}

/// A client of the running service.
#[derive(Debug, Clone)]
pub(super) struct Api {
    /// The connections.
    pub(super) http: reqwest::Client,
    /// Where the service is now.
    pub(super) url: String,
    /// The operator's token.
    pub(super) operator: String,
}

impl Api {
    /// Says something as that person.
    pub(super) async fn say(&self, person: &Person, words: Words<'_>) -> Result<Heard> {
        let (room, delivery_id, text) = (words.room.to_owned(), words.delivery.to_owned(), words.text.to_owned());
        let call = match &person.way {
            Way::Account { token } => {
                let url = format!("{}/rooms/v1/{room}/messages", self.url);
                self.http.post(url).bearer_auth(token).json(&SayBody { delivery_id, text })
            }
            Way::Lane { token, .. } => {
                let turn = TurnBody {
                    schema_version: SCHEMA_VERSION,
                    room,
                    delivery_id,
                    source: "text".to_owned(),
                    actor: ActorBody { id: person.id.clone(), name: Some(person.name.to_owned()) },
                    body: text,
                    attachments: vec![],
                    context: vec![],
                    grant: None,
                };
                self.http.post(format!("{}/ingress/v1/turns", self.url)).bearer_auth(token).json(&turn)
            }
        };
        heard(call).await
    }

    /// Cancels a delivery of a lane as that person.
    pub(super) async fn cancel(&self, person: &Person, room: &str, delivery: &str) -> Result<Heard> {
        let Way::Lane { token, .. } = &person.way else { bail!("{} is not on a lane", person.name) };
        let body = CancelBody { actor: ActorRef { id: person.id.clone() } };
        let url = format!("{}/ingress/v1/turns/{room}/{delivery}", self.url);
        heard(self.http.delete(url).bearer_auth(token).json(&body)).await
    }

    /// What was said in a room, from the start, as that person reads it.
    pub(super) async fn messages(&self, person: &Person, room: &str) -> Result<RoomMessages> {
        let (token, url) = match &person.way {
            Way::Account { token } => (token, format!("{}/rooms/v1/{room}/messages?after=0", self.url)),
            Way::Lane { token, .. } => (token, format!("{}/ingress/v1/rooms/{room}/messages?after=0", self.url)),
        };
        read(self.http.get(url).bearer_auth(token)).await
    }

    /// Every handoff, with the counts of the same snapshot.
    pub(super) async fn handoffs(&self) -> Result<Handoffs> {
        let call = self.http.get(format!("{}/operator/v1/handoffs?limit={PAGE}", self.url));
        read(call.bearer_auth(&self.operator)).await
    }

    /// The transcript of one handoff, from the start.
    pub(super) async fn transcript(&self, handoff: &str) -> Result<Transcript> {
        let call = self.http.get(format!("{}/operator/v1/handoffs/{handoff}/transcript?after=0", self.url));
        read(call.bearer_auth(&self.operator)).await
    }

    /// Makes a token for the lane `name`. `None` when the name is taken.
    pub(super) async fn lane(&self, name: &str) -> Result<Option<String>> {
        let create = TokenCreate { kind: "lane-text".to_owned(), name: name.to_owned(), expires_at: None };
        self.made(Operation::TokenCreate(create)).await
    }

    /// Opens the local account `name`. `None` when the name is taken.
    pub(super) async fn account(&self, name: &str) -> Result<Option<String>> {
        self.made(Operation::AccountOpen(AccountOpen { name: name.to_owned() })).await
    }

    /// An operation of the owner. What it comes to has a `status` of its own.
    pub(super) async fn owner<T: DeserializeOwned>(&self, operation: Operation) -> Result<T> {
        let call = self.http.post(format!("{}/operator/v1/dispatch", self.url)).bearer_auth(&self.operator);
        read(call.json(&DispatchRequest::new(operation))).await
    }

    async fn made(&self, operation: Operation) -> Result<Option<String>> {
        match self.owner(operation).await? {
            Dispatched::Ready(TokenMade { secret, .. }) => Ok(Some(secret)),
            Dispatched::Refused(refusal) if refusal.reason == "name_taken" => Ok(None),
            Dispatched::Refused(refusal) => bail!("no token: {} ({})", refusal.detail, refusal.reason),
        }
    }
}

async fn read<T: DeserializeOwned>(call: RequestBuilder) -> Result<T> {
    let answer = call.send().await?;
    let (status, url) = (answer.status(), answer.url().clone());
    if !status.is_success() {
        bail!("{url} answered {status}: {}", answer.text().await.unwrap_or_default());
    }
    answer.json().await.with_context(|| format!("{url} answered in another shape"))
}

async fn heard(call: RequestBuilder) -> Result<Heard> {
    let answer = call.send().await?;
    if answer.status().is_success() {
        return Ok(Heard::Turn(answer.json().await.context("a turn was answered in another shape")?));
    }
    let (status, retry_after) = (answer.status(), retry_after(&answer));
    let problem: ProblemBody = answer.json().await.with_context(|| format!("{status} came without a problem"))?;
    Ok(match (status, problem.busy) {
        (StatusCode::TOO_MANY_REQUESTS, Some(facts)) => Heard::Busy { facts, retry_after },
        (_, busy) => Heard::Problem(ProblemBody { busy, ..problem }),
    })
}

fn retry_after(answer: &Response) -> Option<String> {
    answer.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()).map(str::to_owned)
}
