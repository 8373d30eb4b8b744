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
        "doctor: Look whether everything is as it should be; changes nothing",
        "bench: Measure",
        "sim: Play simulated worlds, one for each seed, and look for broken invariants",
        "chat: Talk in a local room",
        "handoffs: List, show, follow and cancel handoffs, and post a reply once more",
        "asks: List, show, answer and cancel what agents want you to decide",
        "updates: List, read and put away news from agents",
        "conversations: Show conversations, and deal with their mail by exact names",
        "events: Print what happens, one JSON a line",
        "status: Show how the service stands",
        "tokens: Make, list, rotate and revoke credentials",
        "devices: Pair, approve, list and revoke devices",
        "rooms: List rooms",
        "config: Show and check the configuration",
        "completions: Print the completions of a shell",
    ];
    assert_eq!(listed, expected);
}

/// Command lines of the contract.
const LINES: &[&str] = &[
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
    "handoffs cancel 0192f0c1",
    "handoffs repost 0192f0 --json",
    "status",
    "tokens create --kind lane-text --name bridge",
    "tokens create --kind lane-voice --name bridge --expires 720h",
    "tokens create --kind account --name ann --expires 2031-01-31T12:00:00Z",
    "tokens create --kind captain --name agent",
    "tokens create --kind operator --name laptop",
    "tokens list",
    "tokens revoke 0192f0c1000070008000aaaaaaaa0001",
    "tokens rotate 0192f0c1000070008000aaaaaaaa0001",
    "devices list --json",
    "devices pair",
    "devices pair --grants observe,terminal_control",
    "devices approve 0192f0c1000070008000aaaaaaaa0001",
    "devices approve 0192f0c1000070008000aaaaaaaa0001 --grants observe --json",
    "devices revoke 0192f0c1000070008000aaaaaaaa0001",
    "rooms --json",
    "config show",
    "config show --origin",
    "config validate",
    "config validate c.toml",
    "bench admission --json",
    "bench mailbox --json",
    "bench",
    "bench --quick --dir d --json",
    "bench soak --handoffs 2000 --rooms 50 --json",
    "sim",
    "sim --seeds 10000 --first 7 --twice-in 10 --threads 2 --json",
    "sim --seed 3 --trace",
    "completions bash",
    "conversations list --json",
    "conversations tail room-dcf0bdac60b09940fe94124a -f",
    "conversations questions",
    "conversations questions room-dcf0bdac60b09940fe94124a --request 0192f0c1-0000-7000-8000-0000aaaa0001 --status cancelled",
    "conversations questions 0192f0c1-0000-7000-8000-0000aaaa0001 --status pending --json",
    "conversations updates --state all",
    "conversations updates room-dcf0bdac60b09940fe94124a",
    "conversations read-update 0192f0c1-0000-7000-8000-0000aaaa0001",
    "conversations dismiss-update 0192f0c1-0000-7000-8000-0000aaaa0001",
    "asks list",
    "asks list --status all --conversation room-dcf0bdac60b09940fe94124a",
    "asks show 0192f0",
    "asks answer 0192f0c1-0000 --option 2",
    "asks answer 0192f0 --text words",
    "asks answer 0192f0 --approve --incarnation 0192f0c1-0000-7000-8000-0000aaaa0001 --revision 4",
    "asks answer 0192f0 --decline",
    "asks answer 0192f0 --stdin",
    "asks cancel 0192f0",
    "asks seen 0192f0",
    "updates list --state dismissed",
    "updates read 0192f0",
    "updates dismiss 0192f0",
    "events",
    "events -f --after 0192f0c1-0000-7000-8000-0000aaaa0001-12",
];

#[test]
fn every_command_of_the_contract_parses_with_its_flags_on_either_side() {
    for line in LINES {
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
        ("handoffs show 0192f", ErrorKind::ValueValidation),
        ("handoffs repost", ErrorKind::MissingRequiredArgument),
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
        ("devices", ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand),
        ("devices pair --grants everything", ErrorKind::InvalidValue),
        ("devices approve", ErrorKind::MissingRequiredArgument),
        ("devices approve phone", ErrorKind::ValueValidation),
        ("tokens create --kind device --name x", ErrorKind::InvalidValue),
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

const NAMES: &str = "room-dcf0bdac60b09940fe94124a 0192f0c1-0000-7000-8000-0000aaaa0001";
const READ: &str = "--incarnation 0192f0c1-0000-7000-8000-0000aaaa0001 --revision 4";
/// The ways to answer by exact names.
const EXACT: [&str; 4] = ["--option 0192f0c1-0000-7000-8000-0000aaaa0001", "--text words", "--stdin", "--worker-stdin"];
/// The ways to answer what is shown.
const SHOWN: [&str; 6] = ["--option 1", "--text words", "--stdin", "--worker-stdin", "--approve", "--decline"];

/// Every command line that gives none, one or two of these answers.
fn answers(command: &str, ways: &[&str]) {
    assert_eq!(parsed(command).map(|_| ()), Err(ErrorKind::MissingRequiredArgument), "{command}");
    for one in ways {
        assert!(parsed(&format!("{command} {one}")).is_ok(), "{command} {one}");
        for two in ways.iter().filter(|two| *two != one) {
            let line = format!("{command} {one} {two}");
            assert_eq!(parsed(&line).map(|_| ()), Err(ErrorKind::ArgumentConflict), "{line}");
        }
    }
}

#[test]
fn an_answer_is_given_in_exactly_one_way() {
    answers(&format!("conversations answer {NAMES} {READ}"), &EXACT);
    answers("asks answer 0192f0", &SHOWN);
}

#[test]
fn what_the_grammar_of_the_mailbox_does_not_have_is_a_usage_error() {
    use ErrorKind::{InvalidSubcommand, InvalidValue, MissingRequiredArgument, UnknownArgument, ValueValidation};
    let uuid = "0192f0c1-0000-7000-8000-0000aaaa0001";
    let table = [
        (format!("conversations answer {NAMES} --revision 4 --text x"), MissingRequiredArgument),
        (format!("conversations answer {NAMES} --incarnation {uuid} --text x"), MissingRequiredArgument),
        (format!("conversations answer lab {uuid} {READ} --text x"), ValueValidation),
        (format!("conversations answer room-dcf0bdac60b09940fe94124a latest {READ} --text x"), ValueValidation),
        (format!("conversations answer {NAMES} --incarnation now --revision 4 --text x"), ValueValidation),
        (format!("conversations answer {NAMES} --incarnation {uuid} --revision -1 --text x"), UnknownArgument),
        (format!("conversations answer {NAMES} --incarnation {uuid} --revision x --text x"), ValueValidation),
        (format!("conversations answer {NAMES} {READ} --option 1"), ValueValidation),
        (format!("conversations answer {NAMES} {READ} --text="), ValueValidation),
        (format!("conversations answer {NAMES} {READ} --approve"), UnknownArgument),
        (format!("conversations answer {NAMES} {READ} --stdin --yes"), UnknownArgument),
        (format!("conversations cancel-question {NAMES}"), MissingRequiredArgument),
        (format!("conversations cancel-question {NAMES} {READ} --text x"), UnknownArgument),
        ("conversations questions --status done".into(), InvalidValue),
        ("conversations questions --request latest".into(), ValueValidation),
        ("conversations updates --state new".into(), InvalidValue),
        ("conversations read-update".into(), MissingRequiredArgument),
        ("conversations dismiss-update all".into(), ValueValidation),
        ("conversations accept".into(), InvalidSubcommand),
        ("asks show 0192f".into(), ValueValidation),
        ("asks show latest".into(), ValueValidation),
        ("asks answer 0192f0 --approve --yes".into(), UnknownArgument),
        ("asks answer 0192f0 --approve --revision 4".into(), MissingRequiredArgument),
        (format!("asks answer 0192f0 --approve --incarnation {uuid}"), MissingRequiredArgument),
        ("asks list --status new".into(), InvalidValue),
        ("updates list --state new".into(), InvalidValue),
        ("updates answer 0192f0".into(), InvalidSubcommand),
        ("events --after 12".into(), ValueValidation),
    ];
    for (line, kind) in table {
        assert_eq!(parsed(&line).map(|_| ()), Err(kind), "{line}");
    }
}

#[test]
fn help_shows_a_commands_own_options_before_those_of_every_command() {
    let mut command = Arguments::command();
    command.build();
    let answer = command.find_subcommand_mut("asks").and_then(|asks| asks.find_subcommand_mut("answer")).unwrap();
    let help = answer.render_long_help().to_string();
    let at = |words: &str| help.find(words).unwrap_or_else(|| panic!("{words}: {help}"));
    assert!(at("--approve") < at("Global options:") && at("Global options:") < at("--state-dir"), "{help}");
    assert!(at("--state-dir") < at("Examples:"), "{help}");
}
