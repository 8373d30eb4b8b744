//! The authority in force, and the one actor that changes it: tokens, policy, epoch.
//!
//! A change is durable before anybody acts on it: the new epoch is committed first, so a tool
//! whose intent names the old epoch can no longer commit; then the view moves; then every room
//! looks at what runs there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use clankie_domain::grant::{Authority, GrantEpoch, GrantPolicy, Plan, Sources};
use clankie_domain::ids::{LaneName, TokenId};
use clankie_domain::principal::{Token, TokenKind, TokenRefused, may_create};
use clankie_domain::steering::Route;
use clankie_domain::time::Timestamp;
use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::sync::{oneshot, watch};

use super::failpoint::{self, Side};
use super::fatal::{Fatal, Fuse};
use super::rooms::{RoomBody, Rooms};
use crate::ports::Clock;
use crate::store::{Store, StoreError, Txn, Write};

/// How exactly the last use of a token is kept: to the minute, so that use costs few commits.
const LAST_USE_MS: u64 = 60_000;

/// Reads the authority in force.
#[derive(Debug, Clone)]
pub(crate) struct AuthorityView(Arc<watch::Sender<Arc<Authority>>>);

impl AuthorityView {
    /// A view that begins with `authority`.
    pub(crate) fn new(authority: Authority) -> Self {
        Self(Arc::new(watch::Sender::new(Arc::new(authority))))
    }

    /// The authority now.
    pub(crate) fn current(&self) -> Arc<Authority> {
        Arc::clone(&self.0.borrow())
    }

    /// Returns once another epoch than `seen` is in force.
    pub(crate) async fn moved_from(&self, seen: GrantEpoch) {
        let mut view = self.0.subscribe();
        // The sender lives in this very value, so the wait cannot fail.
        let _ = view.wait_for(|authority| authority.epoch != seen).await;
    }

    fn set(&self, authority: Authority) {
        self.0.send_replace(Arc::new(authority));
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
    /// A token was used.
    Used(TokenId),
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

/// The actor's state: every token, as the store has it.
#[derive(Debug)]
pub(crate) struct Keeper {
    tokens: Vec<Token>,
    _fuse: Fuse,
}

impl Actor for Principals {
    type Msg = PrincipalsMsg;
    type State = Keeper;
    type Arguments = Vec<Token>;

    async fn pre_start(&self, _: ActorRef<PrincipalsMsg>, tokens: Vec<Token>) -> Result<Keeper, ActorProcessingErr> {
        Ok(Keeper { tokens, _fuse: self.fatal.fuse("the keeper of authority") })
    }

    async fn handle(
        &self,
        _: ActorRef<PrincipalsMsg>,
        message: PrincipalsMsg,
        keeper: &mut Keeper,
    ) -> Result<(), ActorProcessingErr> {
        let tokens = &mut keeper.tokens;
        let done = match message {
            PrincipalsMsg::Create(new, reply) => self.create(new, tokens).await.map(|made| answer(reply, made)),
            PrincipalsMsg::Revoke(id, reply) => self.revoke(id, tokens).await.map(|gone| answer(reply, gone)),
            PrincipalsMsg::Used(id) => self.used(id, tokens),
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
    async fn create(&self, new: NewToken, tokens: &mut Vec<Token>) -> Result<Result<Token, TokenRefused>, StoreError> {
        if let Err(refused) = may_create(tokens, new.kind, &new.name) {
            return Ok(Err(refused));
        }
        let NewToken { id, kind, name, secret_hash, expires_at } = new;
        let created_at = self.clock.now();
        let token = Token { id, kind, name, secret_hash, created_at, expires_at, last_used_at: None, revoked_at: None };
        self.commit("token.create", Txn::of(Write::Token(token.clone()))).await?;
        tokens.push(token.clone());
        Ok(Ok(token))
    }

    async fn revoke(&self, id: TokenId, tokens: &mut [Token]) -> Result<Option<Token>, StoreError> {
        let Some(token) = tokens.iter_mut().find(|token| token.id == id) else { return Ok(None) };
        if token.revoked_at.is_some() {
            return Ok(Some(token.clone()));
        }
        let gone = Token { revoked_at: Some(self.clock.now()), ..token.clone() };
        let mut next = (*self.view.current()).clone();
        next.epoch = GrantEpoch(next.epoch.0 + 1);
        next.sources.revoked.extend(gone.transport());
        let txn = Txn::of(Write::Token(gone.clone())).and(Write::GrantEpoch(next.epoch));
        self.commit("token.revoke", txn).await?;
        *token = gone.clone();
        self.put_in_force(next);
        Ok(Some(gone))
    }

    fn used(&self, id: TokenId, tokens: &mut [Token]) -> Result<(), StoreError> {
        let now = self.clock.now();
        let Some(token) = tokens.iter_mut().find(|token| token.id == id) else { return Ok(()) };
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
        self.put_in_force(Authority { epoch, policy, sources: now.sources.clone(), routes });
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

/// The transports whose credential is gone.
pub(crate) fn revoked_sources(tokens: &[Token]) -> Sources {
    let gone = tokens.iter().filter(|token| token.revoked_at.is_some());
    let revoked: BTreeSet<_> = gone.filter_map(Token::transport).collect();
    Sources { revoked }
}
