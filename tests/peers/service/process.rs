//! Starting, stopping and killing the program, and the one way to wait for a fact.

use std::fs::{File, OpenOptions};
use std::io::{PipeReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use clankie_domain::mutant::VARIABLE;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{Ask, Service};

/// How long a fact may take on a machine that does much else; only a fault meets it.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often a fact is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// What one run of the command line said.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// The data, when the command succeeded; it must name its schema version.
    pub(crate) fn data(&self) -> Value {
        assert_eq!(self.code, Some(0), "{self:?}");
        let data: Value = serde_json::from_str(&self.out).unwrap_or_else(|why| panic!("{why}: {self:?}"));
        assert_eq!(data["schema_version"], 1, "{data}");
        data
    }
}

/// How a process ended: its exit code, or none when a signal did it.
pub(crate) type Ended = Option<i32>;

/// Looks until there is something to see.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "waited in vain for {what}");
        std::thread::sleep(LOOK_EVERY);
    }
}

impl Service {
    /// Starts it and waits until it is ready.
    pub(crate) fn launch(&mut self) {
        let _ = std::fs::remove_file(self.state_dir().join("service.json"));
        self.spawn();
        self.ready();
    }

    /// The same with everything that it says in a pipe, and gives the end to read from.
    pub(crate) fn launch_into_pipe(&mut self) -> PipeReader {
        let _ = std::fs::remove_file(self.state_dir().join("service.json"));
        let (reader, writer) = std::io::pipe().unwrap();
        self.spawn_into(writer.try_clone().unwrap().into(), writer.into());
        self.ready();
        reader
    }

    fn ready(&mut self) {
        until("the service to be ready", || {
            let ended = self.child.as_mut().unwrap().try_wait().unwrap();
            assert_eq!(ended, None, "{}", self.log());
            self.found()
        });
    }

    /// Starts it and returns at once.
    pub(crate) fn spawn(&mut self) {
        let log = OpenOptions::new().create(true).append(true).open(self.log_file()).unwrap();
        self.spawn_into(log.try_clone().unwrap().into(), log.into());
    }

    fn spawn_into(&mut self, out: Stdio, err: Stdio) {
        let mut command = self.program();
        command.arg("serve").arg("--config").arg(self.config_file()).stdin(Stdio::null());
        command.stdout(out).stderr(err);
        self.child = Some(command.spawn().unwrap());
    }

    /// Reads where it listens, once it answers.
    fn found(&mut self) -> Option<()> {
        let file = std::fs::read_to_string(self.state_dir().join("service.json")).ok()?;
        let file: Value = serde_json::from_str(&file).ok()?;
        self.address = file["url"].as_str()?.strip_prefix("http://")?.to_owned();
        self.operator = std::fs::read_to_string(self.state_dir().join("operator.token")).ok()?.trim().to_owned();
        (self.send(&Ask::get("/readyz")).status == 200).then_some(())
    }

    /// Runs `serve`, which must end by itself, and returns how and with what words.
    pub(crate) fn refused(&self) -> Ran {
        let mut command = self.program();
        command.arg("serve").arg("--config").arg(self.config_file());
        finish(command, "")
    }

    /// Runs a command of the command line to its end.
    pub(crate) fn cli(&self, arguments: &[&str]) -> Ran {
        self.cli_told("", arguments)
    }

    /// The same with something on standard input.
    pub(crate) fn cli_told(&self, input: &str, arguments: &[&str]) -> Ran {
        let mut command = self.program();
        command.arg("--state-dir").arg(self.state_dir()).args(arguments);
        finish(command, input)
    }

    /// Begins a command of the command line, its output in a pipe.
    pub(crate) fn cli_begun(&self, arguments: &[&str]) -> Child {
        let mut command = self.program();
        command.arg("--state-dir").arg(self.state_dir()).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// The program with nothing of our own environment.
    pub(crate) fn program(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_clankie"));
        command.env_clear().env("HOME", self.scratch()).envs(&self.variables);
        // A harness that is run as a mutant tests a program that is one.
        command.envs(std::env::var_os(VARIABLE).map(|mutant| (VARIABLE, mutant)));
        command
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.pid()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Ends it as a power cut would.
    pub(crate) fn kill(&mut self) {
        self.signal(Signal::KILL);
        self.ended();
    }

    /// Ends it in order.
    pub(crate) fn stop(&mut self) -> Ended {
        self.signal(Signal::TERM);
        self.ended()
    }

    /// Waits for its end.
    pub(crate) fn ended(&mut self) -> Ended {
        let mut child = self.child.take().unwrap();
        until("the service to end", || child.try_wait().unwrap()).code()
    }

    pub(super) fn log_file(&self) -> PathBuf {
        self.scratch().join("log")
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Runs to the end. Output goes to files, so that no pipe can fill up and nobody has to read it meanwhile.
fn finish(mut command: Command, input: &str) -> Ran {
    let (mut out, mut err) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
    command.stdin(Stdio::piped()).stdout(out.try_clone().unwrap()).stderr(err.try_clone().unwrap());
    let mut child = command.spawn().unwrap();
    // A command that reads no input may be gone before it is written.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let mut kill_at_the_end = Kill(child);
    let code = until(&format!("{command:?} to end"), || kill_at_the_end.0.try_wait().unwrap()).code();
    Ran { code, out: whole(&mut out), err: whole(&mut err) }
}

/// A command that does not end must not outlive its test.
struct Kill(Child);

impl Drop for Kill {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn whole(file: &mut File) -> String {
    use std::io::Seek;
    let mut text = String::new();
    file.rewind().unwrap();
    file.read_to_string(&mut text).unwrap();
    text
}
