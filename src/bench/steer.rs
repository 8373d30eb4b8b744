//! A follow-up on its way from the front door to the input of the session that runs, and what the
//! owner of a saved result is told when the delivery comes again.

use std::path::Path;
use std::time::{Duration, Instant};

use clankie_domain::admission::room::Answer;
use tokio::sync::mpsc;

use super::scripted::Script;
use super::service::Service;
use super::world::{Speakers, accepted};
use super::{BenchError, Bound, Line, Sources, Times};

/// How long a steer may be on its way before something is wrong.
const LATE: Duration = Duration::from_secs(10);
/// Follow-ups of one run: its joiners are bounded, so a new run begins after these.
const EACH: usize = 8;

/// Steers, each beside one commit of a single row in the same store.
pub(super) async fn steer(dir: &Path, count: usize, sources: Sources<'_>) -> Result<Line, BenchError> {
    let (told, mut heard) = mpsc::channel(1);
    let service = Service::start(dir, Script::Listen(told), sources).await?;
    let (mut steers, mut commits) = (Vec::new(), Vec::new());
    let mut room = 0;
    while steers.len() < count {
        room += 1;
        let mut speaker = Speakers::in_room(&format!("steered-{room}"))?;
        let first = speaker.next()?;
        accepted(&service.clankie.submit(first.clone()).await?)?;
        for _ in 0..EACH.min(count - steers.len()) {
            let mut more = speaker.next()?;
            more.actor = first.actor.clone();
            let begun = Instant::now();
            accepted(&service.clankie.submit(more).await?)?;
            let reached = tokio::time::timeout(LATE, heard.recv()).await;
            let reached =
                reached.ok().flatten().ok_or_else(|| BenchError::Unexpected("a steer got lost".to_owned()))?;
            steers.push(reached.saturating_duration_since(begun));
            let begun = Instant::now();
            service.clankie.keep_bookmark("bench", steers.len().to_string()).await?;
            commits.push(begun.elapsed());
        }
    }
    service.close().await;
    let (steers, commits) = (Times::of(steers), Times::of(commits));
    let found = (steers.median_us - commits.median_us) / 1e3;
    Ok(Line::new("steer to the session's input, beyond one commit", found, "ms", Bound::AtMost(2.0))
        .beside("one commit", commits.median_us / 1e3))
}

/// What a delivery that comes again costs: a look, and no write.
pub(super) async fn repeat(dir: &Path, count: usize, sources: Sources<'_>) -> Result<[Line; 2], BenchError> {
    let service = Service::start(dir, Script::Reply, sources).await?;
    let mut speaker = Speakers::in_room("repeated")?;
    let request = speaker.next()?;
    service.settle(request.clone()).await?;
    quiet(&service).await?;
    let (before, mut took) = (service.store.commits(), Vec::new());
    for _ in 0..count {
        let begun = Instant::now();
        let answer = service.clankie.submit(request.clone()).await?;
        took.push(begun.elapsed());
        if !matches!(answer, Answer::Settled { .. }) {
            return Err(BenchError::Unexpected(format!("no saved result: {answer:?}")));
        }
    }
    let writes = service.store.commits() - before;
    service.close().await;
    let times = Times::of(took);
    Ok([
        Line::new("saved result of a repeated delivery", times.median_us / 1e3, "ms", Bound::AtMost(1.0)),
        Line::new("commits of all repeats", super::figures::count_u64(writes), "commits", Bound::AtMost(0.0)),
    ])
}

/// Returns once the run that was settled has left nothing to be written.
async fn quiet(service: &Service) -> Result<(), BenchError> {
    let mut changes = service.store.changes();
    while !service.store.snapshot()?.permits()?.is_empty() {
        let _ = tokio::time::timeout(LATE, changes.changed()).await;
    }
    // The last lines of its transcript are written a moment later.
    tokio::time::sleep(Duration::from_millis(500)).await;
    Ok(())
}
