//! What the room is told, in pieces that Discord takes.
//!
//! The pieces follow from the record alone, so that they are the same after a restart. A file goes
//! along with the last words where they leave room for the sentence that would stand in its place,
//! else as a piece of its own; one piece carries one file, so that a refusal concerns that one only.

use clankie_domain::admission::room::heard;
use clankie_domain::handoff::HandoffRecord;
use clankie_domain::result::{Media, TurnResult};

use crate::gateways::discord::split::{LIMIT, split};

/// Largest file that is offered, in bytes: what every bot may send in every guild.
pub(super) const FILE_MAX: u64 = 10 * 1024 * 1024;

/// One message to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    /// The words; empty for a file alone.
    pub(super) text: String,
    /// The file that goes along.
    pub(super) file: Option<Media>,
    /// The words when the file cannot go along.
    pub(super) instead: String,
}

/// Every piece of this record's reply, in order.
pub(super) fn parts(record: &HandoffRecord) -> Vec<Part> {
    let Some(result) = record.result() else { return Vec::new() };
    if let TurnResult::Settled { text, media } = result {
        return with_files(text, media);
    }
    let text = heard(record, result, record.created_at).map(|said| said.text).unwrap_or_default();
    split(&text).into_iter().map(Part::words).collect()
}

fn with_files(text: &str, media: &[Media]) -> Vec<Part> {
    let mut text = text.to_owned();
    let mut uploads = Vec::new();
    for file in media {
        match &file.file {
            None => add(&mut text, &file.url),
            Some(kept) if kept.size <= FILE_MAX => uploads.push(file.clone()),
            Some(_) => add(&mut text, &sentence(file)),
        }
    }
    let mut parts: Vec<Part> = split(&text).into_iter().map(Part::words).collect();
    let mut uploads = uploads.into_iter().peekable();
    if let (Some(last), Some(first)) = (parts.last_mut(), uploads.peek()) {
        let mut instead = last.text.clone();
        add(&mut instead, &sentence(first));
        if instead.chars().count() <= LIMIT {
            *last = Part { text: std::mem::take(&mut last.text), file: uploads.next(), instead };
        }
    }
    parts.extend(uploads.map(|file| Part { text: String::new(), instead: sentence(&file), file: Some(file) }));
    parts
}

fn add(text: &mut String, line: &str) {
    if !text.trim().is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}

/// What stands for a file that cannot go along.
fn sentence(file: &Media) -> String {
    format!("{} could not be sent here.", file.line().unwrap_or_default())
}

impl Part {
    fn words(text: String) -> Self {
        Self { instead: text.clone(), text, file: None }
    }
}

#[cfg(test)]
mod tests {
    use clankie_domain::result::KeptFile;

    use super::*;

    fn file(name: &str, size: u64) -> Media {
        Media {
            url: "kept:1/0".into(),
            mime_type: "text/plain".into(),
            file: Some(KeptFile { name: name.into(), size }),
        }
    }

    #[test]
    fn a_file_goes_with_the_last_words_and_one_that_is_too_large_is_a_sentence() {
        let parts = with_files("hi", &[file("a.txt", 3), file("b.bin", FILE_MAX + 1), file("c.txt", 4)]);
        let large = "[file: b.bin, text/plain, 10485761 bytes] could not be sent here.";
        let shown: Vec<_> = parts.iter().map(|part| (part.text.as_str(), part.file.is_some())).collect();
        assert_eq!(shown, [(format!("hi\n{large}").as_str(), true), ("", true)]);
        assert_eq!(parts[1].instead, "[file: c.txt, text/plain, 4 bytes] could not be sent here.");
    }

    #[test]
    fn words_that_leave_no_room_for_the_sentence_stand_alone() {
        let text = "x".repeat(LIMIT);
        let parts = with_files(&text, &[file("a.txt", 3)]);
        assert_eq!((parts.len(), &parts[0].text, parts[0].file.is_some()), (2, &text, false));
        assert!(parts.iter().all(|part| part.instead.chars().count() <= LIMIT));
    }

    #[test]
    fn a_file_alone_is_a_piece_and_nothing_at_all_is_none() {
        assert_eq!(with_files(" ", &[file("a.txt", 0)]).len(), 1);
        assert_eq!(with_files(" ", &[]), []);
    }
}
