//! How the connection stands, as separate facts: the socket, ready, the commands, the budget.

use tokio::sync::watch;

/// How far the gateway connection is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Link {
    /// Nothing was tried yet, or the last try failed and the next waits.
    #[default]
    Waiting,
    /// A socket is being opened.
    Connecting,
    /// The socket is open and the session is not.
    Open,
    /// Messages come.
    Ready,
}

/// Whether the slash commands are registered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Commands {
    /// Not yet.
    #[default]
    NotYet,
    /// They are.
    Synced,
    /// Discord refused them.
    Refused,
}

/// How the bot stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiscordStatus {
    /// How far the connection is.
    pub link: Link,
    /// Whether the slash commands are registered.
    pub commands: Commands,
    /// Why the last try failed, as a sentence.
    pub trouble: Option<String>,
    /// Identifies in the last day.
    pub identifies: u32,
    /// Identifies that Discord still allows, as it last said.
    pub identifies_left: Option<u64>,
    /// Messages of times away that were too old or too many to be answered.
    pub missed: u64,
}

/// The one place that holds it.
#[derive(Debug)]
pub(super) struct Board(watch::Sender<DiscordStatus>);

impl Default for Board {
    fn default() -> Self {
        Self(watch::Sender::new(DiscordStatus::default()))
    }
}

impl Board {
    pub(super) fn now(&self) -> DiscordStatus {
        self.0.borrow().clone()
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut DiscordStatus)) {
        self.0.send_modify(change);
    }

    pub(super) fn link(&self, link: Link) {
        self.0.send_if_modified(|status| std::mem::replace(&mut status.link, link) != link);
    }

    /// Returns when messages can come and go.
    pub(super) async fn ready(&self) {
        let mut seen = self.0.subscribe();
        // The board lives as long as whoever waits at it.
        let _ = seen.wait_for(|status| status.link == Link::Ready).await;
    }
}
