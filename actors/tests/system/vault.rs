//! Keys in memory: words are sealed by a mask, and are lost with their key.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use clankie_actors::ports::{Vault, VaultError};
use clankie_domain::answer::Sealed;
use clankie_domain::ids::RequestId;

/// The keys of the words, and those of the digests.
#[derive(Debug, Default)]
pub(crate) struct Keys(Mutex<BTreeMap<RequestId, u8>>, Mutex<BTreeSet<RequestId>>);

impl Vault for Keys {
    fn seal(&self, request: RequestId, words: &str) -> Result<Sealed, VaultError> {
        let key = *self.0.lock().unwrap().entry(request).or_insert(0x55);
        let ciphertext = words.bytes().map(|byte| byte ^ key).collect();
        self.1.lock().unwrap().insert(request);
        let digest = self.digest(request, words)?.expect("a key that was just made");
        Ok(Sealed { nonce: [0; 12], ciphertext, digest })
    }

    fn digest(&self, request: RequestId, words: &str) -> Result<Option<[u8; 32]>, VaultError> {
        if !self.1.lock().unwrap().contains(&request) {
            return Ok(None);
        }
        let mut digest = [0; 32];
        for (at, byte) in words.bytes().enumerate() {
            digest[at % 32] ^= byte.wrapping_add(u8::try_from(at % 251).unwrap());
        }
        Ok(Some(digest))
    }

    fn open(&self, request: RequestId, sealed: &Sealed) -> Result<String, VaultError> {
        let keys = self.0.lock().unwrap();
        let key = keys.get(&request).ok_or_else(|| VaultError("its key is gone".to_owned()))?;
        Ok(String::from_utf8(sealed.ciphertext.iter().map(|byte| byte ^ key).collect()).unwrap())
    }

    fn forget(&self, request: RequestId) {
        self.0.lock().unwrap().remove(&request);
    }

    fn kept(&self) -> Vec<RequestId> {
        self.0.lock().unwrap().keys().copied().collect()
    }

    fn forget_digest(&self, request: RequestId) {
        self.1.lock().unwrap().remove(&request);
    }

    fn compared(&self) -> Vec<RequestId> {
        self.1.lock().unwrap().iter().copied().collect()
    }
}
