//! M1, M2, M3 and M4 over every call of an owner's surface: what it was told, and what it cost.

use std::collections::BTreeMap;

use clankie_actors::mail::{AskView, MailReply};
use clankie_domain::answer::{Answer, StoredAnswer};
use clankie_domain::ask::{Ask, AskKind, Freeform, Resolution};
use clankie_domain::event::Event;
use clankie_domain::ids::{RequestId, TokenId};
use clankie_domain::mailbox::{Aim, MailRefusal};

use super::Found;
use super::authority::Authority;
use crate::sim::history::{Fact, Mail, What, Wish};

struct Calls {
    authority: Authority,
    open: BTreeMap<u64, (u64, TokenId, Wish, u64)>,
    asks: BTreeMap<RequestId, AskView>,
    /// What every winner's receipt said.
    receipts: BTreeMap<RequestId, Resolution>,
    /// Events of the mailbox so far.
    moved: u64,
}

pub(super) fn judge(facts: &[Fact], found: &mut Found) {
    let (open, asks, receipts) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut calls = Calls { authority: Authority::of(facts), open, asks, receipts, moved: 0 };
    for Fact { at, what } in facts {
        if let What::Event(_, Event::InputResolved { .. } | Event::Update { .. }) = what {
            calls.moved += 1;
        }
        if let What::Mail(mail) = what {
            calls.mail(mail, *at, found);
        }
    }
}

impl Calls {
    fn mail(&mut self, mail: &Mail, at: u64, found: &mut Found) {
        match mail {
            Mail::Ask(view) => {
                self.asks.insert(view.entry.ask.request, view.as_ref().clone());
            }
            Mail::Wished(call, token, wish) => {
                self.open.insert(*call, (at, *token, wish.clone(), self.moved));
            }
            Mail::Granted(call, reply, commits) => {
                let Some((begun, token, wish, moved)) = self.open.remove(call) else { return };
                if let Some(reply) = reply {
                    self.may(token, reply, (begun, at), found);
                    self.told(&wish, reply, at, found);
                }
                // Counted only where nothing else happened.
                if let Some(commits) = commits
                    && reply.is_some()
                    && *commits != u64::from(self.moved != moved)
                {
                    found.broken("M4", at, format!("call {call} made {commits} commits"));
                }
            }
            Mail::AskGone(_) | Mail::Update(_) | Mail::Reposted(..) | Mail::Secret(..) => {}
        }
    }

    /// Whoever might not is refused, and nobody else is for that reason.
    fn may(&self, token: TokenId, reply: &MailReply, span: (u64, u64), found: &mut Found) {
        let refused = matches!(reply, MailReply::Refused(MailRefusal::OwnerUnavailable, _));
        if !refused && !self.authority.may_answer(token, span) {
            found.broken("M2", span.1, format!("{token} might not, and was not refused"));
        }
        if refused && self.authority.surely_answers(token, span) {
            found.broken("M2", span.1, format!("{token} might, and was refused"));
        }
    }

    fn told(&mut self, wish: &Wish, reply: &MailReply, at: u64, found: &mut Found) {
        match (wish, reply) {
            (Wish::Answer(_, aim, answer), MailReply::Resolved(view)) => {
                let fits = match &view.entry.resolution {
                    Resolution::Submitted { answer: stored, .. } => is_that(stored, answer),
                    Resolution::Pending | Resolution::Cancelled { .. } => false,
                };
                if !fits {
                    shows_something_else(aim, view, at, found);
                }
                self.receipt(aim, view, at, found);
            }
            (Wish::Cancel(_, aim), MailReply::Resolved(view)) => {
                if !matches!(view.entry.resolution, Resolution::Cancelled { .. }) {
                    shows_something_else(aim, view, at, found);
                }
                self.receipt(aim, view, at, found);
            }
            (Wish::Answer(_, aim, _) | Wish::Cancel(_, aim), MailReply::RevisionConflict(view)) => {
                if view.head.revision == aim.revision && view.entry.resolution == Resolution::Pending {
                    found.broken("M3", at, format!("ask {} conflicts with what was read of it", aim.request));
                }
            }
            (Wish::Answer(_, aim, answer), MailReply::Refused(why, _)) => {
                self.refused(aim, Some(answer), *why, (at, found))
            }
            (Wish::Cancel(_, aim), MailReply::Refused(why, _)) => self.refused(aim, None, *why, (at, found)),
            (Wish::Seen(_) | Wish::Read(_) | Wish::Dismiss(_) | Wish::Repost(..), _)
            | (Wish::Answer(..) | Wish::Cancel(..), MailReply::Update(_)) => {}
        }
    }

    /// A receipt is the same for everybody and for ever.
    fn receipt(&mut self, aim: &Aim, view: &AskView, at: u64, found: &mut Found) {
        let resolution = view.entry.resolution.clone();
        let before = self.receipts.insert(aim.request, resolution.clone());
        if before.is_some_and(|before| before != resolution) {
            found.broken("M1", at, format!("ask {} has two winners", aim.request));
        }
    }

    /// The only reasons that a call here can be refused for.
    fn refused(&self, aim: &Aim, answer: Option<&Answer>, why: MailRefusal, (at, found): (u64, &mut Found)) {
        let known = self.asks.get(&aim.request);
        let resolution = known.map(|view| &view.entry.resolution);
        let earned = match why {
            MailRefusal::OwnerUnavailable | MailRefusal::Busy => true,
            MailRefusal::ConflictingAnswer => match (resolution, answer) {
                (Some(Resolution::Submitted { answer: stored, .. }), Some(answer)) => {
                    !is_that(stored, answer) || is_sealed(stored)
                }
                (Some(Resolution::Submitted { .. }), None) | (Some(Resolution::Cancelled { .. }), Some(_)) => true,
                (Some(Resolution::Pending) | None, _) | (Some(Resolution::Cancelled { .. }), None) => false,
            },
            MailRefusal::InvalidAnswer => {
                known.zip(answer).is_some_and(|(view, answer)| !could_answer(&view.entry.ask, answer))
            }
            MailRefusal::UnknownConversation
            | MailRefusal::StateUnavailable
            | MailRefusal::StaleRequest
            | MailRefusal::NativeDriverActive
            | MailRefusal::InvalidWorkerAnswer
            | MailRefusal::AnswerInProgress
            | MailRefusal::WorkerQuestionResolved
            | MailRefusal::OwnerContextLost
            | MailRefusal::UnknownUpdate
            | MailRefusal::NothingToSee => false,
        };
        if !earned {
            found.broken("M3", at, format!("a call on ask {} was refused: {}", aim.request, why.as_str()));
        }
    }
}

fn shows_something_else(aim: &Aim, view: &AskView, at: u64, found: &mut Found) {
    let law = if matches!(view.entry.resolution, Resolution::Cancelled { .. }) { "M5" } else { "M1" };
    found.broken(law, at, format!("the receipt of ask {} shows something else", aim.request));
}

fn is_sealed(stored: &StoredAnswer) -> bool {
    matches!(stored, StoredAnswer::Sealed(_))
}

fn is_that(stored: &StoredAnswer, answer: &Answer) -> bool {
    match stored {
        StoredAnswer::Open(known) => known == answer,
        StoredAnswer::Sealed(_) => matches!(answer, Answer::Text { .. }),
    }
}

/// Whether an ask can be answered so at all, by the page on the mailbox.
fn could_answer(ask: &Ask, answer: &Answer) -> bool {
    match answer {
        Answer::Choice { option } => ask.options.iter().any(|known| known.id == *option),
        Answer::Text { .. } => {
            ask.kind == AskKind::Text || ask.freeform == Freeform::Allowed || ask.purpose.as_str() == "approval"
        }
        Answer::Worker { .. } => false,
    }
}
