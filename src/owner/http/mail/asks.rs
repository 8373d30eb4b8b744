//! Asks: listed, shown, answered, cancelled, marked as seen.

use clankie_actors::feed::FeedPlace;
use clankie_actors::mail::{AskView, MailReply};
use clankie_domain::answer::StoredAnswer;
use clankie_domain::ask::Resolution;
use clankie_domain::ids::ConversationId;
use clankie_domain::mailbox::MailRefusal;
use clankie_domain::result::By;

use super::{advice, known, looked, not_an_answer, parse, refused};
use crate::http::problem::Problem;
use crate::owner::auth::Principal;
use crate::owner::wire::{
    ByBody, Dispatched, InputAnswer, InputCancel, InputGet, InputList, InputResult, MarkSeen, QuestionBody, Questions,
};

const READY: &str = "ready";
const RESOLVED: &str = "resolved";
const REVISION_CONFLICT: &str = "revision_conflict";
const REFUSED: &str = "refused";

/// One page, of one snapshot, with the cursor of it.
pub(in crate::owner::http) fn list(principal: &Principal, query: &InputList) -> Result<Dispatched<Questions>, Problem> {
    let (asked, nothing) = parse::asks(query)?;
    let mut page = match looked(principal.access().clankie().asks(&asked))? {
        Ok(page) => page,
        Err(why) => return Ok(refused(principal, why)),
    };
    if nothing.is_some() {
        (page.asks, page.next) = (Vec::new(), None);
    }
    if let (true, Some(conversation)) = (page.asks.is_empty(), &asked.conversation)
        && let Err(why) = known(principal, conversation)?
    {
        return Ok(refused(principal, why));
    }
    Ok(Dispatched::Ready(Questions {
        questions: page.asks.iter().map(QuestionBody::from).collect(),
        counts: page.counts.into(),
        cursor: FeedPlace { epoch: page.epoch, seq: page.last_event }.to_string(),
        next: page.next.as_ref().map(parse::token),
    }))
}

/// One ask as it stands.
pub(in crate::owner::http) fn get(principal: &Principal, which: &InputGet) -> Result<InputResult, Problem> {
    let (conversation, request) = parse::target(which)?;
    let clankie = principal.access().clankie();
    // The cursor is read first: whatever happens after it is heard of by who reads on from there.
    let cursor = clankie.feed_place()?;
    match looked(clankie.ask_of(&conversation, request))? {
        Ok(Some(view)) => Ok(shown(READY, &view, cursor)),
        Ok(None) => {
            let why = known(principal, &conversation)?.err().unwrap_or(MailRefusal::StaleRequest);
            Ok(no_ask(principal, why, Some(&conversation)))
        }
        Err(why) => Ok(no_ask(principal, why, Some(&conversation))),
    }
}

/// Answers an ask. An answer that is taken is stored together with what it promises.
pub(in crate::owner::http) async fn answer(principal: &Principal, call: InputAnswer) -> Result<InputResult, Problem> {
    let (conversation, aim, answer) = parse::answer(call)?;
    let cursor = principal.access().clankie().feed_place()?;
    let answered = principal.access().clankie().answer(&conversation, aim, answer, principal.answerer()).await;
    told(principal, looked(answered)?, Some(&conversation), cursor)
}

/// Cancels an ask, which is never an answer to it.
pub(in crate::owner::http) async fn cancel(principal: &Principal, call: &InputCancel) -> Result<InputResult, Problem> {
    let (conversation, aim) = parse::aim(call)?;
    let cursor = principal.access().clankie().feed_place()?;
    let cancelled = principal.access().clankie().cancel_ask(&conversation, aim, principal.answerer()).await;
    told(principal, looked(cancelled)?, Some(&conversation), cursor)
}

/// Takes note of an answer that was not delivered.
pub(in crate::owner::http) async fn mark_seen(principal: &Principal, which: &MarkSeen) -> Result<InputResult, Problem> {
    let request = parse::request_id(&which.request_id)?;
    let cursor = principal.access().clankie().feed_place()?;
    let seen = principal.access().clankie().mark_seen(request, principal.answerer()).await;
    told(principal, looked(seen)?, None, cursor)
}

fn told(
    principal: &Principal,
    reply: Result<MailReply, MailRefusal>,
    conversation: Option<&ConversationId>,
    cursor: FeedPlace,
) -> Result<InputResult, Problem> {
    match reply {
        Ok(MailReply::Resolved(view)) => Ok(shown(RESOLVED, &view, cursor)),
        Ok(MailReply::RevisionConflict(view)) => Ok(shown(REVISION_CONFLICT, &view, cursor)),
        Ok(MailReply::Refused(MailRefusal::OwnerUnavailable, _)) => {
            Ok(no_ask(principal, MailRefusal::OwnerUnavailable, conversation))
        }
        Ok(MailReply::Refused(MailRefusal::ConflictingAnswer, Some(view))) => Ok(InputResult {
            reason: Some(MailRefusal::ConflictingAnswer.as_str().to_owned()),
            detail: Some(before(&view)),
            ..shown(REFUSED, &view, cursor)
        }),
        Ok(MailReply::Refused(why, Some(view))) => Ok(InputResult {
            reason: Some(why.as_str().to_owned()),
            detail: Some(advice(principal, why)),
            ..shown(REFUSED, &view, cursor)
        }),
        Ok(MailReply::Refused(why, None)) | Err(why) => Ok(no_ask(principal, why, conversation)),
        Ok(MailReply::Update(_)) => Err(not_an_answer()),
    }
}

/// What became of an ask before this call came. Of a private answer it must not say whether the call's
/// is another one.
fn before(view: &AskView) -> String {
    let who = |by: &By| {
        let ByBody { kind, id } = by.into();
        format!("{kind} {id}")
    };
    match &view.entry.resolution {
        Resolution::Cancelled { by, .. } => format!("it was cancelled by {}, so no answer is taken", who(by)),
        Resolution::Submitted { answer: StoredAnswer::Sealed(_), by, .. } => {
            format!("it was answered before, by {}; that answer is private and stands", who(by))
        }
        Resolution::Submitted { answer: StoredAnswer::Open(_), by, .. } => {
            format!("it was answered otherwise before, by {}; that answer stands", who(by))
        }
        Resolution::Pending => "it was resolved otherwise before; read it again".to_owned(),
    }
}

fn shown(status: &str, view: &AskView, cursor: FeedPlace) -> InputResult {
    InputResult {
        status: status.to_owned(),
        conversation_id: Some(view.head.conversation.to_string()),
        incarnation_id: Some(view.head.incarnation.to_string()),
        revision: Some(view.head.revision),
        safe_cursor: Some(cursor.to_string()),
        question: Some(view.into()),
        reason: None,
        detail: None,
    }
}

/// A refusal that shows no ask: there is none, or it is not for this caller.
fn no_ask(principal: &Principal, why: MailRefusal, conversation: Option<&ConversationId>) -> InputResult {
    InputResult {
        status: REFUSED.to_owned(),
        conversation_id: conversation.map(ToString::to_string),
        incarnation_id: None,
        revision: None,
        safe_cursor: None,
        question: None,
        reason: Some(why.as_str().to_owned()),
        detail: Some(advice(principal, why)),
    }
}
