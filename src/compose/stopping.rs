//! How the service ends: drained on the first signal, at once on the second, with advice on a failure.

use std::process::ExitCode;
use std::time::Duration;

use clankie_actors::Clankie;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::http::drain::Draining;

struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn listen() -> std::io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Returns the exit code once the service has stopped.
pub(super) async fn until_stopped(
    clankie: &Clankie,
    draining: &Draining,
    grace: Duration,
    announce: &mut (impl FnMut(&str) + Send),
) -> ExitCode {
    let mut signals = match Signals::listen() {
        Ok(signals) => signals,
        Err(error) => {
            announce(&format!("clankie: signals cannot be heard: {error}"));
            return ExitCode::FAILURE;
        }
    };
    tokio::select! {
        why = clankie.failed() => {
            tracing::error!(why, "the service ends");
            announce(&format!("clankie: {why}"));
            announce("clankie: look at the disk and the log, then start again; callers retry with the same delivery ids");
            ExitCode::FAILURE
        }
        () = signals.next() => {
            draining.begin();
            announce("clankie: stopping: nothing new is admitted; a second signal stops at once");
            tokio::select! {
                stopped = clankie.stop(grace) => {
                    announce(&format!("clankie: stopped: {} finished, {} interrupted", stopped.settled, stopped.interrupted));
                    ExitCode::SUCCESS
                }
                () = signals.next() => {
                    announce("clankie: stopped at once; what ran is interrupted");
                    ExitCode::FAILURE
                }
            }
        }
    }
}
