//! Code fences: how a line opens or closes one, and how one is closed and opened again at a cut.

use super::LIMIT;

/// A longer run of marks is decoration; it could not be repeated in every part.
const LONGEST_RUN: usize = 64;
/// Code points of a line that opens a block, so that the part it stands in can also close it.
const LONGEST_OPENING: usize = 1_920;
/// Code points of a line that closes a block, so that it fits behind a fence opened again.
const LONGEST_CLOSING: usize = 200;
/// Code points of the language that is named again; nothing longer is one.
const LONGEST_LANGUAGE: usize = 32;

/// An open code block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fence {
    mark: char,
    run: usize,
    language: String,
}

/// What a line does to code blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    Opens(Fence),
    Closes,
    Plain,
}

impl Fence {
    /// The line that opens it again.
    pub(super) fn opening(&self) -> String {
        format!("{}{}\n", self.marks(), self.language)
    }

    /// What closes it after these words.
    pub(super) fn closing(&self, body: &str) -> String {
        let newline = if body.ends_with('\n') { "" } else { "\n" };
        format!("{newline}{}", self.marks())
    }

    /// Code points that closing it after these words takes.
    pub(super) fn closing_cost(&self, body: &str) -> usize {
        self.run + usize::from(!body.ends_with('\n'))
    }

    fn marks(&self) -> String {
        self.mark.to_string().repeat(self.run)
    }
}

/// What this line, read after an open block or none, does.
pub(super) fn read(line: &str, open: Option<&Fence>) -> Line {
    let inner = line.trim_start_matches([' ', '\t']);
    let Some(mark) = inner.chars().next().filter(|mark| matches!(mark, '`' | '~')) else { return Line::Plain };
    let after = inner.trim_start_matches(mark);
    let run = inner.len() - after.len();
    if !(3..=LONGEST_RUN).contains(&run) {
        return Line::Plain;
    }
    let length = line.trim_end_matches(['\n', '\r']).chars().count();
    match open {
        Some(fence) => {
            let closes = fence.mark == mark && run >= fence.run && after.trim().is_empty();
            if closes && length <= LONGEST_CLOSING { Line::Closes } else { Line::Plain }
        }
        None if (mark == '`' && after.contains('`')) || length > LONGEST_OPENING => Line::Plain,
        None => Line::Opens(Fence { mark, run, language: language(after) }),
    }
}

/// The first word after the marks, if it looks like the name of a language.
fn language(info: &str) -> String {
    let word = info.split_whitespace().next().unwrap_or_default();
    let letter = |c: char| c.is_alphanumeric() || "+-_.#".contains(c);
    let named = word.chars().count() <= LONGEST_LANGUAGE && word.chars().all(letter);
    if named { word.to_owned() } else { String::new() }
}

/// Whether the block that opens this text, with the line that closes it, fits into one part.
pub(super) fn fits_whole(text: &str) -> bool {
    let mut lines = text.split_inclusive('\n');
    let Some(Line::Opens(fence)) = lines.next().map(|line| read(line, None)) else { return false };
    let mut used = text.split_inclusive('\n').next().map_or(0, |line| line.chars().count());
    for line in lines {
        used += line.trim_end_matches(['\n', '\r']).chars().count();
        if read(line, Some(&fence)) == Line::Closes || used > LIMIT {
            return used <= LIMIT;
        }
        used += line.len() - line.trim_end_matches(['\n', '\r']).len();
    }
    used + fence.closing_cost(text) <= LIMIT
}
