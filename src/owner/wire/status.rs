//! How the service stands: `GET /operator/v1/status`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{CountsBody, MailCountsBody};
use crate::http::wire::moment;
use crate::owner::notify::Stands;

/// How the service stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Status {
    /// Its version.
    pub version: String,
    /// Its process.
    pub pid: u32,
    /// Where it listens.
    pub url: String,
    /// Where it keeps its state.
    pub state_dir: String,
    /// When it started.
    pub started_at: String,
    /// Whether it takes no admissions any more because it stops.
    pub draining: bool,
    /// How its store stands.
    pub store: StoreBody,
    /// How much runs and waits; absent when the store cannot be read.
    pub counts: Option<CountsBody>,
    /// What waits for the owner; absent when the store cannot be read.
    pub mail: Option<MailCountsBody>,
    /// `<store epoch>-<sequence number>` of the counts.
    pub cursor: Option<String>,
    /// Which executor runs each plan.
    pub routes: BTreeMap<String, String>,
    /// The configured local rooms, by full id.
    pub local_rooms: Vec<String>,
    /// How the Discord bot stands; absent when none is configured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discord: Option<DiscordBody>,
    /// How each place outside stands where the owner is told that something waits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notify: Vec<SinkBody>,
}

/// How one place outside stands where the owner is told that something waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SinkBody {
    /// `ntfy`, `webhook` or `discord`.
    pub sink: String,
    /// `ready`, `failing`, or `disabled` until the next start.
    pub state: String,
    /// Messages that it took since the start.
    pub told: u64,
    /// Tries that failed since the start.
    pub failures: u64,
    /// Asks and updates that it was never told of.
    pub dropped: u64,
    /// When it last took one.
    pub last_success_at: Option<String>,
    /// Why a try last failed.
    pub last_error: Option<String>,
    /// When that was.
    pub last_error_at: Option<String>,
}

/// How the Discord bot stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DiscordBody {
    /// `waiting`, `connecting`, `open` or `ready`.
    pub link: String,
    /// Whether the slash commands are registered: `not_yet`, `synced` or `refused`.
    pub commands: String,
    /// Why the last try failed.
    pub trouble: Option<String>,
    /// Identifies in the last day; Discord resets the token of a bot with 1000.
    pub identifies: u32,
    /// Identifies that Discord still allows, as it last said.
    pub identifies_left: Option<u64>,
    /// Messages of times away that were too old or too many to be answered.
    pub missed: u64,
}

/// How the store stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StoreBody {
    /// `ready` or `stopped`.
    pub state: String,
    /// Why it stopped.
    pub reason: Option<String>,
}

/// How the process stands, in one word: `live` or `ready`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Standing {
    /// The word.
    pub status: String,
}

impl From<&(&'static str, Stands)> for SinkBody {
    fn from((sink, stands): &(&'static str, Stands)) -> Self {
        let (last_error_at, last_error) = stands.last_error.clone().unzip();
        Self {
            sink: (*sink).to_owned(),
            state: stands.state.as_str().to_owned(),
            told: stands.told,
            failures: stands.failures,
            dropped: stands.dropped,
            last_success_at: stands.last_success.map(moment),
            last_error,
            last_error_at: last_error_at.map(moment),
        }
    }
}
