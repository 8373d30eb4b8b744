//! M3 and M4 over what is kept: nothing that waits is forgotten, what is put away stays so, and the
//! badge counts what the list shows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use clankie_domain::ask::Resolution;
use clankie_domain::claim::ClaimStateName;
use clankie_domain::claim::Seen;
use clankie_domain::ids::{RequestId, RunId, UpdateId};
use clankie_domain::mailbox::Entry;
use clankie_domain::update::{OwnerUpdate, UpdateStateName};
use serde_json::Value;

use super::Found;
use crate::sim::history::{Doing, Fact, Last, Mail, What};

#[derive(Default)]
struct Kept {
    asks: BTreeMap<RequestId, Entry>,
    updates: BTreeMap<UpdateId, Arc<OwnerUpdate>>,
    calls: BTreeMap<(RunId, String), Vec<Value>>,
    /// What each publication came to.
    published: BTreeMap<(RunId, String), String>,
    asked: BTreeSet<(RequestId, RunId)>,
}

pub(super) fn judge(facts: &[Fact], found: &mut Found) {
    let mut kept = Kept::default();
    for Fact { at, what } in facts {
        if let What::Mail(Mail::Ask(view)) = what {
            kept.asked.insert((view.entry.ask.request, view.entry.ask.origin.run));
            kept.asks.insert(view.entry.ask.request, view.entry.clone());
        }
        if let What::Mail(Mail::AskGone(request)) = what {
            kept.gone(*request, *at, found);
        }
        if let What::Mail(Mail::Update(update)) = what {
            kept.update(update, *at, found);
        }
        if let What::Run(run, Doing::Called { call, arguments, .. }) = what {
            kept.calls.entry((*run, call.clone())).or_default().push(arguments.clone());
        }
        if let What::Run(run, Doing::Returned { call, reply: Ok(reply) }) = what {
            kept.came_to(*run, call, reply, (*at, &mut *found));
        }
        if let What::Last(last) = what {
            kept.last(last, *at, found);
        }
    }
}

impl Kept {
    fn gone(&self, request: RequestId, at: u64, found: &mut Found) {
        if self.asks.get(&request).is_none_or(is_expected) {
            found.broken("M3", at, format!("ask {request} is gone, and was not settled"));
        }
    }

    fn update(&mut self, update: &Arc<OwnerUpdate>, at: u64, found: &mut Found) {
        let before = self.updates.insert(update.id, Arc::clone(update));
        let Some(before) = before else { return };
        if before.state.name() > update.state.name() || before.draft != update.draft {
            found.broken("M3", at, format!("update {} came back, or says something else", update.id));
        }
    }

    /// One publication is one thing; another draft under its name is refused.
    fn came_to(&mut self, run: RunId, call: &str, reply: &str, (at, found): (u64, &mut Found)) {
        let Ok(Value::Object(reply)) = serde_json::from_str(reply) else { return };
        let text = |name: &str| reply.get(name).and_then(Value::as_str);
        if let Some(id) = text("request_id")
            && let Ok(id) = uuid::Uuid::parse_str(id)
            && text("status") == Some("pending")
            && !self.asked.contains(&(RequestId(id), run))
        {
            found.broken("M3", at, format!("run {run} was told that it asked {id}, which is not there"));
        }
        let Some(id) = text("id").filter(|_| text("status").is_some_and(|status| status.ends_with("mailed"))) else {
            return;
        };
        let key = (run, call.to_owned());
        let drafts = self.calls.get(&key).map_or(&[][..], Vec::as_slice);
        let same = drafts.first() == drafts.last();
        let before = self.published.insert(key, id.to_owned());
        if before.is_some_and(|before| before != id || !same) {
            found.broken("M3", at, format!("call {call} of run {run} published two updates"));
        }
    }

    fn last(&self, last: &Last, at: u64, found: &mut Found) {
        let asks: BTreeSet<RequestId> = last.asks.iter().map(|view| view.entry.ask.request).collect();
        for (request, entry) in &self.asks {
            if is_expected(entry) && !asks.contains(request) {
                found.broken("M3", at, format!("ask {request} was forgotten"));
            }
        }
        let updates: BTreeSet<UpdateId> = last.updates.iter().map(|update| update.id).collect();
        for (id, update) in &self.updates {
            if update.state.name() != UpdateStateName::Dismissed && !updates.contains(id) {
                found.broken("M3", at, format!("update {id} was forgotten"));
            }
        }
        let pending = last.asks.iter().filter(|view| view.entry.resolution == Resolution::Pending).count();
        let unread = last.updates.iter().filter(|update| update.state.name() == UpdateStateName::Unread).count();
        if last.counts != (pending as u64, unread as u64) {
            found.broken("M3", at, format!("the badge counts {:?} of {pending} and {unread}", last.counts));
        }
    }
}

/// Whether something of the ask is still expected of the owner, or to reach its source.
fn is_expected(entry: &Entry) -> bool {
    match (&entry.resolution, &entry.claim) {
        (Resolution::Pending, _) | (Resolution::Submitted { .. }, None) => true,
        (Resolution::Cancelled { .. }, _) => false,
        (Resolution::Submitted { .. }, Some(claim)) => match claim.state.name() {
            ClaimStateName::Claimed | ClaimStateName::Dispatching => true,
            ClaimStateName::Uncertain | ClaimStateName::Returned => claim.seen == Seen::No,
            ClaimStateName::Delivered => false,
        },
    }
}
