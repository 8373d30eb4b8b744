//! Why a store does not open, and why an operation of an open one has no answer.

use std::path::PathBuf;

/// Why the store did not open. Every sentence says what to do.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another service has it open.
    #[error("{}", already_running(*.pid, .url.as_deref()))]
    AlreadyRunning {
        /// The other service's process, when it has written it down.
        pid: Option<u32>,
        /// Where the other service listens, when it does.
        url: Option<String>,
    },
    /// A newer program wrote it.
    #[error("the store has format {found} and this program knows {known}; start the newer clankie that wrote it")]
    NewerFormat {
        /// What it has.
        found: u64,
        /// The newest that this program knows.
        known: u64,
    },
    /// It cannot be what this program wrote.
    #[error("the store is damaged: {why}; {hint}")]
    Damaged {
        /// What was found.
        why: String,
        /// What to do.
        hint: String,
    },
    /// Others than its owner could read or replace it.
    #[error("{path} {problem}; {hint}", path = .path.display())]
    Permissions {
        /// Which file or directory.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
        /// What to do.
        hint: String,
    },
    /// The system refused.
    #[error("{path}: {why}", path = .path.display())]
    Io {
        /// Which file or directory.
        path: PathBuf,
        /// What the system said.
        why: std::io::Error,
    },
}

fn already_running(pid: Option<u32>, url: Option<&str>) -> String {
    let at = url.map(|url| format!(" at {url}")).unwrap_or_default();
    match pid {
        Some(pid) => format!(
            "clankie already runs on this state directory (pid {pid}{at}); stop it with `kill {pid}` or use another \
             --state-dir"
        ),
        None => "clankie is just starting on this state directory; wait for it or use another --state-dir".to_owned(),
    }
}

/// Why an operation on the open store has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The store stopped. What was in flight may or may not be durable.
    #[error("the store has stopped: {0}")]
    Failed(String),
    /// A row cannot be read.
    #[error("the row {row} is damaged: {why}")]
    Damaged {
        /// Table and key.
        row: String,
        /// What was found.
        why: String,
    },
    /// A row of live work cannot be read, so nothing can be started over it.
    #[error(
        "the live row {row} is damaged: {why}; keep a copy of clankie.redb, then restore a backup of it, or move it \
         away to start empty (work it accepted is then forgotten)"
    )]
    DamagedLive {
        /// Table and key.
        row: String,
        /// What was found.
        why: String,
    },
    /// A value has no stored form, which is a bug. Nothing of its transaction was applied.
    #[error("a value cannot be stored: {0}")]
    Encoding(String),
    /// The file cannot be read or written.
    #[error("the store's file cannot be used: {0}")]
    Storage(String),
}

macro_rules! from_redb {
    ($($error:ident),+) => {
        $(impl From<redb::$error> for StoreError {
            fn from(why: redb::$error) -> Self {
                Self::Storage(why.to_string())
            }
        })+
    };
}

from_redb!(StorageError, TableError, TransactionError, CommitError, SetDurabilityError);
