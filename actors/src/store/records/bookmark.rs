//! Where a gateway goes on after a restart: a name of its own, and a text that only it reads.

use serde::{Deserialize, Serialize};

use super::Row;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::store) struct BookmarkRow {
    pub(in crate::store) value: String,
}

impl Row for BookmarkRow {
    const TABLE: &'static str = "bookmarks";
    const VERSION: u8 = 1;
}
