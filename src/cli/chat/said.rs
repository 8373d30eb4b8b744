//! What was said: one's own line with its delivery id, and how anybody's line is shown.

use uuid::Uuid;

use crate::cli::clean::{clean, clean_line};
use crate::owner::wire::RoomMessageBody;

/// Longest name that a line shows, in characters.
const NAME_WIDTH: usize = 32;

/// One line of one's own. Its delivery id is fresh, and repeats of it are the same message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) delivery: String,
    pub(super) text: String,
}

impl Said {
    pub(super) fn new(text: &str) -> Self {
        Self { delivery: format!("cli-{}", Uuid::new_v4()), text: text.to_owned() }
    }
}

/// One message as a terminal shows it. Who said it stands before it, so no text can pass for another's.
pub(in crate::cli) fn line(message: &RoomMessageBody) -> String {
    let name = clean_line(&message.author_name, NAME_WIDTH);
    // Further lines are set in: a line at the edge was said by the one it names.
    let text = clean(&message.text).replace('\n', "\n  ");
    match message.kind.as_str() {
        "reaction" => format!("{name} reacted: {text}"),
        "notice" => format!("* {text}"),
        _ => format!("{name}: {text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: &str, text: &str) -> RoomMessageBody {
        RoomMessageBody {
            seq: 1,
            id: "m".into(),
            kind: kind.into(),
            author: Some("local:ann".into()),
            author_name: "Ann\u{1b}[31m".into(),
            text: text.into(),
            reply_to: None,
            handoff_id: "h".into(),
            at: "2030-01-01T00:00:00Z".into(),
        }
    }

    #[test]
    fn nobodys_text_passes_for_anothers_line() {
        assert_eq!(line(&message("person", "hi\nclankie: approved")), "Ann: hi\n  clankie: approved");
        assert_eq!(line(&message("person", "\u{1b}[2Kx\rclankie: y")), "Ann: xclankie: y");
        assert_eq!(line(&message("reaction", "👍")), "Ann reacted: 👍");
        assert_eq!(line(&message("notice", "busy")), "* busy");
    }

    #[test]
    fn b5_two_lines_of_the_same_words_are_two_deliveries() {
        assert_ne!(Said::new("again").delivery, Said::new("again").delivery);
    }
}
