//! The configuration as it is written: one struct per section, every key of which may be absent.
//!
//! These are the stored names. What they mean together is decided in `check`.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddr};
use std::num::{NonZeroU16, NonZeroU32, NonZeroU64};
use std::path::PathBuf;

use clankie_domain::ids::{ActorId, ExecutorName, LaneName, RoomId};
use clankie_domain::{admission, session, stall};
use serde::{Deserialize, Serialize};

use super::discord::DiscordKeys;
use super::notify::NotifyKeys;
use super::span::Span;

/// The port that nothing else on a developer's machine is known to use.
pub(super) const DEFAULT_PORT: u16 = 4310;
/// The local rooms that exist without configuration: one to talk in, one to try things in.
pub(super) const DEFAULT_ROOMS: [&str; 2] = ["lobby", "lab"];
/// How long an aborted session may take to settle: the kill latency that owners are promised.
pub(super) const STOP_GRACE: Span = Span::seconds(5);
/// How long running work may finish after SIGTERM: below the 30 s that supervisors usually give.
pub(super) const SHUTDOWN_GRACE: Span = Span::seconds(20);
/// Tokens one run may use: a long piece of work, and far from an accident that costs real money.
pub(super) const TOKEN_BUDGET: u64 = 400_000;
/// Tool calls one run may make: beyond it a model is going round in a circle.
pub(super) const TOOL_CALL_BUDGET: u32 = 64;
/// Attempts after the first at one model request: together with the back-off about half a minute.
pub(super) const RETRIES: u16 = 4;

/// Everything a file or the environment may say.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Document {
    pub(super) state_dir: Option<PathBuf>,
    pub(super) listen: SocketAddr,
    pub(super) public_url: Option<String>,
    pub(super) limits: Limits,
    pub(super) executor: Executor,
    pub(super) sessions: Sessions,
    pub(super) model: ModelKeys,
    pub(super) discord: DiscordKeys,
    pub(super) notify: NotifyKeys,
    pub(super) rooms: Rooms,
    pub(super) grants: Grants,
    pub(super) workspace: Workspace,
    pub(super) lanes: BTreeMap<LaneName, Lane>,
    pub(super) autonomy: Autonomy,
    pub(super) shutdown: Shutdown,
    pub(super) log: Log,
}

impl Default for Document {
    fn default() -> Self {
        Self {
            state_dir: None,
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, DEFAULT_PORT)),
            public_url: None,
            limits: Limits::default(),
            executor: Executor::default(),
            sessions: Sessions::default(),
            model: ModelKeys::default(),
            discord: DiscordKeys::default(),
            notify: NotifyKeys::default(),
            rooms: Rooms::default(),
            grants: Grants::default(),
            workspace: Workspace::default(),
            lanes: BTreeMap::new(),
            autonomy: Autonomy::default(),
            shutdown: Shutdown::default(),
            log: Log::default(),
        }
    }
}

/// `[limits]`: how much may run and wait. Sixteen bits are more than one machine can carry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Handoffs that run at once.
    pub running: NonZeroU16,
    /// Handoffs that run at once in one room; at most `running`.
    pub running_per_room: NonZeroU16,
    /// Handoffs that wait.
    pub waiting: NonZeroU16,
    /// Handoffs that wait in one room; absent is no such limit.
    pub waiting_per_room: Option<NonZeroU16>,
    /// Handoffs of one actor that wait; absent is no such limit.
    pub waiting_per_actor: Option<NonZeroU16>,
}

impl Default for Limits {
    fn default() -> Self {
        let stated = admission::Limits::default();
        Self {
            running: sixteen_bits(stated.running),
            running_per_room: sixteen_bits(stated.running_per_room),
            waiting: sixteen_bits(stated.waiting),
            waiting_per_room: None,
            waiting_per_actor: None,
        }
    }
}

fn sixteen_bits(limit: usize) -> NonZeroU16 {
    u16::try_from(limit).ok().and_then(NonZeroU16::new).unwrap_or(NonZeroU16::MIN)
}

/// `[executor]`: which executor runs each plan.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Executor {
    pub(super) default: Option<ExecutorName>,
    pub(super) social: Option<ExecutorName>,
    pub(super) machine: Option<ExecutorName>,
    pub(super) owner: Option<ExecutorName>,
}

/// `[sessions]`: the bounds of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sessions {
    /// Silence after which a run is dead.
    pub stall_after: Span,
    /// How long an aborted session may take to settle.
    pub stop_grace: Span,
    /// Text and tool output of one run, in bytes.
    pub output_max: NonZeroU64,
}

impl Default for Sessions {
    fn default() -> Self {
        Self {
            stall_after: Span::millis(stall::STALL_AFTER_MS),
            stop_grace: STOP_GRACE,
            output_max: NonZeroU64::new(session::OUTPUT_MAX).unwrap_or(NonZeroU64::MAX),
        }
    }
}

/// `[model]`: the model of the builtin executor.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ModelKeys {
    pub(super) provider: Option<Provider>,
    pub(super) base_url: Option<String>,
    pub(super) model: Option<String>,
    pub(super) api_key_env: Option<String>,
    pub(super) api_key_file: Option<PathBuf>,
    pub(super) token_budget: NonZeroU64,
    pub(super) tool_call_budget: NonZeroU32,
    pub(super) retries: u16,
}

impl Default for ModelKeys {
    fn default() -> Self {
        Self {
            provider: None,
            base_url: None,
            model: None,
            api_key_env: None,
            api_key_file: None,
            token_budget: NonZeroU64::new(TOKEN_BUDGET).unwrap_or(NonZeroU64::MIN),
            tool_call_budget: NonZeroU32::new(TOOL_CALL_BUDGET).unwrap_or(NonZeroU32::MIN),
            retries: RETRIES,
        }
    }
}

/// The protocol that a model endpoint speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provider {
    /// OpenAI chat completions, and everything compatible with them.
    Openai,
    /// OpenAI Responses.
    OpenaiResponses,
    /// Anthropic messages.
    Anthropic,
    /// Google Gemini.
    Gemini,
    /// Ollama.
    Ollama,
}

/// `[rooms]`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Rooms {
    pub(super) local: Vec<LocalRoom>,
}

impl Default for Rooms {
    fn default() -> Self {
        Self { local: DEFAULT_ROOMS.iter().map(|name| LocalRoom { name: (*name).to_owned() }).collect() }
    }
}

/// `[[rooms.local]]`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LocalRoom {
    pub(super) name: String,
}

/// `[grants]`: who may do what. Everyone else who is heard is social.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Grants {
    /// Owners.
    pub owners: BTreeSet<ActorId>,
    /// Actors with machine standing of their own.
    pub machine_actors: BTreeSet<ActorId>,
    /// Guilds, by number, whose members have machine standing.
    pub machine_guilds: BTreeSet<String>,
    /// Rooms whose speakers have machine standing.
    pub machine_rooms: BTreeSet<RoomId>,
    /// The closed list of tools that a machine or owner grant adds.
    pub machine_tools: BTreeSet<String>,
}

/// `[workspace]`: where machine tools read and write files.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Workspace {
    /// The directory; an empty path is none.
    pub(super) dir: PathBuf,
}

/// `[lanes.NAME]`: what is known about one ingress lane.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lane {
    /// Whether that lane's word proves an owner.
    pub vouches_owner: bool,
}

/// `[autonomy]`: which kinds of decision the owner keeps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Autonomy {
    /// Committing.
    pub commit: Decision,
    /// Pushing.
    pub push: Decision,
    /// Releasing.
    pub release: Decision,
    /// Merging.
    pub merge: Decision,
    /// Spending money.
    pub spend: Decision,
    /// What cannot be undone.
    pub destructive: Decision,
    /// Writing to systems of other people.
    pub external_write: Decision,
    /// A plan before it is carried out.
    pub plan: Decision,
}

/// Whose decision a kind of step is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The owner's: the agent asks.
    #[default]
    Ask,
    /// The agent's.
    Delegate,
}

/// `[shutdown]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Shutdown {
    /// How long running work may finish after SIGTERM.
    pub grace: Span,
}

impl Default for Shutdown {
    fn default() -> Self {
        Self { grace: SHUTDOWN_GRACE }
    }
}

/// `[log]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// A filter in the form of `tracing`: `info`, or `warn,clankie=debug`.
    pub filter: String,
    /// How a line is written.
    pub format: LogFormat,
}

impl Default for Log {
    fn default() -> Self {
        Self { filter: "info".to_owned(), format: LogFormat::Text }
    }
}

/// How a log line is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}
