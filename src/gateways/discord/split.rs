//! Cuts a text into parts that Discord takes.
//!
//! Every part has at most [`LIMIT`] code points and something to read in it. No cut lies inside a
//! character cluster, unless one cluster alone is longer than a part. A code block that fits into
//! one part is not cut; a longer one is closed at the end of a part and opened again in the next.
//! Parts without those added fences, put together, are the text; only white space that would be a
//! part by itself is left out: at the end, and in front of what needs a whole part.

mod boundary;
mod fence;

use boundary::{Boundary, Kind, boundaries};
use fence::Fence;

/// Code points in one message, as Discord counts.
pub const LIMIT: usize = 2_000;

/// The parts of a text, in order. A text that fits is returned as it is; one of white space alone
/// has no parts.
#[must_use]
pub fn split(text: &str) -> Vec<String> {
    if text.chars().count() <= LIMIT {
        return if blank(text) { Vec::new() } else { vec![text.to_owned()] };
    }
    let mut parts = Vec::new();
    let mut rest = text;
    let mut open: Option<Fence> = None;
    while !blank(rest) {
        let (taken, left, after) = next(rest, open.as_ref());
        if open.is_some() || !blank(taken) {
            parts.push(dressed(taken, open.as_ref(), after.as_ref()));
        }
        (rest, open) = (left, after);
    }
    parts
}

fn blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

/// The words of a part between the fences that it needs.
fn dressed(body: &str, open: Option<&Fence>, after: Option<&Fence>) -> String {
    let opening = open.map(Fence::opening).unwrap_or_default();
    let closing = after.map(|fence| fence.closing(body)).unwrap_or_default();
    format!("{opening}{body}{closing}")
}

/// What the next part takes, what is left, and the fence that is open in between.
fn next<'t>(rest: &'t str, open: Option<&Fence>) -> (&'t str, &'t str, Option<Fence>) {
    let room = LIMIT - open.map_or(0, |fence| fence.opening().chars().count());
    let mut within = boundaries(rest, open, room);
    if let Some(end) = within.pop_if(|last| last.at == rest.len()) {
        return (rest, "", end.open.map(|(_, fence)| fence));
    }
    // White space in front of a cut makes no part outside a code block.
    let blank_ones = within.partition_point(|boundary| open.is_none() && blank(&rest[..boundary.at]));
    let space = within.drain(..blank_ones).next_back();
    match (best(&within, rest, room), space) {
        (Some(best), None) => cut(rest, best.at, best.open),
        // Blanks in front of a fence are the fence's own: nothing is gained by a cut between them.
        (Some(best), Some(space)) if best.kind.is_sound() || best.kind > space.kind => cut(rest, best.at, best.open),
        // The block's first line stands alone with the space as it does without it.
        (Some(best), Some(space)) if best.kind == Kind::EmptyBlock && !has_sound_end(&rest[space.at..]) => {
            cut(rest, best.at, best.open)
        }
        // It stands in front of what needs a whole part.
        (_, Some(space)) => cut(rest, space.at, None),
        (None, None) => {
            let at = inside_cluster(rest, open, room);
            (&rest[..at], &rest[at..], open.cloned())
        }
    }
}

/// Whether a part that begins here can end where the text reads the same.
fn has_sound_end(rest: &str) -> bool {
    boundaries(rest, None, LIMIT).iter().any(|boundary| boundary.kind.is_sound())
}

fn cut(rest: &str, at: usize, open: Option<(Option<usize>, Fence)>) -> (&str, &str, Option<Fence>) {
    (&rest[..at], &rest[at..], open.map(|(_, fence)| fence))
}

/// The last resort: as many code points of one overlong cluster as there is room for.
fn inside_cluster(rest: &str, open: Option<&Fence>, room: usize) -> usize {
    let taken = room - open.map_or(0, |fence| fence.closing("").chars().count());
    rest.char_indices().nth(taken).map_or(rest.len(), |(at, _)| at)
}

/// The boundary to cut at: the best of those that fit.
fn best(within: &[Boundary], rest: &str, room: usize) -> Option<Boundary> {
    let furthest = within.last()?;
    let block = furthest.open.as_ref().map(|(at, _)| *at);
    let whole = block.is_some_and(|at| at.is_some_and(|at| fence::fits_whole(&rest[at..])));
    let worth = |boundary: &Boundary| {
        let outside = boundary.open.is_none();
        let late = boundary.chars * 2 >= room;
        // Inside a code block only the one that cannot be kept whole may be cut.
        let same = boundary.open.as_ref().map(|(at, _)| *at) == block;
        let tier = match (outside, boundary.kind.is_natural(), late) {
            _ if !boundary.kind.is_sound() => 0,
            (true, true, true) => 6,
            (true, true, false) if whole || block.is_none() => 5,
            (true, false, _) if block.is_none() => 4,
            (false, true, true) if same && !whole => 5,
            (false, true, false) | (true, true, false) if same || outside => 3,
            (false, false, _) if same => 2,
            _ => 1,
        };
        (tier, boundary.kind, boundary.chars)
    };
    within.iter().max_by_key(|boundary| worth(boundary)).cloned()
}
