//! What an owner answers, how it is kept, and what is shown of it.

use std::collections::BTreeMap;

use crate::ask::{Ask, AskKind, Freeform, Secrecy, WorkerItem, WorkerQuestion};
use crate::ids::OptionId;
use crate::mailbox::MailRefusal;

/// Longest answer text, in bytes.
pub const ANSWER_MAX: usize = 64_000;
/// Shortest secret answer, in bytes without the blanks around it: a replacement of fewer would garble
/// every text and hide nothing.
pub const SECRET_MIN: usize = 4;
/// Most answers to one worker question.
pub const WORKER_ANSWERS_MAX: usize = 32;
/// What is shown of an answer that is kept sealed.
pub const PRIVATE_ANSWER: &str = "Private answer";

/// An answer, in one of the three shapes of the contract.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Answer {
    /// One of the options.
    Choice {
        /// Which.
        option: OptionId,
    },
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// One list of answers for each question of a worker.
    Worker {
        /// Question id → answers.
        answers: BTreeMap<String, Vec<String>>,
    },
}

/// A secret answer, encrypted under a key of its own that is kept in a file and unlinked when the
/// answer is delivered.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sealed {
    /// The nonce of its encryption.
    pub nonce: [u8; 12],
    /// The encrypted words.
    pub ciphertext: Vec<u8>,
    /// A keyed digest of the words, by which the same answer is known again.
    pub digest: [u8; 32],
}

/// An answer as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StoredAnswer {
    /// As it was given.
    Open(Answer),
    /// Sealed.
    Sealed(Sealed),
}

impl StoredAnswer {
    /// What surfaces show: the chosen label, the words, the answers with their questions, or that it is private.
    pub fn shown(&self, ask: &Ask) -> String {
        match self {
            Self::Sealed(_) if ask.worker.is_some() => worker_lines(ask, |_| PRIVATE_ANSWER.to_owned()),
            Self::Sealed(_) => PRIVATE_ANSWER.to_owned(),
            Self::Open(Answer::Text { text }) => text.clone(),
            Self::Open(Answer::Choice { option }) => {
                let chosen = ask.options.iter().find(|known| known.id == *option);
                chosen.map(|option| option.label.clone()).unwrap_or_default()
            }
            Self::Open(Answer::Worker { answers }) => worker_shown(ask, answers),
        }
    }
}

impl Answer {
    /// Whether it is an answer to `ask` at all. On an approval words are a comment: they are kept as
    /// the answer, its continuation reads them, and they open nothing.
    pub(crate) fn fits(&self, ask: &Ask) -> Result<(), MailRefusal> {
        let fits = match (self, &ask.worker) {
            (Self::Worker { answers }, Some(worker)) => {
                let fits = missing(worker, answers).is_empty() && worker_fits(worker, answers);
                return fits.then_some(()).ok_or(MailRefusal::InvalidWorkerAnswer);
            }
            (Self::Choice { .. } | Self::Text { .. }, Some(_)) => return Err(MailRefusal::InvalidWorkerAnswer),
            (Self::Worker { .. }, None) => false,
            (Self::Choice { option }, None) => ask.options.iter().any(|known| known.id == *option),
            (Self::Text { text }, None) => takes_words(ask) && is_said(text) && text.len() <= ANSWER_MAX,
        };
        fits.then_some(()).ok_or(MailRefusal::InvalidAnswer)
    }
}

/// The ids of the worker's questions that `answers` does not name.
pub fn missing<'a>(worker: &'a WorkerQuestion, answers: &BTreeMap<String, Vec<String>>) -> Vec<&'a str> {
    let ids = worker.questions.iter().map(|question| question.id.as_str());
    ids.filter(|id| !answers.contains_key(*id)).collect()
}

/// Whether words are enough to be kept from being seen. Blanks around them are no part of it, since what
/// passes words on may drop them.
pub fn is_long_enough(secret: &str) -> bool {
    secret.trim().len() >= SECRET_MIN
}

/// What a conversation's display shows of an accepted answer.
pub(crate) fn line(ask: &Ask, answer: &StoredAnswer) -> String {
    format!("{}\n\nYou answered: {}", ask.prompt, answer.shown(ask))
}

fn worker_fits(worker: &WorkerQuestion, answers: &BTreeMap<String, Vec<String>>) -> bool {
    let many = |said: &Vec<String>| (1..=WORKER_ANSWERS_MAX).contains(&said.len());
    let bytes: usize = answers.values().flatten().map(String::len).sum();
    answers.len() == worker.questions.len()
        && answers.values().all(many)
        && answers.values().flatten().all(|said| is_said(said))
        && bytes <= ANSWER_MAX
}

fn takes_words(ask: &Ask) -> bool {
    ask.kind == AskKind::Text || ask.freeform == Freeform::Allowed || ask.purpose.is_approval()
}

/// Nothing is no answer, and neither is what no keyboard writes.
fn is_said(text: &str) -> bool {
    let odd = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    !text.trim().is_empty() && !text.chars().any(odd)
}

fn worker_shown(ask: &Ask, answers: &BTreeMap<String, Vec<String>>) -> String {
    worker_lines(ask, |question| match question.secrecy {
        Secrecy::Open => answers.get(&question.id).map(|said| said.join(", ")).unwrap_or_default(),
        Secrecy::Secret => PRIVATE_ANSWER.to_owned(),
    })
}

fn worker_lines(ask: &Ask, said: impl Fn(&WorkerItem) -> String) -> String {
    let questions = ask.worker.iter().flat_map(|worker| &worker.questions);
    questions.map(|question| format!("{}: {}", question.text, said(question))).collect::<Vec<_>>().join("\n")
}
