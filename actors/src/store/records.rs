//! What is on the disk: one struct per kind of row, as JSON behind one byte that names its version.
//!
//! A row of another version, with an unknown field or without a needed one is damage, never a
//! guess. The files under `tests/golden` hold what each version looks like.

mod answer;
mod ask;
mod bookmark;
mod claim;
mod event;
mod grant;
mod handoff;
mod line;
mod mailbox;
mod message;
mod permit;
mod receipt;
mod result;
mod room;
mod token;
mod transcript;
mod update;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::StoreError;

pub(super) use answer::ResolutionRow;
pub(super) use ask::AskRow;
pub(super) use bookmark::BookmarkRow;
pub(super) use claim::ClaimRow;
pub(super) use event::{EventRow, WhatRow};
pub(super) use handoff::HandoffRow;
pub(super) use line::AnswerLineRow;
pub(super) use mailbox::MailboxRow;
pub(super) use message::MessageRow;
pub(super) use permit::PermitRow;
pub(super) use receipt::{ReceiptRow, delivery_key};
pub(super) use room::{RoomRow, over};
pub(super) use token::TokenRow;
pub(super) use transcript::{HeadRow, LineRow};
pub(super) use update::UpdateRow;

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
    // The row is looked at as text once, and not again for each string in it.
    let text = std::str::from_utf8(json).map_err(|why| damaged(why.to_string()))?;
    serde_json::from_str(text).map_err(|why| damaged(why.to_string()))
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

/// A stored struct with the fields of a domain struct, each converted by itself, or by what stands
/// behind its type: `each` for a collection, `maybe` for an optional value.
macro_rules! mirror_struct {
    ($row:ident = $domain:ident { $($(#[$meta:meta])* $field:ident: $type:ty $(=> $how:ident)?),+ $(,)? }) => {
        #[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(in crate::store) struct $row { $($(#[$meta])* pub(in crate::store) $field: $type),+ }

        impl From<$domain> for $row {
            fn from(from: $domain) -> Self {
                let $domain { $($field),+ } = from;
                Self { $($field: $crate::store::records::converted!($field $($how)?)),+ }
            }
        }

        impl From<$row> for $domain {
            fn from(from: $row) -> Self {
                let $row { $($field),+ } = from;
                Self { $($field: $crate::store::records::converted!($field $($how)?)),+ }
            }
        }
    };
}

/// One field of [`mirror_struct`].
macro_rules! converted {
    ($field:ident) => {
        $field.into()
    };
    ($field:ident $how:ident) => {
        $crate::store::records::$how($field)
    };
}

use {converted, mirror_enum, mirror_struct};

/// A collection converted item by item.
fn each<I: IntoIterator, B: From<I::Item>, O: FromIterator<B>>(items: I) -> O {
    items.into_iter().map(B::from).collect()
}

/// An optional value converted.
fn maybe<A, B: From<A>>(value: Option<A>) -> Option<B> {
    value.map(B::from)
}

/// Bytes as hexadecimal digits, two each.
mod hex {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    const DIGITS: &[u8; 16] = b"0123456789abcdef";

    pub(super) fn serialize<S: Serializer>(bytes: impl AsRef<[u8]>, to: S) -> Result<S::Ok, S::Error> {
        let halves = bytes.as_ref().iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
        to.serialize_str(&halves.map(|half| char::from(DIGITS[usize::from(half)])).collect::<String>())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>, B: TryFrom<Vec<u8>>>(from: D) -> Result<B, D::Error> {
        let text = String::deserialize(from)?;
        let bytes = parse(text.as_bytes()).ok_or_else(|| D::Error::custom("must be hexadecimal digits"))?;
        B::try_from(bytes).map_err(|_| D::Error::custom("must be another number of hexadecimal digits"))
    }

    fn parse(text: &[u8]) -> Option<Vec<u8>> {
        let half = |digit: u8| char::from(digit).to_digit(16).and_then(|half| u8::try_from(half).ok());
        let (pairs, rest) = text.as_chunks::<2>();
        let bytes = pairs.iter().map(|[high, low]| Some(half(*high)? << 4 | half(*low)?)).collect();
        if rest.is_empty() { bytes } else { None }
    }
}
