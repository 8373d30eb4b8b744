//! One of many, named by its id or by the beginning of its id.
//!
//! A name that fits several fits none: nothing is ever taken in place of what was meant.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

use super::clean::clean_line;
use super::failure::Failure;

/// Fewest digits: with fewer, a slip of the finger may name another one.
const DIGITS_MIN: usize = 6;
/// The digits of a whole id.
const DIGITS_MAX: usize = 32;
/// Characters of a whole id with its hyphens.
const ID_WIDTH: usize = DIGITS_MAX + 4;
/// How many a refusal lists when several begin so: as many as a person reads.
pub(super) const LISTED: usize = 10;
/// Width of the words beside a listed id, in characters.
const WORDS_WIDTH: usize = 40;

/// An id or its beginning: 6–32 hexadecimal digits, with or without the hyphens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdPrefix(String);

impl FromStr for IdPrefix {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = digits(text);
        let sound = (DIGITS_MIN..=DIGITS_MAX).contains(&digits.len()) && digits.chars().all(|c| c.is_ascii_hexdigit());
        sound.then_some(Self(digits)).ok_or("must be an id, or at least its first 6 hexadecimal digits")
    }
}

impl fmt::Display for IdPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl IdPrefix {
    /// The one whose id begins so. `noun` says what there is none, or more than one, of; `read`
    /// gives the id of one and the words that a person knows it by.
    pub(super) fn only<'a, T>(
        &self,
        all: &'a [T],
        noun: &str,
        read: impl Fn(&T) -> (&str, &str),
    ) -> Result<&'a T, Failure> {
        let named: Vec<&T> = all.iter().filter(|one| digits(read(one).0).starts_with(&self.0)).collect();
        match named.as_slice() {
            [] => Err(Failure::Absent(format!("there is no {noun} whose id begins with {self}"))),
            [one] => Ok(one),
            many => {
                let line =
                    |(id, words): (&str, &str)| [clean_line(id, ID_WIDTH), clean_line(words, WORDS_WIDTH)].join("  ");
                let mut lines: Vec<String> = many.iter().take(LISTED).map(|one| line(read(one))).collect();
                lines.extend((many.len() > LISTED).then(|| "and more".to_owned()));
                let lines = lines.join("\n  ");
                Err(Failure::Usage(format!("{self} begins the ids of several {noun}s; give more of it:\n  {lines}")))
            }
        }
    }

    /// The id, where this is a whole one.
    pub(super) fn whole(&self) -> Option<Uuid> {
        (self.0.len() == DIGITS_MAX).then(|| Uuid::try_parse(&self.0).ok()).flatten()
    }

    /// The first id after every one that begins so; none when those are the last ones. Where ids sort
    /// by creation, all that begin so stand in one stretch of a list, which ends here.
    pub(super) fn after(&self) -> Option<Uuid> {
        let begin = u128::from_str_radix(&self.0, 16).ok()?.checked_add(1)?;
        let shift = u32::try_from(4 * (DIGITS_MAX - self.0.len())).ok()?;
        let next = begin.checked_shl(shift)?;
        (next >> shift == begin).then(|| Uuid::from_u128(next))
    }
}

/// A whole id. What takes away or hands out authority is named by nothing less.
pub(super) fn whole_id(text: &str) -> Result<Uuid, &'static str> {
    let whole = text.parse::<IdPrefix>().ok().and_then(|id| id.whole());
    whole.ok_or("must be a whole id of 32 hexadecimal digits, as the list shows it")
}

fn digits(id: &str) -> String {
    id.chars().filter(|c| *c != '-').map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::exit::Exit;

    const IDS: [&str; 3] = [
        "0192f0c1-aaaa-4000-8000-000000000001",
        "0192f0c1-aaaa-4000-8000-000000000002",
        "7f3e9911-0000-4000-8000-000000000003",
    ];

    fn picked(prefix: &str) -> Result<&'static str, Exit> {
        let prefix: IdPrefix = prefix.parse().map_err(|_| Exit::Usage)?;
        prefix.only(&IDS, "ask", |id| (id, "words")).copied().map_err(|failure| failure.exit())
    }

    /// B72: of two asks of the same words, a name means one or neither.
    #[test]
    fn b72_a_name_means_one_ask_or_none() {
        let table = [
            ("7f3e99", Ok(IDS[2])),
            ("7F3E99", Ok(IDS[2])),
            ("7f3e9911-0000", Ok(IDS[2])),
            (IDS[0], Ok(IDS[0])),
            (IDS[1], Ok(IDS[1])),
            ("0192f0", Err(Exit::Usage)),
            ("0192f0c1-aaaa-4000-8000-00000000000", Err(Exit::Usage)),
            ("7f3e98", Err(Exit::NotFound)),
            ("7f3e9", Err(Exit::Usage)),
            ("7f3e9g", Err(Exit::Usage)),
            ("", Err(Exit::Usage)),
            ("7f3e9911-0000-4000-8000-0000000000033", Err(Exit::Usage)),
        ];
        for (prefix, expected) in table {
            assert_eq!(picked(prefix), expected, "{prefix}");
        }
    }

    #[test]
    fn who_names_several_is_shown_which() {
        let prefix: IdPrefix = "0192f0".parse().unwrap();
        let said = prefix.only(&IDS, "ask", |id| (id, "Ship\u{1b}[2J it?")).unwrap_err().to_string();
        let begun = "0192f0 begins the ids of several asks; give more of it:";
        assert_eq!(said, format!("{begun}\n  {}  Ship it?\n  {}  Ship it?", IDS[0], IDS[1]));
        let many = [IDS[0]; LISTED + 1];
        let said = prefix.only(&many, "ask", |id| (id, "words")).unwrap_err().to_string();
        assert_eq!((said.lines().count(), said.ends_with("\n  and more")), (LISTED + 2, true));
    }

    #[test]
    fn a_whole_id_is_known_with_and_without_its_hyphens() {
        let whole = |text: &str| text.parse::<IdPrefix>().unwrap().whole().map(|id| id.to_string());
        assert_eq!(whole(IDS[0]).as_deref(), Some(IDS[0]));
        assert_eq!(whole(&IDS[0].replace('-', "").to_uppercase()).as_deref(), Some(IDS[0]));
        assert_eq!(whole(&IDS[0][..35]), None);
    }

    #[test]
    fn what_needs_a_whole_id_says_so() {
        assert_eq!(whole_id(&IDS[0].replace('-', "")).unwrap().to_string(), IDS[0]);
        for short in ["01a22fe8", "nope", ""] {
            assert!(whole_id(short).unwrap_err().contains("a whole id of 32 hexadecimal digits"), "{short}");
        }
    }

    #[test]
    fn the_stretch_of_a_beginning_ends_where_the_next_one_begins() {
        let after = |text: &str| text.parse::<IdPrefix>().unwrap().after().map(|id| id.to_string());
        assert_eq!(after("0192f0c1").as_deref(), Some("0192f0c2-0000-0000-0000-000000000000"));
        assert_eq!(after("0192ff").as_deref(), Some("01930000-0000-0000-0000-000000000000"));
        assert_eq!(after("ffffff"), None);
    }
}
