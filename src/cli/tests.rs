//! The grammar: what is accepted, what is refused, and what help lists.

use clap::CommandFactory;
use clap::error::ErrorKind;

use super::*;

fn parsed(line: &str) -> Result<Arguments, ErrorKind> {
    let words = std::iter::once("clankie").chain(line.split_whitespace());
    Arguments::try_parse_from(words).map_err(|error| error.kind())
}

#[test]
fn the_grammar_is_sound() {
    Arguments::command().debug_assert();
}

#[test]
fn help_lists_every_command_with_its_sentence() {
    let command = Arguments::command();
    let listed: Vec<_> = command
        .get_subcommands()
        .map(|command| {
            format!("{}: {}", command.get_name(), command.get_about().map(ToString::to_string).unwrap_or_default())
        })
        .collect();
    let expected = [
        "serve: Run the service until it is told to stop",
        "demo: Play an evening of several people in several rooms; needs no file, token or network",
        "bench: Measure",
        "chat: Talk in a local room",
        "handoffs: List, show, follow and cancel handoffs",
        "status: Show how the service stands",
        "tokens: Make, list and revoke credentials",
        "rooms: List rooms",
        "config: Show and check the configuration",
        "completions: Print the completions of a shell",
    ];
    assert_eq!(listed, expected);
}

#[test]
fn every_command_of_the_contract_parses_with_its_flags_on_either_side() {
    let lines = [
        "serve",
        "serve --config c.toml",
        "serve --listen 127.0.0.1:0 --state-dir d",
        "--state-dir d serve",
        "demo",
        "demo --json --state-dir d",
        "chat lab --as ann",
        "chat local:lab --as ann --wait 20s --json",
        "handoffs list --json",
        "handoffs list --room local:lab --state running --actor local:ann --limit 1000 --before 0192f0c1-0000-7000-8000-0000aaaa0001",
        "--state-dir d handoffs show 0192f0c1-0000-7000-8000-0000aaaa0001 --json",
        "handoffs tail 0192f0c1-0000-7000-8000-0000aaaa0001",
        "handoffs cancel 0192f0c1-0000-7000-8000-0000aaaa0001 --url http://127.0.0.1:1 --token-file f",
        "status",
        "tokens create --kind lane-text --name bridge",
        "tokens create --kind lane-voice --name bridge --expires 720h",
        "tokens create --kind account --name ann --expires 2031-01-31T12:00:00Z",
        "tokens create --kind captain --name agent",
        "tokens create --kind operator --name laptop",
        "tokens list",
        "tokens revoke 0192f0c1000070008000aaaaaaaa0001",
        "rooms --json",
        "config show",
        "config show --origin",
        "config validate",
        "config validate c.toml",
        "bench admission --json",
        "completions bash",
    ];
    for line in lines {
        assert!(parsed(line).is_ok(), "{line}");
    }
}

#[test]
fn what_is_no_command_is_a_usage_error() {
    let table = [
        ("", ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand),
        ("sreve", ErrorKind::InvalidSubcommand),
        ("handoffs", ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand),
        ("handoffs show", ErrorKind::MissingRequiredArgument),
        ("handoffs show latest", ErrorKind::ValueValidation),
        ("handoffs list --limit 0", ErrorKind::ValueValidation),
        ("handoffs list --limit 1001", ErrorKind::ValueValidation),
        ("handoffs list --verbose", ErrorKind::UnknownArgument),
        ("chat lab", ErrorKind::MissingRequiredArgument),
        ("chat lab --as ../operator", ErrorKind::ValueValidation),
        ("chat lab --as a:b", ErrorKind::ValueValidation),
        ("chat lab --as ann --wait soon", ErrorKind::ValueValidation),
        ("tokens create --name x", ErrorKind::MissingRequiredArgument),
        ("tokens create --kind lane --name x", ErrorKind::InvalidValue),
        ("tokens create --kind account --name x --expires later", ErrorKind::ValueValidation),
        ("completions perl", ErrorKind::InvalidValue),
    ];
    for (line, kind) in table {
        assert_eq!(parsed(line).map(|_| ()), Err(kind), "{line}");
    }
}

#[test]
fn the_completions_of_every_shell_name_every_command() {
    for shell in [Shell::Bash, Shell::Elvish, Shell::Fish, Shell::PowerShell, Shell::Zsh] {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Arguments::command(), "clankie", &mut script);
        let script = String::from_utf8(script).unwrap();
        assert!(Arguments::command().get_subcommands().all(|known| script.contains(known.get_name())), "{shell}");
    }
}
