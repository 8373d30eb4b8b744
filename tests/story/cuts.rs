//! The power goes at every durable step of answering, and beside it; every room is judged afterwards.

use serde_json::{Value, json};

use crate::day::{SECRET, receipt};
use crate::scene::{Scene, answering, decision, option, secret};
use crate::service::{Ask, LANE, turn, until};

/// What leads to a fail-point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lead {
    /// The agent asks.
    Asking,
    /// The owner answers.
    Answering,
    /// The service starts, with an answer on its way that this point cut off.
    Starting(&'static str),
}

/// How much of it is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// Every step, both sides.
    Whole,
    /// The commit of the answer and its hand-over to the session, one side each.
    Short,
}

const POINTS: [(&str, Lead); 8] = [
    ("mail.publish", Lead::Asking),
    ("room.continue", Lead::Answering),
    ("room.dispatch", Lead::Answering),
    ("room.ready", Lead::Answering),
    ("room.took", Lead::Answering),
    ("room.ended", Lead::Answering),
    ("boot.recover", Lead::Starting("room.took.before")),
    ("boot.recover", Lead::Starting("room.ready.before")),
];

/// Steps that nothing here leads to, and why.
const UNREACHED: [(&str, &str); 2] = [
    ("mail.answer", "an accepted answer commits with its continuation, as room.continue; others change nothing"),
    ("room.run", "a continuation is owed before it starts, so its start is room.dispatch"),
];

/// Kills beside a fail-point: at the moment of the answer, on its receipt, and when it was delivered.
const BESIDE: usize = 6;

/// How often it is seen at rest before it is believed: a step is visible a moment before its far side is hit.
const LOOKS_AT_REST: usize = 100;

const WOKEN: &str = "rooms woken once";
const INTERRUPTED: &str = "delivered, and its run shows that it was interrupted";
const UNCERTAIN: &str = "uncertain, and shown so";
const RETURNED: &str = "returned, and shown so";
const BROKEN: &str = "lost or doubled";

const AS_FAR: &str = "M1: an answer that was cut off is shown as far as it had come, neither further nor less far";
const ONCE: &str = "M1: an answered ask wakes its room once, or shows that it came back or is uncertain";
const KEPT: &str = "M1: an answer whose receipt was given is never lost";
const SAME: &str = "the same answer again gets the original receipt, also after a restart";
const OTHER: &str = "another answer after it conflicts, also after a restart";
const ASKED: &str = "an ask that was being raised is there whole or not at all, and never twice";
const REACHED: &str = "every fail-point of answering is reached";

/// One ask of one room, and what was answered before the power went.
struct Case {
    room: String,
    ask: Value,
    answer: Value,
    given: Option<Value>,
}

/// Plays it, and judges every room once more after a last kill.
pub(crate) fn play(scene: &mut Scene, length: Length) {
    let mut cases = Vec::new();
    for (name, lead) in POINTS {
        for side in ["before", "after"] {
            let wanted = match length {
                Length::Whole => true,
                Length::Short => matches!((name, side), ("room.continue", "after") | ("room.took", "before")),
            };
            if wanted {
                cases.extend(point(scene, &format!("{name}.{side}"), lead));
            }
        }
    }
    let beside = if length == Length::Whole { BESIDE } else { 1 };
    for number in 0..beside {
        let case = beside_a_point(scene, number);
        judge(scene, &case, "a kill beside the answer");
        cases.push(case);
    }
    scene.cut("");
    for case in &cases {
        woken(scene, case, "after the last kill");
    }
    for (step, why) in UNREACHED {
        println!("not tried: {step}: {why}");
    }
}

fn point(scene: &mut Scene, point: &str, lead: Lead) -> Option<Case> {
    let number = scene.book.counted("fail-points armed");
    scene.book.count("fail-points armed");
    let room = format!("cut{number}");
    if lead == Lead::Asking {
        return asking(scene, point, &room);
    }
    let draft = if number % 3 == 2 { secret(&room) } else { decision(&room) };
    let mut case = raise(scene, &room, &draft);
    let first = if let Lead::Starting(first) = lead { first } else { point };
    scene.cut(first);
    case.given = give(scene, &case);
    if !died(scene, &case, first) {
        scene.cut("");
    } else if lead == Lead::Answering {
        scene.begin("");
    } else {
        scene.arm(point);
        scene.service.spawn();
        let ended = scene.service.ended();
        scene.book.count("kills at a fail-point");
        scene.book.law(REACHED, point, (ended, None));
        scene.begin("");
    }
    judge(scene, &case, point);
    Some(case)
}

/// Whether the service died of its fail-point, rather than come to rest.
fn died(scene: &mut Scene, case: &Case, point: &str) -> bool {
    let get = json!({"op": "input_get", "conversation_id": case.ask["conversation_id"],
        "request_id": case.ask["request_id"]});
    let mut at_rest = 0;
    let gone = until("the service to die or to come to rest", || {
        let operator = scene.service.operator().to_owned();
        let Some(shown) = scene.dispatch_as(&operator, &get) else { return Some(true) };
        let handoffs = Ask::get("/operator/v1/handoffs?limit=1").token(&operator);
        let Some(page) = handoffs.attempt(scene.service.address()) else { return Some(true) };
        let counts = page.json()["counts"].clone();
        let idle = ["running", "waiting", "owed"].iter().all(|name| counts[name] == 0);
        let settled = shown.json()["question"]["continuation"]["state"] == "delivered";
        at_rest = if idle && settled { at_rest + 1 } else { 0 };
        (at_rest >= LOOKS_AT_REST).then_some(false)
    });
    if gone {
        let ended = scene.service.ended();
        scene.book.count("kills at a fail-point");
        scene.book.law(REACHED, point, (ended, None));
    } else {
        scene.book.law(REACHED, point, (Some(0), None));
    }
    gone
}

/// The power goes while the agent asks.
fn asking(scene: &mut Scene, point: &str, room: &str) -> Option<Case> {
    scene.service.lane(LANE);
    scene.cut(point);
    let ask = turn(room, &format!("{room}-asks"), "ann", &format!("!ask {}", decision(room)));
    let lane = scene.service.lane(LANE);
    let _ = Ask::post("/ingress/v1/turns").token(&lane).json(&ask).attempt(scene.service.address());
    let ended = scene.service.ended();
    scene.book.count("kills at a fail-point");
    scene.book.law(REACHED, point, (ended, None));
    scene.begin("");
    scene.rest(&[]);
    let raised = scene.raised(room);
    let wanted = usize::from(point.ends_with("after"));
    scene.book.law(ASKED, point, (raised.len(), wanted));
    let ask = raised.into_iter().next()?;
    scene.book.count("asks");
    let mut case = Case { room: room.to_owned(), answer: option(&ask, 0), ask, given: None };
    case.given = give(scene, &case);
    judge(scene, &case, point);
    Some(case)
}

fn raise(scene: &mut Scene, room: &str, draft: &Value) -> Case {
    let ask = scene.ask(room, std::slice::from_ref(draft)).remove(0);
    scene.book.count("asks");
    let answer = if ask["secret"] == true { json!({"kind": "text", "text": SECRET}) } else { option(&ask, 0) };
    Case { room: room.to_owned(), ask, answer, given: None }
}

/// Answers as the operator over HTTP, and gives the result when one came.
fn give(scene: &mut Scene, case: &Case) -> Option<Value> {
    let operator = scene.service.operator().to_owned();
    scene.book.count("answers over HTTP by the operator");
    Some(scene.dispatch_as(&operator, &answering(&case.ask, &case.answer))?.json())
}

fn beside_a_point(scene: &mut Scene, number: usize) -> Case {
    let room = format!("beside{number}");
    let mut case = raise(scene, &room, &decision(&room));
    let moment = number % 3;
    if moment == 0 {
        let (address, operator) = (scene.service.address().to_owned(), scene.service.operator().to_owned());
        let mut operation = answering(&case.ask, &case.answer);
        operation["schema_version"] = json!(1);
        let call = Ask::post("/operator/v1/dispatch").token(&operator).json(&operation);
        let sent = std::thread::spawn(move || call.attempt(&address));
        scene.book.count("answers over HTTP by the operator");
        scene.cut("");
        case.given = sent.join().unwrap().map(|answer| answer.json());
        return case;
    }
    case.given = give(scene, &case);
    if moment == 2 {
        until("the answer to be delivered", || {
            (scene.shown(&case.ask)["continuation"]["state"] == "delivered").then_some(())
        });
    }
    scene.cut("");
    case
}

/// The ask after a restart: kept when it was promised, answered when it was not, settled, and unmoved by more.
fn judge(scene: &mut Scene, case: &Case, cut: &str) {
    let (found, about) = (scene.shown(&case.ask), case.room.as_str());
    if let Some(given) = &case.given {
        scene.book.law(KEPT, about, (given["status"].clone(), json!("resolved")));
        scene.book.law(KEPT, about, (found["status"].clone(), json!("submitted")));
    } else if found["status"] == "pending" {
        scene.book.count("answers that left no trace and were given again");
    }
    let first = give(scene, case).unwrap();
    scene.rest(std::slice::from_ref(&case.ask));
    let again = give(scene, case).unwrap();
    let original = case.given.as_ref().unwrap_or(&first);
    for (repeat, status) in [(&first, &first["status"]), (&again, &again["status"])] {
        scene.book.law(SAME, about, (receipt(repeat), receipt(original)));
        scene.book.law(SAME, about, (status.clone(), json!("resolved")));
    }
    let other = match case.answer["kind"].as_str() {
        Some("text") => json!({"kind": "text", "text": "other words"}),
        _ => option(&case.ask, 1),
    };
    let operator = scene.service.operator().to_owned();
    let told = scene.dispatch_as(&operator, &answering(&case.ask, &other)).unwrap().json();
    scene.book.law(OTHER, about, (told["reason"].clone(), json!("conflicting_answer")));
    let how = woken(scene, case, "after the restart");
    println!("cut at {cut}: {how}");
    if let Some(wanted) = as_far_as(cut) {
        scene.book.law(AS_FAR, cut, (how, wanted));
    }
    scene.book.count(how);
}

/// What a cut at that step must leave: before the answer crosses it is sent again, while it crosses
/// nobody knows, and after the session took it it is delivered. None where the moment is not known.
fn as_far_as(cut: &str) -> Option<&'static str> {
    Some(match cut {
        "mail.publish.after" | "room.continue.before" | "room.continue.after" | "room.dispatch.before" => WOKEN,
        "room.dispatch.after" | "room.ready.before" | "room.ready.after" | "room.took.before" => UNCERTAIN,
        "boot.recover.before" | "boot.recover.after" => UNCERTAIN,
        "room.took.after" | "room.ended.before" => INTERRUPTED,
        "room.ended.after" => WOKEN,
        _ => return None,
    })
}

/// How often the room woke, held against what the ask shows.
fn woken(scene: &mut Scene, case: &Case, when: &str) -> &'static str {
    let (shown, said) = (scene.shown(&case.ask), scene.woken(&case.room));
    let continuation = &shown["continuation"];
    let carried =
        continuation["handoff_id"].as_str().map(|id| scene.service.read(&format!("/operator/v1/handoffs/{id}")));
    let interrupted = carried.is_some_and(|one| one["result"]["code"] == "interrupted");
    let how = match (continuation["state"].as_str(), said.len(), interrupted) {
        (Some("delivered"), 1, false) => WOKEN,
        (Some("delivered"), 0, true) => INTERRUPTED,
        (Some("uncertain"), 0, _) => UNCERTAIN,
        (Some("returned"), 0, _) => RETURNED,
        _ => BROKEN,
    };
    let about = format!("{} {when}: {continuation}, {said:?}", case.room);
    scene.book.law(ONCE, &about, (how == BROKEN, false));
    how
}
