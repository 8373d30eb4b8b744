//! A state directory that must not be used is refused with what to do, and left as it was.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use redb::{Database, TableDefinition};

use crate::service::{Service, turn};

/// What the store calls its counters, and the row that says which format they have.
const COUNTERS: TableDefinition<&str, u64> = TableDefinition::new("counters");
const FORMAT: &str = "format";

/// A directory in which a service has run and ended in order.
fn used() -> Service {
    let mut service = Service::start("");
    service.settle(&turn("r", "m1", "ann", "hello"));
    assert_eq!(service.stop(), Some(0));
    service
}

/// Every file below, with its mode and content; links as what they point to.
fn contents(dir: &Path) -> BTreeMap<String, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let about = path.symlink_metadata().unwrap();
        let bytes = if about.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        found.insert(path.display().to_string(), (about.permissions().mode(), bytes));
    }
    found
}

/// It does not start, with these words, and nothing there is other than before.
fn refuses(service: &Service, words: &[&str]) {
    let before = contents(&service.state_dir());
    let ran = service.refused();
    assert_eq!(ran.code, Some(1), "{ran:?}");
    for word in words {
        assert!(ran.err.contains(word), "{word:?} is not in {}", ran.err);
    }
    assert!(ran.err.lines().all(|line| !line.contains("panicked")), "{}", ran.err);
    let after = contents(&service.state_dir());
    for (path, (mode, bytes)) in &before {
        // The lock is where the one that tries notes who it is.
        if !path.ends_with("clankie.lock") {
            let kept = after.get(path).is_some_and(|(now, held)| (now, held) == (mode, bytes));
            assert!(kept, "{path} was changed by {}", ran.err);
        }
    }
}

/// B2: two services cannot have one directory; the second names the first and how to stop it.
#[test]
fn b2_a_second_service_on_one_directory_is_refused_and_the_first_goes_on() {
    let service = Service::start("");
    let pid = service.pid();
    let lock = fs::read(service.state_dir().join("clankie.lock")).unwrap();
    refuses(&service, &[&format!("pid {pid} at http://"), &format!("`kill {pid}`"), "--state-dir"]);
    assert_eq!(fs::read(service.state_dir().join("clankie.lock")).unwrap(), lock);
    assert_eq!(service.settle(&turn("r", "m1", "ann", "hello")).json()["result"]["text"], "demo: hello");
    assert_eq!(service.cli(&["status"]).data()["pid"], pid);
}

#[test]
fn a_damaged_store_is_not_opened_and_not_overwritten() {
    let service = used();
    let path = service.state_dir().join("clankie.redb");
    let whole = fs::read(&path).unwrap();
    let mut zeroed = whole.clone();
    zeroed[..4096].fill(0);
    for damaged in [b"no database".repeat(1000), whole[..whole.len() / 2].to_vec(), zeroed] {
        fs::write(&path, damaged).unwrap();
        refuses(&service, &["damaged", "keep a copy of", "restore a backup", "move it away"]);
    }
}

#[test]
fn a_store_of_a_newer_program_is_left_to_it() {
    let service = used();
    let database = Database::open(service.state_dir().join("clankie.redb")).unwrap();
    let txn = database.begin_write().unwrap();
    txn.open_table(COUNTERS).unwrap().insert(FORMAT, 4_000).unwrap();
    txn.commit().unwrap();
    drop(database);
    let ran = service.refused();
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err.contains("format 4000") && ran.err.contains("newer clankie"), "{ran:?}");
}

#[test]
fn what_others_could_read_or_swap_is_refused() {
    for (name, mode, advice) in [
        ("", 0o755, "chmod 700"),
        ("", 0o701, "chmod 700"),
        ("clankie.redb", 0o644, "chmod 600"),
        ("clankie.lock", 0o640, "chmod 600"),
        ("operator.token", 0o604, "chmod it to 0600"),
    ] {
        let service = used();
        let path = service.state_dir().join(name);
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        refuses(&service, &[path.to_str().unwrap().trim_end_matches('/'), advice]);
    }
}

/// B8: a start that is refused starts nothing: what waits is not begun and broken off.
#[test]
fn b8_a_refused_start_leaves_waiting_work_alone() {
    let mut service = Service::start("[limits]\nrunning = 1\nrunning_per_room = 1");
    service.admit(&turn("r", "runs", "ann", "!sleep 600000"));
    service.running("runs");
    service.admit(&turn("r", "waits", "bob", "!sleep 300\n!say later"));
    service.kill();
    let token = service.state_dir().join("operator.token");
    fs::set_permissions(&token, Permissions::from_mode(0o644)).unwrap();
    refuses(&service, &["operator.token"]);
    fs::set_permissions(&token, Permissions::from_mode(0o600)).unwrap();
    service.launch();
    assert_eq!(service.reply("r", "waits"), "demo:\nlater");
}

#[test]
fn links_are_not_followed() {
    let service = used();
    let (state, elsewhere) = (service.state_dir(), service.scratch().join("elsewhere"));
    fs::rename(&state, &elsewhere).unwrap();
    symlink(&elsewhere, &state).unwrap();
    refuses(&service, &["is a link", "name the directory that it points to"]);
    fs::remove_file(&state).unwrap();
    fs::rename(&elsewhere, &state).unwrap();
    for (name, words) in [("clankie.redb", "is no plain file"), ("operator.token", "is no plain file")] {
        let (path, real) = (state.join(name), state.join("real"));
        fs::rename(&path, &real).unwrap();
        symlink(&real, &path).unwrap();
        refuses(&service, &[words]);
        fs::remove_file(&path).unwrap();
        fs::rename(&real, &path).unwrap();
    }
}

#[test]
fn a_file_in_its_place_and_a_taken_address_are_refused() {
    let service = Service::prepare("");
    fs::write(service.state_dir(), "a file").unwrap();
    let ran = service.refused();
    assert!(ran.code == Some(1) && ran.err.contains("is no directory"), "{ran:?}");
    let first = Service::start("");
    let mut second = Service::prepare("");
    second.variable("CLANKIE_LISTEN", first.address());
    let ran = second.refused();
    assert!(ran.code == Some(1) && ran.err.contains("--listen") && ran.err.contains(first.address()), "{ran:?}");
}
