//! Tells the owner, on other people's systems, that something waits.
//!
//! Each sink is followed by a task of its own that reads durable events from its own kept place, so
//! a dead one keeps nobody waiting: not a commit, not an answer, not another sink. What waits to be
//! told is in the store and not in a queue; what was answered meanwhile is never told. Best effort:
//! a sink that stays away for [`follow::RETRY_FOR`] loses its news, and the count of those is shown.
//! Nothing that a sink or a person says back answers anything.

use std::sync::Arc;
use std::time::Duration;

use clankie_actors::Clankie;
use clankie_actors::ports::Clock;
use tokio::task::JoinSet;

mod behind;
mod follow;
mod http;
mod news;
mod ntfy;
mod pace;
mod sink;
mod stands;
mod waiting;
mod webhook;

pub use http::{SetupError, client};
pub use news::{News, Subject};
pub use ntfy::Ntfy;
pub use sink::{Sink, Untold};
pub use stands::{SinkState, Stands};
pub use webhook::{Secret, SecretError, Webhook};

use follow::Follower;
use stands::Board;

/// Whether updates are told as well as asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Updates {
    /// They are.
    Told,
    /// Only asks are.
    Kept,
}

/// What is told and how.
#[derive(Debug, Clone)]
pub struct Terms {
    /// How long an ask waits before it is told; one that is answered meanwhile never is.
    pub delay: Duration,
    /// Whether updates are told.
    pub updates: Updates,
}

/// Every sink, each with how it stands. Cheap to clone.
#[derive(Clone)]
pub struct Notifier {
    terms: Terms,
    sinks: Vec<(Arc<dyn Sink>, Board)>,
}

impl std::fmt::Debug for Notifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Notifier").field("sinks", &self.stands()).finish_non_exhaustive()
    }
}

impl Notifier {
    /// One over these sinks, which tells nothing yet.
    pub fn new(terms: Terms, sinks: Vec<Arc<dyn Sink>>) -> Self {
        let sinks = sinks.into_iter().map(|sink| (sink, Board::default())).collect();
        Self { terms, sinks }
    }

    /// How each sink stands now, by its name.
    pub fn stands(&self) -> Vec<(&'static str, Stands)> {
        self.sinks.iter().map(|(sink, board)| (sink.name(), board.now())).collect()
    }

    /// Tells what there is to tell, until it is dropped.
    pub async fn run(self, clankie: Clankie, clock: Arc<dyn Clock>) {
        let mut following = JoinSet::new();
        for (sink, board) in self.sinks {
            let follower = Follower::new(clankie.clone(), Arc::clone(&clock), self.terms.clone());
            following.spawn(follower.follow(sink, board));
        }
        while following.join_next().await.is_some() {}
    }
}
