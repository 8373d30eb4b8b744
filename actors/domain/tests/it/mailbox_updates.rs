//! Informational mail: published once, read and put away for good, bounded like asks.

use clankie_domain::ask::IssueRef;
use clankie_domain::ids::UpdateId;
use clankie_domain::mailbox::{
    BYTES_MAX, MailChange, MailInput, MailOutcome, MailRefusal, PublishRefused, RECORDS_MAX, SETTLED_KEPT,
};
use clankie_domain::time::Timestamp;
use clankie_domain::update::{Link, MailMedia, OwnerUpdate, UpdateDraft, UpdateState};
use serde_json::json;

use crate::desk::{CAPTAIN, Desk};
use crate::drafts::{by, news, question};

fn mailed(desk: &mut Desk, n: usize) -> UpdateId {
    let outcome = desk.mail(news(&format!("news {n}")), 1, &format!("call-{n}"));
    let MailOutcome::Mailed(id) = outcome else { panic!("not mailed: {outcome:?}") };
    id
}

fn state(desk: &Desk, id: UpdateId) -> UpdateState {
    desk.mailbox.updates[&id].state
}

#[test]
fn one_publication_is_one_update() {
    let mut desk = Desk::new();
    let first = mailed(&mut desk, 0);
    assert_eq!(desk.mail(news("news 0"), 1, "call-0"), MailOutcome::AlreadyMailed(first));
    let conflict = MailOutcome::NotPublished(PublishRefused::PublicationConflict);
    assert_eq!(desk.mail(news("other news"), 1, "call-0"), conflict);
    assert!(matches!(desk.mail(news("news 0"), 2, "call-0"), MailOutcome::Mailed(_)), "another run");
    assert!(matches!(desk.mail(news("news 0"), 1, "call-1"), MailOutcome::Mailed(_)), "another call");
    desk.dismiss(first);
    assert_eq!(desk.mail(news("news 0"), 1, "call-0"), MailOutcome::AlreadyMailed(first), "while it is kept");
    let bad = desk.mail(news(" "), 1, "call-9");
    assert!(matches!(bad, MailOutcome::NotPublished(PublishRefused::Draft(_))));
}

#[test]
fn reading_and_putting_away_are_idempotent_and_nothing_comes_back() {
    let mut desk = Desk::new();
    let id = mailed(&mut desk, 0);
    let read_at = desk.now;
    assert_eq!(desk.read(id), MailOutcome::Updated(id));
    assert_eq!(state(&desk, id), UpdateState::Read { at: read_at });
    assert_eq!(desk.read(id), MailOutcome::Updated(id));
    assert!(desk.changes.is_empty());
    let at = desk.now;
    assert_eq!(desk.dismiss(id), MailOutcome::Updated(id));
    for _ in 0..2 {
        assert_eq!(state(&desk, id), UpdateState::Dismissed { read_at, at });
        assert_eq!(desk.read(id), MailOutcome::Updated(id));
        assert!(desk.changes.is_empty());
        assert_eq!(desk.dismiss(id), MailOutcome::Updated(id));
        assert!(desk.changes.is_empty());
    }
    let unread = mailed(&mut desk, 1);
    let at = desk.now;
    desk.dismiss(unread);
    assert_eq!(state(&desk, unread), UpdateState::Dismissed { read_at: at, at });
}

#[test]
fn m2_an_update_is_the_owners_to_read() {
    let mut desk = Desk::new();
    let id = mailed(&mut desk, 0);
    let gone = MailOutcome::Refused(MailRefusal::OwnerUnavailable, None);
    assert_eq!(desk.decide(MailInput::ReadUpdate { id, by: by(CAPTAIN) }), gone);
    assert_eq!(desk.decide(MailInput::DismissUpdate { id, by: by(CAPTAIN) }), gone);
    let unknown = MailOutcome::Refused(MailRefusal::UnknownUpdate, None);
    assert_eq!(desk.read(UpdateId(uuid::Uuid::nil())), unknown);
    assert_eq!(state(&desk, id), UpdateState::Unread);
}

/// News moves no revision: an owner's answer to an ask does not meet a conflict over it.
#[test]
fn news_and_asks_do_not_disturb_each_other() {
    let mut desk = Desk::new();
    let request = desk.asked(question("?"));
    let aim = desk.aim(request);
    let id = mailed(&mut desk, 0);
    desk.read(id);
    desk.dismiss(id);
    assert_eq!(desk.cancel_as(crate::desk::OPERATOR, aim), MailOutcome::Resolved(request));
    assert!(!desk.changes.iter().any(|change| matches!(change, MailChange::Update(_) | MailChange::UpdateGone(_))));
}

#[test]
fn m3_a_full_mailbox_refuses_news_and_keeps_what_is_read_and_unread() {
    let mut desk = Desk::new();
    let all: Vec<_> = (0..RECORDS_MAX).map(|n| mailed(&mut desk, n)).collect();
    let full = MailOutcome::NotPublished(PublishRefused::Capacity);
    assert_eq!(desk.mail(news("more"), 1, "more"), full);
    for id in &all {
        assert_eq!(desk.read(*id), MailOutcome::Updated(*id), "the timestamps' room is reserved");
    }
    assert_eq!(desk.mail(news("more"), 1, "more"), full);
    for (n, id) in all.iter().enumerate().take(SETTLED_KEPT + 8) {
        assert_eq!(desk.dismiss(*id), MailOutcome::Updated(*id));
        let gone = desk.changes.iter().filter(|change| matches!(change, MailChange::UpdateGone(_))).count();
        assert_eq!(gone, usize::from(n >= SETTLED_KEPT));
    }
    assert_eq!(desk.mailbox.updates.len(), RECORDS_MAX - 8);
    assert!(all[8..].iter().all(|id| desk.mailbox.updates.contains_key(id)), "the oldest dismissed went");
    assert!(matches!(desk.mail(news("more"), 1, "more"), MailOutcome::Mailed(_)));
}

#[test]
fn m3_bytes_bound_the_news_too() {
    let mut desk = Desk::new();
    let long = |n: usize| UpdateDraft { body: "x".repeat(2_000), ..news(&format!("news {n}")) };
    let mut many = 0;
    while let MailOutcome::Mailed(_) = desk.mail(long(many), 1, &format!("call-{many}")) {
        many += 1;
    }
    let bytes: usize = desk.mailbox.updates.values().map(|update| update.stored_bytes()).sum();
    assert!(many < RECORDS_MAX && bytes <= BYTES_MAX && bytes + 3_000 > BYTES_MAX, "{many} {bytes}");
}

fn as_json(update: &OwnerUpdate) -> serde_json::Value {
    let draft = &update.draft;
    let links: Vec<_> = draft.links.iter().map(|link| json!({"label": link.label, "url": link.url})).collect();
    let media: Vec<_> =
        draft.media.iter().map(|it| json!({"url": it.url, "mime_type": it.mime_type, "alt": it.alt})).collect();
    let issue = draft.issue.as_ref().map(|issue| json!({"tracker": issue.tracker, "key": issue.key, "url": issue.url}));
    json!({
        "id": update.id, "conversation": update.conversation, "seq": u64::MAX, "handoff": update.handoff,
        "publication": {"run": update.publication.run, "call": update.publication.call},
        "draft": {"title": draft.title, "body": draft.body, "links": links, "media": media, "issue": issue,
            "seat_id": draft.seat_id},
        "at": i64::MIN, "state": {"dismissed": {"read_at": i64::MIN, "at": i64::MIN}},
    })
}

#[test]
fn an_update_never_takes_more_than_it_counts_whatever_its_state() {
    let nasty = "\"\\\n\tä".repeat(30);
    let link = Link { label: nasty.clone(), url: "https://x.org".into() };
    let medium = MailMedia { url: "https://x.org".into(), mime_type: "image/\"".into(), alt: Some(nasty.clone()) };
    let issue = Some(IssueRef { tracker: "t\"".into(), key: "k\\".into(), url: "https://x.org".into() });
    let (links, media) = (vec![link; 8], vec![medium; 8]);
    let full = UpdateDraft { title: nasty.clone(), body: nasty.repeat(8), links, media, issue, seat_id: Some(nasty) };
    for draft in [news("short"), full] {
        let mut desk = Desk::new();
        desk.now = Timestamp(i64::MAX - 10);
        let MailOutcome::Mailed(id) = desk.mail(draft, 1, "call\"") else { panic!("not mailed") };
        let update = &desk.mailbox.updates[&id];
        let (counted, taken) = (update.stored_bytes(), serde_json::to_vec(&as_json(update)).unwrap().len());
        assert!(taken <= counted, "{taken} > {counted}");
        let before = counted;
        desk.dismiss(id);
        assert_eq!(desk.mailbox.updates[&id].stored_bytes(), before);
    }
}
