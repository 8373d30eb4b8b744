//! A small world of the mailbox: two owners, a few asks, the ways of their answers, boots and resets.
//!
//! Every outcome and every record is held against a [`Ledger`] that knows only what happened.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

use clankie_domain::answer::Answer;
use clankie_domain::ask::{AskKind, CancelReason, Draft, Freeform, Purpose, Resolution, Secrecy};
use clankie_domain::autonomy::{Autonomy, Category};
use clankie_domain::claim::{Claim, ClaimState, ClaimStep, Seen};
use clankie_domain::grant::Authority;
use clankie_domain::ids::{ConversationId, IncarnationId, OptionId, RequestId, RunId, TokenId};
use clankie_domain::mailbox::{
    Aim, Answerer, Facts, MailContext, MailDecision, MailInput, MailOutcome, Mailbox, MintedAsk, Offered,
};
use clankie_domain::result::{By, FailCode, PrincipalKind};
use uuid::Uuid;

use crate::digest::Part;
use crate::script::{Standing, authority, room_id};
use crate::store::{Verdict, must};
use crate::walk::Walked;
use crate::world::NOW;

mod ledger;
mod source;

use ledger::Ledger;
pub(crate) use ledger::{Choice, Owner};

/// What the world may do, and how often.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MailScript {
    pub(crate) owners: &'static [Owner],
    /// How many asks are published at most; there are two drafts.
    pub(crate) asks: u8,
    pub(crate) boots: u8,
    pub(crate) resets: u8,
    pub(crate) revocations: u8,
    /// Asks that wait, and asks that are settled, before anything happens.
    pub(crate) waiting: u16,
    pub(crate) settled: u16,
}

/// One thing that happens. Asks are numbered in the order of their publication.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MailAct {
    Publish(u8),
    Look(Owner),
    Answer(Owner, usize, Choice),
    Cancel(Owner, usize),
    MarkSeen(Owner, usize),
    Dispatch(usize),
    Take(usize),
    Return(usize),
    Lose(usize),
    Boot,
    Reset,
    Revoke,
}

/// What an owner has read: a life of the conversation, and its revision.
type Reading = (IncarnationId, u64);

/// One state.
#[derive(Debug, Clone)]
pub(crate) struct MailWorld {
    script: MailScript,
    mailbox: Part<Mailbox>,
    ledger: Part<Ledger>,
    read: [Reading; 2],
}

impl Hash for MailWorld {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.mailbox, &self.ledger, self.read).hash(state);
    }
}

impl MailWorld {
    pub(crate) fn new(script: MailScript) -> Self {
        let conversation = ConversationId::parse(&format!("room-{}", "a".repeat(24))).unwrap();
        let mut mailbox = Mailbox::new(conversation, Some(room_id(0)), life(0));
        for n in 0..script.waiting + script.settled {
            let filler = publish(&mailbox, draft(&format!("filler {n}")), 10_000 + u128::from(n));
            mailbox = filler.next;
            if n >= script.waiting {
                let request = RequestId(Uuid::from_u128(10_000 + u128::from(n)));
                let head = &mailbox.head;
                let aim = Aim { request, incarnation: head.incarnation, revision: head.revision };
                mailbox = decide(&mailbox, MailInput::Cancel { aim, by: by(Owner::A) }, Standing::Full).next;
            }
        }
        let read = [(mailbox.head.incarnation, mailbox.head.revision); 2];
        let ledger = Ledger::new(&script, mailbox.head.revision);
        Self { script, mailbox: Part::new(mailbox), ledger: Part::new(ledger), read }
    }

    fn aim(&self, owner: Owner, n: usize) -> Aim {
        let (incarnation, revision) = self.read[owner as usize];
        Aim { request: request(n), incarnation, revision }
    }

    fn input(&self, act: MailAct) -> Option<MailInput> {
        Some(match act {
            MailAct::Publish(which) => {
                let at = 1 + self.ledger.many() as u128;
                let (draft, origin) = (Box::new(draft(&format!("draft {which}"))), Box::new(source::origin()));
                MailInput::Publish { draft, origin, minted: minted(at) }
            }
            MailAct::Answer(owner, n, choice) => {
                let option = minted(1 + n as u128).options[choice as usize];
                let offered = Box::new(Offered { answer: Answer::Choice { option }, sealed: None });
                let run = RunId(Uuid::from_u128(100 + n as u128));
                MailInput::Answer { aim: self.aim(owner, n), offered, by: by(owner), run }
            }
            MailAct::Cancel(owner, n) => MailInput::Cancel { aim: self.aim(owner, n), by: by(owner) },
            MailAct::MarkSeen(owner, n) => MailInput::MarkSeen { request: request(n), by: by(owner) },
            MailAct::Boot => MailInput::CancelAll { reason: CancelReason::ServiceRestarted, fresh: life(99) },
            MailAct::Reset => {
                MailInput::CancelAll { reason: CancelReason::ContextReset, fresh: life(1 + self.ledger.resets()) }
            }
            MailAct::Look(_)
            | MailAct::Dispatch(_)
            | MailAct::Take(_)
            | MailAct::Return(_)
            | MailAct::Lose(_)
            | MailAct::Revoke => return None,
        })
    }

    /// What a room makes of the ways of the answers.
    fn moves(&self, act: MailAct) -> Vec<(usize, ClaimStep)> {
        match act {
            MailAct::Dispatch(n) => vec![(n, ClaimStep::Dispatch)],
            MailAct::Take(n) => vec![(n, ClaimStep::Take)],
            MailAct::Return(n) => vec![(n, ClaimStep::Return(FailCode::Stalled))],
            MailAct::Lose(n) => vec![(n, ClaimStep::Lose)],
            // A boot sends again what was never sent, and never what may have been taken.
            MailAct::Boot => (0..self.ledger.many()).filter(|n| self.is(*n, "dispatching")).map(lost).collect(),
            MailAct::Publish(_)
            | MailAct::Look(_)
            | MailAct::Answer(..)
            | MailAct::Cancel(..)
            | MailAct::MarkSeen(..)
            | MailAct::Reset
            | MailAct::Revoke => Vec::new(),
        }
    }

    fn is(&self, n: usize, state: &str) -> bool {
        let claim = self.mailbox.asks.get(&request(n)).and_then(|entry| entry.claim.as_ref());
        claim.is_some_and(|claim| claim.state.as_str() == state)
    }
}

impl Walked for MailWorld {
    type Act = MailAct;

    fn enabled(&self) -> Vec<MailAct> {
        let (script, ledger) = (&self.script, &self.ledger);
        let drafts = if ledger.many() < usize::from(script.asks) { 2 } else { 0 };
        let mut acts: Vec<_> = (0..drafts).map(MailAct::Publish).collect();
        let head = &self.mailbox.head;
        for owner in script.owners.iter().copied() {
            let stale = self.read[owner as usize] != (head.incarnation, head.revision);
            acts.extend(stale.then_some(MailAct::Look(owner)));
            for n in 0..ledger.many() {
                acts.extend([Choice::Approve, Choice::Decline].map(|choice| MailAct::Answer(owner, n, choice)));
                acts.extend([MailAct::Cancel(owner, n), MailAct::MarkSeen(owner, n)]);
            }
        }
        for n in 0..ledger.many() {
            if self.is(n, "claimed") {
                acts.extend([MailAct::Dispatch(n), MailAct::Return(n)]);
            }
            if self.is(n, "dispatching") {
                acts.extend([MailAct::Take(n), MailAct::Return(n), MailAct::Lose(n)]);
            }
        }
        acts.extend((ledger.boots() < script.boots).then_some(MailAct::Boot));
        acts.extend((ledger.resets() < script.resets).then_some(MailAct::Reset));
        acts.extend((ledger.revocations() < script.revocations).then_some(MailAct::Revoke));
        acts
    }

    fn after(&self, act: MailAct) -> Result<Self, String> {
        let mut next = self.clone();
        let (mut mailbox, mut ledger) = (Mailbox::clone(&self.mailbox), Ledger::clone(&self.ledger));
        for (n, step) in self.moves(act) {
            advance(&mut mailbox, n, step)?;
        }
        if let MailAct::Look(owner) = act {
            next.read[owner as usize] = (mailbox.head.incarnation, mailbox.head.revision);
        }
        let reading = |owner: Owner| self.read[owner as usize];
        let due = ledger.take(act, reading);
        if let Some(input) = self.input(act) {
            let decision = decide(&mailbox, input, ledger.standing());
            must(Some(&decision.outcome) == due.as_ref(), || format!("{:?} and not {due:?}", decision.outcome))?;
            mailbox = decision.next;
            if let MailOutcome::Accepted(request) = decision.outcome {
                claim(&mut mailbox, request);
            }
            ledger.judge_shown(&decision.changes)?;
        }
        ledger.judge(&mailbox)?;
        next.mailbox = Part::new(mailbox);
        next.ledger = Part::new(ledger);
        Ok(next)
    }
}

fn lost(n: usize) -> (usize, ClaimStep) {
    (n, ClaimStep::Lose)
}

pub(crate) fn request(n: usize) -> RequestId {
    RequestId(Uuid::from_u128(1 + n as u128))
}

fn life(n: u8) -> IncarnationId {
    IncarnationId(Uuid::from_u128(u128::from(n)))
}

pub(crate) fn by(owner: Owner) -> Answerer {
    let (kind, n) = match owner {
        Owner::A => (PrincipalKind::Operator, 1),
        Owner::B => (PrincipalKind::Device, 2),
    };
    Answerer { by: By { kind, id: n.to_string() }, token: TokenId(Uuid::from_u128(n)) }
}

static BOTH: LazyLock<Authority> = LazyLock::new(|| held_by(&[Owner::A, Owner::B]));
static FIRST: LazyLock<Authority> = LazyLock::new(|| held_by(&[Owner::A]));

fn held_by(owners: &[Owner]) -> Authority {
    let mut authority = authority(Standing::Full);
    authority.answerers = owners.iter().map(|owner| (by(*owner).token, None)).collect();
    authority
}

fn decide(mailbox: &Mailbox, input: MailInput, standing: Standing) -> MailDecision {
    let authority: &Authority = if standing == Standing::Full { &BOTH } else { &FIRST };
    let autonomy = Autonomy::default();
    let ctx = MailContext { now: NOW, authority, autonomy: &autonomy, facts: Facts::default() };
    mailbox.decide(input, ctx)
}

fn publish(mailbox: &Mailbox, draft: Draft, at: u128) -> MailDecision {
    let (draft, origin) = (Box::new(draft), Box::new(source::origin()));
    decide(mailbox, MailInput::Publish { draft, origin, minted: minted(at) }, Standing::Full)
}

fn minted(at: u128) -> MintedAsk {
    let options = (0..8).map(|n| OptionId(Uuid::from_u128(1_000 * at + n))).collect();
    MintedAsk { request: RequestId(Uuid::from_u128(at)), options }
}

fn draft(prompt: &str) -> Draft {
    Draft {
        purpose: Purpose::Approval,
        kind: AskKind::Choice,
        prompt: prompt.to_owned(),
        options: Vec::new(),
        freeform: Freeform::Refused,
        recommendation: None,
        waiting_on: Some("the run".to_owned()),
        steps: Vec::new(),
        gate: Some(Category::Push),
        secrecy: Secrecy::Open,
        issue: None,
        worker: None,
    }
}

/// What a room makes durable together with an accepted answer.
fn claim(mailbox: &mut Mailbox, request: RequestId) {
    let conversation = mailbox.head.conversation.clone();
    let entry = Arc::make_mut(mailbox.asks.get_mut(&request).unwrap());
    if let Resolution::Submitted { answerer, run, .. } = entry.resolution {
        let (handoff, state, seen) = (Some(entry.ask.origin.handoff), ClaimState::Claimed, Seen::No);
        entry.claim = Some(Claim { request, conversation, handoff, run, answerer, state, at: NOW, seen });
    }
}

fn advance(mailbox: &mut Mailbox, n: usize, step: ClaimStep) -> Verdict {
    let entry = Arc::make_mut(mailbox.asks.get_mut(&request(n)).ok_or("M3: an answer on its way was forgotten")?);
    let claim = entry.claim.as_ref().ok_or("M1: an answer without a claim")?;
    entry.claim = Some(claim.advance(step, NOW).map_err(|why| why.to_string())?);
    Ok(())
}
