//! The Discord gateway against the fake Discord, and the splitter's laws.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test stops at what it did not expect")]
#![allow(clippy::wildcard_enum_match_arm, reason = "a test names the one variant that it expects")]

mod bot;
#[path = "../peers/discord.rs"]
mod fake;
mod faults;
mod gateway;
mod refusals;
mod split;
