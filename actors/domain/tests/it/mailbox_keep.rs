//! What a mailbox keeps, when it is full, and what it counts.

use clankie_domain::ask::{Ask, Draft, IssueRef, Resolution, WorkerRequestId};
use clankie_domain::autonomy::Category;
use clankie_domain::claim::{ClaimState, ClaimStep, Seen};
use clankie_domain::ids::RequestId;
use clankie_domain::mailbox::{
    BYTES_MAX, MailChange, MailInput, MailOutcome, MailRefusal, PublishRefused, RECORDS_MAX, SETTLED_KEPT,
};
use clankie_domain::result::FailCode;
use serde_json::json;

use crate::desk::{CAPTAIN, Desk, published};
use crate::drafts::{approval, by, decision, escalation, question, text};

const FULL: MailOutcome = MailOutcome::NotPublished(PublishRefused::Capacity);

fn ask(desk: &mut Desk, n: usize) -> RequestId {
    desk.asked(question(&format!("ask {n}")))
}

fn gone(desk: &Desk) -> Vec<RequestId> {
    let of = |change: &MailChange| if let MailChange::AskGone(ask) = change { Some(ask.request) } else { None };
    desk.changes.iter().filter_map(of).collect()
}

#[test]
fn m3_a_full_mailbox_refuses_and_evicts_nothing_pending() {
    let mut desk = Desk::new();
    let all: Vec<_> = (0..RECORDS_MAX).map(|n| ask(&mut desk, n)).collect();
    assert_eq!(desk.publish(question("one more")), FULL);
    assert!(desk.changes.is_empty());
    assert!(all.iter().all(|request| desk.entry(*request).resolution == Resolution::Pending));
    assert_eq!(desk.publish(question("ask 7")), MailOutcome::AlreadyAsked(all[7]), "what is there is no more");
    for request in &all {
        assert_eq!(desk.answer(*request, text(&"y".repeat(6_000))), MailOutcome::Accepted(*request));
    }
    assert_eq!(desk.publish(question("one more")), FULL, "no answer is delivered yet");
    desk.deliver(all[0]);
    assert_eq!(desk.publish(question("one more")), FULL, "the newest 32 settled are kept");
    for request in &all[1..=SETTLED_KEPT] {
        desk.deliver(*request);
    }
    desk.asked(question("one more"));
    assert_eq!(gone(&desk), [all[0]]);
}

#[test]
fn m3_bytes_bound_a_mailbox_and_answers_count_nothing() {
    let mut desk = Desk::new();
    let long = |n: usize| Draft { prompt: format!("{n} {}", "x".repeat(1_900)), ..question("") };
    let mut many = 0;
    while let MailOutcome::Asked(request) = desk.publish(long(many)) {
        desk.answer(request, text(&"y".repeat(6_000)));
        many += 1;
    }
    let bytes = |desk: &Desk| desk.mailbox.asks.values().map(|entry| entry.ask.stored_bytes()).sum::<usize>();
    let one = desk.mailbox.asks.values().next().unwrap().ask.stored_bytes();
    assert!(many < RECORDS_MAX && bytes(&desk) <= BYTES_MAX && bytes(&desk) + 2 * one > BYTES_MAX, "{many}");
    assert_eq!(desk.publish(long(many)), FULL);
    let least = one - long(0).prompt.len();
    for length in (1..1_900).rev().step_by(100) {
        let fits = bytes(&desk) + least + length <= BYTES_MAX;
        let outcome = desk.publish(question(&"x".repeat(length)));
        assert_eq!(matches!(outcome, MailOutcome::Asked(_)), fits, "{length}");
    }
}

/// The newest 32 by the moment of settling, not of asking; a decision never takes what it settled itself.
#[test]
fn m3_the_newest_settled_are_kept_in_the_order_of_their_settling() {
    let mut desk = Desk::new();
    let all: Vec<_> = (0..40).map(|n| ask(&mut desk, n)).collect();
    for (n, request) in all.iter().rev().enumerate() {
        desk.cancel(*request);
        let due = if n < SETTLED_KEPT { vec![] } else { vec![all[39 - (n - SETTLED_KEPT)]] };
        assert_eq!(gone(&desk), due, "{n}");
        assert!(desk.mailbox.asks.contains_key(request));
    }
    assert_eq!(desk.mailbox.asks.keys().copied().collect::<Vec<_>>(), all[..SETTLED_KEPT]);
}

#[test]
fn m5_what_a_reset_cancels_stays_readable_after_it() {
    let mut desk = Desk::of_owner();
    let all: Vec<_> = (0..50).map(|n| ask(&mut desk, n)).collect();
    desk.cancel_all(clankie_domain::ask::CancelReason::ContextReset);
    assert!(all.iter().all(|request| desk.mailbox.asks.contains_key(request)));
    ask(&mut desk, 50);
    assert_eq!(gone(&desk), all[..50 - SETTLED_KEPT]);
}

#[test]
fn m3_what_failed_is_kept_until_the_owner_has_seen_it() {
    let mut desk = Desk::new();
    let (lost, back, owed) = (ask(&mut desk, 0), ask(&mut desk, 1), ask(&mut desk, 2));
    for request in [lost, back, owed] {
        desk.answer(request, text("done"));
    }
    desk.advance(lost, ClaimStep::Dispatch);
    desk.advance(lost, ClaimStep::Lose);
    desk.advance(back, ClaimStep::Return(FailCode::Stalled));
    let churn = |desk: &mut Desk, from: usize| {
        for n in from..from + 40 {
            let request = ask(desk, n);
            desk.cancel(request);
        }
    };
    churn(&mut desk, 10);
    assert!([lost, back, owed].iter().all(|request| desk.mailbox.asks.contains_key(request)));
    let nothing = |request| MailOutcome::Refused(MailRefusal::NothingToSee, Some(request));
    assert_eq!(desk.mark_seen(owed), nothing(owed));
    for request in [lost, back] {
        assert_eq!(desk.mark_seen(request), MailOutcome::Resolved(request));
        let claim = desk.entry(request).claim.clone().unwrap();
        assert_eq!((claim.seen, desk.changes.first()), (Seen::Yes, Some(&MailChange::Claim(claim.clone()))));
        assert_eq!(desk.mark_seen(request), MailOutcome::Resolved(request));
        assert!(desk.changes.is_empty(), "seen is seen");
    }
    churn(&mut desk, 60);
    let kept = [lost, back, owed].map(|request| desk.mailbox.asks.contains_key(&request));
    assert_eq!(kept, [false, false, true]);
    assert_eq!(desk.entry(owed).claim.as_ref().unwrap().state, ClaimState::Claimed);
}

/// An approval opens its category for as long as its handoff runs, whatever else is settled meanwhile.
#[test]
fn m3_what_a_running_handoff_continues_with_is_kept_until_that_is_over() {
    let mut desk = Desk::new();
    let (runs, over) = (ask(&mut desk, 0), ask(&mut desk, 1));
    for request in [runs, over] {
        desk.answer(request, text("go on"));
        desk.deliver(request);
    }
    desk.facts.continuing = Box::leak(Box::new([runs]));
    let churn = |desk: &mut Desk, from: usize| {
        for n in from..from + 2 * SETTLED_KEPT {
            let request = ask(desk, n);
            desk.cancel(request);
        }
    };
    churn(&mut desk, 10);
    assert_eq!([runs, over].map(|request| desk.mailbox.asks.contains_key(&request)), [true, false]);
    assert_eq!(desk.mailbox.asks.len(), SETTLED_KEPT + 1, "it takes no place from those that are settled");
    desk.facts.continuing = &[];
    churn(&mut desk, 100);
    assert!(!desk.mailbox.asks.contains_key(&runs));
}

#[test]
fn m2_only_who_may_answer_may_take_note() {
    let mut desk = Desk::new();
    let request = ask(&mut desk, 0);
    assert_eq!(desk.mark_seen(request), MailOutcome::Refused(MailRefusal::NothingToSee, Some(request)));
    let gone = MailOutcome::Refused(MailRefusal::OwnerUnavailable, None);
    assert_eq!(desk.decide(MailInput::MarkSeen { request, by: by(CAPTAIN) }), gone);
    let unknown = RequestId(uuid::Uuid::nil());
    assert_eq!(desk.mark_seen(unknown), MailOutcome::Refused(MailRefusal::StaleRequest, None));
}

/// An ask as JSON with every field of it, as any row of the store may hold it.
fn as_json(ask: &Ask) -> serde_json::Value {
    let origin = &ask.origin;
    let options = ask.options.iter().map(
        |option| json!({"id": option.id, "label": option.label, "description": option.description, "role": "approve"}),
    );
    let worker = ask.worker.as_ref().map(|worker| {
        let item = |item: &clankie_domain::ask::WorkerItem| {
            json!({"id": item.id, "text": item.text, "options": item.options, "secrecy": "secret"})
        };
        let request_id = match &worker.request_id {
            WorkerRequestId::Text(id) => json!({"text": id}),
            WorkerRequestId::Number(id) => json!({"number": id}),
        };
        json!({"seat_id": worker.seat_id, "session_id": worker.session_id, "request_id": request_id,
            "questions": worker.questions.iter().map(item).collect::<Vec<_>>()})
    });
    let issue = ask.issue.as_ref().map(|issue| json!({"tracker": issue.tracker, "key": issue.key, "url": issue.url}));
    json!({
        "request": ask.request, "conversation": ask.conversation, "incarnation": ask.incarnation, "seq": u64::MAX,
        "purpose": "run_question", "kind": "choice", "prompt": ask.prompt, "options": options.collect::<Vec<_>>(),
        "freeform": "allowed", "recommendation": ask.recommendation, "waiting_on": ask.waiting_on,
        "steps": ask.steps, "gate": "external_write", "secrecy": "secret", "issue": issue, "worker": worker,
        "workspace": ask.workspace, "context": ask.context, "provenance": ask.provenance, "created_at": i64::MIN,
        "origin": {
            "handoff": origin.handoff, "run": origin.run, "actor": origin.actor, "actor_name": origin.actor_name,
            "room": origin.room, "delivery": origin.delivery, "transport": origin.transport, "guild": origin.guild,
            "grant": origin.grant,
        },
    })
}

#[test]
fn an_ask_never_takes_more_than_it_counts() {
    let nasty = "\"\\\n\tä\u{2028}𝄞".repeat(40);
    let issue = Some(IssueRef { tracker: "t\"".into(), key: "k\\".into(), url: "https://x.org".into() });
    let steps = vec![nasty.clone(); 20];
    let labels: Vec<_> = (0..8).map(|n| format!("{n}\"\n")).collect();
    let labels: Vec<_> = labels.iter().map(String::as_str).collect();
    let many: Vec<_> = (0..16).map(|n| format!("\"{n}")).collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    let drafts = [
        question("?"),
        Draft { prompt: nasty.clone(), steps, issue, ..question("?") },
        Draft { recommendation: Some(nasty), ..decision("?", &labels) },
        approval("may I?", Category::ExternalWrite),
        escalation(WorkerRequestId::Text("\"".repeat(512)), &many),
        escalation(WorkerRequestId::Number(i64::MIN), &["q"]),
    ];
    for draft in drafts {
        let mut desk = Desk::of_owner();
        desk.asked(draft);
        let ask = published(&desk);
        let (counted, taken) = (ask.stored_bytes(), serde_json::to_vec(&as_json(ask)).unwrap().len());
        assert!(taken <= counted, "{taken} > {counted}: {ask:?}");
        assert!(counted <= taken + 600, "{counted} for {taken}");
    }
}
