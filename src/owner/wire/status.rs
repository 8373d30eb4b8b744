//! How the service stands: `GET /operator/v1/status`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::CountsBody;

/// How the service stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    /// `<store epoch>-<sequence number>` of the counts.
    pub cursor: Option<String>,
    /// Which executor runs each plan.
    pub routes: BTreeMap<String, String>,
    /// The configured local rooms, by full id.
    pub local_rooms: Vec<String>,
    /// How the Discord bot stands; absent when none is configured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discord: Option<DiscordBody>,
}

/// How the Discord bot stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreBody {
    /// `ready` or `stopped`.
    pub state: String,
    /// Why it stopped.
    pub reason: Option<String>,
}
