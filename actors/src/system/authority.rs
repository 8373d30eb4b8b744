//! The authority in force, and the one actor that changes it: tokens, devices, policy, epoch.
//!
//! A change is durable before anybody acts on it: the new epoch is committed in the transaction
//! that changes the token, so a tool whose intent names the old epoch can no longer commit; then
//! the view moves; then every room looks at what runs there.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Arc, PoisonError, RwLock};

use clankie_domain::grant::{Authority, GrantEpoch, GrantPolicy, Plan, Sources};
use clankie_domain::ids::{LaneName, TokenId};
use clankie_domain::pairing::Pairing;
use clankie_domain::principal::{Token, TokenKind, TokenRefused, may_create};
use clankie_domain::scope::Need;
use clankie_domain::steering::Route;
use clankie_domain::time::Timestamp;
use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::sync::{Notify, oneshot};

use super::failpoint::{self, Side};
use super::fatal::{Fatal, Fuse};
use super::rooms::{RoomBody, Rooms};
use crate::ports::Clock;
use crate::store::{Store, StoreError, Txn, Write};

mod devices;

pub(crate) use devices::DeviceMsg;
pub use devices::{Dismissed, Polled};

/// How exactly the last use of a token is kept: to the minute, so that use costs few commits.
const LAST_USE_MS: u64 = 60_000;

/// Reads the authority in force.
#[derive(Debug, Clone)]
pub(crate) struct AuthorityView(Arc<InForce>);

#[derive(Debug)]
struct InForce {
    now: RwLock<Arc<Authority>>,
    /// Wakes whoever waits for another one, in the order in which they came.
    moved: Notify,
}

impl AuthorityView {
    /// A view that begins with `authority`.
    pub(crate) fn new(authority: Authority) -> Self {
        Self(Arc::new(InForce { now: RwLock::new(Arc::new(authority)), moved: Notify::new() }))
    }

    /// The authority now.
    pub(crate) fn current(&self) -> Arc<Authority> {
        Arc::clone(&self.0.now.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns once another epoch than `seen` is in force.
    pub(crate) async fn moved_from(&self, seen: GrantEpoch) {
        loop {
            let mut moved = pin!(self.0.moved.notified());
            moved.as_mut().enable();
            if self.current().epoch != seen {
                return;
            }
            moved.await;
        }
    }

    fn set(&self, authority: Authority) {
        *self.0.now.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(authority);
        self.0.moved.notify_waiters();
    }
}

/// A token to be made.
#[derive(Debug)]
pub(crate) struct NewToken {
    pub(crate) id: TokenId,
    pub(crate) kind: TokenKind,
    pub(crate) name: LaneName,
    pub(crate) secret_hash: [u8; 32],
    pub(crate) expires_at: Option<Timestamp>,
}

/// What the keeper of authority hears.
#[derive(Debug)]
pub(crate) enum PrincipalsMsg {
    /// A token is to be made.
    Create(NewToken, oneshot::Sender<Result<Token, TokenRefused>>),
    /// A token is to be revoked.
    Revoke(TokenId, oneshot::Sender<Option<Token>>),
    /// A token gets another secret, by its hash. `None` when there is none that stands.
    Rotate(TokenId, [u8; 32], oneshot::Sender<Option<Token>>),
    /// A token was used.
    Used(TokenId),
    /// Something about devices.
    Device(DeviceMsg),
    /// Configuration says something else now.
    Reload(GrantPolicy, BTreeMap<Plan, Route>, oneshot::Sender<()>),
}

/// The actor: its ports.
#[derive(Debug)]
pub(crate) struct Principals {
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) view: AuthorityView,
    pub(crate) rooms: Rooms,
    pub(crate) fatal: Fatal,
}

/// The actor's state: every token, as the store has it, and every pairing under way.
#[derive(Debug)]
pub(crate) struct Keeper {
    tokens: Vec<Token>,
    pairing: Pairing,
    _fuse: Fuse,
}

impl Keeper {
    fn find(&self, id: TokenId) -> Option<&Token> {
        self.tokens.iter().find(|token| token.id == id)
    }

    /// Every token as it is once `changed` is durable.
    fn with(&self, changed: &Token) -> Vec<Token> {
        let others = self.tokens.iter().filter(|token| token.id != changed.id).cloned();
        others.chain([changed.clone()]).collect()
    }
}

impl Actor for Principals {
    type Msg = PrincipalsMsg;
    type State = Keeper;
    type Arguments = Vec<Token>;

    async fn pre_start(&self, _: ActorRef<PrincipalsMsg>, tokens: Vec<Token>) -> Result<Keeper, ActorProcessingErr> {
        Ok(Keeper { tokens, pairing: Pairing::default(), _fuse: self.fatal.fuse("the keeper of authority") })
    }

    async fn handle(
        &self,
        _: ActorRef<PrincipalsMsg>,
        message: PrincipalsMsg,
        keeper: &mut Keeper,
    ) -> Result<(), ActorProcessingErr> {
        let done = match message {
            PrincipalsMsg::Create(new, reply) => self.create(new, keeper).await.map(|made| answer(reply, made)),
            PrincipalsMsg::Revoke(id, reply) => self.revoke(id, keeper).await.map(|gone| answer(reply, gone)),
            PrincipalsMsg::Rotate(id, hash, reply) => {
                self.rotate(id, hash, keeper).await.map(|token| answer(reply, token))
            }
            PrincipalsMsg::Used(id) => self.used(id, keeper),
            PrincipalsMsg::Device(message) => self.device(message, keeper).await,
            PrincipalsMsg::Reload(policy, routes, reply) => {
                self.reload(policy, routes).await.map(|()| answer(reply, ()))
            }
        };
        if let Err(stopped) = done {
            tracing::error!(error = %stopped, "a change of authority was not committed; the service stops");
        }
        Ok(())
    }
}

impl Principals {
    async fn create(&self, new: NewToken, keeper: &mut Keeper) -> Result<Result<Token, TokenRefused>, StoreError> {
        if let Err(refused) = may_create(&keeper.tokens, new.kind, &new.name) {
            return Ok(Err(refused));
        }
        let NewToken { id, kind, name, secret_hash, expires_at } = new;
        let token = Token {
            id,
            kind,
            name,
            reported_name: None,
            grants: std::collections::BTreeSet::new(),
            secret_hash,
            former: None,
            created_at: self.clock.now(),
            expires_at,
            last_used_at: None,
            revoked_at: None,
        };
        if token.may(Need::Mailbox) {
            self.enact("token.create", token.clone(), keeper).await?;
        } else {
            self.commit("token.create", Txn::of(Write::Token(token.clone()))).await?;
            keeper.tokens.push(token.clone());
        }
        Ok(Ok(token))
    }

    async fn revoke(&self, id: TokenId, keeper: &mut Keeper) -> Result<Option<Token>, StoreError> {
        let Some(token) = keeper.find(id) else { return Ok(None) };
        if token.revoked_at.is_some() {
            return Ok(Some(token.clone()));
        }
        let gone = token.revoked(self.clock.now());
        self.enact("token.revoke", gone.clone(), keeper).await?;
        Ok(Some(gone))
    }

    /// What the token may do stays the same, so the epoch does too.
    async fn rotate(&self, id: TokenId, hash: [u8; 32], keeper: &mut Keeper) -> Result<Option<Token>, StoreError> {
        let Some(token) = keeper.find(id).and_then(|token| token.rotated(hash, self.clock.now())) else {
            return Ok(None);
        };
        self.commit("token.rotate", Txn::of(Write::Token(token.clone()))).await?;
        keeper.tokens = keeper.with(&token);
        Ok(Some(token))
    }

    fn used(&self, id: TokenId, keeper: &mut Keeper) -> Result<(), StoreError> {
        let now = self.clock.now();
        let Some(token) = keeper.tokens.iter_mut().find(|token| token.id == id) else { return Ok(()) };
        if token.last_used_at.is_some_and(|last| now.since(last) < LAST_USE_MS) {
            return Ok(());
        }
        token.last_used_at = Some(now);
        self.store.enqueue(Txn::of(Write::Token(token.clone())))
    }

    async fn reload(&self, policy: GrantPolicy, routes: BTreeMap<Plan, Route>) -> Result<(), StoreError> {
        let now = self.view.current();
        if now.policy == policy && now.routes == routes {
            return Ok(());
        }
        let epoch = GrantEpoch(now.epoch.0 + 1);
        self.commit("grants.reload", Txn::of(Write::GrantEpoch(epoch))).await?;
        self.put_in_force(Authority { epoch, policy, routes, ..(*now).clone() });
        Ok(())
    }

    /// A token changes what anybody may do: the row and the epoch are one transaction.
    async fn enact(&self, step: &str, token: Token, keeper: &mut Keeper) -> Result<(), StoreError> {
        let now = self.view.current();
        let epoch = GrantEpoch(now.epoch.0 + 1);
        let tokens = keeper.with(&token);
        self.commit(step, Txn::of(Write::Token(token)).and(Write::GrantEpoch(epoch))).await?;
        let (sources, answerers) = (revoked_sources(&tokens), answerers(&tokens));
        keeper.tokens = tokens;
        self.put_in_force(Authority { epoch, sources, answerers, ..(*now).clone() });
        Ok(())
    }

    async fn commit(&self, step: &str, txn: Txn) -> Result<(), StoreError> {
        failpoint::hit(step, Side::Before);
        self.store.commit(txn).await?;
        failpoint::hit(step, Side::After);
        Ok(())
    }

    fn put_in_force(&self, authority: Authority) {
        self.view.set(authority);
        self.rooms.send_all(|| RoomBody::AuthorityChanged);
    }
}

/// Tells a caller; one that is gone reads the outcome from the store.
fn answer<T>(reply: oneshot::Sender<T>, value: T) {
    let _ = reply.send(value);
}

/// The credentials that may answer the owner's mailbox, and when each stops by itself.
pub(crate) fn answerers(tokens: &[Token]) -> BTreeMap<TokenId, Option<Timestamp>> {
    let standing = tokens.iter().filter(|token| token.revoked_at.is_none() && token.may(Need::Mailbox));
    standing.map(|token| (token.id, token.expires_at)).collect()
}

/// The transports in whose name nobody is heard any more.
pub(crate) fn revoked_sources(tokens: &[Token]) -> Sources {
    let silenced = tokens.iter().filter(|token| token.is_silenced());
    Sources { revoked: silenced.filter_map(Token::transport).collect() }
}

#[cfg(test)]
mod tests;
