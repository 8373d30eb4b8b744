//! Many readers of the feed, some of which never read on: when the last of them has seen a change, and
//! what they cost whoever makes it.

use std::path::Path;
use std::time::{Duration, Instant};

use clankie_actors::Clankie;
use clankie_actors::feed::{Feed, FeedPlace};
use tokio::sync::mpsc;

use super::scripted::Script;
use super::service::Service;
use super::world::{Speakers, accepted};
use super::{BenchError, Bound, Line, Sources, Times};

/// Between two changes, so that each is seen by itself.
const BETWEEN: Duration = Duration::from_millis(100);
/// How long a change may be on its way before something is wrong.
const LATE: Duration = Duration::from_secs(30);
/// Events that a reader takes at a time.
const TAKEN: usize = 100;
/// One reader in that many never reads on.
const STUCK: usize = 10;

/// Changes beside no reader, and then beside all.
pub(super) async fn readers(
    dir: &Path,
    (readers, changes): (usize, usize),
    sources: Sources<'_>,
) -> Result<[Line; 2], BenchError> {
    let service = Service::start(dir, Script::Reply, sources).await?;
    let mut speakers = Speakers::new(changes)?;
    let mut alone = Vec::new();
    for _ in 0..changes {
        alone.push(change(&service, &mut speakers).await?);
        tokio::time::sleep(BETWEEN).await;
    }
    let (saw, mut seen) = mpsc::channel(readers * TAKEN);
    let place = service.clankie.feed_place()?;
    let watching: Vec<_> =
        (0..readers).map(|n| tokio::spawn(watch(service.clankie.clone(), place, n, saw.clone()))).collect();
    let moving = readers - readers.div_ceil(STUCK);
    let (mut beside, mut latest) = (Vec::new(), Duration::ZERO);
    for _ in 0..changes {
        let before = service.clankie.feed_place()?.seq;
        let begun = Instant::now();
        beside.push(change(&service, &mut speakers).await?);
        let all = tokio::time::timeout(LATE, until_all(&mut seen, before, moving)).await;
        all.map_err(|_| BenchError::Unexpected("a reader did not see a change".to_owned()))?;
        latest = latest.max(begun.elapsed());
        tokio::time::sleep(BETWEEN).await;
    }
    watching.iter().for_each(tokio::task::JoinHandle::abort);
    service.close().await;
    let (alone, beside) = (Times::of(alone), Times::of(beside));
    Ok([
        Line::new(
            "a change until the last reader has seen it",
            latest.as_secs_f64() * 1e3,
            "ms",
            Bound::AtMost(1_000.0),
        )
        .of(readers),
        Line::new("a change beside readers / beside none", beside.median_us / alone.median_us, "×", Bound::AtMost(2.0))
            .of(readers),
    ])
}

/// One admission.
async fn change(service: &Service, speakers: &mut Speakers) -> Result<Duration, BenchError> {
    let request = speakers.next()?;
    let begun = Instant::now();
    accepted(&service.clankie.submit(request).await?)?;
    Ok(begun.elapsed())
}

/// Returns when that many readers have seen an event after `before`, each counted once.
async fn until_all(seen: &mut mpsc::Receiver<(usize, u64)>, before: u64, moving: usize) {
    let mut who = std::collections::BTreeSet::new();
    while who.len() < moving {
        let Some((reader, seq)) = seen.recv().await else { return };
        if seq > before {
            who.insert(reader);
        }
    }
}

async fn watch(clankie: Clankie, mut place: FeedPlace, reader: usize, saw: mpsc::Sender<(usize, u64)>) {
    if reader.is_multiple_of(STUCK) {
        std::future::pending::<()>().await;
    }
    loop {
        clankie.wait_event(place.seq, LATE).await;
        match clankie.events_after(place, TAKEN) {
            Ok(Feed::Events(events)) => place.seq = events.last().map_or(place.seq, |(seq, _)| *seq),
            Ok(Feed::Reset(anew)) => place = anew,
            Err(_) => return,
        }
        if saw.send((reader, place.seq)).await.is_err() {
            return;
        }
    }
}
