//! An evening on the fake Discord: many people in many rooms, with trouble on every wire.
//!
//! `cargo test --test evening [-- --seed S]`. The real program is connected to the fake, is killed
//! twice while people go on talking, and at the end a checker that shares nothing with it compares
//! what stands in the rooms with what the operator's surface says. The last line is
//! `N passed, M failed`, counted in laws.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a harness stops at what it did not expect")]
#![allow(clippy::print_stdout, reason = "a harness of its own prints what it found")]
#![allow(clippy::wildcard_enum_match_arm, reason = "it names the variants that it looks for")]

use std::process::ExitCode;

#[path = "../peers/discord.rs"]
mod fake;
mod judge;
mod play;
mod random;
#[path = "../peers/service.rs"]
#[allow(unused_imports, reason = "each test binary uses its own part of this peer")]
mod service;
mod watch;

/// The evening that is played unless another one is asked for.
const SEED: u64 = 20_261_130;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let seed = match arguments.iter().position(|argument| argument == "--seed") {
        Some(at) => arguments.get(at + 1).and_then(|seed| seed.parse().ok()).expect("--seed takes a number"),
        None => SEED,
    };
    println!("evening: seed {seed}");
    let evening = play::play(seed);
    let laws = judge::judge(&evening);
    for line in evening.counts() {
        println!("{line}");
    }
    let mut failed = 0;
    for law in &laws {
        let broken = law.broken.len();
        failed += usize::from(broken > 0);
        println!(
            "{} {} ({} looked at, {broken} broken)",
            if broken == 0 { "held" } else { "BROKEN" },
            law.name,
            law.seen
        );
        law.broken.iter().take(10).for_each(|what| println!("    {what}"));
    }
    if failed > 0 {
        let log = std::env::temp_dir().join(format!("clankie-evening-{seed}.log"));
        std::fs::write(&log, evening.service.log()).unwrap();
        println!("the program's own log: {}", log.display());
    }
    println!("{} passed, {failed} failed", laws.len() - failed);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
