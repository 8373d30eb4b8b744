//! `clankie bench` and `clankie bench soak`: every line beside its limit and its goal.

use std::io;
use std::path::PathBuf;

use clap::Args;

use super::Global;
use super::screen::Form;
use super::table::Table;
use crate::bench::{AllReport, Beside, Bound, Line, Sizes, SoakPlan, SoakReport};

/// What `clankie bench` takes when it is not told what to measure.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct AllArguments {
    /// Small sizes: every line in a few seconds, and none of them says much.
    #[arg(long)]
    quick: bool,
    /// On which disk: a directory is made there and removed.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl AllArguments {
    /// How much of everything.
    pub fn sizes(&self) -> Sizes {
        if self.quick { Sizes::quick(self.dir.clone()) } else { Sizes::full(self.dir.clone()) }
    }
}

/// What `clankie bench soak` takes.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct SoakArguments {
    /// Handoffs from acceptance to result, 100–10000000.
    #[arg(long, value_name = "N", default_value = "100000", value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    handoffs: u32,
    /// Rooms that they are in, 1–100000.
    #[arg(long, value_name = "N", default_value = "1000", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    rooms: u32,
    /// On which disk: a directory is made there and removed.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl SoakArguments {
    /// How much.
    pub fn plan(&self) -> SoakPlan {
        let number = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        SoakPlan { handoffs: number(self.handoffs), rooms: number(self.rooms), dir: self.dir.clone() }
    }
}

/// Prints everything that was found.
pub fn show_all(report: &AllReport, global: &Global) -> io::Result<()> {
    let screen = global.screen();
    match screen.form() {
        Form::Json => screen.line(&serde_json::to_string(report)?),
        Form::Table => {
            screen.table(&lines(&report.lines))?;
            if report.build == "debug" {
                screen.words(super::bench::DEBUG);
            }
            Ok(())
        }
    }
}

/// Prints how a soak went.
pub fn show_soak(report: &SoakReport, global: &Global) -> io::Result<()> {
    let screen = global.screen();
    match screen.form() {
        Form::Json => screen.line(&serde_json::to_string(report)?),
        Form::Table => {
            let SoakReport { handoffs, rooms, answered, dismissed, took_s, .. } = report;
            screen.line(&format!(
                "{handoffs} handoffs in {rooms} rooms, {answered} asks answered, {dismissed} updates put away, in \
                 {took_s:.0} s"
            ))?;
            screen.table(&lines(&report.laws))
        }
    }
}

fn lines(lines: &[Line]) -> Vec<String> {
    let mut table = Table::new(["WHAT", "OF", "FOUND", "GOAL", "", "BESIDE"]);
    for Line { what, of, found, unit, beside, bound, met } in lines {
        let goal = match bound {
            Bound::AtMost(most) => format!("≤ {most}"),
            Bound::AtLeast(least) => format!("≥ {least}"),
        };
        let word = if *met { "✓ met" } else { "! missed" };
        let of = of.map(|of| of.to_string()).unwrap_or_default();
        let beside = beside.map(|Beside { what, found }| format!("{what}: {found:.2}")).unwrap_or_default();
        table.row([(*what).to_owned(), of, format!("{found:.2} {unit}"), goal, word.to_owned(), beside]);
    }
    table.lines()
}
