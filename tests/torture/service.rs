//! The real service as a process: started, waited for, killed, and started again on its state.

use std::fs::{File, OpenOptions};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clankie_domain::mutant::VARIABLE;
use serde_json::Value;
use tokio::sync::watch;

/// How long a start may take on a busy machine.
const START_WITHIN: Duration = Duration::from_secs(30);
/// How often a starting process is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(4);

/// Where a living service is, and which of its lives it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    /// Its address.
    pub(crate) url: String,
    /// Counts the processes, from 1.
    pub(crate) life: u64,
    /// The owner's credential.
    pub(crate) operator: String,
}

/// How a start went.
#[derive(Debug)]
pub(crate) enum Started {
    /// It is ready.
    Ready(Duration),
    /// It ended before it was ready.
    Ended(ExitStatus),
}

/// The service on one state directory.
#[derive(Debug)]
pub(crate) struct Service {
    dir: PathBuf,
    model: String,
    child: Option<Child>,
    life: u64,
    at: watch::Sender<Option<Endpoint>>,
    http: reqwest::Client,
}

impl Service {
    /// A service that is to run in `dir` on the model at `model`.
    pub(crate) fn new(dir: &Path, model: &str, http: reqwest::Client) -> anyhow::Result<Self> {
        let service = Self {
            dir: dir.to_owned(),
            model: model.to_owned(),
            child: None,
            life: 0,
            at: watch::Sender::new(None),
            http,
        };
        service.configure(0)?;
        Ok(service)
    }

    /// Writes a configuration that differs with `guild`, of which nobody is a member.
    pub(crate) fn configure(&self, guild: usize) -> anyhow::Result<()> {
        let (state, model) = (self.dir.join("state").display().to_string(), &self.model);
        let config = format!(
            "state_dir = {state:?}\nlisten = \"127.0.0.1:0\"\n\n[executor]\ndefault = \"builtin\"\n\n\
             [model]\nprovider = \"openai\"\nbase_url = {model:?}\nmodel = \"scripted\"\n\
             token_budget = 100000000\n\n[[rooms.local]]\nname = \"lobby\"\n\n\
             [grants]\nmachine_guilds = [\"{guild}\"]\n",
        );
        // Whole or not at all, for the service may read it at any moment.
        let (written, whole) = (self.dir.join("clankie.toml.new"), self.dir.join("clankie.toml"));
        std::fs::write(&written, config)?;
        Ok(std::fs::rename(written, whole)?)
    }

    /// Follows where the service is.
    pub(crate) fn watch(&self) -> watch::Receiver<Option<Endpoint>> {
        self.at.subscribe()
    }

    /// How often it was started.
    pub(crate) fn lives(&self) -> u64 {
        self.life
    }

    /// Starts it, with fail-points in the way the environment names them, and waits until it is ready.
    pub(crate) async fn start(&mut self, points: Option<&str>) -> anyhow::Result<Started> {
        let began = Instant::now();
        self.spawn(points)?;
        loop {
            if let Some(status) = self.ended()? {
                return Ok(Started::Ended(status));
            }
            if let Some(endpoint) = self.ready().await {
                self.at.send_replace(Some(endpoint));
                return Ok(Started::Ready(began.elapsed()));
            }
            if began.elapsed() > START_WITHIN {
                bail!("the service was not ready after {START_WITHIN:?}; its log is {}", self.log().display());
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Begins to start it and does not wait.
    pub(crate) fn spawn(&mut self, points: Option<&str>) -> anyhow::Result<()> {
        self.life += 1;
        let log = OpenOptions::new().create(true).append(true).open(self.log())?;
        let mut command = Command::new(env!("CARGO_BIN_EXE_clankie"));
        command.arg("serve").arg("--config").arg(self.dir.join("clankie.toml"));
        command.env_clear().env("HOME", &self.dir).env("OPENAI_API_KEY", "torture").env("RUST_BACKTRACE", "1");
        command.envs(std::env::var_os(VARIABLE).map(|mutant| (VARIABLE, mutant)));
        if let Some(points) = points {
            command.env("FAILPOINTS", points);
        }
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        self.child = Some(command.spawn().context("the service does not start")?);
        Ok(())
    }

    /// Kills it at once, as a power cut would.
    pub(crate) fn kill(&mut self) -> anyhow::Result<()> {
        if let Some(mut child) = self.child.take() {
            // One that is dead already cannot be killed again.
            let _ = child.kill();
            child.wait()?;
        }
        self.at.send_replace(None);
        Ok(())
    }

    /// Waits until it ends by itself. `None` when it does not within `most`.
    pub(crate) async fn end(&mut self, most: Duration) -> anyhow::Result<Option<ExitStatus>> {
        let began = Instant::now();
        loop {
            if let Some(status) = self.ended()? {
                self.at.send_replace(None);
                return Ok(Some(status));
            }
            if began.elapsed() > most {
                return Ok(None);
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Everything it wrote.
    pub(crate) fn log(&self) -> PathBuf {
        self.dir.join("service.log")
    }

    fn ended(&mut self) -> anyhow::Result<Option<ExitStatus>> {
        let Some(child) = &mut self.child else { bail!("no service was started") };
        let status = child.try_wait()?;
        if status.is_some() {
            self.child = None;
        }
        Ok(status)
    }

    async fn ready(&self) -> Option<Endpoint> {
        let state = self.dir.join("state");
        let about: Value = serde_json::from_reader(File::open(state.join("service.json")).ok()?).ok()?;
        let mine = u64::from(self.child.as_ref()?.id());
        if about["pid"].as_u64()? != mine {
            return None;
        }
        let url = about["url"].as_str()?.trim_end_matches('/').to_owned();
        let ready = self.http.get(format!("{url}/readyz")).send().await.ok()?;
        let operator = std::fs::read_to_string(state.join("operator.token")).ok()?.trim().to_owned();
        ready.status().is_success().then_some(Endpoint { url, life: self.life, operator })
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // Whatever ends the harness, no service of it stays behind.
        let _ = self.kill();
    }
}

/// Whether a process ended by calling abort, as a fail-point does.
pub(crate) fn aborted(status: ExitStatus) -> bool {
    const SIGABRT: i32 = 6;
    status.signal() == Some(SIGABRT)
}
