//! A clock that runs ahead of the machine's, by the handoffs that are done.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clankie_actors::ports::Clock;
use clankie_domain::retention::KEPT_MS;
use clankie_domain::time::Timestamp;

/// Times that what is kept is kept for, over a whole run.
const LIVES: u64 = 2;

/// The clock.
#[derive(Debug)]
pub(super) struct Ahead {
    of: Arc<dyn Clock>,
    by_ms: AtomicU64,
    each_ms: u64,
}

impl Ahead {
    /// A clock that has run [`LIVES`] times ahead after that many handoffs.
    pub(super) fn of(clock: Arc<dyn Clock>, handoffs: usize) -> Self {
        let handoffs = u64::try_from(handoffs.max(1)).unwrap_or(u64::MAX);
        Self { of: clock, by_ms: AtomicU64::new(0), each_ms: LIVES * KEPT_MS / handoffs }
    }

    /// One more handoff is done.
    pub(super) fn tick(&self) {
        self.by_ms.fetch_add(self.each_ms, Ordering::Relaxed);
    }
}

impl Clock for Ahead {
    fn now(&self) -> Timestamp {
        self.of.now().plus(self.by_ms.load(Ordering::Relaxed))
    }
}
