//! A storage whose writes become durable only while its tap is open.

use std::io;
use std::sync::{Arc, Condvar, Mutex};

use redb::StorageBackend;
use redb::backends::InMemoryBackend;

use crate::env::LONG;

/// The tap. Open at first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tap(Arc<(Mutex<Flow>, Condvar)>);

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Flow {
    #[default]
    Open,
    Shut,
}

/// The storage behind it.
#[derive(Debug)]
pub(crate) struct Tapped {
    memory: InMemoryBackend,
    tap: Tap,
}

impl Tap {
    pub(crate) fn storage(&self) -> Tapped {
        Tapped { memory: InMemoryBackend::new(), tap: self.clone() }
    }

    /// Nothing becomes durable from now on.
    pub(crate) fn shut(&self) {
        *self.0.0.lock().unwrap() = Flow::Shut;
    }

    pub(crate) fn open(&self) {
        *self.0.0.lock().unwrap() = Flow::Open;
        self.0.1.notify_all();
    }
}

impl StorageBackend for Tapped {
    fn len(&self) -> Result<u64, io::Error> {
        self.memory.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), io::Error> {
        self.memory.read(offset, out)
    }

    fn set_len(&self, len: u64) -> Result<(), io::Error> {
        self.memory.set_len(len)
    }

    fn sync_data(&self) -> Result<(), io::Error> {
        let (flow, moved) = &*self.tap.0;
        // Only a test that failed with its tap shut meets the end of this wait.
        drop(moved.wait_timeout_while(flow.lock().unwrap(), LONG, |flow| *flow == Flow::Shut).unwrap());
        self.memory.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<(), io::Error> {
        self.memory.write(offset, data)
    }
}
