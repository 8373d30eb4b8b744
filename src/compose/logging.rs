//! Log lines go to standard error, as text or as one JSON object a line.
//!
//! Whoever read them may be gone: a line that cannot be written is counted and forgotten, and never
//! ends the service.

use std::io::{self, IsTerminal, Write};

use anyhow::Context;
use tracing_subscriber::EnvFilter;

use crate::config::{Log, LogFormat};
use crate::http::metrics;

/// Standard error, as something that takes every line.
struct Lines;

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if io::stderr().write_all(line).is_err() {
            metrics::log_line_lost();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A panic is one log line like any other; who supervises it decides what follows.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let said = panic.payload_as_str().unwrap_or("no words");
        let line = panic.location().map_or(0, std::panic::Location::line);
        tracing::error!(said, line, "a part of the service panicked");
    }));
}

/// Begins to log. A second call in one process changes nothing.
pub(super) fn begin(log: &Log) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(&log.filter).with_context(|| {
        format!("log.filter: {:?} is no filter; write for example \"info\" or \"warn,clankie=debug\"", log.filter)
    })?;
    let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    log_panics();
    // The library's own word about a line that it cannot write would go the same way, and panic there.
    let lines = tracing_subscriber::fmt().with_writer(|| Lines).log_internal_errors(false);
    let lines = lines.with_env_filter(filter).with_ansi(colours);
    let begun = match log.format {
        LogFormat::Text => lines.try_init(),
        LogFormat::Json => lines.json().try_init(),
    };
    if begun.is_err() {
        tracing::debug!("logging had begun already");
    }
    Ok(())
}
