//! Everything that is promised of speed and size, one line each: what was found, beside what, and the goal.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{BenchError, Bound, Goal, MailboxPlan, Plan, SCHEMA_VERSION, Sources};
use super::{admission, boot, mailbox, output, readers, steer};

/// How much of everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sizes {
    /// Durable admission.
    pub admission: Plan,
    /// Records at which the mailbox is measured, and how often each thing is done there.
    pub mailbox: MailboxPlan,
    /// Steers, and repeats of a delivery.
    pub times: usize,
    /// Handoffs that are kept when a boot is measured.
    pub retained: usize,
    /// Idle rooms.
    pub idle_rooms: usize,
    /// Runs that print much, and how many bytes each.
    pub prints: (usize, usize),
    /// Readers of the feed, and changes that they see.
    pub readers: (usize, usize),
}

impl Sizes {
    /// What the goals are stated for.
    pub fn full(dir: Option<PathBuf>) -> Self {
        Self {
            admission: Plan { rooms: 64, count: 512, dir },
            mailbox: MailboxPlan::full(),
            times: 200,
            retained: 100_000,
            idle_rooms: 10_000,
            prints: (1_000, 5_000_000),
            readers: (1_000, 20),
        }
    }

    /// A look that takes seconds and says little.
    pub fn quick(dir: Option<PathBuf>) -> Self {
        Self {
            admission: Plan { rooms: 4, count: 8, dir },
            mailbox: MailboxPlan { sizes: vec![10, 20], samples: 4 },
            times: 10,
            retained: 200,
            idle_rooms: 100,
            prints: (8, 200_000),
            readers: (50, 3),
        }
    }
}

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// What was measured.
    pub what: &'static str,
    /// Over how many of something, where that is part of the goal.
    pub of: Option<usize>,
    /// What was found.
    pub found: f64,
    /// In what.
    pub unit: &'static str,
    /// The limit or the peer that was measured in the same run.
    pub beside: Option<Beside>,
    /// What it should be.
    #[serde(flatten)]
    pub bound: Bound,
    /// Whether it is.
    pub met: bool,
}

/// What a line is measured beside.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Beside {
    /// What.
    pub what: &'static str,
    /// In the unit of its line, where it names none of its own.
    pub found: f64,
}

impl Line {
    pub(super) fn new(what: &'static str, found: f64, unit: &'static str, bound: Bound) -> Self {
        Self { what, of: None, found, unit, beside: None, bound, met: bound.holds(found) }
    }

    pub(super) fn beside(self, what: &'static str, found: f64) -> Self {
        Self { beside: Some(Beside { what, found }), ..self }
    }

    pub(super) fn of(self, count: usize) -> Self {
        Self { of: Some(count), ..self }
    }
}

/// All lines of one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AllReport {
    /// The version of this object.
    pub schema_version: u32,
    /// `release` or `debug`: only the first says anything about the program.
    pub build: &'static str,
    /// One durable write, in milliseconds: the limit that ratios are of.
    pub durable_write_ms: f64,
    /// The lines.
    pub lines: Vec<Line>,
}

/// Measures everything, one after the other.
pub async fn all(sizes: &Sizes, sources: Sources<'_>) -> Result<AllReport, BenchError> {
    let dir = super::temporary(sizes.admission.dir.as_deref())?;
    let at = |name: &str| dir.path().join(name);
    // Memory is looked at before anything else has used it.
    let mut lines = boot::idle(&at("idle"), sizes.idle_rooms, sources).await?.to_vec();
    let admitted = admission(&sizes.admission, sources).await?;
    let write = admitted.durable_write.median_us / 1e3;
    lines.extend(ratios(admitted.goals, write));
    let mail = mailbox(sizes.admission.dir.as_deref(), &sizes.mailbox, sources).await?;
    lines.extend(ratios(mail.goals, mail.durable_write.median_us / 1e3));
    lines.extend(rest(dir.path(), sizes, sources).await?);
    Ok(AllReport { schema_version: SCHEMA_VERSION, build: super::build(), durable_write_ms: write, lines })
}

async fn rest(dir: &Path, sizes: &Sizes, sources: Sources<'_>) -> Result<Vec<Line>, BenchError> {
    let mut lines = vec![steer::steer(&dir.join("steer"), sizes.times, sources).await?];
    lines.extend(steer::repeat(&dir.join("repeat"), sizes.times, sources).await?);
    lines.push(boot::boot(&dir.join("boot"), sizes.retained, sources).await?);
    lines.extend(readers::readers(&dir.join("readers"), sizes.readers, sources).await?);
    lines.push(output::output(&dir.join("output"), sizes.prints, sources).await?);
    Ok(lines)
}

/// Ratios to a durable write as lines beside it; times in milliseconds have none.
fn ratios(goals: Vec<Goal>, write_ms: f64) -> Vec<Line> {
    let line = |goal: Goal| {
        let unit = if goal.what.ends_with(", ms") { "ms" } else { "×" };
        let line = Line::new(goal.what, goal.ratio, unit, goal.bound);
        if goal.what.contains("durable write") { line.beside("durable write, ms", write_ms) } else { line }
    };
    goals.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_it_is_beside_and_whether_its_goal_is_met() {
        let line = Line::new("x", 2.0, "ms", Bound::AtMost(1.0)).beside("y", 3.0).of(7);
        let shown = serde_json::to_value(&line).unwrap();
        assert_eq!(
            shown,
            serde_json::json!({"what": "x", "of": 7, "found": 2.0, "unit": "ms",
                "beside": {"what": "y", "found": 3.0}, "at_most": 1.0, "met": false})
        );
    }
}
