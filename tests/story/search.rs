//! A secret's bytes are looked for in everything that anybody can read.

use std::fs;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use serde_json::json;

use crate::day::SECRET;
use crate::scene::Scene;
use crate::service::Ask;

const NOWHERE: &str = "M7: a secret's bytes are readable nowhere";
const SHOWN: &str = "M7: where a secret stood, something else stands";

/// Looks everywhere while it runs, and into its log and files when it has ended.
pub(crate) fn search(scene: &mut Scene) {
    let mut places = vec![("the command line", scene.printed.clone().into_bytes())];
    places.push(("the feed", scene.feed.lock().unwrap().clone()));
    let told: Vec<String> = scene.ntfy.told().iter().map(|one| one.body.clone()).collect();
    places.push(("notifications", told.join("\n").into_bytes()));
    let said: Vec<String> = scene.rooms.iter().map(|room| format!("{:?}", scene.service.said(room))).collect();
    places.push(("rooms", said.join("\n").into_bytes()));
    places.push(("records and transcripts", records(scene).into_bytes()));
    places.push(("the mailbox and its displays", mailbox(scene).into_bytes()));
    places.push(("metrics", scene.service.send(&Ask::get("/metrics")).body.into_bytes()));
    scene.book.law(NOWHERE, "the stop", (scene.service.stop(), Some(0)));
    places.push(("the log", scene.service.log().into_bytes()));
    let mut files = Vec::new();
    collect(&scene.service.state_dir(), &mut files);
    let forms = forms();
    for (what, bytes) in &places {
        scene.book.law(SHOWN, &format!("{what} has words at all"), (bytes.is_empty(), false));
    }
    for (place, bytes) in
        places.iter().map(|(what, bytes)| (*what, bytes)).chain(files.iter().map(|(a, b)| (a.as_str(), b)))
    {
        scene.book.count("places searched for the secret");
        scene.book.law(NOWHERE, place, (has(bytes, &forms), false));
    }
    let shown = places.iter().any(|(_, bytes)| String::from_utf8_lossy(bytes).contains("Private answer"));
    scene.book.law(SHOWN, "Private answer", (shown, true));
}

fn has(bytes: &[u8], forms: &[String]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    forms.iter().any(|form| text.contains(form))
}

/// The ways in which the bytes may be written: as they are, in parts, inside JSON once and twice over,
/// wide, in hexadecimal digits, as a list of numbers, and in base 64 wherever they begin.
fn forms() -> Vec<String> {
    let bytes = SECRET.as_bytes();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let list: Vec<String> = bytes.iter().map(u8::to_string).collect();
    let wide = SECRET.chars().flat_map(|letter| [letter, '\0']).collect();
    let mut forms = vec![SECRET.to_owned(), wide, hex.to_uppercase(), hex];
    forms.extend(SECRET.split(['"', '\\', '\n']).map(str::to_owned));
    let once = json!(SECRET).to_string();
    let twice = json!(once.clone()).to_string();
    assert!(twice.contains("\\\\\\\""), "the secret is written otherwise in JSON: {twice}");
    forms.extend([once, twice].map(|form| form.trim_matches('"').to_owned()));
    forms.extend([",", ", "].map(|between| list.join(between)));
    for first in 0..3 {
        let whole = (bytes.len() - first) / 3 * 3;
        let threes = &bytes[first..first + whole];
        forms.extend([STANDARD_NO_PAD.encode(threes), URL_SAFE_NO_PAD.encode(threes)]);
    }
    forms
}

fn records(scene: &Scene) -> String {
    let all = scene.service.handoffs();
    let records = all["handoffs"].as_array().unwrap();
    let ids = records.iter().map(|one| one["id"].as_str().unwrap());
    let transcripts: Vec<String> = ids.map(|id| format!("{:?}", scene.service.transcript(id))).collect();
    all.to_string() + &transcripts.join("\n")
}

fn mailbox(scene: &Scene) -> String {
    let mut text = String::new();
    for operation in ["input_list", "owner_update_list", "conversation_list", "device_list", "token_list"] {
        text.push_str(&scene.service.dispatch(json!({"op": operation})).to_string());
    }
    let conversations = scene.service.dispatch(json!({"op": "conversation_list"}));
    for one in conversations["conversations"].as_array().unwrap() {
        let tail = json!({"op": "conversation_tail", "conversation_id": one["conversation_id"]});
        text.push_str(&scene.service.dispatch(tail).to_string());
    }
    text
}

/// Every file of the state directory but the keys themselves, which hold no answer.
fn collect(directory: &Path, files: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_none_or(|extension| extension != "key") {
            files.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
}
