//! Opening: makes the tables of a new store, and refuses one that this program must not touch.

use std::any::Any;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use redb::backends::FileBackend;
use redb::{Database, DatabaseError, Durability, ReadableDatabase, StorageBackend};
use uuid::Uuid;

use super::error::{OpenError, StoreError};
use super::tables::{COUNTERS, EPOCH, EVENTS, FORMAT, FORMAT_NAME, IDENTITY, Tables, number};

/// Pages of the store that are kept in memory, in bytes: the live rows of a busy service many times
/// over. redb's own default is a gibibyte, which transcripts would fill.
const CACHE_BYTES: usize = 32 * 1024 * 1024;

/// What an open store says about itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts {
    pub(super) epoch: Uuid,
    pub(super) last_event: u64,
}

/// Opens or makes a store in a file.
pub(super) fn file(file: File, path: &Path, fresh_epoch: Uuid) -> Result<(Database, Facts), OpenError> {
    let backend = FileBackend::new(file).map_err(|why| database_error(path, why))?;
    self::backend(backend, path, fresh_epoch)
}

/// Opens or makes a store over any storage. A panic of redb over nonsense is damage like any other.
pub(super) fn backend(
    backend: impl StorageBackend,
    path: &Path,
    fresh_epoch: Uuid,
) -> Result<(Database, Facts), OpenError> {
    let opened = catch_unwind(AssertUnwindSafe(|| {
        let mut builder = Database::builder();
        builder.set_cache_size(CACHE_BYTES);
        let database = builder.create_with_backend(backend).map_err(|why| database_error(path, why))?;
        let facts = facts(&database, path, fresh_epoch)?;
        Ok((database, facts))
    }));
    opened.unwrap_or_else(|panic| Err(damaged(path, said(panic.as_ref()))))
}

fn facts(database: &Database, path: &Path, fresh_epoch: Uuid) -> Result<Facts, OpenError> {
    let broken = |why: StoreError| damaged(path, why.to_string());
    if is_new(database).map_err(broken)? {
        make(database, fresh_epoch).map_err(broken)?;
    }
    let (format, facts) = read(database).map_err(broken)?;
    match (format, facts) {
        (Some(found), _) if found > FORMAT => Err(OpenError::NewerFormat { found, known: FORMAT }),
        (Some(found), None) => Err(damaged(path, format!("it has format {found}, which no released program wrote"))),
        (Some(FORMAT), Some(facts)) => Ok(facts),
        _ => Err(damaged(path, "it is no store of clankie, or its first row is gone".to_owned())),
    }
}

/// A file without any table was made and never written, for instance because of a power cut.
fn is_new(database: &Database) -> Result<bool, StoreError> {
    Ok(database.begin_read()?.list_tables()?.next().is_none())
}

fn make(database: &Database, fresh_epoch: Uuid) -> Result<(), StoreError> {
    let mut txn = database.begin_write()?;
    txn.set_durability(Durability::Immediate)?;
    txn.set_quick_repair(true);
    {
        let mut tables = Tables::open(&txn)?;
        tables.counters.insert(FORMAT_NAME, FORMAT)?;
        tables.identity.insert(EPOCH, fresh_epoch.as_u128())?;
    }
    Ok(txn.commit()?)
}

fn format(database: &Database) -> Result<Option<u64>, StoreError> {
    let counters = database.begin_read()?.open_table(COUNTERS)?;
    Ok(counters.get(FORMAT_NAME)?.map(|found| found.value()))
}

fn read(database: &Database) -> Result<(Option<u64>, Option<Facts>), StoreError> {
    let format = format(database)?;
    if format != Some(FORMAT) {
        return Ok((format, None));
    }
    let txn = database.begin_read()?;
    let last_event = number::read(txn.open_table(EVENTS)?.get(number::EVENTS)?.as_ref().map(|found| found.value()));
    let epoch = txn.open_table(IDENTITY)?.get(EPOCH)?.map(|found| Uuid::from_u128(found.value()));
    Ok((format, epoch.map(|epoch| Facts { epoch, last_event })))
}

fn database_error(path: &Path, why: DatabaseError) -> OpenError {
    if matches!(why, DatabaseError::DatabaseAlreadyOpen) {
        return OpenError::AlreadyRunning { pid: None, url: None };
    }
    // redb reports a file that is no database as invalid data; every other I/O error is the disk's.
    if let DatabaseError::Storage(redb::StorageError::Io(io)) = &why
        && io.kind() != std::io::ErrorKind::InvalidData
    {
        return OpenError::Io { path: path.to_owned(), why: std::io::Error::new(io.kind(), why.to_string()) };
    }
    damaged(path, why.to_string())
}

fn damaged(path: &Path, why: String) -> OpenError {
    let hint = format!(
        "keep a copy of {path}, then restore a backup of it, or move it away to start empty (what it accepted is then \
         forgotten)",
        path = path.display()
    );
    OpenError::Damaged { why, hint }
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("its pages contradict each other").to_owned()
}
