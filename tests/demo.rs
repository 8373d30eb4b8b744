//! `clankie demo`, run as anybody would: what it prints, and that it leaves nothing behind.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

struct Evening {
    report: Value,
    words: String,
    code: Option<i32>,
}

fn play(state: &Path) -> Evening {
    let mut command = Command::new(env!("CARGO_BIN_EXE_clankie"));
    command.args(["demo", "--json", "--state-dir"]).arg(state);
    // What a machine is configured to must not reach the play's service.
    command.env("CLANKIE_LIMITS__RUNNING", "1").env("CLANKIE_EXECUTOR__DEFAULT", "builtin");
    let output = command.output().unwrap();
    let words = String::from_utf8(output.stderr).unwrap();
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}:\n{words}"));
    Evening { report, words, code: output.status.code() }
}

fn check(evening: &Evening) {
    let expected = json!({
        "schema_version": 1, "peak_running": 4, "peak_running_per_room": 2, "admitted": 23, "busy": 1, "absorbed": 6,
        "replayed_receipts": 18, "asks_answered": 1, "interrupted_after_restart": 5, "violations": 0,
    });
    assert_eq!((&evening.report, evening.code), (&expected, Some(0)), "{}", evening.words);
    let summary = "The owner answered 1 ask and read 1 update; both had survived the kill.";
    assert!(evening.words.contains(summary), "{}", evening.words);
}

fn services(words: &str) -> Vec<u32> {
    words.lines().filter_map(|line| line.rsplit_once("pid ")?.1.trim().parse().ok()).collect()
}

#[test]
fn i1_i2_i3_i6_i9_m1_an_evening_holds_and_leaves_no_process_and_can_be_played_again() {
    let state = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let evening = play(state.path());
        check(&evening);
        let pids = services(&evening.words);
        assert_eq!(pids.len(), 2, "{}", evening.words);
        for pid in pids {
            assert!(!Path::new(&format!("/proc/{pid}")).exists(), "service {pid} outlived its play");
        }
    }
}
