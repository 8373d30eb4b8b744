//! `clankie demo`: the whole service, and an evening of thirteen people who use it.
//!
//! It is a client like any other: it starts this executable as the service, speaks to it over the
//! public HTTP surface and judges what it sees by the written rules. Whatever is off is a
//! violation, and then the exit code is not 0. The service does not outlive it.

mod api;
mod evening;
mod ledger;
mod lines;
mod mail;
mod people;
mod report;
mod sampler;
mod service;
mod stage;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use tokio::signal::unix::{SignalKind, signal};

use api::Api;
use ledger::Ledger;
use lines::{Names, Output};
use people::Cast;
use report::Report;
use sampler::{Sampler, Seen};
use service::{House, Running, operator_token};
use stage::{Heards, Stage};

use super::{Exit, Global};

/// Plays the evening; its state stands in `--state-dir`, or in a directory that goes with it.
pub async fn run(global: &Global) -> Result<ExitCode> {
    let output = if global.json { Output::Json } else { Output::People };
    let mut terminate = signal(SignalKind::terminate())?;
    let exit = tokio::select! {
        report = play(output, global.state_dir.as_deref()) => match report?.violations {
            0 => Exit::Done,
            _ => Exit::Failure,
        },
        // Dropping the play ends its service.
        _ = terminate.recv() => Exit::Interrupted,
    };
    Ok(exit.into())
}

async fn play(output: Output, state: Option<&Path>) -> Result<Report> {
    let house = House::new(state)?;
    // A machine's proxy settings are for the network; this stays on the machine.
    let http = reqwest::Client::builder().no_proxy().build().context("no HTTP client")?;
    output.line("A demo evening: the whole service on this machine. Its agent is a script, no language model.");
    let running = Running::start(&house, &http).await?;
    output.line(&format!("  service {}, pid {}", running.address.url, running.address.pid));
    output.line(&format!("  state   {}", house.state().display()));
    let mut stage = set(&house, &running, http, output).await?;
    if let Err(why) = acts(&mut stage, &house, running).await {
        stage.off(format!("the evening broke off: {why:#}"));
        output.line(&house.last_lines());
    }
    let report = Report::of(&stage);
    report::show(&stage, &report)?;
    Ok(report)
}

async fn set(house: &House, running: &Running, http: reqwest::Client, output: Output) -> Result<Stage> {
    let api = Api { http, url: running.address.url.clone(), operator: operator_token(house)? };
    let cast = Cast::invite(&api).await?;
    let seen = Seen::new(Ledger::new(&api.handoffs().await?));
    let tag = format!("{:04x}", running.address.pid);
    Ok(Stage { api, seen, output, cast, tag, heards: Heards::default(), violations: Vec::new() })
}

async fn acts(stage: &mut Stage, house: &House, running: Running) -> Result<()> {
    let names = Names::of(stage.cast.all());
    let look = |stage: &Stage| Sampler::start(stage.api.clone(), stage.seen.clone(), names.clone(), stage.output);
    let sampler = look(stage);
    let open = evening::before_the_cut(stage).await?;
    sampler.stop().await;
    running.kill()?;
    let running = Running::start(house, &stage.api.http).await?;
    stage.output.line(&format!("  service {}, pid {}", running.address.url, running.address.pid));
    stage.api.url.clone_from(&running.address.url);
    let sampler = look(stage);
    evening::after_the_cut(stage, &open).await?;
    sampler.stop().await;
    Ok(())
}
