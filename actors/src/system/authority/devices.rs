//! The keeper's part that is about devices: offers and redemptions in memory, approvals on the disk.
//!
//! Who approves or revokes is looked at again here, in the order in which authority changes: a
//! device that was revoked a moment ago approves nothing.

use std::collections::BTreeSet;

use clankie_domain::ids::TokenId;
use clankie_domain::pairing::{Applicant, DeviceRefused, Poll, Waiting, WrongCode, regrant};
use clankie_domain::principal::{DeviceGrant, Token, TokenKind};
use clankie_domain::scope::Need;
use clankie_domain::time::Timestamp;
use tokio::sync::oneshot;

use super::{Keeper, Principals, answer};
use crate::digest::same_hash;
use crate::store::StoreError;

/// What the keeper of authority hears about devices.
#[derive(Debug)]
pub(crate) enum DeviceMsg {
    /// A code is offered, by its hash, with those grants.
    Offer([u8; 32], BTreeSet<DeviceGrant>, oneshot::Sender<Result<Timestamp, DeviceRefused>>),
    /// Somebody typed a code, by its hash.
    Redeem([u8; 32], Applicant, oneshot::Sender<Result<Waiting, WrongCode>>),
    /// A device asks how it stands, by the hash of its secret.
    Poll(TokenId, [u8; 32], oneshot::Sender<Polled>),
    /// Which devices wait?
    Open(oneshot::Sender<Vec<Waiting>>),
    /// A device gets those grants from that credential.
    Approve(TokenId, BTreeSet<DeviceGrant>, TokenId, oneshot::Sender<Result<Token, DeviceRefused>>),
    /// A device is revoked, or denied when it waits, by that credential.
    Dismiss(TokenId, TokenId, oneshot::Sender<Result<Dismissed, DeviceRefused>>),
}

/// How a device that polls stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Polled {
    /// It has its token, whose secret is the one that it polled with.
    Approved(Box<Token>),
    /// It has none.
    Not(Poll),
}

/// What became of a device that is not wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dismissed {
    /// Its token is revoked.
    Revoked(Box<Token>),
    /// It waited, and waits no longer.
    Denied(Box<Waiting>),
}

impl Principals {
    pub(super) async fn device(&self, message: DeviceMsg, keeper: &mut Keeper) -> Result<(), StoreError> {
        let now = self.clock.now();
        match message {
            DeviceMsg::Offer(code, grants, reply) => answer(reply, keeper.pairing.offer(code, grants, now)),
            DeviceMsg::Redeem(code, applicant, reply) => {
                answer(reply, keeper.pairing.redeem(&code, applicant, now).cloned());
            }
            DeviceMsg::Poll(id, secret, reply) => answer(reply, keeper.polled(id, &secret, now)),
            DeviceMsg::Open(reply) => answer(reply, keeper.pairing.open(now)),
            DeviceMsg::Approve(id, grants, by, reply) => {
                answer(reply, self.approve(id, grants, (by, now), keeper).await?);
            }
            DeviceMsg::Dismiss(id, by, reply) => answer(reply, self.dismiss(id, (by, now), keeper).await?),
        }
        Ok(())
    }

    async fn approve(
        &self,
        id: TokenId,
        grants: BTreeSet<DeviceGrant>,
        by: (TokenId, Timestamp),
        keeper: &mut Keeper,
    ) -> Result<Result<Token, DeviceRefused>, StoreError> {
        let token = match keeper.approved(id, grants, by) {
            Ok(token) => token,
            Err(refused) => return Ok(Err(refused)),
        };
        self.enact("device.approve", token.clone(), keeper).await?;
        keeper.pairing.settled(id);
        Ok(Ok(token))
    }

    async fn dismiss(
        &self,
        id: TokenId,
        by: (TokenId, Timestamp),
        keeper: &mut Keeper,
    ) -> Result<Result<Dismissed, DeviceRefused>, StoreError> {
        if let Err(refused) = keeper.authorised(by) {
            return Ok(Err(refused));
        }
        if let Some(waiting) = keeper.pairing.deny(id, by.1) {
            return Ok(Ok(Dismissed::Denied(Box::new(waiting.clone()))));
        }
        if keeper.find(id).is_none_or(|token| token.kind != TokenKind::Device) {
            return Ok(Err(DeviceRefused::Unknown));
        }
        let gone = self.revoke(id, keeper).await?;
        Ok(gone.map(|token| Dismissed::Revoked(Box::new(token))).ok_or(DeviceRefused::Unknown))
    }
}

impl Keeper {
    /// Approval and forgetting are one step here, so a device that was just approved is never unknown.
    fn polled(&mut self, id: TokenId, secret: &[u8; 32], now: Timestamp) -> Polled {
        let holds = |token: &&Token| {
            let same = |hash: &[u8; 32]| same_hash(hash, secret);
            token.kind == TokenKind::Device && token.secrets(now).iter().any(same)
        };
        match self.find(id).filter(holds) {
            Some(token) => Polled::Approved(Box::new(token.clone())),
            None => Polled::Not(self.pairing.poll(id, secret, now)),
        }
    }

    /// The kind of the credential that acts, if it may approve devices now.
    fn authorised(&self, (by, now): (TokenId, Timestamp)) -> Result<TokenKind, DeviceRefused> {
        let token = self.find(by).filter(|token| token.stands(now) && token.may(Need::Devices));
        token.map(|token| token.kind).ok_or(DeviceRefused::NotAuthorised)
    }

    /// The token that a device has once it is approved: a new one, or its own with other grants.
    fn approved(
        &self,
        id: TokenId,
        grants: BTreeSet<DeviceGrant>,
        by: (TokenId, Timestamp),
    ) -> Result<Token, DeviceRefused> {
        let kind = self.authorised(by)?;
        let device = self.find(id).filter(|token| token.kind == TokenKind::Device);
        match device {
            Some(device) if device.stands(by.1) => regrant(kind, device, grants),
            Some(_) => Err(DeviceRefused::Unknown),
            None => {
                let waiting = self.pairing.approvable(id, &grants, by.1)?;
                waiting.token(&self.tokens, grants, by.1)
            }
        }
    }
}
