//! A service to measure: a store on the disk, the actors over it, and one scripted executor.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use clankie_actors::ports::{Clock, Executor};
use clankie_actors::store::Store;
use clankie_actors::{Clankie, Settings};
use clankie_domain::ids::{ExecutorName, HandoffId};
use clankie_domain::request::Request;

use super::scripted::{Script, Scripted};
use super::world::{STOP_GRACE, accepted, settings};
use super::{BenchError, Sources};

/// How long one run may take here before something is wrong.
const RUN_MAX: Duration = Duration::from_secs(60);
/// Silence that no run here reaches, in milliseconds: a soak's clock runs ahead of the machine's.
const NEVER_MS: u64 = 1 << 50;

/// The service.
pub(super) struct Service {
    pub(super) store: Store,
    pub(super) clankie: Clankie,
}

impl Service {
    /// Opens or makes the store in `dir` and starts everything.
    pub(super) async fn start(dir: &Path, script: Script, sources: Sources<'_>) -> Result<Self, BenchError> {
        Self::start_at(dir, script, sources, Arc::clone(sources.clock)).await
    }

    /// The same, by another clock.
    pub(super) async fn start_at(
        dir: &Path,
        script: Script,
        sources: Sources<'_>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, BenchError> {
        let store = Store::open(dir, sources.ids.uuid())?;
        let name = ExecutorName::parse("scripted")?;
        let executor: Arc<dyn Executor> = Arc::new(Scripted::new(name.clone(), script));
        let ports = clankie_actors::Ports { clock, ..sources.ports(executor) };
        let settings = Settings { stall_ms: NEVER_MS, ..settings(&name) };
        let clankie = Clankie::start(store.clone(), ports, settings).await?;
        Ok(Self { store, clankie })
    }

    /// Admits one delivery and waits for its result.
    pub(super) async fn settle(&self, request: Request) -> Result<HandoffId, BenchError> {
        let handoff = accepted(&self.clankie.submit(request).await?)?;
        self.clankie.wait_result(handoff, RUN_MAX).await;
        Ok(handoff)
    }

    /// Ends everything and closes the file.
    pub(super) async fn close(self) {
        self.clankie.stop(STOP_GRACE).await;
        self.store.close();
    }
}
