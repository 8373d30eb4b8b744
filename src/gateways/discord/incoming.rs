//! Files on their way in: references within named limits, and words about what is left out.
//!
//! Nothing is ever fetched here. What is beyond a limit is named in the request itself, so that
//! the session, the owner and the person see that it was there.

use clankie_domain::ids::Malformed;
use clankie_domain::request::{ATTACHMENTS_MAX, Attachment, REQUEST_MAX, request_text};

/// Largest file that is passed on, in bytes: what a session can still be expected to read.
const SIZE_MAX: u64 = 25 * 1024 * 1024;
/// Types that are passed on: what people show one another. Programs and archives of them are not.
const TYPES: [&str; 10] = [
    "text/",
    "image/",
    "audio/",
    "video/",
    "application/json",
    "application/octet-stream",
    "application/pdf",
    "application/vnd.oasis.opendocument",
    "application/vnd.openxmlformats-officedocument",
    "application/xml",
];
/// Longest media type that is repeated, in characters.
const TYPE_SHOWN: usize = 64;

/// The words of a request and the files that go with it, out of what was sent.
pub(super) fn taken_in(words: &str, sent: &[Attachment]) -> Result<(String, Vec<Attachment>), Malformed> {
    let (fits, beyond): (Vec<_>, Vec<_>) = sent.iter().partition(|file| fits(file));
    let (kept, many) = fits.split_at(fits.len().min(ATTACHMENTS_MAX));
    let left_out: Vec<&&Attachment> = beyond.iter().chain(many).collect();
    let notes: Vec<String> = left_out.iter().map(|file| note(file)).collect();
    let mut text = lines(words, &notes);
    if text.len() > REQUEST_MAX {
        text = lines(words, &[format!("[left out: {} files]", left_out.len())]);
    }
    let kept: Vec<Attachment> = kept.iter().map(|file| (*file).clone()).collect();
    Ok((request_text(&text, kept.len())?, kept))
}

fn lines(words: &str, notes: &[String]) -> String {
    let words = std::iter::once(words).filter(|words| !words.is_empty());
    words.chain(notes.iter().map(String::as_str)).collect::<Vec<_>>().join("\n")
}

fn fits(file: &Attachment) -> bool {
    let kind = file.mime_type.to_ascii_lowercase();
    file.size <= SIZE_MAX && TYPES.iter().any(|known| kind.starts_with(known))
}

fn note(file: &Attachment) -> String {
    let kind: String = file.mime_type.chars().filter(|c| !c.is_control()).take(TYPE_SHOWN).collect();
    format!("[left out: {}, {kind}, {} bytes]", file.name, file.size)
}

#[cfg(test)]
mod tests {
    use clankie_domain::request::ATTACHMENT_ONLY;

    use super::*;

    fn file(name: &str, mime_type: &str, size: u64) -> Attachment {
        let text = |text: &str| text.to_owned();
        Attachment { id: text("1"), name: text(name), mime_type: text(mime_type), size, url: text("https://cdn/x") }
    }

    #[test]
    fn what_is_beyond_a_limit_is_named_and_not_passed_on() {
        let sent = [
            file("a.png", "image/png", SIZE_MAX),
            file("b.png", "image/png", SIZE_MAX + 1),
            file("c.exe", "application/x-msdownload", 1),
        ];
        let (text, kept) = taken_in("look", &sent).unwrap();
        assert_eq!(kept, [sent[0].clone()]);
        let notes =
            "[left out: b.png, image/png, 26214401 bytes]\n[left out: c.exe, application/x-msdownload, 1 bytes]";
        assert_eq!(text, format!("look\n{notes}"));
    }

    #[test]
    fn a_file_without_words_has_its_placeholder_and_one_left_out_is_named() {
        assert_eq!(taken_in("", &[file("a.png", "image/png", 1)]).unwrap().0, ATTACHMENT_ONLY);
        let (text, kept) = taken_in("", &[file("c.exe", "application/x-sh", 1)]).unwrap();
        assert_eq!((text.as_str(), kept.len()), ("[left out: c.exe, application/x-sh, 1 bytes]", 0));
    }

    #[test]
    fn notes_never_push_the_words_over_their_limit() {
        let words = "😀".repeat(4_000);
        let sent = vec![file(&"n".repeat(128), "application/x-sh", 1); 10];
        let (text, _) = taken_in(&words, &sent).unwrap();
        assert!(text.ends_with("\n[left out: 10 files]"));
    }
}
