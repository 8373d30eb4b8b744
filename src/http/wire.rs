//! The shapes that rooms and the owner share on the wire. Field names and words are a contract.
//!
//! Requests refuse unknown keys. Answers are read leniently and their closed sets are plain
//! words, so that a client understands a newer service.

mod convert;
mod problem;
mod result;
mod room;
mod turn;

pub use convert::{moment, read_moment};
pub use problem::{BusyBody, ProblemBody};
pub use result::{ByBody, MediaBody, ResultBody};
pub use room::{RoomMessageBody, RoomMessages, SayBody};
pub use turn::{ActorBody, ActorRef, AttachmentBody, CancelBody, EditBody, QuoteBody, TurnAnswer, TurnBody};

/// The version of every request shape here.
pub const SCHEMA_VERSION: u32 = 1;
