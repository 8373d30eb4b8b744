//! The file as it is, read and changed behind the store's back.

use std::path::Path;

use redb::{Database, ReadableDatabase, TableDefinition};

pub(crate) const HANDOFFS: TableDefinition<u128, &[u8]> = TableDefinition::new("handoffs");
pub(crate) const RECEIPTS: TableDefinition<(&str, &str), &[u8]> = TableDefinition::new("receipts");
pub(crate) const PERMITS: TableDefinition<u64, &[u8]> = TableDefinition::new("permits");
pub(crate) const MESSAGES: TableDefinition<(&str, u64), &[u8]> = TableDefinition::new("messages");
pub(crate) const TRANSCRIPTS: TableDefinition<(u128, u64), &[u8]> = TableDefinition::new("transcripts");
pub(crate) const TRANSCRIPT_HEADS: TableDefinition<u128, &[u8]> = TableDefinition::new("transcript_heads");
pub(crate) const EVENTS: TableDefinition<u64, &[u8]> = TableDefinition::new("events");
pub(crate) const TOKENS: TableDefinition<u128, &[u8]> = TableDefinition::new("tokens");
pub(crate) const ROOMS: TableDefinition<&str, &[u8]> = TableDefinition::new("rooms");
pub(crate) const BOOKMARKS: TableDefinition<&str, &[u8]> = TableDefinition::new("bookmarks");
pub(crate) const COUNTERS: TableDefinition<&str, u64> = TableDefinition::new("counters");

/// Every row of a table of rows, in order.
pub(crate) fn rows<K: redb::Key + 'static>(dir: &Path, table: TableDefinition<K, &[u8]>) -> Vec<Vec<u8>> {
    let database = open(dir);
    let txn = database.begin_read().unwrap();
    let table = txn.open_table(table).unwrap();
    redb::ReadableTable::iter(&table).unwrap().map(|row| row.unwrap().1.value().to_vec()).collect()
}

/// Writes one row.
pub(crate) fn put<'k, K: redb::Key + 'static>(
    dir: &Path,
    table: TableDefinition<K, &[u8]>,
    key: K::SelfType<'k>,
    row: &[u8],
) {
    let txn = open(dir).begin_write().unwrap();
    txn.open_table(table).unwrap().insert(key, row).unwrap();
    txn.commit().unwrap();
}

/// Sets one counter.
pub(crate) fn count(dir: &Path, name: &str, number: u64) {
    let txn = open(dir).begin_write().unwrap();
    txn.open_table(COUNTERS).unwrap().insert(name, number).unwrap();
    txn.commit().unwrap();
}

fn open(dir: &Path) -> Database {
    Database::open(dir.join("clankie.redb")).unwrap()
}

/// Replaces every row of a table, in order.
pub(crate) fn replace<K: redb::Key + 'static>(dir: &Path, table: TableDefinition<K, &[u8]>, rows: &[Vec<u8>]) {
    let txn = open(dir).begin_write().unwrap();
    {
        let mut table = txn.open_table(table).unwrap();
        let keys = redb::ReadableTable::iter(&table).unwrap();
        let keys: Vec<Vec<u8>> = keys.map(|row| K::as_bytes(&row.unwrap().0.value()).as_ref().to_vec()).collect();
        assert_eq!(keys.len(), rows.len());
        for (key, row) in keys.iter().zip(rows) {
            table.insert(K::from_bytes(key), row.as_slice()).unwrap();
        }
    }
    txn.commit().unwrap();
}
