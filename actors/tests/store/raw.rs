//! The file as it is, read and changed behind the store's back.

use std::path::Path;

use redb::{Database, ReadableDatabase, TableDefinition};

/// A table of rows.
type Rows<K> = TableDefinition<'static, K, &'static [u8]>;

pub(crate) const HANDOFFS: Rows<u128> = TableDefinition::new("handoffs");
pub(crate) const ONGOING: Rows<(u8, u128, u128)> = TableDefinition::new("ongoing");
pub(crate) const TRANSCRIPTS: Rows<(u128, u64)> = TableDefinition::new("transcripts");
pub(crate) const TRANSCRIPT_HEADS: Rows<u128> = TableDefinition::new("transcript_heads");
pub(crate) const EVENTS: Rows<u64> = TableDefinition::new("events");
pub(crate) const TOKENS: Rows<u128> = TableDefinition::new("tokens");
pub(crate) const ROOMS: Rows<(&str, u8, i64, u128, &str)> = TableDefinition::new("rooms");
pub(crate) const BOOKMARKS: Rows<&str> = TableDefinition::new("bookmarks");
pub(crate) const MAIL: Rows<(u128, u8)> = TableDefinition::new("mail");
pub(crate) const BOXES: Rows<(&str, u8, u64)> = TableDefinition::new("boxes");
pub(crate) const COUNTERS: TableDefinition<&str, u64> = TableDefinition::new("counters");

/// Keys of the numbers that stand behind the events.
pub(crate) const LAST_EVENT: u64 = u64::MAX;
pub(crate) const TRANSCRIPT_BYTES: u64 = u64::MAX - 2;
/// No event has this sequence.
pub(crate) const NUMBERS: u64 = u64::MAX - 15;

/// Parts of an ask or update, by which its rows are told apart.
pub(crate) const ASK: u8 = 1;
pub(crate) const ANSWER: u8 = 2;
pub(crate) const CLAIM: u8 = 3;
pub(crate) const LINE: u8 = 5;
pub(crate) const UPDATE: u8 = 6;

/// Every row of a table whose key is one of those, in order.
pub(crate) fn rows<K: redb::Key + 'static>(dir: &Path, table: Rows<K>, which: Which<K>) -> Vec<Vec<u8>> {
    let database = open(dir);
    let txn = database.begin_read().unwrap();
    let table = txn.open_table(table).unwrap();
    let rows = redb::ReadableTable::iter(&table).unwrap().map(Result::unwrap);
    rows.filter(|(key, _)| which(key.value())).map(|(_, row)| row.value().to_vec()).collect()
}

/// Which keys of a table are meant.
pub(crate) type Which<K> = for<'a> fn(<K as redb::Value>::SelfType<'a>) -> bool;

/// Writes one row.
pub(crate) fn put<'k, K: redb::Key + 'static>(dir: &Path, table: Rows<K>, key: K::SelfType<'k>, row: &[u8]) {
    let txn = open(dir).begin_write().unwrap();
    txn.open_table(table).unwrap().insert(key, row).unwrap();
    txn.commit().unwrap();
}

/// Sets the version of the tables as a whole.
pub(crate) fn format(dir: &Path, number: u64) {
    let txn = open(dir).begin_write().unwrap();
    txn.open_table(COUNTERS).unwrap().insert("format", number).unwrap();
    txn.commit().unwrap();
}

fn open(dir: &Path) -> Database {
    Database::open(dir.join("clankie.redb")).unwrap()
}

/// Replaces every row of a table whose key is one of those, in order.
pub(crate) fn replace<K: redb::Key + 'static>(dir: &Path, table: Rows<K>, which: Which<K>, rows: &[Vec<u8>]) {
    let txn = open(dir).begin_write().unwrap();
    {
        let mut table = txn.open_table(table).unwrap();
        let keys = redb::ReadableTable::iter(&table).unwrap().map(|row| row.unwrap().0);
        let keys = keys.filter(|key| which(key.value()));
        let keys: Vec<Vec<u8>> = keys.map(|key| K::as_bytes(&key.value()).as_ref().to_vec()).collect();
        assert_eq!(keys.len(), rows.len());
        for (key, row) in keys.iter().zip(rows) {
            table.insert(K::from_bytes(key), row.as_slice()).unwrap();
        }
    }
    txn.commit().unwrap();
}
