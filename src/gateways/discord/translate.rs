//! From the library's types to ours: the last place that sees one of Discord's messages.

use clankie_domain::request::{Attachment, file_name};
use serenity::model::channel::{Attachment as Sent, Message, MessageType};
use serenity::model::event::Event;

use super::identity::{Addressed, Author, Place, Said};
use super::lanes::Item;
use super::places::At;

/// What stands for a media type that Discord does not tell.
const UNKNOWN_TYPE: &str = "application/octet-stream";

/// A message, as the rules see it.
pub(super) fn said(message: &Message, place: Place, bot: u64) -> Said {
    let machine = message.author.bot || message.webhook_id.is_some() || message.author.system;
    // A rename, a pin or a join comes in a person's name, and nobody wrote it.
    let machine = machine || !matches!(message.kind, MessageType::Regular | MessageType::InlineReply);
    let mentioned = message.mentions.iter().any(|user| user.id.get() == bot);
    let replied = message.referenced_message.as_ref().is_some_and(|answered| answered.author.id.get() == bot);
    let member = message.member.as_ref().and_then(|member| member.nick.clone());
    Said {
        id: message.id.get(),
        place,
        author: if machine { Author::Machine } else { Author::Person },
        author_id: message.author.id.get(),
        author_name: member.unwrap_or_else(|| message.author.display_name().to_owned()),
        addressed: if mentioned || replied { Addressed::Yes } else { Addressed::No },
        text: message.content.clone(),
        attachments: message.attachments.iter().map(attachment).collect(),
    }
}

/// A file, by reference: its link is Discord's own and expires within about a day.
pub(super) fn attachment(sent: &Sent) -> Attachment {
    Attachment {
        id: sent.id.to_string(),
        name: file_name(&sent.filename),
        mime_type: sent.content_type.clone().unwrap_or_else(|| UNKNOWN_TYPE.to_owned()),
        size: u64::from(sent.size),
        url: sent.url.clone(),
    }
}

/// Whether an event says something about messages.
pub(super) fn is_about_messages(event: &Event) -> bool {
    matches!(
        event,
        Event::MessageCreate(_) | Event::MessageUpdate(_) | Event::MessageDelete(_) | Event::MessageDeleteBulk(_)
    )
}

/// What an event about messages says, each with its place.
pub(super) fn items(event: Event) -> Vec<(At, Item)> {
    if let Event::MessageCreate(created) = event {
        let message = created.message;
        let at = At { guild: message.guild_id.map(|guild| guild.get()), channel: message.channel_id.get() };
        return vec![(at, Item::Message(Box::new(message)))];
    }
    if let Event::MessageUpdate(update) = event {
        let at = At { guild: update.guild_id.map(|guild| guild.get()), channel: update.channel_id.get() };
        return vec![(at, Item::Edited(Box::new(update)))];
    }
    let (channel, guild, gone) = if let Event::MessageDelete(gone) = event {
        (gone.channel_id, gone.guild_id, vec![gone.message_id])
    } else if let Event::MessageDeleteBulk(gone) = event {
        (gone.channel_id, gone.guild_id, gone.ids)
    } else {
        return Vec::new();
    };
    let at = At { guild: guild.map(|guild| guild.get()), channel: channel.get() };
    gone.iter().map(|message| (at, Item::Deleted { message: message.get() })).collect()
}
