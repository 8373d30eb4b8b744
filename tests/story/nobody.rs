//! Everybody who may not answer tries to, and the whole ask stays as it was.

use serde_json::{Value, json};

use crate::scene::{Scene, answering, approval, decision, option};
use crate::service::{Ask, turn};

const UNMOVED: &str = "M2, M6: neither a room, a credential without the right, nor a kill moves an ask";
const REFUSED: &str = "M2: who may not answer is refused without content";
/// What a credential that may not, or is none any more, hears.
const FORBIDDEN: [u16; 2] = [401, 403];

/// Plays it.
pub(crate) fn play(scene: &mut Scene) {
    let asks = scene.ask("quiet", &[decision("quiet"), approval("quiet")]);
    asks.iter().for_each(|_| scene.book.count("asks"));
    let before: Vec<Value> = asks.iter().map(|ask| scene.shown(ask)).collect();
    for (number, words) in ["yes", "approve", "Approve", "go-quiet", "1"].iter().enumerate() {
        for actor in ["ann", "bob"] {
            scene.service.settle(&turn("quiet", &format!("word-{number}-{actor}"), actor, words));
            scene.book.count("refused attempts: words in the room");
            unmoved(scene, &before, words);
        }
    }
    for (who, token) in strangers(scene) {
        for ask in &before {
            tries(scene, ask, who, &token);
        }
        unmoved(scene, &before, who);
    }
    scene.cut("");
    unmoved(scene, &before, "a kill");
    let woken = scene.woken("quiet");
    scene.book.law(UNMOVED, "nothing woke the room", (woken, vec![]));
}

/// Everybody with a credential that is not enough.
fn strangers(scene: &Scene) -> Vec<(&'static str, String)> {
    let (_, looks) = scene.pair("looks", &["observe"]);
    let (_, talks) = scene.pair("talks", &["chat", "steer", "observe", "device_admin"]);
    let (lost, revoked) = scene.pair("lost", &["terminal_control"]);
    let listed = scene.dispatch_as(&revoked, &json!({"op": "input_list"})).unwrap();
    assert_eq!(listed.status, 200, "it could, before it was lost: {listed:?}");
    scene.service.dispatch(json!({"op": "device_revoke", "device_id": lost}));
    let opened = scene.service.dispatch(json!({"op": "account_open", "name": "zoe"}));
    vec![
        ("the captain", scene.service.token("captain", "captain")),
        ("a text lane", scene.service.lane(crate::service::LANE)),
        ("a voice lane", scene.service.token("lane-voice", "voice")),
        ("an account", opened["secret"].as_str().unwrap().to_owned()),
        ("a device that may only look", looks),
        ("a device with every other grant", talks),
        ("a revoked device", revoked),
        ("nobody at all", "no-such-token".to_owned()),
    ]
}

/// Every operation of the mailbox in that name.
fn tries(scene: &mut Scene, ask: &Value, who: &'static str, token: &str) {
    let mut cancel = answering(ask, &option(ask, 0));
    cancel["op"] = json!("input_cancel");
    cancel.as_object_mut().unwrap().remove("answer");
    let (conversation, request) = (&ask["conversation_id"], &ask["request_id"]);
    let operations = [
        answering(ask, &option(ask, 0)),
        answering(ask, &json!({"kind": "text", "text": "yes"})),
        cancel,
        json!({"op": "mark_seen", "request_id": request}),
        json!({"op": "input_get", "conversation_id": conversation, "request_id": request}),
        json!({"op": "input_list"}),
        json!({"op": "owner_update_list"}),
    ];
    for operation in operations {
        let answer = scene.dispatch_as(token, &operation).unwrap();
        scene.book.count("refused attempts: credentials");
        let bare = !answer.body.contains(request.as_str().unwrap()) && !answer.body.contains("quiet");
        let about = format!("{who}, {}", operation["op"]);
        scene.book.law(REFUSED, &about, ((FORBIDDEN.contains(&answer.status), bare), (true, true)));
    }
    let events = Ask::get("/operator/v1/events").token(token);
    // A feed that opens for handoffs alone would not end; only those who hear nothing at all are asked.
    if !matches!(who, "a device that may only look" | "a device with every other grant") {
        let status = events.attempt(scene.service.address()).map(|answer| answer.status);
        scene.book.law(REFUSED, who, (status.is_some_and(|status| FORBIDDEN.contains(&status)), true));
    }
}

fn unmoved(scene: &mut Scene, before: &[Value], about: &str) {
    let now: Vec<Value> = before.iter().map(|ask| scene.shown(ask)).collect();
    scene.book.law(UNMOVED, about, (now, before.to_vec()));
}
