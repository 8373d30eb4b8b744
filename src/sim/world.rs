//! One simulated world: processes live and die over one disk, while people, owners and a chat go on.
//!
//! Each process has a runtime of its own, whose time is paused: it moves only when nothing else can
//! happen. A process that dies loses its runtime with every task in it, as a killed one does.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clankie_actors::store::Store;
use clankie_domain::ids::Malformed;
use tokio::runtime::Builder;

use super::cast::Cast;
use super::chat::Chat;
use super::dice::Dice;
use super::disk::{Disk, Fault};
use super::history::{Ending, Fact, History, Mail, What};
use super::observer::Read;
use super::owner::Owners;
use super::people::OnTheWay;
use super::plot::{Deed, Plot};
use super::ports::SimVault;
use super::scene::Scene;

mod deeds;
mod life;
mod over;

use life::{Life, until_cut};

/// Processes of one world at most: more than any plot ends.
const LIVES_MAX: u32 = 40;
/// How long a process may live in the world's time, which costs next to none of ours: far beyond every
/// plot. One that still lives waits for what never comes.
const LIFE_MAX: Duration = Duration::from_secs(7 * 86_400);
/// How long everything may take to settle once faults are over: 10 minutes.
const SETTLES_WITHIN_MS: u64 = 600_000;
/// How often it is looked whether everything is settled.
const LOOK_EVERY_MS: u64 = 10_000;

/// Why a world could not be played at all.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// A name of the cast is none.
    #[error("the cast: {0}")]
    Cast(#[from] Malformed),
    /// There is no runtime.
    #[error("no runtime: {0}")]
    Runtime(#[from] std::io::Error),
    /// A process waits for what never comes.
    #[error("life {0} does not end")]
    Endless(u32),
}

/// What outlives processes.
#[derive(Debug)]
pub(super) struct World {
    seed: u64,
    cast: Cast,
    plot: Plot,
    scene: Arc<Scene>,
    disk: Disk,
    chat: Arc<Chat>,
    vault: Arc<SimVault>,
    owners: Arc<Owners>,
    on_the_way: Arc<OnTheWay>,
    read: Arc<Mutex<Read>>,
    calm: Arc<AtomicBool>,
    breaks: Arc<AtomicU32>,
    dice: Dice,
    /// What configuration says.
    version: usize,
    lives: u32,
    storm: u32,
    calm_since: Option<u64>,
}

/// Plays the world of a seed to its end.
pub(super) fn play(seed: u64) -> Result<History, SimError> {
    let mut world = World::of(seed)?;
    while world.live()? != Ending::WorldOver && world.lives < LIVES_MAX {}
    let history = std::mem::take(&mut *world.scene.history());
    Ok(history)
}

impl World {
    fn of(seed: u64) -> Result<Self, SimError> {
        let cast = Cast::of(seed)?;
        let plot = Plot::of(seed, &cast)?;
        Ok(Self {
            seed,
            cast,
            plot,
            scene: Arc::new(Scene::new(History::default())),
            disk: Disk::default(),
            chat: Arc::default(),
            vault: Arc::default(),
            owners: Arc::default(),
            on_the_way: Arc::default(),
            read: Arc::default(),
            calm: Arc::default(),
            breaks: Arc::default(),
            dice: Dice::of(seed, "world"),
            version: 0,
            lives: 0,
            storm: 0,
            calm_since: None,
        })
    }

    /// One process, from its start to its end.
    fn live(&mut self) -> Result<Ending, SimError> {
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build()?;
        let ending = runtime.block_on(async { tokio::time::timeout(LIFE_MAX, self.one_life()).await });
        // What a dead process still writes while its parts are dropped reaches nobody.
        self.disk.end(&mut self.dice);
        drop(runtime);
        ending.map_err(|_| SimError::Endless(self.lives))
    }

    async fn one_life(&mut self) -> Ending {
        self.lives += 1;
        self.scene.on();
        self.scene.sleep(self.scene.now() % 2).await;
        self.scene.note(What::Born(self.lives, self.cast.limits));
        if self.lives == 1 {
            let policy = self.cast.policies.first().cloned().unwrap_or_default();
            self.scene.note(What::PolicyAsked(0, Arc::new(policy)));
        }
        self.take_up_what_was_lost();
        let ending = match Life::begin(self).await {
            Ok(life) => {
                let ending = self.go_on(&life).await;
                self.end(life, ending);
                ending
            }
            Err(ending) => ending,
        };
        self.scene.record(What::Over(ending));
        self.scene.off();
        ending
    }

    /// Whoever never heard an answer asks once more.
    fn take_up_what_was_lost(&mut self) {
        for (attempt, errand) in self.on_the_way.lost() {
            self.scene.note(What::Heard(attempt, None));
            self.scene.later(self.dice.span(100, 6_000), Deed::Hand(errand));
        }
        for (number, wish) in self.owners.lost() {
            if self.dice.percent(60) {
                self.scene.later(self.dice.span(100, 6_000), Deed::Again(Arc::new((number, wish))));
            }
        }
    }

    /// A process that ends in order closes its store; one that is killed does not.
    fn end(&self, life: Life, ending: Ending) {
        match ending {
            Ending::Stopped | Ending::Failed | Ending::WorldOver => life.store.close(),
            Ending::Cut | Ending::Killed => {}
        }
    }

    /// Does what comes until the process ends.
    async fn go_on(&mut self, life: &Life) -> Ending {
        let failed = life.clankie.failed();
        tokio::pin!(failed);
        loop {
            for (at, deed) in self.scene.take_later() {
                self.plot.add(at, deed);
            }
            let Some(next) = self.plot.next_at() else { return Ending::WorldOver };
            let rest = next.saturating_sub(self.scene.now());
            tokio::select! {
                biased;
                () = self.scene.woken.notified() => {
                    if !self.scene.is_on() {
                        return Ending::Cut;
                    }
                    continue;
                }
                _ = &mut failed => return if self.scene.is_on() { Ending::Failed } else { Ending::Cut },
                () = self.quiet(life, rest) => {}
            }
            if let Some(ending) = self.happens(life).await {
                return if self.scene.is_on() { ending } else { Ending::Cut };
            }
        }
    }

    /// Waits, and looks at the world at rest a moment before the wait is over.
    async fn quiet(&self, life: &Life, rest: u64) {
        let Some(before) = rest.checked_sub(1) else { return };
        tokio::time::sleep(Duration::from_millis(before)).await;
        life.look_at_rest(&self.scene, &self.read);
        tokio::time::sleep(Duration::from_millis(1)).await;
    }

    /// What happens next; how the process ends, if it does.
    async fn happens(&mut self, life: &Life) -> Option<Ending> {
        match self.plot.take()? {
            Deed::Kill => Some(Ending::Killed),
            Deed::Stop => life.stop(&self.scene, self.dice.span(0, 4_000)).await,
            Deed::Arm(calls, fault) => {
                self.disk.arm(calls, fault);
                None
            }
            Deed::Storm(many) => {
                self.storm = many;
                Some(Ending::Killed)
            }
            Deed::Settled if self.is_over(&life.store) => {
                self.last(life);
                Some(Ending::WorldOver)
            }
            Deed::Settled => {
                self.plot.add(self.scene.now() + LOOK_EVERY_MS, Deed::Settled);
                None
            }
            deed @ (Deed::Hand(_)
            | Deed::Halt(_)
            | Deed::Retract(_)
            | Deed::Resume(_)
            | Deed::Look
            | Deed::Rush
            | Deed::Again(_)
            | Deed::Repost
            | Deed::Reload
            | Deed::Unpair
            | Deed::CutLane
            | Deed::Jump(_)
            | Deed::Break
            | Deed::Calm) => {
                // Whatever waits for an outside without power waits for ever.
                let scene = Arc::clone(&self.scene);
                tokio::select! {
                    biased;
                    () = self.does(deed, life) => {}
                    () = until_cut(&scene) => {}
                }
                None
            }
        }
    }

    /// In a storm a process has only a moment.
    fn storm(&mut self) {
        let Some(left) = self.storm.checked_sub(1) else { return };
        self.storm = left;
        if self.dice.percent(70) {
            self.disk.arm(self.dice.between(1, 60), Fault::Cut);
        } else {
            self.plot.add(self.scene.now() + self.dice.span(0, 400), Deed::Kill);
        }
    }

    /// Whether nothing is left to be done, or the time for it is over.
    fn is_over(&self, store: &Store) -> bool {
        let late = self.calm_since.is_some_and(|since| self.scene.now() >= since + SETTLES_WITHIN_MS);
        late || (self.plot.next_at().is_none() && over::is_settled(store))
    }

    /// Every secret that was answered with.
    fn secrets(&self) -> Vec<String> {
        let of = |fact: &Fact| {
            let What::Mail(Mail::Secret(_, text)) = &fact.what else { return None };
            Some(text.clone())
        };
        let all: BTreeSet<String> = self.scene.history().facts().iter().filter_map(of).collect();
        all.into_iter().collect()
    }
}
