//! The gateway and the actors in this process, on a clock that a test puts forward, against the fake Discord.

use std::collections::BTreeMap;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clankie::executors::demo::Demo;
use clankie::files::Files;
use clankie::gateways::discord::{Direct, Discord, Link, Owners, Policy, Settings, Signals, Threads};
use clankie::owner::vault::FileVault;
use clankie_actors::ports::{Clock, Ids, RoomDelivery};
use clankie_actors::store::Store;
use clankie_actors::{Clankie, HandoffQuery, Ports};
use clankie_domain::admission::Limits;
use clankie_domain::grant::{GrantPolicy, Plan};
use clankie_domain::handoff::HandoffRecord;
use clankie_domain::ids::ExecutorName;
use clankie_domain::time::Timestamp;
use uuid::Uuid;

use crate::fake::{Calls, Channel, FakeDiscord, Fault, Happening, Message, STUCK};

/// Longer than Discord is trusted to know a nonce.
const PAST_THE_WINDOW_MS: i64 = 4 * 60 * 1_000;

/// The machine's clock, and how far a test has put it forward.
#[derive(Debug, Default)]
pub(crate) struct Forward(AtomicI64);

impl Clock for Forward {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        Timestamp(i64::try_from(since.as_millis()).unwrap() + self.0.load(Ordering::SeqCst))
    }
}

#[derive(Debug)]
struct Fresh;

impl Ids for Fresh {
    fn uuid(&self) -> Uuid {
        Uuid::now_v7()
    }
}

/// The whole service in this process.
pub(crate) struct Inside {
    pub(crate) fake: Arc<FakeDiscord>,
    pub(crate) clankie: Clankie,
    clock: Arc<Forward>,
    pub(crate) general: Channel,
    dir: tempfile::TempDir,
}

impl Inside {
    pub(crate) async fn start() -> Self {
        clankie_actors::choose_mutant();
        let (fake, clock) = (Arc::new(FakeDiscord::start()), Arc::new(Forward::default()));
        Self::over(fake, clock, tempfile::tempdir().unwrap()).await
    }

    /// What another process finds that starts some minutes after this one was killed: what was durable.
    pub(crate) async fn killed_and_started_minutes_later(&self) -> Self {
        let (dir, state) = (tempfile::tempdir().unwrap(), Path::new("state"));
        std::fs::DirBuilder::new().mode(0o700).create(dir.path().join(state)).unwrap();
        for file in std::fs::read_dir(self.dir.path().join(state)).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), dir.path().join(state).join(file.file_name())).unwrap();
        }
        self.minutes_later();
        Self::over(Arc::clone(&self.fake), Arc::clone(&self.clock), dir).await
    }

    async fn over(fake: Arc<FakeDiscord>, clock: Arc<Forward>, dir: tempfile::TempDir) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let general = fake.general();
        let bot = Discord::new(settings(&fake, dir.path()), Arc::clone(&clock) as Arc<dyn Clock>);
        let demo = ExecutorName::parse("demo").unwrap();
        let ports = Ports {
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            ids: Arc::new(Fresh),
            executors: vec![Arc::new(Demo::new(demo.clone()))],
            delivery: Some(Arc::new(bot.clone()) as Arc<dyn RoomDelivery>),
            vault: Arc::new(FileVault::open(dir.path()).unwrap()),
            machine_tools: Vec::new(),
        };
        let settings = clankie_actors::Settings {
            limits: Limits::default(),
            policy: GrantPolicy::default(),
            routes: BTreeMap::from([Plan::Social, Plan::Machine, Plan::Owner].map(|plan| (plan, demo.clone()))),
            stall_ms: 300_000,
            output_max: 1 << 20,
            stop_grace: Duration::from_secs(1),
            reactions: Vec::new(),
        };
        let store = Store::open(&dir.path().join("state"), Uuid::now_v7()).unwrap();
        let clankie = Clankie::start(store, ports, settings).await.unwrap();
        tokio::spawn(bot.clone().run(clankie.clone()));
        let ready = async {
            while bot.status().link != Link::Ready {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(STUCK, ready).await.unwrap();
        Self { fake, clankie, clock, general, dir }
    }

    /// Somebody asks, and the minutes in which the nonce is known go by while the post is unclear.
    pub(crate) async fn asked_in_vain(&self, fault: Fault) -> Message {
        let asked = self.asked(fault).await;
        self.minutes_later();
        asked
    }

    pub(crate) fn minutes_later(&self) {
        self.past_the_window();
        self.fake.forget_nonces();
    }

    /// The window is over by the service's clock, and Discord still shows the nonces.
    pub(crate) fn past_the_window(&self) {
        self.forward(PAST_THE_WINDOW_MS);
    }

    pub(crate) fn forward(&self, ms: i64) {
        self.clock.0.fetch_add(ms, Ordering::SeqCst);
    }

    /// Somebody asks, and the post is unclear.
    pub(crate) async fn asked(&self, fault: Fault) -> Message {
        self.fake.fault(Calls::posts().always(), fault);
        let asked = self.fake.ask(self.general, self.fake.people("ann"), "hello");
        self.fake
            .until("an unclear post", |log| {
                log.iter().any(|entry| matches!(entry.what, Happening::Faulted { .. })).then_some(())
            })
            .await;
        asked
    }

    /// The only record, once this holds for it.
    pub(crate) async fn record(&self, holds: impl Fn(&HandoffRecord) -> bool) -> HandoffRecord {
        let query = HandoffQuery { limit: 2, ..HandoffQuery::default() };
        let looking = async {
            loop {
                let record = self.clankie.handoffs(&query).unwrap().handoffs.pop();
                match record {
                    Some(record) if holds(&record) => return record,
                    _ => tokio::task::yield_now().await,
                }
            }
        };
        tokio::time::timeout(STUCK, looking).await.unwrap()
    }

    /// The only record, once its posting is not open any more.
    pub(crate) async fn posted(&self) -> HandoffRecord {
        self.record(|record| record.result().is_some() && !record.room_delivery.is_open()).await
    }
}

/// Lets this much time go by for whatever rests in this process.
pub(crate) async fn rested(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

fn settings(fake: &FakeDiscord, dir: &Path) -> Settings {
    let signal = "👀".to_owned();
    Settings {
        token: fake.token().to_owned(),
        api_url: Some(fake.url()),
        policy: Policy {
            guilds: [fake.guild("home").0].into(),
            channels: [].into(),
            direct: Direct::Nobody,
            free_talk: [].into(),
            threads: Threads::Apart,
            stop_word: "stop".to_owned(),
            owners: Owners::default(),
        },
        signals: Signals { seen: signal.clone(), joined: signal.clone(), done: signal.clone(), busy: signal },
        catch_up_count: 20,
        catch_up_age: None,
        files: Files::of(dir),
    }
}
