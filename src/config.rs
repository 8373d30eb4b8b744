//! Configuration: flags over environment over `--config` over the user's file over defaults.
//!
//! What comes out has passed every check; a refusal names the line, variable or flag, and what to
//! do. Secrets are named, never held. Unknown keys refuse, so a slip cannot pass for a setting.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::PathBuf;

use clankie_domain::ids::{ExecutorName, LaneName};
use reqwest::Url;
use toml::{Table, Value};

mod check;
mod discord;
mod document;
mod environment;
mod error;
mod keys;
mod layers;
mod model;
mod notify;
mod span;

pub use discord::{DirectMessages, Discord, Signals};
pub use document::{Autonomy, Decision, Grants, Lane, Limits, Log, LogFormat, Provider, Sessions, Shutdown};
pub use environment::Environment;
pub use error::{ConfigError, Origin};
pub use model::{KeyError, KeySource, Model, Secret};
pub use notify::{Address, Notify, Ntfy, Topic, Webhook};
pub use span::Span;

use document::Document;
use layers::Layers;

/// What the service runs on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Where everything durable stands, 0700.
    pub state_dir: PathBuf,
    /// The address to serve on; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The address that others reach the service by.
    pub public_url: Option<Url>,
    /// How much may run and wait.
    pub limits: Limits,
    /// Which executor runs each plan.
    pub executors: Routes,
    /// The bounds of one run.
    pub sessions: Sessions,
    /// The model of the builtin executor, when one is configured.
    pub model: Option<Model>,
    /// The Discord bot, when a token is named.
    pub discord: Option<Discord>,
    /// Where the owner is told that something waits.
    pub notify: Notify,
    /// The short names of the local rooms.
    pub rooms: BTreeSet<String>,
    /// Who may do what.
    pub grants: Grants,
    /// The directory in which machine tools read and write files, when there is one.
    pub workspace: Option<PathBuf>,
    /// What is known about ingress lanes.
    pub lanes: BTreeMap<LaneName, Lane>,
    /// Which decisions the owner keeps.
    pub autonomy: Autonomy,
    /// How the service stops.
    pub shutdown: Shutdown,
    /// What is logged, and how.
    pub log: Log,
}

/// Which executor runs each plan. Every name is one that this build has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Routes {
    /// What a plan of its own overrides.
    pub default: ExecutorName,
    /// For social grants.
    pub social: ExecutorName,
    /// For machine grants.
    pub machine: ExecutorName,
    /// For the owner.
    pub owner: ExecutorName,
}

/// Where configuration is looked for.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// `--state-dir`.
    pub state_dir: Option<PathBuf>,
    /// `--listen`.
    pub listen: Option<String>,
    /// `--config`, or the variable of that name.
    pub file: Option<PathBuf>,
    /// Every variable of the process.
    pub environment: Environment,
}

impl Sources {
    /// The user's own file, where one would be looked for.
    pub fn user_file(&self) -> Option<PathBuf> {
        self.environment.config_home().map(|base| base.join("clankie").join("clankie.toml"))
    }
}

/// A configuration, and where each value of it came from.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The values.
    pub config: Config,
    /// The same, key by key, in the order of the keys' sections.
    pub rows: Vec<Row>,
}

/// One key as `config show` has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Section and name.
    pub key: String,
    /// Its value; absent where nothing is set and nothing follows.
    pub value: Option<Value>,
    /// Who said so.
    pub origin: Origin,
}

impl Config {
    /// Every machine tool that the configuration may list.
    pub const MACHINE_TOOLS: [&str; 4] = check::MACHINE_TOOLS;

    /// The defaults, in this directory, whatever the machine is configured to.
    pub fn defaults(state_dir: PathBuf) -> Result<Self, ConfigError> {
        let mut layers = Layers::default();
        layers.flag("state_dir", state_dir.to_string_lossy().into_owned(), "--state-dir")?;
        check::check(&mut layers, &Environment::default()).map(|(_, config)| config)
    }
}

/// Reads every source. A later source wins key by key.
pub fn load(sources: &Sources) -> Result<Loaded, ConfigError> {
    let mut layers = Layers::default();
    let user_file = sources.user_file().filter(|path| path.exists());
    for path in user_file.iter().chain(&sources.file) {
        layers.file(path)?;
    }
    layers.environment(sources.environment.ours()?)?;
    if let Some(path) = &sources.state_dir {
        layers.flag("state_dir", path.to_string_lossy().into_owned(), "--state-dir")?;
    }
    if let Some(listen) = &sources.listen {
        layers.flag("listen", listen.clone(), "--listen")?;
    }
    let (document, config) = check::check(&mut layers, &sources.environment)?;
    Ok(Loaded { config, rows: rows(&document, &layers) })
}

fn rows(document: &Document, layers: &Layers) -> Vec<Row> {
    let values = Table::try_from(document).unwrap_or_default();
    let mut rows = Vec::new();
    for key in &keys::KEYS {
        match key.path.split_once(".*.") {
            Some((section, name)) => {
                let named = values.get(section).and_then(Value::as_table);
                for (own, table) in named.into_iter().flatten() {
                    rows.push(row(format!("{section}.{own}.{name}"), table.get(name), layers));
                }
            }
            None => rows.push(row(key.path.to_owned(), at(&values, key.path), layers)),
        }
    }
    rows
}

fn at<'a>(values: &'a Table, path: &str) -> Option<&'a Value> {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let found = values.get(first)?;
    rest.map_or(Some(found), |rest| at(found.as_table()?, rest))
}

fn row(key: String, value: Option<&Value>, layers: &Layers) -> Row {
    let origin = layers.origin(&key);
    Row { key, value: value.cloned(), origin }
}

#[cfg(test)]
mod tests;
