//! How a world moves: one act, one next state, judged on the way.

use std::sync::OnceLock;

use clankie_domain::admission::FromGlobal;
use clankie_domain::admission::STALE_AFTER_MS;
use clankie_domain::admission::global::Global;
use clankie_domain::admission::recover::{Found, Recovery, recover};
use clankie_domain::admission::room::{Context, Effect, Room, RoomInput, Which};
use clankie_domain::grant::Authority;
use clankie_domain::handoff::HandoffRecord;
use clankie_domain::ids::{Caller, RunId, Ticket};

use crate::counts::{Counts, Draining};
use crate::digest::Part;
use crate::run::{Order, Report, Run};
use crate::script::{Outage, Standing, TRIES, authority, minted, most, room_id};
use crate::store::{Stands, Store, Verdict, is_live, must, stands};
use crate::world::{Act, Closing, Past, Site, Told, World};

/// The authority of a standing, made once.
pub(crate) fn in_force(standing: Standing) -> &'static Authority {
    static ALL: OnceLock<Vec<Authority>> = OnceLock::new();
    let every = [Standing::Full, Standing::Narrow, Standing::Revoked, Standing::Unsteered];
    &ALL.get_or_init(|| every.into_iter().map(authority).collect())[standing as usize]
}

impl World {
    /// The world after `act`, or which invariant it broke.
    pub(crate) fn after(&self, act: Act) -> Result<Self, String> {
        let mut next = self.clone();
        next.take(act)?;
        next.runs.retain(|run| !run.is_over());
        next.judge_groups()?;
        next.judge_quiet()?;
        Ok(next)
    }

    fn take(&mut self, act: Act) -> Verdict {
        match act {
            Act::Say(item) => self.say(item),
            Act::Edit(item) => self.edit(item),
            Act::Cancel(item) => self.cancel(item),
            Act::ToGlobal(room) => self.carry_up(room),
            Act::ToRoom(room) => self.carry_down(room),
            Act::Order(n) => self.on_run(n, Run::take_order),
            Act::Ready(n) => self.on_run(n, Run::become_ready),
            Act::Read(n) => self.on_run(n, Run::read_one),
            Act::End(n, ending) => self.on_run(n, |run| run.end(ending)),
            Act::Obey(n) => self.on_run(n, Run::obey),
            Act::GraceOver(n) => self.on_run(n, Run::grace_over),
            Act::GroupGone(n) => self.on_run(n, |run| {
                run.go();
                Ok(())
            }),
            Act::Report(n) => self.report(n),
            Act::Switch => {
                self.switched += 1;
                (0..self.sites.len()).for_each(|room| self.on_site(room, |site| site.told = Told::NotYet));
                Ok(())
            }
            Act::Notice(room) => {
                self.on_site(room, |site| site.told = Told::Yes);
                self.decide(room, RoomInput::AuthorityChanged)?;
                self.judge_notice(room)
            }
            Act::Crash => self.crash(),
            Act::Drain => {
                let mut global = Global::clone(&self.global);
                global.drain();
                self.global = Part::new(global);
                self.drains += 1;
                self.counts.draining = Draining::Yes;
                Ok(())
            }
            Act::DrainRoom(room) => {
                self.on_site(room, |site| site.closing = Closing::Drained);
                self.decide(room, RoomInput::Drain)
            }
            Act::StopRoom(room) => {
                self.on_site(room, |site| site.closing = Closing::Stopped);
                self.decide(room, RoomInput::StopRuns)
            }
        }
    }

    /// Uses an item up once; gives the number that its try and its caller go by.
    fn use_item(&mut self, item: usize) -> (usize, Caller) {
        let nth = usize::from(self.tried[item]);
        self.left[item] -= 1;
        self.tried[item] += 1;
        let caller = (item * TRIES + nth) as u64;
        self.on_past(|past| past.asked.insert(caller, item));
        (nth, Caller(caller))
    }

    fn say(&mut self, item: usize) -> Verdict {
        let (nth, caller) = self.use_item(item);
        let submission = self.script.submission(item, nth);
        let room = self.script.words[item].room;
        let known = self.store.receipt(room, &submission.request.delivery);
        let joins = self.must_join(item);
        let own = submission.minted.handoff;
        self.speaking = Some(caller.0);
        self.decide(room, RoomInput::Submit { submission, known, caller })?;
        self.speaking = None;
        let heard = !self.past.asked.contains_key(&caller.0);
        let refused = most(self.script.words[item].who, self.standing()).is_none();
        must(heard || !refused, || format!("item {item} may not speak and was not refused at once"))?;
        let joined = self.store.records.get(&own).is_some_and(|record| stands(record) == Stands::Joined);
        must(joined || !joins, || format!("{own} could join and did not"))
    }

    fn edit(&mut self, item: usize) -> Verdict {
        let (nth, caller) = self.use_item(item);
        let submission = self.script.submission(item, nth);
        let room = self.script.said(item).0.room;
        let known = self.store.receipt(room, &submission.request.delivery);
        let known_edit = self.store.receipt(room, &self.script.keys(item)[0]);
        self.decide(room, RoomInput::Edit { submission, known, known_edit, caller })
    }

    fn cancel(&mut self, item: usize) -> Verdict {
        let (_, caller) = self.use_item(item);
        let cancel = &self.script.cancels[item - self.script.words.len() - self.script.edits.len()];
        let (room, by) = (self.script.words[cancel.words].room, cancel.by.clone());
        let delivery = self.script.keys(cancel.words).remove(0);
        let known = self.store.receipt(room, &delivery);
        self.decide(room, RoomInput::Cancel { which: Which::Delivery(delivery), by, known, caller })
    }

    fn carry_up(&mut self, room: usize) -> Verdict {
        let Some(message) = self.on_site(room, |site| site.up.pop_front()) else { return Ok(()) };
        let mut global = Global::clone(&self.global);
        let posts = global.handle(&room_id(room), message.clone(), self.now);
        self.global = Part::new(global);
        self.counts.judge(room, &message, &posts)?;
        for post in posts {
            self.post(&post.room, post.message);
        }
        Ok(())
    }

    fn post(&mut self, to: &clankie_domain::ids::RoomId, message: FromGlobal) {
        if let Some(room) = (0..self.sites.len()).find(|room| room_id(*room) == *to) {
            self.on_site(room, |site| site.down.push_back(message));
        }
    }

    fn carry_down(&mut self, room: usize) -> Verdict {
        match self.on_site(room, |site| site.down.pop_front()) {
            Some(message) => self.decide(room, RoomInput::Global(message)),
            None => Ok(()),
        }
    }

    fn report(&mut self, n: usize) -> Verdict {
        let mut run = Run::clone(&self.runs[n]);
        let Some(report) = run.reports.pop_front() else { return Ok(()) };
        let (id, room) = (run.id, run.room);
        self.runs[n] = Part::new(run);
        match report {
            Report::Ready => self.decide(room, RoomInput::Ready(id)),
            Report::Gone => self.decide(room, RoomInput::Gone(id)),
            Report::Ended(end) => {
                let (before, run) = (self.store.clone(), self.runs[n].clone());
                self.on_past(|past| past.read.extend(run.read.iter().copied()));
                self.decide(room, RoomInput::Ended(id, end))?;
                self.judge_end(&before, &run)
            }
        }
    }

    /// Read, commit, act: the room decides, the changes become durable, the effects follow.
    fn decide(&mut self, room: usize, input: RoomInput) -> Verdict {
        let ctx = Context { now: self.now, authority: in_force(self.standing()) };
        let decision = self.sites[room].room.decide(input, ctx).map_err(|illegal| format!("I7: {illegal}"))?;
        self.commit(&decision.changes)?;
        self.on_site(room, |site| site.room = Part::new(decision.next));
        decision.effects.into_iter().try_for_each(|effect| self.follow(room, effect))
    }

    fn commit(&mut self, changes: &[clankie_domain::admission::Change]) -> Verdict {
        if changes.is_empty() {
            return Ok(());
        }
        let mut store = Store::clone(&self.store);
        store.commit(changes, &self.script, &self.past.dead)?;
        self.store = Part::new(store);
        Ok(())
    }

    fn follow(&mut self, room: usize, effect: Effect) -> Verdict {
        match effect {
            Effect::Global(message) => {
                self.on_site(room, |site| site.up.push_back(message));
                Ok(())
            }
            Effect::Reply(caller, answer) => self.judge_answer(caller, &answer),
            Effect::StartRun { record, permit, joiners } => {
                self.judge_start(&record, permit, &joiners)?;
                self.on_past(|past| past.started.insert(record.id));
                self.runs.push(Part::new(Run::new(record.run, room, record.id, joiners)));
                self.runs.sort_by_key(|run| run.id);
                Ok(())
            }
            Effect::Steer(run, joiner) => {
                self.judge_steer(run, &joiner)?;
                self.order(run, Order::Hand(joiner))
            }
            Effect::CancelSteer(run, handoff) => self.order(run, Order::TakeBack(handoff)),
            Effect::Abort(run, why) => self.order(run, Order::Abort(why)),
            // No room of a small world lives elsewhere.
            Effect::ClaimMoved(claim) => Err(format!("no ask was made, and {} is answered", claim.request)),
            Effect::Deliver(record) => Err(format!("{} is to be posted", record.id)),
            Effect::ResultReady(handoff) => {
                let over = self.store.records.get(&handoff).is_some_and(|record| !is_live(record));
                must(over, || format!("I2: the result of {handoff} was told before it was durable"))
            }
        }
    }

    fn order(&mut self, run: RunId, order: Order) -> Verdict {
        let n = self.runs.iter().position(|other| other.id == run).ok_or("an order to no run")?;
        self.on_run(n, |run| {
            run.order(order);
            Ok(())
        })
    }

    /// Everything in memory and under way is lost; the durable map stays.
    fn crash(&mut self) -> Verdict {
        self.crashes += 1;
        if self.script.outage == Outage::Long {
            self.now = self.now.plus(STALE_AFTER_MS + 1);
        }
        let before = self.store.clone();
        let recovery = self.recovery()?;
        self.commit(&recovery.changes)?;
        self.judge_boot(&before)?;
        let again = self.recovery()?;
        must(again.changes.is_empty(), || format!("a second boot changes {:?}", again.changes))?;
        self.boot(recovery)
    }

    fn recovery(&self) -> Result<Recovery, String> {
        let live = self.store.records.values().filter(|record| is_live(record));
        let records = live.map(|record| HandoffRecord::clone(record)).collect();
        let found = Found { records, permits: self.store.rows.keys().copied().collect(), ..Found::default() };
        let first = 1_000_000 * u64::from(self.crashes);
        let authority = in_force(self.standing());
        recover(found, authority, self.now, &mut (first..).map(Ticket)).map_err(|illegal| format!("I7: {illegal}"))
    }

    fn boot(&mut self, mut recovery: Recovery) -> Verdict {
        let room_of = |id: &clankie_domain::ids::RoomId| (0..self.script.rooms).find(|n| room_id(*n) == *id);
        let places = recovery.places.iter();
        let places =
            places.filter_map(|(at, ticket, actor, ..)| Some((*ticket, (room_of(at)?, actor.clone())))).collect();
        let mut global = Global::new(self.script.limits);
        let posts = global.recover(std::mem::take(&mut recovery.places));
        self.global = Part::new(global);
        self.counts = Counts::new(self.script.limits, self.script.rooms);
        self.counts.judge_boot(places, &posts)?;
        for room in 0..self.sites.len() {
            let id = room_id(room);
            self.sites[room] = Part::new(Site::new(recovery.rooms.remove(&id).unwrap_or_else(|| Room::new(id))));
        }
        for post in posts {
            self.post(&post.room, post.message);
        }
        self.runs.clear();
        let lost = std::mem::take(&mut Past::clone(&self.past).asked);
        let lost = lost.into_keys().map(|caller| minted(usize::try_from(caller).unwrap()).handoff);
        self.on_past(|past| {
            past.dead.extend(lost);
            past.asked.clear();
        });
        Ok(())
    }

    fn on_site<T>(&mut self, room: usize, change: impl FnOnce(&mut Site) -> T) -> T {
        let mut site = Site::clone(&self.sites[room]);
        let out = change(&mut site);
        self.sites[room] = Part::new(site);
        out
    }

    fn on_run(&mut self, n: usize, change: impl FnOnce(&mut Run) -> Verdict) -> Verdict {
        let mut run = Run::clone(&self.runs[n]);
        change(&mut run)?;
        self.runs[n] = Part::new(run);
        Ok(())
    }

    pub(crate) fn on_past<T>(&mut self, change: impl FnOnce(&mut Past) -> T) -> T {
        let mut past = Past::clone(&self.past);
        let out = change(&mut past);
        self.past = Part::new(past);
        out
    }
}
