//! How far each channel was seen, durably, and how long that is kept.
//!
//! A channel without a mark begins at the floor, which is where the bot first ran and only ever
//! moves up. A mark at or below the floor says nothing more, so it is dropped with the same commit
//! that moves the floor over it: dropping one never brings a message back.

use clankie_actors::{Clankie, Failure};
use clankie_domain::time::Timestamp;

use super::catch_up::{LOW_BITS, snowflake};

/// How the name of a channel's mark begins; its number follows.
const SEEN: &str = "discord:seen:";
/// The floor, as a snowflake.
const FLOOR: &str = "discord:born";
/// How far below the newest mark the floor stays, in milliseconds: ninety days. A channel in which
/// nothing was seen for so long is gone, or is not heard any more, or has nothing to catch up with.
const KEPT_MS: u64 = 90 * 24 * 3_600_000;
/// Marks that are kept at most: many times the channels and threads that one bot hears.
const MARKS_MOST: usize = 10_000;

/// How far a channel was seen; `floor` where nothing is known of it.
pub(super) fn seen(clankie: &Clankie, channel: u64, floor: u64) -> u64 {
    let kept = clankie.bookmark(&name(channel)).ok().flatten();
    kept.and_then(|text| text.parse().ok()).unwrap_or(floor)
}

/// Moves a channel's mark. Durable when it returns.
pub(super) async fn keep(clankie: &Clankie, channel: u64, seen: u64) -> Result<(), Failure> {
    clankie.keep_bookmark(&name(channel), seen.to_string()).await
}

/// The floor, after it was moved up and the marks below it were dropped. To be asked for before
/// any lane runs: a mark that moves meanwhile could be lost.
pub(super) async fn floor(clankie: &Clankie, now: Timestamp) -> Result<u64, Failure> {
    let kept = clankie.bookmark(FLOOR)?.and_then(|text| text.parse().ok());
    let marks: Vec<(String, u64)> =
        clankie.bookmarks(SEEN)?.into_iter().map(|(channel, seen)| (channel, seen.parse().unwrap_or(0))).collect();
    let floor = raised(kept.unwrap_or_else(|| snowflake(now)), marks.iter().map(|(_, seen)| *seen).collect());
    let below = marks.into_iter().filter(|(_, seen)| *seen <= floor);
    let gone: Vec<String> = below.map(|(channel, _)| format!("{SEEN}{channel}")).collect();
    if kept != Some(floor) || !gone.is_empty() {
        tracing::debug!(dropped = gone.len(), "marks of channels that say nothing any more were dropped");
        clankie.move_bookmarks((FLOOR, floor.to_string()), gone).await?;
    }
    Ok(floor)
}

/// Counted from the newest mark and not from this machine's clock: a clock that is wrong must not
/// put the floor over what was not seen.
fn raised(floor: u64, mut seen: Vec<u64>) -> u64 {
    seen.sort_unstable_by(|a, b| b.cmp(a));
    let aged = seen.first().map_or(0, |newest| newest.saturating_sub(KEPT_MS << LOW_BITS));
    let crowded = seen.get(MARKS_MOST).copied().unwrap_or_default();
    floor.max(aged).max(crowded)
}

fn name(channel: u64) -> String {
    format!("{SEEN}{channel}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u64 = (24 * 3_600_000) << LOW_BITS;

    #[test]
    fn the_floor_moves_up_by_age_and_by_number_and_never_down() {
        assert_eq!(raised(7, vec![]), 7);
        assert_eq!(raised(7, vec![200 * DAY, 3]), 110 * DAY);
        assert_eq!(raised(150 * DAY, vec![200 * DAY, 3]), 150 * DAY);
        let many: Vec<u64> = (0..MARKS_MOST as u64 + 3).map(|n| 200 * DAY + n).collect();
        assert_eq!(raised(0, many), 200 * DAY + 2);
    }
}
