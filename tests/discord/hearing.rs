//! What people say, and what it means: duplicates, edits, rooms, files, commands.

use crate::fake::{Close, Happening};
use crate::scene::Scene;
use crate::service::until;

/// B89: a message that comes twice, over one connection or two, is answered once; and a burst
/// that the gateway sends twice keeps its order.
#[test]
fn b89_a_message_that_comes_twice_is_answered_once() {
    let scene = Scene::start("", "");
    scene.fake.duplicate_next(2);
    let first = scene.ask("ann", "one");
    let second = scene.ask("ben", "two");
    assert_eq!((scene.replies(first), scene.replies(second)), (vec!["demo: one".into()], vec!["demo: two".into()]));
    scene.reconnect(Close::Invalid);
    let third = scene.ask("ann", "three");
    assert_eq!(scene.replies(third), ["demo: three"]);
    assert_eq!(scene.fake.replies(scene.general).len(), 3);
}

/// B42: two people at once each get an answer that quotes their own message, and each answer
/// notifies only the one who asked.
#[test]
fn b42_parallel_answers_quote_the_message_that_they_answer() {
    let scene = Scene::start("", "");
    let (ann, ben) = (scene.ask("ann", "slow\n!sleep 400"), scene.ask("ben", "quick"));
    assert_eq!((scene.replies(ann), scene.replies(ben)), (vec!["demo: slow".into()], vec!["demo: quick".into()]));
    let pinged = |message| scene.fake.replies_to(message)[0].pings.people.clone();
    assert_eq!(pinged(ann), [scene.fake.people("ann")]);
    assert_eq!(pinged(ben), [scene.fake.people("ben")]);
}

/// B24: where talk is free a person's further words join their own run, and get a signal of their own.
#[test]
fn b24_a_burst_joins_the_speakers_own_run() {
    let mut scene = Scene::prepare("", "");
    scene.configure(&format!("free_talk = [\"{}\"]", scene.general), "");
    scene.service.launch();
    scene.connected();
    let ann = scene.fake.people("ann");
    let first = scene.fake.say(scene.general, ann, "begin\n!wait-steer 20000");
    scene.service.running(&first.to_string());
    let second = scene.fake.say(scene.general, ann, "and this");
    assert_eq!(scene.replies(first), ["demo: begin\nand this"]);
    assert_eq!(scene.over(second)["result"]["kind"], "absorbed");
    scene.reacted(first, "👀");
    scene.reacted(second, "➕");
    scene.reacted(second, "✅");
}

/// A reply to the bot needs no mention, and an owner may write directly; nobody else may.
#[test]
fn a_reply_to_the_bot_and_an_owners_direct_message_are_heard() {
    let mut scene = Scene::prepare("", "");
    let (ann, ben) = (scene.fake.people("ann"), scene.fake.people("ben"));
    scene.configure("", &format!("[grants]\nowners = [\"discord:user:{ann}\"]"));
    scene.service.launch();
    scene.connected();
    let asked = scene.ask("ben", "one");
    scene.over(asked);
    let answer = scene.fake.replies_to(asked)[0].id;
    let more = scene.fake.reply_to(answer, ben, "two");
    assert_eq!(scene.replies(more), ["demo: two"]);
    let other = scene.fake.reply_to(asked, ann, "to ben, not to the bot");
    let strange = scene.fake.dm(ben, "hello?");
    let direct = scene.fake.dm(ann, "for you alone");
    assert_eq!(scene.replies(direct), ["demo: for you alone"]);
    assert_eq!(scene.over(direct)["room"], format!("discord:text:dm:{}", scene.fake.direct(ann)));
    for unheard in [other, strange] {
        assert!(scene.service.record(&unheard.to_string()).is_none());
    }
}

/// A run that fails says so in one sentence, one that is silent only by its sign.
#[test]
fn a_failed_run_has_a_sentence_and_a_silent_one_a_sign() {
    let scene = Scene::start("", "");
    let (failed, silent) = (scene.ask("ann", "!fail out_of_cheese"), scene.ask("ben", "quiet\n!silent"));
    assert_eq!(scene.replies(failed), ["The agent ended this with an error of its own."]);
    scene.reacted(failed, "✅");
    scene.reacted(silent, "✅");
    assert_eq!((scene.over(silent)["result"]["kind"].as_str(), scene.replies(silent).len()), (Some("silent"), 0));
}

/// B96: a thread is a room of its own and is answered there.
#[test]
fn b96_a_thread_and_a_forum_post_are_rooms_of_their_own() {
    let scene = Scene::start("", "");
    let (ann, home) = (scene.fake.people("ann"), scene.fake.guild("home"));
    let thread = scene.fake.thread(scene.general, ann, "side");
    let in_thread = scene.fake.ask(thread, ann, "in the thread");
    let forum = scene.fake.forum(home, "ideas");
    let mention = scene.fake.mention();
    let (post, in_post) = scene.fake.forum_post(forum, ann, "an idea", &format!("{mention} what about it"));
    assert_eq!(scene.replies(in_thread), ["demo: in the thread"]);
    assert_eq!(scene.replies(in_post), ["demo: what about it"]);
    assert_eq!(scene.over(in_thread)["room"], format!("discord:text:{home}:{thread}"));
    assert_eq!((scene.fake.replies(post).len(), scene.fake.replies(scene.general).len()), (1, 0));
}

/// An edit before the end joins as a steer that says so; the stop word ends one's own run only.
#[test]
fn edits_deletions_and_the_stop_word_reach_the_speakers_own_run() {
    let scene = Scene::start("", "");
    let ann = scene.ask("ann", "first words\n!wait-steer 20000");
    scene.service.running(&ann.to_string());
    scene.fake.edit(ann, &format!("{} better words", scene.fake.mention()));
    let replies = scene.replies(ann);
    assert_eq!(replies.len(), 1, "{replies:?}");
    assert!(replies[0].contains("(edited) better words"), "{replies:?}");

    let (slow, other) = (scene.ask("ann", "slow\n!sleep 60000"), scene.ask("ben", "other\n!sleep 900"));
    scene.service.running(&slow.to_string());
    scene.fake.say(scene.general, scene.fake.people("ann"), "stop");
    assert_eq!(scene.over(slow)["result"]["kind"], "cancelled");
    assert_eq!(scene.replies(other), ["demo: other"]);
    scene.fake.delete(other);
    let alive = scene.ask("cat", "still here");
    assert_eq!(scene.replies(alive), ["demo: still here"]);
}

/// A stop word that comes late ends nothing that was asked for after it.
#[test]
fn a_late_stop_word_leaves_a_newer_run_alone() {
    let scene = Scene::start("", "");
    scene.fake.reorder_next(2);
    scene.fake.say(scene.general, scene.fake.people("ann"), "stop");
    let newer = scene.ask("ann", "newer\n!sleep 900");
    assert_eq!(scene.replies(newer), ["demo: newer"]);
}

/// Attachments: a message with only a file is heard, and no name of one holds a path.
#[test]
fn a_message_with_only_a_file_is_heard() {
    let scene = Scene::start("", "");
    let mention = scene.fake.mention();
    let ann = scene.fake.people("ann");
    let sent = scene.fake.attach(scene.general, ann, &mention, &[("../../notes.txt", b"hello")]);
    assert_eq!(scene.replies(sent), ["demo: (no words, only attachments)"]);
    assert_eq!(scene.over(sent)["attachments"][0]["name"], "notes.txt");
}

/// Typing: it is shown while a handoff runs and never after its answer.
#[test]
fn typing_is_shown_from_admission_and_not_after_the_answer() {
    let scene = Scene::start("", "");
    let ann = scene.ask("ann", "think\n!wait-steer 60000");
    until("typing", || (scene.fake.count(|what| matches!(what, Happening::Typing { .. })) > 0).then_some(()));
    scene.ask("ann", "go on");
    assert_eq!(scene.replies(ann), ["demo: think\ngo on"]);
    scene.reacted(ann, "✅");
    let log = scene.fake.log();
    let of = |is: fn(&Happening) -> bool| log.iter().filter(move |entry| is(&entry.what)).map(|entry| entry.order);
    let last_typing = of(|what| matches!(what, Happening::Typing { .. })).max().unwrap();
    let answer = of(|what| matches!(what, Happening::Posted { .. })).min().unwrap();
    assert!(last_typing < answer);
}

/// Commands read or end the speaker's own run, and only the speaker sees the answer.
#[test]
fn slash_commands_read_and_end_ones_own_run_only() {
    let scene = Scene::start("", "");
    until("commands", || (scene.stands()["commands"] == "synced").then_some(()));
    let slow = scene.ask("ann", "slow\n!sleep 60000");
    scene.service.running(&slow.to_string());
    let ask = |who: &str, sub: &str, expected: &str| {
        let asked = scene.fake.slash(scene.general, scene.fake.people(who), &["clankie", sub], &[]);
        let answers = until("an answer", || Some(scene.fake.answers(asked)).filter(|answers| answers.len() == 2));
        assert_eq!(answers[0].kind, "deferred");
        assert!(answers.iter().all(|answer| answer.ephemeral), "{answers:?}");
        assert!(answers[1].content.contains(expected), "{answers:?}");
    };
    ask("ann", "status", "1 of 4 running");
    ask("ann", "handoffs", "running: `slow");
    ask("ben", "cancel", "Nothing of yours");
    ask("ann", "cancel", "being stopped");
    assert_eq!(scene.over(slow)["result"]["kind"], "cancelled");
}
