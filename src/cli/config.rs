//! `clankie config`: what is in force, who said so, and whether a file would start.

use std::path::PathBuf;

use clap::Subcommand;
use serde::Serialize;

use super::Global;
use super::clean::clean_line;
use super::failure::Failure;
use super::screen::{Form, Screen};
use super::table::Table;
use crate::config::{self, Environment, Row, Sources};

/// Width of a value, in characters.
const WIDTH: usize = 60;

/// What to do with the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum ConfigCommand {
    /// Show every key and its value.
    Show {
        /// Show as well where each value came from.
        #[arg(long)]
        origin: bool,
    },
    /// Check a file, or what is in force.
    Validate {
        /// The file, in place of --config.
        file: Option<PathBuf>,
    },
}

#[derive(Serialize)]
struct Shown {
    keys: Vec<Key>,
}

#[derive(Serialize)]
struct Key {
    key: String,
    value: Option<toml::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<String>,
}

#[derive(Serialize)]
struct Valid {
    valid: bool,
}

/// Runs one of the commands.
pub(super) fn run(
    command: ConfigCommand,
    global: &Global,
    environment: &Environment,
    screen: &Screen,
) -> Result<(), Failure> {
    let sources = global.sources(environment);
    match command {
        ConfigCommand::Show { origin: false } => show(config::load(&sources)?.rows, screen),
        ConfigCommand::Show { origin: true } => show_origins(config::load(&sources)?.rows, screen),
        ConfigCommand::Validate { file } => {
            validate(&Sources { file: file.or(sources.file.clone()), ..sources }, screen)
        }
    }
}

fn show(rows: Vec<Row>, screen: &Screen) -> Result<(), Failure> {
    let mut table = Table::new(["KEY", "VALUE"]);
    rows.iter().for_each(|row| table.row([row.key.clone(), value(row)]));
    let keys = rows.into_iter().map(|row| Key { key: row.key, value: row.value, origin: None });
    print(Shown { keys: keys.collect() }, &table.lines(), screen)
}

fn show_origins(rows: Vec<Row>, screen: &Screen) -> Result<(), Failure> {
    let mut table = Table::new(["KEY", "VALUE", "ORIGIN"]);
    rows.iter().for_each(|row| table.row([row.key.clone(), value(row), row.origin.to_string()]));
    let keys = rows.into_iter().map(|row| Key { key: row.key, value: row.value, origin: Some(row.origin.to_string()) });
    print(Shown { keys: keys.collect() }, &table.lines(), screen)
}

fn print(shown: Shown, lines: &[String], screen: &Screen) -> Result<(), Failure> {
    match screen.form() {
        Form::Json => screen.json(&shown)?,
        Form::Table => screen.table(lines)?,
    }
    Ok(())
}

fn value(row: &Row) -> String {
    row.value.as_ref().map_or_else(|| "–".to_owned(), |value| clean_line(&value.to_string(), WIDTH))
}

fn validate(sources: &Sources, screen: &Screen) -> Result<(), Failure> {
    config::load(sources)?;
    match screen.form() {
        Form::Json => screen.json(&Valid { valid: true })?,
        Form::Table => screen.line("valid")?,
    }
    Ok(())
}
