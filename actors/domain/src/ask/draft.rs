//! A draft as an agent wrote it, and the one set of bounds for draft and wire.

use std::collections::BTreeSet;

use super::bounds::{self, ASIDE, ID, LABEL, WORDS, address, aside, is_illegible, optional, refused, text};
use super::{
    AskKind, Freeform, IssueRef, OPTIONS_MAX, OPTIONS_MIN, Purpose, STEPS_MAX, Secrecy, TEXT_MAX, WORKER_OPTIONS_MAX,
    WORKER_QUESTIONS_MAX, WorkerQuestion, WorkerRequestId,
};
use crate::autonomy::Category;
use crate::legible::looks;

/// What stands as the prompt of a run's end that named none.
const NAMELESS_PROMPT: &str = "The agent waits for an approval and did not say of what.";

/// What an agent asks for. It names no identity, no source and no authority.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Draft {
    /// What it is for.
    pub purpose: Purpose,
    /// How it is answered.
    pub kind: AskKind,
    /// What is asked.
    pub prompt: String,
    /// What can be chosen: label and description.
    pub options: Vec<(String, Option<String>)>,
    /// Whether words are an answer too.
    pub freeform: Freeform,
    /// What the agent would do.
    pub recommendation: Option<String>,
    /// What waits for the answer.
    pub waiting_on: Option<String>,
    /// What only the owner can do.
    pub steps: Vec<String>,
    /// Which kind of step it is about.
    pub gate: Option<Category>,
    /// Whether its answer is kept sealed.
    pub secrecy: Secrecy,
    /// Where to read more.
    pub issue: Option<IssueRef>,
    /// The worker's question, as the host observed it.
    pub worker: Option<WorkerQuestion>,
}

/// Why a draft is no ask. Nothing was published.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {rule}")]
pub struct DraftRefused {
    /// Which field.
    pub field: &'static str,
    /// What it must be, as a sentence for the agent.
    pub rule: &'static str,
}

impl Draft {
    /// Checks a draft as an agent wrote it: its bounds, and that an agent may raise its purpose.
    pub fn check(&self) -> Result<(), DraftRefused> {
        if self.purpose.is_host_only() {
            return refused("purpose", "must be preference, decision, approval or owner_action");
        }
        self.bounds()
    }

    /// Checks the bounds that hold whoever raises it.
    pub fn bounds(&self) -> Result<(), DraftRefused> {
        text("prompt", &self.prompt, WORDS)?;
        optional("recommendation", self.recommendation.as_deref(), WORDS)?;
        optional("waiting_on", self.waiting_on.as_deref(), WORDS)?;
        self.steps_fit()?;
        self.options_fit()?;
        self.purpose_fits()?;
        self.secrecy_fits()?;
        self.issue.as_ref().map_or(Ok(()), issue_fits)?;
        self.worker.as_ref().map_or(Ok(()), worker_fits)
    }

    fn steps_fit(&self) -> Result<(), DraftRefused> {
        if self.steps.len() > STEPS_MAX {
            return refused("steps", "must be at most 20");
        }
        self.steps.iter().try_for_each(|step| text("steps", step, WORDS))
    }

    fn options_fit(&self) -> Result<(), DraftRefused> {
        let many = self.options.len();
        if many > 0 && self.purpose.is_approval() {
            return refused("options", "must be absent: the host offers exactly Approve and Decline");
        }
        match self.kind {
            AskKind::Text if many > 0 => return refused("options", "must be absent for a text question"),
            AskKind::Choice if !self.purpose.is_approval() && !(OPTIONS_MIN..=OPTIONS_MAX).contains(&many) => {
                return refused("options", "must be 2–8 for a choice");
            }
            AskKind::Text | AskKind::Choice => {}
        }
        let mut labels = BTreeSet::new();
        for (label, description) in &self.options {
            bounds::label("options.label", label)?;
            aside("options.description", description.as_deref().unwrap_or_default(), ASIDE)?;
            if !labels.insert(looks(label)) {
                return refused("options.label", "must look different from every other label");
            }
        }
        Ok(())
    }

    fn purpose_fits(&self) -> Result<(), DraftRefused> {
        let carries = self.worker.is_some();
        match self.purpose {
            Purpose::Preference => {}
            Purpose::Decision if self.recommendation.is_none() => {
                return refused("recommendation", "must say what you would do, for a decision");
            }
            Purpose::Decision if self.kind == AskKind::Text && !carries => {
                return refused("kind", "must be choice for a decision that carries no worker question");
            }
            Purpose::Approval | Purpose::Gate if carries => {
                return refused(
                    "worker_question",
                    "must be absent for an approval, which is answered by its own options",
                );
            }
            Purpose::Approval | Purpose::Gate if self.gate.is_none() => {
                return refused("gate", "must name the category of the step, for an approval");
            }
            Purpose::OwnerAction if self.steps.is_empty() => {
                return refused("steps", "must be the 1–20 exact steps of an owner action");
            }
            Purpose::Decision
            | Purpose::Approval
            | Purpose::OwnerAction
            | Purpose::Gate
            | Purpose::Verify
            | Purpose::RunQuestion => {}
        }
        if self.gate == Some(Category::Unspecified) {
            return refused("gate", "must be a named category");
        }
        if self.waiting_on.is_none() && self.purpose != Purpose::Preference {
            return refused("waiting_on", "must say what waits for the answer, for every purpose but preference");
        }
        Ok(())
    }

    fn secrecy_fits(&self) -> Result<(), DraftRefused> {
        let words_only = self.kind == AskKind::Text && !self.purpose.is_approval();
        match self.secrecy {
            Secrecy::Secret if !words_only => refused("secret", "must be false unless the answer is text"),
            Secrecy::Secret | Secrecy::Open => Ok(()),
        }
    }
}

/// Checks a reference to an issue.
pub(crate) fn issue_fits(issue: &IssueRef) -> Result<(), DraftRefused> {
    text("issue.tracker", &issue.tracker, LABEL)?;
    text("issue.key", &issue.key, LABEL)?;
    address("issue.url", &issue.url)
}

fn worker_fits(worker: &WorkerQuestion) -> Result<(), DraftRefused> {
    text("worker_question.seat_id", &worker.seat_id, ID)?;
    text("worker_question.session_id", &worker.session_id, ID)?;
    match &worker.request_id {
        WorkerRequestId::Text(id) => text("worker_question.request_id", id, ID)?,
        WorkerRequestId::Number(_) => {}
    }
    if !(1..=WORKER_QUESTIONS_MAX).contains(&worker.questions.len()) {
        return refused("worker_question.questions", "must be 1–16");
    }
    let mut ids = BTreeSet::new();
    for question in &worker.questions {
        text("worker_question.questions.id", &question.id, ID)?;
        text("worker_question.questions.text", &question.text, WORDS)?;
        if question.options.len() > WORKER_OPTIONS_MAX {
            return refused("worker_question.questions.options", "must be at most 32");
        }
        let option = |option: &String| text("worker_question.questions.options", option, WORDS);
        question.options.iter().try_for_each(option)?;
        if !ids.insert(&question.id) {
            return refused("worker_question.questions.id", "must differ from every other question's");
        }
    }
    Ok(())
}

/// A prompt that the host takes over from a run's end: legible, and visibly cut to what an ask holds.
pub(crate) fn cut_prompt(prompt: &str) -> String {
    let legible: String = prompt.chars().map(|c| if is_illegible(c) { '\u{fffd}' } else { c }).collect();
    if legible.trim().is_empty() {
        return NAMELESS_PROMPT.to_owned();
    }
    if legible.chars().count() <= TEXT_MAX {
        return legible;
    }
    legible.chars().take(TEXT_MAX - 1).chain(['…']).collect()
}
