//! Files, environment and flags laid over each other, key by key, with the origin of each.
//!
//! A key is checked when it is laid down, so a refusal names the one line, variable or flag that
//! brought it, even where a later layer would have covered it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

use super::document::Document;
use super::error::{ConfigError, Origin};
use super::keys::{self, Key};

/// Longest part of a wrong value that an error repeats, in characters.
const GIVEN_MAX: usize = 80;

/// What was said so far, and by whom.
#[derive(Debug, Default)]
pub(super) struct Layers {
    said: Table,
    origins: BTreeMap<String, Origin>,
}

impl Layers {
    /// Lays a file down.
    pub(super) fn file(&mut self, path: &Path) -> Result<(), ConfigError> {
        let why = |error: std::io::Error| ConfigError::Unreadable { path: path.into(), why: error.to_string() };
        let text = std::fs::read_to_string(path).map_err(why)?;
        self.text(path, &text)
    }

    /// Lays the text of a file down.
    pub(super) fn text(&mut self, path: &Path, text: &str) -> Result<(), ConfigError> {
        let lines = Lines { path: path.into(), text };
        let syntax = |error: toml::de::Error| ConfigError::Syntax {
            at: lines.at(error.span().map_or(0, |span| span.start)),
            why: error.message().to_owned(),
        };
        let spans = DeTable::parse(text).map_err(syntax)?;
        let values: Table = toml::from_str(text).map_err(syntax)?;
        self.table(&lines, &mut Vec::new(), spans.get_ref(), &values)
    }

    /// Lays every variable of ours down.
    pub(super) fn environment(&mut self, variables: &BTreeMap<String, String>) -> Result<(), ConfigError> {
        for (variable, text) in variables.iter().filter(|(name, _)| name.starts_with("CLANKIE_")) {
            if keys::OTHER_VARIABLES.contains(&variable.as_str()) {
                continue;
            }
            let key = variable_key(variable)?;
            let origin = Origin::Environment { variable: variable.clone() };
            let path: Vec<String> = key.path.split('.').map(str::to_owned).collect();
            self.set(key, &path, keys::read(key.kind, text), origin)?;
        }
        Ok(())
    }

    /// Lays a flag down.
    pub(super) fn flag(&mut self, name: &str, value: String, flag: &'static str) -> Result<(), ConfigError> {
        let path = [name.to_owned()];
        match keys::find(&path) {
            Some(key) => self.set(key, &path, Value::String(value), Origin::Flag { flag }),
            None => Ok(()),
        }
    }

    /// What was said, with defaults for the rest. Every key of it was checked when it was laid down.
    pub(super) fn document(&self) -> Document {
        self.said.clone().try_into().unwrap_or_default()
    }

    /// Where the value of `key` came from.
    pub(super) fn origin(&self, key: &str) -> Origin {
        self.origins.get(key).cloned().unwrap_or(Origin::Default)
    }

    /// Remembers where a value came from that no layer has as such.
    pub(super) fn found(&mut self, key: &str, origin: Origin) {
        self.origins.insert(key.to_owned(), origin);
    }

    /// Whether any key of the section was set.
    pub(super) fn first_of(&self, section: &str) -> Option<Origin> {
        let below = format!("{section}.");
        self.origins.iter().find(|(key, _)| key.starts_with(&below)).map(|(_, origin)| origin.clone())
    }

    fn table(
        &mut self,
        lines: &Lines<'_>,
        above: &mut Vec<String>,
        spans: &DeTable<'_>,
        values: &Table,
    ) -> Result<(), ConfigError> {
        let mut written: Vec<_> = spans.iter().collect();
        written.sort_by_key(|(name, _)| name.span().start);
        for (name, inner) in written {
            above.push(name.get_ref().to_string());
            if let Some(value) = values.get(name.get_ref().as_ref()) {
                self.entry(lines, above, (lines.at(name.span().start), inner), value)?;
            }
            above.pop();
        }
        Ok(())
    }

    fn entry(
        &mut self,
        lines: &Lines<'_>,
        path: &mut Vec<String>,
        (at, inner): (Origin, &Spanned<DeValue<'_>>),
        value: &Value,
    ) -> Result<(), ConfigError> {
        if let Some(key) = keys::find(path) {
            return self.set(key, path, value.clone(), at);
        }
        match (inner.get_ref().as_table(), value.as_table()) {
            (Some(spans), Some(values)) if keys::is_section(path) => self.table(lines, path, spans, values),
            (None, _) if keys::is_section(path) => Err(ConfigError::Section { key: path.join("."), at }),
            (_, _) => Err(refuse(path, at)),
        }
    }

    fn set(&mut self, key: &Key, path: &[String], value: Value, at: Origin) -> Result<(), ConfigError> {
        let dotted = path.join(".");
        let refused =
            ConfigError::Value { key: dotted.clone(), given: shortened(&value), expects: key.expects, at: at.clone() };
        if !insert(&mut self.said, path, value) || self.said.clone().try_into::<Document>().is_err() {
            return Err(refused);
        }
        self.origins.insert(dotted, at);
        Ok(())
    }
}

/// A file's text, to turn places in it into lines.
struct Lines<'a> {
    path: PathBuf,
    text: &'a str,
}

impl Lines<'_> {
    fn at(&self, byte: usize) -> Origin {
        let before = self.text.as_bytes().iter().take(byte);
        Origin::File { path: self.path.clone(), line: before.filter(|byte| **byte == b'\n').count() + 1 }
    }
}

fn variable_key(variable: &str) -> Result<&'static Key, ConfigError> {
    let name = if variable == keys::LOG_VARIABLE { "CLANKIE_LOG__FILTER" } else { variable };
    let dotted = name.trim_start_matches("CLANKIE_").replace("__", ".").to_ascii_lowercase();
    let at = || Origin::Environment { variable: variable.to_owned() };
    match keys::KEYS.iter().find(|key| keys::variable(key).as_deref() == Some(name)) {
        Some(key) => Ok(key),
        None if dotted == "discord.token" => Err(ConfigError::LiteralToken { at: at() }),
        None if dotted == "model.api_key" => Err(ConfigError::LiteralSecret { at: at() }),
        None if is_sink_secret(&dotted) => Err(ConfigError::LiteralSinkSecret { key: dotted, at: at() }),
        None if dotted.starts_with("lanes.") => Err(ConfigError::LaneByEnvironment { variable: variable.to_owned() }),
        None => Err(ConfigError::UnknownVariable { variable: variable.to_owned(), nearest: keys::nearest(&dotted) }),
    }
}

fn refuse(path: &[String], at: Origin) -> ConfigError {
    let dotted = path.join(".");
    match path.first().map(String::as_str) {
        Some("discord") if dotted == "discord.token" => ConfigError::LiteralToken { at },
        Some("model") if dotted == "model.api_key" => ConfigError::LiteralSecret { at },
        Some("notify") if is_sink_secret(&dotted) => ConfigError::LiteralSinkSecret { key: dotted, at },
        Some(_) | None => ConfigError::UnknownKey { nearest: keys::nearest(&dotted), key: dotted, at },
    }
}

/// A secret of a sink, written where only the name of its place belongs.
fn is_sink_secret(dotted: &str) -> bool {
    matches!(dotted, "notify.ntfy.token" | "notify.webhook.secret")
}

fn insert(table: &mut Table, path: &[String], value: Value) -> bool {
    let Some((name, rest)) = path.split_first() else { return false };
    if rest.is_empty() {
        table.insert(name.clone(), value);
        return true;
    }
    let inner = table.entry(name.clone()).or_insert_with(|| Value::Table(Table::new()));
    inner.as_table_mut().is_some_and(|inner| insert(inner, rest, value))
}

fn shortened(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(GIVEN_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
