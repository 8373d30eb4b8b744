//! Where a reader of events begins, goes on, and ends.

use serde_json::json;

use super::*;
use crate::cli::exit::Exit;
use crate::cli::peer::{Reply, peer};
use crate::cli::screen::Form;

const EPOCH: &str = "01a22f0d-7f30-7602-abd8-a89235938376";

fn reader<'a>(screen: &'a Screen, after: Option<&str>, end: Option<u64>) -> Reader<'a> {
    let end = end.map(|seq| Cursor { epoch: EPOCH.parse().unwrap(), seq });
    Reader { after: after.map(str::to_owned), end, screen }
}

fn frame(seq: u64, event: Option<&str>) -> Frame {
    let data = event.map(|_| "{}".to_owned());
    Frame { id: Some(format!("{EPOCH}-{seq}")), event: event.map(str::to_owned), data }
}

#[test]
fn a_cursor_is_what_is_printed_and_nothing_else() {
    for (text, sound) in [
        (format!("{EPOCH}-0"), true),
        (format!("{EPOCH}-42"), true),
        (format!("{EPOCH}-+42"), false),
        (format!("{EPOCH}-042"), false),
        (EPOCH.to_owned(), false),
        ("42".to_owned(), false),
        (String::new(), false),
    ] {
        assert_eq!(text.parse::<Cursor>().is_ok(), sound, "{text}");
    }
}

#[test]
fn the_last_event_that_was_printed_is_where_it_goes_on() {
    let screen = Screen::of_process(Some(Form::Json));
    let mut reader = reader(&screen, None, None);
    assert_eq!(reader.take(&frame(3, None)).unwrap(), Progress::More);
    assert_eq!(reader.after, Some(format!("{EPOCH}-3")), "a place without an event counts, too");
    reader.take(&frame(4, Some("handoff"))).unwrap();
    reader.take(&Frame { id: None, event: Some("message".into()), data: Some("{}".into()) }).unwrap();
    assert_eq!(reader.after, Some(format!("{EPOCH}-4")));
    let broken = Frame { data: Some("{".into()), ..frame(5, Some("handoff")) };
    assert_eq!(reader.take(&broken).unwrap_err().exit(), Exit::Failure);
    assert_eq!(reader.after, Some(format!("{EPOCH}-4")), "what was not printed is not passed over");
}

#[test]
fn without_following_it_ends_where_the_service_stood() {
    let screen = Screen::of_process(Some(Form::Json));
    let mut until_five = reader(&screen, None, Some(5));
    assert_eq!(until_five.take(&frame(4, Some("message"))).unwrap(), Progress::More);
    assert_eq!(until_five.take(&frame(5, Some("message"))).unwrap(), Progress::Enough);
    let mut reset = reader(&screen, None, Some(5));
    assert_eq!(reset.take(&frame(1, Some("reset"))).unwrap(), Progress::Enough);
    let mut follows = reader(&screen, None, None);
    assert_eq!(follows.take(&frame(9, Some("reset"))).unwrap(), Progress::More);
}

const STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n\
     id: 01a22f0d-7f30-7602-abd8-a89235938376-7\nevent: message\ndata: {}\n\nid: 01a22f0d-7f30-7602-abd8-a89235938376-8\nevent: mess";
const REFUSED: &str = "HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n";

/// A stream that breaks off in the middle of an event is gone on with after the last whole one; a
/// credential that does not stand any more ends it.
#[tokio::test]
async fn a_broken_stream_goes_on_after_its_last_event() {
    let (client, service) = peer(vec![Reply::Bytes(STREAM), Reply::Cut, Reply::Bytes(REFUSED)]).await;
    let screen = Screen::of_process(Some(Form::Json));
    let follow = EventsArguments { follow: true, after: None };
    let ended = run(follow, &|| Ok(client.clone()), &screen).await.unwrap_err();
    assert_eq!(ended.exit(), Exit::NotAuthorised);
    let heads: Vec<String> = service.await.unwrap().into_iter().map(|(head, _)| head).collect();
    assert!(!heads[0].contains("last-event-id"), "{}", heads[0]);
    let place = format!("last-event-id: {EPOCH}-7");
    assert!(heads[1..].iter().all(|head| head.contains(&place)), "{heads:?}");
}

#[tokio::test]
async fn what_is_there_is_nothing_when_nothing_happened_since() {
    let status = json!({
        "version": "0", "pid": 1, "url": "u", "state_dir": "s", "started_at": "2030-01-01T00:00:00Z", "draining": false,
        "store": {"state": "ready", "reason": null}, "counts": null, "cursor": format!("{EPOCH}-7"), "routes": {}, "local_rooms": [],
    });
    let (client, service) = peer(vec![Reply::Value(status)]).await;
    let screen = Screen::of_process(Some(Form::Json));
    let arguments = EventsArguments { follow: false, after: Some(format!("{EPOCH}-7").parse().unwrap()) };
    run(arguments, &|| Ok(client.clone()), &screen).await.unwrap();
    assert_eq!(service.await.unwrap().len(), 1);
}
