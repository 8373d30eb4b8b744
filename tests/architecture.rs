//! The walls of the house: which room may name which, and how every file begins.
//!
//! The rules are data; one function reads a source file and says what it breaks. Every wall is
//! proven twice: the tree holds it, and a made-up crossing of it is caught.

#[path = "architecture/rules.rs"]
mod rules;
#[path = "architecture/source.rs"]
mod source;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rules::{ROOMS, Wall};
use source::{code_of, names_in, rust_files};

/// Lines of one file at most; past it there is a file to be added.
const FILE_LINES: usize = 500;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn crossings(wall: &Wall, file: &str, text: &str) -> Vec<String> {
    let names = names_in(&code_of(text));
    let hit = |word: &&&str| names.contains(**word);
    wall.may_not_name.iter().filter(hit).map(|word| format!("{file} ({}) names {word}", wall.room)).collect()
}

#[test]
fn every_walled_room_has_files_and_names_only_what_it_may() {
    let mut broken = Vec::new();
    for wall in ROOMS {
        let files = rust_files(&root(), wall.files);
        assert!(!files.is_empty(), "the wall of {} guards no file", wall.room);
        for file in files {
            let shown = file.strip_prefix(root()).unwrap_or(&file).display().to_string();
            broken.extend(crossings(wall, &shown, &read(&file)));
        }
    }
    assert!(broken.is_empty(), "crossed walls:\n{}", broken.join("\n"));
}

#[test]
fn a_crossing_of_each_wall_is_caught() {
    for wall in ROOMS {
        for word in wall.may_not_name {
            let crossing = format!("//! A file.\nuse {};\n", word.trim_end_matches("::"));
            let inline = format!(
                "//! A file.\nfn f() {{ {}x(); }}\n",
                if word.ends_with("::") { word.to_string() } else { format!("{word}::") }
            );
            assert!(!crossings(wall, "made_up.rs", &crossing).is_empty(), "use {word} crossed {}", wall.room);
            assert!(!crossings(wall, "made_up.rs", &inline).is_empty(), "{word} inline crossed {}", wall.room);
        }
        let harmless = format!("//! A file about {}.\n// {}\n", wall.may_not_name[0], wall.may_not_name[0]);
        assert!(crossings(wall, "made_up.rs", &harmless).is_empty(), "a comment is no crossing in {}", wall.room);
    }
}

#[test]
fn every_file_says_what_it_is_for_and_stays_short() {
    let mut broken = Vec::new();
    for file in rust_files(&root(), &["src", "actors", "tests"]) {
        let text = read(&file);
        let shown = file.strip_prefix(root()).unwrap_or(&file).display().to_string();
        if !text.starts_with("//! ") {
            broken.push(format!("{shown} does not begin with what it is for"));
        }
        if text.lines().count() > FILE_LINES {
            broken.push(format!("{shown} is longer than {FILE_LINES} lines"));
        }
        if shown.ends_with("mod.rs") {
            broken.push(format!("{shown}: name.rs stands beside name/"));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_top_level_is_fixed() {
    let known: BTreeSet<&str> =
        ["Cargo.toml", "Cargo.lock", "src", "actors", "tests", "config", "docs", "README.md", "target"].into();
    for entry in std::fs::read_dir(root()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name.starts_with('.') || known.contains(name.as_str()), "{name} is outside the fixed top level");
    }
}

#[test]
fn every_invariant_that_the_docs_list_has_a_test_that_names_it() {
    let docs = read(&root().join("docs/ARCHITECTURE.md"));
    let listed: BTreeSet<String> = docs
        .lines()
        .filter_map(|line| line.strip_prefix("| **"))
        .filter_map(|rest| rest.split_once("**").map(|(id, _)| id.to_lowercase()))
        .collect();
    assert!(listed.len() >= 9, "docs/ARCHITECTURE.md lists the invariants as table rows: {listed:?}");
    let tests: String = rust_files(&root(), &["src", "actors", "tests"]).iter().map(|file| read(file)).collect();
    for id in &listed {
        let named = tests.lines().any(|line| line.trim_start().contains("fn ") && line.contains(&format!("{id}_")));
        assert!(named, "no test names {id}");
    }
}

#[test]
fn every_file_that_the_docs_name_is_there() {
    let places = ["", "actors/domain/src", "actors/src", "src"];
    for page in ["README.md", "docs/ARCHITECTURE.md", "docs/access.md"] {
        let text = read(&root().join(page));
        for named in text.split('`').skip(1).step_by(2).filter(|word| word.ends_with(".rs") || word.ends_with(".toml"))
        {
            let there = places.iter().any(|place| root().join(place).join(named).exists());
            assert!(there, "{page} names {named}, which is not there");
        }
    }
}

/// The tests that the last column of a page's tables of rules names.
fn tests_named_by(page: &str) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    let text = read(&root().join(page));
    let mut in_rules = false;
    for line in text.lines() {
        let row = line.strip_prefix("| ").and_then(|row| row.strip_suffix(" |")?.rsplit_once(" | "));
        match row {
            Some((_, "test")) => in_rules = true,
            Some((rule, cell)) if in_rules => {
                let tests: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
                assert!(!tests.is_empty(), "{page} names no test for: {rule}");
                named.extend(tests.into_iter().map(str::to_owned));
            }
            Some(_) => {}
            None => in_rules = in_rules && line.starts_with('|'),
        }
    }
    named
}

/// The names of all tests in these places.
fn tests_in(places: &[&str]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for file in rust_files(&root(), places) {
        let mut marked = false;
        for line in read(&file).lines().map(str::trim_start) {
            marked |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
            let function = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ");
            if let (true, Some(name)) = (marked, function.and_then(|rest| rest.split('(').next())) {
                found.insert(name.to_owned());
                marked = false;
            }
        }
    }
    found
}

#[test]
fn every_test_that_a_page_of_rules_names_is_there() {
    let tests = tests_in(&["src", "actors", "tests"]);
    for (page, least) in [("docs/access.md", 31), ("docs/discord.md", 80)] {
        let named = tests_named_by(page);
        assert!(named.len() >= least, "{page}: the rules stand in tables with their tests: {named:?}");
        let gone: Vec<&String> = named.difference(&tests).collect();
        assert!(gone.is_empty(), "{page} names what is no test: {gone:?}");
    }
}

/// The fake's own tests hold no rule of the bot.
const OF_THE_FAKE: [&str; 3] = ["tests/discord/gateway.rs", "tests/discord/faults.rs", "tests/discord/refusals.rs"];

#[test]
fn every_test_of_the_discord_gateway_stands_beside_its_rule() {
    let named = tests_named_by("docs/discord.md");
    let fake = tests_in(&OF_THE_FAKE);
    let tests = tests_in(&["src/gateways/discord.rs", "src/gateways/discord", "tests/discord"]);
    let missing: Vec<&String> = tests.iter().filter(|test| !named.contains(*test) && !fake.contains(*test)).collect();
    assert!(missing.is_empty(), "docs/discord.md names no rule for: {missing:?}");
}
