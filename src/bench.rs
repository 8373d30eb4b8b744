//! Measurements that say how much admission costs over what the disk and the store cost anyway.
//!
//! All cases of a run are interleaved, so that whatever else the machine does hits all alike, and
//! only their ratios are goals. Sessions are held until a round is over: what is measured is
//! admission, not work.

mod all;
mod boot;
mod disk;
mod figures;
mod held;
mod mailbox;
mod output;
mod process;
mod readers;
mod rows;
mod scripted;
mod service;
mod soak;
mod steer;
mod world;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clankie_actors::ports::{Clock, Executor, Ids, Vault};
use clankie_actors::store::{OpenError, StoreError};
use clankie_actors::{Failure, Ports, StartError};
use clankie_domain::handoff::IllegalMove;
use clankie_domain::ids::Malformed;

pub use all::{AllReport, Beside, Line, Sizes, all};
pub use figures::{Bound, Goal, Rates, Report, SCHEMA_VERSION, Times};
pub use mailbox::{AtSize, MailboxPlan, MailboxReport, mailbox};

pub use soak::{Sample, SoakPlan, SoakReport, soak};

use figures::Bursts;
use world::World;

/// A round is over after this time: a run's first transcript lines are written after 200 ms, and
/// are no part of its admission.
const ROUND: Duration = Duration::from_millis(150);
/// Admissions one after the other in one round at most.
const ROUND_MAX: usize = 32;
/// Admissions of each room in one burst: enough that groups form, few enough for one round.
const BURST: usize = 4;
/// Cases that are measured one after the other: a write, a bare commit, an admission.
const CASES: usize = 3;
/// Rounds before anything counts: files grow, caches fill, rooms get their actors.
const WARM_UP: usize = 2;

/// What to measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Rooms that are asked at once.
    pub rooms: usize,
    /// Admissions one after the other.
    pub count: usize,
    /// On which disk; the machine's temporary one when absent.
    pub dir: Option<PathBuf>,
}

/// Time and identities, from whoever puts the program together.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// The wall clock.
    pub clock: &'a Arc<dyn Clock>,
    /// Fresh identities.
    pub ids: &'a Arc<dyn Ids>,
    /// Where secrets would be kept.
    pub vault: &'a Arc<dyn Vault>,
}

impl Sources<'_> {
    /// What a measured service stands on: that executor, and nobody who hears or delivers.
    fn ports(self, executor: Arc<dyn Executor>) -> Ports {
        Ports {
            clock: Arc::clone(self.clock),
            ids: Arc::clone(self.ids),
            executors: vec![executor],
            delivery: None,
            vault: Arc::clone(self.vault),
            machine_tools: Vec::new(),
        }
    }
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The disk refused.
    #[error("the disk refused: {0}")]
    Disk(#[from] std::io::Error),
    /// A store did not open.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A store stopped.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The actors did not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// An admission has no answer.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// A machine made an illegal move.
    #[error(transparent)]
    Illegal(#[from] IllegalMove),
    /// A name is none.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// A task died.
    #[error(transparent)]
    Task(#[from] tokio::task::JoinError),
    /// Something was not admitted, or did not end.
    #[error("{0}")]
    Unexpected(String),
}

#[derive(Default)]
struct Found {
    write: Vec<Duration>,
    bare: Vec<Duration>,
    admission: Vec<Duration>,
    in_rooms: Bursts,
    grouped: Bursts,
}

/// Measures durable admission beside a durable write and a bare commit of the same rows.
pub async fn admission(plan: &Plan, sources: Sources<'_>) -> Result<Report, BenchError> {
    let dir = temporary(plan.dir.as_deref())?;
    let mut world = World::new(dir.path(), plan.rooms, sources).await?;
    for _ in 0..WARM_UP {
        round(&mut world, ROUND_MAX, &mut Found::default()).await?;
    }
    let mut found = Found::default();
    while found.admission.len() < plan.count {
        let left = plan.count - found.admission.len();
        round(&mut world, left.min(ROUND_MAX), &mut found).await?;
    }
    world.close().await;
    Ok(report(plan, found))
}

/// A directory that goes with the measurement; on the machine's temporary disk without `dir`.
fn temporary(dir: Option<&Path>) -> std::io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    let builder = builder.prefix("clankie-bench-");
    dir.map_or_else(|| builder.tempdir(), |dir| builder.tempdir_in(dir))
}

/// How this program was built.
fn build() -> &'static str {
    if cfg!(debug_assertions) { "debug" } else { "release" }
}

/// One round: some of each, in turn, and then everything that runs is let go.
async fn round(world: &mut World<'_>, most: usize, found: &mut Found) -> Result<(), BenchError> {
    let begun = Instant::now();
    let mut done = 0;
    while done < most && (done == 0 || begun.elapsed() < ROUND) {
        // Who comes after whom changes, since a write is not as quick after every other.
        for turn in 0..CASES {
            match (done + turn) % CASES {
                0 => found.write.push(world.write()?),
                1 => found.bare.push(world.commit().await?),
                _ => found.admission.push(world.admit().await?),
            }
        }
        done += 1;
    }
    world.quiet().await?;
    let (rows, commits, took) = world.commit_at_once(BURST).await?;
    found.grouped.push(rows, commits, took);
    let (rows, commits, took) = world.admit_at_once(BURST).await?;
    found.in_rooms.push(rows, commits, took);
    world.quiet().await
}

fn report(plan: &Plan, found: Found) -> Report {
    let (write, bare, admission) = (Times::of(found.write), Times::of(found.bare), Times::of(found.admission));
    let (in_rooms, grouped) = (found.in_rooms.rates(), found.grouped.rates());
    let goals = vec![
        Goal::new("admission / durable write", admission.median_us / write.median_us, Bound::AtMost(3.0)),
        Goal::new("admission / bare commit", admission.median_us / bare.median_us, Bound::AtMost(1.3)),
        Goal::new(
            "rate in rooms / rate of durable writes",
            in_rooms.median_per_s / write.rate_per_s,
            Bound::AtLeast(5.0),
        ),
        Goal::new(
            "rate in rooms / rate of bare commits",
            in_rooms.median_per_s / grouped.median_per_s,
            Bound::AtLeast(0.6),
        ),
    ];
    Report {
        schema_version: SCHEMA_VERSION,
        build: build(),
        rooms: plan.rooms,
        durable_write: write,
        bare_commit: bare,
        admission,
        admission_in_rooms: in_rooms,
        bare_commit_grouped: grouped,
        goals,
    }
}
