//! Why a configuration is refused: where, what is wrong, and what to do.

use std::fmt;
use std::path::PathBuf;

/// Where a value came from. A later one wins over an earlier one, in this order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Nobody said anything.
    Default,
    /// A line of a configuration file: the user's own, or the one that `--config` names.
    File {
        /// Which file.
        path: PathBuf,
        /// Its line, from one.
        line: usize,
    },
    /// A variable of the environment.
    Environment {
        /// Its name.
        variable: String,
    },
    /// A flag of the command line.
    Flag {
        /// Its name, with the dashes.
        flag: &'static str,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Environment { variable } => f.write_str(variable),
            Self::Flag { flag } => f.write_str(flag),
        }
    }
}

/// Why a configuration is refused. Nothing was changed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A file cannot be read.
    #[error("{}: cannot be read: {why}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        why: String,
    },
    /// A file is not TOML.
    #[error("{at}: is not TOML: {why}")]
    Syntax {
        /// The line.
        at: Origin,
        /// What the parser said.
        why: String,
    },
    /// A key that does not exist.
    #[error("{at}: there is no key {key}{}", hint(*nearest))]
    UnknownKey {
        /// The key as written.
        key: String,
        /// The line.
        at: Origin,
        /// The key that was probably meant.
        nearest: Option<&'static str>,
    },
    /// A value where a section belongs.
    #[error("{at}: {key} is a section; write its keys under [{key}]")]
    Section {
        /// The section.
        key: String,
        /// The line.
        at: Origin,
    },
    /// A variable of the environment that looks like ours and sets nothing.
    #[error("{variable}: no key belongs to this variable{}; unset it or correct its name", hint(*nearest))]
    UnknownVariable {
        /// Its name.
        variable: String,
        /// The key that was probably meant.
        nearest: Option<&'static str>,
    },
    /// A variable of the environment that is not Unicode.
    #[error("{variable}: its value is not Unicode; unset it or correct it")]
    NotUnicode {
        /// Its name.
        variable: String,
    },
    /// A value that a key does not take.
    #[error("{at}: {key} is {given} and must be {expects}")]
    Value {
        /// The key.
        key: String,
        /// The value as written, shortened.
        given: String,
        /// What the key takes.
        expects: &'static str,
        /// Where it was written.
        at: Origin,
    },
    /// A key of a model written down in the clear.
    #[error(
        "{at}: a model's key does not belong into the configuration; name a variable with model.api_key_env or a file of mode 0600 with model.api_key_file"
    )]
    LiteralSecret {
        /// Where it was written.
        at: Origin,
    },
    /// A bot's token written down in the clear.
    #[error(
        "{at}: a bot's token does not belong into the configuration; name a variable with discord.token_env or a file of mode 0600 with discord.token_file"
    )]
    LiteralToken {
        /// Where it was written.
        at: Origin,
    },
    /// A secret of a notification sink written down in the clear.
    #[error(
        "{at}: a secret does not belong into the configuration; name a variable with {key}_env or a file of mode 0600 with {key}_file"
    )]
    LiteralSinkSecret {
        /// The key as it was written.
        key: String,
        /// Where it was written.
        at: Origin,
    },
    /// A per-lane key in the environment, where names lose their case.
    #[error("{variable}: lanes are set in a file, under [lanes.NAME]: a variable's name cannot say which lane")]
    LaneByEnvironment {
        /// Its name.
        variable: String,
    },
    /// An address that others can reach, without the name they reach it by.
    #[error(
        "{at}: listen is {listen}, which others can reach; set public_url to the address they use, or listen on 127.0.0.1"
    )]
    NeedsPublicUrl {
        /// The address.
        listen: String,
        /// Where it was written.
        at: Origin,
    },
    /// One room may run more than everything together.
    #[error(
        "{at}: limits.running_per_room is {per_room} and limits.running is {running}; a room cannot have more than all"
    )]
    RoomAboveAll {
        /// In one room.
        per_room: u16,
        /// In all.
        running: u16,
        /// Where the room's limit was written.
        at: Origin,
    },
    /// An executor that this build does not have.
    #[error("{at}: {key} names executor {name}, which this build does not have; it has builtin and demo")]
    NoSuchExecutor {
        /// The key.
        key: String,
        /// The name.
        name: String,
        /// Where it was written.
        at: Origin,
    },
    /// The builtin executor without a model.
    #[error("{at}: {key} is builtin, and no model is configured; set model.provider and model.model, or use demo")]
    NeedsModel {
        /// The key.
        key: String,
        /// Where it was written.
        at: Origin,
    },
    /// A tool for files, and nowhere to keep them.
    #[error("{at}: grants.machine_tools lists {tool}, which needs a workspace; set workspace.dir to a directory")]
    NeedsWorkspace {
        /// The tool.
        tool: String,
        /// Where it was written.
        at: Origin,
    },
    /// A model of which something is missing.
    #[error("{at}: a model is begun here and {missing} is not set; set it as well")]
    IncompleteModel {
        /// The missing key.
        missing: &'static str,
        /// Where the model was begun.
        at: Origin,
    },
    /// Two places for one secret.
    #[error("{at}: model.api_key_env and model.api_key_file are both set; keep one of them")]
    TwoSecrets {
        /// Where the file was named.
        at: Origin,
    },
    /// Two places for a bot's token.
    #[error("{at}: discord.token_env and discord.token_file are both set; keep one of them")]
    TwoTokens {
        /// Where the file was named.
        at: Origin,
    },
    /// Places for a bot without a token.
    #[error(
        "{at}: {key} is set and the bot has no token; name a variable with discord.token_env or a file of mode 0600 with discord.token_file"
    )]
    NoToken {
        /// What is set.
        key: &'static str,
        /// Where it was set.
        at: Origin,
    },
    /// Two places for one secret of a notification sink.
    #[error("{at}: {variable} and {file} are both set; keep one of them")]
    TwoSinkSecrets {
        /// The key that names a variable.
        variable: &'static str,
        /// The key that names a file.
        file: &'static str,
        /// Where the file was named.
        at: Origin,
    },
    /// A webhook whose receiver could not tell who posts.
    #[error(
        "{at}: notify.webhook.url is set without a secret to sign with; name a variable with notify.webhook.secret_env or a file of mode 0600 with notify.webhook.secret_file"
    )]
    UnsignedWebhook {
        /// Where the address was written.
        at: Origin,
    },
    /// One room twice.
    #[error("{at}: the local room {name} is there twice; keep one of them")]
    SameRoom {
        /// The name.
        name: String,
        /// Where rooms were written.
        at: Origin,
    },
    /// No place for the state.
    #[error("neither state_dir nor XDG_STATE_HOME nor HOME is set; name a directory with --state-dir")]
    NoHome,
}

fn hint(nearest: Option<&'static str>) -> String {
    nearest.map_or_else(String::new, |key| format!("; did you mean {key}?"))
}
