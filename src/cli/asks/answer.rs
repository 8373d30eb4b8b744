//! `clankie asks answer`: reads the ask, shows it, and answers exactly what was shown.
//!
//! An approval is confirmed by a word that is typed after the whole ask stood there. Where nobody
//! can be asked, it must name the incarnation and the revision that were read.

use std::io::IsTerminal;

use clap::Args;
use uuid::Uuid;

use super::find;
use crate::cli::card;
use crate::cli::client::Client;
use crate::cli::failure::Failure;
use crate::cli::input;
use crate::cli::pick::IdPrefix;
use crate::cli::screen::{Form, Screen};
use crate::cli::settling::{self, Aim, Privacy};
use crate::owner::wire::{AnswerBody, OptionBody, QuestionBody};

pub(super) const EXAMPLES: &str = "\
Examples:
  clankie asks answer 01a22f0d-88a8 --option 2
  clankie asks answer 01a22f0d-88a8 --option \"Ship on Monday\"
  clankie asks answer 01a22f0d-88a8 --text \"Use the staging database\"
  clankie asks answer 01a22f0d-88a8 --approve   asks you to type approve
  clankie asks answer 01a22f0d-88a8 --stdin < key   a private answer stands on no command line

An approval without a terminal names what was read: --incarnation UUID --revision N.";

/// What approves, as options carry it.
const APPROVE: &str = "approve";
const DECLINE: &str = "decline";

/// Which ask, and what to answer.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct AnswerArguments {
    /// The ask: its id, or enough of its beginning to name it alone.
    id: IdPrefix,
    /// The answer.
    #[command(flatten)]
    answer: AnswerFlags,
    /// The conversation's life that was read, with --revision; what is read now when absent.
    #[arg(long, value_name = "UUID", requires = "revision")]
    incarnation: Option<Uuid>,
    /// The revision that was read, with --incarnation.
    #[arg(long, value_name = "N", requires = "incarnation")]
    revision: Option<u64>,
}

/// Exactly one of them.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[group(required = true, multiple = false)]
struct AnswerFlags {
    /// An option: its number, its label or its id.
    #[arg(long, value_name = "OPTION")]
    option: Option<String>,
    /// Words.
    #[arg(long, value_parser = input::spoken)]
    text: Option<String>,
    /// Words of standard input, at most 64000 bytes; a private answer is typed without being shown.
    #[arg(long)]
    stdin: bool,
    /// A JSON map of standard input, from each question of a worker to its answers.
    #[arg(long)]
    worker_stdin: bool,
    /// Approve.
    #[arg(long)]
    approve: bool,
    /// Decline.
    #[arg(long)]
    decline: bool,
}

/// The answer as it was wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Wanted {
    Option(String),
    Text(String),
    Words,
    WorkerAnswers,
    Role(&'static str),
}

impl AnswerFlags {
    fn wanted(self) -> Wanted {
        match self {
            Self { option: Some(option), .. } => Wanted::Option(option),
            Self { text: Some(text), .. } => Wanted::Text(text),
            Self { worker_stdin: true, .. } => Wanted::WorkerAnswers,
            Self { approve: true, .. } => Wanted::Role(APPROVE),
            Self { decline: true, .. } => Wanted::Role(DECLINE),
            // One of them stands on the command line: the grammar sees to it.
            Self { .. } => Wanted::Words,
        }
    }
}

pub(super) async fn run(arguments: AnswerArguments, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let AnswerArguments { id, answer, incarnation, revision } = arguments;
    let question = find(&id, client).await?;
    // Data goes to standard output only once there is an answer; what it answers is shown beside it.
    if screen.form() == Form::Table || std::io::stderr().is_terminal() {
        screen.words(&card::ask(&question, jiff::Timestamp::now()).join("\n"));
    }
    let answer = answer_to(&question, answer.wanted(), screen).await?;
    let read = incarnation.zip(revision);
    confirmed(&question, &answer, read, screen).await?;
    let aim = match read {
        Some((incarnation, revision)) => Aim { incarnation: incarnation.to_string(), revision, ..Aim::at(&question) },
        None => Aim::at(&question),
    };
    let privacy = if question.secret { Privacy::Private } else { Privacy::Open };
    settling::answer(aim, (answer, privacy), client, screen).await
}

async fn answer_to(question: &QuestionBody, wanted: Wanted, screen: &Screen) -> Result<AnswerBody, Failure> {
    let choice = |option: &OptionBody| AnswerBody::Choice { option_id: option.option_id.clone() };
    match wanted {
        Wanted::Option(name) => option(question, &name).map(choice),
        Wanted::Role(role) => with_role(question, role).map(choice),
        Wanted::Text(_) if question.secret => Err(settling::not_on_a_command_line()),
        Wanted::Text(text) => Ok(AnswerBody::Text { text }),
        Wanted::Words if question.secret => Ok(AnswerBody::Text { text: input::private_words(screen).await? }),
        Wanted::Words => Ok(AnswerBody::Text { text: input::words().await? }),
        Wanted::WorkerAnswers => Ok(AnswerBody::Worker { answers: input::worker_answers().await? }),
    }
}

/// The one option of that number, label or id.
fn option<'a>(question: &'a QuestionBody, name: &str) -> Result<&'a OptionBody, Failure> {
    let number = name.parse::<usize>().ok();
    let named = |(at, option): &(usize, &OptionBody)| {
        number == Some(at + 1) || option.label == name || option.option_id.eq_ignore_ascii_case(name)
    };
    let found: Vec<_> = question.options.iter().enumerate().filter(named).map(|(_, option)| option).collect();
    match found.as_slice() {
        [one] => Ok(one),
        [] => Err(Failure::Usage(format!("the ask has no option {name}; clankie asks show lists them"))),
        [..] => {
            Err(Failure::Usage(format!("{name} is the number of one option and the label of another; give its id")))
        }
    }
}

fn with_role<'a>(question: &'a QuestionBody, role: &str) -> Result<&'a OptionBody, Failure> {
    let found = question.options.iter().find(|option| option.role.as_deref() == Some(role));
    let nothing =
        || Failure::Usage(format!("there is nothing to {role} in this ask; clankie asks show says what it takes"));
    found.ok_or_else(nothing)
}

/// An approval that nobody confirms names what was read; what is over already needs neither.
async fn confirmed(
    question: &QuestionBody,
    answer: &AnswerBody,
    read: Option<(Uuid, u64)>,
    screen: &Screen,
) -> Result<(), Failure> {
    if question.status != "pending" || !approves(question, answer) {
        return Ok(());
    }
    if !input::somebody_is_there() {
        let named = "an approval is confirmed on a terminal; without one, name what was read: --incarnation UUID \
                     --revision N, as clankie asks show has them";
        return read.map(|_| ()).ok_or_else(|| Failure::Usage(named.to_owned()));
    }
    if input::approves(screen).await? { Ok(()) } else { Err(Failure::NotConfirmed) }
}

fn approves(question: &QuestionBody, answer: &AnswerBody) -> bool {
    let approving = |option: &OptionBody| option.role.as_deref() == Some(APPROVE);
    match answer {
        AnswerBody::Choice { option_id } => {
            question.options.iter().any(|option| option.option_id == *option_id && approving(option))
        }
        AnswerBody::Text { .. } | AnswerBody::Worker { .. } => false,
    }
}

#[cfg(test)]
mod tests;
