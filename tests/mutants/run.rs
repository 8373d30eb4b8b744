//! Runs a harness as a mutant, or as itself, and says what came of it.

use std::io::Read;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use clankie_domain::mutant::VARIABLE;

use crate::build::Built;
use crate::list::Catch;

/// Longest time of one run. A mutant that only hangs its harness is not caught.
const LONGEST: Duration = Duration::from_secs(300);
/// How often a run is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Runs at once: most have one busy thread.
const WORKERS: usize = 2;
/// Most characters of a reason that are printed.
const REASON_CHARS: usize = 110;

/// What a run came to.
#[derive(Debug)]
pub(crate) struct Ran {
    /// How it ended; none when it was stopped because it hung.
    status: Option<ExitStatus>,
    said: String,
    /// How long it took.
    pub(crate) took: Duration,
}

impl Ran {
    /// Whether a test saw the mutant: the harness ended by itself and says that something failed.
    pub(crate) fn caught(&self) -> bool {
        let failed = self.said.contains("test result: FAILED") || self.said.contains(" violated");
        self.status.is_some_and(|status| status.code().is_some_and(|code| code != 0)) && failed
    }

    /// What is wrong with a run without a mutant, if anything is.
    pub(crate) fn trouble_without_a_mutant(&self) -> Option<String> {
        let Some(status) = self.status else { return Some("it hangs".to_owned()) };
        if !status.success() {
            return Some(self.why(""));
        }
        let none = self.said.contains("test result: ok. 0 passed");
        none.then(|| "there is no such test".to_owned())
    }

    /// The first line that says what was broken.
    pub(crate) fn why(&self, otherwise: &str) -> String {
        if self.status.is_none() {
            return "it hung".to_owned();
        }
        let mut lines = self.said.lines().skip_while(|line| !line.contains("panicked at")).skip(1);
        let line = lines.find(|line| !line.trim().is_empty()).unwrap_or(otherwise);
        line.trim().chars().take(REASON_CHARS).collect()
    }
}

/// Runs them all, in order of the list, a few at once.
pub(crate) fn at_once(built: &Built, catches: &[&Catch]) -> Vec<anyhow::Result<Ran>> {
    let next = AtomicUsize::new(0);
    let ran: Vec<Mutex<Option<anyhow::Result<Ran>>>> = catches.iter().map(|_| Mutex::default()).collect();
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some((catch, slot)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    catches.get(at).zip(ran.get(at))
                } {
                    if let Ok(mut slot) = slot.lock() {
                        *slot = Some(run(built, catch));
                    }
                }
            });
        }
    });
    let of = |slot: Mutex<Option<anyhow::Result<Ran>>>| slot.into_inner().ok().flatten();
    ran.into_iter().map(|slot| of(slot).unwrap_or_else(|| Err(anyhow::anyhow!("a run was lost")))).collect()
}

fn run(built: &Built, catch: &Catch) -> anyhow::Result<Ran> {
    let runnable = built.of(catch.harness)?;
    let mut command = Command::new(&runnable.executable);
    command.arg(catch.test).current_dir(&runnable.package).env_remove(VARIABLE).stdin(Stdio::null());
    if let Some(mutant) = catch.mutant {
        command.env(VARIABLE, mutant.as_str());
    }
    let began = Instant::now();
    // One pipe for both, so that what was said stays in order and is never more than one to be read.
    let (mut from, into) = std::io::pipe()?;
    command.stdout(into.try_clone()?).stderr(into);
    let mut child = command.spawn().with_context(|| runnable.executable.display().to_string())?;
    // The command holds the writing ends.
    drop(command);
    let reader = std::thread::spawn(move || {
        let mut said = Vec::new();
        from.read_to_end(&mut said).map(|_| said)
    });
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if began.elapsed() > LONGEST {
            child.kill()?;
            child.wait()?;
            break None;
        }
        std::thread::sleep(LOOK_EVERY);
    };
    let said = reader.join().map_err(|_| anyhow::anyhow!("what it said was not read"))??;
    Ok(Ran { status, said: String::from_utf8_lossy(&said).into_owned(), took: began.elapsed() })
}
