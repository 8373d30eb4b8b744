//! Files that agents made to go with their replies, kept in the state directory until they are delivered.
//!
//! A file is named by our own ids and never by what an agent called it; nobody but the owner reads
//! it. It belongs to one handoff: a reference in another handoff's reply opens nothing (invariant I8).

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clankie_domain::ids::HandoffId;
use clankie_domain::request::file_name;
use clankie_domain::result::{KeptFile, Media};
use uuid::Uuid;

/// Largest file in bytes: more than any room takes, so that who reads the record still finds it.
pub const FILE_MAX: u64 = 25 * 1024 * 1024;
/// Most files of one handoff: what one chat message carries.
pub const FILES_MAX: u32 = 10;
/// All files together, in bytes: as much as all transcripts together.
const TOGETHER_MAX: u64 = 256 * 1024 * 1024;
/// Their folder in the state directory.
const FOLDER: &str = "files";
/// How an address begins that names a kept file.
const SCHEME: &str = "kept:";
const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// The kept files. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Files(Arc<Path>);

/// A file as an agent hands it over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// What the agent calls it.
    pub name: String,
    /// What it is.
    pub mime_type: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// Why a file is not kept.
#[derive(Debug, thiserror::Error)]
pub enum NotKept {
    /// It is too large.
    #[error("a file may have at most {FILE_MAX} bytes")]
    TooLarge,
    /// Its handoff has enough of them.
    #[error("a reply may have at most {FILES_MAX} files")]
    TooMany,
    /// All files together are too large.
    #[error("too many files wait to be delivered")]
    Full,
    /// The disk said no.
    #[error("the file could not be written: {0}")]
    Disk(#[from] io::Error),
}

impl Files {
    /// The files of this state directory. Their folder is made with the first one.
    pub fn of(state_dir: &Path) -> Self {
        Self(state_dir.join(FOLDER).into())
    }

    /// Keeps a file of this handoff, durably, and gives the reference for its reply.
    pub async fn keep(&self, handoff: HandoffId, made: Made) -> Result<Media, NotKept> {
        let files = self.clone();
        let kept = tokio::task::spawn_blocking(move || files.write(handoff, made)).await;
        kept.unwrap_or_else(|_| Err(NotKept::Disk(io::Error::other("the writer died"))))
    }

    /// What is in a file of this handoff; `None` when it is another's, or not there any more.
    pub async fn read(&self, handoff: HandoffId, media: &Media) -> Option<Vec<u8>> {
        let (owner, number) = parse(&media.url)?;
        let size = media.file.as_ref()?.size;
        if owner != handoff || size > FILE_MAX {
            return None;
        }
        let bytes = tokio::fs::read(self.path(owner, number)).await.ok()?;
        (u64::try_from(bytes.len()).ok() == Some(size)).then_some(bytes)
    }

    /// What is in the file of that number, if a reply of this handoff names it.
    pub async fn numbered(&self, handoff: HandoffId, media: &[Media], number: u32) -> Option<Vec<u8>> {
        let named = media.iter().find(|media| parse(&media.url) == Some((handoff, number)))?;
        self.read(handoff, named).await
    }

    /// Deletes the files of a handoff.
    pub async fn forget(&self, handoff: HandoffId) {
        for number in 0..FILES_MAX {
            // Most numbers were never used; one that stays is swept later.
            let _ = tokio::fs::remove_file(self.path(handoff, number)).await;
        }
    }

    /// Deletes every file whose handoff does not stay.
    pub fn sweep(&self, stays: impl Fn(HandoffId) -> bool) -> io::Result<()> {
        for (path, _) in self.list()? {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let owner = name.split_once('-').and_then(|(owner, _)| Uuid::try_parse(owner).ok());
            // What is no file of ours is left alone.
            if owner.is_some_and(|owner| !stays(HandoffId(owner))) {
                fs::remove_file(&path)?;
            }
        }
        Ok(())
    }

    fn write(&self, handoff: HandoffId, made: Made) -> Result<Media, NotKept> {
        let size = u64::try_from(made.bytes.len()).unwrap_or(u64::MAX);
        if size > FILE_MAX {
            return Err(NotKept::TooLarge);
        }
        DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(&self.0)?;
        let together: u64 = self.list()?.iter().map(|(_, size)| size).sum();
        if together + size > TOGETHER_MAX {
            return Err(NotKept::Full);
        }
        for number in 0..FILES_MAX {
            let opened =
                OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(self.path(handoff, number));
            let mut file = match opened {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error.into()),
            };
            file.write_all(&made.bytes)?;
            file.sync_all()?;
            let kept = KeptFile { name: file_name(&made.name), size };
            let url = format!("{SCHEME}{handoff}/{number}");
            return Ok(Media { url, mime_type: made.mime_type, file: Some(kept) });
        }
        Err(NotKept::TooMany)
    }

    fn list(&self) -> io::Result<Vec<(PathBuf, u64)>> {
        let entries = match fs::read_dir(&self.0) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry?;
            // One that was delivered meanwhile is no fault.
            if let Ok(about) = entry.metadata() {
                found.push((entry.path(), about.len()));
            }
        }
        Ok(found)
    }

    fn path(&self, handoff: HandoffId, number: u32) -> PathBuf {
        self.0.join(format!("{}-{number}", handoff.0.simple()))
    }
}

fn parse(url: &str) -> Option<(HandoffId, u32)> {
    let (owner, number) = url.strip_prefix(SCHEME)?.split_once('/')?;
    let number = number.parse().ok().filter(|number| *number < FILES_MAX)?;
    Some((HandoffId(Uuid::try_parse(owner).ok()?), number))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn made(name: &str, size: usize) -> Made {
        Made { name: name.into(), mime_type: "text/plain".into(), bytes: vec![7; size] }
    }

    #[tokio::test]
    async fn i8_a_file_is_named_by_us_and_opened_for_its_own_handoff_only() {
        let dir = tempfile::tempdir().unwrap();
        let files = Files::of(dir.path());
        let (one, other) = (HandoffId(Uuid::from_u128(1)), HandoffId(Uuid::from_u128(2)));
        let media = files.keep(one, made("../../etc/passwd", 3)).await.unwrap();
        assert_eq!(media.file, Some(KeptFile { name: "passwd".into(), size: 3 }));
        let path = dir.path().join("files/00000000000000000000000000000001-0");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(files.read(one, &media).await, Some(vec![7; 3]));
        assert_eq!(files.read(other, &media).await, None);
        assert_eq!(files.numbered(one, std::slice::from_ref(&media), 0).await, Some(vec![7; 3]));
        assert_eq!(files.numbered(one, &[], 0).await, None);
        assert_eq!(files.numbered(other, std::slice::from_ref(&media), 0).await, None);
        let forged = Media { url: format!("kept:{one}/../0"), ..media.clone() };
        assert_eq!(files.read(one, &forged).await, None);
        files.sweep(|id| id == other).unwrap();
        assert_eq!((files.read(one, &media).await, path.exists()), (None, false));
    }

    #[tokio::test]
    async fn every_bound_refuses_with_its_own_reason() {
        let dir = tempfile::tempdir().unwrap();
        let (files, one) = (Files::of(dir.path()), HandoffId(Uuid::from_u128(1)));
        let large = files.keep(one, made("a", usize::try_from(FILE_MAX).unwrap() + 1)).await;
        assert!(matches!(large, Err(NotKept::TooLarge)), "{large:?}");
        for _ in 0..FILES_MAX {
            files.keep(one, made("a", 1)).await.unwrap();
        }
        assert!(matches!(files.keep(one, made("a", 1)).await, Err(NotKept::TooMany)));
        files.forget(one).await;
        assert!(files.keep(one, made("a", 1)).await.is_ok());
    }
}
