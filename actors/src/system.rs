//! The actors: one owner per state, messages in one direction, effects after commits.
//!
//! Submits flow room → counts → room → handoff; reports flow back the same way. No two actors
//! call each other; they cast. Reads never ask an actor: they take a store snapshot.

pub(crate) mod answered;
pub(crate) mod authority;
pub(crate) mod context;
pub(crate) mod failpoint;
pub(crate) mod fatal;
pub(crate) mod global_admission;
pub(crate) mod handoff;
pub(crate) mod hints;
pub(crate) mod mailbox;
pub(crate) mod room_admission;
pub(crate) mod rooms;
pub(crate) mod sessions;
pub(crate) mod supervisor;
pub(crate) mod tools;
pub(crate) mod transcript;
