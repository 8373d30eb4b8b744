//! Posts whose outcome stays unclear past the minutes in which Discord knows a nonce: the room is
//! searched, and only then a part is `uncertain`. The gateway runs in this process, on a clock of its own.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clankie::executors::demo::Demo;
use clankie::gateways::discord::{Direct, Discord, Link, Owners, Policy, Settings, Signals, Threads};
use clankie_actors::ports::{Clock, Ids, RoomDelivery};
use clankie_actors::store::Store;
use clankie_actors::{Clankie, HandoffQuery, Ports};
use clankie_domain::admission::Limits;
use clankie_domain::delivery::Posting;
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
struct Forward(AtomicI64);

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
struct Inside {
    fake: FakeDiscord,
    clankie: Clankie,
    clock: Arc<Forward>,
    general: Channel,
    _dir: tempfile::TempDir,
}

impl Inside {
    async fn start() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (fake, clock) = (FakeDiscord::start(), Arc::new(Forward::default()));
        let (dir, general) = (tempfile::tempdir().unwrap(), fake.general());
        let bot = Discord::new(settings(&fake), Arc::clone(&clock) as Arc<dyn Clock>);
        let demo = ExecutorName::parse("demo").unwrap();
        let ports = Ports {
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            ids: Arc::new(Fresh),
            executors: vec![Arc::new(Demo::new(demo.clone()))],
            delivery: Some(Arc::new(bot.clone()) as Arc<dyn RoomDelivery>),
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
        Self { fake, clankie, clock, general, _dir: dir }
    }

    /// Somebody asks, and the minutes in which the nonce is known go by while the post is unclear.
    async fn asked_in_vain(&self, fault: Fault) -> Message {
        self.fake.fault(Calls::posts().always(), fault);
        let asked = self.fake.ask(self.general, self.fake.people("ann"), "hello");
        self.fake
            .until("an unclear post", |log| {
                log.iter().any(|entry| matches!(entry.what, Happening::Faulted { .. })).then_some(())
            })
            .await;
        self.clock.0.fetch_add(PAST_THE_WINDOW_MS, Ordering::SeqCst);
        self.fake.forget_nonces();
        asked
    }

    /// The only record, once its posting is not open any more.
    async fn posted(&self) -> HandoffRecord {
        let query = HandoffQuery { limit: 2, ..HandoffQuery::default() };
        let posted = async {
            loop {
                let record = self.clankie.handoffs(&query).unwrap().handoffs.pop();
                match record {
                    Some(record) if record.result().is_some() && !record.room_delivery.is_open() => return record,
                    _ => tokio::task::yield_now().await,
                }
            }
        };
        tokio::time::timeout(STUCK, posted).await.unwrap()
    }
}

fn settings(fake: &FakeDiscord) -> Settings {
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
    }
}

/// The message stands in the room and every answer was lost: it is found by what it answers.
#[tokio::test]
async fn a_post_that_stands_in_the_room_is_found_after_the_window() {
    let inside = Inside::start().await;
    let asked = inside.asked_in_vain(Fault::CutAfter).await;
    let record = inside.posted().await;
    let stands = inside.fake.replies_to(asked);
    assert_eq!(record.room_delivery.state, Posting::Confirmed);
    assert_eq!((stands.len(), record.room_delivery.confirmed), (1, vec![stands[0].id.to_string()]));
}

/// I7: nothing is found, so nobody says that it arrived; the owner's wish posts it.
#[tokio::test]
async fn i7_a_post_that_is_not_found_is_uncertain_until_the_owner_posts_it_again() {
    let inside = Inside::start().await;
    let asked = inside.asked_in_vain(Fault::CutBefore).await;
    let record = inside.posted().await;
    assert_eq!((record.room_delivery.state, inside.fake.replies_to(asked).len()), (Posting::Uncertain, 0));
    inside.fake.heal();
    inside.clankie.repost(&record.room, record.id).await.unwrap();
    assert_eq!(inside.posted().await.room_delivery.state, Posting::Confirmed);
    assert_eq!(inside.fake.replies_to(asked).len(), 1);
}
