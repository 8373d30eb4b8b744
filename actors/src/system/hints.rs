//! Wakes whoever waits for one handoff: a hint to read again, never the news itself.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use clankie_domain::ids::HandoffId;
use dashmap::DashMap;
use tokio::sync::Notify;

/// The waits that are open now. An entry lives as long as somebody waits on it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hints(Arc<DashMap<HandoffId, Arc<Notify>>>);

struct Watch {
    hints: Hints,
    id: HandoffId,
    notify: Arc<Notify>,
}

impl Hints {
    /// Wakes every open wait on `id`.
    pub(crate) fn wake(&self, id: HandoffId) {
        if let Some(notify) = self.0.get(&id) {
            notify.notify_waiters();
        }
    }

    /// Wakes every open wait: much changed at once. In an order that does not depend on the map's.
    pub(crate) fn wake_all(&self) {
        let waited_on: BTreeSet<HandoffId> = self.0.iter().map(|entry| *entry.key()).collect();
        waited_on.into_iter().for_each(|id| self.wake(id));
    }

    /// Returns when `ready` holds, looking again at each hint, or after `wait`.
    pub(crate) async fn wait(&self, id: HandoffId, wait: Duration, mut ready: impl FnMut() -> bool) {
        let watch = Watch { notify: Arc::clone(&self.0.entry(id).or_default()), id, hints: self.clone() };
        let until_ready = async {
            loop {
                let mut hint = pin!(watch.notify.notified());
                hint.as_mut().enable();
                if ready() {
                    return;
                }
                hint.await;
            }
        };
        // Not being ready in time is an ordinary outcome: the caller reads whatever is there.
        let _ = tokio::time::timeout(wait, until_ready).await;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // Two holders are left when nobody else waits: the map's and this one.
        self.hints.0.remove_if(&self.id, |_, notify| Arc::strong_count(notify) <= 2);
    }
}
