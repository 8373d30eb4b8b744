//! Medians, rates and ratios. An absolute time says something about a machine; a ratio of one run
//! says something about this program.

use std::time::Duration;

use serde::Serialize;

/// The version of [`Report`].
pub const SCHEMA_VERSION: u32 = 1;

/// How long one thing took, over many times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Times {
    /// How many were measured.
    pub samples: usize,
    /// Half took less, in microseconds.
    pub median_us: f64,
    /// One in a hundred took longer, in microseconds.
    pub p99_us: f64,
    /// How many a second, one after the other, by the mean.
    pub rate_per_s: f64,
}

/// How many a second went through at once.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rates {
    /// How many bursts were measured.
    pub samples: usize,
    /// Half of the bursts went faster, in rows of one admission a second.
    pub median_per_s: f64,
    /// Transactions that shared one durable commit, on average.
    pub grouped: f64,
}

/// One ratio with the goal that it is measured for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Goal {
    /// What is compared.
    pub what: &'static str,
    /// What was found.
    pub ratio: f64,
    /// What it should be.
    #[serde(flatten)]
    pub bound: Bound,
    /// Whether it is.
    pub met: bool,
}

/// Which side of a number is good.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// This or less.
    AtMost(f64),
    /// This or more.
    AtLeast(f64),
}

/// Everything that one run found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The version of this object.
    pub schema_version: u32,
    /// `release` or `debug`: only the first says anything about the program.
    pub build: &'static str,
    /// Rooms that are asked at once.
    pub rooms: usize,
    /// Append of 1 KB and fdatasync.
    pub durable_write: Times,
    /// The rows of one admission, committed to the bare store.
    pub bare_commit: Times,
    /// One admission through the front door, one at a time.
    pub admission: Times,
    /// Admissions in all rooms at once.
    pub admission_in_rooms: Rates,
    /// The same rows, committed to the bare store by as many callers at once.
    pub bare_commit_grouped: Rates,
    /// The ratios.
    pub goals: Vec<Goal>,
}

impl Times {
    /// The figures of these durations.
    pub(super) fn of(mut took: Vec<Duration>) -> Self {
        took.sort_unstable();
        let total: f64 = took.iter().map(Duration::as_secs_f64).sum();
        let us = |part: f64| at(&took, part).map_or(f64::NAN, |took| took.as_secs_f64() * 1e6);
        let rate_per_s = count(took.len()) / total;
        Self { samples: took.len(), median_us: us(0.5), p99_us: us(0.99), rate_per_s }
    }
}

/// Bursts of the same thing.
#[derive(Debug, Clone, Default)]
pub(super) struct Bursts {
    rates: Vec<f64>,
    rows: usize,
    commits: u64,
}

impl Bursts {
    /// Notes one burst.
    pub(super) fn push(&mut self, rows: usize, commits: u64, took: Duration) {
        self.rates.push(count(rows) / took.as_secs_f64());
        self.rows += rows;
        self.commits += commits;
    }

    pub(super) fn rates(mut self) -> Rates {
        self.rates.sort_by(f64::total_cmp);
        let median_per_s = at(&self.rates, 0.5).copied().unwrap_or(f64::NAN);
        let grouped = count(self.rows) / count(usize::try_from(self.commits).unwrap_or(usize::MAX));
        Rates { samples: self.rates.len(), median_per_s, grouped }
    }
}

impl Bound {
    /// Whether what was found is on the good side.
    pub fn holds(self, found: f64) -> bool {
        match self {
            Self::AtMost(most) => found <= most,
            Self::AtLeast(least) => found >= least,
        }
    }
}

impl Goal {
    pub(super) fn new(what: &'static str, ratio: f64, bound: Bound) -> Self {
        Self { what, ratio, bound, met: bound.holds(ratio) }
    }
}

/// The element below which `part` of the others are.
fn at<T>(sorted: &[T], part: f64) -> Option<&T> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in a slice")]
    let place = (count(sorted.len()) * part) as usize;
    sorted.get(place.min(sorted.len().saturating_sub(1)))
}

#[allow(clippy::cast_precision_loss, reason = "no run counts to 2^52")]
pub(super) fn count(of: usize) -> f64 {
    of as f64
}

#[allow(clippy::cast_precision_loss, reason = "no run counts to 2^52, nor has a machine as many bytes")]
pub(super) fn count_u64(of: u64) -> f64 {
    of as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_of_the_middle_and_the_end() {
        let times = Times::of((1..=100).rev().map(Duration::from_micros).collect());
        let rounded = (times.samples, times.median_us.round(), times.p99_us.round(), times.rate_per_s.round());
        assert_eq!(rounded, (100, 51.0, 100.0, 19802.0));
    }

    #[test]
    fn a_goal_is_met_on_its_own_side() {
        let met =
            [Bound::AtMost(3.0), Bound::AtLeast(3.0)].map(|bound| [2.0, 3.0, 4.0].map(|r| Goal::new("", r, bound).met));
        assert_eq!(met, [[true, true, false], [false, true, true]]);
    }
}
