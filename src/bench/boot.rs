//! How long a start takes over what is kept, and how much of a machine idle rooms use.

use std::path::Path;
use std::time::{Duration, Instant};

use clankie_actors::store::Store;
use clankie_domain::ids::ExecutorName;

use super::process::{Usage, processor_time};
use super::rows::Rows;
use super::scripted::Script;
use super::service::Service;
use super::world::Speakers;
use super::{BenchError, Bound, Line, Sources};

/// Ended handoffs of a room while a store is filled: fewer than retention keeps.
const EACH: usize = 500;
/// Transactions of one commit while a store is filled.
const FILL: usize = 512;
/// How long an idle service is watched.
const WATCHED: Duration = Duration::from_secs(3);
/// Rooms that are spoken to at once.
const AT_ONCE: usize = 64;
/// Bytes of a megabyte.
const MB: f64 = 1e6;

/// A start over that many ended handoffs, beside one over none.
pub(super) async fn boot(dir: &Path, records: usize, sources: Sources<'_>) -> Result<Line, BenchError> {
    let (empty, full) = (dir.join("empty"), dir.join("full"));
    fill(&full, records, sources)?;
    let beside = ready(&empty, sources).await?;
    let found = ready(&full, sources).await?;
    Ok(Line::new("boot to ready over retained handoffs", found, "ms", Bound::AtMost(500.0))
        .beside("boot to ready over none", beside)
        .of(records))
}

async fn ready(dir: &Path, sources: Sources<'_>) -> Result<f64, BenchError> {
    let begun = Instant::now();
    let service = Service::start(dir, Script::Reply, sources).await?;
    let took = begun.elapsed();
    service.close().await;
    Ok(took.as_secs_f64() * 1e3)
}

fn fill(dir: &Path, records: usize, sources: Sources<'_>) -> Result<(), BenchError> {
    let store = Store::open(dir, sources.ids.uuid())?;
    let name = ExecutorName::parse("scripted")?;
    let mut rows = Rows::new(&**sources.clock, &**sources.ids, name, [].into());
    let mut speakers = Speakers::new(records.div_ceil(EACH).max(1))?;
    let mut left = records;
    while left > 0 {
        let some = left.min(FILL);
        let admissions = (0..some).map(|_| Ok(rows.admission(speakers.next()?)?));
        store.commit_group(admissions.collect::<Result<_, BenchError>>()?)?;
        store.commit_group(rows.ends()?)?;
        left -= some;
    }
    store.close();
    Ok(())
}

/// What that many rooms use once each was spoken in and all is done.
pub(super) async fn idle(dir: &Path, rooms: usize, sources: Sources<'_>) -> Result<[Line; 3], BenchError> {
    let service = Service::start(dir, Script::Reply, sources).await?;
    let mut speakers = Speakers::new(rooms)?;
    let mut left = rooms;
    while left > 0 {
        let some = left.min(AT_ONCE);
        let requests = (0..some).map(|_| speakers.next()).collect::<Result<Vec<_>, _>>()?;
        futures::future::try_join_all(requests.into_iter().map(|request| service.settle(request))).await?;
        left -= some;
    }
    tokio::time::sleep(WATCHED).await;
    let before = processor_time()?;
    tokio::time::sleep(WATCHED).await;
    let busy = (processor_time()? - before).as_secs_f64() / WATCHED.as_secs_f64();
    let (usage, actors) = (Usage::now()?, service.clankie.room_actors());
    service.close().await;
    #[allow(clippy::cast_precision_loss, reason = "no machine has 2^52 bytes")]
    let rss = usage.rss_bytes as f64 / MB;
    Ok([
        Line::new("memory of the process with idle rooms", rss, "MB", Bound::AtMost(100.0)).of(rooms),
        Line::new("processor time of idle rooms", busy * 100.0, "%", Bound::AtMost(1.0)).of(rooms),
        Line::new("actors of idle rooms", super::figures::count(actors), "actors", Bound::AtMost(0.0)).of(rooms),
    ])
}
