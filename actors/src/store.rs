//! The store: what is true after a power cut.
//!
//! One redb file, one writer. A commit is durable before anyone hears of it, whole or not at all,
//! and what waits is grouped into one commit. Reads are snapshots and never wait for the writer.
//! Nothing here knows of rooms' rules: the domain decides, this remembers.
//!
//! Invariants: I2 (an accepted delivery has a durable record) and I3 (one key, one result) rest on
//! a transaction holding record, receipt and permit together.

mod directory;
mod error;
mod group;
mod in_room;
mod mailbox;
mod open;
mod prune;
mod records;
mod snapshot;
mod tables;
mod transcript;
mod txn;
mod writer;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;

use tokio::sync::{oneshot, watch};
use uuid::Uuid;

pub use error::{OpenError, StoreError};
pub use snapshot::{LIST_MAX, Snapshot};
pub use txn::{Applied, Committed, Guard, HeldPermit, Txn, Write};

use txn::{Prepared, prepare};
use writer::{Core, Job, Open};

/// What errors call a storage that is no file.
const ELSEWHERE: &str = "the given storage";

/// The open store. Cheap to clone; the file is closed by [`Store::close`] or with the last clone.
#[derive(Clone, Debug)]
pub struct Store(Arc<Shell>);

#[derive(Debug)]
struct Shell {
    core: Arc<Core>,
    queue: Mutex<Queue>,
    epoch: Uuid,
}

/// How commits reach the file.
#[derive(Debug)]
enum Queue {
    /// Through the writer thread. The channel has no bound of its own: a room has one commit at a
    /// time, and a run's transcript is bounded by its output.
    Thread { jobs: mpsc::Sender<Job>, writer: JoinHandle<()> },
    /// On the thread that commits, so that a simulation decides what happens when.
    Inline,
    /// Not any more.
    Closed,
}

/// Where a transaction went.
enum Handed {
    Queued(oneshot::Receiver<Result<Committed, StoreError>>),
    Here(Prepared),
}

impl Store {
    /// Opens or makes the store in `dir`, for this process alone. `fresh_epoch` becomes the
    /// identity of a store that is made.
    pub fn open(dir: &Path, fresh_epoch: Uuid) -> Result<Self, OpenError> {
        directory::secure(dir)?;
        let lock = directory::Lock::take(dir)?;
        let path = dir.join(directory::DATABASE);
        directory::make_once(dir, |file, path| open::file(file, path, fresh_epoch).map(drop))?;
        let (database, facts) = open::file(directory::private_file(&path)?, &path, fresh_epoch)?;
        let core = Arc::new(Core::new(Open { database, lock: Some(lock) }, facts.last_event));
        let queue = Queue::thread(&core).map_err(|why| OpenError::Io { path, why })?;
        Ok(Self::over(core, queue, facts.epoch))
    }

    /// Opens or makes a store over any storage, without a lock and without a thread: every commit
    /// happens where it is asked for. For simulations and for tests of power cuts.
    pub fn open_backend(backend: impl redb::StorageBackend, fresh_epoch: Uuid) -> Result<Self, OpenError> {
        let (core, epoch) = Self::unlocked(backend, fresh_epoch)?;
        Ok(Self::over(core, Queue::Inline, epoch))
    }

    /// Opens or makes a store over any storage, without a lock but with the writer thread.
    pub fn open_backend_with_writer(backend: impl redb::StorageBackend, fresh_epoch: Uuid) -> Result<Self, OpenError> {
        let (core, epoch) = Self::unlocked(backend, fresh_epoch)?;
        let queue = Queue::thread(&core).map_err(|why| OpenError::Io { path: ELSEWHERE.into(), why })?;
        Ok(Self::over(core, queue, epoch))
    }

    fn unlocked(backend: impl redb::StorageBackend, fresh_epoch: Uuid) -> Result<(Arc<Core>, Uuid), OpenError> {
        let (database, facts) = open::backend(backend, Path::new(ELSEWHERE), fresh_epoch)?;
        Ok((Arc::new(Core::new(Open { database, lock: None }, facts.last_event)), facts.epoch))
    }

    fn over(core: Arc<Core>, queue: Queue, epoch: Uuid) -> Self {
        Self(Arc::new(Shell { core, queue: Mutex::new(queue), epoch }))
    }

    /// Commits a transaction. The answer comes after it is durable; an error other than
    /// [`StoreError::Encoding`] leaves open whether it is.
    pub async fn commit(&self, txn: Txn) -> Result<Committed, StoreError> {
        match self.hand(prepare(txn)?)? {
            Handed::Queued(answer) => answer.await.unwrap_or_else(|_| Err(self.0.core.unanswered())),
            Handed::Here(txn) => {
                // Others get a turn on both sides of the commit, as they do with the thread.
                turn().await;
                let done = self.0.core.commit(&[txn])?;
                turn().await;
                one(done)
            }
        }
    }

    /// Commits a transaction on this thread, by the same rules: for boot, simulation and bench.
    pub fn commit_now(&self, txn: Txn) -> Result<Committed, StoreError> {
        one(self.commit_group(vec![txn])?)
    }

    /// Commits several transactions in one durable step on this thread, as the writer does with
    /// what waits. Each holds or fails its own guards.
    pub fn commit_group(&self, txns: Vec<Txn>) -> Result<Vec<Committed>, StoreError> {
        let group = txns.into_iter().map(prepare).collect::<Result<Vec<_>, _>>()?;
        self.0.core.commit(&group)
    }

    /// Commits a transaction that nobody waits for. A failure is heard by whoever commits next.
    pub fn enqueue(&self, txn: Txn) -> Result<(), StoreError> {
        let txn = prepare(txn)?;
        self.0.core.health()?;
        match &*self.0.queue() {
            Queue::Thread { jobs, .. } => jobs.send(Job { txn, answer: None }).map_err(|_| self.0.core.unanswered()),
            Queue::Inline => self.0.core.commit(&[txn]).map(drop),
            Queue::Closed => Err(self.0.core.unanswered()),
        }
    }

    fn hand(&self, txn: Prepared) -> Result<Handed, StoreError> {
        self.0.core.health()?;
        match &*self.0.queue() {
            Queue::Thread { jobs, .. } => {
                let (answer, hear) = oneshot::channel();
                jobs.send(Job { txn, answer: Some(answer) }).map_err(|_| self.0.core.unanswered())?;
                Ok(Handed::Queued(hear))
            }
            Queue::Inline => Ok(Handed::Here(txn)),
            Queue::Closed => Err(self.0.core.unanswered()),
        }
    }

    /// What is durable now, unchanged by later commits. To be dropped soon: pages that it can see
    /// are not reused while it is held.
    pub fn snapshot(&self) -> Result<Snapshot, StoreError> {
        Ok(Snapshot::new(self.0.core.read()?, self.0.epoch))
    }

    /// The identity given when this store was made; another one after it was replaced.
    pub fn epoch(&self) -> Uuid {
        self.0.epoch
    }

    /// `Err` with the reason once it has stopped.
    pub fn health(&self) -> Result<(), StoreError> {
        self.0.core.health()
    }

    /// `Some(reason)` once it has stopped.
    pub fn failed(&self) -> watch::Receiver<Option<String>> {
        self.0.core.failed()
    }

    /// The last durable event's sequence. It wakes with every commit, also when there was no event.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.core.changes()
    }

    /// How many durable commits were made: less than there were transactions when they waited together.
    pub fn commits(&self) -> u64 {
        self.0.core.commits()
    }

    /// Writes down where the service listens, for a second one that is refused.
    pub fn note_url(&self, url: &str) {
        self.0.core.note_url(url);
    }

    /// Commits what is queued, closes the file and lets the next service in. Other clones and
    /// snapshots get errors from now on.
    pub fn close(self) {
        self.0.shut();
    }
}

impl Queue {
    fn thread(core: &Arc<Core>) -> std::io::Result<Self> {
        let (jobs, waiting) = mpsc::channel();
        let core = Arc::clone(core);
        let run = move || writer::run(&core, &waiting);
        let writer = std::thread::Builder::new().name("clankie-store".to_owned()).spawn(run)?;
        Ok(Self::Thread { jobs, writer })
    }
}

impl Shell {
    fn queue(&self) -> std::sync::MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn shut(&self) {
        let queue = std::mem::replace(&mut *self.queue(), Queue::Closed);
        if let Queue::Thread { jobs, writer } = queue {
            drop(jobs);
            // A writer that panicked has said so through `failed`.
            let _ended = writer.join();
        }
        self.core.close();
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        self.shut();
    }
}

fn one(done: Vec<Committed>) -> Result<Committed, StoreError> {
    done.into_iter().next().ok_or_else(|| StoreError::Storage("a commit gave no answer".to_owned()))
}

/// Lets every other task that is ready run first.
async fn turn() {
    let mut waited = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut waited, true) {
            return std::task::Poll::Ready(());
        }
        context.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}
