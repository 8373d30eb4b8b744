//! Text from rooms, people and models, made harmless before a terminal sees it.
//!
//! What comes out moves no cursor, sets no title, writes no clipboard and reverses no line: control
//! characters, escape sequences and bidirectional overrides are gone; the words all stand.

use std::iter::Peekable;
use std::str::Chars;

const ESC: char = '\u{1b}';
const BEL: char = '\u{7}';
/// The one-character forms of the two introducers, and of the end of a string.
const C1_CSI: char = '\u{9b}';
const C1_END: char = '\u{9c}';

/// The text with its lines and tabs, and nothing that a terminal obeys.
pub(super) fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            ESC => escape(&mut rest),
            C1_CSI => control_sequence(&mut rest),
            c if is_string_introducer(c) => string(&mut rest),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || is_invisible(c) => {}
            c => out.push(c),
        }
    }
    out
}

/// The same on one line, cut to `width` characters with a mark.
pub(super) fn clean_line(text: &str, width: usize) -> String {
    let words: Vec<String> = clean(text).split_whitespace().map(str::to_owned).collect();
    let line = words.join(" ");
    match line.char_indices().nth(width) {
        Some(_) => line.chars().take(width.saturating_sub(1)).chain(['…']).collect(),
        None => line,
    }
}

/// JSON with the same meaning, in which those characters are escapes: a terminal may see it, too.
pub(super) fn escape_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_control() || is_invisible(c) {
            let mut units = [0; 2];
            out.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    out
}

/// Not shown, or turning lines round: the domain's hidden characters without those that shape emoji
/// and scripts, and the two that part lines and paragraphs.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The C1 forms of DCS, SOS, OSC, PM and APC.
fn is_string_introducer(c: char) -> bool {
    matches!(c, '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}')
}

fn escape(rest: &mut Peekable<Chars<'_>>) {
    match rest.peek() {
        Some('[') => {
            rest.next();
            control_sequence(rest);
        }
        Some('P' | 'X' | ']' | '^' | '_') => {
            rest.next();
            string(rest);
        }
        Some(' '..='~') => {
            while rest.next_if(|c| matches!(c, ' '..='/')).is_some() {}
            rest.next_if(|c| matches!(c, '0'..='~'));
        }
        Some(_) | None => {}
    }
}

/// Parameters and intermediates, then one final character; a broken one ends where it breaks.
fn control_sequence(rest: &mut Peekable<Chars<'_>>) {
    while rest.next_if(|c| matches!(c, ' '..='?')).is_some() {}
    rest.next_if(|c| matches!(c, '@'..='~'));
}

/// Up to its end mark. Without one, only the introducer goes: words must not vanish behind it.
fn string(rest: &mut Peekable<Chars<'_>>) {
    let mut ahead = rest.clone();
    while let Some(c) = ahead.next() {
        let ended = match c {
            BEL | C1_END => true,
            ESC => ahead.next_if_eq(&'\\').is_some(),
            _ => false,
        };
        if ended {
            *rest = ahead;
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        let table = [
            ("plain words\n\tand a tab", "plain words\n\tand a tab"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}[2J\u{1b}[Hgone", "gone"),
            ("\u{9b}2Jgone", "gone"),
            ("\u{1b}]0;title\u{7}after", "after"),
            ("\u{1b}]52;c;ZXZpbA==\u{1b}\\after", "after"),
            ("\u{9d}0;title\u{9c}after", "after"),
            ("\u{1b}]8;;http://evil\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}Pq#0;2\u{1b}\\after", "after"),
            ("\u{1b}]0;never ended", "0;never ended"),
            ("\u{1b}(Bset", "set"),
            ("\u{1b}csoft", "soft"),
            ("\u{1b}", ""),
            ("\u{1b}[", ""),
            ("\u{1b}[31\nnext", "\nnext"),
            ("a\rb\u{8}c\0d\u{7f}e\u{85}f", "abcdef"),
            ("gpj.\u{202e}exe\u{202c}", "gpj.exe"),
            ("a\u{2066}b\u{2069}c\u{200f}d\u{e0041}e\u{3164}f", "abcdef"),
            ("👩\u{200d}🔬 stays whole", "👩\u{200d}🔬 stays whole"),
        ];
        for (dirty, cleaned) in table {
            assert_eq!(clean(dirty), cleaned, "{dirty:?}");
        }
    }

    #[test]
    fn cleaning_twice_changes_nothing_more() {
        for tricky in ["\u{1b}\u{1b}[31m[31mx", "\u{1b}\u{202e}[2Jx", "\u{9b}\u{9b}2J", "\u{1b}]\u{1b}]0;t\u{7}\u{7}"] {
            let once = clean(tricky);
            assert!(!once.chars().any(|c| c == ESC || c == C1_CSI), "{once:?}");
            assert_eq!(clean(&once), once);
        }
    }

    #[test]
    fn json_for_a_terminal_means_the_same_and_moves_nothing() {
        let text = "a\u{9b}2J\u{202e}b\u{7f}\u{1b}[H\u{feff}é\u{e0041}";
        let escaped = escape_json(&serde_json::to_string(text).unwrap());
        assert_eq!(escaped, "\"a\\u009b2J\\u202eb\\u007f\\u001b[H\\ufeffé\\udb40\\udc41\"");
        assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
    }

    #[test]
    fn a_line_is_one_line_and_no_longer_than_asked() {
        assert_eq!(clean_line("a\nb\t c\u{1b}[1m", 10), "a b c");
        assert_eq!(clean_line("0123456789", 10), "0123456789");
        assert_eq!(clean_line("0123456789x", 10), "012345678…");
    }
}
