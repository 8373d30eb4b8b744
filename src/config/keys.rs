//! Every key that exists, what it takes, and how a variable of the environment becomes one.

use toml::Value;

/// One key of the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    /// Its place: section and name, with `*` for a name that the owner chooses.
    pub(super) path: &'static str,
    /// How a variable's text is read.
    pub(super) kind: Kind,
    /// What it takes, as the end of "… must be".
    pub(super) expects: &'static str,
}

/// How a variable's text is read. A file has types of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The text itself.
    Text,
    /// A whole number, or what else the text says, for the key's own check to refuse.
    Number,
    /// `true` or `false`.
    Switch,
    /// Texts between commas.
    List,
    /// Room names between commas.
    Rooms,
}

const fn key(path: &'static str, kind: Kind, expects: &'static str) -> Key {
    Key { path, kind, expects }
}

const COUNT: &str = "a whole number from 1 to 65535";
const EXECUTOR: &str = "\"builtin\" or \"demo\"";
const SPAN: &str = "whole seconds, or a text such as \"300s\", \"5m\", \"2h\" or \"500ms\"";
const NUMBERS: &str = "a list of Discord's own numbers, such as \"81384788765712384\"; names never count";
const EMOJI: &str = "one emoji, such as \"✅\"";
const DECISION: &str = "\"ask\" or \"delegate\"";
const TOOLS: &str = "a list of these: \"file_list\", \"file_read\", \"file_write\", \"file_delete\"";
const ACTORS: &str = "a list of ids such as \"local:ann\", \"ingress:LANE:ID\" or \"discord:user:NUMBER\"";

/// Every key, in the order in which the example file has them.
pub(super) const KEYS: [Key; 67] = [
    key("state_dir", Kind::Text, "a path"),
    key("listen", Kind::Text, "an address with a port, such as \"127.0.0.1:4310\""),
    key("public_url", Kind::Text, "an http or https address of this service, without path or credentials"),
    key("limits.running", Kind::Number, COUNT),
    key("limits.running_per_room", Kind::Number, COUNT),
    key("limits.waiting", Kind::Number, COUNT),
    key("limits.waiting_per_room", Kind::Number, COUNT),
    key("limits.waiting_per_actor", Kind::Number, COUNT),
    key("executor.default", Kind::Text, EXECUTOR),
    key("executor.social", Kind::Text, EXECUTOR),
    key("executor.machine", Kind::Text, EXECUTOR),
    key("executor.owner", Kind::Text, EXECUTOR),
    key("sessions.stall_after", Kind::Number, SPAN),
    key("sessions.stop_grace", Kind::Number, SPAN),
    key("sessions.output_max", Kind::Number, "a whole number of bytes, at least 1024"),
    key("model.provider", Kind::Text, "\"openai\", \"openai-responses\", \"anthropic\", \"gemini\" or \"ollama\""),
    key("model.base_url", Kind::Text, "an http or https address, without credentials"),
    key("model.model", Kind::Text, "the name of a model"),
    key("model.api_key_env", Kind::Text, "the name of a variable of the environment"),
    key("model.api_key_file", Kind::Text, "a path"),
    key("model.token_budget", Kind::Number, "a whole number, at least 1"),
    key("model.tool_call_budget", Kind::Number, "a whole number, at least 1"),
    key("model.retries", Kind::Number, "a whole number from 0 to 10"),
    key("discord.token_env", Kind::Text, "the name of a variable of the environment"),
    key("discord.token_file", Kind::Text, "a path"),
    key(
        "discord.api_url",
        Kind::Text,
        "an https address, or an http one of this machine itself, without path or credentials",
    ),
    key("discord.guilds", Kind::List, NUMBERS),
    key("discord.channels", Kind::List, NUMBERS),
    key("discord.dms", Kind::Text, "\"owners\", \"nobody\" or \"everyone\""),
    key("discord.free_talk", Kind::List, NUMBERS),
    key("discord.threads_inherit", Kind::Switch, "true or false"),
    key("discord.stop_word", Kind::Text, "a word of 1–32 characters"),
    key("discord.reaction_seen", Kind::Text, EMOJI),
    key("discord.reaction_joined", Kind::Text, EMOJI),
    key("discord.reaction_done", Kind::Text, EMOJI),
    key("discord.reaction_busy", Kind::Text, EMOJI),
    key("discord.catch_up_count", Kind::Number, "a whole number from 0 to 100"),
    key("discord.catch_up_age", Kind::Number, SPAN),
    key("notify.delay", Kind::Number, SPAN),
    key("notify.updates", Kind::Switch, "true or false"),
    key("notify.discord", Kind::Switch, "true or false"),
    key("notify.ntfy.url", Kind::Text, "an http or https address, without credentials"),
    key("notify.ntfy.topic", Kind::Text, "1–64 letters, digits or -_"),
    key("notify.ntfy.token_env", Kind::Text, "the name of a variable of the environment"),
    key("notify.ntfy.token_file", Kind::Text, "a path"),
    key("notify.webhook.url", Kind::Text, "an http or https address, without credentials"),
    key("notify.webhook.secret_env", Kind::Text, "the name of a variable of the environment"),
    key("notify.webhook.secret_file", Kind::Text, "a path"),
    key("rooms.local", Kind::Rooms, "tables with one name each: 1–128 letters, digits or -_.:/"),
    key("grants.owners", Kind::List, ACTORS),
    key("grants.machine_actors", Kind::List, ACTORS),
    key("grants.machine_guilds", Kind::List, "a list of guild numbers, such as \"81384788765712384\""),
    key("grants.machine_rooms", Kind::List, "a list of room ids such as \"local:lab\" or \"ingress:LANE:ROOM\""),
    key("grants.machine_tools", Kind::List, TOOLS),
    key("workspace.dir", Kind::Text, "an absolute path, or \"\" for no workspace"),
    key("lanes.*.vouches_owner", Kind::Switch, "true or false, under a lane's name"),
    key("autonomy.commit", Kind::Text, DECISION),
    key("autonomy.push", Kind::Text, DECISION),
    key("autonomy.release", Kind::Text, DECISION),
    key("autonomy.merge", Kind::Text, DECISION),
    key("autonomy.spend", Kind::Text, DECISION),
    key("autonomy.destructive", Kind::Text, DECISION),
    key("autonomy.external_write", Kind::Text, DECISION),
    key("autonomy.plan", Kind::Text, DECISION),
    key("shutdown.grace", Kind::Number, SPAN),
    key("log.filter", Kind::Text, "a filter such as \"info\" or \"warn,clankie=debug\""),
    key("log.format", Kind::Text, "\"text\" or \"json\""),
];

/// Keys that are read from the environment under a second name.
pub(super) const LOG_VARIABLE: &str = "CLANKIE_LOG";
/// Variables of ours that are not keys: the command line reads them.
pub(super) const OTHER_VARIABLES: [&str; 3] = ["CLANKIE_CONFIG", "CLANKIE_URL", "CLANKIE_TOKEN_FILE"];
/// How far a misspelt key may be from the one that is suggested.
const NEAR: usize = 3;

/// The key at `path`.
pub(super) fn find(path: &[String]) -> Option<&'static Key> {
    KEYS.iter().find(|key| {
        let parts: Vec<&str> = key.path.split('.').collect();
        parts.len() == path.len() && parts.iter().zip(path).all(|(part, name)| *part == "*" || part == name)
    })
}

/// Whether keys exist below `path`.
pub(super) fn is_section(path: &[String]) -> bool {
    KEYS.iter().any(|key| {
        let parts: Vec<&str> = key.path.split('.').collect();
        parts.len() > path.len() && parts.iter().zip(path).all(|(part, name)| *part == "*" || part == name)
    })
}

/// The variable that sets `key`, when one does.
pub(super) fn variable(key: &Key) -> Option<String> {
    let wild = key.path.contains('*');
    (!wild).then(|| format!("CLANKIE_{}", key.path.replace('.', "__").to_ascii_uppercase()))
}

/// What a variable's text means for a key of that kind.
pub(super) fn read(kind: Kind, text: &str) -> Value {
    match kind {
        Kind::Text => Value::String(text.to_owned()),
        Kind::Number => text.parse().map_or_else(|_| Value::String(text.to_owned()), Value::Integer),
        Kind::Switch => text.parse().map_or_else(|_| Value::String(text.to_owned()), Value::Boolean),
        Kind::List => Value::Array(items(text).map(Value::String).collect()),
        Kind::Rooms => Value::Array(items(text).map(room).collect()),
    }
}

fn items(text: &str) -> impl Iterator<Item = String> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned)
}

fn room(name: String) -> Value {
    Value::Table([("name".to_owned(), Value::String(name))].into_iter().collect())
}

/// The known name that somebody who wrote `wrong` most likely meant.
pub(super) fn nearest(wrong: &str) -> Option<&'static str> {
    let last = wrong.rsplit('.').next().unwrap_or(wrong);
    let same_name = KEYS.iter().map(|key| key.path).find(|path| path.rsplit('.').next() == Some(last));
    let sections = KEYS.iter().filter_map(|key| key.path.split_once('.')).map(|(section, _)| section);
    let names = KEYS.iter().map(|key| key.path).chain(sections);
    let close = names.map(|name| (distance(wrong, name), name)).filter(|(far, _)| *far <= NEAR);
    close.min_by_key(|(far, _)| *far).map(|(_, name)| name).or(same_name)
}

/// The edits that turn one text into the other (Levenshtein).
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}
