//! Measurements that say how much the owner's mailbox costs, and whether that grows with the mail
//! that is kept. Mail is published by the tools of a session and answered at the front door.

mod desk;
mod open;
mod shelves;

use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use super::{BenchError, Bound, Goal, SCHEMA_VERSION, Sources, Times};
use desk::{Desk, Place};

/// How much of the mailbox is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailboxPlan {
    /// Records that are kept when something is measured, the fewest first.
    pub sizes: Vec<usize>,
    /// How often each thing is done at each size.
    pub samples: usize,
}

impl MailboxPlan {
    /// What the goals are stated for. A conversation's mailbox takes 256 of a kind, warm-up included.
    pub fn full() -> Self {
        Self { sizes: vec![100, 1_000, 10_000], samples: 96 }
    }
}

/// Rounds before anything counts.
const WARM_UP: usize = 8;
/// Asks of an ordinary page.
const PAGE: usize = 50;
/// Asks of the longest page.
const LONG_PAGE: usize = 1_000;
/// What is asked.
const PROMPT: &str = "The second build failed as well. Shall the change of yesterday evening be taken back? Build";
/// What the agent would do.
const ADVICE: &str = "Take it back, and look at it again tomorrow.";
/// What may be answered.
const CHOICES: [&str; 2] = ["Take it back", "Leave it"];
/// What is told, in one line.
const TITLE: &str = "The build of this morning";
/// What is told.
const BODY: &str = "The second test failed because of the clock of the machine; it has nothing to do with the change \
                    of yesterday evening. It was started once more and went through.";

/// Everything that one run found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MailboxReport {
    /// The version of this object.
    pub schema_version: u32,
    /// `release` or `debug`: only the first says anything about the program.
    pub build: &'static str,
    /// Append of 1 KB and fdatasync.
    pub durable_write: Times,
    /// What was found at each size, the smallest first.
    pub sizes: Vec<AtSize>,
    /// The ratios, and the two times that have a goal, in milliseconds.
    pub goals: Vec<Goal>,
}

/// What was found with that many records.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AtSize {
    /// Records that were kept before.
    pub records: usize,
    /// An update's rows, committed to a bare store of the same size.
    pub bare_commit: Times,
    /// An ask or an update is published.
    pub publish: Times,
    /// An ask is answered, with the run that it wakes.
    pub answer: Times,
    /// An update is marked as read.
    pub read: Times,
    /// The newest 50 pending asks are listed.
    pub list: Times,
    /// The newest 1 000 pending asks are listed, or all that there are.
    pub list_1000: Times,
    /// What waits is counted.
    pub badge: Times,
}

#[derive(Default)]
struct Found {
    bare: Vec<Duration>,
    publish: Vec<Duration>,
    answer: Vec<Duration>,
    read: Vec<Duration>,
    list: Vec<Duration>,
    list_1000: Vec<Duration>,
    badge: Vec<Duration>,
}

/// Measures the mailbox at those sizes; on the machine's temporary disk without `dir`.
pub async fn mailbox(
    dir: Option<&Path>,
    plan: &MailboxPlan,
    sources: Sources<'_>,
) -> Result<MailboxReport, BenchError> {
    let dir = super::temporary(dir)?;
    let mut desk = Desk::new(dir.path(), sources).await?;
    let (mut writes, mut sizes) = (Vec::new(), Vec::new());
    for &records in &plan.sizes {
        let place = desk.fill(records).await?;
        for _ in 0..WARM_UP {
            round(&mut desk, &place, &mut Found::default()).await?;
        }
        let mut found = Found::default();
        for _ in 0..plan.samples {
            writes.push(desk.write()?);
            round(&mut desk, &place, &mut found).await?;
        }
        sizes.push(found.at(records));
    }
    desk.close().await;
    Ok(report(Times::of(writes), sizes))
}

/// One of each, in turn, so that whatever else the machine does hits all alike. The answer comes last
/// of what is written: the run that it wakes begins while lists are read.
async fn round(desk: &mut Desk<'_>, place: &Place, found: &mut Found) -> Result<(), BenchError> {
    found.bare.push(desk.commit().await?);
    let (took, update) = desk.mail(place).await?;
    found.publish.push(took);
    found.read.push(desk.read(update).await?);
    let (took, request) = desk.ask(place).await?;
    found.publish.push(took);
    found.answer.push(desk.answer(place, request).await?);
    found.list.push(desk.list(PAGE)?);
    found.list_1000.push(desk.list(LONG_PAGE)?);
    found.badge.push(desk.badge()?);
    Ok(())
}

impl Found {
    fn at(self, records: usize) -> AtSize {
        AtSize {
            records,
            bare_commit: Times::of(self.bare),
            publish: Times::of(self.publish),
            answer: Times::of(self.answer),
            read: Times::of(self.read),
            list: Times::of(self.list),
            list_1000: Times::of(self.list_1000),
            badge: Times::of(self.badge),
        }
    }
}

fn report(write: Times, sizes: Vec<AtSize>) -> MailboxReport {
    let goals = match (sizes.first(), sizes.last()) {
        (Some(least), Some(most)) => goals(&write, least, most),
        (None, _) | (_, None) => Vec::new(),
    };
    MailboxReport { schema_version: SCHEMA_VERSION, build: super::build(), durable_write: write, sizes, goals }
}

fn goals(write: &Times, least: &AtSize, most: &AtSize) -> Vec<Goal> {
    let limit = |what, times: &Times| Goal::new(what, times.median_us / write.median_us, Bound::AtMost(3.0));
    let flat =
        |what, of: fn(&AtSize) -> &Times| Goal::new(what, of(most).median_us / of(least).median_us, Bound::AtMost(1.2));
    let ms = |what, times: &Times, goal| Goal::new(what, times.median_us / 1e3, Bound::AtMost(goal));
    vec![
        limit("publish / durable write", &most.publish),
        limit("answer / durable write", &most.answer),
        limit("mark read / durable write", &most.read),
        flat("publish, most records / least", |at| &at.publish),
        flat("answer, most records / least", |at| &at.answer),
        flat("mark read, most records / least", |at| &at.read),
        flat("list of 50, most records / least", |at| &at.list),
        flat("badge, most records / least", |at| &at.badge),
        ms("list of 1 000 asks, ms", &most.list_1000, 5.0),
        ms("badge, ms", &most.badge, 1.0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(us: u64) -> Times {
        Times::of(vec![Duration::from_micros(us)])
    }

    fn at(records: usize, us: u64) -> AtSize {
        let [bare_commit, publish, answer, read, list, list_1000, badge] = [times(us); 7];
        AtSize { records, bare_commit, publish, answer, read, list, list_1000, badge }
    }

    #[test]
    fn what_grows_with_the_mail_misses_its_goal_and_what_does_not_meets_it() {
        let met =
            |most| report(times(1_000), vec![at(100, 2_000), at(10_000, most)]).goals.iter().map(|g| g.met).collect();
        let (flat, grown): (Vec<bool>, Vec<bool>) = (met(2_000), met(6_000));
        assert_eq!(
            flat,
            [[true; 9].as_slice(), &[false]].concat(),
            "two milliseconds are too many for the badge alone"
        );
        assert_eq!(grown, [false; 10]);
    }

    #[test]
    fn the_report_has_its_version_its_sizes_and_its_goals() {
        let report = serde_json::to_value(report(times(1), vec![at(100, 1), at(10_000, 1)])).unwrap();
        let sizes: Vec<_> = report["sizes"].as_array().unwrap().iter().map(|at| at["records"].as_u64()).collect();
        assert_eq!((&report["schema_version"], sizes), (&SCHEMA_VERSION.into(), vec![Some(100), Some(10_000)]));
        assert_eq!(report["sizes"][0]["list_1000"]["samples"], 1);
        assert_eq!(report["goals"][0]["at_most"], 3.0);
    }
}
