//! Where a command's output goes: data on standard output, words on standard error.
//!
//! A terminal gets tables and cleaned text; everything else gets JSON with its schema version.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;

use super::clean::{clean, escape_json};
use crate::owner::wire::SCHEMA_VERSION;

const BOLD: &str = "\u{1b}[1m";
const RESET: &str = "\u{1b}[0m";

/// How data is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// For people.
    Table,
    /// For programs; on a terminal too, when it was asked for.
    Json,
}

/// Whether heads are bold. Colour alone never says anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// A terminal without `NO_COLOR`.
    Bold,
    /// Everything else.
    Plain,
}

/// The two outputs of a command.
#[derive(Debug, Clone, Copy)]
pub(super) struct Screen {
    form: Form,
    asked: Option<Form>,
    style: Style,
}

#[derive(Serialize)]
struct Versioned<'a, T> {
    schema_version: u32,
    #[serde(flatten)]
    data: &'a T,
}

impl Screen {
    /// The outputs of this process: JSON when it was asked for or when nobody looks.
    pub(super) fn of_process(asked: Option<Form>) -> Self {
        let terminal = io::stdout().is_terminal();
        let plain = !terminal || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let usual = if terminal { Form::Table } else { Form::Json };
        Self { form: asked.unwrap_or(usual), asked, style: if plain { Style::Plain } else { Style::Bold } }
    }

    /// How data is shown.
    pub(super) fn form(&self) -> Form {
        self.form
    }

    /// How text is shown that is data as it stands, such as a reply or a token: plain unless asked.
    pub(super) fn text_form(&self) -> Form {
        self.asked.unwrap_or(Form::Table)
    }

    /// Prints an object on one line, with the schema version in it.
    pub(super) fn json<T: Serialize>(&self, data: &T) -> io::Result<()> {
        self.line(&escape_json(&serde_json::to_string(&Versioned { schema_version: SCHEMA_VERSION, data })?))
    }

    /// Prints a table: its head, then its rows.
    pub(super) fn table(&self, lines: &[String]) -> io::Result<()> {
        let (head, rows) = lines.split_first().map_or(("", lines), |(head, rows)| (head.as_str(), rows));
        match self.style {
            Style::Bold => self.line(&format!("{BOLD}{head}{RESET}"))?,
            Style::Plain => self.line(head)?,
        }
        self.lines(rows)
    }

    /// Prints lines of our own making, whose foreign parts are clean.
    pub(super) fn lines(&self, lines: &[String]) -> io::Result<()> {
        lines.iter().try_for_each(|line| self.line(line))
    }

    /// Prints one such line, and at once: whoever follows must not wait for a buffer.
    pub(super) fn line(&self, line: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        writeln!(out, "{line}")?;
        out.flush()
    }

    /// Says something on standard error. It is cleaned here: service and model speak in it.
    pub(super) fn words(&self, words: &str) {
        // Nobody is left to tell when standard error is closed.
        let _closed = writeln!(io::stderr().lock(), "{}", clean(words));
    }
}
