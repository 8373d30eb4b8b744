//! Each answer to an owner against what it claims, and each read of an ask or an update against its
//! own past and against what owners wanted of it.

use crate::mail::ledger::{Known, Ledger};
use crate::mail::shapes::{Act, Ask, Call, Heard, Update};

/// A rule, and how it is broken.
pub(crate) type Wrong = (&'static str, String);

/// How far an ask has come; it only ever grows.
pub(crate) fn rank(ask: &Ask) -> u8 {
    let seen = u8::from(ask.continuation.as_ref().is_some_and(|claim| claim.seen));
    match (ask.status.as_str(), ask.claim()) {
        ("pending", _) => 0,
        (_, "claimed") => 1,
        (_, "dispatching") => 2,
        _ => 3 + seen,
    }
}

/// The same for an update.
pub(crate) fn update_rank(update: &Update) -> u8 {
    match update.state.as_str() {
        "unread" => 0,
        "read" => 1,
        _ => 2,
    }
}

/// What is wrong about what a call came to.
pub(crate) fn heard(call: &Call, heard: &Heard, ledger: &Ledger) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    match heard {
        Heard::Resolved(ask) => wrong.extend(resolved(call, ask, ledger)),
        Heard::Refused(reason, ask) => wrong.extend(refused(call, reason, ask.as_deref(), ledger)),
        Heard::Updated(update) => {
            let least = if call.act == Act::Read { 1 } else { 2 };
            if update_rank(update) < least {
                wrong.push(("an update is dealt with", format!("it is still {}", update.state)));
            }
        }
        Heard::Moved(ask) if ask.revision == call.revision && ask.is_pending() => {
            wrong.push(("a conflict has a cause", format!("revision {} is the one that was read", ask.revision)));
        }
        Heard::Moved(_) | Heard::Lost => {}
    }
    wrong
}

/// One winner: whoever else is told that it stands so wanted the same.
fn resolved(call: &Call, ask: &Ask, ledger: &Ledger) -> Vec<Wrong> {
    if call.act == Act::Seen {
        let seen = ask.continuation.as_ref().is_some_and(|claim| claim.seen);
        let unseen = ("a mark is kept", format!("it is marked and shows {:?}", ask.continuation));
        return if seen { Vec::new() } else { vec![unseen] };
    }
    let mut wrong = Vec::new();
    if !ask.stands_as(&call.act) {
        wrong.push(("a receipt shows what was done", format!("{} {:?}", ask.status, ask.answer)));
    }
    let resolves = |act: &&Act| matches!(act, Act::Answer(_) | Act::Cancel);
    if let Some(other) = ledger.taken(&call.about).iter().filter(resolves).find(|other| **other != call.act) {
        wrong.push(("one winner", format!("{other:?} was accepted before")));
    }
    wrong
}

/// The only reasons that these calls earn.
fn refused(call: &Call, reason: &str, ask: Option<&Ask>, ledger: &Ledger) -> Option<Wrong> {
    let known = ledger.asks.get(&call.about).map(|known| &known.now);
    match (reason, ask) {
        ("conflicting_answer", Some(ask)) if ask.is_pending() => {
            Some(("one winner", "it conflicts with nothing: the ask is pending".to_owned()))
        }
        ("conflicting_answer", Some(ask)) if !ask.secret && ask.stands_as(&call.act) => {
            Some(("one winner", "it conflicts with the same answer".to_owned()))
        }
        ("conflicting_answer", Some(_)) | ("nothing_to_see", _) => None,
        // What was settled may have been forgotten by now; what was not may not.
        ("stale_request", _) if known.is_some_and(Ask::is_settled) => None,
        ("stale_request", _) => Some(("M3 nothing unsettled is forgotten", format!("it is stale and was {known:?}"))),
        ("unknown_update", _) if ledger.wanted(&call.about).contains(&Act::Dismiss) => None,
        _ => Some(("M3 no call is refused for capacity", format!("{reason} with {ask:?}"))),
    }
}

/// What is wrong about one read of an ask that was asked for at `began`.
pub(crate) fn read(ask: &Ask, began: u64, ledger: &Ledger) -> Vec<Wrong> {
    let mut wrong = whole(ask);
    wrong.extend(by_owners(ask, ledger));
    if let Some(known) = ledger.asks.get(&ask.request_id) {
        wrong.extend(after(known, ask, began));
    }
    wrong
}

/// What must agree inside one ask.
fn whole(ask: &Ask) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    let resolution = (ask.answer.is_some(), ask.resolved_by.is_some(), ask.continuation.is_some());
    let fine = match ask.status.as_str() {
        "pending" => resolution == (false, false, false),
        "submitted" => resolution == (true, true, true),
        _ => true,
    };
    if !fine {
        wrong.push(("M1 an accepted answer has its claim", format!("{} has {resolution:?}", ask.status)));
    }
    if ask.status == "cancelled" && resolution != (false, true, false) {
        wrong.push(("M5 cancelled is never an answer", format!("it has {:?} {:?}", ask.answer, ask.continuation)));
    }
    wrong
}

/// Nobody resolves an ask but owners, each under a name.
fn by_owners(ask: &Ask, ledger: &Ledger) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    if ask.is_pending() {
        return wrong;
    }
    let wanted = ledger.wanted(&ask.request_id);
    if !wanted.iter().any(|act| ask.stands_as(act)) {
        let what = format!("it is {} {:?} and owners wanted {wanted:?}", ask.status, ask.answer);
        wrong.push(("M6 only owners resolve", what));
    }
    match &ask.resolved_by {
        Some(by) if ledger.principals.contains(by) => {}
        by => wrong.push(("M2 a principal is named", format!("{by:?} is none of ours"))),
    }
    if ask.continuation.as_ref().is_some_and(|claim| claim.seen) && !wanted.contains(&Act::Seen) {
        wrong.push(("M6 only owners resolve", "it is marked as seen by nobody".to_owned()));
    }
    wrong
}

/// What is wrong about a read of an ask after another.
fn after(known: &Known<Ask>, ask: &Ask, began: u64) -> Vec<Wrong> {
    let then = &known.now;
    let (first, last) = if rank(ask) >= rank(then) { (then, ask) } else { (ask, then) };
    let mut wrong = Vec::new();
    if rank(ask) < rank(then) && began > known.at {
        let what = format!("{} {:?} became {} {:?}", then.status, then.claim(), ask.status, ask.claim());
        wrong.push(("M1 what was committed stays", what));
    }
    if fixed(first) != fixed(last) {
        wrong.push(("an ask is immutable", format!("{first:?} became {last:?}")));
    }
    if first.is_pending() {
        return wrong;
    }
    if receipt(first) != receipt(last) {
        let rule =
            if first.status == "cancelled" { "M5 a cancelled ask never changes" } else { "a receipt never changes" };
        wrong.push((rule, format!("{:?} became {:?}", receipt(first), receipt(last))));
    }
    let run = |ask: &Ask| ask.continuation.as_ref().map(|claim| (claim.run_id.clone(), claim.handoff_id.clone()));
    if run(first) != run(last) {
        wrong.push(("M1 one continuation", format!("{:?} became {:?}", run(first), run(last))));
    }
    if rank(first) >= 3 && first.claim() != last.claim() {
        wrong.push(("M1 what was committed stays", format!("{} became {}", first.claim(), last.claim())));
    }
    wrong
}

fn fixed(ask: &Ask) -> impl PartialEq + '_ {
    let Ask { conversation_id, incarnation_id, purpose, kind, prompt, options, secret, origin, created_at, .. } = ask;
    ((conversation_id, incarnation_id, purpose, kind), (prompt, options, secret, origin, created_at))
}

fn receipt(ask: &Ask) -> impl PartialEq + std::fmt::Debug + '_ {
    let Ask { status, answer, resolved_at, resolved_by, reason, .. } = ask;
    (status, answer, resolved_at, resolved_by, reason)
}

/// What is wrong about one read of an update that was asked for at `began`.
pub(crate) fn read_update(update: &Update, began: u64, ledger: &Ledger) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    let wanted = ledger.wanted(&update.id);
    let earned = match update.state.as_str() {
        "unread" => true,
        "read" => wanted.contains(&Act::Read),
        _ => wanted.contains(&Act::Dismiss),
    };
    if !earned {
        wrong.push(("an update moves by owners alone", format!("it is {} and owners wanted {wanted:?}", update.state)));
    }
    let Some(known) = ledger.updates.get(&update.id) else { return wrong };
    if update_rank(update) < update_rank(&known.now) && began > known.at {
        wrong.push(("an update never goes back", format!("{} became {}", known.now.state, update.state)));
    }
    let fixed = |one: &Update| (one.title.clone(), one.body.clone(), one.conversation_id.clone(), one.at.clone());
    if fixed(&known.now) != fixed(update) {
        wrong.push(("an update is immutable", format!("{:?} became {update:?}", known.now)));
    }
    wrong
}
