//! What never left is not unclear: a reply waits for as long as Discord says, or cannot be reached, and
//! then stands in the room.

use std::time::Duration;

use clankie_domain::delivery::{Posting, RoomDelivery};
use clankie_domain::handoff::HandoffRecord;

use crate::fake::{Calls, Fault, Happening};
use crate::inside::{Inside, rested};

fn waits(record: &HandoffRecord) -> bool {
    record.result().is_some() && record.room_delivery == RoomDelivery::pending()
}

fn is_sending(record: &HandoffRecord) -> bool {
    matches!(record.room_delivery.state, Posting::Sending { .. })
}

/// B95: a wait of ten minutes is longer than a post may take and than Discord knows a nonce.
#[tokio::test]
async fn b95_a_wait_of_ten_minutes_is_waited_for_and_leaves_nothing_uncertain() {
    is_waited_for(Fault::RateLimited(Duration::from_secs(600))).await;
}

/// B95: the same where Discord tells the whole bot to wait.
#[tokio::test]
async fn b95_a_wait_of_the_whole_bot_is_waited_for_and_leaves_nothing_uncertain() {
    is_waited_for(Fault::RateLimitedGlobally(Duration::from_secs(600))).await;
}

async fn is_waited_for(wait: Fault) {
    let inside = Inside::start().await;
    inside.fake.fault(Calls::posts(), wait);
    let asked = inside.fake.ask(inside.general, inside.fake.people("ann"), "hello");
    inside
        .fake
        .until("the wait", |log| log.iter().any(|entry| matches!(entry.what, Happening::Faulted { .. })).then_some(()))
        .await;
    inside.record(waits).await;
    inside.minutes_later();
    rested(Duration::from_secs(90)).await;
    inside.record(waits).await;
    rested(Duration::from_secs(600)).await;
    let record = inside.posted().await;
    assert_eq!((record.room_delivery.state, inside.fake.replies_to(asked).len()), (Posting::Confirmed, 1));
}

/// Minutes in which no connection comes about leave nothing uncertain: nothing was sent.
#[tokio::test]
async fn minutes_without_a_connection_leave_nothing_uncertain() {
    let inside = Inside::start().await;
    let ann = inside.fake.people("ann");
    let asked = inside.fake.ask(inside.general, ann, "hello\n!wait-steer 600000");
    inside.record(|record| record.state_name().as_str() == "running").await;
    inside.fake.deaf();
    inside.fake.ask(inside.general, ann, "go on");
    for _ in 0..2 {
        inside.record(is_sending).await;
        inside.record(waits).await;
        inside.minutes_later();
    }
    inside.fake.up();
    let record = inside.posted().await;
    assert_eq!((record.room_delivery.state, inside.fake.replies_to(asked).len()), (Posting::Confirmed, 1));
}
