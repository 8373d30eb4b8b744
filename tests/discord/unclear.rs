//! Posts whose outcome stays unclear past the minutes in which Discord knows a nonce: the room is
//! searched to its end, and only then a part is `uncertain`. The gateway runs in this process, on a clock of
//! its own.

use std::time::Duration;

use clankie_domain::delivery::Posting;
use clankie_domain::handoff::StateName;

use crate::fake::{Calls, Entry, Fault, Gate, Happening, Message, Right};
use crate::inside::{Inside, rested};

/// A run that replies once its speaker said [`GO_ON`], which adds no words.
const HOLD: &str = "!wait-steer 600000";
const GO_ON: &str = "!sleep 0";

/// The message stands in the room and every answer was lost: it is found by what it answers.
#[tokio::test]
async fn a_post_that_stands_in_the_room_is_found_after_the_window() {
    let inside = Inside::start().await;
    let asked = inside.asked_in_vain(Fault::CutAfter).await;
    is_found(&inside, asked).await;
}

/// I7: nothing is found, so nobody says that it arrived; the owner's wish posts it.
#[tokio::test]
async fn i7_a_post_that_is_not_found_is_uncertain_until_the_owner_posts_it_again() {
    let inside = Inside::start().await;
    let asked = inside.asked_in_vain(Fault::CutBefore).await;
    let record = inside.posted().await;
    assert_eq!((record.room_delivery.state, inside.fake.replies_to(asked).len()), (Posting::Uncertain, 0));
    inside.fake.heal();
    inside.clankie.repost(&record.room, record.id).await.unwrap();
    assert_eq!(inside.posted().await.room_delivery.state, Posting::Confirmed);
    assert_eq!(inside.fake.replies_to(asked).len(), 1);
}

/// The part stands in the room, and nobody could look for it: it is uncertain. The owner's wish
/// finds it before anything is posted, and doubles nothing.
#[tokio::test]
async fn an_uncertain_part_that_stands_in_the_room_is_found_before_it_is_posted_again() {
    let inside = Inside::start().await;
    let asked = inside.asked(Fault::CutAfter).await;
    inside.fake.fault(Calls::of("GET", "/messages").always(), Fault::Status(500));
    inside.minutes_later();
    let record = inside.posted().await;
    assert_eq!((record.room_delivery.state, inside.fake.replies_to(asked).len()), (Posting::Uncertain, 1));
    inside.fake.heal();
    inside.clankie.repost(&record.room, record.id).await.unwrap();
    let found = inside.posted().await.room_delivery;
    let stands = inside.fake.replies_to(asked);
    assert_eq!((found.state, found.confirmed), (Posting::Confirmed, vec![stands[0].id.to_string()]));
    assert_eq!(stands.len(), 1);
}

/// The room goes on beyond what is read: the part may stand there, so it is not posted a second time,
/// not by the owner's wish either.
#[tokio::test]
async fn i7_a_room_that_was_not_read_to_its_end_says_nothing_about_a_part() {
    let inside = Inside::start().await;
    let asked = inside.asked(Fault::CutBefore).await;
    // The search reads pages of a hundred, ten of them.
    let ben = inside.fake.people("ben");
    for n in 0..1_001 {
        inside.fake.say(inside.general, ben, &n.to_string());
    }
    stays_uncertain(&inside).await;
    assert_eq!(inside.fake.replies_to(asked).len(), 0);
}

/// A refusal says nothing about the try before it, whose answer was lost: that one is looked for.
#[tokio::test]
async fn a_refusal_after_a_lost_answer_does_not_deny_what_stands_in_the_room() {
    let inside = Inside::start().await;
    inside.fake.fault(Calls::posts(), Fault::CutAfter);
    inside.fake.fault(Calls::posts().always(), Fault::Refused(403, 50_013));
    let asked = inside.fake.ask(inside.general, inside.fake.people("ann"), "hello");
    is_found(&inside, asked).await;
}

/// I7: without the right to read it a history is empty, which is no proof that nothing stands there.
#[tokio::test]
async fn i7_a_history_that_may_not_be_read_denies_no_part() {
    let inside = Inside::start().await;
    let gate = Gate::new();
    inside.fake.fault(Calls::posts(), Fault::CutAfter);
    inside.fake.fault(Calls::posts(), Fault::HeldBefore(gate.clone()));
    let asked = inside.fake.ask(inside.general, inside.fake.people("ann"), "hello");
    let faulted = |entry: &&Entry| matches!(entry.what, Happening::Faulted { .. });
    inside.fake.until("a held repeat", |log| (log.iter().filter(faulted).count() == 2).then_some(())).await;
    // A reply needs that right too: the repeat is refused.
    inside.fake.deny(inside.general, Right::ReadHistory);
    gate.open();
    assert_eq!(inside.posted().await.room_delivery.state, Posting::Uncertain);
    assert_eq!(inside.fake.replies_to(asked).len(), 1);
}

/// A try before the refusal that had no effect denies nothing: then the refusal counts.
#[tokio::test]
async fn a_refusal_after_an_unclear_try_that_had_no_effect_counts() {
    let inside = Inside::start().await;
    inside.fake.fault(Calls::posts(), Fault::CutBefore);
    inside.fake.fault(Calls::posts().always(), Fault::Refused(403, 50_013));
    let asked = inside.fake.ask(inside.general, inside.fake.people("ann"), "hello");
    let why = "The bot may not write in this channel.".to_owned();
    assert_eq!(inside.posted().await.room_delivery.state, Posting::Failed { why });
    assert_eq!(inside.fake.replies_to(asked).len(), 0);
}

/// A repeat that meets a rate limit near the end of the window does not leave after it.
#[tokio::test]
async fn no_repeat_waits_for_a_rate_limit_past_the_window() {
    let inside = Inside::start().await;
    inside.fake.fault(Calls::posts(), Fault::CutAfter);
    inside.fake.fault(Calls::posts(), Fault::RateLimited(Duration::from_secs(60)));
    let asked = inside.fake.ask(inside.general, inside.fake.people("ann"), "hello");
    unclear(&inside).await;
    // The repeat comes with half a minute left, and the limit is twice as long.
    inside.forward(150_000);
    let faulted = |entry: &&Entry| matches!(entry.what, Happening::Faulted { .. });
    inside.fake.until("the limit", |log| (log.iter().filter(faulted).count() == 2).then_some(())).await;
    inside.minutes_later();
    rested(Duration::from_secs(61)).await;
    assert_eq!(inside.posted().await.room_delivery.state, Posting::Confirmed);
    assert_eq!(inside.fake.replies_to(asked).len(), 1);
}

/// The process dies while a post is on its way, and the next one starts when Discord does not know the
/// nonce any more: the reply is found where it stands, and none is posted.
#[tokio::test]
async fn a_start_after_the_window_finds_the_reply_in_the_room() {
    let first = Inside::start().await;
    let gate = Gate::new();
    first.fake.fault(Calls::posts(), Fault::HeldAfter(gate.clone()));
    let asked = first.fake.ask(first.general, first.fake.people("ann"), "hello");
    first.fake.until("the reply", |_| (first.fake.replies_to(asked).len() == 1).then_some(())).await;
    let next = first.killed_and_started_minutes_later().await;
    is_found(&next, asked).await;
    let posts = next.fake.count(
        |what| matches!(what, Happening::Called { call } if call.starts_with("POST") && call.ends_with("/messages")),
    );
    assert_eq!(posts, 1);
}

/// I7: another nonce shows another message, whatever it says; so the reply is known to stand nowhere.
#[tokio::test]
async fn i7_a_word_on_the_way_with_a_nonce_of_its_own_is_not_taken_for_the_reply() {
    let inside = Inside::start().await;
    let asked = said_twice(&inside).await;
    inside.past_the_window();
    let record = inside.posted().await;
    assert_eq!(record.room_delivery.state, Posting::Uncertain);
    inside.fake.heal();
    inside.clankie.repost(&record.room, record.id).await.unwrap();
    let found = inside.posted().await.room_delivery;
    let stands = inside.fake.replies_to(asked);
    assert_eq!((found.state, found.confirmed), (Posting::Confirmed, vec![stands[1].id.to_string()]));
}

/// I7: without a nonce nobody can tell the two apart, so nothing is confirmed, and nothing posted again.
#[tokio::test]
async fn i7_a_word_on_the_way_that_reads_like_the_reply_proves_nothing() {
    let inside = Inside::start().await;
    let asked = said_twice(&inside).await;
    stays_uncertain(&inside).await;
    assert_eq!(inside.fake.replies_to(asked).len(), 1);
}

/// I7: a reply to a message that is gone quotes nothing. It may be ours, so no second one is posted.
#[tokio::test]
async fn i7_a_reply_to_a_message_that_is_gone_is_not_posted_a_second_time() {
    let inside = Inside::start().await;
    inside.fake.fault(Calls::posts().always(), Fault::CutAfter);
    let ann = inside.fake.people("ann");
    let asked = inside.fake.ask(inside.general, ann, &format!("hello\n{HOLD}"));
    inside.record(|record| record.state_name() == StateName::Running).await;
    inside.fake.delete(asked);
    inside.fake.ask(inside.general, ann, GO_ON);
    unclear(&inside).await;
    stays_uncertain(&inside).await;
    assert_eq!(inside.fake.replies(inside.general).len(), 1);
}

/// Waits until a post met a fault.
async fn unclear(inside: &Inside) {
    let faulted = |entry: &Entry| matches!(entry.what, Happening::Faulted { .. });
    inside.fake.until("an unclear post", |log| log.iter().any(faulted).then_some(())).await;
}

/// A word on the way stands in the room, and the reply that reads the same never did.
async fn said_twice(inside: &Inside) -> Message {
    inside.fake.fault(Calls::posts().after(1).always(), Fault::CutBefore);
    let ann = inside.fake.people("ann");
    let asked = inside.fake.ask(inside.general, ann, &format!("hello\n!update demo: hello\n{HOLD}"));
    inside.fake.until("the update", |_| (inside.fake.replies_to(asked).len() == 1).then_some(())).await;
    inside.fake.ask(inside.general, ann, GO_ON);
    unclear(inside).await;
    let stands: Vec<_> = inside.fake.replies_to(asked).into_iter().map(|posted| posted.content).collect();
    assert_eq!(stands, ["demo: hello"]);
    asked
}

/// The one reply stands in the room, and is known to.
async fn is_found(inside: &Inside, asked: Message) {
    let record = inside.posted().await;
    let stands = inside.fake.replies_to(asked);
    assert_eq!(record.room_delivery.state, Posting::Confirmed);
    assert_eq!((stands.len(), record.room_delivery.confirmed), (1, vec![stands[0].id.to_string()]));
}

/// Past the window nobody can say whether the part stands, also when the owner wants it posted.
async fn stays_uncertain(inside: &Inside) {
    inside.minutes_later();
    let record = inside.posted().await;
    assert_eq!(record.room_delivery.state, Posting::Uncertain);
    inside.fake.heal();
    inside.clankie.repost(&record.room, record.id).await.unwrap();
    assert_eq!(inside.posted().await.room_delivery.state, Posting::Uncertain);
}
