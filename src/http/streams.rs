//! Event streams at once: so many for each credential, and so many for each address.
//!
//! Both bounds hold: one credential on many devices and many credentials on one device reach one
//! of them. A program on this machine is bounded by its credential alone.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use clankie_domain::ids::TokenId;

use super::attempts::{From, Key};
use super::problem::{Problem, Reason};

/// Streams at once of one key: a few pages, a terminal and a program.
pub const STREAMS_MAX: usize = 8;

/// Every open stream. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Streams(Arc<Mutex<Open>>);

#[derive(Debug, Default)]
struct Open {
    tokens: BTreeMap<TokenId, usize>,
    addresses: BTreeMap<Key, usize>,
}

/// A place among the streams, given back when it is dropped.
#[derive(Debug)]
pub struct StreamPlace {
    streams: Streams,
    token: TokenId,
    address: Option<Key>,
}

impl Streams {
    /// A place for one more stream of that credential from there.
    pub fn open(&self, token: TokenId, from: From) -> Result<StreamPlace, Problem> {
        let address = from.key();
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let there = address.and_then(|key| open.addresses.get(&key)).copied().unwrap_or(0);
        if open.tokens.get(&token).copied().unwrap_or(0).max(there) >= STREAMS_MAX {
            let why = "8 event streams of this credential or address are open; close one of them";
            return Err(Problem::new(Reason::TooManyStreams).because(why).after(1));
        }
        *open.tokens.entry(token).or_default() += 1;
        if let Some(key) = address {
            *open.addresses.entry(key).or_default() += 1;
        }
        Ok(StreamPlace { streams: self.clone(), token, address })
    }
}

impl Drop for StreamPlace {
    fn drop(&mut self) {
        let mut open = self.streams.0.lock().unwrap_or_else(PoisonError::into_inner);
        give_back(&mut open.tokens, self.token);
        if let Some(key) = self.address {
            give_back(&mut open.addresses, key);
        }
    }
}

/// A key without streams is forgotten, so the maps hold no more keys than there are streams.
fn give_back<K: Ord>(places: &mut BTreeMap<K, usize>, key: K) {
    match places.get_mut(&key) {
        Some(taken) if *taken > 1 => *taken -= 1,
        Some(_) | None => drop(places.remove(&key)),
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn token(n: u128) -> TokenId {
        TokenId(Uuid::from_u128(n))
    }

    fn peer(text: &str) -> From {
        From::Peer(Some(text.parse().unwrap()))
    }

    #[test]
    fn a_credential_has_eight_streams_wherever_they_come_from() {
        let streams = Streams::default();
        let froms = (0..8).map(|n| if n % 2 == 0 { From::Loopback } else { peer(&format!("192.0.2.{n}")) });
        let mut places: Vec<_> = froms.map(|from| streams.open(token(1), from).unwrap()).collect();
        let refused = streams.open(token(1), peer("192.0.2.99")).unwrap_err();
        assert_eq!(refused.reason(), Reason::TooManyStreams);
        assert!(streams.open(token(2), peer("192.0.2.99")).is_ok(), "another one is not kept out");
        places.pop();
        assert!(streams.open(token(1), From::Loopback).is_ok());
    }

    #[test]
    fn an_address_has_eight_streams_under_whatever_credentials() {
        let streams = Streams::default();
        let places: Vec<_> = (0..8).map(|n| streams.open(token(n), peer("2001:db8::1")).unwrap()).collect();
        assert!(streams.open(token(9), peer("2001:db8::2")).is_err(), "one network of 64 bits is one address");
        assert!(streams.open(token(9), peer("::ffff:192.0.2.1")).is_ok());
        drop(places);
        let open = streams.0.lock().unwrap();
        assert!(open.tokens.is_empty() && open.addresses.is_empty(), "nothing is remembered: {open:?}");
    }
}
