//! Work that outlives the actor that began it: the watch over each session's end.
//!
//! This is the one place that spawns tasks. It counts them, so that a stop and a restart of
//! admission can wait until no session is left.

use std::time::Duration;

use tokio::sync::watch;

/// The sessions whose task or process group may still be there.
#[derive(Debug, Clone)]
pub(crate) struct Sessions(watch::Sender<usize>);

struct Counted(watch::Sender<usize>);

impl Default for Sessions {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl Sessions {
    /// Runs `end` to its end and counts it until then.
    #[allow(clippy::disallowed_methods, reason = "the one place that spawns, and it counts what it spawned")]
    pub(crate) fn watch(&self, end: impl Future<Output = ()> + Send + 'static) {
        self.0.send_modify(|count| *count += 1);
        let counted = Counted(self.0.clone());
        tokio::spawn(async move {
            end.await;
            drop(counted);
        });
    }

    /// Returns when none is left, or after `wait`.
    pub(crate) async fn none_left(&self, wait: Duration) {
        let mut count = self.0.subscribe();
        // A session that is still there after `wait` was told to end; its permit row stays until it does.
        let _ = tokio::time::timeout(wait, count.wait_for(|count| *count == 0)).await;
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}
