//! `operator.token`: the credential that the first start leaves for its owner, readable by nobody else.
//!
//! The file appears whole or not at all, and it is never written through a link. A file that
//! others could read or swap is refused with what to do, and never quietly repaired: whoever
//! could read it may hold a copy.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use clankie_actors::{Clankie, Failure};
use clankie_domain::ids::{LaneName, Malformed};
use clankie_domain::principal::{TokenKind, TokenRefused};
use rustix::fs::OFlags;

use crate::http::bearer::{Credential, Secret};

/// The file's name in the state directory.
const FILE: &str = "operator.token";
/// The name of the one token that is kept in a file.
const NAME: &str = "operator-file";
/// Its mode: the owner reads and writes, nobody else does anything.
const MODE: u32 = 0o600;
/// A token is about 100 bytes; whatever is longer is none.
const READ_MAX: u64 = 512;

/// What became of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// It was made, with a fresh token; tokens of earlier such files were revoked.
    Made(PathBuf),
    /// It is there and its token stands.
    Stands(PathBuf),
    /// It is there and its token was revoked, has expired or belongs to another store.
    Stale(PathBuf),
}

/// Why there is no usable file.
#[derive(Debug, thiserror::Error)]
pub enum TokenFileError {
    /// Others may read it, it is no plain file, or it belongs to another user.
    #[error(
        "{path} {fault}; if nobody else can have read it, {advice}, otherwise delete it and start again: a new token is made and the old one revoked"
    )]
    Unsafe {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        fault: &'static str,
        /// What repairs it.
        advice: &'static str,
    },
    /// It holds no operator token.
    #[error("{0} holds no operator token; delete it and start again to have one made")]
    NoToken(PathBuf),
    /// The disk said no.
    #[error("{path}: {why}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        why: io::Error,
    },
    /// The actors did not make or read the token.
    #[error(transparent)]
    Actors(#[from] Failure),
    /// The token was refused.
    #[error("no operator token was made: {0}")]
    Refused(#[from] TokenRefused),
    /// The system gave no randomness.
    #[error("no operator token was made: {0}")]
    Randomness(getrandom::Error),
    /// The token's fixed name is no name.
    #[error(transparent)]
    Name(#[from] Malformed),
}

/// Refuses a file that must not be used, before anything is started that would have to be broken off.
pub fn check_before_start(state_dir: &Path) -> Result<(), TokenFileError> {
    let path = state_dir.join(FILE);
    match read(&path)? {
        Some(text) if operator(&text).is_none() => Err(TokenFileError::NoToken(path)),
        Some(_) | None => Ok(()),
    }
}

/// Makes the file if it is missing, else checks it.
pub async fn keep(clankie: &Clankie, state_dir: &Path) -> Result<Kept, TokenFileError> {
    let path = state_dir.join(FILE);
    let Some(text) = read(&path)? else {
        let credential = mint(clankie).await?;
        write(&path, &credential.expose())?;
        return Ok(Kept::Made(path));
    };
    let Some(credential) = operator(&text) else { return Err(TokenFileError::NoToken(path)) };
    let token = clankie.authenticate(credential.id, credential.secret.expose())?;
    Ok(if token.is_some() { Kept::Stands(path) } else { Kept::Stale(path) })
}

/// Writes a rotated token into the file, when the file is where that token is kept.
pub fn replace(state_dir: &Path, rotated: &Credential) -> Result<(), TokenFileError> {
    let path = state_dir.join(FILE);
    let kept = read(&path)?.as_deref().and_then(operator);
    match kept {
        Some(kept) if kept.id == rotated.id => write(&path, &rotated.expose()),
        Some(_) | None => Ok(()),
    }
}

fn operator(text: &str) -> Option<Credential> {
    Credential::parse(text.trim_end()).filter(|credential| credential.kind == TokenKind::Operator)
}

/// A fresh operator token in the place of one whose file is gone.
async fn mint(clankie: &Clankie) -> Result<Credential, TokenFileError> {
    let name = LaneName::parse(NAME)?;
    for token in clankie.tokens()? {
        if token.kind == TokenKind::Operator && token.name == name && token.revoked_at.is_none() {
            clankie.revoke_token(token.id).await?;
        }
    }
    let secret = Secret::fresh().map_err(TokenFileError::Randomness)?;
    let token = clankie.create_token(TokenKind::Operator, name, secret.expose(), None).await??;
    Ok(Credential { kind: token.kind, id: token.id, secret })
}

/// The file's text; `None` when there is no file.
fn read(path: &Path) -> Result<Option<String>, TokenFileError> {
    let io_error = |why| TokenFileError::Io { path: path.to_owned(), why };
    match fs::symlink_metadata(path) {
        // A state directory that is none is the store's to refuse.
        Err(missing) if matches!(missing.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(other) => return Err(io_error(other)),
        Ok(found) => check(path, &found)?,
    }
    let file = open(path).map_err(io_error)?;
    // What was opened is checked again: the name may mean another file by now.
    check(path, &file.metadata().map_err(io_error)?)?;
    let mut text = String::new();
    file.take(READ_MAX).read_to_string(&mut text).map_err(io_error)?;
    Ok(Some(text))
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(flags(OFlags::NOFOLLOW | OFlags::NONBLOCK)).open(path)
}

fn flags(flags: OFlags) -> i32 {
    flags.bits().cast_signed()
}

fn check(path: &Path, found: &fs::Metadata) -> Result<(), TokenFileError> {
    let refuse = |fault, advice| Err(TokenFileError::Unsafe { path: path.to_owned(), fault, advice });
    if !found.file_type().is_file() {
        return refuse("is no plain file", "put the token into a plain file of mode 0600");
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        return refuse("belongs to another user", "chown it to the user that runs clankie");
    }
    if found.mode() & 0o077 != 0 {
        return refuse("may be read or written by others", "chmod it to 0600");
    }
    Ok(())
}

fn write(path: &Path, token: &str) -> Result<(), TokenFileError> {
    put(path, token).map_err(|why| TokenFileError::Io { path: path.to_owned(), why })
}

fn put(path: &Path, token: &str) -> io::Result<()> {
    let temporary = path.with_extension("token.new");
    match fs::remove_file(&temporary) {
        Err(other) if other.kind() != io::ErrorKind::NotFound => return Err(other),
        Ok(()) | Err(_) => {}
    }
    let no_follow = flags(OFlags::NOFOLLOW);
    let mut file =
        OpenOptions::new().write(true).create_new(true).mode(MODE).custom_flags(no_follow).open(&temporary)?;
    writeln!(file, "{token}")?;
    file.sync_all()?;
    fs::rename(&temporary, path)?;
    let directory = path.parent().unwrap_or(Path::new("."));
    File::open(directory)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn place() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(FILE);
        (dir, path)
    }

    fn fault(path: &Path) -> &'static str {
        match read(path) {
            Err(TokenFileError::Unsafe { fault, .. }) => fault,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_token_is_written_for_its_owner_alone_and_reads_back() {
        let (_dir, path) = place();
        assert!(read(&path).unwrap().is_none());
        fs::write(path.with_extension("token.new"), "left over").unwrap();
        write(&path, "clk_x").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(read(&path).unwrap().as_deref(), Some("clk_x\n"));
        assert!(!path.with_extension("token.new").exists());
    }

    #[test]
    fn a_file_that_others_may_read_is_refused_and_left_alone() {
        for mode in [0o640, 0o604, 0o620, 0o666, 0o777] {
            let (_dir, path) = place();
            write(&path, "clk_x").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(fault(&path), "may be read or written by others");
            assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, mode);
        }
    }

    #[test]
    fn a_link_is_neither_read_nor_written_through() {
        let (dir, path) = place();
        let target = dir.path().join("elsewhere");
        write(&target, "clk_x").unwrap();
        symlink(&target, &path).unwrap();
        assert_eq!(fault(&path), "is no plain file");
        let (dir, path) = place();
        let target = dir.path().join("elsewhere");
        symlink(&target, path.with_extension("token.new")).unwrap();
        write(&path, "clk_x").unwrap();
        assert!(!target.exists() && read(&path).unwrap().is_some());
    }

    #[test]
    fn a_directory_in_its_place_is_refused() {
        let (_dir, path) = place();
        fs::create_dir(&path).unwrap();
        assert_eq!(fault(&path), "is no plain file");
    }
}
