//! Which directory may be the workspace: one that shares nothing with what steers the service.
//!
//! An agent that could write the configuration would give itself what it likes; one that could read
//! the state could take the operator's token.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use super::beneath::Beneath;

/// A place that no workspace may reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guarded {
    /// What it is, as a refusal names it.
    pub what: &'static str,
    /// Where it is, or would be.
    pub path: PathBuf,
}

/// Why the workspace cannot be used. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// Nothing, or no directory, is there.
    #[error("workspace.dir {} cannot be opened as a directory: {why}; make it, or name another one", dir.display())]
    Unusable {
        /// The directory as configured.
        dir: PathBuf,
        /// What the system said.
        why: io::Error,
    },
    /// It shares files with something that steers the service.
    #[error("workspace.dir {} and {what} {} share files; name a directory that has nothing to do with it", dir.display(), path.display())]
    Overlaps {
        /// The directory, in full.
        dir: PathBuf,
        /// What it shares files with.
        what: &'static str,
        /// Where that is.
        path: PathBuf,
    },
    /// The kernel cannot hold a path beneath a directory.
    #[error("workspace.dir needs the system call openat2 (Linux 5.6 or newer), and this system refuses it: {why}")]
    NoOpenat2 {
        /// What the system said.
        why: io::Error,
    },
}

/// Opens the directory, if it may be the workspace.
pub(super) fn open(dir: &Path, guarded: &[Guarded]) -> Result<Beneath, WorkspaceError> {
    let unusable = |why| WorkspaceError::Unusable { dir: dir.to_owned(), why };
    let whole = dir.canonicalize().map_err(unusable)?;
    for Guarded { what, path } in guarded {
        let names = [named(path), followed(path)];
        if names.iter().any(|place| place.starts_with(&whole) || whole.starts_with(place)) {
            return Err(WorkspaceError::Overlaps { dir: whole, what, path: path.clone() });
        }
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::open(&whole, flags, Mode::empty()).map_err(|why| unusable(why.into()))?;
    Beneath::new(opened).map_err(|why| WorkspaceError::NoOpenat2 { why: why.into() })
}

/// Where a name stands: links on the way to it are followed, the name itself is not.
fn named(path: &Path) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => followed(folder).join(name),
        (Some(_) | None, Some(_) | None) => followed(path),
    }
}

/// Where a path leads; what does not exist yet is put behind the last folder that does.
fn followed(path: &Path) -> PathBuf {
    let mut rest: Vec<OsString> = Vec::new();
    let mut there = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    loop {
        if let Ok(whole) = there.canonicalize() {
            return rest.iter().rev().fold(whole, |whole, name| whole.join(name));
        }
        match there.file_name().map(OsString::from) {
            Some(name) => rest.push(name),
            // A `..` behind a folder that is not there takes that folder's name back.
            None => {
                there.pop();
            }
        }
        if !there.pop() {
            return path.to_owned();
        }
    }
}
