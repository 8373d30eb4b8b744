//! `service.json`: where a running service is found. It goes when the service ends in order.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clankie_domain::time::Timestamp;
use serde_json::json;

use crate::http::wire::moment;

/// The file's name in the state directory.
const FILE: &str = "service.json";

/// The file, removed when this is dropped.
#[derive(Debug)]
pub(super) struct ServiceFile(PathBuf);

impl ServiceFile {
    /// Writes it whole: a reader sees the old one or the new one.
    pub(super) fn write(state_dir: &Path, url: &str, started_at: Timestamp) -> anyhow::Result<Self> {
        let path = state_dir.join(FILE);
        let fresh = state_dir.join(format!(".{FILE}.{}", std::process::id()));
        let body = json!({
            "pid": std::process::id(),
            "url": url,
            "version": env!("CARGO_PKG_VERSION"),
            "started_at": moment(started_at),
        });
        let written = || -> std::io::Result<()> {
            let mut file =
                std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
            file.write_all(body.to_string().as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&fresh, &path)
        };
        written().with_context(|| format!("{} cannot be written", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for ServiceFile {
    fn drop(&mut self) {
        // One that is left behind names a process that is gone; clients say so.
        let _ = std::fs::remove_file(&self.0);
    }
}
