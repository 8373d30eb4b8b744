//! Clankie's deciding and remembering half: the store, the actors and the one way in.

pub use clankie_domain as domain;

pub mod digest;
pub mod ports;
pub mod store;
