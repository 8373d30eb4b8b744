//! From the library's types to ours: the last place that sees one of Discord's messages.

use clankie_domain::request::Attachment;
use serenity::model::channel::{Attachment as Sent, Message};

use super::identity::{Addressed, Author, Place, Said, file_name};

/// What stands for a media type that Discord does not tell.
const UNKNOWN_TYPE: &str = "application/octet-stream";

/// A message, as the rules see it.
pub(super) fn said(message: &Message, place: Place, bot: u64) -> Said {
    let machine = message.author.bot || message.webhook_id.is_some() || message.author.system;
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
