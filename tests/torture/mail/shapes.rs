//! Asks, updates and calls as the owner's surface shows and takes them, read leniently.

use serde::Deserialize;
use serde_json::{Value, json};

/// One ask.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Ask {
    pub(crate) request_id: String,
    pub(crate) conversation_id: String,
    pub(crate) incarnation_id: String,
    pub(crate) revision: u64,
    pub(crate) purpose: String,
    pub(crate) kind: String,
    pub(crate) prompt: String,
    pub(crate) options: Vec<Choice>,
    pub(crate) secret: bool,
    pub(crate) origin: Origin,
    pub(crate) created_at: String,
    pub(crate) status: String,
    pub(crate) answer: Option<Value>,
    pub(crate) resolved_at: Option<String>,
    pub(crate) resolved_by: Option<By>,
    pub(crate) reason: Option<String>,
    pub(crate) continuation: Option<Claim>,
}

/// One option.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Choice {
    pub(crate) option_id: String,
    pub(crate) label: String,
}

/// Where an ask came from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Origin {
    pub(crate) handoff_id: String,
    pub(crate) run_id: String,
    pub(crate) actor: String,
    pub(crate) room: String,
}

/// A principal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(crate) struct By {
    pub(crate) kind: String,
    pub(crate) id: String,
}

/// How far an answer has come.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Claim {
    pub(crate) run_id: String,
    pub(crate) handoff_id: Option<String>,
    pub(crate) state: String,
    pub(crate) reason_code: Option<String>,
    pub(crate) seen: bool,
}

/// One update.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Update {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) body: String,
    pub(crate) conversation_id: String,
    pub(crate) at: String,
    pub(crate) state: String,
}

/// What an owner does.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Act {
    /// Answers with this.
    Answer(Value),
    /// Cancels.
    Cancel,
    /// Takes note of an answer that was not delivered.
    Seen,
    /// Reads an update.
    Read,
    /// Puts an update away.
    Dismiss,
}

/// One call of an owner, which is repeated exactly while its outcome is unknown.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    /// The ask or the update.
    pub(crate) about: String,
    pub(crate) conversation: String,
    pub(crate) incarnation: String,
    pub(crate) revision: u64,
    pub(crate) act: Act,
    /// Which of the owner's principals calls.
    pub(crate) by: usize,
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Heard {
    /// It stands so, as this shows.
    Resolved(Box<Ask>),
    /// The revision has moved.
    Moved(Box<Ask>),
    /// It was refused with this reason; how the ask stands, when there is one.
    Refused(String, Option<Box<Ask>>),
    /// The update stands so.
    Updated(Box<Update>),
    /// Whether it was done is unknown.
    Lost,
}

impl Ask {
    /// Whether an owner may still resolve it.
    pub(crate) fn is_pending(&self) -> bool {
        self.status == "pending"
    }

    /// How far its answer has come; empty without one.
    pub(crate) fn claim(&self) -> &str {
        self.continuation.as_ref().map_or("", |claim| claim.state.as_str())
    }

    /// Whether nothing more is expected of it, so that it may be forgotten one day.
    pub(crate) fn is_settled(&self) -> bool {
        match self.claim() {
            "delivered" => true,
            "uncertain" | "returned" => self.continuation.as_ref().is_some_and(|claim| claim.seen),
            _ => self.status == "cancelled",
        }
    }

    /// Whether it is resolved as `act` wants it.
    pub(crate) fn stands_as(&self, act: &Act) -> bool {
        match (act, &self.answer) {
            (Act::Cancel, _) => self.status == "cancelled",
            (Act::Answer(_), Some(shown)) if self.secret => self.status == "submitted" && shown["kind"] == "private",
            (Act::Answer(given), Some(shown)) => {
                let same = ["kind", "option_id", "text"].iter().all(|field| given[field] == shown[field]);
                self.status == "submitted" && same
            }
            (Act::Answer(_), None) | (Act::Seen | Act::Read | Act::Dismiss, _) => false,
        }
    }

    /// The words in which the source is told that answer.
    pub(crate) fn told(&self, answer: &Value) -> String {
        let chosen = self.options.iter().find(|option| answer["option_id"] == option.option_id.as_str());
        let label = chosen.map(|option| option.label.clone());
        label.unwrap_or_else(|| answer["text"].as_str().unwrap_or_default().to_owned())
    }
}

impl Call {
    /// A call about an ask as it was read.
    pub(crate) fn on(ask: &Ask, act: Act, by: usize) -> Self {
        Self {
            about: ask.request_id.clone(),
            conversation: ask.conversation_id.clone(),
            incarnation: ask.incarnation_id.clone(),
            revision: ask.revision,
            act,
            by,
        }
    }

    /// A call about an update.
    pub(crate) fn of(update: &Update, act: Act, by: usize) -> Self {
        let (about, conversation) = (update.id.clone(), update.conversation_id.clone());
        Self { about, conversation, incarnation: String::new(), revision: 0, act, by }
    }

    /// It as an operation of the owner's surface.
    pub(crate) fn operation(&self) -> Value {
        let aimed = |op: &str| {
            json!({ "schema_version": 1, "op": op, "conversation_id": self.conversation, "request_id": self.about,
                "incarnation_id": self.incarnation, "expected_revision": self.revision })
        };
        match &self.act {
            Act::Answer(answer) => {
                let mut operation = aimed("input_answer");
                operation["answer"] = answer.clone();
                operation
            }
            Act::Cancel => aimed("input_cancel"),
            Act::Seen => json!({ "schema_version": 1, "op": "mark_seen", "request_id": self.about }),
            Act::Read => json!({ "schema_version": 1, "op": "owner_update_read", "id": self.about }),
            Act::Dismiss => json!({ "schema_version": 1, "op": "owner_update_dismiss", "id": self.about }),
        }
    }
}
