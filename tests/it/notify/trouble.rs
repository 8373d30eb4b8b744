//! Sinks that fail, and what that costs: nothing but the notification.

use super::*;

/// Far more than an answer takes, and far less than a sink's deadline of 15 s.
const AT_ONCE: Duration = Duration::from_secs(10);

/// B59: a notification that does not arrive holds nothing up and captures nothing; the trouble shows in
/// status, and the other sink hears everything.
#[test]
fn b59_a_dead_sink_delays_neither_a_publication_nor_an_answer() {
    let scene = Scene::start("");
    scene.webhook.script([Reply::Never; 8]);
    let begun = Instant::now();
    let ids = scene.ask("m1", &[decision("Left or right?"), decision("Up or down?")]);
    until("the webhook to hang", || (!scene.webhook.told().is_empty()).then_some(()));
    assert_eq!(scene.answer(&ids[0])["status"], "resolved");
    assert_eq!(scene.answer(&ids[1])["status"], "resolved");
    assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
    assert_eq!(scene.service.result("r", "m1")["kind"], "settled");
    assert_eq!(scene.stands("webhook")["told"], 0);
}

#[test]
fn failures_show_in_status_and_on_the_command_line_until_it_goes_well() {
    let scene = Scene::start("");
    scene.ntfy.script([Reply::Status(503), Reply::Status(403)]);
    scene.ask("m1", &[decision("Left or right?")]);
    until("ntfy to lose an ask", || (scene.stands("ntfy")["dropped"] == 1).then_some(()));
    let stands = scene.stands("ntfy");
    assert_eq!((&stands["state"], &stands["failures"]), (&json!("failing"), &json!(2)));
    assert_eq!(stands["last_error"], "it does not let us publish there (status 403)");
    assert_eq!(scene.service.cli(&["status"]).data()["notify"][0], stands);
    scene.ask("m2", &[decision("Up or down?")]);
    scene.told("ntfy", 1);
    let stands = scene.stands("ntfy");
    assert_eq!((&stands["state"], &stands["dropped"]), (&json!("ready"), &json!(1)));
    assert!(stands["last_success_at"].is_string(), "{stands}");
}

/// B106: credentials and addresses of sinks are in no log at any level, no status and no message, also
/// when the place cannot be reached.
#[test]
fn b106_a_sinks_credentials_and_address_are_found_nowhere() {
    let mut scene = Scene::start("");
    scene.webhook.script([Reply::Status(500)]);
    scene.ask("m1", &[decision("Left or right?")]);
    scene.told("webhook", 1);
    scene.told("ntfy", 1);
    let mut seen = scene.service.read("/operator/v1/status").to_string();
    for arguments in [&["status"][..], &["status", "--json"]] {
        let ran = scene.service.cli(arguments);
        seen.push_str(&(ran.out + &ran.err));
    }
    for told in scene.ntfy.told().into_iter().chain(scene.webhook.told()) {
        seen.push_str(&told.body);
    }
    assert_eq!(scene.service.stop(), Some(0));
    let log = scene.service.log();
    assert!(log.contains(" TRACE "), "nothing was left out: {log}");
    let key = SECRET.trim_start_matches("whsec_");
    for (name, secret) in [("token", TOKEN), ("secret", key)] {
        for (place, text) in [("an answer", &seen), ("the log", &log)] {
            assert!(!text.contains(secret), "the {name} is in {place}");
        }
    }
    assert!(!seen.contains("canary-address"), "the address is in an answer");
    let own = log.lines().filter(|line| line.contains(" clankie")).find(|line| line.contains("canary-address"));
    assert_eq!(own, None, "the address is in the log");
}

/// A secret that is none refuses the start, and is not repeated.
#[test]
fn b106_a_signing_secret_that_is_none_refuses_to_start_and_is_not_repeated() {
    let mut scene = Scene::prepare("");
    scene.service.variable("WEBHOOK_SECRET", "whsec_canary");
    let ran = scene.service.refused();
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err.contains("signing secret") && !(ran.out + &ran.err).contains("canary"));
}
