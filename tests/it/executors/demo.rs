//! The demo agent obeys its directives, reads steers in order and stops when told.

use std::time::Duration;

use clankie::executors::demo::Demo;
use clankie_actors::ports::{Answered, EVENTS_IN_FLIGHT};
use clankie_domain::ids::{ExecutorName, RequestId};
use clankie_domain::request::Source;
use clankie_domain::result::FailCode;
use clankie_domain::session::{Command, Outcome, Reply, SessionEvent, ToolPhase};
use clankie_domain::steering::Mark;
use serde_json::json;
use uuid::Uuid;

use super::bank::{Bank, Behaviour};
use super::{Live, completed, failed, handoff, run, spec, steer, waiting};

fn demo() -> Demo {
    Demo::new(ExecutorName::parse("demo").unwrap())
}

#[tokio::test(start_paused = true)]
async fn it_says_that_it_is_no_model_and_repeats_the_request() {
    let ended = run(&demo(), "hello there", vec![]).await;
    assert_eq!(ended.outcome(), Some(&completed("demo: hello there")));
    assert!(ended.notes()[0].contains("no language model"), "{:?}", ended.notes());
}

#[tokio::test(start_paused = true)]
async fn the_reply_is_words_then_what_was_obeyed_in_order() {
    let ended = run(&demo(), "one\n!say two\nand more\n!sleep 10\n!say three", vec![]).await;
    assert_eq!(ended.reply(), "demo: one\nand more\ntwo\nthree");
    assert_eq!(ended.texts().concat(), ended.reply());
    assert_eq!(run(&demo(), "!say x", vec![]).await.reply(), "demo:\nx");
}

#[tokio::test(start_paused = true)]
async fn every_end_is_the_one_that_was_asked_for() {
    for (request, expected) in [
        ("!silent\n!say unheard", Outcome::Completed(Reply::Silent)),
        ("!fail out_of_cheese\n!say never", failed(FailCode::Named("out_of_cheese".to_owned()))),
        ("!fail model_unavailable", failed(FailCode::ModelUnavailable)),
        ("!approval Push to main?", waiting("Push to main?")),
    ] {
        assert_eq!(run(&demo(), request, vec![]).await.outcome(), Some(&expected), "{request}");
    }
}

/// B22: three parts of one message within 0.6 s are one reply, and each part is accounted for.
#[tokio::test(start_paused = true)]
async fn b22_a_long_message_in_three_parts_is_read_whole_and_in_order() {
    let script = vec![(200, steer(1, "part two")), (400, steer(2, "part three"))];
    let ended = run(&demo(), "part one\n!sleep 600", script).await;
    assert_eq!(ended.reply(), "demo: part one\npart two\npart three");
    assert_eq!(ended.marks(handoff(1)), [Mark::Queued, Mark::Read]);
    assert_eq!(ended.marks(handoff(2)), [Mark::Queued, Mark::Read]);
}

/// B24: a plain correction is read while the agent waits, not after it is done.
#[tokio::test(start_paused = true)]
async fn b24_a_correction_is_read_within_a_look_and_ends_the_wait() {
    let start = tokio::time::Instant::now();
    let ended = run(&demo(), "do\n!wait-steer 60000", vec![(100, steer(1, "no, do not"))]).await;
    assert_eq!(ended.reply(), "demo: do\nno, do not");
    assert!(start.elapsed() <= Duration::from_millis(160), "it waited {:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_a_steer_ends_with_its_time() {
    let start = tokio::time::Instant::now();
    assert_eq!(run(&demo(), "!wait-steer 170\n!say over", vec![]).await.reply(), "demo:\nover");
    assert_eq!(start.elapsed().as_millis(), 170);
}

#[tokio::test(start_paused = true)]
async fn directives_of_a_steer_are_obeyed_after_those_that_came_first() {
    let script = vec![(10, steer(1, "!say from the steer\nand words"))];
    let ended = run(&demo(), "a\n!sleep 200\n!say from the request", script).await;
    assert_eq!(ended.reply(), "demo: a\nand words\nfrom the request\nfrom the steer");
}

/// B18: a steer that comes at any moment around the end is read, given back, or refused at the door.
#[tokio::test(start_paused = true)]
async fn b18_a_steer_around_the_end_is_never_lost() {
    let (mut read, mut not) = (0, 0);
    for at in 0..=130 {
        let ended = run(&demo(), "a\n!sleep 120", vec![(at, steer(1, "late"))]).await;
        match ended.marks(handoff(1)).last() {
            Some(Mark::Read) => {
                assert_eq!(ended.reply(), "demo: a\nlate");
                read += 1;
            }
            Some(Mark::Unread) | None => {
                assert_eq!(ended.reply(), "demo: a");
                not += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(read >= 119 && not >= 9, "{read} were read and {not} were not");
}

/// B18: what lies in the channel behind the last command that was heard is given back.
#[tokio::test(start_paused = true)]
async fn b18_commands_behind_the_end_are_given_back() {
    let mut live = Live::start(&demo(), spec("!sleep 1000", Bank::empty()));
    live.until(|event| matches!(event, SessionEvent::Text(_))).await;
    for command in [steer(1, "first"), Command::Abort, steer(2, "second"), Command::CancelSteer(handoff(1))] {
        live.tell(command).await;
    }
    let ended = live.end().await;
    assert_eq!(ended.outcome(), Some(&Outcome::Aborted));
    assert_eq!(ended.marks(handoff(1)), [Mark::Queued, Mark::Unread]);
    assert_eq!(ended.marks(handoff(2)), [Mark::Unread]);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_steer_is_given_back_unread() {
    let script = vec![(110, steer(1, "forget it")), (120, Command::CancelSteer(handoff(1))), (130, steer(2, "kept"))];
    let ended = run(&demo(), "a\n!sleep 400", script).await;
    assert_eq!(ended.marks(handoff(1)), [Mark::Queued, Mark::Unread]);
    assert_eq!(ended.reply(), "demo: a\nkept");
}

#[tokio::test(start_paused = true)]
async fn a_cancel_after_the_read_changes_nothing() {
    let script = vec![(10, steer(1, "read")), (200, Command::CancelSteer(handoff(1)))];
    let ended = run(&demo(), "a\n!sleep 400", script).await;
    assert_eq!(ended.marks(handoff(1)), [Mark::Queued, Mark::Read]);
    assert_eq!(ended.reply(), "demo: a\nread");
}

#[tokio::test(start_paused = true)]
async fn an_abort_is_obeyed_at_once_within_a_sleep() {
    let start = tokio::time::Instant::now();
    let ended = run(&demo(), "!sleep 600000", vec![(1_001, steer(1, "x")), (1_010, Command::Abort)]).await;
    assert_eq!(ended.outcome(), Some(&Outcome::Aborted));
    assert_eq!(ended.marks(handoff(1)), [Mark::Queued, Mark::Unread]);
    assert_eq!(start.elapsed().as_millis(), 1_010);
}

/// B28: an agent that never settles says nothing, and an abort still ends it.
#[tokio::test(start_paused = true)]
async fn b28_a_hung_agent_says_nothing_and_obeys_an_abort() {
    let mut live = Live::start(&demo(), spec("!hang", Bank::empty()));
    live.until(|event| matches!(event, SessionEvent::Text(_))).await;
    live.tell(steer(1, "are you there?")).await;
    let silence = tokio::time::timeout(Duration::from_secs(3_000), live.events.recv()).await;
    assert!(silence.is_err(), "it said {silence:?}");
    live.tell(Command::Abort).await;
    let ended = live.end().await;
    assert_eq!(ended.outcome(), Some(&Outcome::Aborted));
    assert_eq!(ended.marks(handoff(1)), [Mark::Unread]);
}

/// B28: a kill and a pulled switch need no cooperation.
#[tokio::test(start_paused = true)]
async fn b28_a_hung_agent_is_gone_after_a_kill() {
    let mut live = Live::start(&demo(), spec("!hang", Bank::empty()));
    live.tell(Command::Kill).await;
    assert_eq!(live.end().await.outcome(), None);
    let live = Live::start(&demo(), spec("!hang", Bank::empty()));
    live.handle.kill.pull();
    let Live { handle, .. } = live;
    assert!(handle.gone.await.is_err(), "the task was dropped");
}

/// B102: 5 MB of tool output is never held at once: the session waits for whoever listens.
#[tokio::test(start_paused = true)]
async fn b102_five_megabytes_of_output_stay_bounded() {
    const OUTPUT: usize = 5_000_000;
    let live = Live::start(&demo(), spec(&format!("!spew {OUTPUT}"), Bank::empty()));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(live.events.len(), EVENTS_IN_FLIGHT, "it must wait when nobody listens");
    let ended = live.end().await;
    let sizes: Vec<usize> = ended.tools().iter().map(|(_, _, detail)| detail.len()).collect();
    assert_eq!(sizes.iter().sum::<usize>(), OUTPUT);
    assert!(sizes.iter().all(|size| *size <= 16 * 1024), "one piece was {:?} bytes", sizes.iter().max());
    assert_eq!(ended.reply(), "demo:");
}

#[tokio::test(start_paused = true)]
async fn a_steer_that_came_during_a_directive_is_read_before_the_end() {
    let mut live = Live::start(&demo(), spec("!spew 2000000", Bank::empty()));
    live.tell(steer(1, "meanwhile")).await;
    let ended = live.end().await;
    assert_eq!(ended.marks(handoff(1)), [Mark::Queued, Mark::Read]);
    assert_eq!(ended.reply(), "demo:\nmeanwhile");
}

#[tokio::test(start_paused = true)]
async fn a_crash_ends_without_a_word() {
    let ended = run(&demo(), "a\n!exit\n!say never", vec![]).await;
    assert_eq!(ended.outcome(), None);
    assert_eq!(ended.texts(), ["demo: a"]);
}

#[tokio::test(start_paused = true)]
async fn tools_are_called_by_their_names_and_refusals_are_in_the_transcript() {
    let bank = Bank::of(&[
        ("request_user_input", Behaviour::Gives("pending".to_owned())),
        ("mail_owner_update", Behaviour::Gives("mailed".to_owned())),
        ("send_text_update", Behaviour::Refuses("too_soon")),
    ]);
    let request = "!ask {\"prompt\":\"Ship?\"}\n!mail {\"text\":\"m\"}\n!update half done\n!tool paint {\"c\":1}";
    let ended = Live::start(&demo(), spec(request, bank.clone())).end().await;
    let calls: Vec<_> = bank.calls().into_iter().map(|(_, name, arguments)| (name, arguments)).collect();
    assert_eq!(
        calls,
        [
            ("request_user_input".to_owned(), json!({ "prompt": "Ship?" })),
            ("mail_owner_update".to_owned(), json!({ "text": "m" })),
            ("send_text_update".to_owned(), json!({ "text": "half done" })),
            ("paint".to_owned(), json!({ "c": 1 })),
        ]
    );
    let ends: Vec<_> = ended.tools().into_iter().filter(|(_, phase, _)| *phase == ToolPhase::Ended).collect();
    let outputs: Vec<_> = ends.iter().map(|(_, _, detail)| *detail).collect();
    assert_eq!(outputs, ["pending", "mailed", "refused (too_soon): No.", "refused (tool_unavailable): No."]);
    let told = "demo:\nrequest_user_input: done\nmail_owner_update: done\nsend_text_update: refused (too_soon): No.\n\
                paint: refused (tool_unavailable): No.";
    assert_eq!(ended.reply(), told, "who gave nothing but directives is told what they came to");
}

#[tokio::test(start_paused = true)]
async fn an_abort_ends_a_tool_that_never_returns() {
    let bank = Bank::of(&[("react", Behaviour::Hangs)]);
    let mut live = Live::start(&demo(), spec("!tool react", bank));
    live.until(|event| matches!(event, SessionEvent::Tool { .. })).await;
    live.tell(Command::Abort).await;
    assert_eq!(live.end().await.outcome(), Some(&Outcome::Aborted));
}

#[tokio::test(start_paused = true)]
async fn a_directive_that_makes_no_sense_is_explained_and_the_rest_goes_on() {
    let ended = run(&demo(), "!slep 5\n!sleep soon\n!ask {\n!say on", vec![]).await;
    let lines: Vec<&str> = ended.reply().lines().collect();
    assert_eq!(lines[0], "demo:");
    assert!(lines[1].contains("!slep 5") && lines[1].contains("no such directive"), "{lines:?}");
    assert!(lines[2].contains("MS must be"), "{lines:?}");
    assert!(lines[3].contains("JSON"), "{lines:?}");
    assert_eq!(lines[4], "on");
    assert_eq!(ended.notes().len(), 4, "{:?}", ended.notes());
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_data_and_is_not_obeyed() {
    let mut spec = spec("(framed)", Bank::empty());
    spec.source = Source::Continuation;
    let (request, words) = (RequestId(Uuid::nil()), "Ship\n!exit".to_owned());
    spec.answered = Some(Answered { request, prompt: "Ship it?".into(), shown: words.clone(), told: words });
    let ended = Live::start(&demo(), spec).end().await;
    assert_eq!(ended.outcome(), Some(&completed("demo: answered: Ship\n!exit")));
}
