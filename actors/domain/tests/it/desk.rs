//! An owner's desk: one mailbox driven by hand. Every decision is held to the laws of the mailbox,
//! and its changes, applied to what was durable before, must give what the machine says is next.

use std::sync::Arc;

use clankie_domain::answer::Answer;
use clankie_domain::ask::{Ask, CancelReason, Draft, Origin, Resolution};
use clankie_domain::autonomy::Autonomy;
use clankie_domain::claim::{Claim, ClaimState, ClaimStep, Seen};
use clankie_domain::grant::Authority;
use clankie_domain::ids::{ConversationId, HandoffId, IncarnationId, OptionId, RequestId, RunId, TokenId, UpdateId};
use clankie_domain::mailbox::{
    Aim, Entry, Facts, MailChange, MailContext, MailInput, MailOutcome, Mailbox, MintedAsk, Offered,
};
use clankie_domain::time::Timestamp;
use clankie_domain::update::{Publication, UpdateDraft};
use uuid::Uuid;

use crate::drafts::{by, incarnation, origin};
use crate::house;

pub(crate) const OPERATOR: u128 = 1;
pub(crate) const DEVICE: u128 = 2;
/// A credential that is authenticated and holds no part of the mailbox, such as the agent's own.
pub(crate) const CAPTAIN: u128 = 3;

#[derive(Debug, Clone)]
pub(crate) struct Desk {
    pub(crate) mailbox: Mailbox,
    pub(crate) authority: Authority,
    pub(crate) autonomy: Autonomy,
    pub(crate) facts: Facts<'static>,
    pub(crate) now: Timestamp,
    /// What the last decision made durable.
    pub(crate) changes: Vec<MailChange>,
    next: u128,
}

impl Desk {
    /// A room conversation.
    pub(crate) fn new() -> Self {
        let conversation = ConversationId::parse(&format!("room-{}", "a".repeat(24))).unwrap();
        Self::of(Mailbox::new(conversation, Some(house::room("local:lab")), incarnation(1)))
    }

    /// An owner conversation that works in a directory.
    pub(crate) fn of_owner() -> Self {
        let conversation = ConversationId::parse(&Uuid::from_u128(9).to_string()).unwrap();
        let mut desk = Self::of(Mailbox::new(conversation, None, incarnation(1)));
        desk.facts.workspace = Some("/home/owner/project");
        desk
    }

    fn of(mailbox: Mailbox) -> Self {
        house::choose_mutant();
        let mut authority = house::authority();
        authority.answerers = [OPERATOR, DEVICE].map(|n| (TokenId(Uuid::from_u128(n)), None)).into();
        let (autonomy, facts) = (Autonomy::default(), Facts::default());
        Self { mailbox, authority, autonomy, facts, now: Timestamp(1_000_000), changes: Vec::new(), next: 1_000 }
    }

    /// Decides, holds the decision to the laws, and commits it.
    pub(crate) fn decide(&mut self, input: MailInput) -> MailOutcome {
        let ctx =
            MailContext { now: self.now, authority: &self.authority, autonomy: &self.autonomy, facts: self.facts };
        let decision = self.mailbox.decide(input, ctx);
        obeys(&self.mailbox, &decision.next, &decision.changes);
        self.mailbox = decision.next;
        self.changes = decision.changes;
        if let MailOutcome::Accepted(request) = decision.outcome {
            self.claim(request);
        }
        self.now = self.now.plus(1);
        decision.outcome
    }

    pub(crate) fn publish(&mut self, draft: Draft) -> MailOutcome {
        self.publish_from(draft, origin("ann", 1))
    }

    pub(crate) fn publish_from(&mut self, draft: Draft, origin: Origin) -> MailOutcome {
        let minted = self.minted();
        self.decide(MailInput::Publish { draft: Box::new(draft), origin: Box::new(origin), minted })
    }

    /// Publishes what must be a new ask.
    pub(crate) fn asked(&mut self, draft: Draft) -> RequestId {
        let outcome = self.publish(draft);
        let MailOutcome::Asked(request) = outcome else { panic!("not asked: {outcome:?}") };
        request
    }

    pub(crate) fn file(&mut self, prompt: &str, run: u128) -> MailOutcome {
        let minted = self.minted();
        self.decide(MailInput::File { prompt: prompt.to_owned(), origin: Box::new(origin("ann", run)), minted })
    }

    pub(crate) fn answer(&mut self, request: RequestId, answer: Answer) -> MailOutcome {
        let aim = self.aim(request);
        self.answer_as(OPERATOR, aim, answer)
    }

    pub(crate) fn answer_as(&mut self, who: u128, aim: Aim, answer: Answer) -> MailOutcome {
        self.offer(who, aim, Offered { answer, sealed: None })
    }

    pub(crate) fn offer(&mut self, who: u128, aim: Aim, offered: Offered) -> MailOutcome {
        let run = RunId(self.fresh());
        self.decide(MailInput::Answer { aim, offered: Box::new(offered), by: by(who), run })
    }

    pub(crate) fn cancel(&mut self, request: RequestId) -> MailOutcome {
        let aim = self.aim(request);
        self.cancel_as(OPERATOR, aim)
    }

    pub(crate) fn cancel_as(&mut self, who: u128, aim: Aim) -> MailOutcome {
        self.decide(MailInput::Cancel { aim, by: by(who) })
    }

    pub(crate) fn cancel_all(&mut self, reason: CancelReason) -> MailOutcome {
        let fresh = IncarnationId(self.fresh());
        self.decide(MailInput::CancelAll { reason, fresh })
    }

    pub(crate) fn mark_seen(&mut self, request: RequestId) -> MailOutcome {
        self.decide(MailInput::MarkSeen { request, by: by(OPERATOR) })
    }

    pub(crate) fn mail(&mut self, draft: UpdateDraft, run: u128, call: &str) -> MailOutcome {
        let publication = Publication { run: RunId(Uuid::from_u128(run)), call: call.to_owned() };
        let (handoff, minted) = (HandoffId(Uuid::from_u128(run)), UpdateId(self.fresh()));
        self.decide(MailInput::PublishUpdate { draft: Box::new(draft), handoff, publication, minted })
    }

    pub(crate) fn read(&mut self, id: UpdateId) -> MailOutcome {
        self.decide(MailInput::ReadUpdate { id, by: by(OPERATOR) })
    }

    pub(crate) fn dismiss(&mut self, id: UpdateId) -> MailOutcome {
        self.decide(MailInput::DismissUpdate { id, by: by(OPERATOR) })
    }

    /// What an owner who has read everything means by that ask.
    pub(crate) fn aim(&self, request: RequestId) -> Aim {
        let head = &self.mailbox.head;
        Aim { request, incarnation: head.incarnation, revision: head.revision }
    }

    pub(crate) fn entry(&self, request: RequestId) -> &Entry {
        &self.mailbox.asks[&request]
    }

    pub(crate) fn option(&self, request: RequestId, place: usize) -> Answer {
        Answer::Choice { option: self.entry(request).ask.options[place].id }
    }

    /// Moves the answer of an ask on its way, as its room does.
    pub(crate) fn advance(&mut self, request: RequestId, step: ClaimStep) {
        let now = self.now;
        let entry = Arc::make_mut(self.mailbox.asks.get_mut(&request).unwrap());
        entry.claim = Some(entry.claim.as_ref().unwrap().advance(step, now).unwrap());
    }

    pub(crate) fn deliver(&mut self, request: RequestId) {
        self.advance(request, ClaimStep::Dispatch);
        self.advance(request, ClaimStep::Take);
    }

    fn claim(&mut self, request: RequestId) {
        let entry = Arc::make_mut(self.mailbox.asks.get_mut(&request).unwrap());
        let Resolution::Submitted { answerer, at, run, .. } = entry.resolution else {
            panic!("accepted and not submitted: {entry:?}");
        };
        let conversation = entry.ask.conversation.clone();
        let handoff = Some(entry.ask.origin.handoff);
        let state = ClaimState::Claimed;
        entry.claim = Some(Claim { request, conversation, handoff, run, answerer, state, at, seen: Seen::No });
    }

    fn minted(&mut self) -> MintedAsk {
        MintedAsk { request: RequestId(self.fresh()), options: (0..8).map(|_| OptionId(self.fresh())).collect() }
    }

    fn fresh(&mut self) -> Uuid {
        self.next += 1;
        Uuid::from_u128(self.next)
    }
}

/// One head with every change and none without; the revision follows the asks; what is durable is what is next.
fn obeys(before: &Mailbox, next: &Mailbox, changes: &[MailChange]) {
    if changes.is_empty() {
        assert_eq!(before, next, "a mailbox changed and nothing is durable");
        return;
    }
    let heads = changes.iter().filter(|change| matches!(change, MailChange::Head(_))).count();
    assert_eq!(heads, 1, "{changes:?}");
    assert_eq!(next.head.version, before.head.version + 1);
    let of_asks = |change: &MailChange| matches!(change, MailChange::Asked(_) | MailChange::Resolved { .. });
    let moved = u64::from(changes.iter().any(of_asks));
    assert_eq!(next.head.revision, before.head.revision + moved);
    assert_eq!(&replay(before.clone(), changes), next);
}

fn replay(mut mailbox: Mailbox, changes: &[MailChange]) -> Mailbox {
    for change in changes.iter().cloned() {
        match change {
            MailChange::Head(head) => mailbox.head = head,
            MailChange::Asked(ask) => {
                let entry = Entry { ask: Arc::clone(&ask), resolution: Resolution::Pending, claim: None };
                assert_eq!(mailbox.asks.insert(ask.request, Arc::new(entry)), None, "an ask was written over");
            }
            MailChange::Resolved { ask, resolution } => {
                let entry = Arc::make_mut(mailbox.asks.get_mut(&ask.request).unwrap());
                assert_eq!(std::mem::replace(&mut entry.resolution, resolution), Resolution::Pending);
            }
            MailChange::AskGone(ask) => assert!(mailbox.asks.remove(&ask.request).is_some()),
            MailChange::Claim(claim) => {
                let entry = Arc::make_mut(mailbox.asks.get_mut(&claim.request).unwrap());
                assert!(entry.claim.replace(claim).is_some(), "only a room makes a claim");
            }
            MailChange::Update(update) => {
                mailbox.updates.insert(update.id, update);
            }
            MailChange::UpdateGone(update) => assert!(mailbox.updates.remove(&update.id).is_some()),
            MailChange::Shown(line) => assert!(mailbox.asks.contains_key(&line.request)),
            MailChange::GateUsed { .. } => panic!("the mailbox uses no gate"),
        }
    }
    mailbox
}

/// The one ask that a decision published.
pub(crate) fn published(desk: &Desk) -> &Ask {
    let asked =
        desk.changes.iter().find_map(|change| if let MailChange::Asked(ask) = change { Some(ask) } else { None });
    asked.unwrap()
}
