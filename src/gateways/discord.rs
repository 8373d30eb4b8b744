//! Discord text: people's messages come in over the gateway, replies go out over REST.
//!
//! [`Discord`] posts replies and is given to the actors; [`Discord::run`] connects, in the
//! background and for as long as it takes, and hands what people say to them. It decides nothing:
//! identity is a pure rule over numeric ids, and what is durable is decided by the actors.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use clankie_actors::Clankie;
use clankie_actors::ports::{Clock, PostingLog, RoomDelivery};
use clankie_domain::handoff::HandoffRecord;
use clankie_domain::message::RoomMessage;

mod answers;
mod catch_up;
mod checkup;
mod commands;
mod connection;
pub mod direct;
mod gateway;
mod identifies;
mod identity;
mod incoming;
mod lane;
mod lanes;
mod limits;
mod marks;
mod owed;
mod places;
mod posting;
mod rest;
mod signals;
pub mod split;
mod status;
mod translate;
mod waiting;

pub use checkup::{Look, Seen};
pub use identity::{Direct, Owners, Policy, Threads};
pub use status::{Commands, DiscordStatus, Link};

use crate::files::Files;
use rest::Rest;
use signals::Followed;
use status::Board;

/// What configuration says to the bot.
#[derive(Clone)]
pub struct Settings {
    /// The bot's token.
    pub token: String,
    /// Another API base than Discord's own, without a slash at the end.
    pub api_url: Option<String>,
    /// Whom it hears.
    pub policy: Policy,
    /// How it shows what it does.
    pub signals: Signals,
    /// Missed messages of one channel that are still answered.
    pub catch_up_count: usize,
    /// Age beyond which a missed message is not answered; `None` is no such bound.
    pub catch_up_age: Option<Duration>,
    /// Where files of replies are kept.
    pub files: Files,
}

/// The reaction of each signal.
#[derive(Debug, Clone)]
pub struct Signals {
    /// Accepted.
    pub seen: String,
    /// Joined the speaker's running handoff.
    pub joined: String,
    /// Over.
    pub done: String,
    /// Told busy.
    pub busy: String,
}

/// The bot. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Discord(Arc<Shared>);

/// What everything in this room shares.
struct Shared {
    settings: Settings,
    clock: Arc<dyn Clock>,
    rest: Rest,
    board: Board,
    followed: Followed,
    /// The bot's own number, once a session said it; zero before.
    bot: AtomicU64,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("api_url", &self.api_url).field("policy", &self.policy).finish_non_exhaustive()
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Discord {
    /// A bot that is not connected yet. Needs no network.
    pub fn new(settings: Settings, clock: Arc<dyn Clock>) -> Self {
        let rest = Rest::new(&settings.token, settings.api_url.as_deref());
        let (board, followed) = (Board::default(), Followed::default());
        Self(Arc::new(Shared { settings, clock, rest, board, followed, bot: AtomicU64::new(0) }))
    }

    /// The owners it knows, to be replaced when configuration changes.
    pub fn owners(&self) -> Owners {
        self.0.settings.policy.owners.clone()
    }

    /// How it stands.
    pub fn status(&self) -> DiscordStatus {
        self.0.board.now()
    }

    /// Looks from outside whether it can do what it is for. It changes nothing, and need not be connected.
    pub async fn look(&self) -> Vec<Look> {
        checkup::look(&self.0.settings).await
    }

    /// Connects, and stays connected, until it is dropped.
    pub async fn run(self, clankie: Clankie) {
        connection::run(self.0, clankie).await;
    }
}

impl Shared {
    /// The bot's own number, once a session said it.
    fn bot(&self) -> Option<u64> {
        Some(self.bot.load(Ordering::Acquire)).filter(|bot| *bot != 0)
    }
}

#[async_trait]
impl RoomDelivery for Discord {
    async fn deliver(&self, record: Arc<HandoffRecord>, log: PostingLog) {
        posting::reply(&self.0, &record, &log).await;
    }

    async fn say(&self, record: Arc<HandoffRecord>, message: RoomMessage) {
        posting::say(&self.0, &record, &message).await;
    }
}
