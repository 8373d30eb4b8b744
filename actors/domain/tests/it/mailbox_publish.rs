//! Publishing: which drafts are one ask, whose decision a step is, and where preferences live.

use std::collections::{BTreeMap, BTreeSet};

use clankie_domain::ask::{
    AskKind, Draft, Freeform, IssueRef, Origin, Purpose, Resolution, Role, Secrecy, WorkerRequestId,
};
use clankie_domain::autonomy::{Category, Decider};
use clankie_domain::grant::Plan;
use clankie_domain::mailbox::{MailOutcome, NativeFact, PublishRefused};

use crate::desk::{Desk, published};
use crate::drafts::{approval, decision, escalation, grant, origin, preference, question, text};

fn refused(outcome: &MailOutcome) -> &PublishRefused {
    let MailOutcome::NotPublished(refused) = outcome else { panic!("published: {outcome:?}") };
    refused
}

fn issue(key: &str) -> Option<IssueRef> {
    Some(IssueRef { tracker: "t".into(), key: key.into(), url: "https://x.org".into() })
}

/// Each change of the draft or of its source is another ask, and the exact same one is none.
#[test]
fn only_the_exact_draft_of_the_same_actor_and_grant_is_the_same_ask() {
    let base = || Draft { issue: issue("K-1"), ..decision("which?", &["a", "b"]) };
    let others: [Draft; 9] = [
        Draft { prompt: "what?".into(), ..base() },
        Draft { options: decision("", &["a", "c"]).options, ..base() },
        Draft { options: vec![("a".into(), Some("more".into())), ("b".into(), None)], ..base() },
        Draft { freeform: Freeform::Allowed, ..base() },
        Draft { recommendation: Some("b".into()), ..base() },
        Draft { waiting_on: Some("the merge".into()), ..base() },
        Draft { steps: vec!["step".into()], ..base() },
        Draft { issue: issue("K-2"), ..base() },
        Draft { gate: Some(Category::Push), ..base() },
    ];
    let mut desk = Desk::new();
    let first = desk.asked(base());
    assert_eq!(desk.publish_from(base(), origin("ann", 2)), MailOutcome::AlreadyAsked(first), "another run");
    for other in others {
        let asked = desk.asked(other.clone());
        assert_eq!(desk.publish(other), MailOutcome::AlreadyAsked(asked));
    }
    let narrower = Origin { grant: grant(Plan::Social), ..origin("ann", 1) };
    for source in [origin("bob", 1), narrower] {
        assert!(matches!(desk.publish_from(base(), source), MailOutcome::Asked(_)));
    }
    desk.facts.workspace = Some("/another");
    assert!(matches!(desk.publish(base()), MailOutcome::Asked(_)));
    assert_eq!(desk.mailbox.asks.len(), 13);
}

#[test]
fn a_settled_draft_is_asked_again() {
    let mut desk = Desk::new();
    let first = desk.asked(question("?"));
    desk.answer(first, text("done"));
    let second = desk.asked(question("?"));
    desk.cancel(second);
    let third = desk.asked(question("?"));
    assert_eq!(BTreeSet::from([first, second, third]).len(), 3);
}

/// A worker's request is one ask for ever: by seat, session and typed id, settled or not.
#[test]
fn a_worker_question_is_one_ask_settled_or_not() {
    let mut desk = Desk::new();
    let ask = |id| escalation(id, &["q"]);
    let first = desk.asked(ask(WorkerRequestId::Number(1)));
    let again = Draft { prompt: "other words".into(), ..ask(WorkerRequestId::Number(1)) };
    assert_eq!(desk.publish_from(again.clone(), origin("bob", 5)), MailOutcome::AlreadyAsked(first));
    assert!(matches!(desk.publish(ask(WorkerRequestId::Text("1".into()))), MailOutcome::Asked(_)), "its type counts");
    desk.cancel(first);
    assert_eq!(desk.publish(again), MailOutcome::AlreadyAsked(first));
    let mut moved = ask(WorkerRequestId::Number(1));
    moved.worker.as_mut().unwrap().session_id = "session-2".into();
    assert!(matches!(desk.publish(moved), MailOutcome::Asked(_)), "a replaced occupant asks for itself");
}

#[test]
fn a_delegated_category_raises_no_ask_and_an_owner_action_always_does() {
    let mut desk = Desk::new();
    desk.autonomy.delegated = BTreeSet::from([Category::Push]);
    desk.autonomy.projects = BTreeMap::from([("/p".into(), BTreeMap::from([(Category::Push, Decider::Reserved)]))]);
    let push = || approval("may I push?", Category::Push);
    assert_eq!(refused(&desk.publish(push())), &PublishRefused::NotReserved(Category::Push));
    let gated = Draft { gate: Some(Category::Push), ..decision("which?", &["a", "b"]) };
    assert_eq!(refused(&desk.publish(gated)), &PublishRefused::NotReserved(Category::Push));
    assert!(desk.mailbox.asks.is_empty());
    desk.asked(Draft { gate: Some(Category::Push), ..question("sign in") });
    desk.asked(approval("may I merge?", Category::Merge));
    desk.facts.project = Some("/p");
    desk.asked(push());
}

#[test]
fn an_approval_has_exactly_the_two_options_of_the_host() {
    let mut desk = Desk::new();
    desk.asked(approval("may I push?", Category::Push));
    let ask = published(&desk);
    let offered: Vec<_> = ask.options.iter().map(|option| (option.label.as_str(), option.role)).collect();
    assert_eq!(offered, [("Approve", Role::Approve), ("Decline", Role::Decline)]);
    assert_eq!((ask.kind, ask.gate), (AskKind::Choice, Some(Category::Push)));
    assert_ne!(ask.options[0].id, ask.options[1].id);
}

#[test]
fn what_the_host_binds_is_not_the_drafts() {
    let mut desk = Desk::of_owner();
    desk.asked(question("first"));
    desk.asked(question("second"));
    let ask = published(&desk);
    assert_eq!(
        (ask.seq, ask.incarnation, &ask.conversation),
        (1, desk.mailbox.head.incarnation, &desk.mailbox.head.conversation)
    );
    assert_eq!((ask.workspace.as_deref(), ask.freeform), (Some("/home/owner/project"), Freeform::Allowed));
    assert_eq!(ask.origin, origin("ann", 1));
}

#[test]
fn a_preference_is_for_an_owner_conversation_that_works_in_a_directory() {
    let mut room = Desk::new();
    room.facts.workspace = Some("/p");
    assert_eq!(refused(&room.publish(preference("?"))), &PublishRefused::PreferenceElsewhere);
    let mut global = Desk::of_owner();
    global.facts.workspace = None;
    assert_eq!(refused(&global.publish(preference("?"))), &PublishRefused::PreferenceElsewhere);
    let mut native = Desk::of_owner();
    native.facts.native = NativeFact::Owns;
    assert_eq!(refused(&native.publish(preference("?"))), &PublishRefused::NativeDriverActive);
    native.asked(question("other purposes are asked as usual"));
}

#[test]
fn one_preference_waits_at_a_time() {
    let mut desk = Desk::of_owner();
    let first = desk.asked(preference("tabs or spaces?"));
    assert_eq!(desk.publish(preference("tabs or spaces?")), MailOutcome::AlreadyAsked(first));
    assert!(matches!(refused(&desk.publish(preference("light or dark?"))), PublishRefused::Draft(_)));
    desk.asked(question("not a preference"));
    desk.cancel(first);
    desk.asked(preference("light or dark?"));
}

#[test]
fn a_filed_approval_is_always_reserved_and_one_for_each_run() {
    let mut desk = Desk::new();
    desk.autonomy.delegated = Category::NAMED.into();
    let MailOutcome::Asked(filed) = desk.file("may I?", 1) else { panic!("not filed") };
    let ask = published(&desk);
    assert_eq!((ask.purpose, ask.gate), (Purpose::Approval, Some(Category::Unspecified)));
    assert_eq!((ask.options.len(), ask.secrecy, ask.prompt.as_str()), (2, Secrecy::Open, "may I?"));
    assert!(ask.waiting_on.is_some());
    assert_eq!(desk.file("may I, again?", 1), MailOutcome::AlreadyAsked(filed));
    assert!(matches!(desk.file("may I, too?", 2), MailOutcome::Asked(_)));
    let own = desk.publish_from(question("the run asked itself"), origin("ann", 3));
    let MailOutcome::Asked(own) = own else { panic!("{own:?}") };
    assert_eq!(desk.file("may I?", 3), MailOutcome::AlreadyAsked(own));
    desk.answer(own, text("done"));
    assert!(matches!(desk.file("and now?", 3), MailOutcome::Asked(_)), "what is settled waits for nothing");
}

#[test]
fn a_filed_prompt_is_cut_visibly_and_legible() {
    for (run, (prompt, start, end)) in
        [("x".repeat(9_000), "xxx", "…"), (" \n".to_owned(), "The agent", "."), ("a\u{202e}\0b".to_owned(), "a", "b")]
            .into_iter()
            .enumerate()
    {
        let mut desk = Desk::new();
        desk.file(&prompt, run as u128);
        let kept = &published(&desk).prompt;
        assert!(kept.starts_with(start) && kept.ends_with(end) && kept.chars().count() <= 2_000, "{kept}");
        assert!(!kept.contains(['\u{202e}', '\0']));
    }
}

/// A commit whose outcome nobody saw is tried again under the same identity, and asks nothing new.
#[test]
fn an_identity_is_published_once() {
    let mut desk = Desk::new();
    let before = desk.clone();
    let first = desk.asked(question("?"));
    desk.cancel(first);
    let mut again = before.clone();
    again.mailbox = desk.mailbox.clone();
    assert_eq!(again.publish(question("?")), MailOutcome::AlreadyAsked(first));
    assert_eq!(again.entry(first).resolution, desk.entry(first).resolution);
    assert_ne!(desk.entry(first).resolution, Resolution::Pending);
}
