//! Simulated worlds, as many as a test run can afford: the rest is `clankie sim`.

use std::process::Command;

use clankie::sim::{Plan, Report, regressions, run};

/// Worlds of every test run: about half a minute of an unoptimised build.
const SEEDS: u64 = 60;
/// Worlds that are enough to see a broken invariant.
const FEW: u64 = 12;
/// Of so many one is played twice.
const TWICE_IN: u64 = 6;

fn holds(report: &Report) {
    assert!(report.is_clean(), "{:#?}\n{:?} {:?}", report.violations, report.differing, report.unplayable);
}

#[test]
fn i1_to_i9_and_m1_to_m7_hold_in_simulated_worlds_and_a_seed_has_one_history() {
    let report = run(&Plan { first: 0, seeds: SEEDS, twice_in: TWICE_IN, threads: 2 });
    holds(&report);
    let happened = report.tally;
    // A world in which nothing happens breaks nothing.
    assert_eq!(report.twice, SEEDS.div_ceil(TWICE_IN));
    assert!(happened.records > 10 * SEEDS && happened.sessions > 6 * SEEDS, "{happened:?}");
    assert!(happened.cuts > SEEDS / 3 && happened.kills > SEEDS / 6 && happened.disk_faults > 0, "{happened:?}");
    assert!(happened.answers > SEEDS && happened.updates > SEEDS / 2 && happened.busy > SEEDS / 2, "{happened:?}");
    println!("{report:#?}");
}

/// The worlds by which a seeded bug is caught.
#[test]
fn a_broken_invariant_shows_in_a_few_worlds() {
    clankie_actors::choose_mutant();
    holds(&run(&Plan { first: 0, seeds: FEW, twice_in: 0, threads: 2 }));
}

#[test]
fn every_seed_that_once_broke_something_is_played_again() {
    for regression in regressions().unwrap() {
        let report = run(&Plan { first: regression.seed, seeds: 1, twice_in: 1, threads: 1 });
        assert!(report.is_clean(), "{}: {:#?}", regression.reason, report.violations);
    }
}

#[test]
fn the_command_prints_a_trace_with_its_digest_and_a_report() {
    let clankie = |arguments: &[&str]| {
        let out = Command::new(env!("CARGO_BIN_EXE_clankie")).arg("sim").args(arguments).output().unwrap();
        (out.status.code(), String::from_utf8(out.stdout).unwrap())
    };
    let (code, trace) = clankie(&["--seed", "3", "--trace"]);
    let last = trace.lines().last().unwrap();
    assert!(code == Some(0) && last.starts_with("trace ") && last.ends_with(" 0 violations"), "{last}");
    assert_eq!(clankie(&["--seed", "3", "--trace"]).1, trace, "another process plays the same world");
    let (code, report) = clankie(&["--seeds", "2", "--first", "5", "--twice-in", "1", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!((code, &report["seeds"], &report["twice"]), (Some(0), &2.into(), &2.into()));
}
