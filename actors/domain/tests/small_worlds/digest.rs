//! 128-bit digests of states, so that a walk remembers millions of them in little memory.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// Two independent multiply-and-fold lanes. Unlike the standard hasher it is fast on short fields.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Digest(u64, u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344)
    }
}

fn fold(a: u64, b: u64) -> u64 {
    let wide = u128::from(a) * u128::from(b);
    (wide as u64) ^ ((wide >> 64) as u64)
}

impl Digest {
    /// The digest of `value`.
    pub(crate) fn of(value: &impl Hash) -> u128 {
        let mut digest = Self::default();
        value.hash(&mut digest);
        digest.both()
    }

    fn both(self) -> u128 {
        let a = fold(self.0 ^ 0xa076_1d64_78bd_642f, 0xe703_7ed1_a0b4_28db);
        let b = fold(self.1 ^ 0x8ebc_6af0_9c88_c6e3, 0x5899_65cc_7537_4cc3);
        (u128::from(a) << 64) | u128::from(b)
    }

    fn word(&mut self, word: u64) {
        self.0 = fold(self.0 ^ word, 0x9e37_79b9_7f4a_7c15);
        self.1 = fold(self.1.rotate_left(23) ^ word, 0xd6e8_feb8_6659_fd93);
    }
}

impl Hasher for Digest {
    fn finish(&self) -> u64 {
        self.both() as u64
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word) ^ ((chunk.len() as u64) << 56));
        }
    }

    fn write_u8(&mut self, n: u8) {
        self.word(u64::from(n));
    }

    fn write_u32(&mut self, n: u32) {
        self.word(u64::from(n));
    }

    fn write_u64(&mut self, n: u64) {
        self.word(n);
    }

    fn write_usize(&mut self, n: usize) {
        self.word(n as u64);
    }

    fn write_u128(&mut self, n: u128) {
        self.word(n as u64);
        self.word((n >> 64) as u64);
    }
}

/// Takes the digests themselves as hashes.
#[derive(Debug, Default)]
pub(crate) struct Plain(u64);

impl Hasher for Plain {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _bytes: &[u8]) {}

    fn write_u128(&mut self, n: u128) {
        self.0 = n as u64;
    }
}

/// The states that were seen.
pub(crate) type Seen = HashSet<u128, BuildHasherDefault<Plain>>;

/// A shared part of a state with its digest, which is computed once per change and not per state.
#[derive(Debug)]
pub(crate) struct Part<T> {
    value: Arc<T>,
    digest: u128,
}

impl<T: Hash> Part<T> {
    pub(crate) fn new(value: T) -> Self {
        let digest = Digest::of(&value);
        Self { value: Arc::new(value), digest }
    }
}

impl<T> Clone for Part<T> {
    fn clone(&self) -> Self {
        Self { value: Arc::clone(&self.value), digest: self.digest }
    }
}

impl<T> Deref for Part<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> Hash for Part<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u128(self.digest);
    }
}
