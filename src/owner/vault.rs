//! Where secret answers are kept: each under a key of its own, in a file until it is delivered.
//!
//! The store holds the encrypted words for as long as it keeps the ask, and old pages of it longer;
//! without the key they say nothing. The digest by which a repeated answer is known has a key of its
//! own in another file: short words could be guessed by whoever holds both, so that one does not stay
//! either. Invariant M7. What a model writes in its own words about a secret that it was given cannot
//! be kept back.

use std::fmt;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use clankie_actors::ports::{Vault, VaultError};
use clankie_domain::answer::Sealed;
use clankie_domain::ids::RequestId;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;

/// The directory of the keys, in the state directory.
const DIRECTORY: &str = "secrets";
/// What the file of a key of words ends in, after its ask.
const WORDS: &str = ".key";
/// What the file of a key of a digest ends in, after its ask.
const DIGEST: &str = ".same";
/// Bytes of a key.
const KEY_BYTES: usize = 32;

/// The keys of one state directory.
pub struct FileVault {
    directory: PathBuf,
}

impl fmt::Debug for FileVault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileVault").field("directory", &self.directory).finish_non_exhaustive()
    }
}

impl FileVault {
    /// Opens or makes the keys in that state directory.
    pub fn open(state_dir: &Path) -> Result<Self, VaultError> {
        let directory = state_dir.join(DIRECTORY);
        match DirBuilder::new().mode(0o700).create(&directory) {
            Ok(()) => sync(state_dir)?,
            Err(why) if why.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(why) => return Err(failed(&why)),
        }
        Ok(Self { directory })
    }

    fn remove(&self, request: RequestId, ending: &str) {
        let path = self.directory.join(name(request, ending));
        match std::fs::remove_file(&path) {
            Ok(()) => {
                if let Err(why) = sync(&self.directory) {
                    tracing::warn!(%request, %why, "a key of a delivered secret may come back after a power cut");
                }
            }
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => {}
            Err(why) => tracing::warn!(%request, %why, "a key of a delivered secret was not removed"),
        }
    }

    /// The asks that have a file of that ending.
    fn having(&self, ending: &str) -> Vec<RequestId> {
        let Ok(files) = std::fs::read_dir(&self.directory) else { return Vec::new() };
        let request = |name: &str| uuid::Uuid::try_parse(name.strip_suffix(ending)?).ok().map(RequestId);
        files.flatten().filter_map(|file| request(file.file_name().to_str()?)).collect()
    }
}

impl Vault for FileVault {
    fn seal(&self, request: RequestId, words: &str) -> Result<Sealed, VaultError> {
        let cipher = cipher(&key(&self.directory, &name(request, WORDS))?)?;
        let digest = tag(&key(&self.directory, &name(request, DIGEST))?, words);
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).map_err(|why| VaultError(why.to_string()))?;
        let mut ciphertext = words.as_bytes().to_vec();
        let about = Aad::from(*request.0.as_bytes());
        let sealed = cipher.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), about, &mut ciphertext);
        sealed.map_err(|_| VaultError("the words could not be encrypted".to_owned()))?;
        Ok(Sealed { nonce, ciphertext, digest })
    }

    fn digest(&self, request: RequestId, words: &str) -> Result<Option<[u8; 32]>, VaultError> {
        match read(&self.directory.join(name(request, DIGEST))) {
            Ok(key) => Ok(Some(tag(&key, words))),
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(why) => Err(failed(&why)),
        }
    }

    fn open(&self, request: RequestId, sealed: &Sealed) -> Result<String, VaultError> {
        let bytes = read(&self.directory.join(name(request, WORDS))).map_err(|why| failed(&why))?;
        let cipher = cipher(&bytes)?;
        let mut text = sealed.ciphertext.clone();
        let about = Aad::from(*request.0.as_bytes());
        let opened = cipher.open_in_place(Nonce::assume_unique_for_key(sealed.nonce), about, &mut text);
        let words = opened.map_err(|_| VaultError("its key does not fit".to_owned()))?;
        String::from_utf8(words.to_vec()).map_err(|_| VaultError("it is no text".to_owned()))
    }

    fn forget(&self, request: RequestId) {
        self.remove(request, WORDS);
    }

    fn forget_digest(&self, request: RequestId) {
        self.remove(request, DIGEST);
    }

    fn kept(&self) -> Vec<RequestId> {
        self.having(WORDS)
    }

    fn compared(&self) -> Vec<RequestId> {
        self.having(DIGEST)
    }
}

fn name(request: RequestId, ending: &str) -> String {
    format!("{}{ending}", request.0.simple())
}

fn tag(key: &[u8; KEY_BYTES], words: &str) -> [u8; 32] {
    let mut digest = [0; 32];
    digest.copy_from_slice(hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), words.as_bytes()).as_ref());
    digest
}

fn cipher(key: &[u8; KEY_BYTES]) -> Result<LessSafeKey, VaultError> {
    let key = UnboundKey::new(&CHACHA20_POLY1305, key).map_err(|_| VaultError("a key is damaged".to_owned()))?;
    Ok(LessSafeKey::new(key))
}

/// The key in that file, made and durable if there is none.
fn key(directory: &Path, name: &str) -> Result<[u8; KEY_BYTES], VaultError> {
    let path = directory.join(name);
    match read(&path) {
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => make(directory, name).map_err(|why| failed(&why)),
        known => known.map_err(|why| failed(&why)),
    }
}

fn read(path: &Path) -> std::io::Result<[u8; KEY_BYTES]> {
    let mut bytes = [0; KEY_BYTES];
    let mut file = OpenOptions::new().read(true).custom_flags(NO_FOLLOW).open(path)?;
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Whole or not at all: a key that was cut off by a power cut would lose its answer.
fn make(directory: &Path, name: &str) -> std::io::Result<[u8; KEY_BYTES]> {
    let mut bytes = [0; KEY_BYTES];
    getrandom::fill(&mut bytes).map_err(|why| std::io::Error::other(why.to_string()))?;
    let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(directory)?;
    file.write_all(&bytes)?;
    file.as_file().sync_all()?;
    file.persist(directory.join(name)).map_err(|why| why.error)?;
    File::open(directory)?.sync_all()?;
    Ok(bytes)
}

/// A link in place of a key is not followed.
const NO_FOLLOW: i32 = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();

fn sync(directory: &Path) -> Result<(), VaultError> {
    File::open(directory).and_then(|directory| directory.sync_all()).map_err(|why| failed(&why))
}

fn failed(why: &std::io::Error) -> VaultError {
    VaultError(why.to_string())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn request(n: u128) -> RequestId {
        RequestId(uuid::Uuid::from_u128(n))
    }

    #[test]
    fn m7_sealed_words_can_be_read_only_while_their_key_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let vault = FileVault::open(dir.path()).unwrap();
        let sealed = vault.seal(request(1), "hunter22").unwrap();
        assert!(!sealed.ciphertext.windows(8).any(|window| window == b"hunter22"));
        assert_eq!(vault.open(request(1), &sealed).unwrap(), "hunter22");
        assert!(vault.open(request(2), &sealed).is_err());
        assert_eq!(vault.kept(), [request(1)]);
        vault.forget(request(1));
        assert!(vault.open(request(1), &sealed).is_err());
        assert_eq!(vault.kept(), []);
    }

    #[test]
    fn the_same_words_are_known_again_only_for_their_own_ask_and_only_while_its_key_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let vault = FileVault::open(dir.path()).unwrap();
        let [sealed, other] = [1, 2].map(|n| vault.seal(request(n), "hunter22").unwrap());
        assert_ne!(sealed.digest, other.digest);
        vault.forget(request(1));
        let again = FileVault::open(dir.path()).unwrap();
        assert_eq!(again.digest(request(1), "hunter22").unwrap(), Some(sealed.digest));
        assert_ne!(again.digest(request(1), "hunter23").unwrap(), Some(sealed.digest));
        again.forget_digest(request(1));
        assert_eq!(again.digest(request(1), "hunter22").unwrap(), None);
        assert_eq!((again.compared(), again.kept()), (vec![request(2)], vec![request(2)]));
    }

    /// Whoever takes the whole directory afterwards has nothing left to try guesses with.
    #[test]
    fn m7_nothing_is_left_of_a_secret_that_nobody_gives_again() {
        let dir = tempfile::tempdir().unwrap();
        let vault = FileVault::open(dir.path()).unwrap();
        vault.seal(request(1), "1234").unwrap();
        vault.forget(request(1));
        vault.forget_digest(request(1));
        assert_eq!(std::fs::read_dir(dir.path().join(DIRECTORY)).unwrap().count(), 0);
    }

    #[test]
    fn keys_are_private_files() {
        let dir = tempfile::tempdir().unwrap();
        FileVault::open(dir.path()).unwrap().seal(request(1), "x").unwrap();
        let files: Vec<_> = std::fs::read_dir(dir.path().join(DIRECTORY)).unwrap().collect();
        assert_eq!(files.len(), 2);
        for file in files {
            assert_eq!(file.unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
}
