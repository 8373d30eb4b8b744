//! The checks: a look while the load goes on, and a rest in which everything is judged.

use std::time::{Duration, Instant};

use anyhow::bail;
use futures::future::join_all;
use futures::stream::{self, StreamExt};

use super::Rounds;
use super::mail::Which;
use crate::api::{Answer, Api, Record, Trouble};
use crate::checker::settled::Settled;
use crate::checker::tracker::{RUNNING, running};
use crate::history::{Key, Verb};
use crate::load::{attempt, full_room, key_of};
use crate::model::Pace;
use crate::words::Manner;

/// Earlier deliveries that one look asks for again.
const SAMPLE: usize = 24;
/// The newest of them, which the last kill may have touched.
const RECENT: usize = 200;
/// Records of one page.
const PAGE: usize = 200;
/// How long everything may take to come to rest: a full queue of slow work, many times over.
pub(super) const REST_WITHIN: Duration = Duration::from_secs(60);
/// How often a resting service is asked whether it rests.
const ASK_EVERY: Duration = Duration::from_millis(15);
/// Retries that are on their way at the same time.
const ABREAST: usize = 12;
/// What a log line of a broken service holds.
const BROKEN: [&str; 3] = ["panicked at", "is started again", "admission died"];

impl Rounds {
    /// Judges what can be judged while clients talk.
    pub(super) async fn look(&mut self, before: usize, name: &str) -> anyhow::Result<()> {
        let (began, api) = (Instant::now(), self.api()?);
        if !matches!(api.is_ready().await, Ok(true)) {
            self.wrong("readyz", format!("{name}: it is not ready"));
        }
        self.read(&api, self.read_to.clone()).await;
        self.acknowledged(&api).await;
        self.sample(&api).await;
        self.log();
        self.round(before, name, began);
        Ok(())
    }

    /// Brings everything to rest and judges it; then goes on in fresh rooms.
    pub(super) async fn rest(&mut self, name: &str, which: Which) -> anyhow::Result<()> {
        let (before, began) = (self.violations(), Instant::now());
        let world = std::sync::Arc::clone(&self.world);
        let resting = world.gate.write().await;
        let api = self.api()?;
        self.world.model.pace(Pace::Hurried);
        self.make_known(&api).await;
        self.make_calls_known(&api).await;
        self.until_nothing_lives(&api).await?;
        self.permits(&api).await;
        self.read(&api, self.judged_to.clone()).await;
        let lists = self.lists(&api, which).await;
        {
            let tracker = world.tracker.lock().await;
            self.judge_mail(&tracker, &lists).await;
            let settled = Settled::new(&self.world.history, &tracker, self.world.model.runs());
            self.tally.ends = settled.judge();
            for room in self.world.rooms() {
                match api.messages(&room).await {
                    Ok(messages) => settled.heard(&room, &messages),
                    Err(trouble) => self.wrong("contract", format!("messages of {room}: {trouble:?}")),
                }
            }
            self.judged_to = tracker.records().map(|record| record.id.clone()).max();
        }
        for stray in self.world.model.strays() {
            self.wrong("a run's own words", format!("a conversation about {stray} holds words of no run"));
        }
        self.log();
        self.world.model.pace(Pace::Usual);
        self.world.next_rooms();
        drop(resting);
        self.round(before, name, began);
        Ok(())
    }

    /// Asks for every saved result; none may differ, and the model may not be called.
    pub(super) async fn compare_all(&mut self, name: &str) -> anyhow::Result<()> {
        let (before, began) = (self.violations(), Instant::now());
        let world = std::sync::Arc::clone(&self.world);
        let resting = world.gate.write().await;
        let (api, calls) = (self.api()?, self.world.model.calls());
        let asked = self.every_saved().await;
        self.world.history.compared(asked.len());
        let answers = stream::iter(asked).map(|(key, verb, id)| {
            let (world, api) = (&world, &api);
            async move {
                let answer = attempt(world, api, &key, verb).await;
                (key, verb, id, answer)
            }
        });
        let answers: Vec<_> = answers.buffer_unordered(ABREAST).collect().await;
        for (key, verb, id, answer) in answers {
            let fine = matches!(&answer, Answer::Settled { handoff, .. } if *handoff == id);
            if !fine {
                let what = format!("{verb:?} should give the result of {id}: {}", answer.brief());
                self.world.history.violation("I3 saved results are shared", what, Some(&key));
            }
        }
        if self.world.model.calls() != calls {
            self.wrong("I3 a retry calls no model", format!("{} calls", self.world.model.calls() - calls));
        }
        drop(resting);
        self.round(before, name, began);
        Ok(())
    }

    /// For every record, the attempt that made it what it is.
    async fn every_saved(&self) -> Vec<(Key, Verb, String)> {
        let tracker = self.world.tracker.lock().await;
        let one = |record: &Record| {
            let (key, _) = key_of(&record.room, &record.request)?;
            let delivery = self.world.history.delivery(&key)?;
            let (words, late) = match record.request.strip_prefix("(edited) ") {
                Some(words) => (words, true),
                None => (record.request.as_str(), false),
            };
            let number = delivery.texts.iter().position(|text| text == words)?;
            let verb = if late { Verb::Put(number) } else { Verb::Post(number) };
            Some((key, verb, record.id.clone()))
        };
        tracker.records().filter_map(one).collect()
    }

    /// Makes every attempt whose outcome is unknown again, until none is left.
    async fn make_known(&mut self, api: &Api) {
        let began = Instant::now();
        loop {
            let unknown = self.world.history.unknown();
            if unknown.is_empty() {
                return;
            }
            if began.elapsed() > REST_WITHIN {
                return self.wrong("a retry is answered", format!("{} are not", unknown.len()));
            }
            let tries = unknown.iter().map(|(key, verb)| attempt(&self.world, api, key, *verb));
            stream::iter(tries).buffer_unordered(ABREAST).collect::<Vec<_>>().await;
        }
    }

    /// A service that does not come to rest ends the run: nothing later could be judged.
    pub(super) async fn until_nothing_lives(&mut self, api: &Api) -> anyhow::Result<()> {
        let began = Instant::now();
        while !self.nothing_lives(api).await {
            if began.elapsed() > REST_WITHIN {
                self.wrong("I9 everything ends", "something lives though nobody talks".to_owned());
                bail!("the service does not come to rest");
            }
            tokio::time::sleep(ASK_EVERY).await;
        }
        Ok(())
    }

    async fn nothing_lives(&mut self, api: &Api) -> bool {
        let (pending, joined) =
            (api.handoffs("state=pending&limit=1").await, api.handoffs("state=joined&limit=1").await);
        match (pending, joined) {
            (Ok(pending), Ok(joined)) => {
                let counts = &pending.counts;
                counts.running + counts.waiting + counts.owed == 0 && joined.handoffs.is_empty()
            }
            (Err(trouble), _) | (_, Err(trouble)) => {
                self.trouble("handoffs", &trouble);
                false
            }
        }
    }

    /// No permit leaked: as many as ever run at once again, and one more waits.
    async fn permits(&mut self, api: &Api) {
        let rooms = self.world.rooms();
        for (person, room) in [(101, 0), (102, 0), (103, 1), (104, 1), (105, 2)] {
            let key = Key { room: rooms[room].clone(), delivery: format!("d{}", self.world.number()) };
            self.world.history.open(&key, &format!("u:{person}"), Manner::Hold);
            attempt(&self.world, api, &key, Verb::Post(0)).await;
        }
        let began = Instant::now();
        loop {
            let Ok(page) = api.handoffs("state=running&limit=100").await else {
                return self.wrong("contract", "running handoffs are not listed".to_owned());
            };
            running(&page.handoffs, &page.counts, &self.world.history);
            if page.counts.running == RUNNING {
                break;
            }
            if began.elapsed() > REST_WITHIN / 4 {
                self.wrong("I5 no permit leaks", format!("only {:?} though five are asked for", page.counts));
                break;
            }
            tokio::time::sleep(ASK_EVERY).await;
        }
        let began = Instant::now();
        while !self.nothing_lives(api).await && began.elapsed() < REST_WITHIN {
            self.world.model.let_go();
            tokio::time::sleep(ASK_EVERY).await;
        }
    }

    /// Reads every record that is newer than `known`, and what lived when it was last read.
    async fn read(&mut self, api: &Api, known: Option<String>) {
        let mut before = String::new();
        loop {
            let Some(last) = self.page(api, &format!("limit={PAGE}{before}")).await else { break };
            if known.as_ref().is_some_and(|known| last <= *known) {
                break;
            }
            before = format!("&before={last}");
        }
        for state in ["running", "pending", "joined"] {
            self.page(api, &format!("state={state}&limit=1000")).await;
        }
        // What is in no list of the living any more has ended since it was last read.
        let (life, history) = (api.at.life, &self.world.history);
        let live = self.world.tracker.lock().await.live_before(life);
        let reads = stream::iter(live).map(|id| async move { (api.handoff(&id).await, id) });
        let reads: Vec<_> = reads.buffer_unordered(ABREAST).collect().await;
        let mut tracker = self.world.tracker.lock().await;
        for (read, id) in reads {
            match read {
                Ok(record) => tracker.read(record, life, history),
                Err(trouble) => self.trouble(&id, &trouble),
            }
        }
        self.read_to = tracker.newest();
    }

    /// Reads one page; its oldest id when there may be another.
    async fn page(&self, api: &Api, query: &str) -> Option<String> {
        let page = match api.handoffs(query).await {
            Ok(page) => page,
            Err(trouble) => {
                self.trouble(query, &trouble);
                return None;
            }
        };
        let last = page.handoffs.last().map(|record| record.id.clone()).filter(|_| page.handoffs.len() == PAGE);
        let mut tracker = self.world.tracker.lock().await;
        for record in page.handoffs {
            tracker.read(record, api.at.life, &self.world.history);
        }
        last
    }

    /// Every delivery that was acknowledged since the last look is known under its own key.
    async fn acknowledged(&mut self, api: &Api) {
        let new = self.world.history.acknowledged_from(self.looked_to);
        self.looked_to += new.len();
        for (key, delivery) in new {
            let Some(handoff) = delivery.handoff else { continue };
            let known = {
                let tracker = self.world.tracker.lock().await;
                tracker.of(&full_room(&key.room), &key.delivery).is_some_and(|record| record.id == handoff)
            };
            if known {
                continue;
            }
            match api.handoff(&handoff).await {
                Ok(record) => self.world.tracker.lock().await.read(record, api.at.life, &self.world.history),
                Err(Trouble::Gone) => return,
                Err(Trouble::Wrong(what)) => {
                    let what = format!("{handoff} was acknowledged: {what}");
                    self.world.history.violation("I2 nothing acknowledged is lost", what, Some(&key));
                }
            }
        }
    }

    /// Asks again for some deliveries, mostly recent ones; what is over must give what was saved.
    async fn sample(&mut self, api: &Api) {
        let known = self.world.history.acknowledged();
        let mut picked = Vec::new();
        for _ in 0..SAMPLE.min(known) {
            let oldest = if self.rng.chance(70) { known.saturating_sub(RECENT) } else { 0 };
            let number = self.rng.between(oldest as u64, known as u64 - 1);
            picked.extend(usize::try_from(number).ok().and_then(|number| self.world.history.acknowledged_at(number)));
        }
        picked.retain(|(_, delivery)| delivery.texts.len() == 1);
        self.world.history.compared(picked.len());
        let tries = picked.iter().map(|(key, _)| attempt(&self.world, api, key, Verb::Post(0)));
        join_all(tries).await;
    }

    /// No part of the service broke.
    fn log(&mut self) {
        let Ok(bytes) = std::fs::read(self.service.log()) else { return };
        let new = String::from_utf8_lossy(bytes.get(self.log_read..).unwrap_or_default()).into_owned();
        self.log_read = bytes.len();
        for line in new.lines().filter(|line| BROKEN.iter().any(|sign| line.contains(sign))) {
            self.wrong("nothing breaks inside", line.to_owned());
        }
    }

    fn trouble(&self, what: &str, trouble: &Trouble) {
        self.wrong("it answers", format!("{what}: {trouble:?}"));
    }

    pub(super) fn wrong(&self, rule: &'static str, what: String) {
        self.world.history.violation(rule, what, None);
    }
}
