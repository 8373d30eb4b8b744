//! Files, both ways: by reference on the way in, as uploads on the way out, and never at the cost of words.

use std::time::Duration;

use serde_json::json;

use crate::fake::{Calls, Fault, Happening, Right};
use crate::scene::{Scene, long, posting};
use crate::service::until;

/// What Discord takes from every bot.
const FILE_MAX: usize = 10 * 1024 * 1024;

fn sentence(name: &str, kind: &str, size: usize) -> String {
    format!("[file: {name}, {kind}, {size} bytes] could not be sent here.")
}

/// A file stands with the words that it belongs to, under its own name without a path, and is
/// deleted here once it stands there.
#[test]
fn a_file_goes_along_with_the_last_words() {
    let scene = Scene::start("", "");
    let text = long(3_000);
    let asked = scene.ask("ann", &format!("{text}\n!file ../up/notes.txt 11"));
    assert_eq!(posting(&scene.over(asked)), "confirmed");
    let parts = scene.fake.replies_to(asked);
    let files: Vec<_> = parts.iter().map(|part| part.files.clone()).collect();
    assert_eq!(files, [vec![], vec![("notes.txt".to_owned(), 11)]]);
    let record = scene.service.record(&asked.to_string()).unwrap();
    let media = &record["result"]["media"][0];
    assert_eq!(
        (&media["name"], &media["size"], &media["mime_type"]),
        (&json!("notes.txt"), &json!(11), &json!("text/plain"))
    );
    let folder = scene.service.state_dir().join("files");
    until("the kept file to be gone", || std::fs::read_dir(&folder).unwrap().next().is_none().then_some(()));
}

#[test]
fn a_file_alone_and_several_files_are_posted() {
    let scene = Scene::start("", "");
    let alone = scene.ask("ann", "!wordless\n!file a.bin 3");
    assert_eq!(scene.replies(alone), [""]);
    assert_eq!(scene.fake.replies_to(alone)[0].files, [("a.bin".to_owned(), 3)]);
    let several = scene.ask("ann", "two\n!file a.txt 1\n!file b.txt 2");
    assert_eq!(scene.replies(several), ["demo: two", ""]);
    assert_eq!(scene.fake.replies_to(several)[1].files, [("b.txt".to_owned(), 2)]);
}

/// 413 discards no words: a file that is too large by the bot's own limit is never sent, and one
/// that the room refuses all the same is replaced by a sentence.
#[test]
fn a_file_that_is_too_large_costs_no_words() {
    let scene = Scene::start("", "");
    let size = FILE_MAX + 1;
    let asked = scene.ask("ann", &format!("large\n!file big.bin {size}"));
    assert_eq!(
        scene.replies(asked),
        [format!("demo: large\n{}", sentence("big.bin", "application/octet-stream", size))]
    );
    assert_eq!(scene.fake.count(|what| matches!(what, Happening::Refused { status: 413, .. })), 0);

    scene.fake.largest_file(100);
    let asked = scene.ask("ann", "small\n!file a.txt 101");
    assert_eq!(scene.replies(asked), [format!("demo: small\n{}", sentence("a.txt", "text/plain", 101))]);
    assert_eq!(scene.fake.count(|what| matches!(what, Happening::Refused { status: 413, .. })), 1);

    let alone = scene.ask("ann", "!wordless\n!file a.txt 101");
    assert_eq!(scene.replies(alone), [sentence("a.txt", "text/plain", 101)]);
    assert_eq!(posting(&scene.over(alone)), "confirmed");
}

#[test]
fn a_room_without_the_right_to_attach_gets_the_words() {
    let scene = Scene::start("", "");
    scene.fake.deny(scene.general, Right::Attach);
    let asked = scene.ask("ann", "hello\n!file a.txt 3");
    assert_eq!(scene.replies(asked), [format!("demo: hello\n{}", sentence("a.txt", "text/plain", 3))]);
}

/// A lost answer is repeated with its nonce, with a file as without one.
#[test]
fn a_lost_answer_to_an_upload_doubles_neither_words_nor_file() {
    let scene = Scene::start("", "");
    for fault in [Fault::CutAfter, Fault::StatusAfter(502), Fault::RateLimited(Duration::from_millis(300))] {
        scene.fake.fault(Calls::posts(), fault.clone());
        let asked = scene.ask("ann", "hello\n!file a.txt 3");
        assert_eq!(scene.replies(asked), ["demo: hello"], "{fault:?}");
        assert_eq!(scene.fake.replies_to(asked)[0].files, [("a.txt".to_owned(), 3)], "{fault:?}");
    }
}

/// Uploads that break off again and again do not hold the words back.
#[test]
fn an_upload_that_never_gets_through_is_given_up_for_its_words() {
    let scene = Scene::start("", "");
    scene.fake.fault(Calls::which(|call| !call.files().is_empty()).always(), Fault::CutBefore);
    let asked = scene.ask("ann", "hello\n!file a.txt 3");
    assert_eq!(scene.replies(asked), [format!("demo: hello\n{}", sentence("a.txt", "text/plain", 3))]);
}

/// Rooms that live here name a file; its bytes are for rooms that take them.
#[test]
fn a_local_room_and_the_command_line_name_a_file() {
    let scene = Scene::start("", "");
    let asked = scene.ask("ann", "hello\n!file a.txt 3");
    let id = scene.over(asked)["id"].as_str().unwrap().to_owned();
    let shown = scene.service.cli(&["handoffs", "show", &id]).data();
    assert_eq!(shown["result"]["media"][0]["name"], "a.txt");
    let turn = crate::service::turn("r", "m1", "ann", "hi\n!file b.txt 4");
    let settled = scene.service.settle(&turn).json();
    assert_eq!(settled["result"]["media"][0]["size"], 4);
    let messages = scene.service.said("r");
    assert!(messages.iter().any(|one| one["text"] == "demo: hi\n[file: b.txt, text/plain, 4 bytes]"), "{messages:?}");
}

/// What comes in beyond a limit is named to the session as data; it is neither passed on nor lost.
#[test]
fn files_beyond_the_limits_on_the_way_in_are_named_and_left_out() {
    let scene = Scene::start("", "");
    let (ann, mention) = (scene.fake.people("ann"), scene.fake.mention());
    let large = vec![0; 25 * 1024 * 1024 + 1];
    let files: [(&str, &[u8]); 3] = [("fine.txt", b"x"), ("big.bin", &large), ("run.exe", b"MZ")];
    let sent = scene.fake.attach(scene.general, ann, &format!("{mention} look"), &files);
    let notes = "[left out: big.bin, application/octet-stream, 26214401 bytes]\n\
                 [left out: run.exe, application/x-msdownload, 2 bytes]";
    assert_eq!(scene.replies(sent), [format!("demo: look\n{notes}")]);
    let record = scene.over(sent);
    let names: Vec<_> = record["attachments"].as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
    assert_eq!(names, ["fine.txt"]);
    assert_eq!(
        scene.fake.count(|what| matches!(what, Happening::Called { call } if call.contains("/attachments/"))),
        0
    );
}

/// A message with only a file that is left out is still heard, and nothing of it is fetched.
#[test]
fn a_message_with_only_a_file_that_is_left_out_is_heard() {
    let scene = Scene::start("", "");
    let (ann, mention) = (scene.fake.people("ann"), scene.fake.mention());
    let sent = scene.fake.attach(scene.general, ann, &mention, &[("../run.exe", b"MZ")]);
    assert_eq!(scene.replies(sent), ["demo: [left out: run.exe, application/x-msdownload, 2 bytes]"]);
    assert_eq!(scene.over(sent)["attachments"], json!([]));
}

/// A file that does not stand in its room is kept for the owner, who alone may fetch it, as bytes to
/// be saved; so is one of a room that lives here.
#[test]
fn a_file_that_does_not_stand_in_its_room_is_there_for_the_owner() {
    let scene = Scene::start("", "");
    scene.fake.largest_file(100);
    let asked = scene.ask("ann", "small\n!file a.txt 101");
    assert_eq!(scene.replies(asked), [format!("demo: small\n{}", sentence("a.txt", "text/plain", 101))]);
    let local = scene.service.settle(&crate::service::turn("r", "m1", "ann", "hi\n!file b.txt 4")).json();
    let local = local["handoff_id"].as_str().unwrap().to_owned();
    let id = scene.over(asked)["id"].as_str().unwrap().to_owned();
    let fetch = |handoff: &str, number: u32, token: &str| {
        let path = format!("/operator/v1/handoffs/{handoff}/files/{number}");
        scene.service.send(&crate::service::Ask::get(&path).token(token))
    };
    let account = scene.service.token("account", "ben");
    for (handoff, size) in [(&id, 101), (&local, 4)] {
        let file = fetch(handoff, 0, scene.service.operator());
        assert_eq!((file.status, file.body.len()), (200, size), "{file:?}");
        assert_eq!(file.header("content-disposition"), Some("attachment"));
        assert_eq!(file.header("content-type"), Some("application/octet-stream"));
        assert_eq!(fetch(handoff, 1, scene.service.operator()).status, 404);
        assert_eq!(fetch(handoff, 0, &account).status, 403);
    }
}
