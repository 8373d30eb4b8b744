//! The promises that outside programs build on, each over the real program: limits, receipts, restart, steering, the mailbox.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::service::{Answer, Ask, LANE, Service, turn, until};

/// Everything that may run at once, and in one room, by default.
const RUNNING: usize = 4;
const RUNNING_PER_ROOM: usize = 2;
/// Everything that may wait, by default.
const WAITING: usize = 32;
/// Holds a run until its speaker says one more thing.
const HOLD: &str = "!wait-steer 60000\n!say done";

/// I1, I2: forty at once are four that run, thirty-two that wait, and four that are told busy with
/// the facts and leave nothing behind; at no moment is a limit exceeded, and everything admitted ends.
#[test]
fn i1_i2_forty_at_once_are_thirty_six_admitted_and_four_busy() {
    let service = Service::start("");
    let rooms = ["r0", "r0", "r1", "r2"];
    for (n, room) in rooms.iter().enumerate() {
        service.admit(&turn(room, &format!("hold{n}"), &format!("u{n}"), HOLD));
    }
    let turns: Vec<Value> = (0..WAITING + 4).map(burst).collect();
    let answers = at_once(&service, &turns);
    let (admitted, busy): (Vec<_>, Vec<_>) = turns.iter().zip(&answers).partition(|(_, answer)| answer.status == 202);
    assert_eq!((admitted.len(), busy.len()), (WAITING, 4), "{answers:?}");
    busy.iter().for_each(|(_, answer)| tells_why(answer));

    let mut watch = watch(&service);
    assert_eq!(watch(), None);
    for (n, room) in rooms.iter().enumerate() {
        service.admit(&turn(room, &format!("go{n}"), &format!("u{n}"), "go on"));
    }
    let most = until("everything to end", watch);
    assert_eq!(most, (RUNNING, RUNNING_PER_ROOM, WAITING), "the most that ran, ran in one room, and waited");
    for (turn, _) in &admitted {
        let (room, delivery) = (turn["room"].as_str().unwrap(), turn["delivery_id"].as_str().unwrap());
        assert!(service.reply(room, delivery).ends_with("done"), "{delivery}");
    }
    let kept = service.handoffs();
    let kept: BTreeSet<&str> =
        kept["handoffs"].as_array().unwrap().iter().map(|one| one["delivery_id"].as_str().unwrap()).collect();
    for (turn, _) in &busy {
        assert!(!kept.contains(turn["delivery_id"].as_str().unwrap()), "a busy answer left a record");
    }
    let again = service.settle(busy[0].0).json();
    assert_eq!(again["result"]["kind"], "settled", "the same delivery may be tried again");
}

fn burst(n: usize) -> Value {
    turn(&format!("r{}", n % 12), &format!("m{n}"), &format!("v{n}"), "!sleep 20\n!say done")
}

/// Hands everything in from several threads, as separate clients would.
fn at_once(service: &Service, turns: &[Value]) -> Vec<Answer> {
    service.lane(LANE);
    std::thread::scope(|scope| {
        let threads: Vec<_> = turns.iter().map(|turn| scope.spawn(|| service.submit(turn))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn tells_why(busy: &Answer) {
    assert_eq!((busy.status, busy.problem().as_str()), (429, "busy"), "{busy:?}");
    assert!(busy.header("retry-after").is_some_and(|after| after.parse::<u32>().is_ok_and(|s| s > 0)), "{busy:?}");
    let facts = busy.json();
    let told = (&facts["limit"], &facts["running"], &facts["waiting"]);
    assert_eq!(told, (&json!("waiting"), &json!(RUNNING), &json!(WAITING)), "{facts}");
    assert!(facts["position"].is_u64() && facts["oldest_wait_ms"].is_u64(), "{facts}");
}

/// Looks at the counts until nothing is left, and gives the most that it ever saw.
fn watch(service: &Service) -> impl FnMut() -> Option<(usize, usize, usize)> {
    let mut most = (0, 0, 0);
    move || {
        let page = service.handoffs();
        let count = |name: &str| usize::try_from(page["counts"][name].as_u64().unwrap()).unwrap();
        let mut rooms = BTreeMap::<&str, usize>::new();
        for one in page["handoffs"].as_array().unwrap().iter().filter(|one| one["state"] == "running") {
            *rooms.entry(one["room"].as_str().unwrap()).or_default() += 1;
        }
        let listed = rooms.values().sum::<usize>();
        most.0 = most.0.max(listed).max(count("running"));
        most.1 = most.1.max(rooms.into_values().max().unwrap_or_default());
        most.2 = most.2.max(count("waiting"));
        (count("running") + count("waiting") + count("owed") == 0).then_some(most)
    }
}

/// I3, B5: a key has one execution and one result, whatever comes under it again, and also after the
/// power went; equal words under another key are their own.
#[test]
fn i3_b5_a_receipt_gives_the_same_result_again_also_after_a_kill() {
    let mut service = Service::start("");
    let first = turn("r", "m1", "ann", "hello");
    let answered = service.settle(&first).json();
    let again = |service: &Service| {
        assert_eq!(service.settle(&first).json(), answered);
        let other = service.submit(&turn("r", "m1", "ann", "other words"));
        assert_eq!((other.status, other.problem().as_str()), (409, "delivery-conflict"), "{other:?}");
    };
    again(&service);
    let mut own = BTreeSet::from([answered["handoff_id"].to_string()]);
    for same_words in [turn("r", "m2", "ann", "hello"), turn("r2", "m1", "ann", "hello")] {
        assert!(own.insert(service.settle(&same_words).json()["handoff_id"].to_string()), "{same_words}");
    }
    service.kill();
    service.launch();
    again(&service);
    assert_eq!(service.handoffs()["handoffs"].as_array().unwrap().len(), own.len());
}

/// B8, B35: what ran when the power went is interrupted and never replayed; what waited runs; no slot leaks.
#[test]
fn b8_b35_a_restart_interrupts_what_ran_and_runs_what_waited() {
    let mut service = Service::start("");
    let rooms = ["r0", "r1", "r2", "r3"];
    for room in rooms {
        service.admit(&turn(room, &format!("{room}-runs"), room, "!sleep 600000"));
        service.running(&format!("{room}-runs"));
    }
    for room in rooms {
        service.admit(&turn(room, &format!("{room}-waits"), "zoe", "!say later"));
    }
    service.kill();
    service.launch();
    for room in rooms {
        let interrupted = json!({"kind": "failed", "code": "interrupted"});
        assert_eq!(service.result(room, &format!("{room}-runs")), interrupted);
        assert_eq!(service.reply(room, &format!("{room}-waits")), "demo:\nlater");
    }
    until("every slot to be free", || {
        let counts = &service.handoffs()["counts"];
        (counts["running"] == 0 && counts["waiting"] == 0 && counts["owed"] == 0).then_some(())
    });
}

/// How long a run that was steered once stays open for more.
const OPEN: &str = "!wait-steer 60000\n!sleep 3000\n!say end";

/// I4: what the same speaker adds under the same grant is read by the run, in order; another speaker
/// and another grant are on their own.
#[test]
fn i4_steers_are_read_in_order_and_never_widen() {
    let service = Service::start("[grants]\nmachine_actors = [\"ingress:t:ann\"]");
    let asking = |delivery: &str, grant: &str, words: &str| {
        let mut turn = turn("r", delivery, "ann", words);
        turn["grant"] = json!(grant);
        turn
    };
    service.admit(&asking("a1", "social", OPEN));
    service.running("a1");
    service.admit(&turn("r", "b1", "bob", "of bob"));
    service.admit(&asking("a2", "social", "second thought"));
    service.admit(&asking("a3", "social", "third thought"));
    service.admit(&asking("a4", "machine", "with more power"));

    assert_eq!(service.reply("r", "a1"), "demo:\nsecond thought\nthird thought\nend");
    let owner = service.record("a1").unwrap()["id"].clone();
    let absorbed = json!({"kind": "absorbed", "reply_delivery_id": "a1", "joined_handoff_id": owner});
    assert_eq!(service.result("r", "a2"), absorbed);
    assert_eq!(service.result("r", "a3"), absorbed);
    assert_eq!(service.reply("r", "b1"), "demo: of bob");
    assert_eq!(service.reply("r", "a4"), "demo: with more power");
    assert_eq!(service.record("a4").unwrap()["grant"]["plan"], "machine");
    let again = service.settle(&asking("a2", "social", "second thought"));
    assert_eq!(again.json()["result"], absorbed, "a retry of what was absorbed");
}

/// I4: joiners of a run that has not begun go with its start, in order; a widened one waits for its own turn.
#[test]
fn i4_what_joins_a_waiting_one_goes_with_its_start() {
    let service = Service::start("[limits]\nrunning = 1\nrunning_per_room = 1");
    service.admit(&turn("r", "x1", "zoe", HOLD));
    service.running("x1");
    for (delivery, words) in [("a1", "first"), ("a2", "second"), ("a3", "third")] {
        service.admit(&turn("r", delivery, "ann", words));
    }
    assert_eq!(service.record("a1").unwrap()["joiner_count"], 2);
    service.admit(&turn("r", "b1", "bob", "of bob"));
    service.admit(&turn("r", "x2", "zoe", "go on"));
    assert_eq!(service.reply("r", "a1"), "demo: first\nsecond\nthird");
    assert_eq!(service.result("r", "a3")["reply_delivery_id"], "a1");
    assert_eq!(service.reply("r", "b1"), "demo: of bob");
}

/// The one ask that waits.
fn waiting(service: &Service) -> Value {
    let listed = service.dispatch(json!({"op": "input_list", "status": "pending"}));
    let [ask] = listed["questions"].as_array().unwrap().as_slice() else { panic!("one ask waits: {listed}") };
    ask.clone()
}

/// Answers it with one of its options, as somebody does who read that revision.
fn choose(service: &Service, ask: &Value, option: usize, revision: u64) -> Value {
    let answer = json!({"kind": "choice", "option_id": ask["options"][option]["option_id"]});
    service.dispatch(json!({
        "op": "input_answer", "conversation_id": ask["conversation_id"], "request_id": ask["request_id"],
        "incarnation_id": ask["incarnation_id"], "expected_revision": revision, "answer": answer,
    }))
}

/// M1, M2, M6: an ask outlives the power; neither a room, nor a lane, nor another revision or life of
/// its conversation answers it; one answer is taken, and the room wakes once.
#[test]
fn m1_m2_m6_an_ask_outlives_a_kill_and_is_answered_once_by_the_owner_alone() {
    let mut service = Service::start("");
    let draft = json!({
        "purpose": "decision", "kind": "choice", "prompt": "Ship it?", "options": [{"label": "Ship"}, {"label": "Wait"}],
        "recommendation": "Ship", "waiting_on": "the release",
    });
    service.settle(&turn("r", "m1", "ann", &format!("!ask {draft}\n!say asked")));
    assert_eq!(waiting(&service)["prompt"], "Ship it?");
    let before = waiting(&service);
    service.settle(&turn("r", "m2", "ann", "yes"));
    assert_eq!(waiting(&service), before, "a room message is no answer");
    let listing = json!({"schema_version": 1, "op": "input_list", "status": "pending"});
    let lane = service.lane(LANE);
    let listed = service.send(&Ask::post("/operator/v1/dispatch").token(&lane).json(&listing));
    assert!(matches!(listed.status, 401 | 403), "a lane read the mailbox: {listed:?}");
    service.kill();
    service.launch();
    assert_eq!(waiting(&service), before, "a kill changes nothing of an ask");

    let revision = before["revision"].as_u64().unwrap();
    let stale = choose(&service, &before, 1, revision + 7);
    assert_eq!((&stale["status"], &stale["revision"]), (&json!("revision_conflict"), &json!(revision)), "{stale}");
    let first = choose(&service, &before, 1, revision);
    assert_eq!(first["status"], "resolved", "{first}");
    assert_eq!(first["question"]["resolved_by"]["kind"], "operator", "{first}");
    let again = choose(&service, &before, 1, revision);
    assert_eq!(again["status"], "resolved", "{again}");
    for field in ["answer", "resolved_at", "resolved_by"] {
        assert_eq!(again["question"][field], first["question"][field], "{field} of the receipt");
    }
    let other = choose(&service, &before, 0, revision);
    assert_eq!((&other["status"], &other["reason"]), (&json!("refused"), &json!("conflicting_answer")), "{other}");
    let elsewhere = service.dispatch(json!({
        "op": "input_cancel", "conversation_id": before["conversation_id"], "request_id": before["request_id"],
        "incarnation_id": "00000000-0000-4000-8000-000000000000", "expected_revision": 0,
    }));
    assert_eq!(elsewhere["reason"], "stale_request", "{elsewhere}");
    until("everything to end", watch(&service));
    let said = service.said("r");
    let woken: Vec<_> =
        said.iter().filter_map(|one| one["text"].as_str()).filter(|t| t.contains("answered:")).collect();
    assert_eq!(woken, ["demo: answered: Wait"]);
    let left = service.dispatch(json!({"op": "input_list", "status": "pending"}));
    assert_eq!(left["questions"], json!([]), "{left}");
}
