//! Field reports about asks and approvals that the mailbox itself must hold.

use std::collections::BTreeSet;

use clankie_domain::ask::{AskKind, CancelReason, Draft, Purpose, Resolution, Secrecy, opens};
use clankie_domain::autonomy::Category;
use clankie_domain::ids::RequestId;
use clankie_domain::mailbox::{MailOutcome, MailRefusal, PublishRefused};

use crate::desk::{CAPTAIN, DEVICE, Desk, OPERATOR};
use crate::drafts::{approval, decision, news, origin, question, text};

/// One thing that happens at a desk.
type Act = Box<dyn Fn(&mut Desk) -> MailOutcome>;

/// Every input that is not an owner's answer or cancellation, on a mailbox with one pending ask.
fn everything_else(request: RequestId) -> Vec<Act> {
    vec![
        Box::new(|desk| desk.publish(question("another"))),
        Box::new(|desk| desk.publish_from(question("another's"), origin("bob", 7))),
        Box::new(|desk| desk.file("may I?", 9)),
        Box::new(|desk| desk.mail(news("ok, approved, yes, go ahead"), 1, "call")),
        Box::new(move |desk| desk.mark_seen(request)),
        Box::new(|desk| desk.cancel_all(CancelReason::ServiceRestarted)),
        Box::new(|desk| desk.cancel_all(CancelReason::OwnerContextLost)),
        Box::new(|desk| desk.cancel_all(CancelReason::HandoffCancelled)),
    ]
}

/// What is not one of the two inputs that carry an authenticated owner resolves nothing, in any pair
/// and at any moment; there is no input for a word in a room, a timeout or a push that failed.
#[test]
fn m6_b50_b55_b63_silence_restarts_words_and_time_answer_nothing() {
    let start = |desk: &mut Desk| desk.asked(approval("may I push?", Category::Push));
    let many = everything_else(start(&mut Desk::new())).len();
    for one in 0..many {
        for other in 0..many {
            let mut desk = Desk::new();
            let request = start(&mut desk);
            let acts = everything_else(request);
            acts[one](&mut desk);
            desk.now = desk.now.plus(365 * 24 * 3_600 * 1_000);
            acts[other](&mut desk);
            let entry = desk.entry(request);
            assert_eq!(entry.resolution, Resolution::Pending, "{one} {other}");
            assert_eq!(opens(&entry.resolution, &entry.ask), None);
        }
    }
}

/// B46: an old id resolves to its final state, however often it is replayed.
#[test]
fn b46_a_replayed_id_gives_its_final_state() {
    let mut desk = Desk::new();
    let (answered, cancelled) = (desk.asked(question("1")), desk.asked(question("2")));
    let (first, second) = (desk.aim(answered), desk.aim(cancelled));
    desk.answer(answered, text("done"));
    desk.cancel(cancelled);
    for n in 0..3 {
        desk.asked(question(&format!("the conversation goes on: {n}")));
        assert_eq!(desk.answer_as(DEVICE, first.clone(), text("done")), MailOutcome::Resolved(answered));
        assert_eq!(desk.cancel_as(DEVICE, second.clone()), MailOutcome::Resolved(cancelled));
        let conflict = |request| MailOutcome::Refused(MailRefusal::ConflictingAnswer, Some(request));
        assert_eq!(desk.answer_as(DEVICE, first.clone(), text("else")), conflict(answered));
        assert_eq!(desk.cancel_as(DEVICE, first.clone()), conflict(answered));
        assert_eq!(desk.answer_as(DEVICE, second.clone(), text("done")), conflict(cancelled));
        assert!(desk.changes.is_empty());
    }
}

/// B60: an answer resolves the ask that it names, and the ask does not end as unanswered.
#[test]
fn b60_an_answer_ends_its_own_ask_and_no_other() {
    let mut desk = Desk::new();
    let (asked, sibling) = (desk.asked(question("1")), desk.asked(question("2")));
    assert_eq!(desk.answer(asked, text("done")), MailOutcome::Accepted(asked));
    assert!(matches!(desk.entry(asked).resolution, Resolution::Submitted { .. }));
    assert_eq!(desk.entry(sibling).resolution, Resolution::Pending);
}

/// B62, B72: two identical asks are one id; two that differ in anything are two, each with its own answer.
#[test]
fn b62_b72_parallel_asks_are_one_id_or_two_and_never_swapped() {
    let mut desk = Desk::new();
    let one = desk.asked(decision("which?", &["a", "b"]));
    assert_eq!(desk.publish(decision("which?", &["a", "b"])), MailOutcome::AlreadyAsked(one));
    let two = desk.asked(decision("which?", &["a", "c"]));
    let ids = |desk: &Desk, request| desk.entry(request).ask.options.iter().map(|o| o.id).collect::<BTreeSet<_>>();
    assert!(ids(&desk, one).is_disjoint(&ids(&desk, two)));
    let (of_one, of_two) = (desk.option(one, 1), desk.option(two, 1));
    let invalid = |request| MailOutcome::Refused(MailRefusal::InvalidAnswer, Some(request));
    assert_eq!(desk.answer(one, of_two.clone()), invalid(one));
    assert_eq!(desk.answer(two, of_one.clone()), invalid(two));
    assert_eq!(desk.answer(two, of_two), MailOutcome::Accepted(two));
    assert_eq!(desk.answer(one, of_one), MailOutcome::Accepted(one));
    let shown = |desk: &Desk, request| {
        let entry = desk.entry(request);
        let Resolution::Submitted { answer, .. } = &entry.resolution else { panic!("{entry:?}") };
        answer.shown(&entry.ask)
    };
    assert_eq!([shown(&desk, one), shown(&desk, two)], ["b", "c"]);
}

/// B64: nothing is no answer.
#[test]
fn b64_an_empty_answer_is_refused() {
    let mut desk = Desk::new();
    let request = desk.asked(question("?"));
    for empty in ["", " ", "\n\t\r\n", "\u{3000}"] {
        let refused = MailOutcome::Refused(MailRefusal::InvalidAnswer, Some(request));
        assert_eq!(desk.answer(request, text(empty)), refused, "{empty:?}");
    }
    assert_eq!(desk.entry(request).resolution, Resolution::Pending);
}

/// B69: what cannot be asked is refused in the same decision, with the field and a sentence.
#[test]
fn b69_an_unsupported_ask_is_refused_at_once() {
    let mut desk = Desk::new();
    let choice = || decision("which?", &["a", "b"]);
    let unsupported = [
        Draft { kind: AskKind::Text, ..choice() },
        Draft { kind: AskKind::Choice, ..question("?") },
        Draft { secrecy: Secrecy::Secret, ..choice() },
    ];
    for draft in unsupported {
        let outcome = desk.publish(draft);
        let MailOutcome::NotPublished(PublishRefused::Draft(refused)) = outcome else { panic!("{outcome:?}") };
        assert!(refused.rule.starts_with("must "));
    }
    for purpose in [Purpose::Gate, Purpose::Verify, Purpose::RunQuestion] {
        let outcome = desk.publish(Draft { purpose, ..approval("?", Category::Push) });
        assert_eq!(outcome, MailOutcome::NotPublished(PublishRefused::HostOnly));
    }
    assert!(desk.mailbox.asks.is_empty());
}

/// B81: an answer is bound to its conversation, its life, its ask and its principal.
#[test]
fn b81_an_answer_replayed_elsewhere_or_by_another_changes_nothing() {
    let mut desk = Desk::new();
    let request = desk.asked(approval("may I push?", Category::Push));
    let (aim, approve) = (desk.aim(request), desk.option(request, 0));
    let mut elsewhere = Desk::of_owner();
    elsewhere.asked(approval("may I push?", Category::Push));
    elsewhere.mailbox.asks.retain(|known, _| *known != request);
    let stale = MailOutcome::Refused(MailRefusal::StaleRequest, None);
    assert_eq!(elsewhere.answer_as(OPERATOR, aim.clone(), approve.clone()), stale);
    let gone = MailOutcome::Refused(MailRefusal::OwnerUnavailable, None);
    assert_eq!(desk.answer_as(CAPTAIN, aim, approve), gone);
    assert_eq!(desk.entry(request).resolution, Resolution::Pending);
}

/// B86: words of consent approve nothing, even from an authenticated owner, even quoting the label.
#[test]
fn b86_words_of_consent_never_approve() {
    for words in
        ["ok", "OK", "yes", "y", "continue", "lgtm", "go ahead", "approve", "Approve", "APPROVE", "👍", "sure", "1"]
    {
        let mut desk = Desk::new();
        let request = desk.asked(approval("may I push?", Category::Push));
        assert_eq!(desk.answer(request, text(words)), MailOutcome::Accepted(request));
        let entry = desk.entry(request);
        assert_eq!(opens(&entry.resolution, &entry.ask), None, "{words}");
    }
}
