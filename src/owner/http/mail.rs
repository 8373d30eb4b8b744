//! The owner's mailbox: asks and updates, read and dealt with.
//!
//! What a call comes to is a value, refusals included. A row that cannot be read is one of them:
//! a mailbox that is damaged is never shown as an empty one.

use clankie_actors::Failure;
use clankie_domain::answer::{ANSWER_MAX, SECRET_MIN};
use clankie_domain::ids::ConversationId;
use clankie_domain::mailbox::MailRefusal;

use crate::http::problem::{Problem, Reason};
use crate::owner::auth::Principal;
use crate::owner::wire::{Dispatched, Refusal};

mod asks;
mod parse;
mod updates;

pub(super) use asks::{answer, cancel, get, list, mark_seen};
pub(super) use parse::conversation_id;
pub(super) use updates::{dismiss, list as list_updates, read};

/// A look at the mailbox: what was found, or that it cannot be read.
pub(super) fn looked<T>(found: Result<T, Failure>) -> Result<Result<T, MailRefusal>, Problem> {
    match found {
        Ok(found) => Ok(Ok(found)),
        Err(Failure::Damaged(inside)) => {
            tracing::error!(%inside, "a row of the mailbox cannot be read");
            Ok(Err(MailRefusal::StateUnavailable))
        }
        Err(
            failure @ (Failure::StoreUnavailable(_)
            | Failure::ShuttingDown
            | Failure::Restarting
            | Failure::TooManyInFlight),
        ) => Err(failure.into()),
    }
}

/// Refuses a conversation in which nothing was ever kept.
pub(super) fn known(principal: &Principal, wanted: &ConversationId) -> Result<Result<(), MailRefusal>, Problem> {
    let found = looked(principal.access().clankie().conversations())?;
    Ok(found.and_then(|all| {
        let known = all.iter().any(|one| one.conversation == *wanted);
        known.then_some(()).ok_or(MailRefusal::UnknownConversation)
    }))
}

/// A refusal as a value.
pub(super) fn refused<T>(principal: &Principal, why: MailRefusal) -> Dispatched<T> {
    Dispatched::Refused(Refusal { reason: why.as_str().to_owned(), detail: advice(principal, why) })
}

/// What to do about a refusal. Who has asked the wrong one of several services is told which this is.
fn advice(principal: &Principal, why: MailRefusal) -> String {
    let advice = match why {
        MailRefusal::OwnerUnavailable => "this credential does not hold the mailbox any more",
        MailRefusal::UnknownConversation => {
            let (url, state_dir) = (&principal.surface.facts.url, &principal.surface.facts.state_dir);
            return format!(
                "this service at {url} with its state in {state_dir} has no such conversation; \
                 conversation_list shows those it has, another service may have yours"
            );
        }
        MailRefusal::StateUnavailable => {
            "a row of the mailbox cannot be read; the service's log names it: restore a backup of the store"
        }
        MailRefusal::StaleRequest => "there is no such ask in this life of the conversation; read its asks again",
        MailRefusal::ConflictingAnswer => "it was resolved otherwise before; what it carries here is how it stands",
        MailRefusal::NativeDriverActive => "a native driver owns the conversation; give it back first",
        MailRefusal::InvalidAnswer => {
            return format!(
                "the answer does not fit the ask: one of its options, or 1–{ANSWER_MAX} bytes of words where it takes \
                 words; a private answer has at least {SECRET_MIN} bytes, blanks around it not counted"
            );
        }
        MailRefusal::InvalidWorkerAnswer => "the answer must name every question of the worker exactly once",
        MailRefusal::AnswerInProgress => "an answer to the worker is on its way; read the ask again in a moment",
        MailRefusal::WorkerQuestionResolved => "the worker's question ended elsewhere, so its ask was cancelled",
        MailRefusal::OwnerContextLost => "what the question was about has changed, so it was cancelled",
        MailRefusal::UnknownUpdate => "there is no such update; owner_update_list shows them",
        MailRefusal::NothingToSee => "only an answer that is uncertain or was returned is marked as seen",
        MailRefusal::Busy => "too much happens to this conversation's mailbox at once; nothing changed, call again",
    };
    advice.to_owned()
}

/// The mailbox answered something that this call cannot come to.
fn not_an_answer() -> Problem {
    tracing::error!("the mailbox gave an answer of another kind");
    Problem::new(Reason::Damaged).because("the mailbox gave an answer of another kind; the service's log has more")
}
