//! How many bytes an ask counts against its mailbox: never less than its JSON takes.

use super::{Ask, AskOption, IssueRef, Origin, WorkerItem, WorkerQuestion, WorkerRequestId};
use crate::ids::DeliveryId;

/// What an ask costs beside its texts: its keys, its identities, its source's and its grant's fixed
/// fields, and its moment.
const ASK_OVERHEAD: usize = 1_216;
/// What an option costs beside its texts: its keys, its identity and its role.
const OPTION_OVERHEAD: usize = 112;
/// What an issue costs beside its texts: its keys.
const ISSUE_OVERHEAD: usize = 48;
/// What a worker's request costs beside its texts: its keys.
const WORKER_OVERHEAD: usize = 96;
/// What one question of a worker costs beside its texts: its keys and its secrecy.
const QUESTION_OVERHEAD: usize = 56;
/// A text's quotes and the comma after it.
const QUOTES: usize = 3;
/// What a control character takes: `\u0000`.
const ESCAPED_CONTROL: usize = 6;
/// The longest integer.
const INTEGER: usize = 20;

/// What a text takes as JSON, with its quotes and the comma after it.
pub(crate) fn json_text(text: &str) -> usize {
    let byte = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' => 2,
        0..=0x1f => ESCAPED_CONTROL,
        0x20..=0xff => 1,
    };
    QUOTES + text.bytes().map(byte).sum::<usize>()
}

fn optional(text: Option<&str>) -> usize {
    text.map_or(0, json_text)
}

impl Ask {
    /// What it counts against a mailbox's bytes: never less than its JSON takes. Its answer lives in a
    /// row of its own and counts nothing.
    pub fn stored_bytes(&self) -> usize {
        let words = [&self.recommendation, &self.waiting_on, &self.workspace, &self.context, &self.provenance];
        let words: usize = words.into_iter().map(|text| optional(text.as_deref())).sum();
        let steps: usize = self.steps.iter().map(|step| json_text(step)).sum();
        let options: usize = self.options.iter().map(AskOption::stored_bytes).sum();
        let issue = self.issue.as_ref().map_or(0, IssueRef::stored_bytes);
        let worker = self.worker.as_ref().map_or(0, WorkerQuestion::stored_bytes);
        let own = json_text(&self.prompt) + words + steps;
        ASK_OVERHEAD + own + options + issue + worker + self.origin.stored_bytes()
    }
}

impl AskOption {
    fn stored_bytes(&self) -> usize {
        OPTION_OVERHEAD + json_text(&self.label) + optional(self.description.as_deref())
    }
}

impl IssueRef {
    pub(crate) fn stored_bytes(&self) -> usize {
        ISSUE_OVERHEAD + json_text(&self.tracker) + json_text(&self.key) + json_text(&self.url)
    }
}

impl WorkerQuestion {
    fn stored_bytes(&self) -> usize {
        let request = match &self.request_id {
            WorkerRequestId::Text(id) => json_text(id),
            WorkerRequestId::Number(_) => INTEGER,
        };
        let questions: usize = self.questions.iter().map(WorkerItem::stored_bytes).sum();
        WORKER_OVERHEAD + json_text(&self.seat_id) + json_text(&self.session_id) + request + questions
    }
}

impl WorkerItem {
    fn stored_bytes(&self) -> usize {
        let options: usize = self.options.iter().map(|option| json_text(option)).sum();
        QUESTION_OVERHEAD + json_text(&self.id) + json_text(&self.text) + options
    }
}

impl Origin {
    fn stored_bytes(&self) -> usize {
        let delivery = match &self.delivery {
            DeliveryId::Transport(id) => json_text(id),
            DeliveryId::Edit { of, digest } => json_text(of) + json_text(digest),
            DeliveryId::Continuation(_) => 0,
        };
        let lanes = json_text(self.transport.lane.as_str()) + json_text(self.grant.transport.lane.as_str());
        let tools: usize = self.grant.tools.iter().map(|tool| json_text(tool)).sum();
        let names = json_text(self.actor.as_str()) + json_text(&self.actor_name) + json_text(self.room.as_str());
        delivery + lanes + tools + names + optional(self.guild.as_deref())
    }
}
