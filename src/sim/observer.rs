//! Reads what became durable, event by event, and writes it into the history.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use clankie_actors::store::{Snapshot, Store, StoreError};
use clankie_domain::event::Event;
use clankie_domain::ids::{ConversationId, HandoffId, RequestId};

use super::history::{Mail, What};
use super::scene::{Scene, lock};

/// Events that are read at once.
const AT_ONCE: usize = 1_000;

/// How far the store was read. It outlives every process.
#[derive(Debug, Default)]
pub(super) struct Read {
    seq: u64,
    revisions: BTreeMap<HandoffId, u64>,
}

/// Reads after each flush, for as long as the process lives.
pub(super) async fn observe(scene: Arc<Scene>, store: Store, read: Arc<Mutex<Read>>) {
    loop {
        scene.flushed.notified().await;
        look(&scene, &store, &read);
    }
}

/// Reads what is new.
pub(super) fn look(scene: &Scene, store: &Store, read: &Mutex<Read>) {
    if scene.is_on()
        && let Ok(snapshot) = store.snapshot()
        && let Err(why) = lock(read).go_on(scene, &snapshot)
        && store.health().is_ok()
        && scene.is_on()
    {
        scene.note(What::NotUp(format!("what is durable cannot be read: {why}")));
    }
}

impl Read {
    fn go_on(&mut self, scene: &Scene, snapshot: &Snapshot) -> Result<(), StoreError> {
        let last = snapshot.last_event()?;
        if last < self.seq {
            scene.note(What::NotUp(format!("event {} was read, and the last is {last}", self.seq)));
        }
        let before = self.seq;
        for (seq, event) in snapshot.events_after(self.seq, AT_ONCE)? {
            self.seq = seq;
            let about = event.clone();
            scene.note(What::Event(seq, event));
            self.about(about, scene, snapshot)?;
        }
        if self.seq != before {
            scene.note(What::Seen(self.seq));
        }
        Ok(())
    }

    /// What an event is about, as it stands.
    fn about(&mut self, event: Event, scene: &Scene, snapshot: &Snapshot) -> Result<(), StoreError> {
        match event {
            Event::Handoff { id, .. } => {
                let Some(record) = snapshot.handoff(id)? else {
                    scene.note(What::NotUp(format!("handoff {id} was committed and is not there")));
                    return Ok(());
                };
                if self.revisions.insert(id, record.revision) != Some(record.revision) {
                    scene.note(What::Record(Arc::new(record)));
                }
            }
            Event::Message { .. } => {}
            Event::InputRequested(ask) => note_ask(scene, snapshot, &ask.conversation, ask.request)?,
            Event::InputResolved { conversation, request, .. } | Event::InputClaim { conversation, request, .. } => {
                note_ask(scene, snapshot, &conversation, request)?;
            }
            Event::Update { id, .. } => {
                if let Some(update) = snapshot.update(id)? {
                    scene.note(What::Mail(Mail::Update(Arc::new(update))));
                }
            }
        }
        Ok(())
    }
}

fn note_ask(scene: &Scene, snapshot: &Snapshot, at: &ConversationId, request: RequestId) -> Result<(), StoreError> {
    scene.note(What::Mail(match snapshot.ask(at, request)? {
        Some(view) => Mail::Ask(Arc::new(view)),
        None => Mail::AskGone(request),
    }));
    Ok(())
}
