//! I2, I3, I8 and I9 over every delivery: what its sender heard against what is stored.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use clankie_domain::admission::room::Answer;
use clankie_domain::event::Event;
use clankie_domain::handoff::HandoffRecord;
use clankie_domain::ids::{DeliveryId, HandoffId, RoomId};
use clankie_domain::request::Request;
use clankie_domain::result::TurnResult;

use super::Found;
use crate::sim::history::{Fact, Last, Manner, What};

type Key = (RoomId, DeliveryId);

/// Everything about one delivery.
#[derive(Default)]
struct Tried {
    handoff: Option<HandoffId>,
    result: Option<TurnResult>,
    /// Tries of which nobody knows what came of them, until they are answered.
    open: usize,
    is_known: bool,
    texts: BTreeSet<String>,
    edits: BTreeSet<String>,
    actors: BTreeSet<String>,
}

#[derive(Default)]
struct Keys {
    tries: BTreeMap<u64, (Key, Manner, Arc<Request>)>,
    keys: BTreeMap<Key, Tried>,
    durable: BTreeSet<HandoffId>,
}

pub(super) fn judge(facts: &[Fact], found: &mut Found) {
    let mut keys = Keys::default();
    for Fact { at, what } in facts {
        if let What::Event(_, Event::Handoff { id, .. }) = what {
            keys.durable.insert(*id);
        }
        if let What::Sent(number, manner, request) = what {
            keys.sent(*number, *manner, request);
        }
        if let What::Heard(number, answer) = what {
            keys.heard(*number, answer.as_ref(), *at, found);
        }
        if let What::Last(last) = what {
            keys.last(last, *at, found);
        }
    }
}

impl Keys {
    fn sent(&mut self, number: u64, manner: Manner, request: &Arc<Request>) {
        let key = (request.room.clone(), request.delivery.clone());
        let tried = self.keys.entry(key.clone()).or_default();
        tried.open += 1;
        tried.actors.insert(request.actor.as_str().to_owned());
        match manner {
            Manner::Submit => tried.texts.insert(request.text.clone()),
            Manner::Edit => tried.edits.insert(request.text.clone()),
        };
        self.tries.insert(number, (key, manner, Arc::clone(request)));
    }

    fn heard(&mut self, number: u64, answer: Option<&Answer>, at: u64, found: &mut Found) {
        let Some((key, manner, _)) = self.tries.get(&number) else { return };
        let Some(tried) = self.keys.get_mut(key) else { return };
        let shown = format!("{} {}", key.0, key.1);
        // What nobody heard stays open: it may have been accepted.
        let Some(answer) = answer else { return };
        tried.open = tried.open.saturating_sub(1);
        if let Answer::Accepted { handoff, .. } | Answer::Settled { handoff, .. } = answer
            && !self.durable.contains(handoff)
        {
            found.broken("I2", at, format!("{shown} was called accepted before it was durable"));
        }
        if *manner == Manner::Edit {
            tried.is_known = true;
            return;
        }
        match answer {
            Answer::Accepted { handoff, .. } => tried.same(*handoff, &shown, at, found),
            Answer::Settled { handoff, result } => {
                tried.same(*handoff, &shown, at, found);
                if tried.result.replace(result.clone()).is_some_and(|before| before != *result) {
                    found.broken("I3", at, format!("{shown} got two results"));
                }
            }
            Answer::Conflict { .. } => {
                tried.is_known = true;
                if tried.texts.len() + tried.edits.len() < 2 {
                    found.broken("I3", at, format!("{shown} conflicts with itself"));
                }
            }
            Answer::Busy(facts) => {
                if tried.handoff.is_some() {
                    found.broken("I9", at, format!("{shown} was accepted, and is told busy: {facts:?}"));
                }
            }
            Answer::Refused(_)
            | Answer::ShuttingDown
            | Answer::Forgotten
            | Answer::ConflictInFlight
            | Answer::Cancelling { .. }
            | Answer::NotFound
            | Answer::NotYours
            | Answer::Posted(_)
            | Answer::Outdated
            | Answer::NoSuchStep => {}
        }
    }

    fn last(&self, last: &Last, at: u64, found: &mut Found) {
        let mut by_key: BTreeMap<Key, Vec<&Arc<HandoffRecord>>> = BTreeMap::new();
        for record in &last.records {
            by_key.entry((record.room.clone(), record.delivery.clone())).or_default().push(record);
            self.comes_from_somewhere(record, at, found);
        }
        let there: BTreeSet<HandoffId> = last.records.iter().map(|record| record.id).collect();
        if let Some(id) = self.durable.difference(&there).next() {
            found.broken("I2", at, format!("handoff {id} was durable and is gone"));
        }
        for (key, records) in &by_key {
            if records.len() > 1 {
                found.broken("I3", at, format!("{} {} has {} records", key.0, key.1, records.len()));
            }
        }
        for (key, tried) in &self.keys {
            let record = by_key.get(key).and_then(|records| records.first());
            let receipt = last.receipts.iter().find(|receipt| receipt.room == key.0 && receipt.delivery == key.1);
            let shown = format!("{} {}", key.0, key.1);
            let is_stored = record.is_some() && receipt.is_some();
            if tried.handoff.is_some_and(|id| record.is_none_or(|record| record.id != id))
                || (tried.handoff.is_some() && !is_stored)
            {
                found.broken("I2", at, format!("{shown} was accepted and has no record of its own"));
            }
            let refused = tried.handoff.is_none() && !tried.is_known && tried.open == 0;
            if refused && (record.is_some() || receipt.is_some()) {
                found.broken("I2", at, format!("{shown} was refused every time and has a record"));
            }
            if let (Some(record), Some(receipt)) = (record, receipt)
                && (receipt.handoff != record.id || receipt.result.as_ref() != record.result())
            {
                found.broken("I3", at, format!("the receipt of {shown} is not its record's"));
            }
            if let (Some(result), Some(receipt)) = (&tried.result, receipt)
                && receipt.result.as_ref() != Some(result)
            {
                found.broken("I3", at, format!("{shown} was given a result that is not its own"));
            }
        }
    }

    /// Whose words a record has, and that somebody said them.
    fn comes_from_somewhere(&self, record: &HandoffRecord, at: u64, found: &mut Found) {
        let DeliveryId::Transport(_) = &record.delivery else { return };
        let tried = self.keys.get(&(record.room.clone(), record.delivery.clone()));
        let fits = tried.is_some_and(|tried| {
            tried.actors.contains(record.actor.as_str())
                && (tried.texts.contains(&record.request) || tried.edits.contains(&record.request))
        });
        if !fits {
            found.broken("I8", at, format!("handoff {} has words that nobody said there", record.id));
        }
    }
}

impl Tried {
    fn same(&mut self, handoff: HandoffId, shown: &str, at: u64, found: &mut Found) {
        if self.handoff.replace(handoff).is_some_and(|before| before != handoff) {
            found.broken("I3", at, format!("{shown} is two handoffs"));
        }
    }
}
