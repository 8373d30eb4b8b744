//! Configurations that are none: `config validate` and `serve` refuse them with the same sentence.

use crate::service::Service;

/// What is put into the file, and words of the sentence that refuses it.
const TABLE: &[(&str, &[&str])] = &[
    ("[limits", &["clankie.toml:7", "not TOML"]),
    ("[limits]\nrunning = 1\nrunning = 2", &["clankie.toml:9", "not TOML"]),
    ("[limits]\nruning = 4", &["clankie.toml:8", "no key limits.runing", "did you mean limits.running?"]),
    ("[limit]\nrunning = 4", &["clankie.toml:7", "no key limit", "did you mean"]),
    ("[limits]\nrunning = 0", &["clankie.toml:8", "limits.running is 0", "from 1 to 65535"]),
    ("[limits]\nrunning = \"four\"", &["clankie.toml:8", "limits.running", "whole number"]),
    ("[limits]\nrunning = -4", &["clankie.toml:8", "whole number"]),
    ("[limits]\nwaiting = 70000", &["clankie.toml:8", "whole number"]),
    ("[limits]\nrunning = 2\nrunning_per_room = 3", &["limits.running_per_room is 3", "cannot have more than all"]),
    ("[sessions]\nstall_after = \"soon\"", &["sessions.stall_after", "300s"]),
    ("[sessions]\nstall_after = \"1ms\"", &["sessions.stall_after"]),
    ("[sessions]\noutput_max = 10", &["sessions.output_max", "1024"]),
    ("[shutdown]\ngrace = \"-1s\"", &["shutdown.grace"]),
    ("[model]\nprovider = \"clippy\"\nmodel = \"x\"", &["model.provider", "\"anthropic\""]),
    ("[model]\nprovider = \"openai\"", &["model.model is not set"]),
    ("[model]\nprovider = \"openai\"\nmodel = \"x\"\napi_key = \"sk-planted-key\"", &["model.api_key_env"]),
    ("[model]\nprovider = \"openai\"\nmodel = \"x\"\nbase_url = \"ftp://x\"", &["model.base_url", "http"]),
    ("[model]\nprovider = \"openai\"\nmodel = \"x\"\nbase_url = \"http://u:sk-planted-key@x\"", &["model.base_url"]),
    ("[[rooms.local]]\nname = \"lab\"", &["room lab is there twice"]),
    ("[[rooms.local]]\nname = \"a/../b\"", &["rooms.local", "a/../b"]),
    ("[[rooms.local]]\nname = \"den\"\nopen = true", &["rooms.local"]),
    ("[grants]\nowners = [\"Ann\"]", &["grants.owners", "\"local:ann\""]),
    ("[grants]\nowners = \"local:ann\"", &["grants.owners", "a list of ids"]),
    ("[grants]\nowners = [\"discord:user:ann\"]", &["grants.owners"]),
    ("[grants]\nmachine_actors = [\"ingress:t\"]", &["grants.machine_actors"]),
    ("[grants]\nmachine_guilds = [\"guild\"]", &["grants.machine_guilds"]),
    ("[grants]\nmachine_rooms = [\"lab\"]", &["grants.machine_rooms"]),
    ("[grants]\nmachine_tools = [\"rm -rf\"]", &["grants.machine_tools", "\"file_read\""]),
    ("[grants]\nmachine_tools = [\"shell\"]\n[workspace]\ndir = \"/tmp\"", &["grants.machine_tools is \"shell\""]),
    ("[grants]\nmachine_tools = [\"file_read\"]", &["lists file_read", "set workspace.dir"]),
    ("[workspace]\ndir = \"files\"", &["workspace.dir", "an absolute path"]),
    ("[lanes.t]\nvouches_owner = \"yes\"", &["lanes.t.vouches_owner", "true or false"]),
    ("[lanes.t]\nowner = true", &["no key lanes.t.owner"]),
    ("[autonomy]\npush = \"always\"", &["autonomy.push", "\"ask\" or \"delegate\""]),
    ("[discord]\ntoken = \"sk-planted-key\"", &["discord.token_env"]),
    ("[log]\nformat = \"xml\"", &["log.format", "\"json\""]),
];

/// Variables of the environment, and words of the sentence that refuses them.
const VARIABLES: &[(&str, &str, &[&str])] = &[
    ("CLANKIE_LIMITS__RUNING", "4", &["CLANKIE_LIMITS__RUNING", "no key belongs", "limits.running"]),
    ("CLANKIE_LIMITS__RUNNING", "many", &["CLANKIE_LIMITS__RUNNING", "whole number"]),
    ("CLANKIE_LISTEN", "here", &["CLANKIE_LISTEN", "listen"]),
    ("CLANKIE_LISTEN", "0.0.0.0:0", &["public_url"]),
    ("CLANKIE_EXECUTOR__OWNER", "claude", &["executor.owner", "does not have"]),
    ("CLANKIE_EXECUTOR__OWNER", "builtin", &["executor.owner", "no model is configured"]),
    ("CLANKIE_MODEL__API_KEY", "sk-planted-key", &["CLANKIE_MODEL__API_KEY", "model.api_key_file"]),
    ("CLANKIE_LANES__T__VOUCHES_OWNER", "true", &["CLANKIE_LANES__T__VOUCHES_OWNER", "[lanes.NAME]"]),
];

#[test]
fn a_wrong_configuration_does_not_start_and_says_where_and_what() {
    for (text, words) in TABLE {
        let service = Service::prepare(text);
        refuses(&service, text, words);
    }
    for (name, value, words) in VARIABLES {
        let mut service = Service::prepare("");
        service.variable(name, value);
        refuses(&service, name, words);
    }
}

/// Both commands refuse with exit code 2 and one sentence, and leave no state behind.
fn refuses(service: &Service, what: &str, words: &[&str]) {
    let file = service.config_file();
    let checked = service.cli(&["config", "validate", file.to_str().unwrap()]);
    let served = service.refused();
    assert_eq!((checked.code, served.code), (Some(2), Some(2)), "{what}: {checked:?} {served:?}");
    assert_eq!(checked.err, served.err, "{what}");
    for word in words {
        assert!(served.err.contains(word), "{what}: {word:?} is not in {}", served.err);
    }
    assert!(served.err.starts_with("clankie: ") && served.err.trim_end().lines().count() == 1, "{}", served.err);
    assert!(!served.err.contains("sk-planted-key"), "a secret was repeated: {}", served.err);
    assert!(!service.state_dir().exists(), "{what}: something was written");
}
