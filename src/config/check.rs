//! What the keys mean together: a document becomes a configuration, or is refused.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clankie_domain::ids::{ActorId, ExecutorName, room_name};
use reqwest::Url;

use super::document::{Document, Executor};
use super::error::{ConfigError, Origin};
use super::layers::Layers;
use super::{Config, Environment, Model, Routes, discord, keys, model, notify};

/// The executors of this build.
const BUILTIN: &str = "builtin";
const DEMO: &str = "demo";
/// Shortest silence that may count as death, in milliseconds: shorter is a slow disk.
const STALL_LEAST_MS: u64 = 1_000;
/// Longest span that any key takes, in milliseconds: a day. More is a slip of the unit.
const SPAN_MOST_MS: u64 = 24 * 60 * 60 * 1_000;
/// Smallest bound of one run's output, in bytes: below it no reply fits.
const OUTPUT_LEAST: u64 = 1_024;
/// Most repeats of one model request: with back-off that is already minutes.
const RETRIES_MOST: u16 = 10;
/// The machine tools of this build. Each works in the workspace.
pub(super) const MACHINE_TOOLS: [&str; 4] = ["file_list", "file_read", "file_write", "file_delete"];

/// Checks what was laid down, and fills into the document what follows from elsewhere.
pub(super) fn check(layers: &mut Layers, environment: &Environment) -> Result<(Document, Config), ConfigError> {
    let mut document = layers.document();
    spans_and_sizes(&document, layers)?;
    room_share(&mut document, layers)?;
    grants(&document, layers)?;
    let workspace = workspace(&document, layers)?;
    let rooms = rooms(&document, layers)?;
    let public_url = address(&document, layers)?;
    let state_dir = state_dir(&document, environment)?;
    let model = model::resolve(&mut document.model, layers, environment)?;
    let discord = discord::resolve(&document.discord, layers)?;
    let notify = notify::resolve(&document.notify, layers)?;
    let executors = routes(&document.executor, layers, model.as_ref())?;
    document.state_dir = Some(state_dir.clone());
    document.executor = Executor {
        default: Some(executors.default.clone()),
        social: Some(executors.social.clone()),
        machine: Some(executors.machine.clone()),
        owner: Some(executors.owner.clone()),
    };
    let config = Config {
        state_dir,
        listen: document.listen,
        public_url,
        limits: document.limits.clone(),
        executors,
        sessions: document.sessions.clone(),
        model,
        discord,
        notify,
        rooms,
        grants: document.grants.clone(),
        workspace,
        lanes: document.lanes.clone(),
        autonomy: document.autonomy.clone(),
        shutdown: document.shutdown.clone(),
        log: document.log.clone(),
    };
    Ok((document, config))
}

/// The refusal of a value that has the right type and is still not what the key takes.
pub(super) fn value(key: &str, given: impl std::fmt::Debug, layers: &Layers) -> ConfigError {
    let path: Vec<String> = key.split('.').map(str::to_owned).collect();
    let expects = keys::find(&path).map_or("something else", |known| known.expects);
    ConfigError::Value { key: key.to_owned(), given: format!("{given:?}"), expects, at: layers.origin(key) }
}

fn spans_and_sizes(document: &Document, layers: &Layers) -> Result<(), ConfigError> {
    let sessions = &document.sessions;
    let spans = [
        ("sessions.stall_after", sessions.stall_after, STALL_LEAST_MS, "from 1s to 24h"),
        ("sessions.stop_grace", sessions.stop_grace, 0, "at most 24h"),
        ("shutdown.grace", document.shutdown.grace, 0, "at most 24h"),
        ("discord.catch_up_age", document.discord.catch_up_age, 0, "at most 24h"),
        ("notify.delay", document.notify.delay, 0, "at most 24h"),
    ];
    for (key, span, least, expects) in spans {
        if span.as_millis() < least || span.as_millis() > SPAN_MOST_MS {
            let at = layers.origin(key);
            return Err(ConfigError::Value { key: key.to_owned(), given: span.to_string(), expects, at });
        }
    }
    if sessions.output_max.get() < OUTPUT_LEAST {
        return Err(value("sessions.output_max", sessions.output_max, layers));
    }
    if document.model.retries > RETRIES_MOST {
        return Err(value("model.retries", document.model.retries, layers));
    }
    if document.log.filter.parse::<tracing_subscriber::EnvFilter>().is_err() {
        return Err(value("log.filter", &document.log.filter, layers));
    }
    Ok(())
}

/// A smaller total alone means a smaller share as well: only a share that somebody wrote is refused.
fn room_share(document: &mut Document, layers: &Layers) -> Result<(), ConfigError> {
    let limits = &mut document.limits;
    let at = layers.origin("limits.running_per_room");
    if limits.running_per_room <= limits.running {
        return Ok(());
    }
    if at == Origin::Default {
        limits.running_per_room = limits.running;
        return Ok(());
    }
    Err(ConfigError::RoomAboveAll { per_room: limits.running_per_room.get(), running: limits.running.get(), at })
}

fn grants(document: &Document, layers: &Layers) -> Result<(), ConfigError> {
    let grants = &document.grants;
    for (key, actors) in [("grants.owners", &grants.owners), ("grants.machine_actors", &grants.machine_actors)] {
        if let Some(wrong) = actors.iter().find(|actor| !is_actor(actor)) {
            return Err(value(key, wrong.as_str(), layers));
        }
    }
    if let Some(wrong) = grants.machine_guilds.iter().find(|guild| !is_number(guild)) {
        return Err(value("grants.machine_guilds", wrong, layers));
    }
    if let Some(wrong) = grants.machine_rooms.iter().find(|room| !has_gateway(room.as_str())) {
        return Err(value("grants.machine_rooms", wrong.as_str(), layers));
    }
    if let Some(wrong) = grants.machine_tools.iter().find(|tool| !MACHINE_TOOLS.contains(&tool.as_str())) {
        return Err(value("grants.machine_tools", wrong, layers));
    }
    Ok(())
}

/// Names never count as identity: a Discord id that is no number would match nobody, or a name.
fn is_actor(actor: &ActorId) -> bool {
    match actor.as_str().split_once(':') {
        Some(("discord", user)) => user.strip_prefix("user:").is_some_and(is_number),
        Some(("local", account)) => clankie_domain::ids::LaneName::parse(account).is_ok(),
        Some(("ingress", rest)) => rest.split_once(':').is_some_and(|(lane, id)| !lane.is_empty() && !id.is_empty()),
        Some(_) | None => false,
    }
}

fn has_gateway(room: &str) -> bool {
    ["local:", "ingress:", "discord:text:", "discord:voice:"].iter().any(|gateway| room.starts_with(gateway))
}

pub(super) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}

/// Whether the directory may be one is found out when the service starts: here nothing is opened.
fn workspace(document: &Document, layers: &Layers) -> Result<Option<PathBuf>, ConfigError> {
    let dir = &document.workspace.dir;
    if dir.as_os_str().is_empty() {
        let at = layers.origin("grants.machine_tools");
        return match document.grants.machine_tools.first() {
            Some(tool) => Err(ConfigError::NeedsWorkspace { tool: tool.clone(), at }),
            None => Ok(None),
        };
    }
    if dir.is_absolute() { Ok(Some(dir.clone())) } else { Err(value("workspace.dir", dir, layers)) }
}

fn rooms(document: &Document, layers: &Layers) -> Result<BTreeSet<String>, ConfigError> {
    let mut rooms = BTreeSet::new();
    for room in &document.rooms.local {
        let name = room_name(&room.name).map_err(|_| value("rooms.local", &room.name, layers))?;
        if !rooms.insert(name.to_owned()) {
            return Err(ConfigError::SameRoom { name: name.to_owned(), at: layers.origin("rooms.local") });
        }
    }
    Ok(rooms)
}

fn address(document: &Document, layers: &Layers) -> Result<Option<Url>, ConfigError> {
    let refused = |text: &String| value("public_url", repeatable(text), layers);
    let url = document.public_url.as_ref().map(|text| web_address(text).ok_or_else(|| refused(text))).transpose()?;
    if let (Some(url), Some(text)) = (&url, &document.public_url)
        && (url.path() != "/" || url.query().is_some() || url.fragment().is_some())
    {
        return Err(refused(text));
    }
    if url.is_none() && !document.listen.ip().is_loopback() {
        let (listen, at) = (document.listen.to_string(), layers.origin("listen"));
        return Err(ConfigError::NeedsPublicUrl { listen, at });
    }
    Ok(url)
}

/// An address as an error may repeat it: what stands before an `@` is somebody's password.
pub(super) fn repeatable(address: &str) -> &str {
    if address.contains('@') { "(an address with credentials)" } else { address }
}

/// An http or https address with a host and without credentials.
pub(super) fn web_address(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let sound = matches!(url.scheme(), "http" | "https") && url.has_host();
    (sound && url.username().is_empty() && url.password().is_none()).then_some(url)
}

fn state_dir(document: &Document, environment: &Environment) -> Result<PathBuf, ConfigError> {
    let home = |path: PathBuf| match path.strip_prefix("~") {
        Ok(rest) => environment.get("HOME").map(|home| PathBuf::from(home).join(rest)).ok_or(ConfigError::NoHome),
        Err(_) => Ok(path),
    };
    match &document.state_dir {
        Some(path) => home(path.clone()),
        None => environment.state_home().map(|base| base.join("clankie")).ok_or(ConfigError::NoHome),
    }
}

fn routes(written: &Executor, layers: &Layers, model: Option<&Model>) -> Result<Routes, ConfigError> {
    let absent = if model.is_some() { BUILTIN } else { DEMO };
    let default = match &written.default {
        Some(name) => executor("executor.default", name, layers, model)?,
        None => ExecutorName::parse(absent).map_err(|_| value("executor.default", absent, layers))?,
    };
    let plan = |key: &str, name: &Option<ExecutorName>| match name {
        Some(name) => executor(key, name, layers, model),
        None => Ok(default.clone()),
    };
    Ok(Routes {
        social: plan("executor.social", &written.social)?,
        machine: plan("executor.machine", &written.machine)?,
        owner: plan("executor.owner", &written.owner)?,
        default,
    })
}

fn executor(
    key: &str,
    name: &ExecutorName,
    layers: &Layers,
    model: Option<&Model>,
) -> Result<ExecutorName, ConfigError> {
    let (key, at) = (key.to_owned(), layers.origin(key));
    match name.as_str() {
        BUILTIN if model.is_none() => Err(ConfigError::NeedsModel { key, at }),
        BUILTIN | DEMO => Ok(name.clone()),
        other => Err(ConfigError::NoSuchExecutor { key, name: other.to_owned(), at }),
    }
}
