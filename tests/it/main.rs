//! Everything that is tested through a boundary of the shell, in one binary.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test stops at what it did not expect")]
#![allow(clippy::wildcard_enum_match_arm, reason = "a test names the one variant that it expects")]

mod access;
mod agent;
mod command_line;
mod contract;
mod corpus;
mod events;
mod executors;
mod field_reports;
mod fuzz;
mod gates;
mod lifecycle;
mod mailbox_cli;
#[path = "../peers/model.rs"]
mod model_peer;
mod notify;
mod secrets;
#[path = "../peers/service.rs"]
mod service;
#[path = "../peers/sink.rs"]
mod sink;
mod state_dir;
