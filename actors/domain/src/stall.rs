//! The watchdog of a run: slow is not dead, silent for too long is.
//!
//! It counts credited time, not elapsed time: a suspended host or a jumped clock cannot make a
//! healthy run look dead, because one tick is credited at most two ticks' worth.

use crate::time::Timestamp;

/// Silence after which a run is dead.
pub const STALL_AFTER_MS: u64 = 300_000;
/// How often the wall clock is looked at.
pub const TICK_MS: u64 = 5_000;
/// The budget of one tool call, during which the silence clock stands still: 30 minutes.
pub const TOOL_BUDGET_MS: u64 = 30 * 60 * 1_000;

/// The silence clock of one run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Watchdog {
    limit_ms: u64,
    silent_ms: u64,
    tool_ms: u64,
    tools: u32,
    last_tick: Timestamp,
}

/// What a tick found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pulse {
    /// Alive, or not silent for long enough.
    Alive,
    /// Silent beyond the limit, or a tool beyond its budget.
    Dead,
}

impl Watchdog {
    /// A clock that calls a run dead after `limit_ms` of silence.
    pub fn new(limit_ms: u64, now: Timestamp) -> Self {
        Self { limit_ms, silent_ms: 0, tool_ms: 0, tools: 0, last_tick: now }
    }

    /// Anything was heard.
    pub fn heard(&mut self) {
        self.silent_ms = 0;
    }

    /// A tool began; the silence clock stands still until every tool ended.
    pub fn tool_began(&mut self) {
        self.tools += 1;
        self.tool_ms = 0;
    }

    /// A tool ended.
    pub fn tool_ended(&mut self) {
        self.tools = self.tools.saturating_sub(1);
        self.tool_ms = 0;
    }

    /// The wall clock was looked at.
    pub fn tick(&mut self, now: Timestamp) -> Pulse {
        let credit = now.since(self.last_tick).min(2 * TICK_MS);
        self.last_tick = now;
        let (spent, limit) = match self.tools {
            0 => (&mut self.silent_ms, self.limit_ms),
            _ => (&mut self.tool_ms, TOOL_BUDGET_MS),
        };
        *spent += credit;
        if *spent >= limit { Pulse::Dead } else { Pulse::Alive }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(dog: &mut Watchdog, from: i64, count: i64) -> Pulse {
        let mut pulse = Pulse::Alive;
        for n in 1..=count {
            pulse = dog.tick(Timestamp(from + n * 5_000));
        }
        pulse
    }

    #[test]
    fn silence_of_five_minutes_is_dead_and_a_second_less_is_not() {
        let mut dog = Watchdog::new(STALL_AFTER_MS, Timestamp(0));
        assert_eq!(ticks(&mut dog, 0, 59), Pulse::Alive);
        assert_eq!(ticks(&mut dog, 295_000, 1), Pulse::Dead);
    }

    #[test]
    fn a_suspended_host_does_not_kill_a_run() {
        let mut dog = Watchdog::new(STALL_AFTER_MS, Timestamp(0));
        assert_eq!(dog.tick(Timestamp(8 * 3_600_000)), Pulse::Alive);
        assert_eq!(dog.tick(Timestamp(0)), Pulse::Alive);
    }

    /// B70: waiting inside a tool does not burn the silence budget.
    #[test]
    fn b70_the_silence_clock_stands_still_inside_a_tool_which_has_its_own() {
        let mut dog = Watchdog::new(STALL_AFTER_MS, Timestamp(0));
        dog.tool_began();
        assert_eq!(ticks(&mut dog, 0, 359), Pulse::Alive);
        assert_eq!(ticks(&mut dog, 359 * 5_000, 1), Pulse::Dead);
    }
}
