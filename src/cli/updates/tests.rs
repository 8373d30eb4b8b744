//! How updates are listed and named.

use serde_json::{Value, json};

use super::*;
use crate::cli::peer::{Reply, peer};

fn update(id: &str, title: &str) -> Value {
    json!({"id": id, "title": title, "body": "b", "conversation_id": "room-a", "source": {"conversation_id": "room-a"},
           "links": [], "media": [], "issue": null, "at": "2030-01-01T00:00:00Z", "state": "unread",
           "read_at": null, "dismissed_at": null})
}

#[test]
fn a_title_is_one_line_and_clean() {
    let one: OwnerUpdateBody = serde_json::from_value(update("u1", "a\u{1b}]0;x\u{7}\nb")).unwrap();
    let expected = ["ID  STATE   AGE  TITLE", "u1  unread  9 s  a b"];
    assert_eq!(rows(&[one], "2030-01-01T00:00:09Z".parse().unwrap()), expected);
}

/// Reading and putting away name the one update that was meant, among those put away, too.
#[tokio::test]
async fn an_update_is_read_by_the_beginning_of_its_id() {
    let list = json!({"status": "ready", "updates": [update("aaaaaa-1", "a"), update("bbbbbb-2", "b")],
                      "counts": {"asks": 0, "updates": 2}, "cursor": "e-1"});
    let found = json!({"status": "ready", "update": update("bbbbbb-2", "b")});
    let (client, service) = peer(vec![Reply::Value(list), Reply::Value(found)]).await;
    let screen = Screen::of_process(Some(Form::Json));
    run(UpdatesCommand::Read { id: "bbbbbb".parse().unwrap() }, &client, &screen).await.unwrap();
    let asked: Vec<Value> = service.await.unwrap().into_iter().map(|(_, body)| body).collect();
    let expected = [
        json!({"schema_version": 1, "op": "owner_update_list", "state": "all"}),
        json!({"schema_version": 1, "op": "owner_update_read", "id": "bbbbbb-2"}),
    ];
    assert_eq!(asked, expected);
}
