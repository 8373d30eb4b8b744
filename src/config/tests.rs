//! What a configuration refuses and in which words, which source wins, and that the example file is whole.

use std::collections::BTreeMap;
use std::path::Path;

use super::*;

const EXAMPLE: &str = include_str!("../../config/clankie.toml");

/// Loads `text` as the `--config` file and `variables` as the environment; a home is always there.
fn loaded(text: &str, variables: &[(&str, &str)]) -> Result<Loaded, String> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("c.toml");
    std::fs::write(&file, text).unwrap();
    let home = [("HOME", "/nowhere")];
    let environment = home.iter().chain(variables).copied().collect();
    let sources = Sources { file: Some(file), environment, ..Sources::default() };
    load(&sources).map_err(|error| error.to_string().replace(&dir.path().display().to_string(), "."))
}

fn check(text: &str, variables: &[(&str, &str)], refusal: &str) {
    assert_eq!(loaded(text, variables).map(|_| ()), Err(refusal.to_owned()), "{text} {variables:?}");
}

#[test]
fn what_is_no_key_is_refused_with_its_line_and_the_nearest_key() {
    let table = [
        ("limits", "./c.toml:1: is not TOML: key with no value, expected `=`"),
        ("listen = \"a", "./c.toml:1: is not TOML: invalid basic string, expected `\"`"),
        ("[limits]\nrunning = 1\nrunning = 2", "./c.toml:3: is not TOML: duplicate key"),
        ("\n[limits]\nruning = 3", "./c.toml:3: there is no key limits.runing; did you mean limits.running?"),
        ("running = 3", "./c.toml:1: there is no key running; did you mean limits.running?"),
        ("[limit]\nwaiting = 3", "./c.toml:1: there is no key limit; did you mean limits?"),
        ("[colours]", "./c.toml:1: there is no key colours"),
        ("limits = 4", "./c.toml:1: limits is a section; write its keys under [limits]"),
        ("lanes.a = 4", "./c.toml:1: lanes.a is a section; write its keys under [lanes.a]"),
    ];
    for (text, refusal) in table {
        check(text, &[], refusal);
    }
}

#[test]
fn an_address_that_does_not_fit_is_refused() {
    let table = [
        (
            "[listen]\nport = 4",
            "./c.toml:1: listen is { port = 4 } and must be an address with a port, such as \"127.0.0.1:4310\"",
        ),
        (
            "listen = \"localhost\"",
            "./c.toml:1: listen is \"localhost\" and must be an address with a port, such as \"127.0.0.1:4310\"",
        ),
        ("listen = 4310", "./c.toml:1: listen is 4310 and must be an address with a port, such as \"127.0.0.1:4310\""),
        (
            "listen = \"0.0.0.0:4310\"",
            "./c.toml:1: listen is 0.0.0.0:4310, which others can reach; set public_url to the address they use, or listen on 127.0.0.1",
        ),
        (
            "public_url = \"ftp://a\"",
            "./c.toml:1: public_url is \"ftp://a\" and must be an http or https address of this service, without path or credentials",
        ),
        (
            "public_url = \"https://a/b\"",
            "./c.toml:1: public_url is \"https://a/b\" and must be an http or https address of this service, without path or credentials",
        ),
        (
            "public_url = \"https://u:p@a\"",
            "./c.toml:1: public_url is \"(an address with credentials)\" and must be an http or https address of this service, without path or credentials",
        ),
    ];
    for (text, refusal) in table {
        check(text, &[], refusal);
    }
}

#[test]
fn limits_executors_and_spans_that_do_not_fit_are_refused() {
    let table = [
        ("[limits]\nrunning = 0", "./c.toml:2: limits.running is 0 and must be a whole number from 1 to 65535"),
        ("[limits]\nwaiting = -1", "./c.toml:2: limits.waiting is -1 and must be a whole number from 1 to 65535"),
        ("[limits]\nwaiting = 65536", "./c.toml:2: limits.waiting is 65536 and must be a whole number from 1 to 65535"),
        (
            "[limits]\nwaiting_per_room = 1.5",
            "./c.toml:2: limits.waiting_per_room is 1.5 and must be a whole number from 1 to 65535",
        ),
        (
            "[limits]\nrunning = 3\nrunning_per_room = 4",
            "./c.toml:3: limits.running_per_room is 4 and limits.running is 3; a room cannot have more than all",
        ),
        (
            "[executor]\nsocial = \"claude\"",
            "./c.toml:2: executor.social names executor claude, which this build does not have; it has builtin and demo",
        ),
        (
            "[executor]\ndefault = \"builtin\"",
            "./c.toml:2: executor.default is builtin, and no model is configured; set model.provider and model.model, or use demo",
        ),
        ("[executor]\nowner = \"\"", "./c.toml:2: executor.owner is \"\" and must be \"builtin\" or \"demo\""),
        (
            "[sessions]\nstall_after = \"5 minutes\"",
            "./c.toml:2: sessions.stall_after is \"5 minutes\" and must be whole seconds, or a text such as \"300s\", \"5m\", \"2h\" or \"500ms\"",
        ),
        ("[sessions]\nstall_after = \"10ms\"", "./c.toml:2: sessions.stall_after is 10ms and must be from 1s to 24h"),
        ("[shutdown]\ngrace = \"48h\"", "./c.toml:2: shutdown.grace is 48h and must be at most 24h"),
        (
            "[shutdown]\ngrace = -1",
            "./c.toml:2: shutdown.grace is -1 and must be whole seconds, or a text such as \"300s\", \"5m\", \"2h\" or \"500ms\"",
        ),
        (
            "[sessions]\noutput_max = 12",
            "./c.toml:2: sessions.output_max is 12 and must be a whole number of bytes, at least 1024",
        ),
    ];
    for (text, refusal) in table {
        check(text, &[], refusal);
    }
}

#[test]
fn rooms_grants_and_lanes_that_do_not_fit_are_refused() {
    let table = [
        (
            "[[rooms.local]]\nname = \"a b\"",
            "./c.toml:1: rooms.local is \"a b\" and must be tables with one name each: 1–128 letters, digits or -_.:/",
        ),
        (
            "[[rooms.local]]\ntitle = \"a\"",
            "./c.toml:1: rooms.local is [{ title = \"a\" }] and must be tables with one name each: 1–128 letters, digits or -_.:/",
        ),
        (
            "[[rooms.local]]\nname = \"a\"\n[[rooms.local]]\nname = \"a\"",
            "./c.toml:1: the local room a is there twice; keep one of them",
        ),
        (
            "[grants]\nowners = [\"discord:user:ann\"]",
            "./c.toml:2: grants.owners is \"discord:user:ann\" and must be a list of ids such as \"local:ann\", \"ingress:LANE:ID\" or \"discord:user:NUMBER\"",
        ),
        (
            "[grants]\nmachine_actors = \"local:ann\"",
            "./c.toml:2: grants.machine_actors is \"local:ann\" and must be a list of ids such as \"local:ann\", \"ingress:LANE:ID\" or \"discord:user:NUMBER\"",
        ),
        (
            "[grants]\nmachine_guilds = [\"friends\"]",
            "./c.toml:2: grants.machine_guilds is \"friends\" and must be a list of guild numbers, such as \"81384788765712384\"",
        ),
        (
            "[grants]\nmachine_rooms = [\"lab\"]",
            "./c.toml:2: grants.machine_rooms is \"lab\" and must be a list of room ids such as \"local:lab\" or \"ingress:LANE:ROOM\"",
        ),
        (
            "[grants]\nmachine_tools = [\"room_task_call\"]",
            "./c.toml:2: grants.machine_tools is \"room_task_call\" and must be a list of these: \"file_list\", \"file_read\", \"file_write\", \"file_delete\"",
        ),
        (
            "[grants]\nmachine_tools = [\"file_read\"]",
            "./c.toml:2: grants.machine_tools lists file_read, which needs a workspace; set workspace.dir to a directory",
        ),
        (
            "[workspace]\ndir = \"here\"",
            "./c.toml:2: workspace.dir is \"here\" and must be an absolute path, or \"\" for no workspace",
        ),
        (
            "[lanes.\"a:b\"]\nvouches_owner = true",
            "./c.toml:2: lanes.a:b.vouches_owner is true and must be true or false, under a lane's name",
        ),
        (
            "[lanes.a]\nvouches_owners = true",
            "./c.toml:2: there is no key lanes.a.vouches_owners; did you mean lanes.*.vouches_owner?",
        ),
    ];
    for (text, refusal) in table {
        check(text, &[], refusal);
    }
}

#[test]
fn decisions_logs_and_discord_keys_that_do_not_fit_are_refused() {
    let table = [
        (
            "[autonomy]\npush = \"always\"",
            "./c.toml:2: autonomy.push is \"always\" and must be \"ask\" or \"delegate\"",
        ),
        ("[log]\nformat = \"xml\"", "./c.toml:2: log.format is \"xml\" and must be \"text\" or \"json\""),
        (
            "[log]\nfilter = \"a=b=c\"",
            "./c.toml:2: log.filter is \"a=b=c\" and must be a filter such as \"info\" or \"warn,clankie=debug\"",
        ),
        (
            "[discord]\nguilds = [\"home\"]",
            "./c.toml:2: discord.guilds is \"home\" and must be a list of Discord's own numbers, such as \"81384788765712384\"; names never count",
        ),
        (
            "[discord]\ntoken_env = \"A\"\ntoken_file = \"b\"",
            "./c.toml:3: discord.token_env and discord.token_file are both set; keep one of them",
        ),
        (
            "[discord]\nguilds = [\"1\"]",
            "./c.toml:2: discord.guilds is set and the bot has no token; name a variable with discord.token_env or a file of mode 0600 with discord.token_file",
        ),
        (
            "[discord]\napi_url = \"http://proxy.example\"",
            "./c.toml:2: discord.api_url is \"http://proxy.example\" and must be an https address, or an http one of this machine itself, without path or credentials",
        ),
        (
            "[discord]\ncatch_up_count = 101",
            "./c.toml:2: discord.catch_up_count is 101 and must be a whole number from 0 to 100",
        ),
    ];
    for (text, refusal) in table {
        check(text, &[], refusal);
    }
}

#[test]
fn notifications_that_can_not_be_sent_as_written_are_refused() {
    let web = "an http or https address, without credentials";
    let table = [
        ("[notify]\ndelay = \"2 days\"", format!("notify.delay is \"2 days\" and must be {}", spans())),
        ("[notify]\ndelay = \"48h\"", "notify.delay is 48h and must be at most 24h".to_owned()),
        ("[notify.ntfy]\nurl = \"ftp://a\"", format!("notify.ntfy.url is \"ftp://a\" and must be {web}")),
        ("[notify.ntfy]\ntopic = \"a b\"", "notify.ntfy.topic is \"a b\" and must be 1–64 letters, digits or -_".into()),
        (
            "[notify.webhook]\nurl = \"https://u:p@a/\"\nsecret_env = \"S\"",
            format!("notify.webhook.url is \"(an address with credentials)\" and must be {web}"),
        ),
        (
            "[notify.webhook]\nurl = \"https://a/\"",
            "notify.webhook.url is set without a secret to sign with; name a variable with notify.webhook.secret_env or a file of mode 0600 with notify.webhook.secret_file".into(),
        ),
    ];
    for (text, refusal) in table {
        check(text, &[], &format!("./c.toml:2: {refusal}"));
    }
    let both = "[notify.webhook]\nsecret_env = \"A\"\nsecret_file = \"b\"";
    let refusal = "./c.toml:3: notify.webhook.secret_env and notify.webhook.secret_file are both set; keep one of them";
    check(both, &[], refusal);
}

fn spans() -> &'static str {
    "whole seconds, or a text such as \"300s\", \"5m\", \"2h\" or \"500ms\""
}

#[test]
fn b106_a_secret_of_a_sink_is_named_and_neither_written_nor_repeated() {
    let wrong = ["ntfy]\ntoken", "ntfy]\ntoken_env", "webhook]\nsecret", "webhook]\nsecret_env"];
    for key in wrong {
        let refusal = loaded(&format!("[notify.{key} = \"whsec_canary\""), &[]).map(|_| ()).unwrap_err();
        assert!(refusal.starts_with("./c.toml:2: ") && !refusal.contains("canary"), "{refusal}");
    }
    let refusal = loaded("", &[("CLANKIE_NOTIFY__WEBHOOK__SECRET", "canary")]).map(|_| ()).unwrap_err();
    let wanted = "name a variable with notify.webhook.secret_env";
    assert!(refusal.contains(wanted) && !refusal.contains("canary"), "{refusal}");
    let written = "[notify.ntfy]\ntopic = \"canary\"\n[notify.webhook]\nurl = \"https://a/canary\"\nsecret_env = \"S\"";
    let notify = loaded(written, &[]).unwrap().config.notify;
    assert!(notify.ntfy.is_some() && notify.webhook.is_some());
    assert!(!format!("{notify:?}").contains("canary"), "{notify:?}");
}

#[test]
fn a_malformed_model_is_refused() {
    let begun = "[model]\nprovider = \"openai\"\nmodel = \"m\"\n";
    let table = [
        (
            "[model]\nprovider = \"openai\"",
            "./c.toml:2: a model is begun here and model.model is not set; set it as well",
        ),
        ("[model]\nmodel = \"m\"", "./c.toml:2: a model is begun here and model.provider is not set; set it as well"),
        (
            "[model]\nprovider = \"acme\"",
            "./c.toml:2: model.provider is \"acme\" and must be \"openai\", \"openai-responses\", \"anthropic\", \"gemini\" or \"ollama\"",
        ),
        (
            &format!("{begun}base_url = \"x\""),
            "./c.toml:4: model.base_url is \"x\" and must be an http or https address, without credentials",
        ),
        (
            &format!("{begun}api_key_env = \"A\"\napi_key_file = \"b\""),
            "./c.toml:5: model.api_key_env and model.api_key_file are both set; keep one of them",
        ),
        (&format!("{begun}retries = 99"), "./c.toml:4: model.retries is 99 and must be a whole number from 0 to 10"),
        (
            &format!("{begun}token_budget = 0"),
            "./c.toml:4: model.token_budget is 0 and must be a whole number, at least 1",
        ),
    ];
    for (text, refusal) in table {
        check(text, &[], refusal);
    }
}

#[test]
fn b106_a_key_in_the_clear_is_refused_and_not_repeated() {
    let begun = "[model]\nprovider = \"openai\"\nmodel = \"m\"\n";
    for line in ["api_key = \"sk-canary\"", "api_key_env = \"sk-canary\""] {
        let refusal = loaded(&format!("{begun}{line}"), &[]).map(|_| ()).unwrap_err();
        assert!(refusal.starts_with("./c.toml:4: ") && !refusal.contains("canary"), "{refusal}");
    }
    let refusal = loaded("", &[("CLANKIE_MODEL__API_KEY", "sk-canary")]).map(|_| ()).unwrap_err();
    assert!(!refusal.contains("canary"), "{refusal}");
}

#[test]
fn a_malformed_variable_is_refused_by_its_name() {
    let table = [
        (
            "CLANKIE_LIMITS__RUNING",
            "3",
            "CLANKIE_LIMITS__RUNING: no key belongs to this variable; did you mean limits.running?; unset it or correct its name",
        ),
        (
            "CLANKIE_LISTN",
            "a",
            "CLANKIE_LISTN: no key belongs to this variable; did you mean listen?; unset it or correct its name",
        ),
        (
            "CLANKIE_COLOURS__RED",
            "1",
            "CLANKIE_COLOURS__RED: no key belongs to this variable; unset it or correct its name",
        ),
        (
            "CLANKIE_LIMITS__WAITING",
            "many",
            "CLANKIE_LIMITS__WAITING: limits.waiting is \"many\" and must be a whole number from 1 to 65535",
        ),
        (
            "CLANKIE_LIMITS__WAITING",
            "",
            "CLANKIE_LIMITS__WAITING: limits.waiting is \"\" and must be a whole number from 1 to 65535",
        ),
        (
            "CLANKIE_LISTEN",
            "4310",
            "CLANKIE_LISTEN: listen is \"4310\" and must be an address with a port, such as \"127.0.0.1:4310\"",
        ),
        (
            "CLANKIE_DISCORD__TOKEN",
            "x",
            "CLANKIE_DISCORD__TOKEN: a bot's token does not belong into the configuration; name a variable with discord.token_env or a file of mode 0600 with discord.token_file",
        ),
        (
            "CLANKIE_LANES__BRIDGE__VOUCHES_OWNER",
            "true",
            "CLANKIE_LANES__BRIDGE__VOUCHES_OWNER: lanes are set in a file, under [lanes.NAME]: a variable's name cannot say which lane",
        ),
        (
            "CLANKIE_LOG",
            "a=b=c",
            "CLANKIE_LOG: log.filter is \"a=b=c\" and must be a filter such as \"info\" or \"warn,clankie=debug\"",
        ),
    ];
    for (name, value, refusal) in table {
        check("", &[(name, value)], refusal);
    }
}

#[test]
fn a_file_that_is_not_there_is_refused() {
    let sources = Sources { file: Some("/nowhere/c.toml".into()), ..Sources::default() };
    let refusal = load(&sources).map(|_| ()).unwrap_err();
    assert!(refusal.to_string().starts_with("/nowhere/c.toml: cannot be read: "), "{refusal}");
    assert_eq!(load(&Sources::default()).map(|_| ()), Err(ConfigError::NoHome));
}

#[test]
fn a_flag_wins_over_the_environment_over_the_named_file_over_the_users_file() {
    let dir = tempfile::tempdir().unwrap();
    let user = dir.path().join("clankie").join("clankie.toml");
    std::fs::create_dir(user.parent().unwrap()).unwrap();
    std::fs::write(&user, "listen = \"127.0.0.1:1\"\n[limits]\nrunning = 11\nwaiting = 11\nwaiting_per_room = 11")
        .unwrap();
    let named = dir.path().join("named.toml");
    std::fs::write(&named, "listen = \"127.0.0.1:2\"\n[limits]\nrunning = 12\nwaiting = 12").unwrap();
    let config_home = dir.path().display().to_string();
    let environment = [
        ("XDG_CONFIG_HOME", config_home.as_str()),
        ("XDG_STATE_HOME", "/state"),
        ("CLANKIE_LISTEN", "127.0.0.1:3"),
        ("CLANKIE_LIMITS__RUNNING", "13"),
        ("CLANKIE_CONFIG", "is read by the command line"),
    ];
    let sources = Sources {
        listen: Some("127.0.0.1:4".into()),
        file: Some(named.clone()),
        environment: environment.into_iter().collect(),
        ..Sources::default()
    };
    let Loaded { rows, config } = load(&sources).unwrap();
    let seen: BTreeMap<_, _> = rows.into_iter().map(|row| (row.key, (row.value, row.origin))).collect();
    let expected = [
        ("listen", Value::from("127.0.0.1:4"), Origin::Flag { flag: "--listen" }),
        ("limits.running", Value::from(13), Origin::Environment { variable: "CLANKIE_LIMITS__RUNNING".into() }),
        ("limits.waiting", Value::from(12), Origin::File { path: named, line: 4 }),
        ("limits.waiting_per_room", Value::from(11), Origin::File { path: user, line: 5 }),
        ("limits.running_per_room", Value::from(2), Origin::Default),
        ("state_dir", Value::from("/state/clankie"), Origin::Default),
    ];
    for (key, value, origin) in expected {
        assert_eq!(seen[key], (Some(value), origin), "{key}");
    }
    assert_eq!(config.limits.running.get(), 13);
}

#[test]
fn lists_and_rooms_come_from_variables_between_commas() {
    let variables = [("CLANKIE_GRANTS__OWNERS", "local:ann, discord:user:1"), ("CLANKIE_ROOMS__LOCAL", "den,attic")];
    let config = loaded("", &variables).unwrap().config;
    let owners: Vec<_> = config.grants.owners.iter().map(|owner| owner.as_str()).collect();
    assert_eq!(owners, ["discord:user:1", "local:ann"]);
    assert_eq!(config.rooms, ["attic", "den"].map(str::to_owned).into());
}

#[test]
fn without_a_model_the_demo_runs_and_with_one_the_builtin_does() {
    let routed = |text: &str, variables: &[(&str, &str)]| {
        let config = loaded(text, variables).unwrap().config;
        (config.executors.social.to_string(), config.model.map(|model| (model.provider, model.model, model.key)))
    };
    assert_eq!(routed("", &[]), ("demo".to_owned(), None));
    let usual = KeySource::Usual("OPENAI_API_KEY");
    let model = Some((Provider::Openai, "gpt-5-mini".to_owned(), usual));
    assert_eq!(routed("", &[("OPENAI_API_KEY", "k")]), ("builtin".to_owned(), model.clone()));
    assert_eq!(routed("[executor]\ndefault = \"demo\"", &[("OPENAI_API_KEY", "k")]), ("demo".to_owned(), model));
    let written = "[model]\nprovider = \"anthropic\"\nmodel = \"m\"\napi_key_env = \"K\"";
    let model = Some((Provider::Anthropic, "m".to_owned(), KeySource::Variable("K".into())));
    assert_eq!(routed(written, &[("OPENAI_API_KEY", "k")]), ("builtin".to_owned(), model));
}

#[test]
fn a_smaller_total_alone_lowers_the_share_of_a_room() {
    let limits = loaded("[limits]\nrunning = 1", &[]).unwrap().config.limits;
    assert_eq!((limits.running.get(), limits.running_per_room.get()), (1, 1));
}

#[test]
fn the_example_file_holds_every_key_with_its_default() {
    let state_dir = Path::new("/state/clankie");
    let example = loaded(EXAMPLE, &[("XDG_STATE_HOME", "/state")]).unwrap();
    let mut config = example.config;
    assert_eq!(config.lanes.pop_first().map(|(_, lane)| lane), Some(Lane::default()));
    assert_eq!(config, Config::defaults(state_dir.to_owned()).unwrap());

    let told: BTreeMap<_, _> = example.rows.into_iter().map(|row| (row.key, row.origin)).collect();
    for key in keys::KEYS.map(|key| key.path.replace('*', "bridge")) {
        let name = key.rsplit('.').next().unwrap();
        let optional = EXAMPLE.lines().any(|line| line.starts_with(&format!("# {name} = ")));
        assert!(told[&key] != Origin::Default || optional, "{key} does not stand in config/clankie.toml");
    }
}

#[test]
fn every_key_behind_a_hash_is_a_key_with_a_sentence_before_it() {
    let mut shown = String::new();
    let mut before = "";
    for line in EXAMPLE.lines() {
        let key = line.strip_prefix("# ").filter(|rest| is_assignment(rest));
        let written = key.unwrap_or(line);
        if is_assignment(written) && written != "name = \"lobby\"" && written != "name = \"lab\"" {
            assert!(before.starts_with("# ") && before.ends_with('.'), "no sentence before {written}");
        }
        // One of the two places for a key is enough, and the first.
        if !["api_key_file", "token_file", "secret_file"].iter().any(|second| written.starts_with(second)) {
            shown.push_str(written);
        }
        shown.push('\n');
        before = line;
    }
    let config = loaded(&shown, &[]).unwrap().config;
    assert_eq!(config.model.map(|model| model.key), Some(KeySource::Variable("OPENAI_API_KEY".into())));
    assert_eq!(config.discord.map(|bot| bot.token), Some(KeySource::Variable("DISCORD_TOKEN".into())));
    let variable = |name: &str| Some(KeySource::Variable(name.into()));
    assert_eq!(config.notify.ntfy.and_then(|ntfy| ntfy.token), variable("NTFY_TOKEN"));
    assert_eq!(config.notify.webhook.map(|webhook| webhook.secret), variable("WEBHOOK_SECRET"));
}

fn is_assignment(line: &str) -> bool {
    line.split_once(" = ").is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
}

#[test]
fn no_variable_of_the_environment_is_shown_with_its_value() {
    let environment = Environment::from_iter([("SOME_SECRET", "canary")]);
    assert!(!format!("{environment:?}").contains("canary"));
}
