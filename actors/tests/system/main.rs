//! The actors as a whole, through the front door, with sessions that a test pulls by strings.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test stops at what it did not expect")]
#![allow(clippy::wildcard_enum_match_arm, reason = "a test names the one variant that it expects")]
#![allow(clippy::disallowed_methods, reason = "a test's own tasks end with it")]

mod admission;
mod authority;
mod deaths;
mod devices;
mod env;
mod gates;
mod holding;
mod mailbox;
mod posting;
mod puppet;
mod recorder;
mod sealing;
mod steering;
mod stopping;
mod tap;
mod tools;
mod vault;
