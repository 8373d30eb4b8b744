//! From values of the mailbox to the shapes of the wire. What is sealed is shown as private.

use clankie_actors::feed::{FeedPlace, PlacedLine};
use clankie_actors::mail::{AskView, ConversationSummary, DisplayLine, MailCounts, UpdatePage};
use clankie_domain::answer::{Answer, StoredAnswer};
use clankie_domain::ask::{
    Ask, AskKind, AskOption, Freeform, IssueRef, Origin, Resolution, Role, Secrecy, WorkerItem, WorkerQuestion,
    WorkerRequestId,
};
use clankie_domain::claim::{Claim, ClaimState, Seen};
use clankie_domain::message::AnswerLine;
use clankie_domain::update::{Link, MailMedia, OwnerUpdate, UpdateState};

use crate::http::wire::moment;
use crate::owner::wire::{
    AnswerReceiptBody, ByBody, ContinuationBody, ConversationBody, DisplayBody, GivenBody, IssueBody, LinkBody,
    MailCountsBody, MailMediaBody, OptionBody, OriginBody, OwnerUpdateBody, OwnerUpdates, QuestionBody,
    RoomMessageBody, UpdateSourceBody, WorkerBody, WorkerItemBody, WorkerRequestIdBody,
};

impl From<&AskView> for QuestionBody {
    fn from(view: &AskView) -> Self {
        let (ask, resolution) = (&view.entry.ask, &view.entry.resolution);
        let resolved = Resolved::of(resolution);
        Self {
            request_id: ask.request.to_string(),
            conversation_id: ask.conversation.to_string(),
            incarnation_id: ask.incarnation.to_string(),
            revision: view.head.revision,
            purpose: ask.purpose.as_str().to_owned(),
            kind: kind(ask.kind).to_owned(),
            prompt: ask.prompt.clone(),
            options: ask.options.iter().map(OptionBody::from).collect(),
            allow_freeform: ask.freeform == Freeform::Allowed,
            recommendation: ask.recommendation.clone(),
            waiting_on: ask.waiting_on.clone(),
            steps: ask.steps.clone(),
            gate: ask.gate.map(|gate| gate.as_str().to_owned()),
            secret: ask.secrecy == Secrecy::Secret,
            issue: ask.issue.as_ref().map(IssueBody::from),
            worker_question: ask.worker.as_ref().map(WorkerBody::from),
            workspace: ask.workspace.clone(),
            context: ask.context.clone(),
            provenance: ask.provenance.clone(),
            origin: (&ask.origin).into(),
            created_at: moment(ask.created_at),
            status: resolution.status().as_str().to_owned(),
            answer: resolved.answer.map(|answer| given(ask, answer)),
            resolved_at: resolved.at,
            resolved_by: resolved.by,
            reason: resolved.reason,
            continuation: view.entry.claim.as_ref().map(ContinuationBody::from),
        }
    }
}

/// What a resolution adds to an ask, as the wire has it.
#[derive(Default)]
struct Resolved<'a> {
    answer: Option<&'a StoredAnswer>,
    at: Option<String>,
    by: Option<ByBody>,
    reason: Option<String>,
}

impl<'a> Resolved<'a> {
    fn of(resolution: &'a Resolution) -> Self {
        match resolution {
            Resolution::Pending => Self::default(),
            Resolution::Submitted { answer, by, at, .. } => {
                Self { answer: Some(answer), at: Some(moment(*at)), by: Some(by.into()), reason: None }
            }
            Resolution::Cancelled { reason, by, at } => {
                let reason = Some(reason.as_str().to_owned());
                Self { answer: None, at: Some(moment(*at)), by: Some(by.into()), reason }
            }
        }
    }
}

/// How an ask is answered, as the contract writes it.
pub(super) fn kind(kind: AskKind) -> &'static str {
    match kind {
        AskKind::Text => "text",
        AskKind::Choice => "choice",
    }
}

fn given(ask: &Ask, answer: &StoredAnswer) -> GivenBody {
    match answer {
        StoredAnswer::Sealed(_) => GivenBody::Private,
        StoredAnswer::Open(Answer::Text { text }) => GivenBody::Text { text: text.clone() },
        StoredAnswer::Open(Answer::Choice { option }) => {
            GivenBody::Choice { option_id: option.to_string(), label: answer.shown(ask) }
        }
        StoredAnswer::Open(Answer::Worker { answers }) => {
            let private = |id: &str| {
                let questions = ask.worker.iter().flat_map(|worker| &worker.questions);
                questions.filter(|item| item.id == id).any(|item| item.secrecy == Secrecy::Secret)
            };
            let shown =
                |(id, said): (&String, &Vec<String>)| (id.clone(), if private(id) { Vec::new() } else { said.clone() });
            GivenBody::Worker { answers: answers.iter().map(shown).collect() }
        }
    }
}

impl From<&AskOption> for OptionBody {
    fn from(option: &AskOption) -> Self {
        let role = match option.role {
            Role::Plain => None,
            Role::Approve => Some("approve"),
            Role::Decline => Some("decline"),
        };
        Self {
            option_id: option.id.to_string(),
            label: option.label.clone(),
            description: option.description.clone(),
            role: role.map(str::to_owned),
        }
    }
}

impl From<&IssueRef> for IssueBody {
    fn from(issue: &IssueRef) -> Self {
        Self { tracker: issue.tracker.clone(), key: issue.key.clone(), url: issue.url.clone() }
    }
}

impl From<&WorkerQuestion> for WorkerBody {
    fn from(worker: &WorkerQuestion) -> Self {
        let request_id = match &worker.request_id {
            WorkerRequestId::Text(id) => WorkerRequestIdBody::Text(id.clone()),
            WorkerRequestId::Number(id) => WorkerRequestIdBody::Number(*id),
        };
        Self {
            seat_id: worker.seat_id.clone(),
            session_id: worker.session_id.clone(),
            request_id,
            questions: worker.questions.iter().map(WorkerItemBody::from).collect(),
        }
    }
}

impl From<&WorkerItem> for WorkerItemBody {
    fn from(item: &WorkerItem) -> Self {
        Self {
            id: item.id.clone(),
            text: item.text.clone(),
            options: item.options.clone(),
            secret: item.secrecy == Secrecy::Secret,
        }
    }
}

impl From<&Origin> for OriginBody {
    fn from(origin: &Origin) -> Self {
        Self {
            handoff_id: origin.handoff.to_string(),
            run_id: origin.run.to_string(),
            actor: origin.actor.to_string(),
            actor_name: origin.actor_name.clone(),
            room: origin.room.to_string(),
        }
    }
}

impl From<&Claim> for ContinuationBody {
    fn from(claim: &Claim) -> Self {
        let reason_code = match &claim.state {
            ClaimState::Returned(code) => Some(code.as_str().to_owned()),
            ClaimState::Claimed | ClaimState::Dispatching | ClaimState::Delivered | ClaimState::Uncertain => None,
        };
        Self {
            run_id: claim.run.to_string(),
            handoff_id: claim.handoff.map(|id| id.to_string()),
            state: claim.state.as_str().to_owned(),
            reason_code,
            seen: claim.seen == Seen::Yes,
            at: moment(claim.at),
        }
    }
}

impl From<MailCounts> for MailCountsBody {
    fn from(counts: MailCounts) -> Self {
        Self { asks: counts.asks, updates: counts.updates }
    }
}

impl From<&OwnerUpdate> for OwnerUpdateBody {
    fn from(update: &OwnerUpdate) -> Self {
        let (read_at, dismissed_at) = match update.state {
            UpdateState::Unread => (None, None),
            UpdateState::Read { at } => (Some(at), None),
            UpdateState::Dismissed { read_at, at } => (Some(read_at), Some(at)),
        };
        let conversation_id = update.conversation.to_string();
        let source =
            UpdateSourceBody { conversation_id: conversation_id.clone(), seat_id: update.draft.seat_id.clone() };
        Self {
            id: update.id.to_string(),
            title: update.draft.title.clone(),
            body: update.draft.body.clone(),
            conversation_id,
            source,
            links: update.draft.links.iter().map(LinkBody::from).collect(),
            media: update.draft.media.iter().map(MailMediaBody::from).collect(),
            issue: update.draft.issue.as_ref().map(IssueBody::from),
            at: moment(update.at),
            state: update.state.as_str().to_owned(),
            read_at: read_at.map(moment),
            dismissed_at: dismissed_at.map(moment),
        }
    }
}

impl From<&Link> for LinkBody {
    fn from(link: &Link) -> Self {
        Self { label: link.label.clone(), url: link.url.clone() }
    }
}

impl From<&MailMedia> for MailMediaBody {
    fn from(media: &MailMedia) -> Self {
        Self { url: media.url.clone(), mime_type: media.mime_type.clone(), alt: media.alt.clone() }
    }
}

impl From<&UpdatePage> for OwnerUpdates {
    fn from(page: &UpdatePage) -> Self {
        Self {
            updates: page.updates.iter().map(OwnerUpdateBody::from).collect(),
            counts: page.counts.into(),
            cursor: FeedPlace { epoch: page.epoch, seq: page.last_event }.to_string(),
        }
    }
}

impl From<&ConversationSummary> for ConversationBody {
    fn from(summary: &ConversationSummary) -> Self {
        Self {
            conversation_id: summary.conversation.to_string(),
            room: summary.room.as_ref().map(ToString::to_string),
            incarnation_id: summary.head.as_ref().map(|head| head.incarnation.to_string()),
            revision: summary.head.as_ref().map(|head| head.revision),
            pending: summary.pending,
        }
    }
}

impl From<&PlacedLine> for DisplayBody {
    fn from(placed: &PlacedLine) -> Self {
        match &placed.line {
            DisplayLine::Said(message) => Self::Said { message: RoomMessageBody::from((placed.seq, message)) },
            DisplayLine::Answered(answer) => answered(answer),
        }
    }
}

fn answered(answer: &AnswerLine) -> DisplayBody {
    DisplayBody::Answered {
        text: answer.text.clone(),
        answer_receipt: AnswerReceiptBody { request_id: answer.request.to_string(), responder: (&answer.by).into() },
        at: moment(answer.at),
    }
}

#[cfg(test)]
mod tests;
