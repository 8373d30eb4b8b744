//! Conversations: which there are, one of them, and its display read along.
//!
//! A place in a display is opaque to a client: it holds how far the room's words and how far the
//! answers were read, since each comes in an order of its own.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use clankie_actors::feed::{Display, DisplayPlace};
use clankie_actors::mail::ConversationSummary;
use clankie_domain::ids::ConversationId;
use clankie_domain::mailbox::MailRefusal;

use super::mail::{conversation_id, looked, refused};
use crate::http::problem::Problem;
use crate::http::wait::{Progress, until};
use crate::owner::auth::Principal;
use crate::owner::wire::{
    ConversationBody, ConversationFound, ConversationGet, ConversationLines, ConversationTail, Conversations,
    Dispatched, DisplayBody,
};

/// Lines of one page: at most some MiB of text.
const PAGE: usize = 200;
/// Longest wait for a line: a call over a slow link is asked again before anything in between gives up.
const WAIT_MAX_MS: u64 = 20_000;

/// Every conversation in which anything is kept.
pub(super) fn list(principal: &Principal) -> Result<Dispatched<Conversations>, Problem> {
    let clankie = principal.access().clankie();
    // The cursor is read first: whatever happens after it is heard of by who reads on from there.
    let cursor = clankie.feed_place()?.to_string();
    Ok(match looked(clankie.conversations())? {
        Ok(all) => {
            let conversations = all.iter().map(ConversationBody::from).collect();
            Dispatched::Ready(Conversations { conversations, cursor })
        }
        Err(why) => refused(principal, why),
    })
}

/// One conversation.
pub(super) fn get(principal: &Principal, which: &ConversationGet) -> Result<Dispatched<ConversationFound>, Problem> {
    let id = conversation_id(&which.conversation_id)?;
    Ok(match find(principal, &id)? {
        Ok(summary) => Dispatched::Ready(ConversationFound { conversation: ConversationBody::from(&summary) }),
        Err(why) => refused(principal, why),
    })
}

/// Lines after a place; with a wait, as soon as there is one. The credential is looked at after each pause.
pub(super) async fn tail(
    principal: &Principal,
    call: &ConversationTail,
) -> Result<Dispatched<ConversationLines>, Problem> {
    let id = conversation_id(&call.conversation_id)?;
    let after = call.after.as_deref().map(place).transpose()?.unwrap_or_default();
    let wait = wait(call.wait_ms)?;
    let summary = match find(principal, &id)? {
        Ok(summary) => summary,
        Err(why) => return Ok(refused(principal, why)),
    };
    let display = Display { conversation: summary.conversation, room: summary.room };
    let clankie = principal.access().clankie();
    let pause = |slice: Duration| clankie.wait_display(&display, after, slice);
    until(wait, || page(principal, &display, after), pause).await
}

fn page(
    principal: &Principal,
    display: &Display,
    after: DisplayPlace,
) -> Result<Progress<Dispatched<ConversationLines>>, Problem> {
    principal.still_stands()?;
    let (lines, next) = match looked(principal.access().clankie().display_after(display, after, PAGE))? {
        Ok(found) => found,
        Err(why) => return Ok(Progress::Done(refused(principal, why))),
    };
    let empty = lines.is_empty();
    let lines = lines.iter().map(DisplayBody::from).collect();
    let page = Dispatched::Ready(ConversationLines { lines, next: token(next) });
    Ok(if empty { Progress::NotYet(page) } else { Progress::Done(page) })
}

fn find(principal: &Principal, id: &ConversationId) -> Result<Result<ConversationSummary, MailRefusal>, Problem> {
    let all = looked(principal.access().clankie().conversations())?;
    Ok(all.and_then(|all| all.into_iter().find(|one| one.conversation == *id).ok_or(MailRefusal::UnknownConversation)))
}

fn wait(wait_ms: Option<u64>) -> Result<Duration, Problem> {
    match wait_ms.unwrap_or(0) {
        wait if wait <= WAIT_MAX_MS => Ok(Duration::from_millis(wait)),
        _ => Err(Problem::field("wait_ms", "must be at most 20000")),
    }
}

fn token(place: DisplayPlace) -> String {
    URL_SAFE_NO_PAD.encode(format!("{}/{}", place.said, place.answered))
}

fn place(text: &str) -> Result<DisplayPlace, Problem> {
    let parsed = decoded(text).filter(|place| token(*place) == text);
    parsed.ok_or_else(|| Problem::field("after", "must be the next of an earlier page"))
}

fn decoded(text: &str) -> Option<DisplayPlace> {
    let plain = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
    let (said, answered) = plain.split_once('/')?;
    Some(DisplayPlace { said: said.parse().ok()?, answered: answered.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_a_display_reads_back_and_nothing_else_is_one() {
        for place_there in [DisplayPlace::default(), DisplayPlace { said: u64::MAX, answered: 7 }] {
            assert_eq!(place(&token(place_there)), Ok(place_there));
        }
        let encoded = |text: &str| URL_SAFE_NO_PAD.encode(text);
        for wrong in ["", "0", "../x", &encoded("1"), &encoded("1/2/3"), &encoded("+1/2"), &encoded("01/2"), "MC8w="] {
            assert_eq!(place(wrong).unwrap_err().body().field.as_deref(), Some("after"), "{wrong:?}");
        }
    }

    #[test]
    fn a_wait_is_at_most_twenty_seconds() {
        assert_eq!(wait(None), Ok(Duration::ZERO));
        assert_eq!(wait(Some(20_000)), Ok(Duration::from_secs(20)));
        assert_eq!(wait(Some(20_001)).unwrap_err().body().field.as_deref(), Some("wait_ms"));
    }
}
