//! Cards: one ask or one update, whole, for a person at a terminal.
//!
//! What others wrote is cleaned and set in, so that no text of theirs can pass for a line of ours:
//! only our own words stand at the edge.

use reqwest::Url;

use super::clean::{clean, clean_line};

mod ask;
mod update;

pub(super) use ask::ask;
pub(super) use update::update;

/// Width of a fact, in characters.
const FACT_WIDTH: usize = 160;
/// Width of a foreign line, in characters: a longer one would come back at the edge of the terminal.
const TEXT_WIDTH: usize = 76;
/// How far foreign text is set in.
const INDENT: &str = "  ";
/// How far a continuation of a numbered one is set in.
const DEEPER: &str = "     ";

/// A fact on one line.
fn fact(text: &str) -> String {
    clean_line(text, FACT_WIDTH)
}

/// A heading of ours with foreign text below it.
fn section(heading: &str, text: &str) -> Vec<String> {
    let mut lines = vec![String::new(), format!("{heading}:")];
    lines.extend(set_in(text, INDENT));
    lines
}

/// Foreign text, cleaned, broken at its spaces and set in.
fn set_in(text: &str, indent: &str) -> Vec<String> {
    let text = clean(text).replace('\t', "    ");
    text.lines().flat_map(broken).map(|line| format!("{indent}{line}").trim_end().to_owned()).collect()
}

/// A line at most so wide, but for single words: an address is copied whole.
fn broken(line: &str) -> Vec<String> {
    let (mut lines, mut current) = (Vec::new(), String::new());
    for word in line.split_inclusive(char::is_whitespace) {
        if !current.is_empty() && current.chars().count() + word.trim_end().chars().count() > TEXT_WIDTH {
            lines.push(std::mem::take(&mut current));
        }
        current.push_str(word);
    }
    lines.push(current);
    lines
}

/// Where an address leads: its host first, since the rest of it may say anything.
fn place(address: &str) -> String {
    let url = Url::parse(address).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    match url.as_ref().and_then(Url::host_str) {
        Some(host) => format!("{host}: {}", fact_whole(address)),
        None => format!("no web address: {}", fact_whole(address)),
    }
}

fn fact_whole(text: &str) -> String {
    clean_line(text, usize::MAX)
}

#[cfg(test)]
mod tests;
