//! The mailbox's story: an agent asks, three surfaces answer, and the power goes at every step.
//!
//! `cargo test --features failpoints --test story [-- --short]`. The real program with the demo
//! agent; one state directory over all its lives. The last line is `N laws held, M violated`, and
//! the exit code says the same.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a harness stops at what it did not expect")]
#![allow(clippy::print_stdout, reason = "a harness of its own prints what it found")]

use std::process::ExitCode;
use std::time::Instant;

mod book;
mod cuts;
mod day;
mod nobody;
mod returned;
mod scene;
mod search;
#[path = "../peers/service.rs"]
#[allow(unused_imports, reason = "each test binary uses its own part of this peer")]
mod service;
#[path = "../peers/sink.rs"]
mod sink;

use cuts::Length;
use scene::Scene;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    let short = arguments.iter().any(|argument| argument == "--short");
    let length = if short { Length::Short } else { Length::Whole };
    let began = Instant::now();
    let mut scene = Scene::start();
    day::play(&mut scene);
    println!("played: three surfaces, after {} s", began.elapsed().as_secs());
    nobody::play(&mut scene);
    println!("played: who may not, after {} s", began.elapsed().as_secs());
    returned::play(&mut scene);
    println!("played: an answer comes back, after {} s", began.elapsed().as_secs());
    cuts::play(&mut scene, length);
    println!("played: the power goes, after {} s", began.elapsed().as_secs());
    search::search(&mut scene);
    println!("took {} s", began.elapsed().as_secs());
    scene.book.close()
}
