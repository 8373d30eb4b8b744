//! A disk in memory that remembers every move, so that it can be cut at any of them, that runs
//! full, and that makes a flush wait.

use std::io;
use std::sync::{Arc, Mutex, mpsc};

use redb::{BackendError, StorageBackend};

/// What a power cut keeps or loses as a whole: one sector.
const SECTOR: usize = 512;

/// Something that happened to the disk, or beside it.
#[derive(Debug, Clone)]
pub(crate) enum Move {
    Write {
        at: usize,
        data: Vec<u8>,
    },
    Len(usize),
    Sync,
    /// The history began its `n`th commit.
    Begun(usize),
    /// The history heard of its `n`th commit.
    Heard(usize),
}

/// What becomes of what was not flushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unsynced {
    Lost,
    Kept,
    Torn,
}

#[derive(Debug, Default)]
struct Inner {
    image: Vec<u8>,
    moves: Vec<Move>,
    /// Moves until the disk is full; `None` is never.
    room_for: Option<usize>,
    gate: Option<Gate>,
}

/// A flush that waits: it says that it came, and goes on when told.
#[derive(Debug)]
struct Gate {
    came: mpsc::Sender<()>,
    go: mpsc::Receiver<()>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Disk(Arc<Mutex<Inner>>);

impl Disk {
    /// A disk that holds what a cut left.
    pub(crate) fn holding(image: Vec<u8>) -> Self {
        Self(Arc::new(Mutex::new(Inner { image, ..Inner::default() })))
    }

    pub(crate) fn mark(&self, beside: Move) {
        self.0.lock().unwrap().moves.push(beside);
    }

    pub(crate) fn moves(&self) -> Vec<Move> {
        self.0.lock().unwrap().moves.clone()
    }

    pub(crate) fn image(&self) -> Vec<u8> {
        self.0.lock().unwrap().image.clone()
    }

    /// Every move after the next `moves` fails.
    pub(crate) fn full_after(&self, moves: usize) {
        self.0.lock().unwrap().room_for = Some(moves);
    }

    /// The next flush waits. The receiver hears that it came, the sender lets it go on.
    pub(crate) fn gate(&self) -> (mpsc::Receiver<()>, mpsc::Sender<()>) {
        let ((came, hear), (tell, go)) = (mpsc::channel(), mpsc::channel());
        self.0.lock().unwrap().gate = Some(Gate { came, go });
        (hear, tell)
    }

    fn change(&self, change: Move) -> Result<(), BackendError> {
        let mut inner = self.0.lock().unwrap();
        if let Some(left) = inner.room_for.as_mut() {
            let full = io::Error::new(io::ErrorKind::StorageFull, "no space left on device");
            *left = left.checked_sub(1).ok_or(BackendError::Io(full))?;
        }
        apply(&mut inner.image, &change);
        inner.moves.push(change);
        Ok(())
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> Result<u64, io::Error> {
        Ok(self.0.lock().unwrap().image.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), io::Error> {
        let inner = self.0.lock().unwrap();
        let from = offset as usize;
        let found = inner.image.get(from..from + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(found);
        Ok(())
    }

    fn set_len(&self, len: u64) -> Result<(), io::Error> {
        Ok(self.change(Move::Len(len as usize))?)
    }

    fn sync_data(&self) -> Result<(), io::Error> {
        let gate = self.0.lock().unwrap().gate.take();
        if let Some(Gate { came, go }) = gate {
            came.send(()).unwrap();
            go.recv().unwrap();
        }
        Ok(self.change(Move::Sync)?)
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<(), io::Error> {
        Ok(self.change(Move::Write { at: offset as usize, data: data.to_vec() })?)
    }
}

/// Makes a move on an image.
pub(crate) fn apply(image: &mut Vec<u8>, change: &Move) {
    match change {
        Move::Write { at, data } => {
            if image.len() < at + data.len() {
                image.resize(at + data.len(), 0);
            }
            image[*at..at + data.len()].copy_from_slice(data);
        }
        Move::Len(len) => image.resize(*len, 0),
        Move::Sync | Move::Begun(_) | Move::Heard(_) => {}
    }
}

/// What a cut leaves: `synced` is safe, of `unsynced` the sectors that chance keeps.
pub(crate) fn cut(synced: &[u8], unsynced: &[Move], fate: Unsynced, dice: &mut Dice) -> Vec<u8> {
    let mut image = synced.to_vec();
    match fate {
        Unsynced::Lost => {}
        Unsynced::Kept => unsynced.iter().for_each(|change| apply(&mut image, change)),
        Unsynced::Torn => {
            let odds = 1 + dice.below(9);
            for change in unsynced {
                tear(&mut image, change, odds, dice);
            }
        }
    }
    image
}

fn tear(image: &mut Vec<u8>, change: &Move, odds: usize, dice: &mut Dice) {
    let Move::Write { at, data } = change else {
        if dice.below(10) < odds {
            apply(image, change);
        }
        return;
    };
    let mut from = 0;
    while from < data.len() {
        // Sectors are those of the disk, not of the write.
        let to = data.len().min(from + SECTOR - (at + from) % SECTOR);
        if dice.below(10) < odds {
            apply(image, &Move::Write { at: at + from, data: data[from..to].to_vec() });
        }
        from = to;
    }
}

/// A small generator with a seed, so that every cut can be made again.
#[derive(Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn seeded(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % most.max(1)
    }
}
