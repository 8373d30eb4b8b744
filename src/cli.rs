//! The command line: its grammar, and the commands that are clients of a running service.
//!
//! Data goes to standard output and words to standard error. Nothing here names anything of the
//! service but the shapes of its wire; what starts a service is dispatched by `main`.

use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;

use crate::config::{Environment, Sources};

mod asks;
pub mod bench;
pub mod bench_all;
mod card;
mod chat;
pub(crate) mod clean;
mod client;
mod config;
mod connection;
mod conversations;
pub mod demo;
mod devices;
pub mod doctor;
mod events;
mod exit;
mod failure;
mod handoffs;
mod input;
#[cfg(test)]
mod peer;
mod pick;
mod rooms;
mod screen;
mod settling;
pub mod sim;
mod status;
mod table;
mod tokens;
mod updates;
mod words;

pub use asks::{AnswerArguments, AsksCommand, AsksListArguments, Shown};
pub use chat::ChatArguments;
pub use config::ConfigCommand;
pub use conversations::{AskNames, ConversationsCommand, ExactAnswer, QuestionsArguments, Status};
pub use devices::{ApproveArguments, DevicesCommand, Grant, PairArguments};
pub use events::EventsArguments;
pub use exit::Exit;
pub use failure::Failure;
pub use handoffs::{HandoffsCommand, ListArguments};
pub use pick::IdPrefix;
pub use tokens::{CreateArguments, Kind, TokensCommand};
pub use updates::{State, UpdatesCommand, UpdatesListArguments};

use screen::{Form, Screen};

/// What every command takes stands below what it takes of its own.
const GLOBAL: &str = "Global options";

/// An AI agent for rooms where several people talk at once, kept in hand.
#[derive(Debug, Clone, PartialEq, Eq, Parser)]
#[command(name = "clankie", version, max_term_width = 100)]
pub struct Arguments {
    /// What every command takes.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What every command takes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct Global {
    /// The state directory, in place of the configured one.
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "DIR")]
    pub state_dir: Option<PathBuf>,
    /// The service to call, in place of the one of the state directory; needs --token-file.
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "URL", env = "CLANKIE_URL", hide_env_values = true)]
    pub url: Option<String>,
    /// The file with the operator's token, in place of the one of the state directory.
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "FILE", env = "CLANKIE_TOKEN_FILE", hide_env_values = true)]
    pub token_file: Option<PathBuf>,
    /// A configuration file, over the user's own.
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "FILE", env = "CLANKIE_CONFIG", hide_env_values = true)]
    pub config: Option<PathBuf>,
    /// Print JSON, also on a terminal.
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub json: bool,
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum Command {
    /// Run the service until it is told to stop.
    Serve {
        /// The address to serve on, in place of the configured one.
        #[arg(long, value_name = "ADDRESS")]
        listen: Option<String>,
    },
    /// Play an evening of several people in several rooms; needs no file, token or network.
    Demo,
    /// Look whether everything is as it should be; changes nothing.
    Doctor,
    /// Measure.
    #[command(args_conflicts_with_subcommands = true)]
    Bench {
        /// Everything.
        #[command(flatten)]
        all: bench_all::AllArguments,
        /// One thing.
        #[command(subcommand)]
        what: Option<BenchCommand>,
    },
    /// Play simulated worlds, one for each seed, and look for broken invariants.
    Sim(sim::SimArguments),
    /// Everything that starts no service.
    #[command(flatten)]
    Client(ClientCommand),
}

/// What to measure.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum BenchCommand {
    /// Durable admission, beside a bare durable write on the same disk.
    Admission(bench::AdmissionArguments),
    /// The owner's mailbox at 100, 1 000 and 10 000 records, beside a bare durable write.
    Mailbox(bench::MailboxArguments),
    /// A long life in a short time: many handoffs with mail, and what must not grow.
    Soak(bench_all::SoakArguments),
}

impl Global {
    /// Where configuration is looked for.
    pub fn sources(&self, environment: &Environment) -> Sources {
        let (state_dir, file) = (self.state_dir.clone(), self.config.clone());
        Sources { state_dir, listen: None, file, environment: environment.clone() }
    }

    fn screen(&self) -> Screen {
        Screen::of_process(self.json.then_some(Form::Json))
    }
}

/// Runs a command that calls a running service, or none at all.
pub async fn run(command: ClientCommand, global: &Global, environment: &Environment) -> Result<(), Failure> {
    let screen = global.screen();
    let operator = || connection::operator(global, environment);
    match command {
        ClientCommand::Chat(arguments) => chat::run(arguments, global, environment, &screen).await,
        ClientCommand::Handoffs(command) => handoffs::run(command, &operator()?, &screen).await,
        ClientCommand::Asks(command) => asks::run(command, &operator()?, &screen).await,
        ClientCommand::Updates(command) => updates::run(command, &operator()?, &screen).await,
        ClientCommand::Conversations(command) => conversations::run(command, &operator()?, &screen).await,
        ClientCommand::Events(arguments) => events::run(arguments, &operator, &screen).await,
        ClientCommand::Status => status::run(&operator()?, &screen).await,
        ClientCommand::Tokens(command) => tokens::run(command, &operator()?, &screen).await,
        ClientCommand::Devices(command) => devices::run(command, &operator()?, &screen).await,
        ClientCommand::Rooms => rooms::run(&operator()?, &screen).await,
        ClientCommand::Config(command) => config::run(command, global, environment, &screen),
        ClientCommand::Completions { shell } => completions(shell, &screen),
    }
}

/// A command that starts no service: a client of a running one, or about files alone.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum ClientCommand {
    /// Talk in a local room.
    Chat(ChatArguments),
    /// List, show, follow and cancel handoffs, and post a reply once more.
    #[command(subcommand)]
    Handoffs(HandoffsCommand),
    /// List, show, answer and cancel what agents want you to decide.
    #[command(subcommand)]
    Asks(AsksCommand),
    /// List, read and put away news from agents.
    #[command(subcommand)]
    Updates(UpdatesCommand),
    /// Show conversations, and deal with their mail by exact names.
    #[command(subcommand)]
    Conversations(ConversationsCommand),
    /// Print what happens, one JSON a line.
    #[command(after_long_help = events::EXAMPLES)]
    Events(EventsArguments),
    /// Show how the service stands.
    Status,
    /// Make, list, rotate and revoke credentials.
    #[command(subcommand)]
    Tokens(TokensCommand),
    /// Pair, approve, list and revoke devices.
    #[command(subcommand)]
    Devices(DevicesCommand),
    /// List rooms.
    Rooms,
    /// Show and check the configuration.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Print the completions of a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
}

/// Says on standard error why a command failed, unless whoever read its output had enough.
pub fn report(failure: &Failure, global: &Global) -> Exit {
    let exit = failure.exit();
    if exit != Exit::Done {
        global.screen().words(&format!("clankie: {failure}"));
    }
    exit
}

fn completions(shell: Shell, screen: &Screen) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "clankie", &mut script);
    Ok(screen.line(String::from_utf8_lossy(&script).trim_end())?)
}

#[cfg(test)]
mod tests;
