//! Files beneath one open directory. Every path is resolved by the kernel, beneath that directory
//! and through no link; there is no second way for kernels that cannot.
//!
//! A folder is opened first and a name acted on in it, so that nothing which is swapped in between
//! leads elsewhere. What is no plain file is never read, replaced or deleted, and never waited for.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, ResolveFlags, Stat};
use rustix::io::Errno;
use serde_json::{Value, json};
use uuid::Uuid;

use super::arguments::{Inside, Replacing, Writing};
use super::refusal::Refusal;
use super::{FILE_MAX, LISTED_MAX};

/// How a path is resolved.
const RESOLVE: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);
/// A file is the service's own user's alone.
const MODE: Mode = Mode::RUSR.union(Mode::WUSR);
/// How a folder is opened.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// How a file is opened: a pipe that nobody writes to must not be waited for, nor a terminal owned.
const FILE: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
/// How a fresh file is made: never over something that stands there.
const FRESH: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// An open directory.
#[derive(Debug)]
pub(super) struct Beneath(OwnedFd);

/// A file under a name of its own that is gone unless it was put in its place.
struct Draft<'a> {
    folder: &'a OwnedFd,
    name: String,
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        // One that was put in its place has this name no more; one that stays is only litter.
        let _ = rustix::fs::unlinkat(self.folder, self.name.as_str(), AtFlags::empty());
    }
}

impl Beneath {
    /// Beneath this directory; refused where the kernel cannot hold a path beneath it.
    pub(super) fn new(dir: OwnedFd) -> Result<Self, Errno> {
        rustix::fs::openat2(&dir, ".", FOLDER, Mode::empty(), RESOLVE)?;
        Ok(Self(dir))
    }

    /// The names in a folder, sorted, and whether there are more than are told.
    pub(super) fn list(&self, path: &str) -> Result<Value, Refusal> {
        let folder = self.folder(path)?;
        let mut entries = Vec::new();
        let mut more = false;
        for entry in Dir::read_from(&folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            if entries.len() == LISTED_MAX {
                more = true;
                break;
            }
            // What went away meanwhile is not there.
            if let Ok(found) = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                entries.push((name.to_string_lossy().into_owned(), found));
            }
        }
        entries.sort_by(|(left, _), (right, _)| left.cmp(right));
        let shown: Vec<Value> = entries.iter().map(|(name, found)| entry(name, found)).collect();
        Ok(json!({ "entries": shown, "more": more }))
    }

    /// The text of a file.
    pub(super) fn read(&self, at: &Inside) -> Result<String, Refusal> {
        let file = self.open(at.path().as_str(), FILE)?;
        plain(&rustix::fs::fstat(&file)?)?;
        let mut bytes = Vec::new();
        // One byte more tells a file that is too long, whatever its size was said to be.
        File::from(file).take(FILE_MAX as u64 + 1).read_to_end(&mut bytes)?;
        if bytes.len() > FILE_MAX {
            return Err(Refusal::TooLarge);
        }
        match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => Ok(text),
            Ok(_) | Err(_) => Err(Refusal::NotText),
        }
    }

    /// Writes a whole file or nothing.
    pub(super) fn write(&self, write: &Writing) -> Result<(), Refusal> {
        let (folder, name) = (self.folder(&write.at.folder)?, write.at.name.as_str());
        let how = match write.replacing {
            Replacing::Refused => RenameFlags::NOREPLACE,
            Replacing::Allowed => {
                match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(found) => plain(&found)?,
                    Err(Errno::NOENT) => {}
                    Err(other) => return Err(other.into()),
                }
                RenameFlags::empty()
            }
        };
        let draft = draft(&folder, write.text.as_bytes())?;
        rustix::fs::renameat_with(&folder, draft.name.as_str(), &folder, name, how)?;
        Ok(rustix::fs::fsync(&folder)?)
    }

    /// Deletes a file.
    pub(super) fn delete(&self, at: &Inside) -> Result<(), Refusal> {
        let (folder, name) = (self.folder(&at.folder)?, at.name.as_str());
        plain(&rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?)?;
        rustix::fs::unlinkat(&folder, name, AtFlags::empty())?;
        Ok(rustix::fs::fsync(&folder)?)
    }

    fn folder(&self, path: &str) -> Result<OwnedFd, Refusal> {
        self.open(path, FOLDER)
    }

    fn open(&self, path: &str, how: OFlags) -> Result<OwnedFd, Refusal> {
        Ok(rustix::fs::openat2(self.0.as_fd(), path, how, Mode::empty(), RESOLVE)?)
    }
}

/// The bytes under a name of their own, on the disk.
fn draft<'a>(folder: &'a OwnedFd, bytes: &[u8]) -> Result<Draft<'a>, Refusal> {
    let name = format!(".clankie-{}.tmp", Uuid::new_v4().simple());
    let file = rustix::fs::openat(folder, name.as_str(), FRESH, MODE)?;
    let draft = Draft { folder, name };
    let mut file = File::from(file);
    file.write_all(bytes)?;
    file.sync_all()?;
    Ok(draft)
}

fn plain(found: &Stat) -> Result<(), Refusal> {
    match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => Ok(()),
        FileType::Symlink => Err(Refusal::Outside),
        FileType::Directory
        | FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => Err(Refusal::NotAFile),
    }
}

fn entry(name: &str, found: &Stat) -> Value {
    match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => json!({ "name": name, "kind": "file", "bytes": found.st_size }),
        FileType::Directory => json!({ "name": name, "kind": "folder" }),
        FileType::Symlink
        | FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => json!({ "name": name, "kind": "other" }),
    }
}
