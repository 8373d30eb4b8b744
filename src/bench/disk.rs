//! The physical limit: one durable write on the same disk.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// Bytes of one write: about the size of one admission's rows.
const WRITE: [u8; 1024] = [b'x'; 1024];

/// A file that is only ever appended to.
#[derive(Debug)]
pub(super) struct Disk(File);

impl Disk {
    pub(super) fn new(dir: &Path) -> io::Result<Self> {
        File::options().create(true).append(true).open(dir.join("append")).map(Self)
    }

    /// Appends one kilobyte, makes it durable, and says how long that took.
    pub(super) fn write(&mut self) -> io::Result<Duration> {
        let begun = Instant::now();
        self.0.write_all(&WRITE)?;
        self.0.sync_data()?;
        Ok(begun.elapsed())
    }
}
