//! How a sink stands: what status shows of it.

use clankie_domain::time::Timestamp;
use tokio::sync::watch;

/// What a sink does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SinkState {
    /// The last try went well, or there was none.
    #[default]
    Ready,
    /// The last try failed.
    Failing,
    /// It asked for nothing more, until the service starts again.
    Disabled,
}

impl SinkState {
    /// The state as the contract writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Failing => "failing",
            Self::Disabled => "disabled",
        }
    }
}

/// How a sink stands, since the service started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stands {
    /// What it does.
    pub state: SinkState,
    /// Messages that it took.
    pub told: u64,
    /// Tries that failed.
    pub failures: u64,
    /// Asks and updates that it was never told of.
    pub dropped: u64,
    /// When it last took a message.
    pub last_success: Option<Timestamp>,
    /// When a try last failed, and why.
    pub last_error: Option<(Timestamp, String)>,
}

/// The one place that holds it.
#[derive(Debug, Clone)]
pub(super) struct Board(watch::Sender<Stands>);

impl Default for Board {
    fn default() -> Self {
        Self(watch::Sender::new(Stands::default()))
    }
}

impl Board {
    pub(super) fn now(&self) -> Stands {
        self.0.borrow().clone()
    }

    pub(super) fn told(&self, now: Timestamp) {
        self.0.send_modify(|stands| {
            stands.state = SinkState::Ready;
            stands.told += 1;
            stands.last_success = Some(now);
        });
    }

    pub(super) fn failed(&self, now: Timestamp, why: String) {
        self.0.send_modify(|stands| {
            stands.state = SinkState::Failing;
            stands.failures += 1;
            stands.last_error = Some((now, why));
        });
    }

    pub(super) fn dropped(&self, count: usize) {
        self.0.send_modify(|stands| stands.dropped += u64::try_from(count).unwrap_or(u64::MAX));
    }

    pub(super) fn disabled(&self) {
        self.0.send_modify(|stands| stands.state = SinkState::Disabled);
    }
}
