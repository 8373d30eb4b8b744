//! A device answers while its room is full, and is revoked before the answer crosses: it comes back, and stays so over a kill.

use serde_json::json;

use crate::day::receipt;
use crate::scene::{Scene, answering, decision, option};
use crate::service::turn;

const BACK: &str =
    "M1, M2: an answer whose giver was revoked before it crossed comes back, is shown so and wakes nothing";
/// Two people whose runs fill the room.
const HOLDERS: [&str; 2] = ["bob", "cat"];

/// Plays it.
pub(crate) fn play(scene: &mut Scene) {
    let ask = scene.ask("full", &[decision("full")]).remove(0);
    scene.book.count("asks");
    let (id, tablet) = scene.pair("tablet", &["terminal_control"]);
    for who in HOLDERS {
        scene.service.admit(&turn("full", &format!("hold-{who}"), who, "!wait-steer 600000"));
        scene.service.running(&format!("hold-{who}"));
    }
    let given = scene.dispatch_as(&tablet, &answering(&ask, &option(&ask, 0))).unwrap().json();
    scene.book.count("answers over HTTP by a device");
    let stands = scene.shown(&ask)["continuation"]["state"].clone();
    scene.book.law(BACK, "while it waits", (stands, json!("claimed")));
    scene.service.dispatch(json!({"op": "device_revoke", "device_id": id}));
    for who in HOLDERS {
        scene.service.admit(&turn("full", &format!("go-{who}"), who, "go on"));
    }
    scene.rest(std::slice::from_ref(&ask));
    for when in ["after the revocation", "after a kill"] {
        let shown = scene.shown(&ask);
        scene.book.law(BACK, when, (shown["continuation"]["state"].clone(), json!("returned")));
        scene.book.law(BACK, when, (shown["continuation"]["reason_code"].is_string(), true));
        let again = scene.service.dispatch(answering(&ask, &option(&ask, 0)));
        scene.book.law(BACK, when, (receipt(&again), receipt(&given)));
        scene.book.law(BACK, when, (scene.woken("full"), vec![]));
        if when == "after the revocation" {
            scene.cut("");
            scene.rest(std::slice::from_ref(&ask));
        }
    }
    scene.book.count("returned, and shown so");
    let (code, _) = scene.command("", &["asks", "seen", ask["request_id"].as_str().unwrap()]);
    let seen = scene.shown(&ask)["continuation"]["seen"].clone();
    scene.book.law(BACK, "marked as seen", ((code, seen), (Some(0), json!(true))));
}
