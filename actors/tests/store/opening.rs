//! Who may open the store, and what it refuses to start over.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use clankie_actors::store::{OpenError, Store, StoreError, Txn};
use tempfile::TempDir;

use crate::disk::Dice;
use crate::raw;
use crate::world::{EPOCH, at, dump, handoff, pending, room, settled, uuid, with_receipt};

fn private_dir() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
    dir
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn open(dir: &Path) -> Result<Store, OpenError> {
    Store::open(dir, EPOCH)
}

/// A directory whose store holds one live and one ended handoff.
fn used() -> TempDir {
    let dir = private_dir();
    let store = open(dir.path()).unwrap();
    store.commit_now(Txn::changes(with_receipt(&pending(1, &room("lab"))))).unwrap();
    store.commit_now(Txn::changes(with_receipt(&settled(2, &room("lab"), at(9))))).unwrap();
    store.close();
    dir
}

#[test]
fn a_second_service_is_refused_and_told_who_runs() {
    let dir = private_dir();
    let first = open(dir.path()).unwrap();
    let pid = std::process::id();
    let refused = open(dir.path()).unwrap_err();
    assert!(matches!(refused, OpenError::AlreadyRunning { pid: Some(found), url: None } if found == pid), "{refused}");
    first.note_url("http://127.0.0.1:4310");
    let refused = open(dir.path()).unwrap_err().to_string();
    let told = format!(
        "clankie already runs on this state directory (pid {pid} at http://127.0.0.1:4310); stop it with `kill {pid}` \
         or use another --state-dir"
    );
    assert_eq!(refused, told);
    let lingering = first.clone();
    first.close();
    assert_eq!(open(dir.path()).unwrap().epoch(), EPOCH);
    drop(lingering);
}

#[test]
fn a_store_keeps_its_identity_and_content_when_it_is_opened_again() {
    let dir = used();
    let other = Store::open(dir.path(), uuid(99)).unwrap();
    assert_eq!(other.epoch(), EPOCH);
    assert_eq!(*other.changes().borrow(), 2);
    let before = dump(&other);
    drop(other);
    assert_eq!(dump(&open(dir.path()).unwrap()), before);
}

#[test]
fn a_new_store_is_private() {
    let outer = private_dir();
    let dir = outer.path().join("a/b");
    let store = open(&dir).unwrap();
    assert_eq!(mode(&dir), 0o700);
    for file in ["clankie.lock", "clankie.redb"] {
        assert_eq!(mode(&dir.join(file)), 0o600, "{file}");
    }
    assert!(!dir.join("clankie.redb.new").exists());
    drop(store);
}

#[test]
fn what_others_can_use_or_replace_is_refused_with_advice() {
    let dir = used();
    let link = private_dir().path().join("link");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(dir.path(), &link).unwrap();
    assert_refused(&link, "is a link", "name the directory");
    fs::remove_dir_all(link.parent().unwrap()).unwrap();
    for file in ["clankie.lock", "clankie.redb"] {
        let path = dir.path().join(file);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert_refused(dir.path(), "has mode 644", "`chmod 600 ");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let moved = dir.path().join("moved");
        fs::rename(&path, &moved).unwrap();
        symlink(&moved, &path).unwrap();
        assert_refused(dir.path(), "is no plain file", "move it away");
        fs::remove_file(&path).unwrap();
        fs::rename(&moved, &path).unwrap();
    }
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o750)).unwrap();
    assert_refused(dir.path(), "has mode 750", "`chmod 700 ");
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
    assert!(open(dir.path()).is_ok());
}

fn assert_refused(dir: &Path, problem: &str, hint: &str) {
    let refused = open(dir).unwrap_err();
    let text = refused.to_string();
    assert!(matches!(refused, OpenError::Permissions { .. }), "{text}");
    assert!(text.contains(problem) && text.contains(hint), "{text}");
}

#[test]
fn a_newer_store_is_refused() {
    let dir = used();
    raw::format(dir.path(), 4);
    let refused = open(dir.path()).unwrap_err();
    assert!(matches!(refused, OpenError::NewerFormat { found: 4, known: 3 }), "{refused}");
}

#[test]
fn a_store_of_a_form_that_was_never_released_is_refused_and_left_as_it_is() {
    let dir = used();
    for format in [1, 2] {
        raw::format(dir.path(), format);
        let refused = open(dir.path()).unwrap_err();
        let words = format!("it has format {format}, which no released program wrote");
        assert!(matches!(&refused, OpenError::Damaged { why, .. } if *why == words), "{refused}");
    }
    raw::format(dir.path(), 3);
    assert_eq!(open(dir.path()).unwrap().snapshot().unwrap().live().unwrap(), [pending(1, &room("lab"))]);
}

#[test]
fn a_damaged_store_is_refused_with_advice_and_never_begun_anew() {
    let dir = used();
    let path = dir.path().join("clankie.redb");
    let sound = fs::read(&path).unwrap();
    let words = b"this is a letter and no database".repeat(400);
    let mut beheaded = sound.clone();
    beheaded[..4096].fill(0);
    for (what, bytes) in
        [("words", &words), ("no header", &beheaded), ("a quarter", &sound[..sound.len() / 4].to_vec())]
    {
        fs::write(&path, bytes).unwrap();
        let refused = open(dir.path()).unwrap_err();
        let text = refused.to_string();
        assert!(matches!(refused, OpenError::Damaged { .. }), "{what}: {text}");
        assert!(text.contains("restore a backup of it"), "{what}: {text}");
        assert_eq!(&fs::read(&path).unwrap()[..64], &bytes[..64], "{what}: the file was changed");
    }
    fs::write(&path, &sound).unwrap();
    assert!(open(dir.path()).is_ok());
}

#[test]
fn no_scribble_over_the_file_makes_opening_panic() {
    let dir = used();
    let path = dir.path().join("clankie.redb");
    let sound = fs::read(&path).unwrap();
    let mut refused = 0;
    for seed in 0..40 {
        let mut dice = Dice::seeded(seed);
        let mut bytes = sound.clone();
        let from = dice.below(bytes.len() - 200);
        bytes[from..from + 200].fill(dice.below(256) as u8);
        fs::write(&path, &bytes).unwrap();
        refused += usize::from(open(dir.path()).is_err());
    }
    assert!(refused > 0, "no scribble was seen");
    println!("{refused} of 40 scribbles were seen when opening");
}

#[test]
fn a_store_that_was_cut_while_it_was_made_is_made_again() {
    let dir = private_dir();
    fs::write(dir.path().join("clankie.redb.new"), vec![0; 20_000]).unwrap();
    fs::write(dir.path().join("clankie.redb"), b"").unwrap();
    fs::set_permissions(dir.path().join("clankie.redb"), fs::Permissions::from_mode(0o600)).unwrap();
    let store = open(dir.path()).unwrap();
    assert_eq!((store.epoch(), store.snapshot().unwrap().last_event()), (EPOCH, Ok(0)));
}

#[test]
fn a_damaged_live_row_stops_the_boot_and_a_damaged_ended_row_only_its_reader() {
    for junk in [&b""[..], b"\x01{}", b"\x02{\"id\":1}", b"\x01nonsense"] {
        let dir = used();
        raw::put(dir.path(), raw::HANDOFFS, uuid(2).as_u128(), junk);
        let store = open(dir.path()).unwrap();
        let now = store.snapshot().unwrap();
        assert_eq!(now.live().unwrap(), [pending(1, &room("lab"))]);
        let row = format!("handoffs {}", handoff(2));
        let read = now.handoff(handoff(2)).unwrap_err();
        assert!(matches!(&read, StoreError::Damaged { row: found, .. } if *found == row), "{read}");
        assert!(now.handoffs(&crate::world::all()).is_err(), "a damaged row is not left out of a list");
        drop(now);
        store.close();
        raw::put(dir.path(), raw::HANDOFFS, uuid(1).as_u128(), junk);
        let live = open(dir.path()).unwrap().snapshot().unwrap().live().unwrap_err();
        let row = format!("handoffs {}", handoff(1));
        assert!(matches!(&live, StoreError::DamagedLive { row: found, .. } if *found == row), "{live}");
        assert!(live.to_string().contains("restore a backup"), "{live}");
    }
}
