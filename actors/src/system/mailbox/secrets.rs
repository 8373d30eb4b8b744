//! Secret answers: sealed before they are committed, and their keys destroyed when nobody needs them.

use std::time::Duration;

use clankie_domain::answer::{Answer, Sealed};
use clankie_domain::ask::Resolution;
use clankie_domain::claim::{Claim, ClaimState};
use clankie_domain::ids::RequestId;
use clankie_domain::mailbox::{Aim, Mailbox};
use clankie_domain::mutant::{self, Mutant};

use super::OwnerMail;
use crate::ports::VaultError;
use crate::store::{Snapshot, StoreError};

/// How long a secret that reached its session, or came back, can still be told from another one: whoever
/// gave it and got no receipt asks again within a day. Without its key a guess of it cannot be tried.
const COMPARED_MS: u64 = 24 * 60 * 60 * 1_000;
/// How often keys are looked for whose time is over: they outlive it by this much at most.
pub(super) const SWEEP_EVERY: Duration = Duration::from_secs(60 * 60);

impl OwnerMail {
    /// Seals the words of a secret, unless the mailbox will refuse them anyway: then no key is made. One
    /// that was answered before is only compared, by its digest, and is like no other once its key is gone.
    pub(super) fn sealed(&self, mailbox: &Mailbox, aim: &Aim, answer: &Answer) -> Result<Option<Sealed>, VaultError> {
        let request = aim.request;
        let Some(entry) = mailbox.asks.get(&request) else { return Ok(None) };
        let Answer::Text { text } = answer else { return Ok(None) };
        if !entry.ask.keeps_secret() {
            return Ok(None);
        }
        match &entry.resolution {
            Resolution::Pending if mailbox.seals(aim, answer) => self.vault.seal(request, text).map(Some),
            Resolution::Pending => Ok(None),
            Resolution::Submitted { .. } | Resolution::Cancelled { .. } => {
                let digest = self.vault.digest(request, text)?;
                Ok(digest.map(|digest| Sealed { nonce: [0; 12], ciphertext: Vec::new(), digest }))
            }
        }
    }

    /// Keys whose removal a stop came before, and those of answers that it kept from being committed.
    pub(super) fn forget_uncommitted(&self) {
        for request in self.vault.kept() {
            match self.store.snapshot().and_then(|now| now.claim(request)) {
                Ok(Some(claim)) => self.forget_key(&claim),
                // Sealed, and never committed.
                Ok(None) => {
                    self.vault.forget(request);
                    self.vault.forget_digest(request);
                }
                Err(why) => tracing::warn!(%request, error = %why, "the key of a secret was not looked at"),
            }
        }
    }

    /// A secret that was delivered, or that nobody will be given, is readable no more.
    pub(super) fn forget_key(&self, claim: &Claim) {
        if has_ended(claim) && !(claim.state == ClaimState::Delivered && mutant::on(Mutant::M7KeyIsKept)) {
            self.vault.forget(claim.request);
        }
    }

    /// Answers that were never taken are readable no more once their ask is over, and those that nobody
    /// gives once more are not to be guessed at either.
    pub(super) fn sweep(&self) {
        for request in self.vault.kept() {
            match self.is_opened(request) {
                Ok(true) => {}
                Ok(false) => self.vault.forget(request),
                Err(why) => tracing::warn!(%request, error = %why, "the key of a secret was not looked at"),
            }
        }
        for request in self.vault.compared() {
            match self.is_compared(request) {
                Ok(true) => {}
                Ok(false) => self.vault.forget_digest(request),
                Err(why) => tracing::warn!(%request, error = %why, "the key of a secret was not looked at"),
            }
        }
    }

    fn is_compared(&self, request: RequestId) -> Result<bool, StoreError> {
        let snapshot = self.store.snapshot()?;
        match snapshot.claim(request)? {
            Some(claim) => Ok(!has_ended(&claim) || self.clock.now().since(claim.at) < COMPARED_MS),
            None => waits(&snapshot, request),
        }
    }

    /// Whether somebody may still be given the words. What moves a claim to its end forgets their key.
    fn is_opened(&self, request: RequestId) -> Result<bool, StoreError> {
        let snapshot = self.store.snapshot()?;
        if snapshot.claim(request)?.is_some() { Ok(true) } else { waits(&snapshot, request) }
    }
}

/// Whether an answer of that ask may be on its way into the store.
fn waits(snapshot: &Snapshot, request: RequestId) -> Result<bool, StoreError> {
    let found = snapshot.answer_of(request)?;
    Ok(found.is_some_and(|(_, resolution)| resolution == Resolution::Pending))
}

fn has_ended(claim: &Claim) -> bool {
    match claim.state {
        ClaimState::Delivered | ClaimState::Uncertain | ClaimState::Returned(_) => true,
        ClaimState::Claimed | ClaimState::Dispatching => false,
    }
}
