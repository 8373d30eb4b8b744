//! One day: the agent asks four things, and three surfaces answer them, some at the same moment.

use serde_json::{Value, json};

use crate::scene::{Scene, answering, approval, decision, option, secret, step};
use crate::service::{turn, until};

/// Bytes that must be readable nowhere, among them what JSON and a log write otherwise than it is. No
/// other text of the story has any line or part of them.
pub(crate) const SECRET: &str = "canary-7c1e9b54\"canary-f0d2a836\\canary-5b7c9d1e\ncanary-0a4f6e82";
/// Races between two answers over HTTP.
const RACES: usize = 4;

const ONCE: &str = "M1: an answered ask wakes its room once, or shows that it came back or is uncertain";
const ONE_WINNER: &str = "M1: of two answers at once one is taken, and the other is told which";
const SAME: &str = "the same answer again gets the original receipt, from any surface";
const NAMED: &str = "M2: a taken answer names who gave it";
const UPDATES: &str = "an update is read and put away on any surface, and wakes nothing";

/// Plays it.
pub(crate) fn play(scene: &mut Scene) {
    let (_, phone) = scene.pair("phone", &["terminal_control"]);
    let asks = scene.ask("desk", &[decision("desk"), approval("desk"), step("desk"), secret("desk")]);
    (0..asks.len()).for_each(|_| scene.book.count("asks"));
    by_device(scene, &asks[0], &phone);
    two_surfaces_agree(scene, &asks[1], &phone);
    by_command(scene, &asks[2], &["--text", "done"], "");
    by_command(scene, &asks[3], &["--stdin"], SECRET);
    scene.rest(&asks);
    until("the key of the delivered secret to be gone", || {
        let keys = std::fs::read_dir(scene.service.state_dir().join("secrets")).unwrap();
        let mut names = keys.map(|key| key.unwrap().file_name().into_string().unwrap());
        names.all(|name| !name.ends_with(".key")).then_some(())
    });
    let mut woken = scene.woken("desk");
    woken.sort();
    let wanted = ["Approve", "Private answer", "done", "go-desk"].map(str::to_owned).to_vec();
    woken.iter().for_each(|_| scene.book.count("rooms woken once"));
    let stand: Vec<Value> = asks.iter().map(|ask| scene.shown(ask)["continuation"].clone()).collect();
    scene.book.law(ONCE, &format!("the desk, {stand:?}"), (woken, wanted));
    for number in 0..RACES {
        two_devices_race(scene, number, &phone);
    }
    a_command_races(scene, &phone);
    updates(scene, &phone);
}

fn by_device(scene: &mut Scene, ask: &Value, phone: &str) {
    let told = scene.dispatch_as(phone, &answering(ask, &option(ask, 0))).unwrap().json();
    scene.book.count("answers over HTTP by a device");
    let found = (told["status"].clone(), told["question"]["resolved_by"]["kind"].clone());
    scene.book.law(NAMED, "a device's answer", (found, (json!("resolved"), json!("device"))));
    let (_, again) = command(scene, ask, &["--option", text(&option(ask, 0)["option_id"])], "");
    scene.book.law(SAME, "the command line repeats a device", (receipt(&again), receipt(&told)));
}

/// `clankie asks answer` and a device approve at the same moment: both get the one receipt.
fn two_surfaces_agree(scene: &mut Scene, ask: &Value, phone: &str) {
    let (incarnation, revision) = (text(&ask["incarnation_id"]), scene.shown(ask)["revision"].to_string());
    let request = text(&ask["request_id"]);
    let arguments =
        ["asks", "answer", request, "--approve", "--incarnation", incarnation, "--revision", revision.as_str()];
    let fresh = scene.shown(ask);
    let approve = fresh["options"].as_array().unwrap().iter().position(|one| one["role"] == "approve").unwrap();
    let (ran, told) = std::thread::scope(|scope| {
        let command = scope.spawn(|| scene.service.cli(&arguments));
        let device = scope.spawn(|| scene.dispatch_as(phone, &answering(&fresh, &option(&fresh, approve))));
        (command.join().unwrap(), device.join().unwrap().unwrap().json())
    });
    scene.printed.push_str(&(ran.out.clone() + &ran.err));
    scene.book.count("answers by clankie asks and a device at once");
    let printed: Value = serde_json::from_str(&ran.out).unwrap_or_else(|why| panic!("{why}: {ran:?}"));
    scene.book.law(SAME, "two surfaces at once", (receipt(&printed), receipt(&told)));
    scene.book.law(SAME, "two surfaces at once", (told["status"].clone(), json!("resolved")));
}

fn by_command(scene: &mut Scene, ask: &Value, answer: &[&str], input: &str) {
    let (code, told) = command(scene, ask, answer, input);
    scene.book.count("answers by clankie conversations");
    let found = (code, told["question"]["resolved_by"]["kind"].clone());
    scene.book.law(NAMED, &format!("a command's answer, {}", told["reason"]), (found, (Some(0), json!("operator"))));
    let (_, again) = command(scene, ask, answer, input);
    scene.book.law(SAME, "the command line repeats itself", (receipt(&again), receipt(&told)));
}

/// A device chooses one option and the operator the other, over HTTP, at the same moment.
fn two_devices_race(scene: &mut Scene, number: usize, phone: &str) {
    let room = format!("race{number}");
    let ask = scene.ask(&room, &[decision(&room)]).remove(0);
    scene.book.count("asks");
    let operator = scene.service.operator().to_owned();
    let (first, second) = std::thread::scope(|scope| {
        let one = scope.spawn(|| scene.dispatch_as(phone, &answering(&ask, &option(&ask, 0))));
        let other = scope.spawn(|| scene.dispatch_as(&operator, &answering(&ask, &option(&ask, 1))));
        (one.join().unwrap().unwrap().json(), other.join().unwrap().unwrap().json())
    });
    judge_race(scene, &ask, &room, [first, second]);
}

/// The same between a device and the command line.
fn a_command_races(scene: &mut Scene, phone: &str) {
    let ask = scene.ask("race-cli", &[decision("race-cli")]).remove(0);
    scene.book.count("asks");
    let other = exact(&ask, &["--option", text(&option(&ask, 1)["option_id"])]);
    let arguments: Vec<&str> = other.iter().map(String::as_str).collect();
    let (first, ran) = std::thread::scope(|scope| {
        let device = scope.spawn(|| scene.dispatch_as(phone, &answering(&ask, &option(&ask, 0))));
        let command = scope.spawn(|| scene.service.cli(&arguments));
        (device.join().unwrap().unwrap().json(), command.join().unwrap())
    });
    scene.printed.push_str(&(ran.out.clone() + &ran.err));
    let printed: Value = serde_json::from_str(&ran.out).unwrap_or_else(|why| panic!("{why}: {ran:?}"));
    scene.book.law(ONE_WINNER, "the exit code", (ran.code == Some(0), printed["status"] == "resolved"));
    judge_race(scene, &ask, "race-cli", [first, printed]);
}

fn judge_race(scene: &mut Scene, ask: &Value, room: &str, told: [Value; 2]) {
    scene.book.count("answers raced");
    let (winner, loser) = if told[0]["status"] == "resolved" { (0, 1) } else { (1, 0) };
    scene.book.count(["races won by a device", "races won by the operator"][winner]);
    let found = (told[winner]["status"].clone(), told[loser]["reason"].clone());
    scene.book.law(ONE_WINNER, room, (found, (json!("resolved"), json!("conflicting_answer"))));
    scene.book.law(ONE_WINNER, room, (receipt(&told[loser]), receipt(&told[winner])));
    let kind = ["device", "operator"][winner];
    scene.book.law(NAMED, room, (told[winner]["question"]["resolved_by"]["kind"].clone(), json!(kind)));
    scene.rest(std::slice::from_ref(ask));
    let label = [format!("go-{room}"), format!("no-{room}")][winner].clone();
    scene.book.count("rooms woken once");
    scene.book.law(ONCE, room, (scene.woken(room), vec![label]));
}

/// The agent leaves word; a device reads it, the command line puts it away.
fn updates(scene: &mut Scene, phone: &str) {
    let draft = json!({"title": "Tests are green", "body": "All 12 of them."});
    scene.service.settle(&turn("news", "news-1", "ann", &format!("!mail {draft}")));
    scene.rooms.push("news".to_owned());
    let list = json!({"op": "owner_update_list"});
    let listed = scene.dispatch_as(phone, &list).unwrap().json();
    let update = listed["updates"][0].clone();
    scene.book.law(UPDATES, "listed by a device", (update["title"].clone(), draft["title"].clone()));
    let read = json!({"op": "owner_update_read", "id": update["id"]});
    let read = scene.dispatch_as(phone, &read).unwrap().json();
    scene.book.law(UPDATES, "read by a device", (read["update"]["state"].clone(), json!("read")));
    scene.book.count("updates read");
    let (code, away) = scene.command("", &["conversations", "dismiss-update", text(&update["id"])]);
    let found = (code, away["update"]["state"].clone());
    scene.book.law(UPDATES, "put away by a command", (found, (Some(0), json!("dismissed"))));
    let left = scene.service.dispatch(list);
    scene.book.law(UPDATES, "nothing is left", (left["updates"].clone(), json!([])));
    scene.book.law(UPDATES, "nothing woke", (scene.woken("news"), vec![]));
}

fn command(scene: &mut Scene, ask: &Value, answer: &[&str], input: &str) -> (Option<i32>, Value) {
    let arguments = exact(&scene.shown(ask), answer);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    scene.command(input, &arguments)
}

fn exact(ask: &Value, answer: &[&str]) -> Vec<String> {
    let (conversation, request) = (text(&ask["conversation_id"]), text(&ask["request_id"]));
    let (incarnation, revision) = (text(&ask["incarnation_id"]), ask["revision"].to_string());
    let names = ["conversations", "answer", conversation, request, "--incarnation", incarnation, "--revision"];
    let names = names.into_iter().chain([revision.as_str()]).chain(answer.iter().copied());
    names.map(str::to_owned).collect()
}

/// What of a result is a receipt: it never changes again.
pub(crate) fn receipt(result: &Value) -> Value {
    let ask = &result["question"];
    json!({"at": ask["resolved_at"], "by": ask["resolved_by"], "answer": ask["answer"], "status": ask["status"]})
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value}"))
}
