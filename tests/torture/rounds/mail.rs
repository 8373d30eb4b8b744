//! The mailbox at rest: every unknown call made again, whole lists read and judged, and no file of
//! the service holding a secret.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};

use super::Rounds;
use super::check::REST_WITHIN;
use crate::api::{Api, Trouble};
use crate::checker::mailbox::{Lists, Mailbox};
use crate::checker::tracker::Tracker;
use crate::load::full_room;
use crate::mail::owners::{self, CANARY};

/// Which conversations are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// Those of the rooms in use, and whatever else was touched.
    Touched,
    /// All that were ever read.
    All,
}

impl Rounds {
    /// Makes every call whose outcome is unknown again, until none is left.
    pub(super) async fn make_calls_known(&self, api: &Api) {
        let began = Instant::now();
        loop {
            let unknown = self.world.ledger.lock().await.unknown();
            if unknown.is_empty() {
                return;
            }
            if began.elapsed() > REST_WITHIN {
                return self.wrong("a retry is answered", format!("{} calls are not", unknown.len()));
            }
            for call in unknown {
                owners::call(&self.world, api, &call).await;
            }
        }
    }

    /// The whole lists of conversations.
    pub(super) async fn lists(&self, api: &Api, which: Which) -> Lists {
        match self.list(api, which).await {
            Ok(lists) => lists,
            Err(trouble) => {
                self.wrong("contract", format!("the mailbox is not listed: {trouble:?}"));
                Lists::default()
            }
        }
    }

    async fn list(&self, api: &Api, which: Which) -> Result<Lists, Trouble> {
        let mut conversations = self.world.ledger.lock().await.touched();
        if which == Which::All {
            let ledger = self.world.ledger.lock().await;
            conversations.extend(ledger.asks.values().map(|known| known.now.conversation_id.clone()));
            conversations.extend(ledger.updates.values().map(|known| known.now.conversation_id.clone()));
        }
        conversations.extend(self.in_use(api).await?);
        let mut lists = Lists { conversations, ..Lists::default() };
        for conversation in &lists.conversations {
            let mut query = json!({ "conversation_id": conversation });
            loop {
                let (page, next) = owners::asks(&self.world, api, query.clone()).await?;
                lists.asks.extend(page);
                let Some(next) = next else { break };
                query["after"] = Value::String(next);
            }
            let query = json!({ "conversation_id": conversation, "state": "all" });
            lists.updates.extend(owners::updates(&self.world, api, query).await?);
        }
        // Reading them touched them; what is touched from now on is the next rest's.
        self.world.ledger.lock().await.touched();
        Ok(lists)
    }

    /// The conversations of the rooms in use that have had mail.
    async fn in_use(&self, api: &Api) -> Result<BTreeSet<String>, Trouble> {
        let rooms: BTreeSet<String> = self.world.rooms().iter().map(|room| full_room(room)).collect();
        let all = api.dispatch(json!({ "schema_version": 1, "op": "conversation_list" })).await?;
        let all = all["conversations"].as_array().map(Vec::as_slice).unwrap_or_default();
        let ours = all.iter().filter(|one| one["room"].as_str().is_some_and(|room| rooms.contains(room)));
        let with_mail = ours.filter(|one| one["incarnation_id"].is_string());
        Ok(with_mail.filter_map(|one| one["conversation_id"].as_str().map(ToOwned::to_owned)).collect())
    }

    /// Judges the mailbox as those lists show it.
    pub(super) async fn judge_mail(&mut self, tracker: &Tracker, lists: &Lists) {
        let (runs, woken) = (self.world.model.runs(), self.world.model.woken());
        let ledger = self.world.ledger.lock().await;
        let mailbox = Mailbox::new((&self.world.history, tracker, &ledger), (&runs, &woken));
        self.tally.mail = mailbox.judge(lists);
    }

    /// M7: what owners answered to secrets is in no file.
    pub(super) fn no_secret_is_kept(&self) -> anyhow::Result<()> {
        let Some(dir) = self.service.log().parent().map(Path::to_owned) else { return Ok(()) };
        for file in files(&dir)? {
            if holds(&std::fs::read(&file)?, CANARY.as_bytes()) {
                self.wrong("M7 a secret is kept nowhere", file.display().to_string());
            }
        }
        Ok(())
    }
}

fn files(dir: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        match path.file_name() {
            Some(name) if name == "secrets" => {}
            _ if path.is_dir() => found.extend(files(&path)?),
            _ if path.is_file() => found.push(path),
            _ => {}
        }
    }
    Ok(found)
}

/// Whether `bytes` hold `needle`. Its first byte is looked for alone, for that is quick.
pub(crate) fn holds(bytes: &[u8], needle: &[u8]) -> bool {
    let Some((first, _)) = needle.split_first() else { return false };
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| byte == first) {
        rest = &rest[at..];
        if rest.starts_with(needle) {
            return true;
        }
        rest = &rest[1..];
    }
    false
}
