//! The two phases: kills at random moments, and one crash at every fail-point; checks after each.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::json;

use self::mail::Which;
use crate::api::Api;
use crate::load::crowd;
use crate::model::Pace;
use crate::points::{Nudge, POINTS, Point, SIDES};
use crate::rng::Rng;
use crate::service::{Service, Started, aborted};
use crate::world::World;

mod check;
pub(crate) mod mail;

/// How long the load may take to reach a fail-point.
const REACHED_WITHIN: Duration = Duration::from_secs(12);
/// Kills between two times that everything is brought to rest.
const KILLS_BETWEEN_RESTS: usize = 10;

/// Kills between two crowds.
const KILLS_BETWEEN_CROWDS: usize = 4;
/// Fail-points between two such times.
const POINTS_BETWEEN_RESTS: usize = 4;

/// A run in progress.
#[derive(Debug)]
pub(crate) struct Rounds {
    pub(crate) world: Arc<World>,
    pub(crate) service: Service,
    pub(crate) rng: Rng,
    pub(crate) tally: Tally,
    /// The newest record at the last rest: everything older was judged.
    judged_to: Option<String>,
    /// The newest record at the last look: everything older was read at least once.
    read_to: Option<String>,
    /// Acknowledged deliveries before this one were looked for.
    looked_to: usize,
    log_read: usize,
}

/// What the run came to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    pub(crate) kills: usize,
    pub(crate) points_hit: usize,
    pub(crate) not_reached: Vec<String>,
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) slowest_start: Duration,
    pub(crate) last_start: Duration,
    pub(crate) starts: Duration,
    pub(crate) ready: u32,
    pub(crate) ends: crate::checker::settled::Ends,
    pub(crate) mail: crate::checker::mailbox::MailEnds,
}

impl Rounds {
    /// A run that begins with a living service.
    pub(crate) fn new(world: Arc<World>, service: Service) -> Self {
        let rng = Rng::new(world.seed, 0xD81);
        Self { world, service, rng, tally: Tally::default(), judged_to: None, read_to: None, looked_to: 0, log_read: 0 }
    }

    /// Kills the service that many times at random moments.
    pub(crate) async fn kills(&mut self, many: usize) -> anyhow::Result<()> {
        for kill in 1..=many {
            let before = self.violations();
            if kill % KILLS_BETWEEN_CROWDS == 0 {
                crowd(&self.world);
            }
            self.moment(20, 700).await;
            self.kill()?;
            if self.rng.chance(12) {
                self.service.spawn(None)?;
                self.moment(0, 120).await;
                self.kill()?;
            }
            self.restart().await?;
            self.look(before, &format!("kill {kill}")).await?;
            if kill % KILLS_BETWEEN_RESTS == 0 || kill == many {
                self.rest(&format!("rest after kill {kill}"), Which::Touched).await?;
            }
        }
        Ok(())
    }

    /// Crashes the service once at each side of each fail-point.
    pub(crate) async fn points(&mut self) -> anyhow::Result<()> {
        for (at, point) in POINTS.into_iter().enumerate() {
            for side in SIDES {
                let before = self.violations();
                let name = format!("{}.{side}", point.name);
                self.point(point, &name).await?;
                self.restart().await?;
                self.look(before, &name).await?;
            }
            if (at + 1) % POINTS_BETWEEN_RESTS == 0 {
                self.rest(&format!("rest after {}", point.name), Which::Touched).await?;
            }
        }
        Ok(())
    }

    /// Everything is at rest, is judged as a whole, and is asked for again before and after a restart.
    pub(crate) async fn finish(&mut self) -> anyhow::Result<()> {
        self.world.over.send_replace(true);
        self.judged_to = None;
        self.rest("rest at the end", Which::All).await?;
        self.compare_all("every saved result again").await?;
        self.kill()?;
        self.no_secret_is_kept()?;
        self.restart().await?;
        self.compare_all("every saved result after another restart").await
    }

    async fn point(&mut self, point: Point, name: &str) -> anyhow::Result<()> {
        let world = Arc::clone(&self.world);
        let quiet = match point.nudge {
            Nudge::Quiet => Some(world.gate.write().await),
            Nudge::Load
            | Nudge::Hurry
            | Nudge::Boot
            | Nudge::TokenCreate
            | Nudge::TokenRevoke
            | Nudge::TokenRotate
            | Nudge::DeviceApprove
            | Nudge::Reload => None,
        };
        if quiet.is_some() {
            let api = self.api()?;
            self.until_nothing_lives(&api).await?;
        } else {
            self.moment(60, 200).await;
        }
        if point.nudge == Nudge::Boot {
            self.until_something_runs().await?;
        }
        self.kill()?;
        let passes = self.rng.between(0, point.passes);
        let term = if passes == 0 { format!("{name}=return") } else { format!("{name}={passes}*off->return") };
        let ended = match self.service.start(Some(&term)).await? {
            Started::Ended(status) => Some(status),
            Started::Ready(_) => {
                drop(quiet);
                self.nudge(point.nudge).await?;
                let ended = self.service.end(REACHED_WITHIN).await;
                self.world.model.pace(Pace::Usual);
                ended?
            }
        };
        match ended {
            Some(status) if aborted(status) => self.tally.points_hit += 1,
            Some(status) => {
                self.world.history.violation("only fail-points end it", format!("{name}: {status}"), None);
            }
            None => {
                self.world.history.violation("every fail-point is reached", name.to_owned(), None);
                self.tally.not_reached.push(name.to_owned());
                self.kill()?;
            }
        }
        Ok(())
    }

    /// A start recovers only what lived.
    async fn until_something_runs(&mut self) -> anyhow::Result<()> {
        let (api, began) = (self.api()?, Instant::now());
        while began.elapsed() < REACHED_WITHIN {
            let running = api.handoffs("state=running&limit=1").await;
            if running.is_ok_and(|page| page.counts.running > 1) {
                break;
            }
            self.moment(5, 15).await;
        }
        Ok(())
    }

    async fn nudge(&mut self, nudge: Nudge) -> anyhow::Result<()> {
        let api = self.api()?;
        let fresh = format!("spare-{}", self.world.number());
        let create = json!({ "schema_version": 1, "op": "token_create", "kind": "captain", "name": fresh });
        // The service dies in the middle of these, so an answer may be missing; the rest is judged later.
        match nudge {
            Nudge::Load | Nudge::Quiet | Nudge::Boot => {}
            Nudge::Hurry => self.world.model.pace(Pace::Hurried),
            Nudge::TokenCreate => drop(api.dispatch(create).await),
            Nudge::TokenRevoke | Nudge::TokenRotate => {
                let op = if nudge == Nudge::TokenRevoke { "token_revoke" } else { "token_rotate" };
                let Ok(made) = api.dispatch(create).await else { return Ok(()) };
                let id = made["token"]["id"].clone();
                drop(api.dispatch(json!({ "schema_version": 1, "op": op, "id": id })).await);
            }
            Nudge::DeviceApprove => drop(api.pair().await),
            Nudge::Reload => {
                self.service.configure(self.world.number())?;
                drop(api.dispatch(json!({ "schema_version": 1, "op": "config_reload" })).await);
            }
        }
        Ok(())
    }

    fn kill(&mut self) -> anyhow::Result<()> {
        self.service.kill()?;
        self.tally.kills += 1;
        Ok(())
    }

    async fn restart(&mut self) -> anyhow::Result<()> {
        match self.service.start(None).await? {
            Started::Ready(took) => {
                self.tally.last_start = took;
                self.tally.slowest_start = self.tally.slowest_start.max(took);
                self.tally.starts += took;
                self.tally.ready += 1;
                Ok(())
            }
            Started::Ended(status) => {
                bail!("the service ended at its start: {status}; its log is {}", self.service.log().display())
            }
        }
    }

    /// A random time during which the load goes on.
    async fn moment(&mut self, low: u64, high: u64) {
        tokio::time::sleep(Duration::from_millis(self.rng.between(low, high))).await;
    }

    fn api(&self) -> anyhow::Result<Api> {
        self.world.api().context("the service is not there")
    }

    fn violations(&self) -> usize {
        self.world.history.counts().violations
    }

    /// A check round is over: it passed when nothing was broken since `before`.
    fn round(&mut self, before: usize, name: &str, began: Instant) {
        let broken = self.violations() - before;
        let took = began.elapsed().as_millis();
        if broken == 0 {
            self.tally.passed += 1;
        } else {
            self.tally.failed += 1;
            println!("round FAILED: {name} ({broken} violations, {took} ms)");
        }
        if name.starts_with("rest") || name.starts_with("every") {
            let ends = self.tally.ends;
            println!(
                "{name}: {} records, {} absorbed, {} interrupted, {} lives, last start {} ms, {took} ms",
                ends.records,
                ends.absorbed,
                ends.interrupted,
                self.service.lives(),
                self.tally.last_start.as_millis()
            );
        }
    }
}
