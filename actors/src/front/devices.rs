//! The front door's part about credentials: tokens, rotation, and how a device is paired.

use std::collections::BTreeSet;

use clankie_domain::ids::{LaneName, TokenId};
use clankie_domain::pairing::{Applicant, Code, DeviceName, DeviceRefused, Waiting, WrongCode, typed};
use clankie_domain::principal::{DeviceGrant, Token, TokenKind, TokenRefused};
use clankie_domain::time::Timestamp;

use super::{Clankie, Failure};
use crate::digest::{same_hash, secret_hash};
use crate::system::authority::{DeviceMsg, Dismissed, NewToken, Polled, PrincipalsMsg};

impl Clankie {
    /// Stores a token; the secret itself is only hashed.
    pub async fn create_token(
        &self,
        kind: TokenKind,
        name: LaneName,
        secret: &str,
        expires_at: Option<Timestamp>,
    ) -> Result<Result<Token, TokenRefused>, Failure> {
        let id = TokenId(self.ids.uuid());
        let new = NewToken { id, kind, name, secret_hash: secret_hash(secret), expires_at };
        self.principals(|reply| PrincipalsMsg::Create(new, reply)).await
    }

    /// The token of that id and secret, compared in constant time, if it stands.
    pub fn authenticate(&self, id: TokenId, secret: &str) -> Result<Option<Token>, Failure> {
        let Some(token) = self.store.snapshot()?.token(id)? else { return Ok(None) };
        let hash = secret_hash(secret);
        // Every secret that works is compared, so that the time does not tell which one it was.
        let works = |all: bool, known: &[u8; 32]| all | same_hash(known, &hash);
        if !token.secrets(self.clock.now()).iter().fold(false, works) {
            return Ok(None);
        }
        // Noting the use is best effort: a stopped keeper must not refuse a right credential.
        let _ = self.principals.cast(PrincipalsMsg::Used(id));
        Ok(Some(token))
    }

    /// Every token, newest first.
    pub fn tokens(&self) -> Result<Vec<Token>, Failure> {
        Ok(self.store.snapshot()?.tokens()?)
    }

    /// Revokes a token at once, in open waits too. `None` when there is no such token.
    pub async fn revoke_token(&self, id: TokenId) -> Result<Option<Token>, Failure> {
        self.principals(|reply| PrincipalsMsg::Revoke(id, reply)).await
    }

    /// Gives a token another secret; the one before works for a minute more. `None` when there is no
    /// such token that stands.
    pub async fn rotate_token(&self, id: TokenId, secret: &str) -> Result<Option<Token>, Failure> {
        let hash = secret_hash(secret);
        self.principals(|reply| PrincipalsMsg::Rotate(id, hash, reply)).await
    }

    /// Offers a pairing. `Ok` says until when the code may be redeemed.
    pub async fn offer_pairing(
        &self,
        code: &Code,
        grants: BTreeSet<DeviceGrant>,
    ) -> Result<Result<Timestamp, DeviceRefused>, Failure> {
        let hash = secret_hash(code.expose());
        self.devices(|reply| DeviceMsg::Offer(hash, grants, reply)).await
    }

    /// Redeems what somebody typed as a code. The device then waits for its approval under `secret`.
    pub async fn redeem_pairing(
        &self,
        code: &str,
        secret: &str,
        (name, address): (DeviceName, String),
    ) -> Result<Result<Waiting, WrongCode>, Failure> {
        let (code, secret_hash) = (secret_hash(&typed(code)), secret_hash(secret));
        let applicant = Applicant { id: TokenId(self.ids.uuid()), name, secret_hash, address };
        self.devices(|reply| DeviceMsg::Redeem(code, applicant, reply)).await
    }

    /// How a device stands that redeemed a code, also after a restart.
    pub async fn poll_pairing(&self, id: TokenId, secret: &str) -> Result<Polled, Failure> {
        let hash = secret_hash(secret);
        self.devices(|reply| DeviceMsg::Poll(id, hash, reply)).await
    }

    /// Every device that waits for its approval.
    pub async fn waiting_devices(&self) -> Result<Vec<Waiting>, Failure> {
        self.devices(DeviceMsg::Open).await
    }

    /// Gives a device those grants, in the name of the credential `by`: one that waits gets its
    /// token, one that has one gets other grants.
    pub async fn approve_device(
        &self,
        id: TokenId,
        grants: BTreeSet<DeviceGrant>,
        by: TokenId,
    ) -> Result<Result<Token, DeviceRefused>, Failure> {
        self.devices(|reply| DeviceMsg::Approve(id, grants, by, reply)).await
    }

    /// Revokes a device at once, or denies one that waits, in the name of the credential `by`.
    pub async fn dismiss_device(&self, id: TokenId, by: TokenId) -> Result<Result<Dismissed, DeviceRefused>, Failure> {
        self.devices(|reply| DeviceMsg::Dismiss(id, by, reply)).await
    }

    async fn devices<T>(
        &self,
        message: impl FnOnce(tokio::sync::oneshot::Sender<T>) -> DeviceMsg,
    ) -> Result<T, Failure> {
        self.principals(|reply| PrincipalsMsg::Device(message(reply))).await
    }
}
