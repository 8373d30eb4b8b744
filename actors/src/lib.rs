//! Clankie's deciding and remembering half: the store, the actors and the one way in.

pub use clankie_domain as domain;

pub mod digest;
mod front;
pub mod ports;
pub mod store;
mod system;

pub use front::*;
