//! From what a lane sends to a request: every field is checked here and nowhere further in.

use clankie_domain::grant::{Gateway, Plan, Transport};
use clankie_domain::ids::{ActorId, DeliveryId, RoomId};
use clankie_domain::principal::{Token, TokenKind};
use clankie_domain::request::{
    ATTACHMENTS_MAX, Attachment, CONTEXT_MAX, Quote, REQUEST_MAX, Request, Source, display_name, request_text,
};

use crate::http::problem::{Problem, Reason};
use crate::http::wire::{ActorBody, AttachmentBody, EditBody, QuoteBody, SCHEMA_VERSION, TurnBody};

/// Longest name and id of an attachment, in characters: what file systems and chat services give.
const ATTACHMENT_WORD_MAX: usize = 256;
/// Longest media type, after RFC 6838's two names of at most 127 characters and a parameter.
const MIME_MAX: usize = 300;
/// Longest address of an attachment: signed links are long.
const URL_MAX: usize = 2_048;

/// The request that `lane` hands in.
pub(super) fn request(lane: &Token, body: TurnBody) -> Result<Request, Problem> {
    if body.schema_version != SCHEMA_VERSION {
        return Err(Problem::field("schema_version", "must be 1"));
    }
    let source = source(lane, Some(&body.source))?;
    let text = request_text(&body.body, body.attachments.len())?;
    Ok(Request {
        room: RoomId::ingress(&lane.name, &body.room)?,
        delivery: DeliveryId::parse(&body.delivery_id)?,
        actor: ActorId::ingress(&lane.name, &body.actor.id)?,
        actor_name: shown(&body.actor),
        source,
        transport: Transport { gateway: Gateway::Ingress, lane: lane.name.clone() },
        guild: None,
        wanted: wanted(body.grant.as_deref())?,
        text,
        attachments: attachments(body.attachments)?,
        context: context(body.context)?,
    })
}

/// The edited request; what the path says and the body repeats must agree.
pub(super) fn edited(lane: &Token, path: (String, String), body: EditBody) -> Result<Request, Problem> {
    let (room, delivery_id) = path;
    let agree = |field: &str, repeated: Option<String>, named: &str| match repeated {
        Some(repeated) if repeated != named => Err(Problem::field(field, "must be as in the path, or left out")),
        Some(_) | None => Ok(()),
    };
    agree("room", body.room, &room)?;
    agree("delivery_id", body.delivery_id, &delivery_id)?;
    let spoken = match source(lane, body.source.as_deref())? {
        Source::Voice => "voice",
        Source::Text | Source::Continuation => "text",
    };
    let turn = TurnBody {
        schema_version: body.schema_version.unwrap_or(SCHEMA_VERSION),
        room,
        delivery_id,
        source: spoken.to_owned(),
        actor: body.actor,
        body: body.body,
        attachments: body.attachments,
        context: body.context,
        grant: body.grant,
    };
    request(lane, turn)
}

/// What the lane's token stands for; naming anything else is not the lane's to do.
fn source(lane: &Token, named: Option<&str>) -> Result<Source, Problem> {
    let own = match lane.kind {
        TokenKind::LaneText => Source::Text,
        TokenKind::LaneVoice => Source::Voice,
        TokenKind::Operator | TokenKind::Captain | TokenKind::Account | TokenKind::Device => {
            return Err(Problem::new(Reason::Forbidden));
        }
    };
    let named = match named {
        None => own,
        Some("text") => Source::Text,
        Some("voice") => Source::Voice,
        Some(_) => return Err(Problem::field("source", "must be text or voice")),
    };
    if named == own { Ok(own) } else { Err(Problem::new(Reason::Forbidden)) }
}

fn wanted(grant: Option<&str>) -> Result<Option<Plan>, Problem> {
    match grant {
        None => Ok(None),
        Some("social") => Ok(Some(Plan::Social)),
        Some("machine") => Ok(Some(Plan::Machine)),
        Some("owner") => Ok(Some(Plan::Owner)),
        Some(_) => Err(Problem::field("grant", "must be social, machine or owner")),
    }
}

fn shown(actor: &ActorBody) -> String {
    actor.name.as_deref().and_then(display_name).or_else(|| display_name(&actor.id)).unwrap_or_default()
}

fn attachments(files: Vec<AttachmentBody>) -> Result<Vec<Attachment>, Problem> {
    if files.len() > ATTACHMENTS_MAX {
        return Err(Problem::field("attachments", "at most 10 attachments; send fewer"));
    }
    files.into_iter().enumerate().map(|(at, file)| attachment(at, file)).collect()
}

fn attachment(at: usize, file: AttachmentBody) -> Result<Attachment, Problem> {
    let check = |sound: bool, field: &str, rule: &str| {
        if sound { Ok(()) } else { Err(Problem::field(format!("attachments.{at}.{field}"), rule)) }
    };
    check(is_word(&file.id), "id", "must be 1–256 printable characters")?;
    let path = file.name.contains(['/', '\\']) || matches!(file.name.as_str(), "." | "..");
    check(is_word(&file.name) && !path, "name", "must be 1–256 printable characters, without a path")?;
    check(is_mime(&file.mime_type), "mime_type", "must be a media type such as image/png")?;
    check(is_address(&file.url), "url", "must be an http or https address of at most 2048 characters")?;
    Ok(Attachment { id: file.id, name: file.name, mime_type: file.mime_type, size: file.size, url: file.url })
}

fn is_word(text: &str) -> bool {
    let chars = text.chars().count();
    (1..=ATTACHMENT_WORD_MAX).contains(&chars) && !text.trim().is_empty() && !text.chars().any(char::is_control)
}

fn is_mime(text: &str) -> bool {
    let essence = text.split(';').next().unwrap_or_default().trim_end();
    let name = |part: &str| {
        let legal = |c: char| c.is_ascii_alphanumeric() || "!#$&-^_.+".contains(c);
        !part.is_empty() && part.chars().all(legal)
    };
    let whole = text.len() <= MIME_MAX && text.chars().all(|c| c.is_ascii() && !c.is_ascii_control());
    whole && essence.split_once('/').is_some_and(|(kind, sub)| name(kind) && name(sub))
}

fn is_address(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let host = rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_alphanumeric() || c == '['));
    host && text.len() <= URL_MAX && !text.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\')
}

fn context(quotes: Vec<QuoteBody>) -> Result<Vec<Quote>, Problem> {
    if quotes.len() > CONTEXT_MAX {
        return Err(Problem::field("context", "at most 50 quotes; send the newest"));
    }
    let quote = |(at, quote): (usize, QuoteBody)| {
        if quote.text.len() > REQUEST_MAX {
            return Err(Problem::field(format!("context.{at}.text"), "at most 16384 bytes"));
        }
        Ok(Quote { author: display_name(&quote.author).unwrap_or_default(), text: quote.text })
    };
    quotes.into_iter().enumerate().map(quote).collect()
}

#[cfg(test)]
mod tests;
