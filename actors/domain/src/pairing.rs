//! How a device becomes one of the owner's: an offered code, a redemption, an approval.
//!
//! The machine lives in memory: a restart loses what was offered and what waits. What was
//! approved is a token, which is durable. The shape is that of RFC 8628, the other way round: the
//! code is shown on the host and typed on the device, and a person on the host then approves the
//! device that typed it. Codes and secrets are here as hashes only.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::ids::TokenId;
use crate::principal::{DeviceGrant, Token, TokenKind, is_full};
use crate::time::Timestamp;

mod name;

pub use name::{DEVICE_NAME_MAX, DeviceName};

/// The letters of a code: no vowels, so that it spells nothing, and none that reads as a digit
/// (RFC 8628, section 6.1).
pub const ALPHABET: [u8; 20] = *b"BCDFGHJKLMNPQRSTVWXZ";
/// Letters of a code: 34.6 bits, of which five tries at three codes find one with 1 : 1.7 · 10^9.
pub const CODE_CHARS: usize = 8;
/// How long a code may be redeemed, and how long a device then waits for its approval.
pub const PAIRING_MS: u64 = 10 * 60_000;
/// Pairings that are open at once, offered or waiting: what one person can tell apart.
pub const OPEN_MAX: usize = 3;
/// Wrong codes that an offer stands; with this one it is burned.
pub const WRONG_MAX: u32 = 5;
/// How long a device waits between two polls at first, and how much longer after each hasty one.
pub const POLL_MS: u64 = 5_000;

/// A pairing code as a person reads and types it.
#[derive(Clone, PartialEq, Eq)]
pub struct Code(String);

impl Code {
    /// The code of a random number. 2^64 is so much larger than the number of codes that the
    /// remainder prefers none of them by more than one in a thousand million.
    pub fn drawn(random: u64) -> Self {
        let base = ALPHABET.len() as u64;
        let mut rest = random;
        let letters = std::iter::repeat_with(|| {
            let letter = ALPHABET[(rest % base) as usize];
            rest /= base;
            char::from(letter)
        });
        Self(letters.take(CODE_CHARS).collect())
    }

    /// What is hashed and compared.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// In two halves, to be shown once.
    pub fn shown(&self) -> String {
        let (first, second) = self.0.split_at(CODE_CHARS / 2);
        format!("{first}-{second}")
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Code(…)")
    }
}

/// What somebody typed as a code, without what does not count: case, dashes and spaces.
pub fn typed(text: &str) -> String {
    let counts = |c: &char| !matches!(c, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}') && !c.is_whitespace();
    text.chars().filter(counts).map(|c| c.to_ascii_uppercase()).collect()
}

/// A code that may be redeemed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Offer {
    code_hash: [u8; 32],
    grants: BTreeSet<DeviceGrant>,
    expires_at: Timestamp,
    wrong: u32,
}

/// Who asks to be one of the owner's devices. Nothing of it is believed but the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applicant {
    /// What its token's id will be.
    pub id: TokenId,
    /// The name that it gave itself.
    pub name: DeviceName,
    /// SHA-256 of the secret that it polls with, and that its token will have.
    pub secret_hash: [u8; 32],
    /// Where the request came from, for whoever approves.
    pub address: String,
}

/// A device that redeemed a code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Who.
    pub applicant: Applicant,
    /// What may be approved at most.
    pub offered: BTreeSet<DeviceGrant>,
    /// When it redeemed its code.
    pub since: Timestamp,
    /// When it stops waiting.
    pub expires_at: Timestamp,
    verdict: Verdict,
    interval_ms: u64,
    polled_at: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    None,
    Denied,
}

/// Every pairing that is under way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pairing {
    offers: Vec<Offer>,
    waiting: BTreeMap<TokenId, Waiting>,
}

/// Why a device is not approved, or no code is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DeviceRefused {
    /// As many pairings are open as may be.
    #[error("3 pairings are open; approve or revoke a waiting device, or let a code expire")]
    TooManyOpen,
    /// A device without grants could do nothing.
    #[error("name at least one grant")]
    NoGrants,
    /// There is no such device, or not any more.
    #[error("there is no such device, or it waits no longer; device_list shows them")]
    Unknown,
    /// More than what was offered with the code.
    #[error("that is more than was offered with its code; pair it again to offer more")]
    NotOffered,
    /// Only the operator gives a device more than it has.
    #[error("only the operator on the host gives a device more than it has")]
    Widening,
    /// The caller may not do that any more.
    #[error("this credential may not do that any more")]
    NotAuthorised,
    /// There are as many tokens as may be.
    #[error("there are 1000 tokens; revoke some first")]
    TooMany,
}

/// A code that is no code that may be redeemed: never made, used, expired or burned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrongCode;

/// How a device that polls stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Poll {
    /// Nobody has decided. Ask again after the interval.
    Waiting {
        /// In milliseconds.
        interval_ms: u64,
    },
    /// The same, and it asked too soon: the interval is longer now.
    SlowDown {
        /// In milliseconds.
        interval_ms: u64,
    },
    /// It will not be approved.
    Denied,
    /// No such device waits under that secret.
    Unknown,
}

impl Pairing {
    /// Offers a code with those grants. `Ok` says until when.
    pub fn offer(
        &mut self,
        code_hash: [u8; 32],
        grants: BTreeSet<DeviceGrant>,
        now: Timestamp,
    ) -> Result<Timestamp, DeviceRefused> {
        self.expire(now);
        if grants.is_empty() {
            return Err(DeviceRefused::NoGrants);
        }
        if self.offers.len() + self.pending().count() >= OPEN_MAX {
            return Err(DeviceRefused::TooManyOpen);
        }
        let expires_at = now.plus(PAIRING_MS);
        self.offers.push(Offer { code_hash, grants, expires_at, wrong: 0 });
        Ok(expires_at)
    }

    /// Redeems a code, once. A wrong one counts against every code that is open: which of them was
    /// meant cannot be known.
    pub fn redeem(
        &mut self,
        code_hash: &[u8; 32],
        applicant: Applicant,
        now: Timestamp,
    ) -> Result<&Waiting, WrongCode> {
        self.expire(now);
        let Some(place) = self.offers.iter().position(|offer| offer.code_hash == *code_hash) else {
            self.offers.iter_mut().for_each(|offer| offer.wrong += 1);
            self.offers.retain(|offer| offer.wrong < WRONG_MAX);
            return Err(WrongCode);
        };
        let offered = self.offers.remove(place).grants;
        let id = applicant.id;
        let waiting = Waiting {
            applicant,
            offered,
            since: now,
            expires_at: now.plus(PAIRING_MS),
            verdict: Verdict::None,
            interval_ms: POLL_MS,
            polled_at: None,
        };
        Ok(self.waiting.entry(id).or_insert(waiting))
    }

    /// How the device stands that holds this secret. A hasty one waits longer from then on.
    pub fn poll(&mut self, id: TokenId, secret_hash: &[u8; 32], now: Timestamp) -> Poll {
        self.expire(now);
        let holder = self.waiting.get_mut(&id).filter(|waiting| waiting.applicant.secret_hash == *secret_hash);
        let Some(waiting) = holder else { return Poll::Unknown };
        match waiting.verdict {
            Verdict::Denied => Poll::Denied,
            Verdict::None => waiting.asked(now),
        }
    }

    /// The device that waits under that id, when `chosen` may be approved for it. It goes on
    /// waiting until [`Self::settled`] says that its token is durable.
    pub fn approvable(
        &self,
        id: TokenId,
        chosen: &BTreeSet<DeviceGrant>,
        now: Timestamp,
    ) -> Result<&Waiting, DeviceRefused> {
        let waiting = self.pending().find(|waiting| waiting.applicant.id == id && now < waiting.expires_at);
        let waiting = waiting.ok_or(DeviceRefused::Unknown)?;
        if chosen.is_empty() {
            return Err(DeviceRefused::NoGrants);
        }
        if chosen.is_subset(&waiting.offered) { Ok(waiting) } else { Err(DeviceRefused::NotOffered) }
    }

    /// The device has its token now.
    pub fn settled(&mut self, id: TokenId) {
        self.waiting.remove(&id);
    }

    /// Whether a device waited under that id; it hears that it will not be approved.
    pub fn deny(&mut self, id: TokenId, now: Timestamp) -> Option<&Waiting> {
        self.expire(now);
        let waiting = self.waiting.get_mut(&id)?;
        waiting.verdict = Verdict::Denied;
        Some(waiting)
    }

    /// Every device that waits for its approval, oldest first.
    pub fn open(&mut self, now: Timestamp) -> Vec<Waiting> {
        self.expire(now);
        let mut open: Vec<Waiting> = self.pending().cloned().collect();
        open.sort_by_key(|waiting| (waiting.since, waiting.applicant.id));
        open
    }

    fn pending(&self) -> impl Iterator<Item = &Waiting> {
        self.waiting.values().filter(|waiting| waiting.verdict == Verdict::None)
    }

    fn expire(&mut self, now: Timestamp) {
        self.offers.retain(|offer| now < offer.expires_at);
        self.waiting.retain(|_, waiting| now < waiting.expires_at);
    }
}

impl Waiting {
    fn asked(&mut self, now: Timestamp) -> Poll {
        let hasty = self.polled_at.is_some_and(|last| now.since(last) < self.interval_ms);
        self.polled_at = Some(now);
        if hasty {
            self.interval_ms += POLL_MS;
            return Poll::SlowDown { interval_ms: self.interval_ms };
        }
        Poll::Waiting { interval_ms: self.interval_ms }
    }

    /// The token of this device, approved at `now` beside the tokens that exist.
    pub fn token(
        &self,
        existing: &[Token],
        chosen: BTreeSet<DeviceGrant>,
        now: Timestamp,
    ) -> Result<Token, DeviceRefused> {
        let Applicant { id, name, secret_hash, .. } = self.applicant.clone();
        let account = name::account(&name, id, existing).filter(|_| !is_full(existing));
        Ok(Token {
            id,
            kind: TokenKind::Device,
            name: account.ok_or(DeviceRefused::TooMany)?,
            reported_name: Some(name.as_str().to_owned()),
            grants: chosen,
            secret_hash,
            former: None,
            created_at: now,
            expires_at: None,
            last_used_at: None,
            revoked_at: None,
        })
    }
}

/// What a device that stands becomes with other grants. More than it has is a new approval, which
/// only the operator gives: a device that approves others could else give itself everything.
pub fn regrant(by: TokenKind, device: &Token, chosen: BTreeSet<DeviceGrant>) -> Result<Token, DeviceRefused> {
    if chosen.is_empty() {
        return Err(DeviceRefused::NoGrants);
    }
    if by != TokenKind::Operator && !chosen.is_subset(&device.grants) {
        return Err(DeviceRefused::Widening);
    }
    Ok(Token { grants: chosen, ..device.clone() })
}

#[cfg(test)]
mod tests;
