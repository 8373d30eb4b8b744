//! Everything that is tested through a boundary of the shell, in one binary.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test stops at what it did not expect")]
#![allow(clippy::wildcard_enum_match_arm, reason = "a test names the one variant that it expects")]

mod agent;
mod command_line;
mod contract;
mod corpus;
mod executors;
mod field_reports;
mod lifecycle;
#[path = "../peers/model.rs"]
mod model_peer;
mod secrets;
#[path = "../peers/service.rs"]
mod service;
mod state_dir;
