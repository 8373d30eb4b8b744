//! The `clankie` program: parse, dispatch, and end with the exit code that says how it went.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Context;
use clankie::bench;
use clankie::cli::bench_all::AllArguments;
use clankie::cli::sim::SimArguments;
use clankie::cli::{self, Arguments, BenchCommand, ClientCommand, Command, Exit, Failure, Global};
use clankie::compose;
use clankie::config::{self, Environment, Sources};
use clap::Parser;

fn main() -> ExitCode {
    // One provider for every TLS connection, before anything can open one. A second call is refused
    // and changes nothing.
    let _first = rustls::crypto::ring::default_provider().install_default();
    let arguments = Arguments::parse();
    let runtime = match tokio::runtime::Runtime::new().context("the runtime did not start") {
        Ok(runtime) => runtime,
        Err(error) => return failed(&error),
    };
    let code = runtime.block_on(dispatch(arguments));
    // A read of standard input cannot be taken back; nobody waits for it.
    runtime.shutdown_background();
    code
}

async fn dispatch(arguments: Arguments) -> ExitCode {
    let Arguments { global, command } = arguments;
    let environment = Environment::of_process();
    match command {
        // The service has its own answer to signals: it drains.
        Command::Serve { listen } => serve(&global, listen, environment).await,
        Command::Demo => interruptible(started(cli::demo::run(&global))).await,
        Command::Doctor => interruptible(doctor(&global, &environment)).await,
        Command::Bench { all, what } => interruptible(started(measure(&all, what, &global))).await,
        Command::Sim(arguments) => started(simulate(arguments, global)).await,
        Command::Client(command) => interruptible(client(command, &global, &environment)).await,
    }
}

async fn serve(global: &Global, listen: Option<String>, environment: Environment) -> ExitCode {
    let sources = Sources { listen, ..global.sources(&environment) };
    match config::load(&sources) {
        Ok(loaded) => started(compose::serve(sources, loaded.config, say)).await,
        Err(refused) => cli::report(&Failure::Config(refused), global).into(),
    }
}

async fn client(command: ClientCommand, global: &Global, environment: &Environment) -> ExitCode {
    match cli::run(command, global, environment).await {
        Ok(()) => Exit::Done.into(),
        Err(failure) => cli::report(&failure, global).into(),
    }
}

async fn measure(all: &AllArguments, what: Option<BenchCommand>, global: &Global) -> anyhow::Result<ExitCode> {
    let on = compose::Bench::new()?;
    let sources = on.sources();
    match what {
        None => cli::bench_all::show_all(&bench::all(&all.sizes(), sources).await?, global)?,
        Some(BenchCommand::Admission(arguments)) => {
            cli::bench::show(&bench::admission(&arguments.plan(), sources).await?, global)?;
        }
        Some(BenchCommand::Mailbox(arguments)) => {
            let plan = bench::MailboxPlan::full();
            cli::bench::show_mailbox(&bench::mailbox(arguments.dir(), &plan, sources).await?, global)?;
        }
        Some(BenchCommand::Soak(arguments)) => {
            cli::bench_all::show_soak(&bench::soak(&arguments.plan(), sources).await?, global)?;
        }
    }
    Ok(Exit::Done.into())
}

async fn doctor(global: &Global, environment: &Environment) -> ExitCode {
    let checks = compose::doctor(&global.sources(environment), environment).await;
    match cli::doctor::run(checks, global, environment).await {
        Ok(exit) => exit.into(),
        Err(failure) => cli::report(&failure, global).into(),
    }
}

/// Each world has a runtime of its own, so none of them is played inside of one.
async fn simulate(arguments: SimArguments, global: Global) -> anyhow::Result<ExitCode> {
    let played = tokio::task::spawn_blocking(move || match arguments.traced() {
        Some(seed) => {
            let (history, violations) = compose::simulate_one(seed)?;
            cli::sim::show_trace(&history, &violations, &global)?;
            anyhow::Ok(violations.is_empty())
        }
        None => {
            let report = compose::simulate(&arguments.plan());
            cli::sim::show(&report, &global)?;
            Ok(report.is_clean())
        }
    });
    Ok(if played.await?? { Exit::Done } else { Exit::Failure }.into())
}

async fn started(run: impl Future<Output = anyhow::Result<ExitCode>>) -> ExitCode {
    run.await.unwrap_or_else(|error| failed(&error))
}

async fn interruptible(run: impl Future<Output = ExitCode>) -> ExitCode {
    tokio::select! {
        code = run => code,
        // When the signal cannot be heard, the system's own answer to it stays in force.
        Ok(()) = tokio::signal::ctrl_c() => Exit::Interrupted.into(),
    }
}

fn failed(error: &anyhow::Error) -> ExitCode {
    say(&format!("clankie: {error:#}"));
    Exit::Failure.into()
}

/// Words go to standard error; that nobody reads them is no reason to end.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
