//! Time, identities and secrets of a simulated process.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use clankie_actors::ports::{Clock, Ids, Vault, VaultError};
use clankie_domain::answer::Sealed;
use clankie_domain::ids::RequestId;
use clankie_domain::time::Timestamp;
use uuid::Uuid;

use super::dice::{Dice, digest};
use super::history::What;
use super::scene::{Scene, lock};

/// The wall clock. It can break under whoever asks next, as any code may.
#[derive(Debug)]
pub(super) struct SimClock {
    scene: Arc<Scene>,
    breaks: Arc<AtomicU32>,
}

impl SimClock {
    pub(super) fn new(scene: Arc<Scene>, breaks: Arc<AtomicU32>) -> Self {
        Self { scene, breaks }
    }
}

impl Clock for SimClock {
    fn now(&self) -> Timestamp {
        let one = |left: u32| left.checked_sub(1);
        if self.breaks.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one) == Ok(1) {
            self.scene.note(What::Breaks);
            // As a panic does, without its words on standard error.
            std::panic::resume_unwind(Box::new("the clock breaks"));
        }
        self.scene.wall()
    }
}

/// UUIDv7 in the order they are asked for within one process; the next one begins with its clock.
#[derive(Debug)]
pub(super) struct SimIds {
    scene: Arc<Scene>,
    state: Mutex<(u64, u64, Dice)>,
}

impl SimIds {
    pub(super) fn new(scene: Arc<Scene>, dice: Dice) -> Self {
        Self { scene, state: Mutex::new((0, 0, dice)) }
    }
}

impl Ids for SimIds {
    fn uuid(&self) -> Uuid {
        let now = u64::try_from(self.scene.wall().0).unwrap_or_default();
        let mut state = lock(&self.state);
        if now > state.0 {
            (state.0, state.1) = (now, 0);
        } else {
            state.1 += 1;
        }
        // 48 bits of time, 12 that count, 62 of chance.
        let (time, count) = (state.0 + state.1 / 0x1000, state.1 % 0x1000);
        let chance = state.2.bits() >> 2;
        Uuid::from_u64_pair((time << 16) | 0x7000 | count, 0x8000_0000_0000_0000 | chance)
    }
}

/// Keys that outlive a process, as files do. Words are sealed by a mask of the key.
#[derive(Debug, Default)]
pub(super) struct SimVault {
    words: Mutex<BTreeMap<RequestId, u64>>,
    compared: Mutex<BTreeSet<RequestId>>,
}

impl SimVault {
    fn masked(key: u64, words: &[u8]) -> Vec<u8> {
        let mut dice = Dice::of(key, "mask");
        words.iter().map(|byte| byte ^ (dice.bits() & 0xff) as u8).collect()
    }

    fn keyed(request: RequestId, words: &str) -> [u8; 32] {
        let mut out = [0; 32];
        let keyed = [request.0.as_bytes(), words.as_bytes()].concat();
        out[..8].copy_from_slice(&digest(&keyed).to_be_bytes());
        out
    }
}

impl Vault for SimVault {
    fn seal(&self, request: RequestId, words: &str) -> Result<Sealed, VaultError> {
        let key = digest(request.0.as_bytes());
        lock(&self.words).insert(request, key);
        lock(&self.compared).insert(request);
        let ciphertext = Self::masked(key, words.as_bytes());
        Ok(Sealed { nonce: [0; 12], ciphertext, digest: Self::keyed(request, words) })
    }

    fn digest(&self, request: RequestId, words: &str) -> Result<Option<[u8; 32]>, VaultError> {
        Ok(lock(&self.compared).contains(&request).then(|| Self::keyed(request, words)))
    }

    fn open(&self, request: RequestId, sealed: &Sealed) -> Result<String, VaultError> {
        let key = lock(&self.words).get(&request).copied().ok_or_else(|| VaultError("its key is gone".to_owned()))?;
        String::from_utf8(Self::masked(key, &sealed.ciphertext)).map_err(|why| VaultError(why.to_string()))
    }

    fn forget(&self, request: RequestId) {
        lock(&self.words).remove(&request);
    }

    fn forget_digest(&self, request: RequestId) {
        lock(&self.compared).remove(&request);
    }

    fn kept(&self) -> Vec<RequestId> {
        lock(&self.words).keys().copied().collect()
    }

    fn compared(&self) -> Vec<RequestId> {
        lock(&self.compared).iter().copied().collect()
    }
}
