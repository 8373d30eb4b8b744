//! A disk in memory that is cut, runs full and fails, as the seed says.
//!
//! What was written is in `live`; what was flushed as well is in `durable`. A process that dies
//! leaves `live`, as the page cache does; a power cut leaves `durable` with such sectors of the rest
//! as chance keeps. A process reaches the disk through a [`Lease`], which ends with it: nothing that
//! a dead process does any more reaches the disk.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redb::StorageBackend;

use super::dice::Dice;

/// What a power cut keeps or loses as a whole.
const SECTOR: usize = 512;

/// A fault that waits for its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The power goes.
    Cut,
    /// The disk is full from then on, until the process ends.
    Full,
    /// One call fails.
    Broken,
}

#[derive(Debug)]
enum Move {
    Write { at: usize, data: Vec<u8> },
    Len(usize),
}

#[derive(Debug, Default)]
struct Inner {
    live: Vec<u8>,
    durable: Vec<u8>,
    unsynced: Vec<Move>,
    /// Which process may use it.
    lease: u64,
    /// Calls until the fault.
    armed: Option<(u64, Fault)>,
    full: bool,
    /// Whether the power went.
    is_cut: bool,
}

/// What the disk tells the world.
pub(super) trait Listener: Send + Sync + std::fmt::Debug {
    /// Something is durable now.
    fn flushed(&self);
    /// The power went.
    fn cut(&self);
    /// A call failed.
    fn failed(&self, fault: Fault);
}

/// The disk.
#[derive(Debug, Clone, Default)]
pub(super) struct Disk(Arc<Mutex<Inner>>);

/// One process's way to the disk.
#[derive(Debug)]
pub(super) struct Lease {
    disk: Disk,
    number: u64,
    listener: Arc<dyn Listener>,
}

impl Disk {
    /// A way to the disk for a process that begins. The one before has none any more.
    pub(super) fn lease(&self, listener: Arc<dyn Listener>) -> Lease {
        let mut inner = self.inner();
        inner.lease += 1;
        (inner.full, inner.is_cut, inner.armed) = (false, false, None);
        let number = inner.lease;
        drop(inner);
        Lease { disk: self.clone(), number, listener }
    }

    /// A fault at the `calls`th call from now.
    pub(super) fn arm(&self, calls: u64, fault: Fault) {
        self.inner().armed = Some((calls.max(1), fault));
    }

    /// No fault is due any more.
    pub(super) fn disarm(&self) {
        self.inner().armed = None;
    }

    /// The process is gone, with or without the power.
    pub(super) fn end(&self, dice: &mut Dice) {
        let mut inner = self.inner();
        inner.lease += 1;
        inner.armed = None;
        if !inner.is_cut {
            return;
        }
        let unsynced = std::mem::take(&mut inner.unsynced);
        let odds = match dice.below(4) {
            0 => 0,
            1 => 10,
            _ => dice.between(1, 9),
        };
        for change in &unsynced {
            tear(&mut inner.durable, change, (odds, &mut *dice));
        }
        inner.live = inner.durable.clone();
    }

    /// Whether any of `texts` stands on the disk: which of them.
    pub(super) fn holds<'t>(&self, mark: &str, texts: &'t [String]) -> Vec<&'t String> {
        let inner = self.inner();
        let mut found = Vec::new();
        for at in places(&inner.live, mark.as_bytes()) {
            let rest = &inner.live[at..];
            found.extend(
                texts
                    .iter()
                    .filter(|text| rest.starts_with(text.as_bytes()) && !found.contains(text))
                    .collect::<Vec<_>>(),
            );
        }
        found
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lease {
    /// The disk, when this process may use it and no fault is due.
    fn call(&self) -> io::Result<MutexGuard<'_, Inner>> {
        let mut inner = self.disk.inner();
        if inner.lease != self.number || inner.is_cut {
            return Err(io::Error::other("the process is gone"));
        }
        if inner.full {
            return Err(full());
        }
        let Some((left, fault)) = inner.armed else { return Ok(inner) };
        inner.armed = Some((left - 1, fault));
        if left > 1 {
            return Ok(inner);
        }
        inner.armed = None;
        match fault {
            Fault::Cut => inner.is_cut = true,
            Fault::Full => inner.full = true,
            Fault::Broken => {}
        }
        drop(inner);
        match fault {
            Fault::Cut => self.listener.cut(),
            Fault::Full | Fault::Broken => self.listener.failed(fault),
        }
        Err(match fault {
            Fault::Full => full(),
            Fault::Cut | Fault::Broken => io::Error::other("input/output error"),
        })
    }

    fn change(&self, change: Move) -> io::Result<()> {
        let mut inner = self.call()?;
        apply(&mut inner.live, &change);
        inner.unsynced.push(change);
        Ok(())
    }
}

impl StorageBackend for Lease {
    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.inner().live.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let inner = self.call()?;
        let from = place(offset)?;
        let found = inner.live.get(from..from + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(found);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.change(Move::Len(place(len)?))
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut inner = self.call()?;
        let unsynced = std::mem::take(&mut inner.unsynced);
        for change in &unsynced {
            apply(&mut inner.durable, change);
        }
        drop(inner);
        self.listener.flushed();
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.change(Move::Write { at: place(offset)?, data: data.to_vec() })
    }
}

fn full() -> io::Error {
    io::Error::new(io::ErrorKind::StorageFull, "no space left on device")
}

fn place(offset: u64) -> io::Result<usize> {
    usize::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput.into())
}

fn apply(image: &mut Vec<u8>, change: &Move) {
    match change {
        Move::Write { at, data } => put(image, *at, data),
        Move::Len(len) => image.resize(*len, 0),
    }
}

fn put(image: &mut Vec<u8>, at: usize, data: &[u8]) {
    if image.len() < at + data.len() {
        image.resize(at + data.len(), 0);
    }
    image[at..at + data.len()].copy_from_slice(data);
}

/// Keeps so many of ten sectors of a change. Sectors are those of the disk, not of the write.
fn tear(image: &mut Vec<u8>, change: &Move, (odds, dice): (u64, &mut Dice)) {
    let Move::Write { at, data } = change else {
        if dice.below(10) < odds {
            apply(image, change);
        }
        return;
    };
    let mut from = 0;
    while from < data.len() {
        let to = data.len().min(from + SECTOR - (at + from) % SECTOR);
        if dice.below(10) < odds {
            put(image, at + from, &data[from..to]);
        }
        from = to;
    }
}

/// Where `mark` stands in `image`.
fn places(image: &[u8], mark: &[u8]) -> Vec<usize> {
    let Some(first) = mark.first() else { return Vec::new() };
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(next) = image[from..].iter().position(|byte| byte == first) {
        let at = from + next;
        if image[at..].starts_with(mark) {
            found.push(at);
        }
        from = at + 1;
    }
    found
}
