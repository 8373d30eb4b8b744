//! The two tools that put something into the owner's mailbox.
//!
//! The source is the running handoff, bound by the host; arguments name neither it nor any
//! authority. A call that comes again with the same identity finds what it published before.

use clankie_domain::ask::{AskKind, Draft, Freeform, IssueRef, Purpose, Secrecy};
use clankie_domain::autonomy::Category;
use clankie_domain::mailbox::{MailOutcome, PublishRefused};
use clankie_domain::update::{Link, MailMedia, Publication, UpdateDraft};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{HostTools, refused};
use crate::digest;
use crate::ports::ToolReply;
use crate::system::mailbox::{Called, Publisher, What};

/// The arguments of `request_user_input`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AskArguments {
    #[serde(default)]
    purpose: Option<String>,
    kind: Option<String>,
    prompt: String,
    #[serde(default)]
    options: Vec<OptionArguments>,
    #[serde(default)]
    allow_freeform: bool,
    recommendation: Option<String>,
    waiting_on: Option<String>,
    #[serde(default)]
    steps: Vec<String>,
    gate: Option<String>,
    #[serde(default)]
    secret: bool,
    issue: Option<IssueArguments>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OptionArguments {
    label: String,
    description: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct IssueArguments {
    tracker: String,
    key: String,
    url: String,
}

/// The arguments of `mail_owner_update`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct UpdateArguments {
    title: String,
    body: String,
    #[serde(default)]
    links: Vec<LinkArguments>,
    #[serde(default)]
    media: Vec<MediaArguments>,
    issue: Option<IssueArguments>,
    seat_id: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkArguments {
    label: String,
    url: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MediaArguments {
    url: String,
    mime_type: String,
    alt: Option<String>,
}

impl HostTools {
    /// `request_user_input`: returns the pending ask at once.
    pub(super) async fn request_user_input(&self, arguments: Value) -> ToolReply {
        let draft = match serde_json::from_value::<AskArguments>(arguments) {
            Ok(arguments) => arguments.draft(),
            Err(why) => return invalid(&why.to_string()),
        };
        let draft = match draft {
            Ok(draft) => Box::new(draft),
            Err(why) => return invalid(why),
        };
        match self.publish(What::Publish { draft, from: Publisher::of(&self.record) }).await {
            Ok(MailOutcome::Asked(id)) => {
                done(json!({"status": "pending", "request_id": id, "next": "End your turn; the answer comes later."}))
            }
            Ok(MailOutcome::AlreadyAsked(id)) => done(json!({"status": "already_pending", "request_id": id})),
            Ok(outcome) => not_published(&outcome),
            Err(reply) => reply,
        }
    }

    /// `mail_owner_update`: news that needs no answer.
    pub(super) async fn mail_owner_update(&self, call_id: &str, arguments: Value) -> ToolReply {
        let draft = match serde_json::from_value::<UpdateArguments>(arguments) {
            Ok(arguments) => Box::new(arguments.draft()),
            Err(why) => return invalid(&why.to_string()),
        };
        let publication = Publication { run: self.record.run, call: call_id.to_owned() };
        match self.publish(What::Mail { draft, from: Publisher::of(&self.record), publication }).await {
            Ok(MailOutcome::Mailed(id)) => done(json!({"status": "mailed", "id": id})),
            Ok(MailOutcome::AlreadyMailed(id)) => done(json!({"status": "already_mailed", "id": id})),
            Ok(outcome) => not_published(&outcome),
            Err(reply) => reply,
        }
    }

    async fn publish(&self, what: What) -> Result<MailOutcome, ToolReply> {
        let conversation = digest::room_conversation(&self.record.room);
        let conversation = conversation.map_err(|why| invalid(&why.to_string()))?;
        match self.ports.mail.call(conversation, what).await {
            Called::Outcome(outcome) => Ok(outcome),
            Called::RunOver => Err(refused("run_over", "This handoff is over.")),
            Called::Busy => {
                Err(refused("busy", "Too much happens to this mailbox at once; nothing changed, try again."))
            }
            Called::Accepted | Called::Unknown | Called::Failed(_) => {
                Err(refused("store_unavailable", "The mailbox cannot do this right now."))
            }
        }
    }
}

impl AskArguments {
    fn draft(self) -> Result<Draft, &'static str> {
        let purpose = match self.purpose.as_deref() {
            None => Purpose::Preference,
            Some(name) => Purpose::parse(name).ok_or("purpose is decision, approval or owner_action")?,
        };
        let kind = match self.kind.as_deref() {
            Some("text") => AskKind::Text,
            Some("choice") => AskKind::Choice,
            Some(_) => return Err("kind is text or choice"),
            None if self.options.is_empty() && !purpose.is_approval() => AskKind::Text,
            None => AskKind::Choice,
        };
        let gate =
            self.gate.as_deref().map(|name| Category::parse(name).ok_or("gate names no category")).transpose()?;
        Ok(Draft {
            purpose,
            kind,
            prompt: self.prompt,
            options: self.options.into_iter().map(|option| (option.label, option.description)).collect(),
            freeform: if self.allow_freeform { Freeform::Allowed } else { Freeform::Refused },
            recommendation: self.recommendation,
            waiting_on: self.waiting_on,
            steps: self.steps,
            gate,
            secrecy: if self.secret { Secrecy::Secret } else { Secrecy::Open },
            issue: self.issue.map(IssueArguments::issue),
            worker: None,
        })
    }
}

impl IssueArguments {
    fn issue(self) -> IssueRef {
        IssueRef { tracker: self.tracker, key: self.key, url: self.url }
    }
}

impl UpdateArguments {
    fn draft(self) -> UpdateDraft {
        let medium =
            |medium: MediaArguments| MailMedia { url: medium.url, mime_type: medium.mime_type, alt: medium.alt };
        UpdateDraft {
            title: self.title,
            body: self.body,
            links: self.links.into_iter().map(|link| Link { label: link.label, url: link.url }).collect(),
            media: self.media.into_iter().map(medium).collect(),
            issue: self.issue.map(IssueArguments::issue),
            seat_id: self.seat_id,
        }
    }
}

fn done(value: Value) -> ToolReply {
    ToolReply::Done(value.to_string())
}

fn invalid(why: &str) -> ToolReply {
    refused("invalid_arguments", &format!("Nothing was published: {why}."))
}

/// Why nothing was published, for the agent.
fn not_published(outcome: &MailOutcome) -> ToolReply {
    let MailOutcome::NotPublished(why) = outcome else {
        return refused("store_unavailable", "The mailbox cannot do this right now.");
    };
    match why {
        PublishRefused::Draft(why) => invalid(&why.to_string()),
        PublishRefused::PreferenceElsewhere => {
            refused("invalid_arguments", "A preference is for the owner's own conversations; choose another purpose.")
        }
        PublishRefused::HostOnly => refused("invalid_arguments", "Only the host raises that purpose."),
        PublishRefused::NotReserved(category) => refused(
            "approval_not_owner_reserved",
            &format!("The owner's settings delegate {}: go on without asking.", category.as_str()),
        ),
        PublishRefused::Capacity => {
            refused("ask_capacity", "This conversation's mailbox is full; nothing was published.")
        }
        PublishRefused::NativeDriverActive => {
            refused("native_driver_active", "A native driver owns this conversation; ask there.")
        }
        PublishRefused::PublicationConflict => {
            refused("owner_update_publication_conflict", "This call published something else before.")
        }
    }
}
