//! Chance with a seed: the same seed gives the same throws on every machine.

/// One stream of throws. Streams of different names are independent of each other, so that a world
/// in which one thing is thrown once more is not another world in everything else.
#[derive(Debug, Clone)]
pub(super) struct Dice(u64);

impl Dice {
    /// The stream of that name.
    pub(super) fn of(seed: u64, name: &str) -> Self {
        Self(seed ^ digest(name.as_bytes()))
    }

    /// The next 64 bits (SplitMix64).
    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Less than `most`; zero when that is zero.
    pub(super) fn below(&mut self, most: u64) -> u64 {
        self.bits() % most.max(1)
    }

    /// From `least` to `most`, both included.
    pub(super) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most.saturating_sub(least) + 1)
    }

    /// True in so many of a hundred throws.
    pub(super) fn percent(&mut self, of: u64) -> bool {
        self.below(100) < of
    }

    /// A span in milliseconds that is even: odd moments are for looking at a world at rest.
    pub(super) fn span(&mut self, least: u64, most: u64) -> u64 {
        self.between(least / 2, most / 2) * 2
    }

    /// One of several.
    pub(super) fn one_of<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(usize::try_from(self.below(of.len() as u64)).unwrap_or_default())
    }
}

/// FNV-1a: small, and the same everywhere.
pub(super) fn digest(bytes: &[u8]) -> u64 {
    digest_on(0xcbf2_9ce4_8422_2325, bytes)
}

/// The digest of what came before and of more.
pub(super) fn digest_on(before: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(before, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
