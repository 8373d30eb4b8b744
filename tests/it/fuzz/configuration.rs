//! Configurations: whatever they become, they are refused in one sentence that names a place, or
//! what is in force can be written down and read again.

use std::cell::Cell;
use std::path::Path;

use clankie::config::{Loaded, Sources, load};
use proptest::prelude::*;
use toml::{Table, Value};

use super::{changed, changes, corpus, runner};

/// Configurations that are tried: what a debug build reads in some ten seconds.
const CASES: u32 = 1_500;

/// The kept ones, the example, and the example with every key that stands behind a "#" as well: that
/// one says things that do not go together.
fn good() -> Vec<Vec<u8>> {
    let example = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("config/clankie.toml")).unwrap();
    let key = |line: &str| line.split_once(" = ").is_some_and(|(key, _)| !key.contains(' '));
    let bare = |line: &str| match line.strip_prefix("# ").filter(|rest| key(rest)) {
        Some(rest) => format!("{rest}\n"),
        None => format!("{line}\n"),
    };
    let every = example.lines().map(bare).collect::<String>();
    let kept = corpus("configuration").into_iter().map(|(_, bytes)| bytes);
    kept.chain([example.into_bytes(), every.into_bytes()]).collect()
}

fn read(dir: &Path, text: &[u8]) -> Result<Loaded, String> {
    let file = dir.join("c.toml");
    std::fs::write(&file, text).unwrap();
    let environment = [("HOME", "/nowhere"), ("XDG_STATE_HOME", "/state")].into_iter().collect();
    load(&Sources { file: Some(file), environment, ..Sources::default() }).map_err(|error| error.to_string())
}

/// What is in force, as a file that says all of it.
fn written(loaded: &Loaded) -> String {
    let mut whole = Table::new();
    for row in &loaded.rows {
        let Some(value) = &row.value else { continue };
        let (sections, name) = row.key.rsplit_once('.').map_or(("", row.key.as_str()), |(before, name)| (before, name));
        // The name of a lane stands between, whatever it is.
        let path: Vec<&str> = match sections.split_once('.') {
            Some(("lanes", lane)) => vec!["lanes", lane],
            _ => sections.split('.').filter(|part| !part.is_empty()).collect(),
        };
        let into = path.into_iter().fold(&mut whole, |table, section| {
            let inner = table.entry(section).or_insert_with(|| Value::Table(Table::new()));
            inner.as_table_mut().unwrap()
        });
        into.insert(name.to_owned(), value.clone());
    }
    toml::to_string(&whole).unwrap()
}

#[test]
fn configurations_changed_by_chance_are_refused_by_their_place_or_can_be_written_down() {
    let dir = tempfile::tempdir().unwrap();
    let good = good();
    for text in &good[..good.len() - 1] {
        let loaded = read(dir.path(), text);
        assert!(loaded.is_ok(), "{loaded:?} of {}", String::from_utf8_lossy(text));
    }
    let (taken, refused) = (Cell::new(0), Cell::new(0));
    let ran = runner("configuration", CASES).run(&(0..good.len(), changes()), |(which, changes)| {
        let text = changed(&good[which], &changes);
        match read(dir.path(), &text) {
            Ok(loaded) => {
                taken.set(taken.get() + 1);
                let again = written(&loaded);
                let read = read(dir.path(), again.as_bytes());
                prop_assert_eq!(read.map(|read| read.config), Ok(loaded.config), "{}", again);
            }
            Err(sentence) => {
                refused.set(refused.get() + 1);
                prop_assert_eq!(sentence.lines().count(), 1, "more than a line: {:?}", sentence);
                let words = sentence.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';'));
                let place = |word: &str| word.contains("c.toml:") || (word.contains('.') && !word.ends_with('.'));
                let top = ["listen", "public_url", "state_dir"];
                prop_assert!(
                    words.into_iter().any(|word| place(word) || top.contains(&word)),
                    "no place: {}",
                    sentence
                );
            }
        }
        Ok(())
    });
    println!("{} configurations were taken, {} refused", taken.get(), refused.get());
    if let Err(error) = ran {
        panic!("{error}");
    }
    assert!(taken.get() > 100 && refused.get() > 100, "chance reached one side alone");
}
