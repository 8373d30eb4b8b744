//! M1, M2, M5 and M6 over every ask: who resolved it, what became of the answer, and what never happens.

use std::collections::BTreeMap;
use std::sync::Arc;

use clankie_actors::mail::AskView;
use clankie_domain::answer::{Answer, StoredAnswer};
use clankie_domain::ask::{Ask, Resolution};
use clankie_domain::claim::{Claim, ClaimStateName};
use clankie_domain::ids::{RequestId, RunId, TokenId};

use super::Found;
use super::authority::Authority;
use crate::sim::history::{Doing, Fact, Given, Last, Mail, What, Wish};

/// One call of an owner's surface.
struct Call {
    at: u64,
    token: TokenId,
    wish: Wish,
}

struct Asks {
    authority: Authority,
    known: BTreeMap<RequestId, Arc<AskView>>,
    calls: Vec<Call>,
    secrets: BTreeMap<RequestId, Vec<String>>,
    woken: BTreeMap<RequestId, Arc<Given>>,
    took: BTreeMap<RunId, u64>,
}

pub(super) fn judge(facts: &[Fact], found: &mut Found) {
    let mut asks = Asks {
        authority: Authority::of(facts),
        known: BTreeMap::new(),
        calls: Vec::new(),
        secrets: BTreeMap::new(),
        woken: BTreeMap::new(),
        took: BTreeMap::new(),
    };
    for Fact { at, what } in facts {
        if let What::Mail(Mail::Secret(request, text)) = what {
            asks.secrets.entry(*request).or_default().push(text.clone());
        }
        if let What::Mail(Mail::Wished(_, token, wish)) = what {
            asks.calls.push(Call { at: *at, token: *token, wish: wish.clone() });
        }
        if let What::Mail(Mail::Ask(view)) = what {
            asks.read(view, *at, found);
        }
        if let What::Run(_, Doing::Began(given)) = what {
            asks.wakes(given, *at, found);
        }
        if let What::Run(run, Doing::Took) = what {
            asks.took.insert(*run, *at);
        }
        if let What::Last(last) = what {
            last.asks.iter().for_each(|view| asks.read(view, *at, found));
            asks.last(last, *at, found);
        }
    }
}

impl Asks {
    fn read(&mut self, view: &Arc<AskView>, at: u64, found: &mut Found) {
        let ask = &view.entry.ask;
        let before = self.known.insert(ask.request, Arc::clone(view));
        let is_new = before.as_ref().is_none_or(|before| before.entry.resolution == Resolution::Pending);
        if let Some(before) = &before {
            Self::goes_on(before, view, at, found);
        }
        if is_new {
            self.resolved(view, at, found);
        }
        let submitted = matches!(view.entry.resolution, Resolution::Submitted { .. });
        if submitted != view.entry.claim.is_some() {
            found.broken("M1", at, format!("ask {} has an answer without a claim, or the other way", ask.request));
        }
    }

    fn goes_on(before: &AskView, now: &AskView, at: u64, found: &mut Found) {
        let request = now.entry.ask.request;
        if before.entry.ask != now.entry.ask {
            found.broken("M3", at, format!("ask {request} is another than was published"));
        }
        let resolved = &before.entry.resolution;
        if *resolved != Resolution::Pending && *resolved != now.entry.resolution {
            let cancelled = matches!(resolved, Resolution::Cancelled { .. });
            found.broken(if cancelled { "M5" } else { "M1" }, at, format!("ask {request} was resolved twice"));
        }
        let step = (before.entry.claim.as_ref(), now.entry.claim.as_ref());
        if let (Some(from), Some(to)) = step
            && !claim_fits(from, to)
        {
            let (from, to) = (from.state.as_str(), to.state.as_str());
            found.broken("M1", at, format!("the answer of ask {request} went from {from} to {to}"));
        }
    }

    /// Whoever resolved it called, and might.
    fn resolved(&self, view: &AskView, at: u64, found: &mut Found) {
        let ask = &view.entry.ask;
        let (by, token, stored) = match &view.entry.resolution {
            Resolution::Pending => return,
            Resolution::Submitted { by, answerer, answer, .. } => (by, Some(*answerer), Some(answer)),
            Resolution::Cancelled { by, .. } => (by, None, None),
        };
        let wanted = |call: &&Call| match (&call.wish, stored) {
            (Wish::Answer(_, aim, answer), Some(stored)) => {
                aim.request == ask.request && same(stored, answer) && Some(call.token) == token
            }
            (Wish::Cancel(_, aim), None) => aim.request == ask.request && by.id == call.token.to_string(),
            (Wish::Answer(..), None)
            | (Wish::Cancel(..), Some(_))
            | (Wish::Seen(_) | Wish::Read(_) | Wish::Dismiss(_) | Wish::Repost(..), _) => false,
        };
        let mut calls = self.calls.iter().filter(wanted).peekable();
        if calls.peek().is_none() {
            found.broken("M6", at, format!("ask {} was resolved by {}, who did not do that", ask.request, by.id));
            return;
        }
        let might = calls.any(|call| self.authority.may_answer(call.token, (call.at, at)));
        if !might || token.is_some_and(|token| token.to_string() != by.id) {
            found.broken("M2", at, format!("ask {} was resolved by {}, who might not", ask.request, by.id));
        }
    }

    /// An answer wakes one run, which is told that answer.
    fn wakes(&mut self, given: &Arc<Given>, at: u64, found: &mut Found) {
        let Some((request, told)) = &given.answered else { return };
        if self.woken.insert(*request, Arc::clone(given)).is_some() {
            found.broken("M1", at, format!("the answer of ask {request} was delivered twice"));
        }
        let Some(view) = self.known.get(request) else {
            found.broken("M6", at, format!("run {} was woken by an ask that nobody knows", given.run));
            return;
        };
        match &view.entry.resolution {
            Resolution::Submitted { answer, run, .. } => {
                if *run != given.run || !self.tells(&view.entry.ask, answer, told) {
                    found.broken("M1", at, format!("ask {request} woke another run, or with other words"));
                }
            }
            Resolution::Cancelled { .. } => found.broken("M5", at, format!("the cancelled ask {request} woke a run")),
            Resolution::Pending => found.broken("M6", at, format!("the pending ask {request} woke a run")),
        }
    }

    fn tells(&self, ask: &Ask, answer: &StoredAnswer, told: &String) -> bool {
        match answer {
            StoredAnswer::Sealed(_) => self.secrets.get(&ask.request).is_some_and(|all| all.contains(told)),
            StoredAnswer::Open(Answer::Text { text }) => text == told,
            StoredAnswer::Open(Answer::Choice { option }) => {
                ask.options.iter().any(|known| known.id == *option && known.label == *told)
            }
            StoredAnswer::Open(Answer::Worker { .. }) => false,
        }
    }

    fn last(&self, last: &Last, at: u64, found: &mut Found) {
        for view in &last.asks {
            let request = view.entry.ask.request;
            let lines = last.lines.iter().filter(|line| line.request == request).count();
            let answered = matches!(view.entry.resolution, Resolution::Submitted { .. });
            if lines != usize::from(answered) {
                found.broken("M5", at, format!("ask {request} is shown with {lines} answers"));
            }
            if let Some(claim) = &view.entry.claim {
                self.arrived(claim, at, found);
            }
        }
    }

    /// Where an answer ended against what its session did.
    fn arrived(&self, claim: &Claim, at: u64, found: &mut Found) {
        let woken = self.woken.get(&claim.request);
        let took = woken.is_some_and(|given| self.took.contains_key(&given.run));
        let fits = match claim.state.name() {
            ClaimStateName::Claimed | ClaimStateName::Dispatching => false,
            ClaimStateName::Delivered => took,
            ClaimStateName::Returned => !took,
            ClaimStateName::Uncertain => true,
        };
        if !fits {
            let (state, request) = (claim.state.as_str(), claim.request);
            found.broken("M1", at, format!("the answer of ask {request} is {state}, and its session took it: {took}"));
        }
    }
}

fn same(stored: &StoredAnswer, given: &Answer) -> bool {
    match stored {
        StoredAnswer::Open(answer) => answer == given,
        // The words themselves are nowhere; the law on what is told compares them.
        StoredAnswer::Sealed(_) => matches!(given, Answer::Text { .. }),
    }
}

fn claim_fits(from: &Claim, to: &Claim) -> bool {
    use ClaimStateName::{Claimed, Delivered, Dispatching, Returned, Uncertain};
    let (before, after) = (from.state.name(), to.state.name());
    let moves = match before {
        Claimed => true,
        Dispatching => after != Claimed,
        Delivered | Uncertain | Returned => after == before,
    };
    moves && from.run == to.run && from.answerer == to.answerer && from.handoff == to.handoff
}
