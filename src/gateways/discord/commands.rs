//! Slash commands: they read, or cancel the speaker's own run. None answers an ask or approves.
//!
//! Every answer is deferred first and seen by the speaker only. Every call has a deadline and keeps
//! to Discord's limits, like all others.

use std::sync::atomic::Ordering;
use std::time::Duration;

use clankie_actors::{Clankie, HandoffQuery};
use clankie_domain::admission::room::{Canceller, Which};
use clankie_domain::handoff::HandoffRecord;
use serde_json::{Value, json};
use serenity::all::{CommandInteraction, CommandOptionType, CreateCommand, CreateCommandOption};
use serenity::http::{LightMethod, Request, Route};
use serenity::model::id::ApplicationId;
use tokio::time::Instant;

use super::Shared;
use super::answers::{Stopped, stopped};
use super::identity::{Direct, Place, actor};
use super::lane::newest_live;
use super::lanes::Roads;
use super::limits::CallError;
use super::places::{At, Looked};
use super::rest::Rest;
use super::status::Commands;

/// How long the first answer may take: Discord gives a command up after three seconds.
const DEFER_DEADLINE: Duration = Duration::from_millis(2_500);
/// How long the words may take after it: whoever asked still looks at them.
const ANSWER_DEADLINE: Duration = Duration::from_secs(60);
/// Rest before the words are sent once more, and before the commands are registered once more.
const AGAIN: Duration = Duration::from_secs(1);
/// How long registering the commands may take, waiting for a limit included.
const SYNC_DEADLINE: Duration = Duration::from_secs(60);
/// Tries of it in one session of the gateway.
const SYNC_TRIES: u32 = 10;
/// Discord's word for "an answer will come", and for "only the speaker sees it".
const DEFERRED: u8 = 5;
const EPHEMERAL: u8 = 1 << 6;
const NAME: &str = "clankie";
/// Handoffs of a list: what fits on a screen.
const LISTED: usize = 10;
/// How much of a request a list shows, in characters.
const SHOWN: usize = 60;
const HELP: &str = "`/clankie status` how much runs and waits\n`/clankie handoffs` your own handoffs here\n\
                    `/clankie cancel` ends your newest run here\nDecisions are the owner's, on the owner's own screen.";

/// Registers the commands, all at once, over whatever was there, for as long as this session lasts.
pub(super) async fn sync(roads: &Roads, application: ApplicationId) {
    let epoch = roads.epoch.load(Ordering::Acquire);
    for _ in 0..SYNC_TRIES {
        let synced = match roads.shared.rest.register(application).await {
            Ok(_) => Commands::Synced,
            Err(error @ CallError::Refused { .. }) => {
                tracing::warn!(%error, "the slash commands were refused");
                Commands::Refused
            }
            Err(error @ (CallError::Unclear(_) | CallError::NotSent(_))) => {
                tracing::info!(%error, "the slash commands were not registered; it is tried again");
                Commands::NotYet
            }
        };
        roads.shared.board.change(|status| status.commands = synced);
        if synced != Commands::NotYet || roads.epoch.load(Ordering::Acquire) != epoch {
            return;
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// Answers one command.
pub(super) async fn answer(roads: Roads, asked: CommandInteraction) {
    if asked.data.name != NAME {
        return;
    }
    let rest = &roads.shared.rest;
    match rest.defer(&asked).await {
        Ok(()) => {}
        // The answer may be awaited all the same.
        Err(error @ CallError::Unclear(_)) => tracing::info!(%error, "nobody knows whether a command is awaited"),
        Err(error @ (CallError::Refused { .. } | CallError::NotSent(_))) => {
            tracing::info!(%error, "a command was not answered in time");
            return;
        }
    }
    let at = At { guild: asked.guild_id.map(|guild| guild.get()), channel: asked.channel_id.get() };
    let text = match roads.places.find(&roads.shared, at).await {
        Looked::Here(place) => said(&roads.shared, &roads.clankie, place, &asked).await,
        Looked::Nowhere | Looked::Unknown => sorry(),
    };
    if let Err(error) = rest.put_answer(&asked, &text).await {
        tracing::info!(%error, "the answer to a command was not shown");
    }
}

impl Rest {
    async fn register(&self, application_id: ApplicationId) -> Result<Value, CallError> {
        let sub = |name: &str, does: &str| CreateCommandOption::new(CommandOptionType::SubCommand, name, does);
        let command = CreateCommand::new(NAME)
            .description("What Clankie does here")
            .add_option(sub("status", "How much runs and waits"))
            .add_option(sub("handoffs", "Your own handoffs in this room"))
            .add_option(sub("cancel", "End your newest run in this room"))
            .add_option(sub("help", "What these commands do"));
        let body = serde_json::to_vec(&[command]).map_err(|error| CallError::NotSent(error.to_string()))?;
        let request = Request::new(Route::Commands { application_id }, LightMethod::Put).body(Some(body));
        self.call("commands", request, Instant::now() + SYNC_DEADLINE).await
    }

    async fn defer(&self, asked: &CommandInteraction) -> Result<(), CallError> {
        let body = json!({ "type": DEFERRED, "data": { "flags": EPHEMERAL } }).to_string().into_bytes();
        let route = Route::InteractionResponse { interaction_id: asked.id, token: &asked.token };
        let request = Request::new(route, LightMethod::Post).body(Some(body));
        self.done(&format!("command {}", asked.id), request, Instant::now() + DEFER_DEADLINE).await
    }

    /// Puts the words where they are awaited; doing so twice is harmless.
    async fn put_answer(&self, asked: &CommandInteraction, text: &str) -> Result<(), CallError> {
        let body = json!({ "content": text, "allowed_mentions": { "parse": [] } }).to_string().into_bytes();
        let until = Instant::now() + ANSWER_DEADLINE;
        let (application_id, token) = (asked.application_id, asked.token.as_str());
        loop {
            let route = Route::WebhookOriginalInteractionResponse { application_id, token };
            let request = Request::new(route, LightMethod::Patch).body(Some(body.clone()));
            match self.done(&format!("command {}", asked.id), request, until).await {
                Err(CallError::Unclear(_) | CallError::NotSent(_)) if Instant::now() + AGAIN < until => {
                    tokio::time::sleep(AGAIN).await;
                }
                known => return known,
            }
        }
    }
}

async fn said(shared: &Shared, clankie: &Clankie, place: Place, asked: &CommandInteraction) -> String {
    let (Ok(room), Ok(speaker)) = (place.room(), actor(asked.user.id.get())) else { return sorry() };
    let policy = &shared.settings.policy;
    let closed = place.guild.is_none() && policy.direct == Direct::Owners && !policy.owners.contains(&speaker);
    if !policy.hears(&place) || closed {
        return "I do not listen here.".to_owned();
    }
    let sub = asked.data.options.first().map(|option| option.name.as_str());
    match sub {
        Some("status") => counts(clankie),
        Some("handoffs") => {
            let (room, actor) = (Some(room), Some(speaker));
            let query = HandoffQuery { room, actor, limit: LISTED, ..HandoffQuery::default() };
            clankie.handoffs(&query).map_or_else(|_| sorry(), |page| list(&page.handoffs))
        }
        Some("cancel") => match newest_live(clankie, (&room, &speaker), None) {
            None => "Nothing of yours runs or waits here.".to_owned(),
            Some(live) => cancel(clankie, &live, speaker).await,
        },
        Some(_) | None => HELP.to_owned(),
    }
}

fn counts(clankie: &Clankie) -> String {
    let query = HandoffQuery { limit: 1, ..HandoffQuery::default() };
    match clankie.handoffs(&query) {
        Ok(page) => {
            let (tally, limits) = (page.tally, page.limits);
            format!("{} of {} running, {} of {} waiting.", tally.running, limits.running, tally.waiting, limits.waiting)
        }
        Err(_) => sorry(),
    }
}

fn list(handoffs: &[HandoffRecord]) -> String {
    if handoffs.is_empty() {
        return "You have no handoffs here.".to_owned();
    }
    let line = |record: &HandoffRecord| {
        let words: String = record.request.chars().filter(|c| !c.is_control() && *c != '`').take(SHOWN).collect();
        format!("{}: `{words}`", record.state_name().as_str())
    };
    handoffs.iter().map(line).collect::<Vec<_>>().join("\n")
}

async fn cancel(clankie: &Clankie, live: &HandoffRecord, speaker: clankie_domain::ids::ActorId) -> String {
    let answer = clankie.cancel(&live.room, Which::Handoff(live.id), Canceller::Speaker(speaker)).await;
    match answer.as_ref().map(stopped) {
        Ok(Stopped::Stopping) => "It is being stopped.".to_owned(),
        Ok(Stopped::Cancelled) => "It is cancelled.".to_owned(),
        Ok(Stopped::OverBefore) => "It is over already.".to_owned(),
        Ok(Stopped::Nothing | Stopped::Later) | Err(_) => sorry(),
    }
}

fn sorry() -> String {
    "I cannot answer that right now.".to_owned()
}
