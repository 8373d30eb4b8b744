//! The measurements run, and every line that is promised is there with a number; what they find of
//! speed is nobody's business here. A short soak obeys its laws.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test stops at what it did not expect")]

use std::process::Command;

use serde_json::Value;

/// Every line of the page on benchmarks, in its order.
const LINES: [&str; 24] = [
    "memory of the process with idle rooms",
    "processor time of idle rooms",
    "actors of idle rooms",
    "admission / durable write",
    "admission / bare commit",
    "rate in rooms / rate of durable writes",
    "rate in rooms / rate of bare commits",
    "publish / durable write",
    "answer / durable write",
    "mark read / durable write",
    "publish, most records / least",
    "answer, most records / least",
    "mark read, most records / least",
    "list of 50, most records / least",
    "badge, most records / least",
    "list of 1 000 asks, ms",
    "badge, ms",
    "steer to the session's input, beyond one commit",
    "saved result of a repeated delivery",
    "commits of all repeats",
    "boot to ready over retained handoffs",
    "a change until the last reader has seen it",
    "a change beside readers / beside none",
    "most memory in the second half of runs that print much / first half",
];

fn clankie(words: &[&str]) -> Value {
    let state = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_clankie"));
    let ran = command.args(words).arg("--json").arg("--dir").arg(state.path()).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(std::fs::read_dir(state.path()).unwrap().count(), 0, "nothing stays behind");
    serde_json::from_slice(&ran.stdout).unwrap()
}

#[test]
fn every_line_is_measured_beside_its_goal() {
    let report = clankie(&["bench", "--quick"]);
    let lines = report["lines"].as_array().unwrap();
    let names: Vec<&str> = lines.iter().map(|line| line["what"].as_str().unwrap()).collect();
    assert_eq!(names, LINES);
    for line in lines {
        let found = line["found"].as_f64().unwrap_or_else(|| panic!("{line}"));
        let met = match (line["at_most"].as_f64(), line["at_least"].as_f64()) {
            (Some(most), None) => found <= most,
            (None, Some(least)) => found >= least,
            _ => panic!("it has no goal, or two: {line}"),
        };
        assert_eq!(line["met"], met, "{line}");
        if line["what"].as_str().unwrap().contains("durable write") {
            assert!(line["beside"]["found"].as_f64().unwrap() > 0.0, "{line}");
        }
    }
    let exact = |what: &str| lines.iter().find(|line| line["what"] == what).unwrap()["found"].as_f64().unwrap();
    assert_eq!(exact("commits of all repeats"), 0.0, "a repeated delivery writes nothing");
    assert_eq!(exact("actors of idle rooms"), 0.0, "an idle room has no actor");
}

#[test]
fn two_months_of_handoffs_and_mail_leave_memory_descriptors_threads_and_the_file_flat() {
    let handoffs = std::env::var("CLANKIE_SOAK_HANDOFFS").unwrap_or_else(|_| "600".to_owned());
    let report = clankie(&["bench", "soak", "--handoffs", &handoffs, "--rooms", "20"]);
    assert_eq!(report["handoffs"].to_string(), handoffs);
    assert!(report["answered"].as_u64().unwrap() > 0 && report["dismissed"].as_u64().unwrap() > 0, "{report}");
    for law in report["laws"].as_array().unwrap() {
        assert_eq!(law["met"], true, "{law}\n{}", report["samples"]);
    }
}
