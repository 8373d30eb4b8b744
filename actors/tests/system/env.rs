//! A whole service over a store on disk, in one process, on a laptop's scale.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use clankie_actors::domain::admission::Limits;
use clankie_actors::domain::admission::room::{Answer, Canceller, Which};
use clankie_actors::domain::grant::{Gateway, GrantEpoch, GrantPolicy, Plan, Transport};
use clankie_actors::domain::handoff::{HandoffRecord, StateName};
use clankie_actors::domain::ids::{ActorId, DeliveryId, ExecutorName, HandoffId, LaneName, RequestId, RoomId};
use clankie_actors::domain::request::{Request, Source};
use clankie_actors::domain::result::{By, TurnResult};
use clankie_actors::domain::time::Timestamp;
use clankie_actors::ports::{Clock, Ids, Vault};
use clankie_actors::store::Store;
use clankie_actors::{Clankie, HandoffQuery, Ports, Settings};
use tokio::sync::mpsc;
use uuid::Uuid;

use crate::posting::{Elsewhere, Heard};
use crate::puppet::{Puppet, Strings};
use crate::recorder::Recorder;
use crate::tap::Tap;
use crate::vault::Keys;

/// A safety net: no test waits this long unless something hangs.
pub(crate) const LONG: Duration = Duration::from_secs(20);

/// A clock that a test sets, and that can break under whoever asks it.
#[derive(Debug, Default)]
pub(crate) struct HandClock {
    now: AtomicI64,
    pub(crate) panics: AtomicUsize,
}

impl HandClock {
    pub(crate) fn advance(&self, ms: i64) {
        self.now.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        let one = |left: usize| left.checked_sub(1);
        if self.panics.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one).is_ok() {
            panic!("the clock breaks");
        }
        Timestamp(self.now.load(Ordering::SeqCst))
    }
}

/// Ids in the order they are asked for.
#[derive(Debug, Default)]
pub(crate) struct CountedIds(AtomicU64);

impl Ids for CountedIds {
    fn uuid(&self) -> Uuid {
        let count = self.0.fetch_add(1, Ordering::SeqCst) + 1;
        Uuid::from_u64_pair((count << 16) | 0x7000, 0x8000_0000_0000_0000 | count)
    }
}

/// The service and the strings of its sessions.
pub(crate) struct Env {
    pub(crate) clankie: Clankie,
    pub(crate) sessions: mpsc::UnboundedReceiver<Strings>,
    pub(crate) elsewhere: mpsc::UnboundedReceiver<Heard>,
    pub(crate) clock: Arc<HandClock>,
    pub(crate) ids: Arc<CountedIds>,
    pub(crate) executor_panics: Arc<AtomicUsize>,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) policy: GrantPolicy,
    pub(crate) limits: Limits,
    store: Store,
    dir: Arc<tempfile::TempDir>,
    vault: Arc<Keys>,
}

pub(crate) fn room(name: &str) -> RoomId {
    RoomId::ingress(&lane(), name).unwrap()
}

pub(crate) fn lane() -> LaneName {
    LaneName::parse("t").unwrap()
}

pub(crate) fn actor(name: &str) -> ActorId {
    ActorId::ingress(&lane(), name).unwrap()
}

pub(crate) fn delivery(id: &str) -> DeliveryId {
    DeliveryId::parse(id).unwrap()
}

pub(crate) fn request(at: &str, id: &str, who: &str, text: &str) -> Request {
    Request {
        room: room(at),
        delivery: delivery(id),
        actor: actor(who),
        actor_name: who.to_owned(),
        source: Source::Text,
        transport: Transport { gateway: Gateway::Ingress, lane: lane() },
        guild: None,
        wanted: None,
        text: text.to_owned(),
        attachments: vec![],
        context: vec![],
    }
}

impl Env {
    pub(crate) async fn start() -> Self {
        Self::with(GrantPolicy::default(), Limits::default()).await
    }

    pub(crate) async fn with(policy: GrantPolicy, limits: Limits) -> Self {
        let dir = Arc::new(tempfile::tempdir().unwrap());
        let clock = Arc::new(HandClock::default());
        clock.advance(1_000_000);
        Self::over(dir, clock, Arc::default(), policy, limits).await
    }

    /// Over a store in memory whose commits happen where they are asked for: time can be paused,
    /// since no thread works beside the runtime.
    pub(crate) async fn inline(limits: Limits) -> Self {
        let clock = Arc::new(HandClock::default());
        clock.advance(1_000_000);
        let ids = Arc::<CountedIds>::default();
        let store = Store::open_backend(redb::backends::InMemoryBackend::new(), ids.uuid()).unwrap();
        let dir = Arc::new(tempfile::tempdir().unwrap());
        Self::on(store, dir, clock, ids, GrantPolicy::default(), limits).await
    }

    /// Over a store in memory with the writer thread, behind that tap.
    pub(crate) async fn behind(tap: &Tap) -> Self {
        let clock = Arc::new(HandClock::default());
        clock.advance(1_000_000);
        let ids = Arc::<CountedIds>::default();
        let store = Store::open_backend_with_writer(tap.storage(), ids.uuid()).unwrap();
        let dir = Arc::new(tempfile::tempdir().unwrap());
        Self::on(store, dir, clock, ids, GrantPolicy::default(), Limits::default()).await
    }

    async fn over(
        dir: Arc<tempfile::TempDir>,
        clock: Arc<HandClock>,
        ids: Arc<CountedIds>,
        policy: GrantPolicy,
        limits: Limits,
    ) -> Self {
        let state = dir.path().join("state");
        let store = Store::open(&state, ids.uuid()).unwrap();
        Self::on(store, dir, clock, ids, policy, limits).await
    }

    async fn on(
        store: Store,
        dir: Arc<tempfile::TempDir>,
        clock: Arc<HandClock>,
        ids: Arc<CountedIds>,
        policy: GrantPolicy,
        limits: Limits,
    ) -> Self {
        clankie_actors::choose_mutant();
        let vault = Arc::<Keys>::default();
        let (puppet, sessions) = Puppet::new();
        let (delivery, elsewhere) = Elsewhere::new();
        let executor_panics = Arc::clone(&puppet.panics);
        let recorder = Arc::new(Recorder::new(store.clone()));
        let name = ExecutorName::parse("puppet").unwrap();
        let routes = BTreeMap::from([Plan::Social, Plan::Machine, Plan::Owner].map(|plan| (plan, name.clone())));
        let settings = Settings {
            limits,
            policy: policy.clone(),
            routes,
            stall_ms: 300_000,
            output_max: 1 << 20,
            stop_grace: Duration::from_millis(200),
            reactions: vec!["seen".to_owned(), "done".to_owned()],
        };
        let ports = Ports {
            clock: clock.clone(),
            ids: ids.clone(),
            executors: vec![Arc::new(puppet)],
            delivery: Some(delivery),
            vault: vault.clone(),
            machine_tools: vec![recorder.clone()],
        };
        let clankie = Clankie::start(store.clone(), ports, settings).await.unwrap();
        Self { clankie, sessions, elsewhere, clock, ids, executor_panics, recorder, policy, limits, store, dir, vault }
    }

    /// Stops without any grace and starts again over the same store.
    pub(crate) async fn restart(self) -> Self {
        let Self { clankie, clock, ids, policy, limits, store, dir, sessions, .. } = self;
        drop(sessions);
        clankie.stop(Duration::ZERO).await;
        drop(clankie);
        store.close();
        Self::over(dir, clock, ids, policy, limits).await
    }

    pub(crate) async fn submit(&self, at: &str, id: &str, who: &str, text: &str) -> Answer {
        self.clankie.submit(request(at, id, who, text)).await.unwrap()
    }

    /// Submits and gives the id of the accepted record.
    pub(crate) async fn accept(&self, at: &str, id: &str, who: &str, text: &str) -> HandoffId {
        match self.submit(at, id, who, text).await {
            Answer::Accepted { handoff, .. } => handoff,
            other => panic!("{id} was not accepted: {other:?}"),
        }
    }

    pub(crate) async fn cancel(&self, at: &str, id: &str, who: &str) -> Answer {
        let which = Which::Delivery(delivery(id));
        self.clankie.cancel(&room(at), which, Canceller::Speaker(actor(who))).await.unwrap()
    }

    pub(crate) async fn cancel_as_owner(&self, at: &str, id: HandoffId) -> Answer {
        let by = Canceller::Authority(By::service());
        self.clankie.cancel(&room(at), Which::Handoff(id), by).await.unwrap()
    }

    /// The strings of the next session to start.
    pub(crate) async fn session(&mut self) -> Strings {
        tokio::time::timeout(LONG, self.sessions.recv()).await.expect("a session in time").expect("a session")
    }

    /// The strings of the next session, ready.
    pub(crate) async fn ready(&mut self) -> Strings {
        let strings = self.session().await;
        strings.ready().await;
        strings
    }

    /// How many durable commits were made.
    pub(crate) fn commits(&self) -> u64 {
        self.store.commits()
    }

    /// The asks whose secret can still be told from another one.
    pub(crate) fn vault_digests(&self) -> Vec<RequestId> {
        self.vault.compared()
    }

    /// The asks whose secret could still be read.
    pub(crate) fn vault_keys(&self) -> Vec<RequestId> {
        self.vault.kept()
    }

    pub(crate) fn seal(&self, request: RequestId, words: &str) {
        self.vault.seal(request, words).unwrap();
    }

    pub(crate) fn record(&self, id: HandoffId) -> HandoffRecord {
        self.clankie.handoff(id).unwrap().expect("a record")
    }

    /// The result, once there is one.
    pub(crate) async fn result(&self, id: HandoffId) -> TurnResult {
        self.clankie.wait_result(id, LONG).await;
        self.record(id).result().cloned().unwrap_or_else(|| panic!("{id} has no result in time"))
    }

    pub(crate) fn states(&self) -> Vec<(String, StateName)> {
        let query = HandoffQuery { limit: 1_000, ..HandoffQuery::default() };
        let page = self.clankie.handoffs(&query).unwrap();
        page.handoffs.iter().rev().map(|record| (record.delivery.to_string(), record.state_name())).collect()
    }

    /// The epoch of authority that is durable.
    pub(crate) fn epoch(&self) -> GrantEpoch {
        self.store.snapshot().unwrap().grant_epoch().unwrap()
    }

    /// Returns once `holds` does, looking again after each durable change.
    pub(crate) async fn until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let mut changes = self.store.changes();
        let wait = async {
            while !holds(self) {
                changes.changed().await.expect("the store lives");
            }
        };
        tokio::time::timeout(LONG, wait).await.unwrap_or_else(|_| panic!("never came: {what}; {:?}", self.states()));
    }
}

pub(crate) fn settled(text: &str) -> TurnResult {
    TurnResult::Settled { text: text.to_owned(), media: vec![] }
}
