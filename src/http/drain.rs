//! Whether the service takes no more admissions because it stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that is raised once, by whoever stops the service. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Draining(Arc<AtomicBool>);

impl Draining {
    /// The service begins to stop.
    pub fn begin(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether it has begun to stop.
    pub fn has_begun(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
