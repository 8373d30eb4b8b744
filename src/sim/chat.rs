//! A chat that lives elsewhere: it keeps messages and remembers nonces, loses answers after their
//! effect, delays and refuses; and the gateway that posts into it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use clankie_actors::ports::{PostingLog, RoomDelivery};
use clankie_domain::admission::room::heard;
use clankie_domain::delivery::{Posting, PostingStep};
use clankie_domain::handoff::HandoffRecord;
use clankie_domain::ids::RoomId;
use clankie_domain::message::RoomMessage;
use clankie_domain::time::Timestamp;

use super::dice::Dice;
use super::history::{Post, What};
use super::scene::{Scene, lock};

/// How long the gateway trusts the chat to remember a nonce.
const NONCE_WINDOW_MS: u64 = 180_000;
/// Unclear tries after which the room is searched.
const TRIES: u32 = 4;

/// What the chat holds. It outlives every process.
#[derive(Debug, Default)]
pub(super) struct Chat {
    posts: Mutex<BTreeMap<RoomId, Vec<Arc<Post>>>>,
}

/// What came of one post.
enum Came {
    Stands(String),
    Refused,
    /// Nothing left.
    NotSent,
    /// It may stand there.
    Unclear,
}

impl Chat {
    /// Puts a message there, or finds the one with that nonce.
    fn put(&self, scene: &Scene, post: Post) -> String {
        let mut posts = lock(&self.posts);
        let room = posts.entry(post.room.clone()).or_default();
        let known = room.iter().find(|known| known.nonce == post.nonce);
        if let Some(known) = known {
            return known.id.clone();
        }
        let id = format!("{}", 1_000 + room.len());
        let post = Arc::new(Post { id: id.clone(), ..post });
        scene.note(What::Posted(Arc::clone(&post)));
        room.push(post);
        id
    }

    fn find(&self, room: &RoomId, nonce: &str) -> Option<String> {
        let posts = lock(&self.posts);
        posts.get(room)?.iter().find(|post| post.nonce == nonce).map(|post| post.id.clone())
    }
}

/// The gateway.
#[derive(Debug)]
pub(super) struct Courier {
    pub(super) scene: Arc<Scene>,
    pub(super) chat: Arc<Chat>,
    pub(super) dice: Mutex<Dice>,
    /// Set once faults are over.
    pub(super) calm: Arc<AtomicBool>,
}

impl Courier {
    fn throw(&self, most: u64) -> u64 {
        lock(&self.dice).below(most)
    }

    async fn post(&self, post: Post) -> Came {
        self.scene.sleep(2 * self.throw(200)).await;
        if self.calm.load(Ordering::SeqCst) {
            return Came::Stands(self.chat.put(&self.scene, post));
        }
        match self.throw(20) {
            0 => Came::Refused,
            1 | 2 => Came::NotSent,
            3 => Came::Unclear,
            4..=6 => {
                self.chat.put(&self.scene, post);
                Came::Unclear
            }
            _ => {
                let id = self.chat.put(&self.scene, post);
                self.scene.sleep(2 * self.throw(100)).await;
                Came::Stands(id)
            }
        }
    }

    /// What becomes of a part that is durably being sent.
    async fn send(&self, post: Post, (part, parts): (u32, u32), since: Timestamp) -> PostingStep {
        let arrived = |id| PostingStep::Arrived { part, id, parts };
        // The chat may have forgotten the nonce of a try that was made before.
        if self.scene.wall().since(since) >= NONCE_WINDOW_MS {
            return self.chat.find(&post.room, &post.nonce).map_or(PostingStep::Lost { part }, arrived);
        }
        for attempt in 0..TRIES {
            match self.post(post.clone()).await {
                Came::Stands(id) => return arrived(id),
                Came::Refused => return PostingStep::Refused { part, why: "refused".to_owned() },
                Came::NotSent if attempt == 0 && self.chat.find(&post.room, &post.nonce).is_none() => {
                    return PostingStep::Unsent { part };
                }
                Came::NotSent | Came::Unclear => {}
            }
            self.scene.sleep(500).await;
        }
        self.chat.find(&post.room, &post.nonce).map_or(PostingStep::Lost { part }, arrived)
    }
}

#[async_trait]
impl RoomDelivery for Courier {
    async fn deliver(&self, record: Arc<HandoffRecord>, log: PostingLog) {
        let parts = parts(&record);
        let many = u32::try_from(parts.len()).unwrap_or(u32::MAX);
        let mut state = record.room_delivery.state.clone();
        loop {
            let step = match &state {
                Posting::Pending { part } => {
                    self.scene.sleep(200).await;
                    PostingStep::Send { part: *part, nonce: format!("{}/{part}", record.id) }
                }
                Posting::Sending { part, nonce, at } => {
                    let text = usize::try_from(*part).ok().and_then(|part| parts.get(part));
                    match text {
                        Some(text) => self.send(post(&record, nonce, text), (*part, many), *at).await,
                        None => PostingStep::Refused { part: *part, why: "no such part".to_owned() },
                    }
                }
                Posting::None
                | Posting::Confirmed
                | Posting::Failed { .. }
                | Posting::Uncertain
                | Posting::Suppressed { .. } => return,
            };
            self.scene.while_on().await;
            match log.step(step).await {
                Ok(posted) => state = posted.state,
                Err(_) => return,
            }
        }
    }

    async fn say(&self, record: Arc<HandoffRecord>, message: RoomMessage) {
        let _ = self.post(post(&record, &message.id, &message.text)).await;
    }
}

fn post(record: &HandoffRecord, nonce: &str, text: &str) -> Post {
    Post {
        room: record.room.clone(),
        id: String::new(),
        nonce: nonce.to_owned(),
        text: text.to_owned(),
        answers: record.quoted().to_string(),
        handoff: record.id,
    }
}

/// What the room is told, a line a message.
fn parts(record: &HandoffRecord) -> Vec<String> {
    let said = record.result().and_then(|result| heard(record, result, record.created_at));
    said.map(|said| said.text.lines().map(str::to_owned).collect()).unwrap_or_default()
}
