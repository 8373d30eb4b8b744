//! Answering: what is an answer, whose it is, what is kept and shown of it, and what it opens.

use clankie_domain::answer::{ANSWER_MAX, Answer, StoredAnswer, missing};
use clankie_domain::ask::{CancelReason, Draft, Freeform, Resolution, Secrecy, WorkerRequestId, opens};
use clankie_domain::autonomy::Category;
use clankie_domain::ids::{OptionId, RequestId};
use clankie_domain::mailbox::{MailChange, MailOutcome, MailRefusal, Offered};
use clankie_domain::message::AnswerLine;
use uuid::Uuid;

use crate::desk::{DEVICE, Desk, OPERATOR};
use crate::drafts::{approval, by, decision, escalation, preference, question, sealed, secret, text, to_worker};

const INVALID: MailRefusal = MailRefusal::InvalidAnswer;
const INVALID_WORKER: MailRefusal = MailRefusal::InvalidWorkerAnswer;

fn line(desk: &Desk) -> Option<&AnswerLine> {
    desk.changes.iter().find_map(|change| if let MailChange::Shown(line) = change { Some(line) } else { None })
}

/// Holds that the answer is refused so, and that nothing changed.
fn refuses(desk: &mut Desk, request: RequestId, answer: Answer, why: MailRefusal) {
    let said = format!("{answer:?}").chars().take(80).collect::<String>();
    assert_eq!(desk.answer(request, answer), MailOutcome::Refused(why, Some(request)), "{said}");
    assert!(desk.changes.is_empty(), "{said}");
    assert_eq!(desk.entry(request).resolution, Resolution::Pending, "{said}");
}

#[test]
fn m2_an_answer_names_the_principal_who_gave_it() {
    let mut desk = Desk::new();
    let request = desk.asked(decision("which?", &["a", "b"]));
    let (aim, answer) = (desk.aim(request), desk.option(request, 1));
    assert_eq!(desk.answer_as(DEVICE, aim, answer.clone()), MailOutcome::Accepted(request));
    let shown = line(&desk).unwrap().clone();
    let Resolution::Submitted { answer: kept, by: who, answerer, at, .. } = desk.entry(request).resolution.clone()
    else {
        panic!("not submitted");
    };
    assert_eq!((kept, who.clone(), answerer), (StoredAnswer::Open(answer), by(DEVICE).by, by(DEVICE).token));
    let conversation = desk.mailbox.head.conversation.clone();
    let text = "which?\n\nYou answered: b".to_owned();
    assert_eq!(shown, AnswerLine { conversation, request, by: who, text, at });
}

#[test]
fn a_choice_takes_its_own_options_and_words_only_where_it_says_so() {
    let mut desk = Desk::new();
    let request = desk.asked(decision("which?", &["a", "b"]));
    let sibling = desk.asked(decision("which else?", &["a", "b"]));
    let stolen = desk.option(sibling, 0);
    refuses(&mut desk, request, stolen, INVALID);
    refuses(&mut desk, request, Answer::Choice { option: OptionId(Uuid::nil()) }, INVALID);
    refuses(&mut desk, request, text("a"), INVALID);
    refuses(&mut desk, request, to_worker(&[("q", &["a"])]), INVALID);
    let free = desk.asked(Draft { freeform: Freeform::Allowed, ..decision("which, or else?", &["a", "b"]) });
    assert_eq!(desk.answer(free, text("something else")), MailOutcome::Accepted(free));
    let words = desk.asked(question("say it"));
    refuses(&mut desk, words, Answer::Choice { option: OptionId(Uuid::nil()) }, INVALID);
}

#[test]
fn words_are_bounded_in_bytes_and_hold_no_control_character() {
    let mut desk = Desk::new();
    let request = desk.asked(question("say it"));
    for bad in ["a\0b", "a\u{1b}[31m", "a\u{7f}", "a\u{9b}b"] {
        refuses(&mut desk, request, text(bad), INVALID);
    }
    refuses(&mut desk, request, text(&"ü".repeat(ANSWER_MAX / 2 + 1)), INVALID);
    let most = text(&"ü".repeat(ANSWER_MAX / 2));
    assert_eq!(desk.answer(request, most), MailOutcome::Accepted(request));
    let lines = desk.asked(question("say more"));
    assert_eq!(desk.answer(lines, text("one\r\n\ttwo")), MailOutcome::Accepted(lines));
}

#[test]
fn a_worker_is_answered_on_every_question_exactly_once() {
    let mut desk = Desk::new();
    let request = desk.asked(escalation(WorkerRequestId::Number(1), &["p", "q"]));
    let many = vec!["x"; 33];
    let half = "y".repeat(ANSWER_MAX / 2 + 1);
    let bad = [
        to_worker(&[]),
        to_worker(&[("p", &["1"])]),
        to_worker(&[("p", &["1"]), ("q", &["2"]), ("r", &["3"])]),
        to_worker(&[("p", &["1"]), ("r", &["3"])]),
        to_worker(&[("p", &["1"]), ("q", &[])]),
        to_worker(&[("p", &["1"]), ("q", &[" "])]),
        to_worker(&[("p", &["1"]), ("q", &["a\0"])]),
        to_worker(&[("p", &["1"]), ("q", &many)]),
        to_worker(&[("p", &[&half]), ("q", &[&half])]),
        text("yes"),
    ];
    for answer in bad {
        refuses(&mut desk, request, answer, INVALID_WORKER);
    }
    let worker = desk.entry(request).ask.worker.clone().unwrap();
    assert_eq!(missing(&worker, &[("q".to_owned(), vec![])].into()), ["p"]);
    let most = to_worker(&[("p", &["1", "2"]), ("q", &many[..32])]);
    assert_eq!(desk.answer(request, most), MailOutcome::Accepted(request));
    assert!(line(&desk).unwrap().text.contains("You answered: question p: 1, 2\nquestion q: x, x"));
}

/// M5: a cancellation is shown as one and is no answer; it names the caller.
#[test]
fn m5_a_cancelled_ask_shows_no_answer_and_opens_nothing() {
    let mut desk = Desk::new();
    let request = desk.asked(approval("may I push?", Category::Push));
    assert_eq!(desk.cancel(request), MailOutcome::Resolved(request));
    assert_eq!(line(&desk), None);
    let entry = desk.entry(request);
    let at = desk.now.minus(1);
    let cancelled = Resolution::Cancelled { reason: CancelReason::OwnerCancelled, by: by(OPERATOR).by, at };
    assert_eq!((&entry.resolution, opens(&entry.resolution, &entry.ask)), (&cancelled, None));
    let (aim, approve) = (desk.aim(request), desk.option(request, 0));
    let conflict = MailOutcome::Refused(MailRefusal::ConflictingAnswer, Some(request));
    assert_eq!(desk.answer_as(OPERATOR, aim, approve), conflict);
    assert_eq!(desk.entry(request).resolution, cancelled);
}

/// Only Approve opens the category of its own ask. Words are a comment: kept, delivered, opening nothing.
#[test]
fn m6_only_an_approve_opens_a_category() {
    let mut desk = Desk::new();
    let opened = |desk: &Desk, request| {
        let entry = desk.entry(request);
        opens(&entry.resolution, &entry.ask)
    };
    let ask = |desk: &mut Desk, prompt: &str| desk.asked(approval(prompt, Category::Push));
    let (approved, declined, commented, silent) =
        (ask(&mut desk, "1"), ask(&mut desk, "2"), ask(&mut desk, "3"), ask(&mut desk, "4"));
    let (approve, decline) = (desk.option(approved, 0), desk.option(declined, 1));
    assert_eq!(desk.answer(approved, approve), MailOutcome::Accepted(approved));
    assert_eq!(desk.answer(declined, decline), MailOutcome::Accepted(declined));
    assert_eq!(desk.answer(commented, text("Approve")), MailOutcome::Accepted(commented));
    assert!(line(&desk).unwrap().text.ends_with("You answered: Approve"));
    let all = [approved, declined, commented, silent].map(|request| opened(&desk, request));
    assert_eq!(all, [Some(Category::Push), None, None, None]);
    let plain = desk.asked(Draft { gate: Some(Category::Push), ..decision("which?", &["Approve", "b"]) });
    let first = desk.option(plain, 0);
    desk.answer(plain, first);
    assert_eq!(opened(&desk, plain), None, "an agent's own option is no approval");
}

/// M7, as far as values go: what is secret is kept sealed or not at all, and shown as private.
#[test]
fn m7_a_secret_is_kept_sealed_and_shown_as_private() {
    let mut desk = Desk::new();
    let request = desk.asked(secret("the code?"));
    refuses(&mut desk, request, text("hunter2"), INVALID);
    let aim = desk.aim(request);
    // Blanks are no part of a secret: what passes it on may drop them.
    for short in [" ", "e", "pin", "e    ", "\n\t pin \n\n", "  é\u{a0} "] {
        refuses_sealed(&mut desk, request, short);
    }
    assert_eq!(desk.offer(OPERATOR, aim.clone(), sealed("hunter2", 1)), MailOutcome::Accepted(request));
    assert_eq!(line(&desk).unwrap().text, "the code?\n\nYou answered: Private answer");
    assert!(!format!("{:?}{:?}", desk.mailbox, desk.changes).contains("hunter2"));
    assert_eq!(desk.offer(OPERATOR, aim.clone(), sealed("hunter2", 2)), MailOutcome::Resolved(request));
    let conflict = MailOutcome::Refused(MailRefusal::ConflictingAnswer, Some(request));
    assert_eq!(desk.offer(OPERATOR, aim.clone(), sealed("hunter3", 1)), conflict);
    for guess in ["hunter2", "hunter3"] {
        let told = desk.offer(DEVICE, aim.clone(), sealed(guess, 1));
        assert_eq!(told, conflict, "who did not give it learns nothing by guessing {guess}");
    }
}

fn refuses_sealed(desk: &mut Desk, request: RequestId, words: &str) {
    let aim = desk.aim(request);
    assert_eq!(desk.offer(OPERATOR, aim, sealed(words, 1)), MailOutcome::Refused(INVALID, Some(request)));
}

#[test]
fn m7_one_secret_question_of_a_worker_seals_the_whole_answer() {
    let mut desk = Desk::new();
    let mut draft = escalation(WorkerRequestId::Number(1), &["p", "q"]);
    draft.worker.as_mut().unwrap().questions[1].secrecy = Secrecy::Secret;
    let request = desk.asked(draft);
    let answer = to_worker(&[("p", &["plain"]), ("q", &["hunter2"])]);
    refuses(&mut desk, request, answer.clone(), INVALID);
    let offered = Offered { answer, sealed: sealed("hunter2", 1).sealed };
    let aim = desk.aim(request);
    assert_eq!(desk.offer(OPERATOR, aim, offered), MailOutcome::Accepted(request));
    let shown = "a worker asks\n\nYou answered: question p: Private answer\nquestion q: Private answer";
    assert_eq!(line(&desk).unwrap().text, shown);
    assert!(!format!("{:?}", desk.mailbox).contains("hunter2"));
}

#[test]
fn a_reset_begins_a_new_life_and_cancels_what_waits() {
    let mut desk = Desk::of_owner();
    let (asked, liked) = (desk.asked(question("?")), desk.asked(preference("??")));
    let (old, answered) = (desk.aim(asked), desk.asked(question("???")));
    desk.answer(answered, text("done"));
    assert_eq!(desk.cancel_all(CancelReason::ContextReset), MailOutcome::CancelledAll(2));
    assert_ne!(desk.mailbox.head.incarnation, old.incarnation);
    for request in [asked, liked] {
        assert!(matches!(
            desk.entry(request).resolution,
            Resolution::Cancelled { reason: CancelReason::ContextReset, .. }
        ));
    }
    let stale = MailOutcome::Refused(MailRefusal::StaleRequest, Some(asked));
    assert_eq!(desk.answer_as(OPERATOR, old, text("late")), stale);
    let newest = desk.aim(asked);
    assert_eq!(desk.answer_as(OPERATOR, newest, text("late")), stale);
    assert_eq!(desk.cancel_all(CancelReason::ContextReset), MailOutcome::CancelledAll(0));
    assert!(!desk.changes.is_empty(), "an empty mailbox begins a new life too");
}

/// What a reason is not about stays pending (M6), and a second time changes nothing.
#[test]
fn m6_a_restart_cancels_preferences_and_nothing_else() {
    for (reason, cancelled) in [
        (CancelReason::ServiceRestarted, 1),
        (CancelReason::OwnerContextLost, 1),
        (CancelReason::ConversationClosed, 2),
        (CancelReason::ResumedElsewhere, 2),
        (CancelReason::OwnerCancelled, 0),
        (CancelReason::HandoffCancelled, 0),
        (CancelReason::WorkerQuestionResolved, 0),
    ] {
        let mut desk = Desk::of_owner();
        let (general, _) = (desk.asked(question("?")), desk.asked(preference("??")));
        let life = desk.mailbox.head.incarnation;
        assert_eq!(desk.cancel_all(reason), MailOutcome::CancelledAll(cancelled), "{reason:?}");
        assert_eq!(desk.entry(general).resolution == Resolution::Pending, cancelled < 2, "{reason:?}");
        assert_eq!(desk.cancel_all(reason), MailOutcome::CancelledAll(0));
        assert!(desk.changes.is_empty());
        assert_eq!(desk.mailbox.head.incarnation, life, "only a reset begins a new life");
    }
}
