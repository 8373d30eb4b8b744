//! A long life in a short time: many handoffs over many rooms with mail between them, on a real store,
//! while memory, descriptors, threads and the file are looked at.
//!
//! The clock runs ahead, so that twice the time for which things are kept goes by. The first half fills
//! what is kept; in the second as much goes as comes, and then nothing may grow.

mod ahead;
mod law;
mod traffic;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clankie_actors::store::{Store, Txn};
use serde::Serialize;

use super::process::{Usage, processor_time};
use super::{BenchError, Bound, Line, SCHEMA_VERSION, Sources};
use ahead::Ahead;
use law::{MEGABYTE, growth};
use traffic::Traffic;

/// How often is looked.
const SAMPLES: usize = 60;
/// How long the service is left alone at the end.
const WATCHED: Duration = Duration::from_secs(3);
/// Bytes of a block as the system counts what a file takes.
const BLOCK: u64 = 512;
/// Most memory that may come in the second half, in megabytes: the pages of the store that are kept in
/// memory take 32, and what an allocator keeps for itself moves by some.
const MEMORY_MB: f64 = 16.0;
/// Most of the file's size that may come in the second half: which pages are free changes from commit
/// to commit.
const FILE_PART: f64 = 0.10;

/// How much.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SoakPlan {
    /// Handoffs from their acceptance to the end of their sessions.
    pub handoffs: usize,
    /// Rooms that they are in.
    pub rooms: usize,
    /// On which disk; the machine's temporary one when absent.
    pub dir: Option<PathBuf>,
}

/// What was found in one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Sample {
    /// Handoffs that were settled.
    pub handoffs: usize,
    /// Memory of the process, in bytes.
    pub rss_bytes: u64,
    /// Open descriptors of the process.
    pub descriptors: u64,
    /// Threads of the process.
    pub threads: u64,
    /// What the store's file takes on the disk, in bytes.
    pub file_bytes: u64,
}

/// Everything that one run found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SoakReport {
    /// The version of this object.
    pub schema_version: u32,
    /// `release` or `debug`.
    pub build: &'static str,
    /// Handoffs that were settled, continuations of answers not counted.
    pub handoffs: usize,
    /// Rooms that they were in.
    pub rooms: usize,
    /// Asks that were answered, each of which woke one more handoff.
    pub answered: usize,
    /// Updates that were read and put away.
    pub dismissed: usize,
    /// How long it took, in seconds.
    pub took_s: f64,
    /// What was found on the way.
    pub samples: Vec<Sample>,
    /// What must hold over the second half, and at the end.
    pub laws: Vec<Line>,
}

/// Lives it.
pub async fn soak(plan: &SoakPlan, sources: Sources<'_>) -> Result<SoakReport, BenchError> {
    let around = super::temporary(plan.dir.as_deref())?;
    let dir = around.path().join("service");
    let clock = Arc::new(Ahead::of(Arc::clone(sources.clock), plan.handoffs));
    let mut traffic = Traffic::start(&dir, plan.rooms, Arc::clone(&clock), sources).await?;
    let (begun, mut samples, mut done) = (Instant::now(), Vec::new(), 0);
    while done < plan.handoffs {
        let until = (samples.len() + 1) * plan.handoffs / SAMPLES.min(plan.handoffs);
        traffic.settle(until - done).await?;
        done = until;
        prune(&traffic.service.store, &clock).await?;
        samples.push(sample(&dir, done)?);
    }
    let (answered, dismissed) = traffic.mail_done().await?;
    let took_s = begun.elapsed().as_secs_f64();
    tokio::time::sleep(WATCHED).await;
    let before = processor_time()?;
    tokio::time::sleep(WATCHED).await;
    let idle = (processor_time()? - before).as_secs_f64() / WATCHED.as_secs_f64() * 100.0;
    traffic.service.close().await;
    let laws = laws(&samples, idle);
    let (handoffs, rooms) = (done, plan.rooms);
    let build = super::build();
    Ok(SoakReport {
        schema_version: SCHEMA_VERSION,
        build,
        handoffs,
        rooms,
        answered,
        dismissed,
        took_s,
        samples,
        laws,
    })
}

/// What the service does every ten minutes of a clock that does not run ahead.
async fn prune(store: &Store, clock: &Ahead) -> Result<(), BenchError> {
    use clankie_actors::ports::Clock;
    while store.commit(Txn::prune(clock.now())).await?.pruned > 0 {}
    Ok(())
}

fn sample(dir: &Path, handoffs: usize) -> Result<Sample, BenchError> {
    let Usage { rss_bytes, threads, descriptors } = Usage::now()?;
    // Its length says little: it grows by doubling, and what was never written takes no block.
    let file_bytes = std::fs::metadata(dir.join("clankie.redb"))?.blocks() * BLOCK;
    Ok(Sample { handoffs, rss_bytes, descriptors, threads, file_bytes })
}

fn laws(samples: &[Sample], idle: f64) -> Vec<Line> {
    let second = &samples[samples.len() / 2..];
    let at_half = second.first().map_or(0.0, |first| super::figures::count_u64(first.file_bytes));
    let over = |what: fn(&Sample) -> u64| growth(second, what);
    vec![
        Line::new(
            "memory, growth over the second half",
            over(|at| at.rss_bytes) / MEGABYTE,
            "MB",
            Bound::AtMost(MEMORY_MB),
        ),
        Line::new(
            "file, growth over the second half",
            over(|at| at.file_bytes) / at_half,
            "×",
            Bound::AtMost(FILE_PART),
        )
        .beside("file at half, MB", at_half / MEGABYTE),
        Line::new(
            "descriptors, growth over the second half",
            over(|at| at.descriptors),
            "descriptors",
            Bound::AtMost(1.0),
        ),
        Line::new("threads, growth over the second half", over(|at| at.threads), "threads", Bound::AtMost(1.0)),
        Line::new("processor time at rest", idle, "%", Bound::AtMost(1.0)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(of: impl Fn(u64) -> u64) -> Vec<Sample> {
        let sample = |n| {
            let file_bytes = 100_000_000 + of(n);
            Sample { handoffs: 0, rss_bytes: 50_000_000 + of(n), descriptors: 10, threads: 4, file_bytes }
        };
        (0..60).map(sample).collect()
    }

    fn met(samples: &[Sample], idle: f64) -> Vec<bool> {
        laws(samples, idle).iter().map(|law| law.met).collect()
    }

    #[test]
    fn what_levels_off_after_the_first_half_obeys_and_what_goes_on_growing_does_not() {
        assert_eq!(met(&samples(|n| n.min(30) * 2_000_000), 0.0), [true; 5]);
        assert_eq!(met(&samples(|n| n * 2_000_000), 3.0), [false, false, true, true, false]);
    }
}
