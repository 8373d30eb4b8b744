//! Faults that the fake puts in, each once, as a plain serenity client meets them.

use std::time::Duration;

use serenity::all::{
    ChannelId, CreateCommand, CreateInteractionResponse, CreateInteractionResponseMessage, CreateMessage,
    EditInteractionResponse, GetMessages, Http, Interaction, Nonce,
};

use crate::bot::{Bot, Heard, http};
use crate::fake::{Calls, Channel, Close, FakeDiscord, Fault, Gate, Happening, Heartbeats};

async fn post(http: &Http, channel: Channel, words: &str, nonce: &str) -> serenity::Result<u64> {
    let message = CreateMessage::new().content(words).nonce(Nonce::String(nonce.into())).enforce_nonce(true);
    ChannelId::new(channel.0).send_message(http, message).await.map(|message| message.id.get())
}

fn contents(fake: &FakeDiscord) -> Vec<String> {
    fake.replies(fake.general()).into_iter().map(|posted| posted.content).collect()
}

#[tokio::test]
async fn a_repeated_nonce_returns_the_earlier_message_until_it_is_forgotten() {
    let fake = FakeDiscord::start();
    let (http, general) = (http(&fake), fake.general());
    let first = post(&http, general, "one", "n1").await.unwrap();
    assert_eq!(post(&http, general, "one", "n1").await.unwrap(), first);
    assert_ne!(post(&http, general, "two", "n2").await.unwrap(), first);
    fake.forget_nonces();
    assert_ne!(post(&http, general, "three", "n1").await.unwrap(), first);
    assert_eq!(contents(&fake), ["one", "two", "three"]);
    assert_eq!(fake.count(|what| matches!(what, Happening::Repeated { .. })), 1);
}

/// An answer can be lost after the effect; the same nonce finds the message again.
#[tokio::test]
async fn an_answer_can_be_lost_before_and_after_the_effect() {
    let fake = FakeDiscord::start();
    let (http, general) = (http(&fake), fake.general());
    let without = [Fault::CutBefore, Fault::Status(502), Fault::Refused(403, 50_013)];
    for fault in without {
        fake.fault(Calls::posts(), fault);
        assert!(post(&http, general, "never", "n0").await.is_err());
    }
    assert_eq!(contents(&fake), Vec::<String>::new());
    let with = [Fault::CutAfter, Fault::StatusAfter(504), Fault::GarbledAfter];
    for (number, fault) in with.into_iter().enumerate() {
        fake.fault(Calls::posts_in(general), fault);
        let (words, nonce) = (format!("once {number}"), format!("n{}", number + 1));
        assert!(post(&http, general, &words, &nonce).await.is_err());
        post(&http, general, &words, &nonce).await.unwrap();
    }
    assert_eq!(contents(&fake), ["once 0", "once 1", "once 2"]);
}

#[tokio::test]
async fn a_gate_holds_a_call_before_or_after_its_effect() {
    let fake = FakeDiscord::start();
    let (http, general) = (http(&fake), fake.general());
    for (held, stands) in [(Fault::HeldBefore as fn(Gate) -> Fault, 0), (Fault::HeldAfter, 2)] {
        let gate = Gate::new();
        fake.fault(Calls::posts_saying("held"), held(gate.clone()));
        let before = fake.log().len();
        let opened = async {
            fake.until("the fault", |log| {
                log[before..].iter().find(|entry| matches!(entry.what, Happening::Faulted { .. })).map(|_| ())
            })
            .await;
            if stands > 0 {
                fake.until("the effect", |_| (contents(&fake).len() == stands).then_some(())).await;
            }
            let seen = contents(&fake).len();
            gate.open();
            seen
        };
        let nonce = format!("held {stands}");
        let (sent, seen) = tokio::join!(post(&http, general, "held", &nonce), opened);
        sent.unwrap();
        assert_eq!(seen, stands);
    }
}

/// B95: a short limit, a global one and an honest one, with the headers of the real thing.
#[tokio::test]
async fn b95_limits_are_told_as_the_real_one_tells_them() {
    let fake = FakeDiscord::start();
    let (http, general) = (http(&fake), fake.general());
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let told = async || {
        let request = client.post(format!("{}/api/v10/channels/{general}/messages", fake.url()));
        let request = request.header("authorization", format!("Bot {}", fake.token()));
        let response = request.json(&serde_json::json!({ "content": "x" })).send().await.unwrap();
        let header = |name: &str| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        let names = ["retry-after", "x-ratelimit-global", "x-ratelimit-scope", "x-ratelimit-remaining"];
        let headers = names.map(header);
        (response.status().as_u16(), headers, response.json::<serde_json::Value>().await.unwrap())
    };
    fake.fault(Calls::posts(), Fault::RateLimited(Duration::from_millis(300)));
    fake.fault(Calls::posts().after(1), Fault::RateLimitedGlobally(Duration::from_secs(60)));
    let (status, headers, body) = told().await;
    assert_eq!((status, &body["retry_after"], &body["global"]), (429, &0.3.into(), &false.into()));
    assert_eq!(headers.map(Option::unwrap_or_default), ["1", "", "user", "0"]);
    let (status, _, body) = told().await;
    assert_eq!((status, body["content"].as_str()), (200, Some("x")));
    let (status, headers, body) = told().await;
    assert_eq!((status, &body["retry_after"], &body["global"]), (429, &60.0.into(), &true.into()));
    assert_eq!(headers.map(Option::unwrap_or_default), ["60", "true", "global", ""]);

    fake.limit(1, Duration::from_secs(600));
    post(&http, general, "four", "four").await.unwrap();
    let over = post(&http, general, "five", "five").await.unwrap_err();
    assert!(matches!(over, serenity::Error::Http(error) if error.status_code().is_some_and(|code| code == 429)));
    assert_eq!(contents(&fake), ["x", "four"]);
}

#[tokio::test]
async fn pages_of_messages_are_cut_as_asked() {
    let fake = FakeDiscord::start();
    let (http, ann, general) = (http(&fake), fake.people("ann"), fake.general());
    let old = fake.said_before(general, ann, "old", Duration::from_secs(86_400));
    let said: Vec<_> = (0..5).map(|n| fake.say(general, ann, &n.to_string())).collect();
    let page = async |asked: GetMessages| {
        let page = ChannelId::new(general.0).messages(&http, asked.limit(2)).await.unwrap();
        page.into_iter().map(|message| message.content).collect::<Vec<_>>()
    };
    assert_eq!(page(GetMessages::new()).await, ["4", "3"]);
    assert_eq!(page(GetMessages::new().after(old.0)).await, ["1", "0"]);
    assert_eq!(page(GetMessages::new().before(said[1].0)).await, ["0", "old"]);
}

#[tokio::test]
async fn sessions_end_in_every_way_that_a_gateway_ends_them() {
    let fake = FakeDiscord::start();
    let (ann, general) = (fake.people("ann"), fake.general());
    let mut bot = Bot::start(&fake).await;
    bot.ready().await;
    fake.end_connections(Close::InvalidResumable);
    bot.hear(|heard| matches!(heard, Heard::Resumed).then_some(())).await;
    fake.end_connections(Close::Code(4_000));
    bot.hear(|heard| matches!(heard, Heard::Resumed).then_some(())).await;
    assert_eq!(fake.identifies(), 1);
    fake.end_connections(Close::Invalid);
    bot.ready().await;
    assert_eq!(fake.identifies(), 2);
    fake.say(general, ann, "still here?");
    bot.message("still here?").await;
}

#[tokio::test]
async fn a_client_whose_heartbeats_are_not_answered_comes_back_by_itself() {
    let fake = FakeDiscord::start();
    fake.heartbeats(Heartbeats::Answered, Duration::from_millis(300));
    let mut bot = Bot::start(&fake).await;
    bot.ready().await;
    fake.heartbeats(Heartbeats::Ignored, Duration::from_millis(300));
    // serenity begins a new session then, so that nothing is replayed.
    bot.ready().await;
    assert_eq!((fake.identifies(), fake.resumes()), (2, 0));
}

#[tokio::test]
async fn identifies_are_counted_and_can_be_refused() {
    let fake = FakeDiscord::start();
    fake.identify_budget(1_000, 5, Duration::from_secs(60));
    fake.refuse_identifies(1);
    let mut bot = Bot::start(&fake).await;
    bot.ready().await;
    let told = bot.http.get_bot_gateway().await.unwrap().session_start_limit;
    assert_eq!((told.total, told.remaining), (1_000, 3));
    assert_eq!(fake.count(|what| matches!(what, Happening::IdentifyRefused)), 1);
}

#[tokio::test]
async fn a_slash_command_is_registered_used_and_answered() {
    let fake = FakeDiscord::start();
    let (ann, general) = (fake.people("ann"), fake.general());
    let mut bot = Bot::start(&fake).await;
    bot.ready().await;
    bot.http.set_application_id(fake.bot().0.into());
    let command = CreateCommand::new("clankie").description("Looks after the room").add_option(
        serenity::all::CreateCommandOption::new(serenity::all::CommandOptionType::SubCommand, "status", "How it is"),
    );
    serenity::all::Command::set_global_commands(&bot.http, vec![command]).await.unwrap();
    let used = fake.slash(general, ann, &["clankie", "status"], &[]);
    let command = bot.hear(|heard| match heard {
        Heard::Used(used) => match &**used {
            Interaction::Command(command) => Some(command.clone()),
            _ => None,
        },
        _ => None,
    });
    let command = command.await;
    assert_eq!((command.user.id.get(), command.data.options[0].name.as_str()), (ann.0, "status"));
    let answer = CreateInteractionResponseMessage::new().content("working").ephemeral(true);
    command.create_response(&bot.http, CreateInteractionResponse::Message(answer.clone())).await.unwrap();
    let again = command.create_response(&bot.http, CreateInteractionResponse::Message(answer)).await;
    assert!(again.is_err());
    command.edit_response(&bot.http, EditInteractionResponse::new().content("all well")).await.unwrap();
    let answers = fake.answers(used);
    let seen: Vec<_> = answers.iter().map(|a| (a.kind, a.content.as_str(), a.ephemeral)).collect();
    assert_eq!(seen, [("message", "working", true), ("edit", "all well", true)]);
    assert_eq!(fake.messages(general), [], "only ann sees it");
}
