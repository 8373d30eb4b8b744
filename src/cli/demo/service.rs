//! The service of the play: this very executable, started as a child and ended on every way out.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use tokio::time::Instant;

/// Handoffs that may wait: few enough that the queue is full after a handful of people.
pub(super) const WAITING: usize = 6;
/// How long a start may take. It takes a tenth of a second on an idle machine.
const START_MAX: Duration = Duration::from_secs(20);
/// How often a start is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Lines of the service's own log that a failed start shows.
const LOG_LINES: usize = 20;

/// Where a service keeps its things.
#[derive(Debug)]
pub(super) struct House {
    /// Configuration and log, gone with this value.
    scratch: tempfile::TempDir,
    state: PathBuf,
}

impl House {
    /// A house whose state stands in `state`, or in a directory that goes with it.
    pub(super) fn new(state: Option<&Path>) -> Result<Self> {
        let mut builder = tempfile::Builder::new();
        let scratch = builder.prefix("clankie-demo-").permissions(private()).tempdir();
        let scratch = scratch.context("no temporary directory")?;
        let state = match state {
            Some(dir) => given(dir)?,
            None => scratch.path().join("state"),
        };
        let house = Self { scratch, state };
        fs::write(house.config(), house.configuration())?;
        Ok(house)
    }

    /// Where the state stands.
    pub(super) fn state(&self) -> &Path {
        &self.state
    }

    fn config(&self) -> PathBuf {
        self.scratch.path().join("demo.toml")
    }

    fn log(&self) -> PathBuf {
        self.scratch.path().join("service.log")
    }

    fn configuration(&self) -> String {
        let state = toml::Value::String(self.state.to_string_lossy().into_owned());
        format!(
            "state_dir = {state}\nlisten = \"127.0.0.1:0\"\n[limits]\nwaiting = {WAITING}\n[executor]\ndefault = \
             \"demo\"\n[[rooms.local]]\nname = \"lobby\"\n"
        )
    }

    /// The end of the service's own log.
    pub(super) fn last_lines(&self) -> String {
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(LOG_LINES)..].join("\n")
    }
}

/// The directory that somebody gave. An empty one is made private, as the service wants it; one
/// with something in it is left as it is, so that the service may refuse it.
fn given(dir: &Path) -> Result<PathBuf> {
    let dir = std::path::absolute(dir)?;
    let is_empty = fs::read_dir(&dir).is_ok_and(|mut entries| entries.next().is_none());
    if is_empty {
        fs::set_permissions(&dir, private()).with_context(|| format!("{} cannot be made private", dir.display()))?;
    }
    Ok(dir)
}

fn private() -> Permissions {
    Permissions::from_mode(0o700)
}

/// What a ready service wrote down about itself.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Address {
    /// Its process.
    pub(super) pid: u32,
    /// Where it listens.
    pub(super) url: String,
}

/// A running service. It does not outlive this value.
#[derive(Debug)]
pub(super) struct Running {
    child: Child,
    /// Where it is.
    pub(super) address: Address,
}

impl Running {
    /// Starts the service and returns when it is ready.
    pub(super) async fn start(house: &House, http: &reqwest::Client) -> Result<Self> {
        let child = spawn(house)?;
        let address = Address { pid: child.id(), url: String::new() };
        let mut running = Self { child, address };
        let end = Instant::now() + START_MAX;
        while Instant::now() < end {
            if let Some(status) = running.child.try_wait()? {
                bail!("the service ended with {status} before it was ready:\n{}", house.last_lines());
            }
            if let Some(address) = written(house).filter(|address| address.pid == running.child.id())
                && is_ready(http, &address).await
            {
                running.address = address;
                return Ok(running);
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        bail!("the service was not ready within {} s:\n{}", START_MAX.as_secs(), house.last_lines())
    }

    /// Ends the service as a power cut would: SIGKILL, nothing is flushed or said.
    pub(super) fn kill(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A child that has already ended needs neither.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The child hears nothing of this machine's own configuration, nor of a Ctrl-C in this terminal.
fn spawn(house: &House) -> Result<Child> {
    let program = std::env::current_exe().context("this program cannot find itself")?;
    let log = File::options().create(true).append(true).open(house.log())?;
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CLANKIE_") {
            command.env_remove(name);
        }
    }
    command.arg("serve").arg("--config").arg(house.config()).env("XDG_CONFIG_HOME", house.scratch.path());
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).process_group(0);
    command.spawn().context("the service could not be started")
}

fn written(house: &House) -> Option<Address> {
    let text = fs::read(house.state.join("service.json")).ok()?;
    serde_json::from_slice(&text).ok()
}

async fn is_ready(http: &reqwest::Client, address: &Address) -> bool {
    let answer = http.get(format!("{}/readyz", address.url)).send().await;
    answer.is_ok_and(|answer| answer.status().is_success())
}

/// The operator's token, which the service wrote for whoever owns this directory.
pub(super) fn operator_token(house: &House) -> Result<String> {
    let path = house.state.join("operator.token");
    let token = fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
    Ok(token.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_path_is_a_sound_configuration() {
        let dir = tempfile::tempdir().unwrap();
        let odd = dir.path().join("it's \"odd\" \\ here");
        let house = House::new(Some(&odd)).unwrap();
        let read: toml::Table = house.configuration().parse().unwrap();
        assert_eq!(read["state_dir"].as_str(), odd.to_str());
        assert_eq!(read["limits"]["waiting"].as_integer(), Some(WAITING as i64));
    }
}
