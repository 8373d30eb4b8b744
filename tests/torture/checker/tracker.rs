//! Every record as it was last read, and what may follow it; every snapshot against the limits.

use std::collections::BTreeMap;

use crate::api::{Counts, Record};
use crate::history::History;
use crate::load::key_of;

/// Handoffs that run at once (I1).
pub(crate) const RUNNING: usize = 4;
/// Handoffs that run at once in one room (I1).
const RUNNING_PER_ROOM: usize = 2;
/// Fresh handoffs that wait at once (I1).
const WAITING: usize = 32;

/// What is kept of a record between two reads.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) record: Record,
    life: u64,
}

/// Every record that was ever read.
#[derive(Debug, Default)]
pub(crate) struct Tracker {
    seen: BTreeMap<String, Seen>,
    keys: BTreeMap<(String, String), String>,
}

impl Tracker {
    /// Judges one read of one record, made in the service's life `life`.
    pub(crate) fn read(&mut self, record: Record, life: u64, history: &History) {
        let key = key_of(&record.room, &record.request).map(|(key, _)| key);
        let key = key.as_ref();
        if let Some(result) = &record.result {
            history.shown(key, &record.id, result);
        }
        let named = (record.room.clone(), record.delivery_id.clone());
        match self.keys.get(&named) {
            Some(known) if *known != record.id => {
                let what = format!("{named:?} has the records {known} and {}", record.id);
                history.violation("I2 one record", what, key);
            }
            Some(_) => {}
            None => {
                self.keys.insert(named, record.id.clone());
            }
        }
        match self.seen.get(&record.id) {
            None => {
                self.seen.insert(record.id.clone(), Seen { record, life });
            }
            Some(seen) => {
                for (rule, what) in seen.against(&record, life) {
                    history.violation(rule, format!("{}: {what}", record.id), key);
                }
                if (life, record.revision) >= (seen.life, seen.record.revision) {
                    self.seen.insert(record.id.clone(), Seen { record, life });
                }
            }
        }
    }

    /// The record of that id as it was last read.
    pub(crate) fn get(&self, id: &str) -> Option<&Record> {
        self.seen.get(id).map(|seen| &seen.record)
    }

    /// The record under that full room and shown delivery.
    pub(crate) fn of(&self, room: &str, delivery: &str) -> Option<&Record> {
        let id = self.keys.get(&(room.to_owned(), delivery.to_owned()))?;
        self.get(id)
    }

    /// Every record as it was last read.
    pub(crate) fn records(&self) -> impl Iterator<Item = &Record> {
        self.seen.values().map(|seen| &seen.record)
    }

    /// The ids of records that were last read before `life`, and were not over then.
    pub(crate) fn live_before(&self, life: u64) -> Vec<String> {
        let live = self.seen.values().filter(|seen| seen.life < life && !seen.record.is_over());
        live.map(|seen| seen.record.id.clone()).collect()
    }

    /// The id of the newest record.
    pub(crate) fn newest(&self) -> Option<String> {
        self.seen.keys().next_back().cloned()
    }
}

impl Seen {
    /// What is wrong about `now` after this. Two readers may cross, so revisions say which is later.
    fn against(&self, now: &Record, life: u64) -> Vec<(&'static str, String)> {
        let then = &self.record;
        let mut wrong = Vec::new();
        if life > self.life && now.revision < then.revision {
            wrong.push(("I2 durable", format!("revision {} was read and is {} now", then.revision, now.revision)));
        }
        let (first, last) = if now.revision >= then.revision { (then, now) } else { (now, then) };
        if first.revision == last.revision && first != last {
            wrong.push(("I7 revisions", format!("two contents under revision {}", first.revision)));
        }
        if !may_follow(first, last) {
            wrong.push(("I7 arrows", format!("{} became {}", first.state, last.state)));
        }
        if first.is_over() && first != last {
            wrong.push(("I3 ended is ended", format!("{first:?} became {last:?}")));
        }
        let fixed = |record: &Record| {
            (record.room.clone(), record.delivery_id.clone(), record.actor.clone(), record.grant.clone())
        };
        if fixed(first) != fixed(last) || first.run_id != last.run_id || first.created_at != last.created_at {
            wrong.push(("I8 fixed", format!("{:?} became {:?}", fixed(first), fixed(last))));
        }
        // A joiner that became owed is pending, and its words may be edited then.
        let editable = first.state == "pending" || (first.state == "joined" && !last.is_fresh());
        if first.request != last.request && !editable {
            wrong.push(("I8 fixed", format!("the words of a {} record changed", first.state)));
        }
        wrong
    }
}

/// The arrows, and what several of them make together.
fn may_follow(first: &Record, last: &Record) -> bool {
    let runs_or_ran = ["running", "completed", "waiting_user", "failed", "cancelled"];
    let to = last.state.as_str();
    match first.state.as_str() {
        same if same == to => true,
        "pending" => runs_or_ran.contains(&to),
        "running" => runs_or_ran[1..].contains(&to),
        "joined" if !last.is_fresh() => to == "pending" || runs_or_ran.contains(&to),
        "joined" => ["absorbed", "failed", "cancelled"].contains(&to),
        _ => false,
    }
}

/// I1 for one snapshot of everything that runs.
pub(crate) fn running(records: &[Record], counts: &Counts, history: &History) {
    let mut rooms: BTreeMap<&str, usize> = BTreeMap::new();
    for record in records {
        *rooms.entry(&record.room).or_default() += 1;
    }
    let full = rooms.iter().find(|(_, many)| **many > RUNNING_PER_ROOM);
    if records.len() > RUNNING || counts.running > RUNNING {
        history.violation("I1 running", format!("{} run, counted {}", records.len(), counts.running), None);
    }
    if let Some((room, many)) = full {
        history.violation("I1 running per room", format!("{many} run in {room}"), None);
    }
    if records.len() != counts.running {
        history.violation("counts", format!("{} run, counted {}", records.len(), counts.running), None);
    }
}

/// I1 for one snapshot of everything that is pending.
pub(crate) fn pending(records: &[Record], counts: &Counts, history: &History) {
    let fresh = records.iter().filter(|record| record.is_fresh()).count();
    if fresh > WAITING || counts.waiting > WAITING {
        history.violation("I1 waiting", format!("{fresh} wait, counted {}", counts.waiting), None);
    }
    if (fresh, records.len() - fresh) != (counts.waiting, counts.owed) {
        let what = format!("{fresh} of {} pending are fresh, counted {counts:?}", records.len());
        history.violation("counts", what, None);
    }
}
