//! Commits: one redb transaction per group, durable before anyone hears of it; and the one thread
//! that groups what is waiting.
//!
//! It fails stop. After an error of redb or of the disk, and after a panic, the outcome of what was
//! in flight is unknown, so nothing is retried and every later commit is refused.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, mpsc};

use clankie_domain::mutant::{self, Mutant};
use redb::{Database, Durability, ReadTransaction, ReadableDatabase};
use tokio::sync::{oneshot, watch};

use super::directory::Lock;
use super::error::StoreError;
use super::group::{Group, Touched};
use super::txn::{Committed, Prepared};

/// Transactions in one redb transaction at most: a batch of this size still commits in a few
/// milliseconds, so the first in it does not wait long for the last.
pub(super) const GROUP_MAX: usize = 256;

/// The open file, and the lock that goes with it. The lock is let go after the file is closed.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) database: Database,
    pub(super) lock: Option<Lock>,
}

/// What commits and reads share.
#[derive(Debug)]
pub(super) struct Core {
    open: RwLock<Option<Open>>,
    failed: watch::Sender<Option<String>>,
    changes: watch::Sender<u64>,
    commits: AtomicU64,
}

/// One transaction in the queue, and who waits for it.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) txn: Prepared,
    pub(super) answer: Option<oneshot::Sender<Result<Committed, StoreError>>>,
}

impl Core {
    pub(super) fn new(open: Open, last_event: u64) -> Self {
        Self {
            open: RwLock::new(Some(open)),
            failed: watch::Sender::new(None),
            changes: watch::Sender::new(last_event),
            commits: AtomicU64::new(0),
        }
    }

    /// Applies a group and makes it durable.
    pub(super) fn commit(&self, group: &[Prepared]) -> Result<Vec<Committed>, StoreError> {
        self.health()?;
        let _sentinel = Sentinel(self);
        match self.write(group) {
            Ok(done) => Ok(done),
            Err(why) => Err(self.fail(why.to_string())),
        }
    }

    fn write(&self, group: &[Prepared]) -> Result<Vec<Committed>, StoreError> {
        let open = self.open();
        let Some(open) = open.as_ref() else { return Err(closed()) };
        let mut txn = open.database.begin_write()?;
        // A commit of another thread may have failed while this one waited for its turn.
        self.health()?;
        let flushed = !mutant::on(Mutant::I2CommitIsNotFlushed);
        txn.set_durability(if flushed { Durability::Immediate } else { Durability::None })?;
        // Two flushes a commit. With one, a stranger who chooses the stored bytes could forge the
        // checksum of a torn commit; and a repair would read the whole file.
        txn.set_quick_repair(true);
        let mut tables = Group::open(&txn)?;
        let done = group.iter().map(|txn| tables.apply(txn)).collect::<Result<Vec<_>, _>>()?;
        match tables.flush()? {
            Touched::Nothing => txn.abort()?,
            Touched::Something => {
                fail::fail_point!("store.commit.before", |_| std::process::abort());
                txn.commit()?;
                fail::fail_point!("store.commit.after", |_| std::process::abort());
                self.commits.fetch_add(1, Ordering::Relaxed);
                let last = done.last().map_or(0, |last| last.last_event);
                self.changes.send_modify(|seq| *seq = (*seq).max(last));
            }
        }
        Ok(done)
    }

    pub(super) fn read(&self) -> Result<ReadTransaction, StoreError> {
        let open = self.open();
        let Some(open) = open.as_ref() else { return Err(closed()) };
        Ok(open.database.begin_read()?)
    }

    pub(super) fn note_url(&self, url: &str) {
        let open = self.open();
        let Some(lock) = open.as_ref().and_then(|open| open.lock.as_ref()) else { return };
        if let Err(why) = lock.note(url) {
            tracing::warn!(%why, "the lock file does not say where this service listens");
        }
    }

    /// Closes the file and lets the lock go. Readers that are still out get errors.
    pub(super) fn close(&self) {
        drop(self.open.write().unwrap_or_else(PoisonError::into_inner).take());
    }

    pub(super) fn health(&self) -> Result<(), StoreError> {
        match self.failed.borrow().as_ref() {
            Some(reason) => Err(StoreError::Failed(reason.clone())),
            None => Ok(()),
        }
    }

    pub(super) fn failed(&self) -> watch::Receiver<Option<String>> {
        self.failed.subscribe()
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(super) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    /// What a commit hears that the writer never answered.
    pub(super) fn unanswered(&self) -> StoreError {
        self.health().err().unwrap_or_else(closed)
    }

    fn open(&self) -> RwLockReadGuard<'_, Option<Open>> {
        self.open.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first reason stands.
    fn fail(&self, reason: String) -> StoreError {
        self.failed.send_if_modified(|failed| {
            let first = failed.is_none();
            if first {
                tracing::error!(reason, "the store has stopped");
                *failed = Some(reason);
            }
            first
        });
        self.unanswered()
    }
}

fn closed() -> StoreError {
    StoreError::Failed("it was closed".to_owned())
}

/// Notices a panic in a commit.
struct Sentinel<'a>(&'a Core);

impl Drop for Sentinel<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail("a commit panicked".to_owned());
        }
    }
}

/// The writer thread: takes what is waiting, commits it, answers. Ends with the queue.
///
/// There is no timer: a group forms while the one before it is being made durable, and a lone
/// commit waits for nobody.
pub(super) fn run(core: &Core, jobs: &mpsc::Receiver<Job>) {
    while let Ok(first) = jobs.recv() {
        let waiting = std::iter::once(first).chain(jobs.try_iter()).take(GROUP_MAX);
        let (group, answers): (Vec<_>, Vec<_>) = waiting.map(|job| (job.txn, job.answer)).unzip();
        let results: Vec<_> = match core.commit(&group) {
            Ok(done) => done.into_iter().map(Ok).collect(),
            Err(why) => vec![Err(why); answers.len()],
        };
        for (answer, result) in answers.into_iter().zip(results) {
            // Who stopped waiting does not hear it; the commit stands all the same.
            answer.map(|answer| answer.send(result));
        }
    }
}
