//! The state directory: who may look into it, and the lock that lets one service at a time use it.
//!
//! The directory is 0700 and its files 0600, none of them a link, so nobody else can read what
//! rooms said or put another file in its place between a check and a use.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use super::error::OpenError;

/// The lock file's name.
const LOCK: &str = "clankie.lock";
/// The database's name.
pub(super) const DATABASE: &str = "clankie.redb";
/// Its name while it is being made.
const UNFINISHED: &str = "clankie.redb.new";
/// What others may do: nothing.
const OTHERS: u32 = 0o077;
/// Longest note that is read out of a lock file: a pid and a URL.
const NOTE_MAX: u64 = 4_096;

/// The lock that is held while the store is open. Dropping it lets the next service in.
#[derive(Debug)]
pub(super) struct Lock(File);

/// Makes the directory if it is missing, and refuses one that others can look into.
pub(super) fn secure(dir: &Path) -> Result<(), OpenError> {
    let io = |why| OpenError::Io { path: dir.to_owned(), why };
    if dir.symlink_metadata().is_err() {
        DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(io)?;
    }
    let found = dir.symlink_metadata().map_err(io)?;
    let refuse = |problem: String, hint: String| OpenError::Permissions { path: dir.to_owned(), problem, hint };
    if found.is_symlink() {
        return Err(refuse("is a link".to_owned(), "name the directory that it points to".to_owned()));
    }
    if !found.is_dir() {
        return Err(refuse("is no directory".to_owned(), "use another --state-dir".to_owned()));
    }
    if found.mode() & OTHERS != 0 {
        let hint = format!("`chmod 700 {}` first", dir.display());
        return Err(refuse(format!("has mode {:o}, so others can use it", found.mode() & 0o777), hint));
    }
    Ok(())
}

/// Makes the database, if there is none, under another name, and gives it its own when it is whole:
/// a power cut while redb lays out a file leaves one that it does not open.
pub(super) fn make_once(dir: &Path, make: impl FnOnce(File, &Path) -> Result<(), OpenError>) -> Result<(), OpenError> {
    let (path, unfinished) = (dir.join(DATABASE), dir.join(UNFINISHED));
    if path.symlink_metadata().is_ok_and(|found| !found.is_file() || found.len() > 0) {
        return Ok(());
    }
    let io = |why| OpenError::Io { path: unfinished.clone(), why };
    match std::fs::remove_file(&unfinished) {
        Ok(()) => {}
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => {}
        Err(why) => return Err(io(why)),
    }
    make(private_file(&unfinished)?, &unfinished)?;
    std::fs::rename(&unfinished, &path).map_err(io)?;
    // The new name has to outlive a power cut as well, else the store would begin anew.
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(io)
}

/// Opens or makes a private file. A file that was swapped for a link after the check is refused.
pub(super) fn private_file(path: &Path) -> Result<File, OpenError> {
    let io = |why| OpenError::Io { path: path.to_owned(), why };
    let refuse = |problem: String, hint: String| OpenError::Permissions { path: path.to_owned(), problem, hint };
    let before = path.symlink_metadata();
    if before.as_ref().is_ok_and(|found| !found.is_file()) {
        let hint = "put a plain file there or move it away".to_owned();
        return Err(refuse("is no plain file".to_owned(), hint));
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    let file = match &before {
        Ok(_) => options.open(path),
        Err(_) => options.create_new(true).open(path),
    };
    let file = file.map_err(io)?;
    let found = file.metadata().map_err(io)?;
    if before.is_ok_and(|before| (before.dev(), before.ino()) != (found.dev(), found.ino())) {
        return Err(refuse("was replaced while it was opened".to_owned(), "look who else uses it".to_owned()));
    }
    if found.mode() & OTHERS != 0 {
        let hint = format!("`chmod 600 {}` first", path.display());
        return Err(refuse(format!("has mode {:o}, so others can use it", found.mode() & 0o777), hint));
    }
    Ok(file)
}

impl Lock {
    /// Takes the lock, or names who holds it.
    pub(super) fn take(dir: &Path) -> Result<Self, OpenError> {
        let path = dir.join(LOCK);
        let mut file = private_file(&path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => return Err(holder(&mut file)),
            Err(std::fs::TryLockError::Error(why)) => return Err(OpenError::Io { path, why }),
        }
        let lock = Self(file);
        lock.note("").map_err(|why| OpenError::Io { path, why })?;
        Ok(lock)
    }

    /// Writes down which process this is and where it listens.
    pub(super) fn note(&self, url: &str) -> std::io::Result<()> {
        let mut file = &self.0;
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        writeln!(file, "{} {url}", std::process::id())
    }
}

fn holder(file: &mut File) -> OpenError {
    let mut note = String::new();
    if file.take(NOTE_MAX).read_to_string(&mut note).is_err() {
        note.clear();
    }
    let mut words = note.split_whitespace();
    let pid = words.next().and_then(|word| word.parse().ok());
    OpenError::AlreadyRunning { pid, url: words.next().map(str::to_owned) }
}
