//! The budget of identifies: Discord resets the token of a bot that identifies 1000 times in a day.
//!
//! Every identify is counted before it is made, and the count outlives the process, so that a
//! service that is restarted over and over does not spend what it cannot see.

use std::collections::BTreeMap;
use std::time::Duration;

use clankie_domain::time::Timestamp;

/// The bookmark that holds the count.
pub(super) const BOOKMARK: &str = "discord:identifies";
/// Identifies of our own in a day: half of what Discord allows, so that another process with the
/// same token, or a count that was lost, does not cross the line.
const OWN_MAX: u32 = 500;
/// What must be left of Discord's own count: a person must still be able to start by hand.
pub(super) const LEFT_LEAST: u64 = 50;
/// Identifies in an hour that need no rest between them.
const FREE_IN_AN_HOUR: u32 = 10;
/// Longest rest before one identify.
const REST_MAX: Duration = Duration::from_secs(300);
const HOUR_MS: i64 = 3_600_000;
const DAY_HOURS: i64 = 24;

/// What Discord says is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Left {
    pub(super) remaining: u64,
    pub(super) reset_after: Duration,
}

/// Whether an identify may be made now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// After this rest.
    After(Duration),
    /// Not before so long.
    Refused(Duration),
}

/// How many identifies were made in each hour of the last day.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Identifies(BTreeMap<i64, u32>);

impl Left {
    /// What is left after one more, some time later.
    pub(super) fn spent(self, since: Duration) -> Option<Self> {
        let reset_after = self.reset_after.checked_sub(since)?;
        Some(Self { remaining: self.remaining.saturating_sub(1), reset_after })
    }
}

impl Identifies {
    /// Reads a count back. What cannot be read counts as nothing: Discord's own count still holds.
    pub(super) fn parse(text: &str) -> Self {
        let hour = |pair: &str| {
            let (hour, count) = pair.split_once(':')?;
            Some((hour.parse().ok()?, count.parse().ok()?))
        };
        Self(text.split(',').filter_map(hour).collect())
    }

    /// The count as it is kept.
    pub(super) fn kept(&self) -> String {
        self.0.iter().map(|(hour, count)| format!("{hour}:{count}")).collect::<Vec<_>>().join(",")
    }

    /// Counts one more, and forgets what is older than a day.
    pub(super) fn spend(&mut self, now: Timestamp) {
        let hour = now.0.div_euclid(HOUR_MS);
        self.0.retain(|kept, _| *kept > hour - DAY_HOURS);
        let count = self.0.entry(hour).or_default();
        *count = count.saturating_add(1);
    }

    /// How many were made in the last day.
    pub(super) fn used(&self, now: Timestamp) -> u32 {
        let oldest = now.0.div_euclid(HOUR_MS) - DAY_HOURS;
        self.0.range(oldest + 1..).map(|(_, count)| count).sum()
    }

    /// Whether the one that was just made is one too many; `left` as it was before it.
    pub(super) fn is_over(&self, left: Option<Left>, now: Timestamp) -> bool {
        self.used(now) > OWN_MAX || left.is_some_and(|left| left.remaining <= LEFT_LEAST)
    }

    /// Whether one more may be made.
    pub(super) fn verdict(&self, left: Option<Left>, now: Timestamp) -> Verdict {
        if let Some(left) = left.filter(|left| left.remaining <= LEFT_LEAST) {
            return Verdict::Refused(left.reset_after);
        }
        let hour = now.0.div_euclid(HOUR_MS);
        if self.used(now) >= OWN_MAX {
            let rest = (hour + 1) * HOUR_MS - now.0;
            return Verdict::Refused(Duration::from_millis(rest.unsigned_abs()));
        }
        let lately = self.0.get(&hour).copied().unwrap_or_default();
        match lately.checked_sub(FREE_IN_AN_HOUR) {
            None => Verdict::After(Duration::ZERO),
            Some(over) => Verdict::After(Duration::from_secs(1 << over.min(16)).min(REST_MAX)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_000 * HOUR_MS + 5);

    fn spent(count: u32) -> Identifies {
        let mut identifies = Identifies::default();
        (0..count).for_each(|_| identifies.spend(NOW));
        identifies
    }

    /// B91: a restart loop rests longer and longer and never reaches Discord's line.
    #[test]
    fn b91_a_loop_of_restarts_rests_and_then_stops() {
        assert_eq!(spent(9).verdict(None, NOW), Verdict::After(Duration::ZERO));
        assert_eq!(spent(12).verdict(None, NOW), Verdict::After(Duration::from_secs(4)));
        assert_eq!(spent(60).verdict(None, NOW), Verdict::After(REST_MAX));
        assert!(matches!(spent(OWN_MAX).verdict(None, NOW), Verdict::Refused(_)));
        let left = Left { remaining: LEFT_LEAST, reset_after: Duration::from_secs(7) };
        assert_eq!(spent(0).verdict(Some(left), NOW), Verdict::Refused(Duration::from_secs(7)));
    }

    /// B91: what Discord said goes down with each identify, until its day is over.
    #[test]
    fn b91_what_discord_allows_goes_down_until_its_day_is_over() {
        let left = Left { remaining: LEFT_LEAST + 1, reset_after: Duration::from_secs(7) };
        let after = left.spent(Duration::from_secs(2));
        assert_eq!(after, Some(Left { remaining: LEFT_LEAST, reset_after: Duration::from_secs(5) }));
        assert_eq!(left.spent(Duration::from_secs(8)), None);
        assert!(!spent(1).is_over(Some(left), NOW) && spent(1).is_over(after, NOW));
        assert!(!spent(OWN_MAX).is_over(None, NOW) && spent(OWN_MAX + 1).is_over(None, NOW));
    }

    #[test]
    fn the_count_is_read_back_and_a_day_later_it_is_over() {
        let identifies = Identifies::parse(&spent(30).kept());
        assert_eq!(identifies, spent(30));
        let tomorrow = Timestamp(NOW.0 + DAY_HOURS * HOUR_MS);
        assert_eq!((identifies.used(NOW), identifies.used(tomorrow)), (30, 0));
        assert_eq!(Identifies::parse("nonsense"), Identifies::default());
    }
}
