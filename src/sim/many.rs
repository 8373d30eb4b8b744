//! Many worlds, on some threads: each world is played and judged on one of them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::oracle::judge;
use super::report::{Broken, Report, SCHEMA_VERSION, Tally};
use super::world::play;

/// What to play.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The first seed.
    pub first: u64,
    /// How many.
    pub seeds: u64,
    /// Of so many worlds one is played twice; none when zero.
    pub twice_in: u64,
    /// Threads that play.
    pub threads: usize,
}

/// What one world came to.
struct Played {
    tally: Tally,
    broken: Vec<Broken>,
    digest: Option<u64>,
    differs: Option<bool>,
    unplayable: Option<String>,
}

/// Plays every world of the plan.
pub fn run(plan: &Plan) -> Report {
    let begun = Instant::now();
    let next = AtomicU64::new(0);
    let all = Mutex::new(Report {
        schema_version: SCHEMA_VERSION,
        seeds: plan.seeds,
        first: plan.first,
        twice: 0,
        differing: Vec::new(),
        violations: Vec::new(),
        unplayable: Vec::new(),
        tally: Tally::default(),
        seconds: 0.0,
        threads: plan.threads.max(1),
    });
    std::thread::scope(|scope| {
        for _ in 0..plan.threads.max(1) {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    if place >= plan.seeds {
                        return;
                    }
                    let seed = plan.first + place;
                    let twice = plan.twice_in > 0 && place.is_multiple_of(plan.twice_in);
                    let mut played = one(seed);
                    if twice {
                        played.again(seed);
                    }
                    add(&mut all.lock().unwrap_or_else(PoisonError::into_inner), seed, played);
                }
            });
        }
    });
    let mut report = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    report.violations.sort_by_key(|broken| broken.seed);
    report.differing.sort_unstable();
    report.seconds = begun.elapsed().as_secs_f64();
    report
}

impl Played {
    /// Plays it once more, and looks whether its history is the same.
    fn again(&mut self, seed: u64) {
        self.differs = Some(play(seed).ok().map(|history| history.digest()) != self.digest);
    }
}

fn one(seed: u64) -> Played {
    let (tally, broken) = (Tally::default(), Vec::new());
    let mut played = Played { tally, broken, digest: None, differs: None, unplayable: None };
    match play(seed) {
        Ok(history) => {
            played.tally = Tally::of(&history);
            played.broken = judge(&history).iter().map(|violation| Broken::of(seed, violation)).collect();
            played.digest = Some(history.digest());
        }
        Err(why) => played.unplayable = Some(why.to_string()),
    }
    played
}

fn add(report: &mut Report, seed: u64, played: Played) {
    let Played { tally, broken, differs, unplayable, digest: _ } = played;
    report.tally = report.tally.and(tally);
    report.violations.extend(broken);
    report.unplayable.extend(unplayable.map(|why| (seed, why)));
    report.twice += u64::from(differs.is_some());
    if differs == Some(true) {
        report.differing.push(seed);
    }
}
