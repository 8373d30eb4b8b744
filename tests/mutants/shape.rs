//! What must be so of the list itself: no invariant without a bug, and no bug that is planted
//! nowhere or that nobody is to catch.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::ensure;
use clankie_domain::mutant::Mutant;

use crate::list::{CATCHES, Catch};
use crate::{read, root};

/// Where mutants are declared; everywhere else they are planted.
const DECLARED: &str = "actors/domain/src/mutant.rs";

pub(crate) fn check() -> anyhow::Result<()> {
    let of: BTreeSet<Mutant> = CATCHES.iter().filter_map(|catch| catch.mutant).collect();
    let sources = sources()?;
    for mutant in Mutant::ALL {
        ensure!(of.contains(mutant), "nobody is to catch {}", mutant.as_str());
        let planted = format!("Mutant::{})", mutant.planted_as());
        ensure!(sources.contains(&planted), "{} is planted nowhere", mutant.as_str());
    }
    let known: BTreeSet<String> = Mutant::ALL.iter().map(|mutant| id(*mutant)).collect();
    let listed = read("docs/ARCHITECTURE.md")?;
    let listed = listed.lines().filter_map(|line| line.strip_prefix("| **")?.split_once("**").map(|(id, _)| id));
    let listed: BTreeSet<String> = listed.map(str::to_owned).collect();
    ensure!(listed.len() >= 16, "the invariants stand in a table: {listed:?}");
    ensure!(known == listed, "the invariants are {listed:?} and the mutants break {known:?}");
    Ok(())
}

/// The invariant of each proof, in order.
pub(crate) fn ids(catches: &[&Catch]) -> Vec<String> {
    catches.iter().filter_map(|catch| catch.mutant.map(id)).collect()
}

fn id(mutant: Mutant) -> String {
    mutant.as_str().split('-').next().unwrap_or_default().to_uppercase()
}

/// Everything that is compiled into the program, without the list of mutants.
fn sources() -> anyhow::Result<String> {
    let mut text = String::new();
    for room in ["src", "actors/src", "actors/domain/src"] {
        gather(&root().join(room), &mut text)?;
    }
    Ok(text)
}

fn gather(place: &Path, text: &mut String) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(place)? {
        let path = entry?.path();
        if path.is_dir() {
            gather(&path, text)?;
        } else if !path.ends_with(DECLARED) {
            text.push_str(&std::fs::read_to_string(&path)?);
        }
    }
    Ok(())
}
