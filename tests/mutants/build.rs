//! Builds the harnesses, once, and finds their executables.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use serde_json::Value;

use crate::list::Harness;

/// Where each harness can be run.
#[derive(Debug)]
pub(crate) struct Built {
    executables: BTreeMap<Harness, Runnable>,
}

/// An executable, and the directory of its package, in which it expects to be.
#[derive(Debug, Clone)]
pub(crate) struct Runnable {
    pub(crate) executable: PathBuf,
    pub(crate) package: PathBuf,
}

impl Built {
    /// The executable of a harness that was built.
    pub(crate) fn of(&self, harness: Harness) -> anyhow::Result<&Runnable> {
        self.executables.get(&harness).with_context(|| format!("{} was not built", harness.name()))
    }
}

/// Builds them with the seeded bugs in. The features are those of the whole workspace, so that
/// nothing is built that the other harnesses did not need too.
pub(crate) fn build(root: &Path, harnesses: &BTreeSet<Harness>) -> anyhow::Result<Built> {
    let targets: BTreeSet<&str> = harnesses.iter().map(|harness| harness.target()).collect();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["test", "--quiet", "--workspace", "--features", "failpoints", "--no-run", "--message-format=json"]);
    cargo.args(targets.iter().flat_map(|target| ["--test", target]));
    // What cargo told this harness is of another package; some build scripts would run again for it.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"].iter().any(|of| name.starts_with(of)) {
            cargo.env_remove(name.as_ref());
        }
    }
    let done = cargo.current_dir(root).stderr(Stdio::inherit()).output().context("cargo did not start")?;
    if !done.status.success() {
        bail!("the harnesses do not build");
    }
    let text = String::from_utf8_lossy(&done.stdout);
    let made: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let mut executables = BTreeMap::new();
    for harness in harnesses {
        let source = root.join(harness.source());
        let of_it = |made: &&Value| made["target"]["src_path"].as_str().is_some_and(|path| Path::new(path) == source);
        let runnable = made.iter().filter(of_it).find_map(runnable);
        executables.insert(*harness, runnable.with_context(|| format!("{} has no executable", harness.source()))?);
    }
    Ok(Built { executables })
}

fn runnable(made: &Value) -> Option<Runnable> {
    let executable = made["executable"].as_str()?.into();
    let package = Path::new(made["manifest_path"].as_str()?).parent()?.to_owned();
    Some(Runnable { executable, package })
}
