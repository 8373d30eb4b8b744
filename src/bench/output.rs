//! Runs that print much: what is kept of them is bounded, and so is the memory that they pass through.

use std::path::Path;

use clankie_actors::store::Txn;

use super::process::Usage;
use super::scripted::Script;
use super::service::Service;
use super::world::Speakers;
use super::{BenchError, Bound, Line, Sources};

/// Runs at once: as many as the ordinary limits let run.
const AT_ONCE: usize = 4;

/// The most memory in the second half of the runs over the most in the first.
pub(super) async fn output(
    dir: &Path,
    (runs, bytes): (usize, usize),
    sources: Sources<'_>,
) -> Result<Line, BenchError> {
    let service = Service::start(dir, Script::Print(bytes), sources).await?;
    let mut speakers = Speakers::new(AT_ONCE)?;
    let (mut first, mut second, mut done) = (0, 0, 0);
    while done < runs {
        let requests = (0..AT_ONCE.min(runs - done)).map(|_| speakers.next()).collect::<Result<Vec<_>, _>>()?;
        done += requests.len();
        futures::future::try_join_all(requests.into_iter().map(|request| service.settle(request))).await?;
        while service.store.commit(Txn::prune(sources.clock.now())).await?.pruned > 0 {}
        let now = Usage::now()?.rss_bytes;
        let most = if done * 2 <= runs { &mut first } else { &mut second };
        *most = now.max(*most);
    }
    service.close().await;
    let (first, second) = (super::figures::count_u64(first), super::figures::count_u64(second));
    Ok(Line::new(
        "most memory in the second half of runs that print much / first half",
        second / first,
        "×",
        Bound::AtMost(1.1),
    )
    .beside("most memory in the first half, MB", first / 1e6)
    .of(runs))
}
