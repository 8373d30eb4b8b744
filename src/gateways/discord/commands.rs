//! Slash commands: they read, or cancel the speaker's own run. None answers an ask or approves.
//!
//! Every answer is deferred first and seen by the speaker only.

use std::sync::Arc;

use clankie_actors::{Clankie, HandoffQuery};
use clankie_domain::admission::room::{Answer, Canceller, Which};
use clankie_domain::handoff::{HandoffRecord, StateName};
use serenity::all::{
    CommandInteraction, CommandOptionType, CreateCommand, CreateCommandOption, EditInteractionResponse,
};

use super::Shared;
use super::identity::{Direct, Place, actor};
use super::lanes::newest_live;
use super::places::Places;
use super::status::Commands;

const NAME: &str = "clankie";
/// Handoffs of a list: what fits on a screen.
const LISTED: usize = 10;
/// How much of a request a list shows, in characters.
const SHOWN: usize = 60;
const HELP: &str = "`/clankie status` how much runs and waits\n`/clankie handoffs` your own handoffs here\n\
                    `/clankie cancel` ends your newest run here\nDecisions are the owner's, on the owner's own screen.";

/// Registers the commands, all at once, over whatever was there.
pub(super) async fn sync(shared: &Shared) {
    let sub = |name: &str, does: &str| CreateCommandOption::new(CommandOptionType::SubCommand, name, does);
    let command = CreateCommand::new(NAME)
        .description("What Clankie does here")
        .add_option(sub("status", "How much runs and waits"))
        .add_option(sub("handoffs", "Your own handoffs in this room"))
        .add_option(sub("cancel", "End your newest run in this room"))
        .add_option(sub("help", "What these commands do"));
    let synced = match shared.rest.http().create_global_commands(&vec![command]).await {
        Ok(_) => Commands::Synced,
        Err(error) => {
            tracing::warn!(%error, "the slash commands were not registered");
            Commands::Refused
        }
    };
    shared.board.change(|status| status.commands = synced);
}

/// Answers one command.
pub(super) async fn answer(shared: Arc<Shared>, clankie: Clankie, places: Arc<Places>, asked: CommandInteraction) {
    if asked.data.name != NAME {
        return;
    }
    let http = shared.rest.http();
    if let Err(error) = asked.defer_ephemeral(http).await {
        tracing::info!(%error, "a command was not answered in time");
        return;
    }
    let guild = asked.guild_id.map(|guild| guild.get());
    let place = places.find(&shared, asked.channel_id.get(), guild).await;
    let text = said(&shared, &clankie, place, &asked).await;
    let edit = EditInteractionResponse::new().content(text);
    if let Err(error) = asked.edit_response(http, edit).await {
        tracing::info!(%error, "the answer to a command was not shown");
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
        Some("cancel") => match newest_live(clankie, &room, &speaker) {
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
    match answer {
        Ok(Answer::Cancelling { .. }) => "It is being stopped.".to_owned(),
        Ok(Answer::Settled { .. } | Answer::Forgotten) => "It is cancelled.".to_owned(),
        Ok(Answer::Accepted { state: StateName::Cancelled, .. }) => "It is cancelled.".to_owned(),
        Ok(_) => "It is over already.".to_owned(),
        Err(_) => sorry(),
    }
}

fn sorry() -> String {
    "I cannot answer that right now.".to_owned()
}
