//! Everything that was seen of the handoffs, and what was off about it.
//!
//! It knows the rules by itself: it is the witness, and the service's own word is what it judges.

use std::collections::{BTreeMap, BTreeSet};

use crate::http::wire::read_moment;
use crate::owner::wire::{ClassBody, CountsBody, HandoffBody, Handoffs, ResultBody};

/// What was seen so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Ledger {
    /// Handoffs of an earlier evening in the same directory.
    before: BTreeSet<String>,
    records: BTreeMap<String, HandoffBody>,
    /// How many snapshots were looked at.
    pub(super) samples: usize,
    /// The counts of the last one.
    pub(super) counts: Option<CountsBody>,
    /// Most that ran at once.
    pub(super) peak_running: usize,
    /// Most that ran at once in one room.
    pub(super) peak_running_per_room: usize,
    /// What was off, each once.
    pub(super) violations: BTreeSet<String>,
}

/// A handoff that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Moved {
    /// As it is.
    pub(super) record: HandoffBody,
    /// The counts of the same snapshot.
    pub(super) counts: CountsBody,
}

/// How far a record is along its arrows: it never goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Progress {
    Joined,
    Pending,
    Running,
    Ended,
}

impl Ledger {
    /// A ledger that leaves out what is there already.
    pub(super) fn new(there: &Handoffs) -> Self {
        Self { before: there.handoffs.iter().map(|record| record.id.clone()).collect(), ..Self::default() }
    }

    /// Takes in one snapshot and says what moved, oldest first.
    pub(super) fn see(&mut self, page: Handoffs) -> Vec<Moved> {
        self.samples += 1;
        let mut now: Vec<HandoffBody> =
            page.handoffs.into_iter().filter(|record| !self.before.contains(&record.id)).collect();
        now.sort_by(|one, other| one.id.cmp(&other.id));
        self.judge_limits(&now, &page.counts);
        self.judge_keys(&now);
        let mut moved = Vec::new();
        for record in now {
            self.judge_arrows(&record);
            let before = self.records.insert(record.id.clone(), record.clone());
            if before.is_none_or(|before| outline(&before) != outline(&record)) {
                moved.push(Moved { record, counts: page.counts.clone() });
            }
        }
        self.counts = Some(page.counts);
        moved
    }

    /// Every record, oldest first.
    pub(super) fn records(&self) -> impl Iterator<Item = &HandoffBody> {
        self.records.values()
    }

    /// The record of a delivery.
    pub(super) fn of(&self, room: &str, delivery: &str) -> Option<&HandoffBody> {
        self.records().find(|record| record.room == room && record.delivery_id == delivery)
    }

    /// Its state, by its word.
    pub(super) fn state(&self, room: &str, delivery: &str) -> Option<&str> {
        self.of(room, delivery).map(|record| record.state.as_str())
    }

    /// How many records are in that state.
    pub(super) fn in_state(&self, state: &str) -> usize {
        self.records().filter(|record| record.state == state).count()
    }

    /// How many failed with that code.
    pub(super) fn failed_with(&self, wanted: &str) -> usize {
        let failed =
            |record: &&HandoffBody| matches!(&record.result, Some(ResultBody::Failed { code }) if code == wanted);
        self.records().filter(failed).count()
    }

    /// First come, first served in a room: what started before something that came earlier.
    pub(super) fn overtakers(&self) -> Vec<String> {
        let mut last: BTreeMap<&str, (i64, &str)> = BTreeMap::new();
        let mut found = Vec::new();
        for record in self.records().filter(|record| record.class == ClassBody::Fresh) {
            let Some(started) = record.started_at.as_deref().and_then(read_moment) else { continue };
            match last.get(record.room.as_str()) {
                Some((before, earlier)) if started.0 < *before => {
                    found.push(format!("{} started before {earlier}, which came first", record.delivery_id));
                }
                Some(_) | None => drop(last.insert(&record.room, (started.0, &record.delivery_id))),
            }
        }
        found
    }

    fn off(&mut self, what: String) {
        self.violations.insert(what);
    }

    fn judge_limits(&mut self, now: &[HandoffBody], counts: &CountsBody) {
        let mut by_room: BTreeMap<&str, usize> = BTreeMap::new();
        for record in now.iter().filter(|record| record.state == "running") {
            *by_room.entry(&record.room).or_default() += 1;
        }
        let running: usize = by_room.values().sum();
        let in_one_room = by_room.values().max().copied().unwrap_or_default();
        self.peak_running = self.peak_running.max(running);
        self.peak_running_per_room = self.peak_running_per_room.max(in_one_room);
        let limits = &counts.limits;
        for (what, found, most) in [
            ("run at once", running, limits.running),
            ("run at once in one room", in_one_room, limits.running_per_room),
            ("wait at once", counts.waiting, limits.waiting),
        ] {
            if found > most {
                self.off(format!("{found} {what}, and {most} may"));
            }
        }
        if running != counts.running {
            self.off(format!("{} are said to run, and {running} records do", counts.running));
        }
    }

    /// One delivery key, one record.
    fn judge_keys(&mut self, now: &[HandoffBody]) {
        let mut keys = BTreeSet::new();
        for record in now {
            if !keys.insert((&record.room, &record.delivery_id)) {
                self.off(format!("{} of {} has two records", record.delivery_id, record.room));
            }
        }
    }

    fn judge_arrows(&mut self, record: &HandoffBody) {
        let Some(before) = self.records.get(&record.id) else { return };
        let (was, is) = (progress(&before.state), progress(&record.state));
        let rewritten = was == Progress::Ended && (&before.state, &before.result) != (&record.state, &record.result);
        if is < was || rewritten {
            let what = format!("{} went from {} to {}", record.delivery_id, before.state, record.state);
            self.off(what);
        }
    }
}

/// What of a record is worth a line.
fn outline(record: &HandoffBody) -> (&str, &Option<ResultBody>) {
    (&record.state, &record.result)
}

fn progress(state: &str) -> Progress {
    match state {
        "joined" => Progress::Joined,
        "pending" => Progress::Pending,
        "running" => Progress::Running,
        _ => Progress::Ended,
    }
}

/// Whether a record is over.
pub(super) fn has_ended(record: &HandoffBody) -> bool {
    progress(&record.state) == Progress::Ended
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn record(id: &str, room: &str, state: &str) -> HandoffBody {
        serde_json::from_value(json!({
            "id": id, "conversation_id": null, "room": room, "delivery_id": format!("d-{id}"), "actor": "local:ann",
            "actor_name": "Ann", "source": "text", "class": "fresh", "run_id": id, "state": state, "phase": null,
            "transport": {"gateway": "local", "lane": "ann"}, "request": "hello", "attachments": [],
            "grant": {"plan": "social", "owner_standing": "none", "machine_standing": "none",
                "verified_owner_proof": false, "transport": {"gateway": "local", "lane": "ann"}, "tools": []},
            "doing": "", "executor": null, "native_child": null, "result": null,
            "room_delivery": {"state": "none", "ids": []}, "joined": null, "joiner_count": 0,
            "usage": {"input_tokens": 0, "output_tokens": 0, "cost_micros": 0, "tool_calls": 0, "bytes": 0},
            "created_at": "2026-01-01T00:00:00Z", "started_at": null, "ended_at": null, "revision": 1,
            "reason_code": null,
        }))
        .unwrap()
    }

    fn page(handoffs: Vec<HandoffBody>) -> Handoffs {
        let running = handoffs.iter().filter(|record| record.state == "running").count();
        let limits = json!({"running": 2, "running_per_room": 1, "waiting": 6, "waiting_per_room": null,
            "waiting_per_actor": null});
        let counts = json!({"running": running, "waiting": 0, "owed": 0, "limits": limits});
        Handoffs { handoffs, counts: serde_json::from_value(counts).unwrap(), cursor: "x-1".into() }
    }

    fn check(pages: impl IntoIterator<Item = Vec<HandoffBody>>, violations: &[&str]) -> Ledger {
        let mut ledger = Ledger::default();
        for handoffs in pages {
            ledger.see(page(handoffs));
        }
        assert_eq!(ledger.violations.iter().map(String::as_str).collect::<Vec<_>>(), violations);
        ledger
    }

    #[test]
    fn i1_the_witness_sees_one_too_many() {
        let three = ["a", "b", "c"].map(|room| record(room, room, "running")).to_vec();
        let ledger = check([three], &["3 run at once, and 2 may"]);
        assert_eq!((ledger.peak_running, ledger.peak_running_per_room), (3, 1));
        let two = vec![record("a", "lab", "running"), record("b", "lab", "running")];
        check([two], &["2 run at once in one room, and 1 may"]);
    }

    #[test]
    fn i3_the_witness_sees_a_second_record_of_one_delivery() {
        let twin = HandoffBody { delivery_id: "d-a".into(), ..record("b", "lab", "pending") };
        check([vec![record("a", "lab", "pending"), twin]], &["d-a of lab has two records"]);
    }

    #[test]
    fn i7_the_witness_sees_a_step_back_and_a_rewritten_end() {
        let forth = ["joined", "pending", "running", "completed"].map(|state| vec![record("a", "lab", state)]);
        check(forth, &[]);
        check(
            ["running", "pending"].map(|state| vec![record("a", "lab", state)]),
            &["d-a went from running to pending"],
        );
        let ends = ["failed", "completed"].map(|state| vec![record("a", "lab", state)]);
        check(ends, &["d-a went from failed to completed"]);
    }

    #[test]
    fn i6_the_witness_sees_who_overtook() {
        let started = |id: &str, at: &str| HandoffBody { started_at: Some(at.into()), ..record(id, "lab", "running") };
        let mut ledger = Ledger::default();
        ledger.see(page(vec![started("b", "2026-01-01T00:00:01.5Z"), started("a", "2026-01-01T00:00:02Z")]));
        assert_eq!(ledger.overtakers(), ["d-b started before d-a, which came first"]);
    }

    #[test]
    fn an_earlier_evening_is_none_of_this_ones() {
        let mut ledger = Ledger::new(&page(vec![record("a", "lab", "completed")]));
        let both = page(vec![record("b", "lab", "running"), record("a", "lab", "completed")]);
        let moved: Vec<String> = ledger.see(both).into_iter().map(|moved| moved.record.id).collect();
        assert_eq!((moved, ledger.records().count()), (vec!["b".to_owned()], 1));
    }
}
