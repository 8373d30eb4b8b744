//! Bounds that asks and updates share: texts, addresses, and what an agent's text may not hold.
//!
//! Lengths are in characters. An address is navigation: it is checked here and never fetched.

use super::DraftRefused;
use crate::legible::{shown, turns_around};
use crate::update::URL_MAX;

/// How long a text may be, with the rule as a sentence for the agent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bound {
    pub(crate) most: usize,
    pub(crate) rule: &'static str,
}

/// Prompts, recommendations, what waits, steps and bodies.
pub(crate) const WORDS: Bound = Bound { most: super::TEXT_MAX, rule: "must be 1–2000 characters and not blank" };
/// Labels, titles, trackers and keys.
pub(crate) const LABEL: Bound = Bound { most: super::LABEL_MAX, rule: "must be 1–200 characters and not blank" };
/// Seat, session, request and question ids.
pub(crate) const ID: Bound = Bound { most: super::SEAT_ID_MAX, rule: "must be 1–512 characters and not blank" };
/// Media types.
pub(crate) const MIME_TYPE: Bound =
    Bound { most: crate::update::MIME_TYPE_MAX, rule: "must be 1–100 characters and not blank" };
/// Descriptions and alternative texts, which may be empty.
pub(crate) const ASIDE: Bound = Bound { most: super::DESCRIPTION_MAX, rule: "must be at most 500 characters" };

const LEGIBLE: &str = "must hold no control character but newline and tab, and no bidirectional override \
     (U+202A–U+202E, U+2066–U+2069)";
const SHOWN: &str = "must hold no character that is not shown, such as U+200B, U+00AD or a tag; joiners and variation \
     selectors (U+200C, U+200D, U+FE00–U+FE0F) only inside an emoji or between letters that they shape";
const ADDRESS: &str = "must be an http or https address of at most 2048 bytes: a host, no user name, and no space, \
     control character, backslash, quote or angle bracket";
/// Most digits of a port.
const PORT_DIGITS: usize = 5;

/// A refusal of that field.
pub(crate) fn refused<T>(field: &'static str, rule: &'static str) -> Result<T, DraftRefused> {
    Err(DraftRefused { field, rule })
}

/// A text that says something.
pub(crate) fn text(field: &'static str, value: &str, bound: Bound) -> Result<(), DraftRefused> {
    if value.trim().is_empty() {
        return refused(field, bound.rule);
    }
    aside(field, value, bound)
}

/// What is chosen by its looks: a text of which every character is shown.
pub(crate) fn label(field: &'static str, value: &str) -> Result<(), DraftRefused> {
    text(field, value, LABEL)?;
    if shown(value) == value { Ok(()) } else { refused(field, SHOWN) }
}

/// A text that may be empty.
pub(crate) fn aside(field: &'static str, value: &str, bound: Bound) -> Result<(), DraftRefused> {
    if value.chars().count() > bound.most {
        return refused(field, bound.rule);
    }
    if value.chars().any(is_illegible) {
        return refused(field, LEGIBLE);
    }
    Ok(())
}

/// A text that, where it is there, says something.
pub(crate) fn optional(field: &'static str, value: Option<&str>, bound: Bound) -> Result<(), DraftRefused> {
    value.map_or(Ok(()), |value| text(field, value, bound))
}

/// An http or https address.
pub(crate) fn address(field: &'static str, url: &str) -> Result<(), DraftRefused> {
    if url.len() <= URL_MAX && url.chars().all(is_url_char) && has_web_host(url) {
        Ok(())
    } else {
        refused(field, ADDRESS)
    }
}

/// What could hide or reorder what an owner reads.
pub(crate) fn is_illegible(c: char) -> bool {
    turns_around(c) || (c.is_control() && !matches!(c, '\n' | '\t'))
}

fn is_url_char(c: char) -> bool {
    !is_illegible(c) && !c.is_control() && !c.is_whitespace() && !matches!(c, '\\' | '"' | '<' | '>')
}

fn has_web_host(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else {
        return false;
    };
    let web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    web && is_authority(authority)
}

/// A host with or without a port. An `@` is in neither, so nothing can pose as the host.
fn is_authority(authority: &str) -> bool {
    let (sound, port) = match authority.strip_prefix('[').map(|rest| rest.split_once(']')) {
        Some(Some((inner, port))) => (is_ip6(inner), port),
        Some(None) => return false,
        None => {
            let (host, port) = authority.split_at(authority.find(':').unwrap_or(authority.len()));
            (is_name(host), port)
        }
    };
    sound && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port))
}

fn is_port(port: &str) -> bool {
    let digits = port.len() <= PORT_DIGITS && port.chars().all(|c| c.is_ascii_digit());
    digits && port.parse::<u16>().is_ok()
}

fn is_name(host: &str) -> bool {
    let label =
        |label: &str| !label.is_empty() && label.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    host.strip_suffix('.').unwrap_or(host).split('.').all(label)
}

/// The shape of an IPv6 address: 2–8 colons between groups of at most four hexadecimal digits.
fn is_ip6(inner: &str) -> bool {
    let group = |group: &str| group.len() <= 4 && group.chars().all(|c| c.is_ascii_hexdigit());
    (2..=8).contains(&inner.matches(':').count()) && inner.split(':').all(group)
}
