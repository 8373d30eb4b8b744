//! What a person who just started the service needs to know.

use std::collections::{BTreeMap, BTreeSet};

use clankie_domain::grant::Plan;
use clankie_domain::ids::{ExecutorName, RoomId};

use super::{executors, settings};
use crate::owner::auth::Kept;

/// What the lines are made of.
pub(super) struct Greeting<'a> {
    pub(super) url: &'a str,
    pub(super) open_at: &'a str,
    pub(super) routes: &'a BTreeMap<Plan, ExecutorName>,
    pub(super) rooms: &'a BTreeSet<RoomId>,
    pub(super) kept: &'a Kept,
}

impl Greeting<'_> {
    /// The lines, the first one with the address.
    pub(super) fn lines(&self) -> Vec<String> {
        let (Kept::Made(path) | Kept::Stands(path) | Kept::Stale(path)) = self.kept;
        let runs = self.routes.iter().map(|(plan, name)| format!("{}: {name}", settings::plan_word(*plan)));
        let rooms: Vec<&str> = self.rooms.iter().map(|room| room.as_str().trim_start_matches("local:")).collect();
        let first = rooms.first().unwrap_or(&"ROOM");
        let mut lines = vec![
            format!("clankie {} is ready at {}", env!("CARGO_PKG_VERSION"), self.url),
            format!("  executor  {}", runs.collect::<Vec<_>>().join(", ")),
            format!("  rooms     {} (talk there: clankie chat {first} --as NAME)", rooms.join(", ")),
            format!("  operator  {}", path.display()),
            format!("  API       {}/openapi.json", self.open_at),
            "  devices   let another device in: clankie devices pair".to_owned(),
        ];
        if self.routes.values().any(|name| name.as_str() == executors::DEMO) {
            let model = "Configure [model] or set OPENAI_API_KEY or ANTHROPIC_API_KEY for one.";
            lines.push(format!("  The demo executor is no model. {model}"));
        }
        match self.kept {
            Kept::Made(path) => {
                lines.push(format!("  The token in {} was just made: it is the owner's key.", path.display()));
            }
            Kept::Stale(path) => lines.push(format!(
                "  The token in {} no longer stands: delete the file and start again for a new one.",
                path.display()
            )),
            Kept::Stands(_) => {}
        }
        lines
    }
}
