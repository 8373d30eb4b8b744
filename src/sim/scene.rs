//! What everything in a simulated world shares: the time, the power, and the history.
//!
//! The outside of the service (people, owners, the chat, the agents' scripts) acts only while the
//! power is on. What a dying process still does after that is heard by nobody.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clankie_domain::time::Timestamp;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::disk::{Fault, Listener};
use super::history::{History, What};
use super::plot::Deed;

/// The wall clock when a world begins, in milliseconds since the epoch.
const MORNING: i64 = 1_800_000_000_000;

/// Where the hands of the clock stand.
#[derive(Debug, Clone, Copy)]
struct Hands {
    /// The world's age when the process began.
    base: u64,
    began: Option<Instant>,
    /// How far the wall clock was moved.
    moved: i64,
}

/// What everything shares.
#[derive(Debug)]
pub(super) struct Scene {
    power: AtomicBool,
    hands: Mutex<Hands>,
    history: Mutex<History>,
    later: Mutex<Vec<(u64, Deed)>>,
    next_call: AtomicU64,
    /// Something was made durable.
    pub(super) flushed: Notify,
    /// Something is to be done sooner than was planned, or the power went.
    pub(super) woken: Notify,
}

impl Scene {
    /// A world that begins.
    pub(super) fn new(history: History) -> Self {
        Self {
            power: AtomicBool::new(false),
            hands: Mutex::new(Hands { base: 0, began: None, moved: 0 }),
            history: Mutex::new(history),
            later: Mutex::default(),
            next_call: AtomicU64::new(0),
            flushed: Notify::new(),
            woken: Notify::new(),
        }
    }

    /// A process begins, in whose runtime this is called.
    pub(super) fn on(&self) {
        lock(&self.hands).began = Some(Instant::now());
        self.power.store(true, Ordering::SeqCst);
    }

    /// A process ends. Called in its runtime.
    pub(super) fn off(&self) {
        let now = self.now();
        let mut hands = lock(&self.hands);
        (hands.base, hands.began) = (now, None);
        self.power.store(false, Ordering::SeqCst);
    }

    /// Whether anybody outside hears anything.
    pub(super) fn is_on(&self) -> bool {
        self.power.load(Ordering::SeqCst)
    }

    /// How old the world is, in milliseconds. Nothing moves it but time.
    pub(super) fn now(&self) -> u64 {
        let hands = lock(&self.hands);
        let since = hands.began.map(|began| Instant::now().saturating_duration_since(began));
        hands.base + since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }

    /// What the wall clock shows.
    pub(super) fn wall(&self) -> Timestamp {
        let age = i64::try_from(self.now()).unwrap_or(i64::MAX);
        Timestamp(MORNING + age + lock(&self.hands).moved)
    }

    /// Somebody moves the wall clock.
    pub(super) fn move_clock(&self, ms: i64) {
        lock(&self.hands).moved += ms;
    }

    /// Writes something into the history, if anybody hears it.
    pub(super) fn note(&self, what: What) {
        if self.is_on() {
            let now = self.now();
            lock(&self.history).push(now, what);
        }
    }

    /// Writes what is known from outside, also while no process runs.
    pub(super) fn record(&self, what: What) {
        let now = self.now();
        lock(&self.history).push(now, what);
    }

    /// A session is gone; several that go in one moment are noted in an order of their own, since
    /// those that end with their actors end in none.
    pub(super) fn gone(&self, run: clankie_domain::ids::RunId) {
        if self.is_on() {
            let now = self.now();
            lock(&self.history).gone(now, run);
        }
    }

    /// The history so far.
    pub(super) fn history(&self) -> MutexGuard<'_, History> {
        lock(&self.history)
    }

    /// The number of one more call from outside.
    pub(super) fn number(&self) -> u64 {
        self.next_call.fetch_add(1, Ordering::SeqCst)
    }

    /// Something is to be done after so many milliseconds.
    pub(super) fn later(&self, after: u64, deed: Deed) {
        if self.is_on() {
            let at = self.now() + after;
            lock(&self.later).push((at, deed));
            self.woken.notify_one();
        }
    }

    /// What is to be done later, for the plot.
    pub(super) fn take_later(&self) -> Vec<(u64, Deed)> {
        std::mem::take(&mut lock(&self.later))
    }

    /// Sleeps; for ever when the power is off.
    pub(super) async fn sleep(&self, ms: u64) {
        tokio::time::sleep(Duration::from_millis(ms)).await;
        self.while_on().await;
    }

    /// Goes on only while the power is on.
    pub(super) async fn while_on(&self) {
        if !self.is_on() {
            std::future::pending::<()>().await;
        }
    }
}

impl Listener for Scene {
    fn flushed(&self) {
        self.flushed.notify_one();
    }

    fn cut(&self) {
        self.note(What::Cut);
        self.power.store(false, Ordering::SeqCst);
        self.woken.notify_one();
    }

    fn failed(&self, fault: Fault) {
        self.note(What::DiskFailed(fault == Fault::Full));
    }
}

/// Nobody holds a lock while panicking.
pub(super) fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
