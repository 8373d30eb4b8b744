//! How often an address may bring a wrong credential.
//!
//! A right credential is never refused here, so a stranger's guesses lock nobody else out; a
//! missing one does not count. The table is bounded: many addresses push out the oldest, and
//! locks last of all.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, PoisonError};

use clankie_actors::ports::Clock;
use clankie_domain::time::Timestamp;

/// Wrong credentials that one address may bring within [`WINDOW_MS`].
pub const WRONG_MAX: u32 = 10;
/// The time within which they count together.
pub const WINDOW_MS: u64 = 60_000;
/// How long an address is locked after one more.
pub const LOCK_MS: u64 = 5 * 60_000;
/// Addresses that are remembered: some hundred KiB at most.
const ADDRESSES_MAX: usize = 4_096;
/// Addresses that are forgotten together when there are too many, so that a flood costs no scan each.
const PUSHED_OUT: usize = ADDRESSES_MAX / 4;

/// Where a wrong credential came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// A program on this machine: exempt, for it can read the owner's files anyway.
    Loopback,
    /// Anything else, also a browser on this machine, whose pages come from anywhere.
    Peer(Option<IpAddr>),
}

impl From {
    /// What it is counted under; nothing for a program on this machine.
    pub(super) fn key(self) -> Option<Key> {
        match self {
            Self::Loopback => None,
            Self::Peer(address) => Some(Key::of(address)),
        }
    }
}

/// What a wrong credential gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is only wrong.
    Wrong,
    /// The address is locked for that many more seconds.
    Locked {
        /// Rounded up.
        seconds: u64,
    },
}

/// One IPv4 address or one IPv6 network of 64 bits: what one person can have many of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Unknown,
    V4(Ipv4Addr),
    V6([u16; 4]),
}

#[derive(Debug, Clone, Copy)]
struct Tries {
    since: Timestamp,
    wrong: u32,
    locked_until: Option<Timestamp>,
}

/// The wrong credentials of the last minutes, by address.
#[derive(Debug)]
pub struct Attempts {
    clock: Arc<dyn Clock>,
    tries: Mutex<BTreeMap<Key, Tries>>,
}

impl Attempts {
    /// None yet.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, tries: Mutex::new(BTreeMap::new()) }
    }

    /// Counts one more wrong credential.
    pub fn wrong(&self, from: From) -> Verdict {
        let Some(key) = from.key() else { return Verdict::Wrong };
        let now = self.clock.now();
        let mut tries = self.tries.lock().unwrap_or_else(PoisonError::into_inner);
        make_room(&mut tries, key, now);
        let entry = tries.entry(key).or_insert(Tries { since: now, wrong: 0, locked_until: None });
        entry.count(now)
    }
}

impl Tries {
    fn count(&mut self, now: Timestamp) -> Verdict {
        if self.is_over(now) {
            *self = Self { since: now, wrong: 0, locked_until: None };
        }
        self.wrong += 1;
        if self.locked_until.is_none() && self.wrong > WRONG_MAX {
            self.locked_until = Some(now.plus(LOCK_MS));
        }
        self.locked_until.map_or(Verdict::Wrong, |end| Verdict::Locked { seconds: end.since(now).div_ceil(1_000) })
    }

    fn is_over(&self, now: Timestamp) -> bool {
        match self.locked_until {
            Some(end) => now >= end,
            None => now.since(self.since) >= WINDOW_MS,
        }
    }
}

fn make_room(tries: &mut BTreeMap<Key, Tries>, key: Key, now: Timestamp) {
    if tries.len() < ADDRESSES_MAX || tries.contains_key(&key) {
        return;
    }
    tries.retain(|_, entry| !entry.is_over(now));
    if tries.len() >= ADDRESSES_MAX {
        let mut keys: Vec<_> = tries.iter().map(|(key, entry)| (entry.locked_until, entry.since, *key)).collect();
        keys.sort_unstable();
        for (_, _, key) in keys.into_iter().take(PUSHED_OUT) {
            tries.remove(&key);
        }
    }
}

impl Key {
    fn of(address: Option<IpAddr>) -> Self {
        match address.map(|address| address.to_canonical()) {
            None => Self::Unknown,
            Some(IpAddr::V4(address)) => Self::V4(address),
            Some(IpAddr::V6(address)) => {
                let [a, b, c, d, ..] = address.segments();
                Self::V6([a, b, c, d])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;

    #[derive(Debug, Default)]
    struct Hand(AtomicI64);

    impl Clock for Hand {
        fn now(&self) -> Timestamp {
            Timestamp(self.0.load(Ordering::Relaxed))
        }
    }

    fn world() -> (Arc<Hand>, Attempts) {
        let clock = Arc::new(Hand::default());
        (Arc::clone(&clock), Attempts::new(clock))
    }

    fn peer(address: &str) -> From {
        From::Peer(Some(address.parse().unwrap()))
    }

    fn many(attempts: &Attempts, from: From, times: u32) -> Verdict {
        (0..times).map(|_| attempts.wrong(from)).last().unwrap()
    }

    #[test]
    fn the_eleventh_wrong_credential_within_a_minute_locks_for_five() {
        let (clock, attempts) = world();
        let ann = peer("10.0.0.1");
        assert_eq!(many(&attempts, ann, 10), Verdict::Wrong);
        assert_eq!(attempts.wrong(ann), Verdict::Locked { seconds: 300 });
        assert_eq!(attempts.wrong(peer("10.0.0.2")), Verdict::Wrong, "another address is not locked");
        clock.0.store(299_001, Ordering::Relaxed);
        assert_eq!(attempts.wrong(ann), Verdict::Locked { seconds: 1 }, "guessing on does not prolong it");
        clock.0.store(300_000, Ordering::Relaxed);
        assert_eq!(many(&attempts, ann, 10), Verdict::Wrong);
    }

    #[test]
    fn ten_in_each_minute_never_lock() {
        let (clock, attempts) = world();
        for minute in 0..20 {
            clock.0.store(minute * 60_000, Ordering::Relaxed);
            assert_eq!(many(&attempts, peer("10.0.0.1"), 10), Verdict::Wrong);
        }
    }

    #[test]
    fn spellings_of_one_address_share_one_bucket() {
        let (_, attempts) = world();
        many(&attempts, peer("1.2.3.4"), 10);
        assert_ne!(attempts.wrong(peer("::ffff:1.2.3.4")), Verdict::Wrong);
        many(&attempts, peer("2001:db8:1:2::1"), 10);
        assert_ne!(attempts.wrong(peer("2001:db8:1:2:ffff::9")), Verdict::Wrong);
    }

    #[test]
    fn a_program_on_this_machine_is_exempt_and_a_browser_there_is_not() {
        let (_, attempts) = world();
        assert_eq!(many(&attempts, From::Loopback, 50), Verdict::Wrong);
        assert_ne!(many(&attempts, peer("127.0.0.1"), 11), Verdict::Wrong);
    }

    #[test]
    fn a_hundred_thousand_addresses_stay_bounded_and_free_no_lock() {
        let (_, attempts) = world();
        let ann = peer("192.0.2.1");
        many(&attempts, ann, 11);
        for n in 0..100_000_u32 {
            attempts.wrong(From::Peer(Some(IpAddr::V4(Ipv4Addr::from(n + 1)))));
        }
        assert!(attempts.tries.lock().unwrap().len() <= ADDRESSES_MAX);
        assert_ne!(attempts.wrong(ann), Verdict::Wrong);
    }
}
