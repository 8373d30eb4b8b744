//! An ask answered or cancelled, once: the call, what it came to, and words that must not get lost.
//!
//! Nothing here reads an ask again or sends a call again: whoever is told of a conflict looks first.

use super::card;
use super::client::Client;
use super::failure::Failure;
use super::screen::{Form, Screen};
use crate::owner::wire::{
    AnswerBody, InputAnswer, InputCancel, InputGet, InputResult, Operation, QuestionBody, Refusal,
};

/// What was read, to which an answer is bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Aim {
    pub(super) conversation: String,
    pub(super) request: String,
    pub(super) incarnation: String,
    pub(super) revision: u64,
}

/// Whether the words of an answer may be said back when it was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Privacy {
    Open,
    Private,
}

impl Aim {
    /// The ask as it was shown.
    pub(super) fn at(question: &QuestionBody) -> Self {
        Self {
            conversation: question.conversation_id.clone(),
            request: question.request_id.clone(),
            incarnation: question.incarnation_id.clone(),
            revision: question.revision,
        }
    }
}

/// Answers it. B63: words that were not taken are said back, so that nobody types them twice.
pub(super) async fn answer(
    aim: Aim,
    (answer, privacy): (AnswerBody, Privacy),
    client: &Client,
    screen: &Screen,
) -> Result<(), Failure> {
    let Aim { conversation, request, incarnation, revision } = aim;
    let call = InputAnswer {
        conversation_id: conversation,
        request_id: request.clone(),
        incarnation_id: incarnation,
        expected_revision: revision,
        answer: answer.clone(),
    };
    let ended = settle(Operation::InputAnswer(call), &request, client, screen).await;
    if ended.is_err() {
        said_back(&answer, privacy, screen);
    }
    ended
}

/// Cancels it, which is never an answer.
pub(super) async fn cancel(aim: Aim, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let Aim { conversation, request, incarnation, revision } = aim;
    let call = InputCancel {
        conversation_id: conversation,
        request_id: request.clone(),
        incarnation_id: incarnation,
        expected_revision: revision,
    };
    settle(Operation::InputCancel(call), &request, client, screen).await
}

/// Sends one call that settles an ask and shows what it came to.
pub(super) async fn settle(
    operation: Operation,
    request: &str,
    client: &Client,
    screen: &Screen,
) -> Result<(), Failure> {
    let result = client.settle(operation).await.map_err(|failure| receipt(failure, request))?;
    match (screen.form(), &result.question) {
        (Form::Json, _) => screen.json(&result)?,
        (Form::Table, Some(question)) => screen.lines(&card::ask(question, jiff::Timestamp::now()))?,
        (Form::Table, None) => {}
    }
    outcome(&result)
}

/// Reads one ask, whatever became of it.
pub(super) async fn read(conversation: &str, request: &str, client: &Client) -> Result<QuestionBody, Failure> {
    let which = InputGet { conversation_id: conversation.to_owned(), request_id: request.to_owned() };
    let result = client.ask(which).await?;
    outcome(&result)?;
    result.question.ok_or_else(|| Failure::Unreadable { why: "an ask without its question".to_owned() })
}

/// Why words of a command line are no private answer: shells keep them, and other programs see them.
pub(super) fn not_on_a_command_line() -> Failure {
    Failure::Usage("its answer is private, and a command line is not: give it with --stdin".to_owned())
}

/// What a result means for the exit code.
fn outcome(result: &InputResult) -> Result<(), Failure> {
    match result.status.as_str() {
        "ready" | "resolved" => Ok(()),
        "revision_conflict" => Err(refusal("revision_conflict", moved(result.revision))),
        "refused" => {
            let reason = result.reason.as_deref().unwrap_or("refused");
            Err(refusal(reason, result.detail.clone().unwrap_or_else(|| reason.to_owned())))
        }
        other => Err(Failure::Unreadable { why: format!("status {other}") }),
    }
}

fn moved(revision: Option<u64>) -> String {
    let to = revision.map_or_else(String::new, |revision| format!(" to revision {revision}"));
    format!("its mailbox moved on{to} since it was read, and nothing was taken: read the ask again, then decide")
}

fn refusal(reason: &str, detail: String) -> Failure {
    Failure::Refused(Refusal { reason: reason.to_owned(), detail })
}

fn receipt(failure: Failure, request: &str) -> Failure {
    if let Failure::OutcomeUnknown { why } = failure {
        return Failure::ReceiptUnknown { why, request: request.to_owned() };
    }
    failure
}

fn said_back(answer: &AnswerBody, privacy: Privacy, screen: &Screen) {
    match (answer, privacy) {
        (AnswerBody::Choice { .. }, _) => {}
        (AnswerBody::Text { text }, Privacy::Open) => screen.words(&format!("Your words, kept:\n{text}")),
        (AnswerBody::Text { .. }, Privacy::Private) => screen.words("Your private answer is not repeated here."),
        // Some of its answers may be private ones, and they came from a file or a program that has them.
        (AnswerBody::Worker { .. }, _) => screen.words("Your answers are not repeated here."),
    }
}

#[cfg(test)]
mod tests;
