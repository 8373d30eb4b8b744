//! Reads Rust source as text: which files there are, and which paths their code names.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Every Rust file at or below `places`, sorted.
pub(crate) fn rust_files(root: &Path, places: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for place in places {
        walk(&root.join(place), &mut found);
    }
    found.sort();
    found
}

fn walk(place: &Path, found: &mut Vec<PathBuf>) {
    if place.extension().is_some_and(|ending| ending == "rs") && place.is_file() {
        found.push(place.to_owned());
    }
    let Ok(entries) = std::fs::read_dir(place) else { return };
    for entry in entries.flatten() {
        if entry.file_name() != "target" {
            walk(&entry.path(), found);
        }
    }
}

/// The text without comments; strings stay, no wall is named in one.
pub(crate) fn code_of(text: &str) -> String {
    let without = |line: &str| line.split("//").next().unwrap_or_default().to_owned();
    text.lines().map(without).collect::<Vec<_>>().join("\n")
}

/// Every path that the code names, with each of its beginnings: `a::b::c` gives `a`, `a::`, `a::b`,
/// `a::b::`, `a::b::c` and the last word. Groups in braces are spelled out.
pub(crate) fn names_in(code: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for statement in uses(code) {
        for path in spelled_out(&statement) {
            note(&path, &mut names);
        }
    }
    let path_letter = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    for word in code.split(|c: char| !path_letter(c)) {
        note(word, &mut names);
    }
    names
}

fn note(path: &str, names: &mut BTreeSet<String>) {
    let parts: Vec<&str> = path.split("::").map(str::trim).filter(|part| !part.is_empty()).collect();
    for end in 1..=parts.len() {
        let beginning = parts[..end].join("::");
        names.insert(format!("{beginning}::"));
        names.insert(beginning);
    }
    names.extend(parts.last().map(|last| (*last).to_owned()));
}

/// The bodies of all `use` statements, without white space.
fn uses(code: &str) -> Vec<String> {
    let statements = code.split(';').filter_map(|part| {
        let at = part.rfind("use ")?;
        let before = part[..at].chars().last();
        before.is_none_or(|c| !c.is_alphanumeric()).then(|| part[at + 4..].split_whitespace().collect())
    });
    statements.collect()
}

/// `a::{b, c::{d}}` as `a::b` and `a::c::d`.
fn spelled_out(path: &str) -> Vec<String> {
    let Some((head, rest)) = path.split_once('{') else { return vec![path.to_owned()] };
    let inner = rest.rsplit_once('}').map_or(rest, |(inner, _)| inner);
    let mut paths = Vec::new();
    for part in top_level(inner) {
        paths.extend(spelled_out(&part).into_iter().map(|tail| format!("{head}{tail}")));
    }
    paths
}

fn top_level(list: &str) -> Vec<String> {
    let (mut parts, mut depth) = (vec![String::new()], 0_usize);
    for c in list.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if c == ',' && depth == 0 {
            parts.push(String::new());
        } else if let Some(last) = parts.last_mut() {
            last.push(c);
        }
    }
    parts
}
