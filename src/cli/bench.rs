//! `clankie bench`: what to measure, and what was found as a table or as one object.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;

use super::Global;
use super::screen::Form;
use super::table::Table;
use crate::bench::{AtSize, Bound, Goal, MailboxReport, Plan, Rates, Report, Times};

/// What a debug build says of itself.
pub(super) const DEBUG: &str = "This is a debug build: its ratios say little about a release.";

/// What `clankie bench admission` takes.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct AdmissionArguments {
    /// Rooms that are asked at once, 1–1024.
    #[arg(long, value_name = "N", default_value = "64", value_parser = clap::value_parser!(u16).range(1..=1024))]
    rooms: u16,
    /// Admissions one after the other, 1–100000.
    #[arg(long, value_name = "N", default_value = "512", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    count: u32,
    /// On which disk: a directory is made there and removed.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl AdmissionArguments {
    /// What to measure.
    pub fn plan(&self) -> Plan {
        let (rooms, count) = (usize::from(self.rooms), usize::try_from(self.count).unwrap_or(usize::MAX));
        Plan { rooms, count, dir: self.dir.clone() }
    }
}

/// What `clankie bench mailbox` takes.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct MailboxArguments {
    /// On which disk: a directory is made there and removed.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl MailboxArguments {
    /// On which disk.
    pub fn dir(&self) -> Option<&Path> {
        self.dir.as_deref()
    }
}

/// Prints what was found of the mailbox.
pub fn show_mailbox(report: &MailboxReport, global: &Global) -> io::Result<()> {
    let screen = global.screen();
    match screen.form() {
        Form::Json => screen.line(&serde_json::to_string(report)?),
        Form::Table => {
            screen.table(&mail_times(report))?;
            screen.line("")?;
            screen.table(&goals(&report.goals))?;
            if report.build == "debug" {
                screen.words(DEBUG);
            }
            Ok(())
        }
    }
}

/// Prints what was found.
pub fn show(report: &Report, global: &Global) -> io::Result<()> {
    let screen = global.screen();
    match screen.form() {
        // The report has its own version.
        Form::Json => screen.line(&serde_json::to_string(report)?),
        Form::Table => {
            screen.table(&times(report))?;
            screen.line("")?;
            screen.table(&rates(report))?;
            screen.line("")?;
            screen.table(&goals(&report.goals))?;
            if report.build == "debug" {
                screen.words(DEBUG);
            }
            Ok(())
        }
    }
}

fn times(report: &Report) -> Vec<String> {
    let mut table = Table::new(["ONE AT A TIME", "MEDIAN µs", "P99 µs", "A SECOND", "SAMPLES"]);
    for (what, times) in [
        ("durable write (1 KB, fdatasync)", &report.durable_write),
        ("bare commit of the same rows", &report.bare_commit),
        ("admission", &report.admission),
    ] {
        let Times { samples, median_us, p99_us, rate_per_s } = times;
        let number = |value: &f64| format!("{value:.0}");
        table.row([what.to_owned(), number(median_us), number(p99_us), number(rate_per_s), samples.to_string()]);
    }
    table.lines()
}

fn mail_times(report: &MailboxReport) -> Vec<String> {
    let mut table = Table::new(["ONE AT A TIME", "RECORDS", "MEDIAN µs", "P99 µs", "SAMPLES"]);
    let mut row = |what: &str, records: String, times: &Times| {
        let number = |value: f64| format!("{value:.0}");
        let (median, p99) = (number(times.median_us), number(times.p99_us));
        table.row([what.to_owned(), records, median, p99, times.samples.to_string()]);
    };
    row("durable write (1 KB, fdatasync)", String::new(), &report.durable_write);
    for AtSize { records, bare_commit, publish, answer, read, list, list_1000, badge } in &report.sizes {
        for (what, times) in [
            ("bare commit of the same rows", bare_commit),
            ("publish", publish),
            ("answer", answer),
            ("mark read", read),
            ("list of 50 asks", list),
            ("list of 1 000 asks", list_1000),
            ("badge", badge),
        ] {
            row(what, records.to_string(), times);
        }
    }
    table.lines()
}

fn rates(report: &Report) -> Vec<String> {
    let mut table = Table::new(["AT ONCE", "A SECOND", "IN ONE COMMIT", "SAMPLES"]);
    let rooms = report.rooms;
    for (what, rates) in [
        (format!("bare commits, {rooms} callers"), &report.bare_commit_grouped),
        (format!("admissions, {rooms} rooms"), &report.admission_in_rooms),
    ] {
        let Rates { samples, median_per_s, grouped } = rates;
        table.row([what, format!("{median_per_s:.0}"), format!("{grouped:.1}"), samples.to_string()]);
    }
    table.lines()
}

fn goals(goals: &[Goal]) -> Vec<String> {
    let mut table = Table::new(["RATIO", "FOUND", "GOAL", ""]);
    for Goal { what, ratio, bound, met } in goals {
        let goal = match bound {
            Bound::AtMost(most) => format!("≤ {most}"),
            Bound::AtLeast(least) => format!("≥ {least}"),
        };
        let word = if *met { "✓ met" } else { "! missed" };
        table.row([(*what).to_owned(), format!("{ratio:.2}"), goal, word.to_owned()]);
    }
    table.lines()
}
