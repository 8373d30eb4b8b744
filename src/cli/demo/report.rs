//! What the evening came to: one object for programs, a few sentences for people.

use std::io::Write;

use anyhow::Result;
use serde::Serialize;

use super::lines::Output;
use super::stage::Stage;
use crate::owner::wire::SCHEMA_VERSION;

/// The numbers of one evening. Field names are a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Report {
    /// The version of this object.
    pub(super) schema_version: u32,
    /// Most handoffs that were seen running at once.
    pub(super) peak_running: usize,
    /// The same in one room.
    pub(super) peak_running_per_room: usize,
    /// Deliveries that were admitted, those that joined included.
    pub(super) admitted: usize,
    /// Deliveries that were told busy.
    pub(super) busy: usize,
    /// Deliveries that another run of the same speaker read.
    pub(super) absorbed: usize,
    /// Repeats that got their saved result.
    pub(super) replayed_receipts: usize,
    /// Questions to the owner that were answered.
    pub(super) asks_answered: usize,
    /// Deliveries that the kill interrupted and that say so.
    pub(super) interrupted_after_restart: usize,
    /// What was off.
    pub(super) violations: usize,
}

impl Report {
    pub(super) fn of(stage: &Stage) -> Self {
        let seen = stage.seen.now();
        Self {
            schema_version: SCHEMA_VERSION,
            peak_running: seen.peak_running,
            peak_running_per_room: seen.peak_running_per_room,
            admitted: stage.heards.admitted,
            busy: stage.heards.busy,
            absorbed: seen.in_state("absorbed"),
            replayed_receipts: stage.heards.replayed,
            asks_answered: stage.heards.answered,
            interrupted_after_restart: seen.failed_with("interrupted"),
            violations: stage.violations.len() + seen.violations.len(),
        }
    }
}

/// Prints the report: sentences for people, and what was off by name; one object for programs.
pub(super) fn show(stage: &Stage, report: &Report) -> Result<()> {
    let output = stage.output;
    output.act("The evening is over");
    for line in sentences(report, stage.heards.updates_read, stage.seen.now().samples) {
        output.line(&format!("  {line}"));
    }
    for what in stage.violations.iter().chain(&stage.seen.now().violations) {
        output.line(&format!("  !! {what}"));
    }
    if output == Output::Json {
        writeln!(std::io::stdout().lock(), "{}", serde_json::to_string(report)?)?;
    }
    Ok(())
}

fn sentences(report: &Report, updates_read: usize, samples: usize) -> Vec<String> {
    let Report { peak_running, peak_running_per_room, admitted, busy, absorbed, .. } = report;
    let off = match report.violations {
        0 => format!("Nothing was off in {samples} looks at every handoff."),
        1 => "One thing was off:".to_owned(),
        many => format!("{many} things were off:"),
    };
    vec![
        format!("{admitted} deliveries were admitted, {absorbed} of them absorbed into their speaker's own run."),
        format!("{peak_running} ran at once at most, {peak_running_per_room} in one room; {busy} was told busy first."),
        format!("{} repeats got their saved result, and nothing ran twice.", report.replayed_receipts),
        format!("{} were interrupted by the kill and say so.", report.interrupted_after_restart),
        format!(
            "The owner answered {} ask and read {updates_read} update; both had survived the kill.",
            report.asks_answered
        ),
        off,
    ]
}
