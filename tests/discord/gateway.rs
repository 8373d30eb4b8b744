//! The fake's gateway against a plain serenity client.

use serenity::all::{ChannelId, CreateMessage};

use crate::bot::{Bot, Heard};
use crate::fake::{Close, FakeDiscord, Happening};

#[tokio::test]
async fn a_person_is_heard_and_answered() {
    let fake = FakeDiscord::start();
    let (ann, general) = (fake.people("ann"), fake.general());
    let mut bot = Bot::start(&fake).await;
    bot.ready().await;
    let channels = bot.hear(|heard| match heard {
        Heard::Guild(guild) => Some(guild.channels.keys().map(|id| id.get()).collect::<Vec<_>>()),
        _ => None,
    });
    assert_eq!(channels.await, [general.0]);

    let asked = fake.ask(general, ann, "are you there?");
    let message = bot.message("are you there?").await;
    assert_eq!((message.id.get(), message.author.id.get()), (asked.0, ann.0));
    assert!(message.mentions.iter().any(|user| user.id.get() == fake.bot().0));
    message.reply_ping(&bot.http, "here").await.unwrap();
    let replies = fake.replies_to(asked);
    assert_eq!(replies.iter().map(|reply| reply.content.as_str()).collect::<Vec<_>>(), ["here"]);
    assert_eq!(replies[0].pings.people, [ann]);

    fake.edit(asked, "are you still there?");
    bot.hear(|heard| {
        matches!(heard, Heard::Edited(id, words) if *id == asked.0 && words.contains("still")).then_some(())
    })
    .await;
    fake.react(replies[0].id, ann, "👍");
    bot.hear(|heard| matches!(heard, Heard::Reacted(emoji) if emoji == "👍").then_some(())).await;
    let thread = fake.thread(general, ann, "aside");
    bot.hear(|heard| matches!(heard, Heard::Thread(id, false) if *id == thread.0).then_some(())).await;
    fake.archive(thread);
    bot.hear(|heard| matches!(heard, Heard::Thread(id, true) if *id == thread.0).then_some(())).await;
    let told = fake.dm(ann, "between us");
    let direct = bot.message("between us").await;
    assert_eq!((direct.id.get(), direct.guild_id), (told.0, None));
    bot.stop().await;
    assert_eq!(fake.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn a_cut_socket_is_resumed_and_missed_words_are_replayed() {
    let fake = FakeDiscord::start();
    let (ann, general) = (fake.people("ann"), fake.general());
    let mut bot = Bot::start(&fake).await;
    bot.ready().await;
    fake.end_connections(Close::Cut);
    fake.until("the cut", |log| log.iter().find(|e| matches!(e.what, Happening::Disconnected { .. })).map(|_| ()))
        .await;
    fake.say(general, ann, "said into the gap");
    bot.message("said into the gap").await;
    assert_eq!((fake.identifies(), fake.resumes()), (1, 1));

    fake.end_connections(Close::Reconnect);
    bot.hear(|heard| matches!(heard, Heard::Resumed).then_some(())).await;
    fake.down();
    fake.say(general, ann, "said while it was down");
    fake.up();
    bot.message("said while it was down").await;
    assert_eq!(fake.identifies(), 1);
}

#[tokio::test]
async fn dispatches_can_come_twice_and_in_the_wrong_order() {
    let fake = FakeDiscord::start();
    let (ann, general) = (fake.people("ann"), fake.general());
    let mut bot = Bot::start(&fake).await;
    bot.ready().await;
    bot.hear(|heard| matches!(heard, Heard::Guild(_)).then_some(())).await;
    fake.duplicate_next(1);
    let twice = fake.say(general, ann, "twice");
    assert_eq!(bot.message("twice").await.id.get(), twice.0);
    assert_eq!(bot.message("twice").await.id.get(), twice.0);
    fake.reorder_next(2);
    fake.say(general, ann, "first");
    fake.say(general, ann, "second");
    bot.message("second").await;
    bot.message("first").await;
    ChannelId::new(general.0).send_message(&bot.http, CreateMessage::new().content("done")).await.unwrap();
    assert_eq!(fake.replies(general).len(), 1);
}
