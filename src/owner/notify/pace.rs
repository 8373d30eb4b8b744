//! How fast a sink is told: a burst becomes one message with its count.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// Messages that may come one by one within [`WINDOW`]: a phone that buzzes more often is put away.
const SINGLY: usize = 3;
/// How long a burst is waited for.
const WINDOW: Duration = Duration::from_secs(5);

/// What to do with what is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// Tell the first one by itself.
    First,
    /// Tell of all of them in one message.
    Together,
    /// Wait; more may come.
    Hold(Duration),
}

/// When messages went out lately.
#[derive(Debug, Default)]
pub(super) struct Pace(VecDeque<Instant>);

impl Pace {
    /// What to do with `due` things, at least one.
    pub(super) fn turn(&mut self, due: usize, now: Instant) -> Turn {
        while self.0.front().is_some_and(|sent| now.duration_since(*sent) >= WINDOW) {
            self.0.pop_front();
        }
        match self.0.front() {
            _ if self.0.len() + due <= SINGLY => Turn::First,
            None => Turn::Together,
            Some(oldest) => Turn::Hold(WINDOW.saturating_sub(now.duration_since(*oldest))),
        }
    }

    /// A message went out.
    pub(super) fn sent(&mut self, now: Instant) {
        self.0.push_back(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_come_singly_and_a_burst_comes_together() {
        let (mut pace, start) = (Pace::default(), Instant::now());
        assert_eq!(pace.turn(4, start), Turn::Together);
        assert_eq!(pace.turn(3, start), Turn::First);
        pace.sent(start);
        assert_eq!(pace.turn(2, start), Turn::First);
        assert_eq!(pace.turn(3, start + Duration::from_secs(2)), Turn::Hold(Duration::from_secs(3)));
        assert_eq!(pace.turn(40, start + WINDOW), Turn::Together);
    }

    #[test]
    fn single_asks_that_go_on_coming_are_held_no_longer_than_a_window() {
        let (mut pace, mut now) = (Pace::default(), Instant::now());
        for _ in 0..SINGLY {
            assert_eq!(pace.turn(1, now), Turn::First);
            pace.sent(now);
            now += Duration::from_secs(1);
        }
        assert_eq!(pace.turn(1, now), Turn::Hold(Duration::from_secs(2)));
        assert_eq!(pace.turn(1, now + Duration::from_secs(2)), Turn::First);
    }
}
