//! What is on the disk: one struct per kind of row, as JSON behind one byte that names its version.
//!
//! A row of another version, with an unknown field or without a needed one is damage, never a
//! guess. The files under `tests/golden` hold what each version looks like.

mod bookmark;
mod event;
mod grant;
mod handoff;
mod message;
mod permit;
mod receipt;
mod result;
mod room;
mod token;
mod transcript;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::StoreError;

pub(super) use bookmark::BookmarkRow;
pub(super) use event::{EventRow, WhatRow};
pub(super) use handoff::HandoffRow;
pub(super) use message::MessageRow;
pub(super) use permit::PermitRow;
pub(super) use receipt::{ReceiptRow, delivery_key};
pub(super) use room::{RoomRow, over};
pub(super) use token::TokenRow;
pub(super) use transcript::{HeadRow, LineRow};

/// A stored struct.
pub(super) trait Row: Serialize + DeserializeOwned {
    /// Which table, for the message that names a damaged row.
    const TABLE: &'static str;
    /// The version that is written. Older ones are read as long as a golden file shows them.
    const VERSION: u8;
}

/// The bytes of a row.
pub(super) fn encode<R: Row>(row: &R) -> Result<Vec<u8>, StoreError> {
    let mut bytes = vec![R::VERSION];
    serde_json::to_writer(&mut bytes, row).map_err(|why| StoreError::Encoding(format!("{}: {why}", R::TABLE)))?;
    Ok(bytes)
}

/// The row of these bytes; `key` names it should it be damaged.
pub(super) fn decode<R: Row>(bytes: &[u8], key: impl std::fmt::Display) -> Result<R, StoreError> {
    let damaged = |why: String| StoreError::Damaged { row: format!("{} {key}", R::TABLE), why };
    let Some((version, json)) = bytes.split_first() else { return Err(damaged("it is empty".to_owned())) };
    if *version != R::VERSION {
        return Err(damaged(format!("it has version {version}, this program reads {}", R::VERSION)));
    }
    serde_json::from_slice(json).map_err(|why| damaged(why.to_string()))
}

/// The row of these bytes, or `None` and a line in the log: for a row that is about to be replaced
/// or deleted, so that its damage must not stop the service.
pub(super) fn readable<R: Row>(bytes: &[u8], key: impl std::fmt::Display) -> Option<R> {
    match decode(bytes, key) {
        Ok(row) => Some(row),
        Err(why) => {
            tracing::warn!(%why, "a damaged row goes");
            None
        }
    }
}

/// A stored enum with the names of a domain enum that carries nothing.
macro_rules! mirror_enum {
    ($row:ident = $domain:ident { $($variant:ident),+ $(,)? }) => {
        #[derive(Debug, Clone, Copy, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub(in crate::store) enum $row { $($variant),+ }

        impl From<$domain> for $row {
            fn from(from: $domain) -> Self {
                match from { $($domain::$variant => Self::$variant),+ }
            }
        }

        impl From<$row> for $domain {
            fn from(from: $row) -> Self {
                match from { $($row::$variant => Self::$variant),+ }
            }
        }
    };
}

/// A stored struct with the fields of a domain struct, each converted by itself.
macro_rules! mirror_struct {
    ($row:ident = $domain:ident { $($field:ident: $type:ty),+ $(,)? }) => {
        #[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(in crate::store) struct $row { $(pub(in crate::store) $field: $type),+ }

        impl From<$domain> for $row {
            fn from(from: $domain) -> Self {
                let $domain { $($field),+ } = from;
                Self { $($field: $field.into()),+ }
            }
        }

        impl From<$row> for $domain {
            fn from(from: $row) -> Self {
                let $row { $($field),+ } = from;
                Self { $($field: $field.into()),+ }
            }
        }
    };
}

use {mirror_enum, mirror_struct};

/// A list converted item by item.
fn each<A, B: From<A>>(items: Vec<A>) -> Vec<B> {
    items.into_iter().map(B::from).collect()
}

/// 32 bytes as 64 hexadecimal digits.
mod hex32 {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8; 32], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<[u8; 32], D::Error> {
        let text = String::deserialize(from)?;
        parse(&text).ok_or_else(|| D::Error::custom("must be 64 hexadecimal digits"))
    }

    fn parse(text: &str) -> Option<[u8; 32]> {
        if text.len() != 64 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        let mut bytes = [0; 32];
        for (place, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(text.get(2 * place..2 * place + 2)?, 16).ok()?;
        }
        Some(bytes)
    }
}
