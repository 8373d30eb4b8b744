//! A span of time as configuration writes it: `"300s"`, `"5m"`, or whole seconds.

use std::fmt;
use std::time::Duration;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The units, the longest that divides a span evenly first.
const UNITS: [(&str, u64); 4] = [("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// A span of time, in whole milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(u64);

impl Span {
    /// That many seconds.
    pub const fn seconds(seconds: u64) -> Self {
        Self(seconds.saturating_mul(1_000))
    }

    /// That many milliseconds.
    pub const fn millis(millis: u64) -> Self {
        Self(millis)
    }

    /// In milliseconds.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// As the standard library has it.
    pub const fn duration(self) -> Duration {
        Duration::from_millis(self.0)
    }

    /// Reads `300s`, `5m`, `2h`, `500ms` or whole seconds; `None` when it is none of these.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, unit) = text.split_at(digits);
        let number: u64 = number.parse().ok()?;
        let unit = if unit.is_empty() { "s" } else { unit };
        let (_, millis) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
        number.checked_mul(millis).map(Self)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, millis) = UNITS
            .into_iter()
            .filter(|_| self.0 > 0)
            .find(|(_, millis)| self.0.is_multiple_of(*millis))
            .unwrap_or(("s", 1));
        write!(f, "{}{unit}", self.0 / millis)
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Written)
    }
}

struct Written;

impl Visitor<'_> for Written {
    type Value = Span;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("whole seconds, or a text such as \"300s\", \"5m\", \"2h\" or \"500ms\"")
    }

    fn visit_i64<E: Error>(self, seconds: i64) -> Result<Span, E> {
        u64::try_from(seconds).map(Span::seconds).map_err(|_| E::custom("must not be negative"))
    }

    fn visit_u64<E: Error>(self, seconds: u64) -> Result<Span, E> {
        Ok(Span::seconds(seconds))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Span, E> {
        Span::parse(text).ok_or_else(|| E::custom("is no span of time"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_in_every_unit_and_written_in_the_longest_that_fits() {
        let cases = [("300s", "5m"), ("5m", "5m"), ("90s", "90s"), ("2h", "2h"), ("500ms", "500ms"), ("7", "7s")];
        for (text, written) in cases {
            assert_eq!(Span::parse(text).unwrap().to_string(), written, "{text}");
        }
        assert_eq!(Span::parse("0s").unwrap().to_string(), "0s");
    }

    #[test]
    fn what_is_no_span_is_refused() {
        for text in ["", "s", "5 m", "-5s", "1.5s", "5d", "5M", "99999999999999999999s", "18446744073709551615h"] {
            assert_eq!(Span::parse(text), None, "{text}");
        }
    }
}
