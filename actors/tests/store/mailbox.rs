//! The owner's mailbox as it is listed, paged, guarded and repeated.

use std::cmp::Reverse;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use clankie_actors::domain::ask::{Ask, AskStatus};
use clankie_actors::domain::claim::{Claim, ClaimState, ClaimStateName, Seen};
use clankie_actors::domain::event::Event;
use clankie_actors::domain::ids::{ConversationId, RequestId, RunId};
use clankie_actors::domain::mailbox::MailChange;
use clankie_actors::domain::time::Timestamp;
use clankie_actors::domain::update::{OwnerUpdate, UpdateState, UpdateStateName};
use clankie_actors::mail::{AskQuery, MailCounts, UpdateFilter, UpdateQuery};
use clankie_actors::store::{Applied, Guard, Snapshot, Store, StoreError};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::mail::{
    answered, ask, assert_whole, cancelled, claim, conversation, every_ask, head, line, mail, moved, pages, update,
};
use crate::raw;
use crate::world::{EPOCH, at, dump, memory, uuid};

/// Conversations of a random history.
const CONVERSATIONS: u64 = 3;

/// One step of a random history. Numbers choose among what there is.
#[derive(Debug, Clone)]
enum Step {
    Ask { of: u64, at: u64 },
    Answer(usize),
    Cancel(usize),
    Deliver(usize),
    Forget(usize),
    Mail { of: u64, at: u64 },
    Read(usize),
    Dismiss(usize),
    Drop(usize),
}

fn step() -> impl Strategy<Value = Step> {
    // Few moments, so that many are equal.
    let when = || (0..CONVERSATIONS, 0..4_u64);
    prop_oneof![
        4 => when().prop_map(|(of, at)| Step::Ask { of, at }),
        2 => any::<usize>().prop_map(Step::Answer),
        1 => any::<usize>().prop_map(Step::Cancel),
        1 => any::<usize>().prop_map(Step::Deliver),
        1 => any::<usize>().prop_map(Step::Forget),
        3 => when().prop_map(|(of, at)| Step::Mail { of, at }),
        1 => any::<usize>().prop_map(Step::Read),
        1 => any::<usize>().prop_map(Step::Dismiss),
        1 => any::<usize>().prop_map(Step::Drop),
    ]
}

/// What a mailbox should hold: plain lists.
#[derive(Debug, Default)]
struct Model {
    made: u64,
    versions: [u64; CONVERSATIONS as usize],
    asks: Vec<(Arc<Ask>, AskStatus, Option<Claim>)>,
    updates: Vec<OwnerUpdate>,
}

fn pick<T>(from: &mut [T], number: usize) -> Option<&mut T> {
    let place = number.checked_rem(from.len())?;
    from.get_mut(place)
}

impl Model {
    /// The changes of a step, made here as well; none when there is nothing to choose.
    fn take(&mut self, step: &Step) -> Option<Vec<MailChange>> {
        match step {
            Step::Ask { of, at: when } => {
                self.made += 1;
                let ask = ask(self.made, &conversation(*of), self.made, at(*when));
                self.asks.push((Arc::clone(&ask), AskStatus::Pending, None));
                Some(vec![self.head(*of), MailChange::Asked(ask)])
            }
            Step::Mail { of, at: when } => {
                self.made += 1;
                let update = update(self.made, &conversation(*of), self.made, at(*when));
                self.updates.push(update.clone());
                Some(vec![self.head(*of), MailChange::Update(Arc::new(update))])
            }
            Step::Answer(n) => self.answer(*n),
            Step::Cancel(n) => {
                let (ask, status, _) = pick(&mut self.asks, *n).filter(|ask| ask.1 == AskStatus::Pending)?;
                *status = AskStatus::Cancelled;
                Some(vec![cancelled(ask, at(8))])
            }
            Step::Deliver(n) => {
                let claim = pick(&mut self.asks, *n)?.2.as_mut()?;
                claim.state = ClaimState::Delivered;
                Some(vec![MailChange::Claim(claim.clone())])
            }
            Step::Forget(n) => {
                let place = n.checked_rem(self.asks.len())?;
                Some(vec![MailChange::AskGone(self.asks.remove(place).0)])
            }
            Step::Read(n) => self.turn(*n, UpdateState::Read { at: at(8) }),
            Step::Dismiss(n) => self.turn(*n, UpdateState::Dismissed { read_at: at(8), at: at(9) }),
            Step::Drop(n) => {
                let place = n.checked_rem(self.updates.len())?;
                Some(vec![MailChange::UpdateGone(Arc::new(self.updates.remove(place)))])
            }
        }
    }

    fn head(&mut self, of: u64) -> MailChange {
        self.versions[of as usize] += 1;
        head(&conversation(of), self.versions[of as usize])
    }

    fn answer(&mut self, n: usize) -> Option<Vec<MailChange>> {
        let (ask, status, claimed) = pick(&mut self.asks, n).filter(|ask| ask.1 == AskStatus::Pending)?;
        *status = AskStatus::Submitted;
        *claimed = Some(claim(ask, ClaimState::Claimed, at(8)));
        Some(vec![
            answered(ask, "red", at(8)),
            MailChange::Claim(claimed.clone()?),
            MailChange::Shown(line(ask, at(8))),
        ])
    }

    fn turn(&mut self, n: usize, state: UpdateState) -> Option<Vec<MailChange>> {
        let update = pick(&mut self.updates, n)?;
        update.state = state;
        Some(vec![moved(update, state)])
    }

    fn listed(&self, of: Option<&ConversationId>, status: Option<AskStatus>) -> Vec<RequestId> {
        let mut asks: Vec<_> = self
            .asks
            .iter()
            .filter(|(ask, is, _)| {
                of.is_none_or(|of| ask.conversation == *of) && status.is_none_or(|status| *is == status)
            })
            .collect();
        asks.sort_by_key(|(ask, ..)| (Reverse(ask.created_at), ask.conversation.clone(), Reverse(ask.seq)));
        asks.into_iter().map(|(ask, ..)| ask.request).collect()
    }

    fn assert_listed(&self, now: &Snapshot, limit: usize) {
        let of: Vec<_> = (0..CONVERSATIONS).map(|n| Some(conversation(n))).chain([None]).collect();
        for (conversation, status) in
            of.iter().flat_map(|of| AskStatus::ALL.map(Some).into_iter().chain([None]).map(move |status| (of, status)))
        {
            let query = AskQuery { conversation: conversation.clone(), status, limit, ..AskQuery::default() };
            let found: Vec<_> = pages(now, &query).into_iter().map(|view| view.entry.ask.request).collect();
            assert_eq!(found, self.listed(conversation.as_ref(), status), "{query:?}");
        }
        for view in every_ask(now) {
            let known = self.asks.iter().find(|(ask, ..)| *ask == view.entry.ask).unwrap();
            assert_eq!((view.entry.resolution.status(), &view.entry.claim), (known.1, &known.2));
        }
    }

    fn assert_mailed(&self, now: &Snapshot) {
        let counts = MailCounts {
            asks: self.listed(None, Some(AskStatus::Pending)).len() as u64,
            updates: self.updates.iter().filter(|update| update.state == UpdateState::Unread).count() as u64,
        };
        assert_eq!(now.mail_counts().unwrap(), counts);
        use UpdateFilter::{All, Dismissed, Open, Read, Unread};
        for (show, states) in [
            (All, &["unread", "read", "dismissed"][..]),
            (Open, &["unread", "read"]),
            (Unread, &["unread"]),
            (Read, &["read"]),
            (Dismissed, &["dismissed"]),
        ] {
            let mut updates = self.updates.clone();
            updates.retain(|update| states.contains(&update.state.as_str()));
            updates.sort_by_key(|update| (Reverse(update.at), update.conversation.clone(), Reverse(update.seq)));
            let query = UpdateQuery { show, limit: 99, ..UpdateQuery::default() };
            assert_eq!(now.updates(&query).unwrap().updates, updates, "{show:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn m3_lists_and_counts_are_what_a_recount_gives_after_any_history(steps in vec(step(), 1..40), limit in 1..5_usize) {
        let (store, mut model) = (memory(), Model::default());
        for step in &steps {
            let Some(changes) = model.take(step) else { continue };
            store.commit_now(mail(changes)).unwrap();
        }
        let now = store.snapshot().unwrap();
        model.assert_listed(&now, limit);
        model.assert_mailed(&now);
        assert_whole(&now);
    }
}

#[test]
fn the_newest_come_first_and_equal_moments_by_conversation_and_then_by_insertion() {
    let store = memory();
    let (a, b) = (conversation(0xa), conversation(0xb));
    let asks = [
        ask(1, &b, 0, at(5)),
        ask(2, &a, 0, at(5)),
        ask(3, &a, 1, at(5)),
        ask(4, &b, 1, at(6)),
        ask(5, &a, 2, Timestamp(i64::MIN)),
        ask(6, &a, 3, Timestamp(i64::MAX)),
    ];
    store.commit_now(mail([head(&a, 1), head(&b, 1)].into_iter().chain(asks.map(MailChange::Asked)))).unwrap();
    let now = store.snapshot().unwrap();
    let order = [6, 4, 3, 2, 1, 5].map(|n| RequestId(uuid(n)));
    for limit in 1..8 {
        let found = pages(&now, &AskQuery { limit, ..AskQuery::default() });
        assert_eq!(found.iter().map(|view| view.entry.ask.request).collect::<Vec<_>>(), order, "{limit} at once");
    }
    let of_run = AskQuery { run: Some(RunId(uuid(3))), limit: 9, ..AskQuery::default() };
    for conversation in [None, Some(a)] {
        let found = pages(&now, &AskQuery { conversation, ..of_run.clone() });
        assert_eq!(found.iter().map(|view| view.entry.ask.seq).collect::<Vec<_>>(), [1]);
    }
    assert!(now.asks(&AskQuery { conversation: Some(b), run: of_run.run, ..of_run }).unwrap().asks.is_empty());
    assert!(now.asks(&AskQuery::default()).unwrap().asks.is_empty(), "none is wanted");
}

#[test]
fn m2_a_commit_is_fenced_by_the_version_of_its_mailbox() {
    let (store, lab) = (memory(), conversation(1));
    let first = ask(1, &lab, 0, at(1));
    let publish = |version: u64| mail([head(&lab, version + 1), MailChange::Asked(Arc::clone(&first))]);
    let fenced = |version| publish(version).guarded(Guard::Mailbox(lab.clone(), version));
    let done = store.commit_group(vec![fenced(1), fenced(0), fenced(0), fenced(1)]).unwrap();
    let applied: Vec<_> = done.into_iter().map(|done| done.applied).collect();
    let failed = |version| Applied::GuardFailed(Guard::Mailbox(lab.clone(), version));
    assert_eq!(applied, [failed(1), Applied::Yes, failed(0), Applied::Yes]);
    assert_eq!(store.snapshot().unwrap().head(&lab).unwrap().unwrap().version, 2);
}

#[test]
fn m1_an_approved_category_is_used_once() {
    let store = memory();
    let request = RequestId(uuid(1));
    let used = |n| mail([MailChange::GateUsed { request, at: at(n) }]).guarded(Guard::GateUnused(request));
    assert!(!store.snapshot().unwrap().gate_used(request).unwrap());
    let done = store.commit_group(vec![used(1), used(2)]).unwrap();
    let applied: Vec<_> = done.into_iter().map(|done| done.applied).collect();
    assert_eq!(applied, [Applied::Yes, Applied::GuardFailed(Guard::GateUnused(request))]);
    assert!(store.snapshot().unwrap().gate_used(request).unwrap());
    let other = RequestId(uuid(2));
    assert!(!store.snapshot().unwrap().gate_used(other).unwrap());
}

#[test]
fn what_is_stored_already_changes_nothing_and_makes_no_event() {
    let (store, lab) = (memory(), conversation(1));
    let (first, second, news) = (ask(1, &lab, 0, at(1)), ask(2, &lab, 1, at(2)), update(3, &lab, 0, at(3)));
    let lost = claim(&first, ClaimState::Uncertain, at(6));
    let history = [
        head(&lab, 1),
        MailChange::Asked(Arc::clone(&first)),
        MailChange::Asked(Arc::clone(&second)),
        MailChange::Update(Arc::new(news.clone())),
        answered(&first, "red", at(5)),
        MailChange::Claim(lost.clone()),
        MailChange::Claim(Claim { seen: Seen::Yes, ..lost }),
        MailChange::Shown(line(&first, at(5))),
        MailChange::GateUsed { request: first.request, at: at(6) },
        cancelled(&second, at(6)),
        moved(&news, UpdateState::Read { at: at(7) }),
        MailChange::AskGone(second),
        MailChange::UpdateGone(Arc::new(news)),
    ];
    for change in history {
        store.commit_now(mail([change.clone()])).unwrap();
        let (before, commits) = (dump(&store), store.commits());
        store.commit_now(mail([change.clone(), change])).unwrap();
        assert_eq!((dump(&store), store.commits()), (before, commits));
    }
    let never = ask(9, &lab, 2, at(9));
    let before = dump(&store);
    store.commit_now(mail([cancelled(&never, at(9)), MailChange::AskGone(never)])).unwrap();
    assert_eq!(dump(&store), before, "nothing becomes of an ask that is not kept");
}

#[test]
fn an_ask_is_known_by_its_identity_alone_and_leaves_nothing_when_it_goes() {
    let (store, lab) = (memory(), conversation(1));
    let (first, news) = (ask(1, &lab, 0, at(1)), update(3, &lab, 0, at(3)));
    let claimed = claim(&first, ClaimState::Claimed, at(5));
    let published = [head(&lab, 1), MailChange::Asked(Arc::clone(&first)), MailChange::Update(Arc::new(news.clone()))];
    store.commit_now(mail(published)).unwrap();
    store.commit_now(mail([answered(&first, "red", at(5)), MailChange::Claim(claimed.clone())])).unwrap();
    let now = store.snapshot().unwrap();
    assert_eq!(now.conversation_of(first.request).unwrap(), Some(lab.clone()));
    assert_eq!(now.claim(first.request).unwrap(), Some(claimed.clone()));
    let (found, resolution) = now.answer_of(first.request).unwrap().unwrap();
    assert_eq!((&found, resolution.status()), (&*first, AskStatus::Submitted));
    assert_eq!(now.update(news.id).unwrap(), Some(news.clone()));
    assert_eq!(now.ask(&conversation(2), first.request).unwrap(), None, "it is no ask of that conversation");
    let events: Vec<_> = now.events_after(0, 9).unwrap().into_iter().map(|(_, event)| event).collect();
    let (conversation, request) = (lab.clone(), first.request);
    let told = [
        Event::InputRequested(Arc::clone(&first)),
        Event::Update { conversation: lab.clone(), id: news.id, state: UpdateStateName::Unread },
        Event::InputResolved { conversation: lab.clone(), request, outcome: AskStatus::Submitted },
        Event::InputClaim { conversation, request, state: ClaimStateName::Claimed },
    ];
    assert_eq!(events, told);
    store.commit_now(mail([MailChange::GateUsed { request, at: at(6) }])).unwrap();
    store.commit_now(mail([MailChange::AskGone(first), MailChange::UpdateGone(Arc::new(news.clone()))])).unwrap();
    let now = store.snapshot().unwrap();
    assert_eq!((now.answer_of(request).unwrap(), now.claim(request).unwrap()), (None, None));
    assert_eq!((now.conversation_of(request).unwrap(), now.update(news.id).unwrap()), (None, None));
    assert!(!now.gate_used(request).unwrap());
    let empty = now.mailbox(&lab).unwrap().unwrap();
    assert_eq!((empty.asks.len(), empty.updates.len(), empty.head.version), (0, 0, 1));
    assert_eq!(now.mailbox(&self::conversation(2)).unwrap(), None);
}

#[test]
fn a_damaged_row_is_damage_of_its_own_mailbox_and_never_an_empty_one() {
    let keys = |n: u64| uuid(n).as_u128();
    for (n, junk) in [&b""[..], b"\x01{}", b"\x02{\"id\":1}", b"\x01nonsense"].into_iter().cycle().take(16).enumerate()
    {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let store = Store::open(dir.path(), EPOCH).unwrap();
        let (sick, sound) = (conversation(1), conversation(2));
        for (of, n) in [(&sick, 1), (&sound, 2)] {
            let (ask, news) = (ask(n, of, 0, at(n)), MailChange::Update(Arc::new(update(n, of, 0, at(n)))));
            let claim = MailChange::Claim(claim(&ask, ClaimState::Claimed, at(9)));
            let answer = answered(&ask, "red", at(9));
            store.commit_now(mail([head(of, 1), MailChange::Asked(ask), news, answer, claim])).unwrap();
        }
        store.close();
        let row = match n % 5 {
            0 => {
                raw::put(dir.path(), raw::MAIL, (keys(1), raw::ASK), junk);
                "asks"
            }
            1 => {
                raw::put(dir.path(), raw::MAIL, (keys(1), raw::ANSWER), junk);
                "answers"
            }
            2 => {
                raw::put(dir.path(), raw::MAIL, (keys(1), raw::CLAIM), junk);
                "claims"
            }
            3 => {
                raw::put(dir.path(), raw::MAIL, (keys(1), raw::UPDATE), junk);
                "updates"
            }
            _ => {
                raw::put(dir.path(), raw::BOXES, (sick.as_str(), 0, 0), junk);
                "mailboxes"
            }
        };
        let store = Store::open(dir.path(), EPOCH).unwrap();
        let now = store.snapshot().unwrap();
        let why = now.mailbox(&sick).unwrap_err();
        assert!(matches!(&why, StoreError::Damaged { row: found, .. } if found.starts_with(row)), "{why}");
        let other = now.mailbox(&sound).unwrap().unwrap();
        assert_eq!((other.asks.len(), other.updates.len()), (1, 1));
        assert_eq!(now.mail_conversations().unwrap(), [sick.clone(), sound.clone()]);
        let of_sound = AskQuery { conversation: Some(sound.clone()), limit: 9, ..AskQuery::default() };
        assert_eq!(now.asks(&of_sound).unwrap().asks.len(), 1);
        // Writing goes on around it, and no guard takes it for a mailbox.
        let (fenced, more) = (Guard::Mailbox(sound.clone(), 1), ask(4, &sound, 1, at(4)));
        let done = store.commit_now(mail([head(&sound, 2), MailChange::Asked(more)]).guarded(fenced)).unwrap();
        assert_eq!(done.applied, Applied::Yes);
        let gone = MailChange::Claim(claim(&ask(1, &sick, 0, at(1)), ClaimState::Delivered, at(10)));
        assert_eq!(store.commit_now(mail([gone])).unwrap().applied, Applied::Yes);
        if row == "mailboxes" {
            let guard = Guard::Mailbox(sick.clone(), 0);
            let done = store.commit_now(mail([head(&sick, 1)]).guarded(guard.clone())).unwrap();
            assert_eq!(done.applied, Applied::GuardFailed(guard));
        }
    }
}
