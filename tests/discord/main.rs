//! The Discord gateway against the fake Discord, and the splitter's laws.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test stops at what it did not expect")]
#![allow(clippy::wildcard_enum_match_arm, reason = "a test names the one variant that it expects")]
#![allow(clippy::print_stderr, reason = "a test that failed shows what the program said")]

mod absence;
mod authority;
mod bot;
mod checkup;
mod direct;
#[path = "../peers/discord.rs"]
mod fake;
mod faults;
mod files;
mod gateway;
mod hearing;
mod inside;
mod lanes;
mod missed;
mod own_words;
mod posting;
mod refusals;
mod scene;
#[path = "../peers/service.rs"]
mod service;
mod split;
mod stop_word;
mod unclear;
mod unsent;
mod wire;
