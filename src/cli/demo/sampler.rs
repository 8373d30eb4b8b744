//! Looks at every handoff all the time while the service is up, and lets the play wait for facts.

use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::api::Api;
use super::ledger::Ledger;
use super::lines::{Names, Output};

/// How often the handoffs are looked at: shorter than the shortest run of the play.
const SAMPLE_EVERY: Duration = Duration::from_millis(15);
/// How long the play waits for one fact: a hundred times what it takes on an idle machine.
const FACT_MAX: Duration = Duration::from_secs(20);

/// What the play has seen. It outlives each sampler.
#[derive(Debug, Clone)]
pub(super) struct Seen(watch::Sender<Ledger>);

impl Seen {
    /// Begins with that ledger.
    pub(super) fn new(ledger: Ledger) -> Self {
        Self(watch::Sender::new(ledger))
    }

    /// The ledger as it is.
    pub(super) fn now(&self) -> Ledger {
        self.0.borrow().clone()
    }

    /// Returns the ledger as soon as `fact` holds.
    pub(super) async fn until(&self, what: &str, fact: impl Fn(&Ledger) -> bool) -> Result<Ledger> {
        let mut seen = self.0.subscribe();
        let found = tokio::time::timeout(FACT_MAX, seen.wait_for(|ledger| fact(ledger))).await;
        match found {
            Ok(ledger) => Ok(ledger.map_err(|_| anyhow!("nobody looks any more"))?.clone()),
            Err(_) => bail!("waited {} s, and never saw: {what}", FACT_MAX.as_secs()),
        }
    }
}

/// A task that looks until it is stopped.
#[derive(Debug)]
pub(super) struct Sampler {
    task: JoinHandle<()>,
}

impl Sampler {
    /// Starts looking through `api`, and shows what moves.
    pub(super) fn start(api: Api, seen: Seen, names: Names, output: Output) -> Self {
        let task = tokio::spawn(async move {
            loop {
                // A service that is gone shows nothing; the play itself hears why.
                if let Ok(page) = api.handoffs().await {
                    look(page, &seen, &names, output);
                }
                tokio::time::sleep(SAMPLE_EVERY).await;
            }
        });
        Self { task }
    }

    /// Stops looking, and returns when nothing looks any more.
    pub(super) async fn stop(mut self) {
        self.task.abort();
        // Having been stopped is the only way that it ends.
        let _ = (&mut self.task).await;
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn look(page: crate::owner::wire::Handoffs, seen: &Seen, names: &Names, output: Output) {
    let all = page.handoffs.clone();
    seen.0.send_modify(|ledger| {
        for moved in ledger.see(page) {
            output.line(&names.line(&moved, &all));
        }
    });
}
