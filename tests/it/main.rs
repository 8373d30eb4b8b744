//! Everything that is tested through a boundary of the shell, in one binary.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test stops at what it did not expect")]
#![allow(clippy::wildcard_enum_match_arm, reason = "a test names the one variant that it expects")]

mod executors;
#[path = "../peers/model.rs"]
mod model_peer;
