//! Clankie's shell: gateways into rooms, executors, the owner's surface, and how they are put together.

pub mod bench;
pub mod cli;
pub mod compose;
pub mod config;
pub mod executors;
pub mod gateways;
pub mod http;
pub mod owner;
