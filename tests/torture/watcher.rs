//! Reads snapshots all the time while clients talk and the service dies: the limits hold at any
//! instant, and each record only moves along the arrows.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;

use crate::api::{Api, Page, Trouble};
use crate::checker::tracker::{pending, running};
use crate::world::World;

/// Pause between two snapshots, so that looking is not the load.
const PAUSE: Duration = Duration::from_millis(40);

/// Watches until the run is over.
pub(crate) fn start(world: &Arc<World>) -> JoinHandle<()> {
    let world = Arc::clone(world);
    tokio::spawn(async move {
        while let Some(api) = world.api_after(0).await {
            if *world.over.borrow() {
                return;
            }
            snapshots(&world, &api).await;
        }
    })
}

async fn snapshots(world: &World, api: &Api) {
    if let Some(page) = page(world, api, "state=running&limit=100").await {
        running(&page.handoffs, &page.counts, &world.history);
        read(world, api, page).await;
    }
    if let Some(page) = page(world, api, "state=pending&limit=200").await {
        pending(&page.handoffs, &page.counts, &world.history);
        read(world, api, page).await;
    }
    if let Some(page) = page(world, api, "limit=25").await {
        read(world, api, page).await;
    }
    tokio::time::sleep(PAUSE).await;
}

async fn page(world: &World, api: &Api, query: &str) -> Option<Page> {
    match api.handoffs(query).await {
        Ok(page) => Some(page),
        Err(Trouble::Gone) => None,
        Err(Trouble::Wrong(what)) => {
            world.history.violation("contract", format!("handoffs?{query}: {what}"), None);
            None
        }
    }
}

async fn read(world: &World, api: &Api, page: Page) {
    let mut tracker = world.tracker.lock().await;
    for record in page.handoffs {
        tracker.read(record, api.at.life, &world.history);
    }
}
