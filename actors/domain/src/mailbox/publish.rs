//! Publishing an ask: whether it is one, whether it is new, and whether there is room.

use std::sync::Arc;

use super::changing::Moved;
use super::{
    Entry, Head, MailChange, MailContext, MailDecision, MailOutcome, Mailbox, MintedAsk, NativeFact, PublishRefused,
};
use crate::ask::{Ask, AskKind, AskOption, Draft, DraftRefused, Freeform, Origin, Purpose, Resolution, Role, Secrecy};
use crate::ask::{cut_prompt, repeats};
use crate::autonomy::{Category, Decider};
use crate::ids::{OptionId, RequestId};

/// What stands as waiting on an approval that a run's end asks for.
const FILED_WAITS_ON: &str = "The request that ended with this question; it goes on once this is approved.";

/// A draft on its way into the mailbox.
#[derive(Debug)]
pub(super) struct Posted {
    pub(super) draft: Draft,
    pub(super) origin: Origin,
    pub(super) minted: MintedAsk,
}

impl Mailbox {
    pub(super) fn publish(&self, posted: Posted, ctx: MailContext<'_>) -> MailDecision {
        match self.admits(&posted.draft, ctx) {
            Ok(()) => self.post(posted, ctx),
            Err(refused) => self.unchanged(MailOutcome::NotPublished(refused)),
        }
    }

    /// A run's end is an ask of its own unless the run has one that waits.
    pub(super) fn file(&self, prompt: &str, origin: Origin, minted: MintedAsk, ctx: MailContext<'_>) -> MailDecision {
        match self.pending().find(|entry| entry.ask.origin.run == origin.run) {
            Some(entry) => self.unchanged(MailOutcome::AlreadyAsked(entry.ask.request)),
            None => self.post(Posted { draft: filed(prompt), origin, minted }, ctx),
        }
    }

    /// The asks that wait for the owner.
    pub fn pending(&self) -> impl Iterator<Item = &Entry> {
        self.asks.values().map(Arc::as_ref).filter(|entry| entry.resolution == Resolution::Pending)
    }

    fn admits(&self, draft: &Draft, ctx: MailContext<'_>) -> Result<(), PublishRefused> {
        if draft.purpose.is_host_only() {
            return Err(PublishRefused::HostOnly);
        }
        draft.check().map_err(PublishRefused::Draft)?;
        if draft.purpose == Purpose::Preference {
            self.admits_preference(ctx)?;
        }
        match draft.gate {
            Some(gate) if is_delegated(draft.purpose, gate, ctx) => Err(PublishRefused::NotReserved(gate)),
            Some(_) | None => Ok(()),
        }
    }

    /// A preference belongs to an owner conversation that works in a directory and that no native
    /// driver owns, connected or not.
    fn admits_preference(&self, ctx: MailContext<'_>) -> Result<(), PublishRefused> {
        if self.head.room.is_some() || ctx.facts.workspace.is_none() {
            return Err(PublishRefused::PreferenceElsewhere);
        }
        match ctx.facts.native {
            NativeFact::Owns => Err(PublishRefused::NativeDriverActive),
            NativeFact::Absent => Ok(()),
        }
    }

    fn post(&self, posted: Posted, ctx: MailContext<'_>) -> MailDecision {
        let ask = match minted(posted, &self.head, ctx) {
            Ok(ask) => ask,
            Err(refused) => return self.unchanged(MailOutcome::NotPublished(PublishRefused::Draft(refused))),
        };
        if let Some(known) = self.known(&ask) {
            return self.unchanged(MailOutcome::AlreadyAsked(known));
        }
        if ask.purpose == Purpose::Preference && self.pending().any(|entry| entry.ask.purpose == Purpose::Preference) {
            let rule = "must not be another preference while one waits here for its answer";
            let refused = DraftRefused { field: "purpose", rule };
            return self.unchanged(MailOutcome::NotPublished(PublishRefused::Draft(refused)));
        }
        self.put(ask, ctx.facts.continuing)
    }

    /// The ask that `ask` is once more. A worker's question is one ask for ever; a draft only while it waits.
    fn known(&self, ask: &Ask) -> Option<RequestId> {
        let same_question = |known: &Ask| match (&ask.worker, &known.worker) {
            (Some(one), Some(other)) => one.identity() == other.identity(),
            (Some(_), None) | (None, Some(_) | None) => false,
        };
        let known = self.asks.values().find(|entry| {
            let known = &entry.ask;
            let waits = entry.resolution == Resolution::Pending;
            known.request == ask.request || same_question(known) || (waits && repeats(known, ask))
        });
        known.map(|entry| entry.ask.request)
    }

    fn put(&self, ask: Ask, continuing: &[RequestId]) -> MailDecision {
        let mut changing = self.changing();
        changing.forget_asks(self, continuing);
        if !changing.next.fits_ask(&ask) {
            return self.unchanged(MailOutcome::NotPublished(PublishRefused::Capacity));
        }
        let (request, ask) = (ask.request, Arc::new(ask));
        let entry = Entry { ask: Arc::clone(&ask), resolution: Resolution::Pending, claim: None };
        changing.next.asks.insert(request, Arc::new(entry));
        changing.next.head.next_ask = self.head.next_ask.saturating_add(1);
        changing.changes.push(MailChange::Asked(ask));
        changing.done(Moved::Asks, MailOutcome::Asked(request))
    }
}

/// Only the owner can sign in or take an exact step, whoever may decide it.
fn is_delegated(purpose: Purpose, gate: Category, ctx: MailContext<'_>) -> bool {
    match ctx.autonomy.decider(gate, ctx.facts.project) {
        Decider::Delegated => purpose != Purpose::OwnerAction,
        Decider::Reserved => false,
    }
}

fn filed(prompt: &str) -> Draft {
    Draft {
        purpose: Purpose::Approval,
        kind: AskKind::Choice,
        prompt: cut_prompt(prompt),
        options: Vec::new(),
        freeform: Freeform::Refused,
        recommendation: None,
        waiting_on: Some(FILED_WAITS_ON.to_owned()),
        steps: Vec::new(),
        gate: Some(Category::Unspecified),
        secrecy: Secrecy::Open,
        issue: None,
        worker: None,
    }
}

/// The ask of a draft: the host's identities, source and, for an approval, its two options.
fn minted(posted: Posted, head: &Head, ctx: MailContext<'_>) -> Result<Ask, DraftRefused> {
    let Posted { draft, origin, minted } = posted;
    let approval = draft.purpose.is_approval();
    let kind = if approval { AskKind::Choice } else { draft.kind };
    let freeform = if kind == AskKind::Text { Freeform::Allowed } else { draft.freeform };
    let offered = if approval { approval_options() } else { draft.options.into_iter().map(plain).collect() };
    let options = identified(offered, &minted.options)?;
    Ok(Ask {
        request: minted.request,
        conversation: head.conversation.clone(),
        incarnation: head.incarnation,
        seq: head.next_ask,
        purpose: draft.purpose,
        kind,
        prompt: draft.prompt,
        options,
        freeform,
        recommendation: draft.recommendation,
        waiting_on: draft.waiting_on,
        steps: draft.steps,
        gate: draft.gate,
        secrecy: draft.secrecy,
        issue: draft.issue,
        worker: draft.worker,
        workspace: ctx.facts.workspace.map(str::to_owned),
        context: None,
        provenance: None,
        origin,
        created_at: ctx.now,
    })
}

type Unidentified = (String, Option<String>, Role);

fn plain((label, description): (String, Option<String>)) -> Unidentified {
    (label, description, Role::Plain)
}

fn approval_options() -> Vec<Unidentified> {
    vec![("Approve".to_owned(), None, Role::Approve), ("Decline".to_owned(), None, Role::Decline)]
}

fn identified(offered: Vec<Unidentified>, ids: &[OptionId]) -> Result<Vec<AskOption>, DraftRefused> {
    if offered.len() > ids.len() {
        return Err(DraftRefused { field: "options", rule: "must not be more than the host has identities for" });
    }
    let option =
        |((label, description, role), id): (Unidentified, &OptionId)| AskOption { id: *id, label, description, role };
    Ok(offered.into_iter().zip(ids).map(option).collect())
}
