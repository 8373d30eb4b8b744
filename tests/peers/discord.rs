//! A strict Discord on loopback: REST under `/api/v10` and the gateway websocket on one port.
//!
//! It serves from a thread and a runtime of its own, so a harness may block, and kill and restart
//! the bot, as it likes; what stands in the channels stays. It refuses what Discord refuses, and
//! whatever no well-behaved client would do is logged as a violation besides. All faults are put
//! in by the test; nothing here is random and nothing waits unless it was told to.

#![allow(dead_code, unused_imports, reason = "each test binary uses its own part of this peer")]
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "it stops at what it did not expect")]
#![allow(unreachable_pub, reason = "it is a module of several binaries")]

#[path = "discord/call.rs"]
mod call;
#[path = "discord/channels.rs"]
mod channels;
#[path = "discord/dispatch.rs"]
mod dispatch;
#[path = "discord/driver.rs"]
mod driver;
#[path = "discord/faults.rs"]
mod faults;
#[path = "discord/gateway.rs"]
mod gateway;
#[path = "discord/ids.rs"]
mod ids;
#[path = "discord/interactions.rs"]
mod interactions;
#[path = "discord/json.rs"]
mod json;
#[path = "discord/line.rs"]
mod line;
#[path = "discord/log.rs"]
mod log;
#[path = "discord/mentions.rs"]
mod mentions;
#[path = "discord/messages.rs"]
mod messages;
#[path = "discord/rest.rs"]
mod rest;
#[path = "discord/strict.rs"]
mod strict;
#[path = "discord/trouble.rs"]
mod trouble;
#[path = "discord/world.rs"]
mod world;

use std::net::SocketAddr;
use std::sync::mpsc;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub(crate) use faults::{Calls, Fault, Gate};
pub(crate) use gateway::{Close, Heartbeats};
pub(crate) use ids::{Channel, Guild, Interaction, Message, Person};
pub(crate) use log::{Answer, Entry, Happening, Pings, Posted};
pub(crate) use world::Right;
use world::World;

/// How long a test waits for something that should happen at once before it is called stuck.
pub(crate) const STUCK: Duration = Duration::from_secs(60);

/// The only token that is let in, without its prefix.
pub(crate) const TOKEN: &str = "MTIz.fake.discord-token";

/// A Discord that runs until it is dropped.
#[derive(Debug)]
pub(crate) struct FakeDiscord {
    address: SocketAddr,
    shared: Arc<Shared>,
    orders: tokio::sync::mpsc::UnboundedSender<Order>,
    thread: Option<JoinHandle<()>>,
}

/// What the serving thread and the driver both hold.
#[derive(Debug)]
struct Shared {
    world: Mutex<World>,
    happened: Condvar,
    changed: tokio::sync::watch::Sender<u64>,
}

#[derive(Debug)]
enum Order {
    Down(mpsc::Sender<()>),
    Deaf(mpsc::Sender<()>),
    Up(mpsc::Sender<()>),
    Stop,
}

impl FakeDiscord {
    /// A Discord with one bot, one guild `home` and one text channel `general` in it.
    pub(crate) fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let changed = tokio::sync::watch::Sender::new(0);
        let world = Mutex::new(World::new(address));
        let shared = Arc::new(Shared { world, happened: Condvar::new(), changed });
        let (orders, taken) = tokio::sync::mpsc::unbounded_channel();
        let served = Arc::clone(&shared);
        let thread = std::thread::spawn(move || line::serve(listener, address, served, taken));
        Self { address, shared, orders, thread: Some(thread) }
    }

    /// What to give serenity's `HttpBuilder::proxy`: scheme, host and port, without a path.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The bot's token, as it stands in a configuration.
    pub(crate) fn token(&self) -> &'static str {
        TOKEN
    }

    /// Ends every connection and refuses new ones; what stands in the channels stays, and people
    /// can go on talking. Returns when the port is closed.
    pub(crate) fn down(&self) {
        self.order(Order::Down);
    }

    /// Ends every REST connection and refuses new ones; gateway connections stay. Returns when the port is closed.
    pub(crate) fn deaf(&self) {
        self.order(Order::Deaf);
    }

    /// Listens on the same port again.
    pub(crate) fn up(&self) {
        self.order(Order::Up);
    }

    fn order(&self, order: impl FnOnce(mpsc::Sender<()>) -> Order) {
        let (done, heard) = mpsc::channel();
        self.orders.send(order(done)).unwrap();
        heard.recv_timeout(STUCK).unwrap();
    }

    /// Everything that happened, oldest first.
    pub(crate) fn log(&self) -> Vec<Entry> {
        self.world().log.clone()
    }

    /// Blocks until `found` says something about the log, and returns it. For harnesses that have
    /// no runtime; in a test that has one, use [`FakeDiscord::until`].
    #[track_caller]
    pub(crate) fn wait<T>(&self, what: &str, found: impl Fn(&[Entry]) -> Option<T>) -> T {
        let deadline = Instant::now() + STUCK;
        loop {
            // Not under the lock: what is asked may look at the channels too.
            let log = self.log();
            if let Some(found) = found(&log) {
                return found;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "stuck waiting for {what}; the log:\n{}", log::shown(&log));
            let world = self.world();
            if world.log.len() == log.len() {
                drop(self.shared.happened.wait_timeout(world, left));
            }
        }
    }

    /// Waits until `found` says something about the log, and returns it.
    pub(crate) async fn until<T>(&self, what: &str, found: impl Fn(&[Entry]) -> Option<T>) -> T {
        let mut changed = self.shared.changed.subscribe();
        let waiting = async {
            loop {
                if let Some(found) = found(&self.log()) {
                    return found;
                }
                changed.changed().await.unwrap();
            }
        };
        match tokio::time::timeout(STUCK, waiting).await {
            Ok(found) => found,
            Err(_) => panic!("stuck waiting for {what}; the log:\n{}", log::shown(&self.log())),
        }
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.shared.lock()
    }

    /// Does something to the world and wakes whoever waits for it.
    fn change<T>(&self, act: impl FnOnce(&mut World) -> T) -> T {
        self.shared.change(act)
    }
}

impl Shared {
    /// A test that panicked while it held the lock must not hide its own message behind this one.
    fn lock(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, act: impl FnOnce(&mut World) -> T) -> T {
        let mut world = self.lock();
        let done = act(&mut world);
        let length = world.log.len() as u64;
        drop(world);
        self.happened.notify_all();
        self.changed.send_replace(length);
        done
    }
}

impl Drop for FakeDiscord {
    fn drop(&mut self) {
        let _ = self.orders.send(Order::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
