//! The oracle: what must hold of each answer, start, end and boot, and whenever all is quiet.
//!
//! It reads what is durable and what really happened to each run, never the code under test.

use clankie_domain::admission::STALE_AFTER_MS;
use clankie_domain::admission::room::Answer;
use clankie_domain::grant::Plan;
use clankie_domain::handoff::{Class, HandoffRecord, State};
use clankie_domain::ids::{Caller, HandoffId, PermitId, RunId};
use clankie_domain::result::{FailCode, TurnResult};
use clankie_domain::steering::{JOINERS_MAX, Joiner};

use crate::counts::Draining;
use crate::run::{Run, Truth};
use crate::script::{Standing, TRIES, Who, actor, minted, most, room_id};
use crate::store::{Stands, Store, Verdict, is_live, must, stands};
use crate::world::{Closing, World};

/// Ann, or somebody who may do what Bob may.
fn who(record: &HandoffRecord) -> Who {
    if record.actor == actor(Who::Ann) { Who::Ann } else { Who::Bob }
}

/// Whether what `record` was given is more than it may have under `standing`.
fn exceeds(record: &HandoffRecord, standing: Standing) -> bool {
    most(who(record), standing).is_none_or(|most| record.grant.plan > most)
}

fn failed_with(record: &HandoffRecord, code: FailCode) -> bool {
    record.state == State::Ended(TurnResult::Failed { code })
}

impl World {
    /// Whether an item that is said now must join, in worlds where nothing stops a run or moves a grant.
    pub(crate) fn must_join(&self, item: usize) -> bool {
        let (words, script) = (&self.script.words[item], &self.script);
        let calm = script.cancels.is_empty() && script.switches.is_empty() && script.drains == 0;
        let alone = self.past.asked.values().filter(|asked| script.said(**asked).0.who == words.who).count() == 1;
        let delivery = script.keys(item).remove(0);
        let known = self.store.receipt(words.room, &delivery).is_some();
        let here = self.store.records.values().filter(|record| record.room == room_id(words.room));
        let mine = here.filter(|record| record.actor == actor(words.who));
        let open = mine.filter(|record| matches!(stands(record), Stands::Pending | Stands::Running));
        let plan = most(words.who, self.standing()).map(|most| words.wanted.map_or(most, |wanted| wanted.min(most)));
        let takes = open.max_by_key(|record| record.arrival).is_some_and(|newest| {
            Some(newest.grant.plan) == plan && self.store.joiners(newest.id).count() < JOINERS_MAX
        });
        calm && alone && !known && takes
    }

    /// I2, I3, I9: everybody hears once, and hears what is durable.
    pub(crate) fn judge_answer(&mut self, caller: Caller, answer: &Answer) -> Verdict {
        let item = self.on_past(|past| past.asked.remove(&caller.0));
        let item = item.ok_or_else(|| format!("I3: caller {caller:?} was answered twice"))?;
        if item >= self.script.words.len() + self.script.edits.len() {
            return self.judge_cancel_answer(answer);
        }
        let refused = most(self.script.said(item).0.who, self.standing()).is_none();
        let unheard = self.speaking == Some(caller.0) && refused;
        must(!unheard || matches!(answer, Answer::Refused(_)), || format!("who may not speak heard {answer:?}"))?;
        let own = minted(usize::try_from(caller.0).unwrap()).handoff;
        let told = match answer {
            Answer::Accepted { handoff, .. } | Answer::Settled { handoff, .. } => Some(*handoff),
            Answer::Busy(_)
            | Answer::Conflict { .. }
            | Answer::ConflictInFlight
            | Answer::Refused(_)
            | Answer::ShuttingDown
            | Answer::Forgotten
            | Answer::Cancelling { .. }
            | Answer::NotFound
            | Answer::NotYours
            | Answer::Posted(_)
            | Answer::NoSuchStep
            | Answer::Outdated => None,
        };
        if told != Some(own) {
            must(!self.store.records.contains_key(&own), || format!("I2: {own} has a record: {answer:?}"))?;
            self.on_past(|past| past.dead.insert(own));
        }
        match told {
            Some(handoff) => {
                self.judge_same(item, handoff)?;
                self.judge_yes(item, handoff, answer)
            }
            None => self.judge_no(item, caller, answer),
        }
    }

    /// I3: one key with other words is a conflict. An edit in flight changes the words of a key.
    fn judge_same(&self, item: usize, handoff: HandoffId) -> Verdict {
        let asked = self.script.submission(item, 0).fingerprint;
        let same = self.store.records.get(&handoff).is_some_and(|record| record.fingerprint == asked);
        let edited = !self.script.edits.is_empty();
        must(same || edited, || format!("I3: item {item} shares {handoff}, which was asked otherwise"))
    }

    fn judge_yes(&self, item: usize, handoff: HandoffId, answer: &Answer) -> Verdict {
        let record = self.store.records.get(&handoff).ok_or_else(|| format!("I2: {handoff} is not durable"))?;
        let (words, _, _) = self.script.said(item);
        let mut keys = self.script.keys(item);
        keys.push(clankie_domain::ids::DeliveryId::Transport(words.key.to_owned()));
        let mine = keys.contains(&record.delivery) && record.room == room_id(words.room);
        must(mine, || format!("I3: somebody heard of {handoff}, which is not theirs"))?;
        match (&record.state, answer) {
            (State::Ended(saved), Answer::Settled { result, .. }) => {
                must(saved == result, || format!("I3: {handoff} has two results"))
            }
            (State::Ended(_), _) | (_, Answer::Settled { .. }) => Err(format!("I3: {handoff} is told as {answer:?}")),
            (State::Pending | State::Running(_) | State::Joined { .. }, _) => Ok(()),
        }
    }

    fn judge_no(&self, item: usize, caller: Caller, answer: &Answer) -> Verdict {
        let nth = usize::try_from(caller.0).unwrap() % TRIES;
        let submission = self.script.submission(item, nth);
        let is_edit = item >= self.script.words.len();
        let (words, _, _) = self.script.said(item);
        let key = self.script.keys(item).remove(0);
        let known = self.store.receipt(words.room, &key);
        let same = known.as_ref().is_some_and(|known| known.fingerprint == submission.fingerprint);
        let refused = most(words.who, self.standing()).is_none();
        let fair = match answer {
            Answer::Refused(_) => refused,
            Answer::Busy(_) | Answer::Forgotten | Answer::ShuttingDown => !same,
            Answer::Conflict { .. } => known.is_some() && !same && !is_edit,
            Answer::ConflictInFlight => known.is_none(),
            Answer::NotFound | Answer::NotYours => is_edit,
            Answer::Accepted { .. }
            | Answer::Settled { .. }
            | Answer::Cancelling { .. }
            | Answer::Posted(_)
            | Answer::NoSuchStep
            | Answer::Outdated => false,
        };
        must(fair, || format!("I9: item {item} heard {answer:?}, and {known:?} is durable"))
    }

    fn judge_cancel_answer(&self, answer: &Answer) -> Verdict {
        match answer {
            Answer::Cancelling { handoff } => {
                let runs = self.store.records.get(handoff).is_some_and(|record| stands(record) == Stands::Running);
                must(runs, || format!("{handoff} is being cancelled and does not run"))
            }
            Answer::Settled { handoff, result } => {
                let saved = self.store.records.get(handoff).map(|record| &record.state);
                must(saved == Some(&State::Ended(result.clone())), || format!("I3: {handoff} has two results"))
            }
            Answer::Forgotten | Answer::NotFound | Answer::NotYours | Answer::Accepted { .. } => Ok(()),
            Answer::Busy(_)
            | Answer::Conflict { .. }
            | Answer::ConflictInFlight
            | Answer::Refused(_)
            | Answer::ShuttingDown
            | Answer::Posted(_)
            | Answer::NoSuchStep
            | Answer::Outdated => Err(format!("a cancel heard {answer:?}")),
        }
    }

    /// I3, I4, I5, I6: who starts, when, and with what.
    pub(crate) fn judge_start(&self, record: &HandoffRecord, permit: PermitId, joiners: &[Joiner]) -> Verdict {
        let id = record.id;
        must(!self.past.started.contains(&id), || format!("I3: {id} was started twice"))?;
        must(!self.past.read.contains(&id), || format!("I9: {id} was read by another run and starts"))?;
        let durable = self.store.records.get(&id).is_some_and(|saved| **saved == *record);
        let row = self.store.rows.get(&permit).is_some_and(|row| row.handoff == id);
        must(durable && row && stands(record) == Stands::Running, || format!("I5: {id} starts and is not durable"))?;
        must(!exceeds(record, self.standing()), || format!("I8: {id} starts with more than it may have"))?;
        let here = self.store.records.values().filter(|other| other.room == record.room);
        let mut waiting = here.filter(|other| stands(other) == Stands::Pending);
        let passed = waiting.find(|other| other.arrival < record.arrival);
        must(passed.is_none(), || format!("I6: {id} starts before {:?}", passed.map(|older| older.id)))?;
        let site = self.sites.iter().enumerate().find(|(room, _)| room_id(*room) == record.room);
        must(site.is_some_and(|(_, site)| site.closing == Closing::Open), || format!("{id} starts in a drained room"))?;
        let mut mine: Vec<_> = self.store.joiners(id).map(|joiner| (joiner.arrival, joiner.id)).collect();
        mine.sort_unstable();
        let handed: Vec<_> = joiners.iter().map(|joiner| joiner.handoff).collect();
        let right = mine.iter().map(|(_, joiner)| *joiner).eq(handed.iter().copied());
        must(right, || format!("I9: {id} starts with {handed:?} and has {mine:?}"))?;
        joiners.iter().try_for_each(|joiner| self.judge_wish(record, joiner))
    }

    /// A run that holds more than it may is being stopped once its room knows.
    pub(crate) fn judge_notice(&self, room: usize) -> Verdict {
        let here = self.runs.iter().filter(|run| run.room == room && run.truth == Truth::Alive && run.aborts == 0);
        let mut records = here.map(|run| &self.store.records[&run.handoff]);
        let kept = records.find(|record| exceeds(record, self.standing()));
        must(kept.is_none(), || format!("I8: {:?} goes on with what it lost", kept.map(|record| record.id)))
    }

    pub(crate) fn judge_steer(&self, run: RunId, joiner: &Joiner) -> Verdict {
        let record = self.store.records.values().find(|record| record.run == run).ok_or("no such run")?;
        let joined =
            self.store.records.get(&joiner.handoff).is_some_and(|j| j.state == State::Joined { target: record.id });
        must(joined, || format!("I2: {} steers and is not durable", joiner.handoff))?;
        let stopping = self.runs.iter().any(|other| other.id == run && other.aborts > 0);
        must(!stopping, || format!("{} joined a run that is being stopped", joiner.handoff))?;
        self.judge_wish(record, joiner)
    }

    /// I4: nobody's words take effect under more than they asked for and had.
    fn judge_wish(&self, target: &HandoffRecord, joiner: &Joiner) -> Verdict {
        let record = self.store.records.get(&joiner.handoff).ok_or("I2: a joiner without a record")?;
        must(record.request == joiner.text, || format!("I8: {} is handed other words", joiner.handoff))?;
        let most = record.wanted.unwrap_or(Plan::Owner).min(record.grant.plan);
        must(target.grant.plan <= most, || format!("I4: {} takes effect under a wider grant", joiner.handoff))
    }

    /// I9: read is absorbed, unread is owed, unknown has failed; revoked has failed although it replied.
    pub(crate) fn judge_end(&self, before: &Store, run: &Run) -> Verdict {
        let (old, new) = (&before.records[&run.handoff], &self.store.records[&run.handoff]);
        if stands(old) != Stands::Running {
            return Ok(());
        }
        must(!is_live(new), || format!("{} is not over after its run", new.id))?;
        if exceeds(old, self.standing()) {
            must(stands(new) == Stands::Failed, || format!("I8: {} was revoked and ended otherwise", new.id))?;
        }
        for joiner in before.joiners(run.handoff) {
            let now = &self.store.records[&joiner.id];
            let read = run.read.contains(&joiner.id);
            let right = match (run.truth, read, stands(now)) {
                (Truth::Settled, true, Stands::Absorbed) => matches!(stands(new), Stands::Completed | Stands::Waiting),
                (Truth::Settled, true, at @ (Stands::Failed | Stands::Cancelled)) => stands(new) == at,
                (Truth::Settled, false, Stands::Pending) => true,
                (Truth::Died, _, Stands::Failed | Stands::Cancelled) => !is_live(new),
                _ => false,
            };
            must(right, || format!("I9: joiner {} (read: {read}) of {:?} is {:?}", now.id, run.truth, now.state))?;
        }
        Ok(())
    }

    /// What a boot must make of each record that was live.
    pub(crate) fn judge_boot(&self, before: &Store) -> Verdict {
        must(self.store.rows.is_empty(), || "I5: a permit outlived a crash".into())?;
        let stale = |old: &HandoffRecord| self.now.since(old.created_at) > STALE_AFTER_MS;
        for (id, old) in &before.records {
            let new = &self.store.records[id];
            let right = match &old.state {
                State::Ended(_) => new.state == old.state,
                State::Running(_) => failed_with(new, FailCode::Interrupted),
                State::Pending if most(who(old), self.standing()).is_none() => {
                    failed_with(new, FailCode::SourceExpired)
                }
                State::Pending if old.class == Class::Fresh && stale(old) => failed_with(new, FailCode::Stale),
                State::Pending => new.state == State::Pending,
                State::Joined { target } => match (&before.records[target].state, &self.store.records[target].state) {
                    (State::Running(_), _) => failed_with(new, FailCode::Interrupted),
                    (_, State::Pending) => new.state == old.state,
                    _ if most(who(old), self.standing()).is_none() => failed_with(new, FailCode::SourceExpired),
                    _ if stale(old) => failed_with(new, FailCode::Stale),
                    _ => new.state == State::Pending,
                },
            };
            must(right, || format!("a boot made {:?} of {:?} ({id})", new.state, old.state))?;
        }
        Ok(())
    }

    /// I5: a process group that is there holds a permit, and so their number is bounded.
    pub(crate) fn judge_groups(&self) -> Verdict {
        for run in self.runs.iter().filter(|run| !run.group_is_gone()) {
            let rows = self.store.rows.values().filter(|row| row.run == run.id).count();
            must(rows == 1, || format!("I5: the group of {} is there with {rows} permits", run.id))?;
            if run.truth == Truth::Alive {
                self.judge_steering(run)?;
            }
        }
        Ok(())
    }

    /// A live run is given every joiner in the order they came, and asked for each that was cancelled.
    fn judge_steering(&self, run: &Run) -> Verdict {
        let mut joined = self.store.joiners(run.handoff);
        let kept_back = joined.find(|joiner| !run.given.contains(&joiner.id));
        must(kept_back.is_none(), || format!("I9: {kept_back:?} joined and was not handed over"))?;
        let arrivals = run.given.iter().map(|joiner| self.store.records[joiner].arrival);
        must(arrivals.is_sorted(), || format!("I6: {:?} were handed over out of order", run.given))?;
        let over = run.given.iter().filter(|joiner| !is_live(&self.store.records[*joiner]));
        let kept = over.filter(|joiner| !run.taken_back.contains(joiner)).count();
        must(kept == 0, || format!("a cancelled joiner was not taken back from {}", run.id))
    }

    /// I5 and liveness, whenever no message is under way between rooms and counts.
    pub(crate) fn judge_quiet(&self) -> Verdict {
        if !self.is_quiet() {
            return Ok(());
        }
        must(self.past.asked.is_empty(), || format!("nobody answers {:?}", self.past.asked))?;
        let pending = || self.store.records.values().filter(|record| stands(record) == Stands::Pending);
        let fresh = pending().filter(|record| record.class == Class::Fresh).count();
        let counts = self.global.counts();
        let counted = (counts.permits, counts.waiting, counts.owed);
        let durable = (self.store.rows.len(), fresh, pending().count() - fresh);
        must(counted == durable, || format!("I5: counted {counted:?}, durable {durable:?}"))?;
        if self.counts.draining == Draining::Yes {
            return Ok(());
        }
        for room in 0..self.script.rooms {
            let rows = self.store.rows.values().filter(|row| row.room == room_id(room)).count();
            let limits = &self.script.limits;
            let free = self.store.rows.len() < limits.running && rows < limits.running_per_room;
            let waits = pending().any(|record| record.room == room_id(room));
            must(!(free && waits), || format!("I5: a free permit while room {room} waits"))?;
        }
        if self.runs.is_empty() {
            let stuck = self.store.records.values().find(|record| is_live(record));
            must(stuck.is_none() && self.store.rows.is_empty(), || format!("I9: nothing moves {stuck:?}"))?;
            let idle = self.sites.iter().all(|site| site.room.is_idle());
            must(idle, || "a room holds on to something".into())?;
        }
        Ok(())
    }
}
