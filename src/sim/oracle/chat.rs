//! I3, I7 and I8 in the chat: a reply stands there once, in its own room, and only what stands there
//! is called confirmed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use clankie_domain::delivery::Posting;
use clankie_domain::grant::Gateway;
use clankie_domain::handoff::HandoffRecord;
use clankie_domain::ids::HandoffId;

use super::Found;
use crate::sim::history::{Fact, Post, What};

pub(super) fn judge(facts: &[Fact], found: &mut Found) {
    let mut records: BTreeMap<HandoffId, Arc<HandoffRecord>> = BTreeMap::new();
    let mut posts: Vec<Arc<Post>> = Vec::new();
    let mut nonces: BTreeSet<(String, String)> = BTreeSet::new();
    for Fact { at, what } in facts {
        if let What::Record(record) = what {
            confirmed(record, &posts, *at, found);
            records.insert(record.id, Arc::clone(record));
        }
        if let What::Posted(post) = what {
            if !nonces.insert((post.room.to_string(), post.nonce.clone())) {
                found.broken("I3", *at, format!("{} was said twice in {}", post.nonce, post.room));
            }
            posted(post, records.get(&post.handoff), *at, found);
            posts.push(Arc::clone(post));
        }
        if let What::Last(last) = what {
            last.records.iter().for_each(|record| confirmed(record, &posts, *at, found));
        }
    }
}

fn posted(post: &Post, record: Option<&Arc<HandoffRecord>>, at: u64, found: &mut Found) {
    let quoted = |record: &HandoffRecord| record.trigger.as_ref().unwrap_or(&record.delivery).to_string();
    match record {
        None => found.broken("I2", at, format!("{} was said for no durable record", post.nonce)),
        Some(record) if record.room != post.room || quoted(record) != post.answers => {
            found.broken("I8", at, format!("{} was said in another place than asked", post.nonce));
        }
        Some(record) => {
            let is_reply = post.nonce.rsplit('/').next().is_some_and(|part| part.parse::<u32>().is_ok());
            let sends = matches!(record.room_delivery.state, Posting::Sending { .. });
            if is_reply && !sends {
                found.broken("I7", at, format!("{} was posted before it was durably being sent", post.nonce));
            }
        }
    }
}

/// What is called confirmed stands in its room.
fn confirmed(record: &HandoffRecord, posts: &[Arc<Post>], at: u64, found: &mut Found) {
    if record.transport.gateway != Gateway::DiscordText {
        return;
    }
    let stands =
        |id: &String| posts.iter().any(|post| post.id == *id && post.room == record.room && post.handoff == record.id);
    let delivery = &record.room_delivery;
    let all = delivery.confirmed.iter().all(stands);
    if !all || (delivery.state == Posting::Confirmed && delivery.confirmed.is_empty()) {
        found.broken("I7", at, format!("handoff {} calls confirmed what does not stand in the room", record.id));
    }
}
