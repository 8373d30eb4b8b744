//! Webhooks as their standards have them, checked by somebody else's implementation.

use super::*;

/// What the library of Standard Webhooks says about a message.
fn verified(told: &Told, secret: &str) -> bool {
    let mut headers = axum::http::HeaderMap::new();
    for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
        headers.insert(name, told.header(name).parse().unwrap());
    }
    standardwebhooks::Webhook::new(secret).unwrap().verify(told.body.as_bytes(), &headers).is_ok()
}

#[test]
fn a_webhook_is_signed_as_standard_webhooks_has_it() {
    let scene = Scene::start("");
    let id = scene.ask("m1", &[decision("Left or right?")]).remove(0);
    scene.told("webhook", 1);
    let told = scene.webhook.told().remove(0);
    assert_eq!((told.path.as_str(), told.header("webhook-id")), ("/hook/canary-address-3f", id.as_str()));
    assert!(verified(&told, SECRET));
    assert!(!verified(&told, "whsec_Y2FuYXJ5LTBhZjM3YjE5Y2Q0NGU2NThhMmY5ZDdjMWM="), "another secret fits as well");
    let forged = Told { body: told.body.replace("Left", "Lift"), ..told.clone() };
    assert!(!verified(&forged, SECRET), "another body fits as well");
}

#[test]
fn a_webhook_carries_a_cloud_event_with_every_required_attribute() {
    let scene = Scene::start("");
    let id = scene.ask("m1", &[decision("Left or right?")]).remove(0);
    scene.told("webhook", 1);
    let told = scene.webhook.told().remove(0);
    assert_eq!(told.header("content-type"), "application/cloudevents+json; charset=utf-8");
    let event = told.json();
    assert_eq!((&event["specversion"], &event["id"], &event["subject"]), (&json!("1.0"), &json!(id), &json!(id)));
    assert_eq!(event["type"], "dev.clankie.ask.opened.v1");
    assert!(event["source"].as_str().unwrap().starts_with("urn:uuid:"), "{event}");
    assert!(event["time"].as_str().unwrap().parse::<jiff::Timestamp>().is_ok(), "{event}");
    // Names of attributes are lower-case letters and digits, by the standard.
    let legal = |name: &String| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    assert!(event.as_object().unwrap().keys().all(legal), "{event}");
    let data = &event["data"];
    assert_eq!((&data["request_id"], &data["purpose"]), (&json!(id), &json!("decision")));
    assert_eq!(data["text"], "Left or right?");
    assert_eq!(data["command"], format!("clankie asks show {id}"));
    assert!(!told.body.contains(PAGE), "no page shows it, so no link leads to one: {event}");
}

#[test]
fn a_receiver_that_is_gone_is_left_alone_and_a_redirect_is_not_followed() {
    let scene = Scene::start("");
    scene.webhook.script([Reply::Redirect, Reply::Status(410)]);
    scene.ask("m1", &[decision("Left or right?")]);
    until("the webhook to be disabled", || (scene.stands("webhook")["state"] == "disabled").then_some(()));
    scene.ask("m2", &[decision("Up or down?")]);
    scene.told("ntfy", 2);
    let told = scene.webhook.told();
    assert_eq!(told.iter().map(|one| one.path.as_str()).collect::<Vec<_>>(), ["/hook/canary-address-3f"; 2]);
    assert_eq!(told[0].header("webhook-id"), told[1].header("webhook-id"), "a repeat has the same id");
    assert_eq!(scene.stands("webhook")["failures"], 2);
}
