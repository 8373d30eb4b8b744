//! The gateway connection of the real program: where it goes, how it ends, and what comes over it.

use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use crate::fake::{Calls, Close, Fault, Heartbeats};
use crate::scene::Scene;
use crate::service::until;

/// Nothing but the gateway at the configured API base is connected to, whatever is handed out:
/// another host, another port, and an address that only contains the right one are refused.
#[test]
fn a_gateway_elsewhere_is_refused_and_no_connection_goes_there() {
    let mut scene = Scene::prepare("", "");
    let base: SocketAddr = scene.fake.url().strip_prefix("http://").unwrap().parse().unwrap();
    let listeners = ["127.0.0.2:0", "127.0.0.1:0"].map(|at| TcpListener::bind(at).unwrap());
    let places = listeners.each_ref().map(|listener| listener.local_addr().unwrap());
    listeners.iter().for_each(|listener| listener.set_nonblocking(true).unwrap());
    for elsewhere in [
        format!("ws://{}", places[0]),
        format!("ws://{}", places[1]),
        format!("ws://{base}@{}", places[0]),
        format!("ws://{}/{base}", places[1]),
    ] {
        scene.fake.hand_out(Some(&elsewhere));
        scene.service.launch();
        let why = until("the refusal", || scene.stands()["trouble"].as_str().map(str::to_owned));
        assert!(why.contains("not at the configured api_url"), "{elsewhere}: {why}");
        scene.service.stop();
        for listener in &listeners {
            assert!(listener.accept().is_err(), "{elsewhere} was connected to");
        }
    }
    assert_eq!(scene.fake.identifies(), 0);
    scene.fake.hand_out(None);
    scene.service.launch();
    scene.connected();
}

/// The library asks for the gateway once more, and would fall back to Discord's own where it gets
/// no answer: it connects to the one that was checked.
#[test]
fn the_real_gateway_is_no_fallback_for_a_configured_one() {
    let mut scene = Scene::prepare("", "");
    scene.fake.fault(Calls::which(|call| call.pieces() == ["gateway"]).always(), Fault::Status(500));
    scene.service.launch();
    scene.connected();
    let asked = scene.ask("ann", "hello");
    assert_eq!(scene.replies(asked), ["demo: hello"]);
}

/// A session that may be resumed is, and what was said meanwhile is replayed; one that may not is
/// begun anew, and what was said meanwhile is read back. Either way it is answered once.
#[test]
fn an_invalid_session_is_resumed_where_it_may_be_and_else_begun_anew() {
    let scene = Scene::start("", "");
    for (how, resumes, identifies) in [(Close::InvalidResumable, 1, 1), (Close::Invalid, 1, 2)] {
        scene.fake.end_connections(how);
        let asked = scene.ask("ann", &format!("{how:?}"));
        assert_eq!(scene.replies(asked), [format!("demo: {how:?}")]);
        until("the connection to stand again", || {
            ((scene.fake.resumes(), scene.fake.identifies()) == (resumes, identifies)).then_some(())
        });
    }
    assert_eq!(scene.fake.replies(scene.general).len(), 2);
}

/// Heartbeats without an answer end the connection by themselves, and nothing is lost or doubled.
#[test]
fn heartbeats_without_an_answer_bring_the_bot_back() {
    let mut scene = Scene::prepare("", "");
    let often = Duration::from_millis(300);
    scene.fake.heartbeats(Heartbeats::Answered, often);
    scene.service.launch();
    scene.connected();
    scene.over(scene.ask("ann", "before"));
    let before = scene.fake.identifies() + scene.fake.resumes();
    scene.fake.heartbeats(Heartbeats::Ignored, often);
    until("another connection", || (scene.fake.identifies() + scene.fake.resumes() > before).then_some(()));
    let meanwhile = scene.ask("ben", "meanwhile");
    scene.fake.heartbeats(Heartbeats::Answered, often);
    assert_eq!(scene.replies(meanwhile), ["demo: meanwhile"]);
    assert_eq!(scene.fake.replies(scene.general).len(), 2);
}

/// What comes in the wrong order is answered once each, quoting its own message.
#[test]
fn messages_in_the_wrong_order_are_each_answered_once() {
    let scene = Scene::start("", "");
    scene.fake.reorder_next(3);
    let asked = ["ann", "ben", "cat"].map(|who| scene.ask(who, &format!("of {who}")));
    let replies = asked.map(|message| scene.replies(message));
    assert_eq!(replies, [["demo: of ann"], ["demo: of ben"], ["demo: of cat"]]);
    assert_eq!(scene.fake.replies(scene.general).len(), 3);
}
