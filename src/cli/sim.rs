//! `clankie sim`: which worlds to play, and what they came to, as a table, a trace or one object.

use std::io;

use clap::Args;

use super::Global;
use super::screen::Form;
use super::table::Table;
use crate::sim::{Fact, History, Plan, Report, Tally, Violation};

/// Violations that a table shows at most; `--json` has all.
const SHOWN: usize = 20;

/// What `clankie sim` takes.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct SimArguments {
    /// Worlds to play, one for each seed from --first on.
    #[arg(long, value_name = "N", default_value = "100")]
    seeds: u64,
    /// The first seed.
    #[arg(long, value_name = "S", default_value = "0")]
    first: u64,
    /// Only the world of this seed.
    #[arg(long, value_name = "S", conflicts_with_all = ["seeds", "first"])]
    seed: Option<u64>,
    /// With --seed: print what happens in it, a line for each fact.
    #[arg(long, requires = "seed")]
    trace: bool,
    /// Of so many worlds one is played twice, and both histories must be the same; 0 for none.
    #[arg(long, value_name = "M", default_value = "10")]
    twice_in: u64,
    /// Threads that play.
    #[arg(long, value_name = "N", default_value = "2", value_parser = clap::value_parser!(u8).range(1..=64))]
    threads: u8,
}

impl SimArguments {
    /// What to play.
    pub fn plan(&self) -> Plan {
        let (first, seeds) = self.seed.map_or((self.first, self.seeds), |seed| (seed, 1));
        let twice_in = if self.seed.is_some() { 1 } else { self.twice_in };
        Plan { first, seeds, twice_in, threads: usize::from(self.threads) }
    }

    /// The seed whose trace is wanted.
    pub fn traced(&self) -> Option<u64> {
        self.seed.filter(|_| self.trace)
    }
}

/// Prints every fact of a world, what is wrong with it, and the digest of its trace.
pub fn show_trace(history: &History, violations: &[Violation], global: &Global) -> io::Result<()> {
    let screen = global.screen();
    for line in history.facts().iter().map(Fact::line) {
        screen.line(&line)?;
    }
    for Violation { invariant, at, what } in violations {
        screen.line(&format!("! {invariant} at {at}: {what}"))?;
    }
    screen.line(&format!(
        "trace {:016x}, {} facts, {} violations",
        history.digest(),
        history.facts().len(),
        violations.len()
    ))
}

/// Prints what the worlds came to.
pub fn show(report: &Report, global: &Global) -> io::Result<()> {
    let screen = global.screen();
    match screen.form() {
        // The report has its own version.
        Form::Json => screen.line(&serde_json::to_string(report)?),
        Form::Table => {
            screen.table(&numbers(report))?;
            for broken in report.violations.iter().take(SHOWN) {
                screen.line(&format!("! seed {} broke {} {}", broken.seed, broken.invariant, broken.what))?;
                screen.line(&format!("  {}", broken.replay))?;
            }
            if let Some(more) = report.violations.len().checked_sub(SHOWN).filter(|more| *more > 0) {
                screen.line(&format!("! and {more} more"))?;
            }
            for seed in &report.differing {
                screen.line(&format!("! seed {seed} had two histories"))?;
                screen.line(&format!("  clankie sim --seed {seed} --trace"))?;
            }
            for (seed, why) in &report.unplayable {
                screen.line(&format!("! seed {seed} could not be played: {why}"))?;
            }
            screen.line(if report.is_clean() { "✓ nothing is broken" } else { "! something is broken" })
        }
    }
}

fn numbers(report: &Report) -> Vec<String> {
    let Tally { lives, kills, cuts, stops, failures, disk_faults, clock_faults, revocations, .. } = report.tally;
    let Tally { deliveries, busy, records, sessions, posts, asks, answers, updates, facts, .. } = report.tally;
    let mut table = Table::new(["WHAT", "HOW MANY"]);
    let rows = [
        ("worlds", report.seeds),
        ("played twice", report.twice),
        ("histories that differ", report.differing.len() as u64),
        ("violations", report.violations.len() as u64),
        ("lives of the service", lives),
        ("kills", kills),
        ("power cuts", cuts),
        ("stops in order", stops),
        ("ends by itself", failures),
        ("failures of the disk", disk_faults),
        ("jumps and breaks of the clock", clock_faults),
        ("changes of authority", revocations),
        ("deliveries, repeats included", deliveries),
        ("told busy", busy),
        ("records", records),
        ("sessions", sessions),
        ("messages in chats", posts),
        ("asks", asks),
        ("answers", answers),
        ("updates", updates),
        ("facts judged", facts),
    ];
    for (what, many) in rows {
        table.row([what.to_owned(), many.to_string()]);
    }
    table.row(["seconds".to_owned(), format!("{:.1}", report.seconds)]);
    table.lines()
}
