//! `clankie doctor` against the fake Discord: what is wrong is named, and nothing is changed.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::fake::{Calls, Fault, Happening, Right};
use crate::scene::Scene;
use crate::service::until;

/// The message content intent.
const MESSAGE_CONTENT: u64 = 1 << 15;

/// What the doctor says, and its exit code.
fn doctor(scene: &Scene) -> (Option<i32>, Value) {
    let file = scene.service.config_file();
    let ran = scene.service.cli(&["--config", file.to_str().unwrap(), "doctor", "--json"]);
    let said: Value = serde_json::from_str(&ran.out).unwrap_or_else(|why| panic!("{why}: {ran:?}"));
    assert_eq!(said["schema_version"], 1);
    (ran.code, said)
}

/// State and detail of the check of this name.
fn check(said: &Value, id: &str) -> (String, String) {
    let checks = said["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["id"] == id).unwrap_or_else(|| panic!("no {id}: {said}"));
    let text = |key: &str| found[key].as_str().unwrap().to_owned();
    assert_eq!(found["hint"].is_string(), found["state"] == "failed", "{found}");
    (text("state"), text("detail"))
}

fn failed(said: &Value) -> Vec<&str> {
    let checks = said["checks"].as_array().unwrap().iter().filter(|check| check["state"] == "failed");
    checks.map(|check| check["id"].as_str().unwrap()).collect()
}

/// With and without a running service everything is right, and nothing was posted or identified.
#[test]
fn the_doctor_finds_nothing_where_all_is_right() {
    let mut scene = Scene::prepare("", "");
    let (code, said) = doctor(&scene);
    assert_eq!((code, &said["ok"], failed(&said)), (Some(0), &Value::Bool(true), vec![]), "{said}");
    assert_eq!((check(&said, "state_dir").0, check(&said, "service").0), ("skipped".into(), "skipped".into()));
    assert!(!scene.service.state_dir().exists(), "it makes nothing");
    scene.service.launch();
    scene.connected();
    crate::service::until("commands", || (scene.stands()["commands"] == "synced").then_some(()));
    let (code, said) = doctor(&scene);
    assert_eq!((code, failed(&said)), (Some(0), vec![]), "{said}");
    let general = format!("discord.channel.{}", scene.general);
    for id in [
        "config",
        "state_dir",
        "operator_token",
        "discord.reachable",
        "discord.token",
        "discord.intents",
        "discord.gateway",
        &general,
        "service",
        "store",
        "discord.link",
        "discord.commands",
    ] {
        assert_eq!(check(&said, id).0, "ok", "{id}: {said}");
    }
    assert_eq!(scene.fake.identifies(), 1);
    assert_eq!(scene.fake.count(|what| matches!(what, Happening::Posted { .. })), 0);
}

/// Each thing that is wrong is named by its own check, and the exit code says that something is.
#[test]
fn the_doctor_names_what_is_wrong() {
    let scene = Scene::prepare("", "");
    let home = scene.fake.guild("home");
    let (mute, dark) = (scene.fake.channel(home, "mute"), scene.fake.channel(home, "dark"));
    scene.configure(&format!("channels = [\"{}\", \"{mute}\", \"{dark}\"]", scene.general), "");
    scene.fake.deny(scene.general, Right::React);
    scene.fake.deny(mute, Right::Send);
    scene.fake.deny(dark, Right::View);
    scene.fake.deny_intents(MESSAGE_CONTENT);
    scene.fake.hand_out(Some("wss://gateway.discord.gg"));
    std::fs::create_dir(scene.service.state_dir()).unwrap();
    std::fs::set_permissions(scene.service.state_dir(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let (code, said) = doctor(&scene);
    assert_eq!((code, &said["ok"]), (Some(1), &Value::Bool(false)), "{said}");
    let channel = |channel| format!("discord.channel.{channel}");
    assert_eq!(
        failed(&said),
        ["state_dir", "discord.intents", "discord.gateway", &channel(mute), &channel(dark)],
        "{said}"
    );
    assert_eq!(check(&said, &channel(mute)).1, "the bot may not write");
    assert_eq!(check(&said, &channel(scene.general)).1, "the bot may not react; words come and go");
    scene.fake.hand_out(None);
}

/// A token with something beside it reaches no call: no header takes it.
#[test]
fn a_token_that_is_not_one_word_is_refused_before_a_call() {
    let mut scene = Scene::prepare("", "");
    scene.service.variable("BOT_TOKEN", "two words");
    let (code, said) = doctor(&scene);
    assert_eq!((code, failed(&said)), (Some(1), vec!["discord.token"]), "{said}");
    assert!(check(&said, "discord.token").1.contains("not one word"), "{said}");
    assert_eq!(scene.fake.count(|what| matches!(what, Happening::Called { .. })), 0);
}

/// A token that Discord does not know is named as that, with where it is configured.
#[test]
fn a_token_that_is_not_accepted_is_said_so_in_the_status() {
    let mut scene = Scene::prepare("", "");
    scene.fake.fault(Calls::of("GET", "/gateway/bot").always(), Fault::Refused(401, 0));
    scene.service.launch();
    let trouble = until("the trouble", || scene.stands()["trouble"].as_str().map(str::to_owned));
    assert!(trouble.contains("does not accept the bot's token") && trouble.contains("discord.token_env"), "{trouble}");
}

/// A token that is not accepted, a Discord that does not answer and a configuration that does not
/// parse are three different things.
#[test]
fn the_doctor_tells_a_wrong_token_from_a_discord_that_does_not_answer() {
    let scene = Scene::prepare("", "");
    scene.fake.fault(Calls::of("GET", "/users/@me"), Fault::Refused(401, 0));
    assert_eq!(failed(&doctor(&scene).1), ["discord.token"]);
    scene.fake.fault(Calls::of("GET", "/users/@me"), Fault::CutBefore);
    assert_eq!(failed(&doctor(&scene).1), ["discord.reachable"]);
    scene.fake.fault(Calls::of("GET", "/oauth2/"), Fault::Status(500));
    let (code, said) = doctor(&scene);
    assert_eq!((code, check(&said, "discord.intents").0.as_str()), (Some(0), "skipped"));
    scene.configure("nonsense = 1", "");
    let (code, said) = doctor(&scene);
    assert_eq!((code, failed(&said)), (Some(1), vec!["config"]));
    assert!(check(&said, "config").1.contains("nonsense"), "{said}");
}
