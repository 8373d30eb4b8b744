//! What every part of the harness shares: where the service is, the history, and who may act.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tokio::sync::{Mutex, RwLock, watch};

use crate::api::Api;
use crate::checker::tracker::Tracker;
use crate::history::History;
use crate::mail::ledger::Ledger;
use crate::model::Model;
use crate::service::Endpoint;

/// The lane of every delivery.
pub(crate) const LANE: &str = "load";
/// Rooms that are used at the same time.
pub(crate) const ROOMS: usize = 9;

/// The shared part of a run.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) seed: u64,
    pub(crate) http: reqwest::Client,
    pub(crate) lane: String,
    pub(crate) at: watch::Receiver<Option<Endpoint>>,
    pub(crate) history: History,
    pub(crate) model: Model,
    pub(crate) tracker: Mutex<Tracker>,
    pub(crate) ledger: Mutex<Ledger>,
    /// The token of the owner's device, which holds the mailbox like the operator.
    pub(crate) device: String,
    /// Clients act while they can read it; whoever writes it has them all at rest.
    pub(crate) gate: RwLock<()>,
    pub(crate) over: watch::Sender<bool>,
    rooms: AtomicU64,
    next: AtomicUsize,
}

impl World {
    /// A world around a service with the credentials of the lane and of the owner's device.
    pub(crate) fn new(
        seed: u64,
        (lane, device): (String, String),
        (http, model): (reqwest::Client, Model),
        at: watch::Receiver<Option<Endpoint>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            seed,
            http,
            lane,
            at,
            history: History::new(),
            model,
            tracker: Mutex::default(),
            ledger: Mutex::default(),
            device,
            gate: RwLock::default(),
            over: watch::Sender::new(false),
            rooms: AtomicU64::new(0),
            next: AtomicUsize::new(0),
        })
    }

    /// A client of the service as it is now, if it lives.
    pub(crate) fn api(&self) -> Option<Api> {
        let at = self.at.borrow().clone()?;
        Some(Api { http: self.http.clone(), at, lane: self.lane.clone() })
    }

    /// A client of a life after `seen`, once there is one; `None` when the run is over.
    pub(crate) async fn api_after(&self, seen: u64) -> Option<Api> {
        let (mut at, mut over) = (self.at.clone(), self.over.subscribe());
        tokio::select! {
            found = at.wait_for(|at| at.as_ref().is_some_and(|at| at.life > seen)) => {
                let at = found.ok()?.clone()?;
                Some(Api { http: self.http.clone(), at, lane: self.lane.clone() })
            }
            _ = over.wait_for(|over| *over) => None,
        }
    }

    /// The rooms in use.
    pub(crate) fn rooms(&self) -> Vec<String> {
        let turn = self.rooms.load(Ordering::Relaxed);
        (0..ROOMS).map(|room| format!("lab-{turn}-{room}")).collect()
    }

    /// Goes on in fresh rooms, so that none outgrows what the service retains.
    pub(crate) fn next_rooms(&self) {
        self.rooms.fetch_add(1, Ordering::Relaxed);
    }

    /// A number that was never given.
    pub(crate) fn number(&self) -> usize {
        self.next.fetch_add(1, Ordering::Relaxed)
    }
}
