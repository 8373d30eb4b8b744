//! I8 and M2 for what a gate closes: it happens only where the owner approved it, once for each
//! approval, or where configuration delegates it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use clankie_domain::answer::{Answer, StoredAnswer};
use clankie_domain::ask::{Ask, Resolution};
use clankie_domain::ids::{RequestId, RunId};

use super::Found;
use super::authority::Authority;
use crate::sim::history::{Doing, Fact, Mail, What};

/// What the host calls the option that approves.
const APPROVE: &str = "Approve";

pub(super) fn judge(facts: &[Fact], found: &mut Found) {
    let authority = Authority::of(facts);
    let mut continues: BTreeMap<RunId, RequestId> = BTreeMap::new();
    let mut calls: BTreeMap<(RunId, String), (u64, String)> = BTreeMap::new();
    let mut approved: BTreeMap<RequestId, Option<String>> = BTreeMap::new();
    let mut used: BTreeSet<RequestId> = BTreeSet::new();
    for Fact { at, what } in facts {
        if let What::Mail(Mail::Ask(view)) = what {
            approved.insert(view.entry.ask.request, opens(&view.entry.ask, &view.entry.resolution));
        }
        let What::Run(run, doing) = what else { continue };
        if let Doing::Began(given) = doing
            && let Some((request, _)) = &given.answered
        {
            continues.insert(*run, *request);
        }
        if let Doing::Called { call, arguments, .. } = doing
            && let Some(gate) = arguments.get("gate").and_then(|gate| gate.as_str())
        {
            calls.insert((*run, call.clone()), (*at, gate.to_owned()));
        }
        let Doing::Shipped(call) = doing else { continue };
        let Some((begun, gate)) = calls.get(&(*run, call.clone())) else {
            found.broken("I8", *at, format!("run {run} shipped without a call"));
            continue;
        };
        let request = continues.get(run);
        let opened = request.filter(|request| approved.get(request).is_some_and(|opens| opens.as_ref() == Some(gate)));
        match opened {
            Some(request) if used.insert(*request) => {}
            _ if authority.may_be_delegated(gate, (*begun, *at)) => {}
            Some(request) => found.broken("M2", *at, format!("the approval of ask {request} was used twice")),
            None => found.broken("M2", *at, format!("run {run} passed the gate {gate}, which nobody opened")),
        }
    }
}

/// The category that an answer opened.
fn opens(ask: &Arc<Ask>, resolution: &Resolution) -> Option<String> {
    let Resolution::Submitted { answer: StoredAnswer::Open(Answer::Choice { option }), .. } = resolution else {
        return None;
    };
    let approves = ask.options.iter().any(|known| known.id == *option && known.label == APPROVE);
    ask.gate.filter(|_| approves).map(|gate| gate.as_str().to_owned())
}
