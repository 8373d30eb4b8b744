//! What a call names, read strictly: identities, filters, answers, and places in a list.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use clankie_actors::mail::{AskQuery, ListPlace, UpdateFilter, UpdateQuery};
use clankie_domain::answer::Answer;
use clankie_domain::ask::AskStatus;
use clankie_domain::ids::{ConversationId, IncarnationId, OptionId, RequestId, RunId, UpdateId};
use clankie_domain::mailbox::Aim;
use uuid::Uuid;

use crate::http::problem::Problem;
use crate::owner::wire::{AnswerBody, InputAnswer, InputCancel, InputGet, InputList, OwnerUpdateId, OwnerUpdateList};

/// Asks of one page: what a screen scrolls through, and at most some MiB.
pub(super) const PAGE: usize = 200;
/// Most updates of one answer, over all sources.
pub(super) const UPDATES_MAX: usize = 1_000;
/// Characters of a UUID with its hyphens; other spellings of one are refused.
const UUID_CHARS: usize = 36;
/// Longest name of a work item.
const WORK_ID_MAX: usize = 128;

/// Reads a conversation's id.
pub(in crate::owner::http) fn conversation_id(text: &str) -> Result<ConversationId, Problem> {
    Ok(ConversationId::parse(text)?)
}

fn uuid(text: &str, field: &str) -> Result<Uuid, Problem> {
    let whole = (text.len() == UUID_CHARS).then(|| Uuid::try_parse(text).ok()).flatten();
    whole.ok_or_else(|| Problem::field(field, "must be a UUID with its hyphens"))
}

pub(super) fn request_id(text: &str) -> Result<RequestId, Problem> {
    uuid(text, "request_id").map(RequestId)
}

pub(super) fn update_id(which: &OwnerUpdateId) -> Result<UpdateId, Problem> {
    uuid(&which.id, "id").map(UpdateId)
}

/// Which ask a look means.
pub(super) fn target(which: &InputGet) -> Result<(ConversationId, RequestId), Problem> {
    Ok((conversation_id(&which.conversation_id)?, request_id(&which.request_id)?))
}

/// Which ask a cancel means, and what was read before it.
pub(super) fn aim(call: &InputCancel) -> Result<(ConversationId, Aim), Problem> {
    let aim = Aim {
        request: request_id(&call.request_id)?,
        incarnation: uuid(&call.incarnation_id, "incarnation_id").map(IncarnationId)?,
        revision: call.expected_revision,
    };
    Ok((conversation_id(&call.conversation_id)?, aim))
}

/// Which ask an answer means, and the answer.
pub(super) fn answer(call: InputAnswer) -> Result<(ConversationId, Aim, Answer), Problem> {
    let InputAnswer { conversation_id, request_id, incarnation_id, expected_revision, answer } = call;
    let (conversation, aim) = aim(&InputCancel { conversation_id, request_id, incarnation_id, expected_revision })?;
    let answer = match answer {
        AnswerBody::Choice { option_id } => {
            Answer::Choice { option: uuid(&option_id, "answer.option_id").map(OptionId)? }
        }
        AnswerBody::Text { text } => Answer::Text { text },
        AnswerBody::Worker { answers } => Answer::Worker { answers },
    };
    Ok((conversation, aim, answer))
}

/// Which asks are listed. None has a work item, so `None` stands for a list that is empty.
pub(super) fn asks(query: &InputList) -> Result<(AskQuery, Option<Nothing>), Problem> {
    let status = |name: &String| {
        AskStatus::parse(name).ok_or_else(|| Problem::field("status", "must be pending, submitted or cancelled"))
    };
    let asked = AskQuery {
        conversation: query.conversation_id.as_deref().map(conversation_id).transpose()?,
        run: query.run_id.as_deref().map(|id| uuid(id, "run_id").map(RunId)).transpose()?,
        status: query.status.as_ref().map(status).transpose()?,
        after: query.after.as_deref().map(place).transpose()?,
        limit: PAGE,
    };
    Ok((asked, query.work_id.as_deref().map(work).transpose()?))
}

/// No ask has a work item yet, so a list by one holds nothing.
#[derive(Debug, PartialEq)]
pub(super) struct Nothing;

fn work(id: &str) -> Result<Nothing, Problem> {
    let sound = !id.trim().is_empty() && id.chars().count() <= WORK_ID_MAX && !id.chars().any(char::is_control);
    sound.then_some(Nothing).ok_or_else(|| Problem::field("work_id", "must be 1–128 printable characters"))
}

/// Which updates are listed.
pub(super) fn updates(query: &OwnerUpdateList) -> Result<UpdateQuery, Problem> {
    let show = match query.state.as_deref() {
        None => UpdateFilter::Open,
        Some("unread") => UpdateFilter::Unread,
        Some("read") => UpdateFilter::Read,
        Some("dismissed") => UpdateFilter::Dismissed,
        Some("all") => UpdateFilter::All,
        Some(_) => return Err(Problem::field("state", "must be unread, read, dismissed or all")),
    };
    let conversation = query.conversation_id.as_deref().map(conversation_id).transpose()?;
    Ok(UpdateQuery { conversation, show, limit: UPDATES_MAX })
}

/// A place as a client carries it. It means nothing outside.
pub(super) fn token(place: &ListPlace) -> String {
    URL_SAFE_NO_PAD.encode(format!("{}/{}/{}", place.at, place.seq, place.conversation))
}

fn place(text: &str) -> Result<ListPlace, Problem> {
    let parsed = decoded(text).filter(|place| token(place) == text);
    parsed.ok_or_else(|| Problem::field("after", "must be the next of an earlier page"))
}

fn decoded(text: &str) -> Option<ListPlace> {
    let plain = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
    let mut parts = plain.splitn(3, '/');
    let (at, seq) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some(ListPlace { at, seq, conversation: ConversationId::parse(parts.next()?).ok()? })
}

#[cfg(test)]
mod tests;
