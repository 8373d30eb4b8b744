//! Steers are taken by the next call and read by its reply, or given back.

use clankie_domain::session::{Command, Outcome, SessionEvent};
use clankie_domain::steering::Mark;

use super::super::bank::{Bank, Behaviour};
use super::super::{completed, handoff, steer};
use super::{PROVEN, settings, start};
use crate::model_peer::{Answer, Gate, ModelServer, Part};
use clankie::executors::builtin::settings::Provider;

fn queued(event: &SessionEvent, number: u128) -> bool {
    *event == SessionEvent::Steer(handoff(number), Mark::Queued)
}

/// B24: a correction is in the very next call, and counts as read only when that call is answered.
#[tokio::test]
async fn b24_a_steer_is_taken_by_the_next_call_and_read_by_its_reply() {
    for provider in PROVEN {
        let (server, gate) = (ModelServer::start(), Gate::new());
        let bank = Bank::of(&[("react", Behaviour::Gives("done".to_owned()))]);
        server.script([
            Answer::parts([Part::Gate(gate.clone()), Part::tool("c1", "react", "{}")]),
            Answer::parts([Part::Gate(gate.clone()), Part::text("Blue it is.")]),
        ]);
        let mut live = start(settings(provider, &server), "paint it red", bank);
        server.called(1).await;
        live.tell(steer(1, "no, blue")).await;
        live.tell(steer(2, "please")).await;
        live.until(|event| queued(event, 2)).await;
        gate.open();
        server.called(2).await;
        gate.open();
        let ended = live.end().await;
        assert_eq!(ended.outcome(), Some(&completed("Blue it is.")));
        for number in [1, 2] {
            assert_eq!(ended.marks(handoff(number)), [Mark::Queued, Mark::Taken, Mark::Read]);
        }
        let (first, second) = (server.calls()[0].body.to_string(), server.calls()[1].body.to_string());
        assert!(!first.contains("no, blue"), "{first}");
        assert!(second.find("no, blue").unwrap() < second.find("please").unwrap(), "{second}");
        let reply = ended.events.iter().position(|event| matches!(event, SessionEvent::Text(_))).unwrap();
        let read = SessionEvent::Steer(handoff(1), Mark::Read);
        assert!(ended.events.iter().position(|event| *event == read).unwrap() > reply, "{:?}", ended.events);
    }
}

/// B18: a steer that comes while the model writes its last words gets a call of its own.
#[tokio::test]
async fn b18_a_steer_during_the_last_words_is_read_by_another_call() {
    let (server, gate) = (ModelServer::start(), Gate::new());
    server.script([Answer::parts([Part::text("Red."), Part::Gate(gate.clone())]), Answer::text(["Blue then."])]);
    let mut live = start(settings(Provider::OpenAiChat, &server), "a colour?", Bank::empty());
    live.until(|event| matches!(event, SessionEvent::Text(_))).await;
    live.tell(steer(1, "rather blue")).await;
    live.until(|event| queued(event, 1)).await;
    gate.open();
    let ended = live.end().await;
    assert_eq!(ended.marks(handoff(1)), [Mark::Queued, Mark::Taken, Mark::Read]);
    assert_eq!(ended.outcome(), Some(&completed("Red.\n\nBlue then.")));
}

/// B18: when no further call succeeds, the finished reply stands and the steer is given back.
#[tokio::test]
async fn b18_a_steer_that_no_call_could_read_is_given_back_and_the_reply_stands() {
    let (server, gate) = (ModelServer::start(), Gate::new());
    server.script([Answer::parts([Part::text("Red."), Part::Gate(gate.clone())]), Answer::status(401)]);
    let mut live = start(settings(Provider::OpenAiChat, &server), "a colour?", Bank::empty());
    live.until(|event| matches!(event, SessionEvent::Text(_))).await;
    live.tell(steer(1, "rather blue")).await;
    live.until(|event| queued(event, 1)).await;
    gate.open();
    let ended = live.end().await;
    assert_eq!(ended.marks(handoff(1)), [Mark::Queued, Mark::Taken, Mark::Unread]);
    assert_eq!(ended.outcome(), Some(&completed("Red.")));
}

/// B18: without budget for another call the steer is given back as well.
#[tokio::test]
async fn b18_a_steer_beyond_the_budget_is_given_back() {
    let (server, gate) = (ModelServer::start(), Gate::new());
    server.script([Answer::parts([Part::text("Red."), Part::Gate(gate.clone())])]);
    let mut tight = settings(Provider::OpenAiChat, &server);
    tight.budgets.tokens = 15;
    let mut live = start(tight, "a colour?", Bank::empty());
    live.until(|event| matches!(event, SessionEvent::Text(_))).await;
    live.tell(steer(1, "rather blue")).await;
    live.until(|event| queued(event, 1)).await;
    gate.open();
    let ended = live.end().await;
    assert_eq!(ended.marks(handoff(1)), [Mark::Queued, Mark::Unread]);
    assert_eq!((ended.outcome(), server.calls().len()), (Some(&completed("Red.")), 1));
}

#[tokio::test]
async fn a_cancelled_steer_never_reaches_the_model() {
    let (server, gate) = (ModelServer::start(), Gate::new());
    server.script([Answer::parts([Part::Gate(gate.clone()), Part::text("Red.")])]);
    let mut live = start(settings(Provider::OpenAiChat, &server), "a colour?", Bank::empty());
    server.called(1).await;
    live.tell(steer(1, "rather blue")).await;
    live.tell(Command::CancelSteer(handoff(1))).await;
    live.until(|event| *event == SessionEvent::Steer(handoff(1), Mark::Unread)).await;
    gate.open();
    let ended = live.end().await;
    assert_eq!(ended.marks(handoff(1)), [Mark::Queued, Mark::Unread]);
    assert_eq!(server.calls().len(), 1);
}

/// A steer in a call that fails is in the next try; one that was cancelled meanwhile is not.
#[tokio::test]
async fn a_failed_call_keeps_its_steers_but_for_the_cancelled() {
    let (server, gate) = (ModelServer::start(), Gate::new());
    let bank = Bank::of(&[("react", Behaviour::Gives("done".to_owned()))]);
    server.script([
        Answer::parts([Part::Gate(gate.clone()), Part::tool("c1", "react", "{}")]),
        Answer::parts([Part::Gate(gate.clone()), Part::Cut]),
        Answer::text(["Fine."]),
    ]);
    let mut live = start(settings(Provider::OpenAiChat, &server), "go", bank);
    server.called(1).await;
    for command in [steer(1, "first words"), steer(2, "second words")] {
        live.tell(command).await;
    }
    live.until(|event| queued(event, 2)).await;
    gate.open();
    server.called(2).await;
    live.tell(Command::CancelSteer(handoff(1))).await;
    live.tell(steer(3, "third words")).await;
    live.until(|event| queued(event, 3)).await;
    gate.open();
    let ended = live.end().await;
    assert_eq!(ended.outcome(), Some(&completed("Fine.")));
    assert_eq!(ended.marks(handoff(1)), [Mark::Queued, Mark::Taken, Mark::Unread]);
    assert_eq!(ended.marks(handoff(2)), [Mark::Queued, Mark::Taken, Mark::Read]);
    assert_eq!(ended.marks(handoff(3)), [Mark::Queued, Mark::Taken, Mark::Read]);
    let last = server.calls()[2].body.to_string();
    assert!(!last.contains("first words") && last.contains("second words") && last.contains("third words"));
}

#[tokio::test]
async fn an_abort_in_the_middle_of_a_stream_drops_the_call() {
    for provider in PROVEN {
        let server = ModelServer::start();
        server.script([Answer::parts([Part::text("On and"), Part::Stall])]);
        let mut live = start(settings(provider, &server), "talk", Bank::empty());
        live.until(|event| matches!(event, SessionEvent::Text(_))).await;
        live.tell(steer(1, "stop")).await;
        live.tell(Command::Abort).await;
        let ended = live.end().await;
        assert_eq!(ended.outcome(), Some(&Outcome::Aborted));
        assert_eq!(ended.marks(handoff(1)), [Mark::Queued, Mark::Unread]);
    }
}

#[tokio::test]
async fn an_abort_during_a_tool_or_a_back_off_is_obeyed() {
    let server = ModelServer::start();
    server.script([Answer::tool("c1", "react", "{}")]);
    let bank = Bank::of(&[("react", Behaviour::Hangs)]);
    let mut live = start(settings(Provider::OpenAiChat, &server), "x", bank);
    live.until(|event| matches!(event, SessionEvent::Tool { .. })).await;
    live.tell(Command::Abort).await;
    assert_eq!(live.end().await.outcome(), Some(&Outcome::Aborted));

    server.script([Answer::Refuse { status: 429, body: serde_json::json!({}), retry_after: Some(3_600) }]);
    let mut patient = settings(Provider::OpenAiChat, &server);
    patient.retries.cap = std::time::Duration::from_secs(7_200);
    let mut live = start(patient, "x", Bank::empty());
    live.until(|event| matches!(event, SessionEvent::Note(_))).await;
    live.tell(Command::Abort).await;
    assert_eq!(live.end().await.outcome(), Some(&Outcome::Aborted));
}

#[tokio::test]
async fn a_kill_ends_the_session_without_a_word() {
    let server = ModelServer::start();
    server.script([Answer::Never]);
    let mut live = start(settings(Provider::OpenAiChat, &server), "x", Bank::empty());
    server.called(1).await;
    live.tell(Command::Kill).await;
    assert_eq!(live.end().await.outcome(), None);
}
