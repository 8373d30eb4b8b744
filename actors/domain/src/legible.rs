//! Which characters of a text nobody sees, so that what is read is what was meant.
//!
//! Controls, marks that turn the direction of text around, and what Unicode lets a screen ignore. Of
//! those, joiners and variation selectors shape emoji and many scripts: they stay where they stand
//! between what they shape, and never count when two texts are told apart. Tag characters never
//! stay, though a few flags need them: whole sentences can be hidden in them.

/// What encloses a digit in a keycap.
const KEYCAP: char = '\u{20e3}';

/// Whether a character is not shown by itself. White space is shown: it parts words.
pub fn is_hidden(c: char) -> bool {
    (c.is_control() && !c.is_whitespace()) || turns_around(c) || is_ignorable(c)
}

/// Whether it embeds, overrides or isolates the direction of what follows.
pub fn turns_around(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether it is hidden and yet shapes its neighbours.
pub fn is_shaper(c: char) -> bool {
    is_joiner(c) || is_selector(c)
}

/// The text without what is hidden, but with what shapes it.
pub fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    let mut before = None;
    while let Some(c) = rest.next() {
        if !is_hidden(c) || shapes(before, c, rest.peek().copied()) {
            out.push(c);
            before = Some(c);
        }
    }
    out
}

/// What a text looks like: two texts of the same looks cannot be told apart.
pub fn looks(text: &str) -> String {
    let seen: String = text.chars().filter(|c| !is_hidden(*c)).collect();
    seen.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Unicode's default-ignorable characters, and the marks of interlinear annotation.
fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}')
}

/// Whether a shaper stands where it shapes something: a selector behind what it varies, a joiner
/// between two. Letters of ASCII are neither varied nor joined.
fn shapes(before: Option<char>, c: char, after: Option<char>) -> bool {
    let base = |c: char| !c.is_ascii() && !c.is_whitespace() && !is_hidden(c);
    let keycap = |c: char| matches!(c, '0'..='9' | '#' | '*') && after == Some(KEYCAP);
    if is_selector(c) {
        return before.is_some_and(|before| base(before) || keycap(before));
    }
    is_joiner(c) && before.is_some_and(|before| base(before) || is_selector(before)) && after.is_some_and(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_shown_goes_and_what_shapes_an_emoji_or_a_script_stays() {
        let table = [
            ("B", "B"),
            ("B\u{200b}", "B"),
            ("B\u{200d}", "B"),
            ("B\u{fe0f}C", "BC"),
            ("a\u{1b}[2J\0b\u{85}c", "a[2Jb\u{85}c"),
            ("a\u{202e}b\u{2066}c\u{ad}d\u{3164}e\u{e0041}f", "abcdef"),
            ("two\n\tlines", "two\n\tlines"),
            (
                "👩\u{200d}🔬 ❤\u{fe0f}\u{200d}🔥 1\u{fe0f}\u{20e3}",
                "👩\u{200d}🔬 ❤\u{fe0f}\u{200d}🔥 1\u{fe0f}\u{20e3}",
            ),
            ("می\u{200c}خواهم", "می\u{200c}خواهم"),
            ("👍\u{200d}", "👍"),
            ("👍\u{fe0f}\u{fe0f}", "👍\u{fe0f}"),
            ("\u{fe0f}👍", "👍"),
        ];
        for (text, seen) in table {
            assert_eq!(shown(text), seen, "{text:?}");
            assert_eq!(shown(seen), seen, "what is shown is shown whole");
        }
    }

    #[test]
    fn texts_of_the_same_looks_are_the_same() {
        for alike in [" B ", "B\u{200b}", "\u{feff}B", "B\u{200d}", "B\u{fe0f}", "B\u{e0020}\n"] {
            assert_eq!(looks(alike), "B", "{alike:?}");
        }
        assert_eq!(looks("Ship\u{a0} it"), "Ship it");
        assert_ne!(looks("👩\u{200d}🔬"), looks("👩\u{200d}🚀"));
    }
}
