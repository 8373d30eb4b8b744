//! What can only be seen while it happens: how many run and wait, and how records move.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::service::Service;

/// Records of one look: everything that lives, and what ended last.
const LOOK: &str = "/operator/v1/handoffs?limit=80";

/// Everything that was seen to be wrong.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    pub(crate) looks: usize,
    pub(crate) moves: usize,
    pub(crate) most_running: u64,
    pub(crate) most_waiting: u64,
    pub(crate) over_limits: Vec<String>,
    pub(crate) illegal_moves: Vec<String>,
    last: BTreeMap<String, String>,
}

impl Watch {
    /// Looks once.
    pub(crate) fn look(&mut self, service: &Service) {
        let page = service.read(LOOK);
        self.looks += 1;
        let count = |name: &str| page["counts"][name].as_u64().unwrap();
        let (running, waiting) = (count("running"), count("waiting"));
        self.most_running = self.most_running.max(running);
        self.most_waiting = self.most_waiting.max(waiting);
        if running > 4 || waiting > 32 {
            self.over_limits.push(format!("{running} running, {waiting} waiting"));
        }
        let mut per_room: BTreeMap<&str, usize> = BTreeMap::new();
        for record in page["handoffs"].as_array().unwrap() {
            if record["state"] == "running" {
                *per_room.entry(record["room"].as_str().unwrap()).or_default() += 1;
            }
            self.moved(record);
        }
        let crowded = per_room.into_iter().filter(|(_, running)| *running > 2);
        self.over_limits.extend(crowded.map(|(room, running)| format!("{running} running in {room}")));
    }

    fn moved(&mut self, record: &Value) {
        let (id, now) = (record["id"].as_str().unwrap().to_owned(), record["state"].as_str().unwrap().to_owned());
        let Some(was) = self.last.insert(id.clone(), now.clone()) else { return };
        if was == now {
            return;
        }
        self.moves += 1;
        let ended = ["completed", "failed", "cancelled", "waiting_user"].contains(&now.as_str());
        // A look may miss steps between two states, but never one that leads back.
        let legal = match was.as_str() {
            "pending" => now == "running" || ended,
            "running" => ended,
            "joined" => now == "absorbed" || now == "pending" || now == "running" || ended,
            _ => false,
        };
        if !legal {
            self.illegal_moves.push(format!("{id}: {was} → {now}"));
        }
    }
}
