//! Proof that the harnesses see: every seeded bug is switched on in turn, and its test must fail.
//!
//! `cargo test --features failpoints --test mutants [-- --short] [-- NAME]`. First the list is held
//! to the invariants, then every test that is to catch something runs without a mutant and must
//! pass, then each mutant runs. `--short` tries what the harnesses of the two inner crates catch
//! within seconds; a name, or its beginning, tries those alone.

#![allow(clippy::print_stdout, reason = "a harness of its own prints what it found; there is nobody else to say it")]

mod build;
mod list;
#[path = "../architecture/rules.rs"]
mod rules;
mod run;
mod shape;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context;
use list::{CATCHES, Catch, Harness, Pace};
use run::{Ran, at_once};

/// What proves that a crossing of each wall is caught; every word of the rules is one.
const WALLS: Catch = Catch { mutant: None, harness: Harness::Architecture, test: "a_crossing_of_each_wall_is_caught" };

/// What the command line asks for.
struct Wanted {
    pace: Pace,
    name: String,
}

fn main() -> ExitCode {
    match mutants() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("{error:#}\nmutants: 0 caught, 1 failed");
            ExitCode::FAILURE
        }
    }
}

fn mutants() -> anyhow::Result<bool> {
    let Some(wanted) = wanted() else { return Ok(true) };
    let began = Instant::now();
    shape::check()?;
    let catches: Vec<&Catch> = CATCHES.iter().filter(|catch| wanted.wants(catch)).collect();
    anyhow::ensure!(!catches.is_empty(), "there is no mutant {:?}", wanted.name);
    let harnesses: BTreeSet<Harness> = catches.iter().map(|catch| catch.harness).chain([WALLS.harness]).collect();
    let built = build::build(&root(), &harnesses)?;
    let built_after = began.elapsed();

    let mut controls: Vec<Catch> = vec![WALLS];
    for catch in &catches {
        let control = Catch { mutant: None, ..**catch };
        if !controls.contains(&control) {
            controls.push(control);
        }
    }
    let mut failed = 0;
    for (control, ran) in controls.iter().zip(at_once(&built, &controls.iter().collect::<Vec<_>>())) {
        if let Some(trouble) = ran?.trouble_without_a_mutant() {
            println!("{} {} fails without a mutant: {trouble}", control.harness.name(), control.test);
            failed += 1;
        }
    }
    anyhow::ensure!(failed == 0, "{failed} of {} control runs failed; nothing was proven", controls.len());
    println!("control: {} tests pass without a mutant", controls.len());
    for (catch, ran) in catches.iter().zip(at_once(&built, &catches)) {
        failed += usize::from(!tell(catch, &ran?));
    }
    report(&catches, failed);
    println!("built in {} s, took {} s", built_after.as_secs(), began.elapsed().as_secs());
    Ok(failed == 0)
}

/// Prints what became of a mutant; true when it was caught.
fn tell(catch: &Catch, ran: &Ran) -> bool {
    let name = catch.mutant.map_or("", |mutant| mutant.as_str());
    let caught = ran.caught();
    let word = if caught { "caught  " } else { "SURVIVED" };
    let (harness, seconds) = (catch.harness.name(), ran.took.as_secs_f32());
    println!("{word} {name:<32} {harness:<12} {seconds:>5.1} s  {}", ran.why(catch.test));
    caught
}

fn report(catches: &[&Catch], failed: usize) {
    let mut ids: Vec<(String, usize)> = Vec::new();
    for id in shape::ids(catches) {
        match ids.last_mut().filter(|(last, _)| *last == id) {
            Some((_, count)) => *count += 1,
            None => ids.push((id, 1)),
        }
    }
    let ids: Vec<String> = ids.into_iter().map(|(id, count)| format!("{id} {count}")).collect();
    println!("by invariant: {}", ids.join(", "));
    let words: usize = rules::ROOMS.iter().map(|wall| wall.may_not_name.len()).sum();
    println!("walls: {} rooms, {words} crossings, each caught by {}", rules::ROOMS.len(), WALLS.test);
    for wall in rules::ROOMS {
        println!("  {}: {} crossings, in {}", wall.room, wall.may_not_name.len(), wall.files.join(", "));
    }
    println!("mutants: {} caught, {failed} failed", catches.len() - failed);
}

impl Wanted {
    fn wants(&self, catch: &Catch) -> bool {
        let named = catch.mutant.is_some_and(|mutant| mutant.as_str().starts_with(&self.name));
        named && (self.pace == Pace::Whole || catch.pace() == Pace::Short)
    }
}

/// What the command line asks for; `None` when it only wants a list, as test runners do.
fn wanted() -> Option<Wanted> {
    let mut wanted = Wanted { pace: Pace::Whole, name: String::new() };
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--short" => wanted.pace = Pace::Short,
            "--list" => return None,
            name => wanted.name = name.to_owned(),
        }
    }
    Some(wanted)
}

/// Where the project is.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A file of the project.
fn read(path: &str) -> anyhow::Result<String> {
    let path = root().join(path);
    std::fs::read_to_string(&path).with_context(|| path.display().to_string())
}
