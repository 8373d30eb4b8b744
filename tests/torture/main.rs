//! Torture: the real binary under load, killed at random moments and at every fail-point.
//!
//! `cargo test --features failpoints --test torture -- --kills N [--seed S]`. Clients and
//! owners write a history, the model writes a log, and a checker with rules of its own reads both beside the
//! records. The last line is `torture: N passed, M failed`, counted in check rounds.

#![allow(clippy::print_stdout, reason = "a harness of its own prints what it found; there is nobody else to say it")]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::json;

use crate::api::Api;
use crate::checker::mailbox::MailEnds;
use crate::mail::ledger::MailCounts;
use crate::mail::shapes::By;
use crate::model::Model;
use crate::points::UNREACHED;
use crate::rounds::Rounds;
use crate::service::{Service, Started};
use crate::world::{LANE, World};

mod api;
mod checker;
mod history;
mod load;
mod mail;
mod model;
mod points;
mod rng;
mod rounds;
mod service;
mod watcher;
mod words;
mod world;

/// Kills without `--kills`: what fits a submission beside everything else.
const KILLS: usize = 12;
/// Longest time that one answer of the service may take.
const ANSWER_WITHIN: Duration = Duration::from_secs(40);

struct Wanted {
    kills: usize,
    seed: u64,
    points: Points,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Points {
    Every,
    None,
}

#[tokio::main]
async fn main() -> ExitCode {
    match torture().await {
        Ok(code) => code,
        Err(error) => {
            println!("{error:#}\ntorture: 0 passed, 1 failed");
            ExitCode::FAILURE
        }
    }
}

async fn torture() -> anyhow::Result<ExitCode> {
    let Some(wanted) = wanted()? else { return Ok(ExitCode::SUCCESS) };
    println!("torture: {} kills, seed {}", wanted.kills, wanted.seed);
    match checker::proof::prove().and_then(|found| Ok(found + checker::mail_proof::prove()?)) {
        Ok(faults) => println!("the checker finds {faults} of {faults} planted faults"),
        Err(missed) => bail!("the checker is broken: {missed}"),
    }
    let began = Instant::now();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let dir = tempfile::Builder::new().prefix("clankie-torture-").tempdir()?;
    let (http, model) = (client()?, Model::start(wanted.seed).await?);
    let mut service = Service::new(dir.path(), model.url(), http.clone())?;
    if let Started::Ended(status) = service.start(None).await? {
        bail!("the service ended at its first start ({status}):\n{}", std::fs::read_to_string(service.log())?);
    }
    let world = world(wanted.seed, http, model, &service).await?;
    let mut rounds = Rounds::new(Arc::clone(&world), service);
    let stopped = run(&mut rounds, &wanted).await;
    let owners = world.ledger.lock().await.counts;
    world.over.send_replace(true);
    rounds.service.kill()?;
    let fine = report((&rounds, owners), &wanted, began.elapsed(), stopped);
    if !fine {
        println!("kept: {}", dir.keep().display());
    }
    Ok(if fine { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn run(rounds: &mut Rounds, wanted: &Wanted) -> anyhow::Result<()> {
    let clients = load::start(&rounds.world);
    let (owners, watcher) = (mail::owners::start(&rounds.world), watcher::start(&rounds.world));
    let phases = async {
        rounds.kills(wanted.kills).await?;
        if wanted.points == Points::Every {
            rounds.points().await?;
        }
        rounds.finish().await
    };
    let outcome = phases.await;
    rounds.world.over.send_replace(true);
    for task in clients.into_iter().chain(owners).chain([watcher]) {
        task.abort();
        if task.await.is_err_and(|error| error.is_panic()) {
            bail!("a part of the harness panicked");
        }
    }
    outcome
}

/// Prints what there was; true when nothing was broken.
fn report(
    (rounds, owners): (&Rounds, MailCounts),
    wanted: &Wanted,
    took: Duration,
    stopped: anyhow::Result<()>,
) -> bool {
    let (history, tally) = (&rounds.world.history, &rounds.tally);
    for line in history.report() {
        println!("{line}");
    }
    let mut failed = tally.failed;
    if let Err(error) = &stopped {
        println!("stopped early: {error:#}");
        failed += 1;
    }
    let (counts, ends) = (history.counts(), tally.ends);
    for (point, why) in UNREACHED {
        println!("not tried: {point}: {why}");
    }
    for point in &tally.not_reached {
        println!("not reached: {point}");
    }
    let mean = tally.starts.checked_div(tally.ready).unwrap_or_default();
    println!(
        "kills {}, fail-points hit {}, restarts {} (mean {} ms, slowest {} ms)",
        tally.kills,
        tally.points_hit,
        tally.ready,
        mean.as_millis(),
        tally.slowest_start.as_millis()
    );
    println!(
        "acknowledged {}, retries compared {}, records {}, joins {}, absorbed {}, owed {}, interrupted {}",
        history.acknowledged(),
        counts.compared,
        ends.records,
        rounds.world.model.runs().iter().map(|run| run.steers.len()).sum::<usize>(),
        ends.absorbed,
        ends.owed,
        ends.interrupted
    );
    println!(
        "cancels {} (ended as cancelled {}), edits {}, busy {}, unanswered {}, model calls {}, violations {}",
        counts.cancels,
        ends.cancelled,
        counts.edits,
        counts.busy,
        counts.unanswered,
        rounds.world.model.calls(),
        counts.violations
    );
    report_mail(&tally.mail, owners);
    if failed > 0 || counts.violations > 0 {
        println!(
            "again: cargo test --features failpoints --test torture -- --kills {} --seed {}",
            wanted.kills, wanted.seed
        );
    }
    // A violation outside every round still fails the run.
    failed = failed.max(usize::from(counts.violations > 0));
    println!("took {} s", took.as_secs());
    println!("torture: {} passed, {failed} failed", tally.passed);
    failed == 0
}

fn report_mail(ends: &MailEnds, owners: MailCounts) {
    println!(
        "mailbox: asks {} (pending {}, cancelled {}), answers delivered {}, uncertain {}, returned {}, \
         secrets told {}, updates {}",
        ends.asks,
        ends.pending,
        ends.cancelled,
        ends.delivered,
        ends.uncertain,
        ends.returned,
        ends.secrets,
        ends.updates
    );
    println!(
        "mailbox: accepted answers {}, accepted cancels {}, marks {}, conflicting answers {}, moved revisions {}, \
         calls repeated {}",
        owners.answers, owners.cancels, owners.seen, owners.conflicts, owners.moved, owners.repeated
    );
}

async fn world(seed: u64, http: reqwest::Client, model: Model, service: &Service) -> anyhow::Result<Arc<World>> {
    let at = service.watch();
    let endpoint = at.borrow().clone().context("the service is not there")?;
    let api = Api { http: http.clone(), at: endpoint, lane: String::new() };
    let create = json!({ "schema_version": 1, "op": "token_create", "kind": "lane-text", "name": LANE });
    let made = match api.dispatch(create).await {
        Ok(made) => made,
        Err(trouble) => bail!("no lane: {trouble:?}"),
    };
    let lane = made["secret"].as_str().with_context(|| format!("no secret in {made}"))?.to_owned();
    let device = match api.pair().await {
        Ok(token) => token.as_str().context("no token for the device")?.to_owned(),
        Err(trouble) => bail!("no device: {trouble:?}"),
    };
    let by = |kind: &str, token: &str| By { kind: kind.to_owned(), id: public_half(token) };
    let principals = [by("operator", &api.at.operator), by("device", &device)];
    let world = World::new(seed, (lane, device), (http, model), at);
    world.ledger.lock().await.principals.extend(principals);
    Ok(world)
}

/// The part of a token that records name: its 32 hexadecimal digits.
fn public_half(token: &str) -> String {
    let half = |part: &&str| part.len() == 32 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    token.split('_').find(half).unwrap_or_default().to_owned()
}

fn client() -> anyhow::Result<reqwest::Client> {
    Ok(reqwest::Client::builder().timeout(ANSWER_WITHIN).no_proxy().build()?)
}

/// What the command line asks for; `None` when it only wants a list, as test runners do.
fn wanted() -> anyhow::Result<Option<Wanted>> {
    let mut wanted = Wanted { kills: KILLS, seed: seed(), points: Points::Every };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().and_then(|text| text.parse().ok()).context("a number is missing");
        match argument.as_str() {
            "--kills" => wanted.kills = usize::try_from(number()?)?,
            "--seed" => wanted.seed = number()?,
            "--no-points" => wanted.points = Points::None,
            "--list" => return Ok(None),
            other => println!("ignored: {other}"),
        }
    }
    Ok(Some(wanted))
}

fn seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |now| now.as_secs() ^ u64::from(now.subsec_nanos()))
}
