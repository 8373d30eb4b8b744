//! What the fake refuses, each thing once, and that it keeps nothing of what it refused.

use serde_json::{Value, json};

use crate::fake::{Channel, FakeDiscord, Happening, Right};

/// A plain call, as no library would make it.
async fn call(fake: &FakeDiscord, method: &str, path: &str, body: Value) -> (u16, Value) {
    call_as(fake, method, path, (body, &format!("Bot {}", fake.token()))).await
}

async fn call_as(fake: &FakeDiscord, method: &str, path: &str, (body, token): (Value, &str)) -> (u16, Value) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let url = format!("{}/api/v10{path}", fake.url());
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = client.request(method.parse().unwrap(), url).header("authorization", token);
    let response = if body.is_null() { request.send().await } else { request.json(&body).send().await };
    let response = response.unwrap();
    (response.status().as_u16(), response.json().await.unwrap_or_default())
}

async fn post(fake: &FakeDiscord, channel: Channel, body: Value) -> (u16, u64) {
    let (status, answer) = call(fake, "POST", &format!("/channels/{channel}/messages"), body).await;
    (status, answer["code"].as_u64().unwrap_or_default())
}

#[tokio::test]
async fn bodies_that_break_a_rule_are_refused_and_leave_nothing() {
    let fake = FakeDiscord::start();
    let general = fake.general();
    let refused = [
        json!({ "content": "ä".repeat(2_001) }),
        json!({ "content": "x", "nonce": "n".repeat(26) }),
        json!({ "content": "x", "allowed_mentions": { "parse": ["users"], "users": ["1"] } }),
        json!({ "content": "x", "allowed_mentions": { "parse": ["anyone"] } }),
        json!({ "content": "x", "surprise": 1 }),
        json!({ "content": "x", "message_reference": { "message_id": "1", "channel_id": general.to_string() } }),
    ];
    for body in refused {
        assert_eq!(post(&fake, general, body.clone()).await, (400, 50_035), "{body}");
    }
    assert_eq!(post(&fake, general, json!({ "content": " \n" })).await, (400, 50_006));
    assert_eq!(fake.messages(general), []);
    assert_eq!(fake.violations().len(), 6);

    assert_eq!(post(&fake, general, json!({ "content": "ä".repeat(2_000) })).await, (200, 0));
    let reference = json!({ "message_id": "1", "fail_if_not_exists": false });
    assert_eq!(post(&fake, general, json!({ "content": "x", "message_reference": reference })).await, (200, 0));
    assert_eq!(fake.messages(general).len(), 2);
}

#[tokio::test]
async fn places_that_are_closed_to_the_bot_are_refused() {
    let fake = FakeDiscord::start();
    let (ann, general) = (fake.people("ann"), fake.general());
    let words = json!({ "content": "x" });
    assert_eq!(post(&fake, Channel(1), words.clone()).await, (404, 10_003));
    fake.deny(general, Right::Send);
    assert_eq!(post(&fake, general, words.clone()).await, (403, 50_013));
    fake.deny(general, Right::View);
    assert_eq!(post(&fake, general, words.clone()).await, (403, 50_001));
    fake.allow(general, Right::View);
    let thread = fake.thread(general, ann, "aside");
    let said = fake.say(thread, ann, "here");
    fake.archive(thread);
    let (status, answer) =
        call(&fake, "PUT", &format!("/channels/{thread}/messages/{said}/reactions/%F0%9F%91%8D/@me"), Value::Null)
            .await;
    assert_eq!((status, &answer["code"]), (400, &json!(50_083)));
    assert_eq!(post(&fake, thread, words.clone()).await, (200, 0), "a post brings a thread back");
    fake.lock(thread);
    assert_eq!(post(&fake, thread, words.clone()).await, (400, 50_083));
    fake.delete_channel(thread);
    assert_eq!(post(&fake, thread, words.clone()).await, (404, 10_003));
    let direct = fake.direct(ann);
    fake.deny(direct, Right::Send);
    assert_eq!(post(&fake, direct, words).await, (403, 50_007));
}

#[tokio::test]
async fn wrong_tokens_emoji_routes_and_files_are_refused() {
    let fake = FakeDiscord::start();
    let (ann, general) = (fake.people("ann"), fake.general());
    let said = fake.say(general, ann, "here");
    for token in [fake.token().to_owned(), "Bot other".to_owned()] {
        assert_eq!(call_as(&fake, "GET", "/users/@me", (Value::Null, &token)).await.0, 401);
    }
    let reactions = format!("/channels/{general}/messages/{said}/reactions");
    let (status, answer) = call(&fake, "PUT", &format!("{reactions}/nope/@me"), Value::Null).await;
    assert_eq!((status, &answer["code"]), (400, &json!(10_014)));
    assert_eq!(call(&fake, "PUT", &format!("{reactions}/%F0%9F%91%8D/@me"), Value::Null).await.0, 204);
    assert_eq!(fake.messages(general)[0].reactions, [(fake.bot(), "👍".to_owned())]);
    assert_eq!(call(&fake, "GET", "/nowhere", Value::Null).await.0, 404);
    let edit =
        call(&fake, "PATCH", &format!("/channels/{general}/messages/{said}"), json!({ "content": "mine" })).await;
    assert_eq!((edit.0, &edit.1["code"]), (403, &json!(50_005)));

    fake.largest_file(10);
    let file = serenity::all::CreateAttachment::bytes(vec![0; 11], "long.bin");
    let message = serenity::all::CreateMessage::new().content("with a file").add_file(file);
    let sent = serenity::all::ChannelId::new(general.0).send_message(&crate::bot::http(&fake), message).await;
    assert!(sent.is_err());
    assert_eq!(fake.count(|what| matches!(what, Happening::Refused { status: 413, code: 40_005, .. })), 1);
    fake.largest_file(11);
    let file = serenity::all::CreateAttachment::bytes(vec![7; 11], "../long.bin");
    let message = serenity::all::CreateMessage::new().add_file(file);
    let sent = serenity::all::ChannelId::new(general.0).send_message(&crate::bot::http(&fake), message).await.unwrap();
    assert_eq!(fake.replies(general)[0].files, [("long.bin".to_owned(), 11)]);
    assert_eq!(reqwest::get(&sent.attachments[0].url).await.unwrap().bytes().await.unwrap(), vec![7; 11]);
    fake.expire_links();
    assert_eq!(reqwest::get(&sent.attachments[0].url).await.unwrap().status(), 403);
}

/// B94: without a policy everything pings; with one, only who it names.
#[tokio::test]
async fn b94_pings_follow_the_allowed_mentions() {
    let fake = FakeDiscord::start();
    let (ann, bob, general) = (fake.people("ann"), fake.people("bob"), fake.general());
    let content = format!("@everyone <@{ann}> <@{bob}> <@&7>");
    post(&fake, general, json!({ "content": content })).await;
    let only_ann = json!({ "parse": [], "users": [ann.to_string()], "replied_user": false });
    post(&fake, general, json!({ "content": content, "allowed_mentions": only_ann })).await;
    let pings: Vec<_> = fake.replies(general).into_iter().map(|posted| posted.pings).collect();
    assert_eq!((pings[0].everyone, &pings[0].people[..], &pings[0].roles[..]), (true, &[ann, bob][..], &[7][..]));
    assert_eq!((pings[1].everyone, &pings[1].people[..], &pings[1].roles[..]), (false, &[ann][..], &[][..]));
}
