//! What somebody does with their own words before and during their run, and what is nobody's words.

use crate::fake::{Calls, Fault, Gate};
use crate::scene::{ONE_AT_A_TIME, Scene};
use crate::service::until;

/// Joins, pins, boosts, new threads and the like come in a person's name, and nobody said them:
/// not even where talk is free, and not with a mention in their text.
#[test]
fn system_messages_never_run_the_agent() {
    let mut scene = Scene::prepare("", "");
    scene.configure(&format!("free_talk = [\"{}\"]", scene.general), "");
    scene.service.launch();
    scene.connected();
    let ann = scene.fake.people("ann");
    let text = format!("{} hello", scene.fake.mention());
    let kinds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 18, 20, 21, 22, 23, 24, 25, 27, 32, 36, 44, 46];
    let notices = kinds.map(|kind| scene.fake.notice(scene.general, ann, (kind, &text)));
    let asked = scene.ask("ben", "are you there?");
    assert_eq!(scene.replies(asked), ["demo: are you there?"]);
    for (kind, message) in kinds.into_iter().zip(notices) {
        assert!(scene.service.record(&message.to_string()).is_none(), "kind {kind}");
        assert_eq!(scene.fake.replies_to(message).len(), 0, "kind {kind}");
    }
}

/// A stop word that comes twice ends what it meant, and not what was asked for since.
#[test]
fn a_stop_word_that_comes_twice_ends_one_run() {
    let scene = Scene::start("", "");
    let ann = scene.fake.people("ann");
    let slow = scene.ask("ann", "slow\n!sleep 60000");
    scene.service.running(&slow.to_string());
    scene.fake.duplicate_next(1);
    let stop = scene.fake.say(scene.general, ann, "stop");
    assert_eq!(scene.over(slow)["result"]["kind"], "cancelled");
    let newer = scene.ask("ann", "newer\n!wait-steer 60000");
    scene.service.running(&newer.to_string());
    scene.fake.repeat(stop);
    scene.ask("ann", "go on");
    assert_eq!(scene.replies(newer), ["demo: newer\ngo on"]);
}

/// However much somebody said since, the stop word finds their run.
#[test]
fn a_stop_word_finds_a_run_behind_many_newer_handoffs() {
    let scene = Scene::start("", "");
    let slow = scene.ask("ann", "slow\n!sleep 60000");
    scene.service.running(&slow.to_string());
    let more: Vec<_> = (0..40).map(|n| scene.ask("ann", &format!("more {n}"))).collect();
    until("all of it to be taken in", || {
        more.iter().all(|one| scene.service.record(&one.to_string()).is_some()).then_some(())
    });
    scene.fake.say(scene.general, scene.fake.people("ann"), "stop");
    assert_eq!(scene.over(slow)["result"]["kind"], "cancelled");
}

/// What is deleted before its run starts never runs, and what is edited runs as it was edited.
#[test]
fn words_that_are_taken_back_or_changed_while_they_wait() {
    let scene = Scene::start("", ONE_AT_A_TIME);
    let (slow, gone, changed) = scene.two_wait();
    scene.fake.delete(gone);
    scene.fake.edit(changed, &format!("{} new words", scene.fake.mention()));
    assert_eq!(scene.over(gone)["result"]["kind"], "cancelled");
    until("the new words", || (scene.service.record(&changed.to_string())?["request"] == "new words").then_some(()));
    scene.ask("ann", "go on");
    assert_eq!(scene.replies(changed), ["demo: new words"]);
    assert_eq!((scene.replies(slow).len(), scene.fake.replies(scene.general).len()), (1, 2));
    let record = scene.service.record(&gone.to_string()).unwrap();
    assert!(record["started_at"].is_null(), "{record}");
}

/// The same while the bot is away: what it reads back is what stands there then.
#[test]
fn words_that_are_taken_back_or_changed_while_the_bot_is_away() {
    let mut scene = Scene::start("", "");
    scene.over(scene.ask("ann", "before"));
    scene.service.stop();
    let (gone, changed) = (scene.ask("ben", "gone"), scene.ask("cat", "old words"));
    scene.fake.delete(gone);
    scene.fake.edit(changed, &format!("{} new words", scene.fake.mention()));
    scene.service.launch();
    assert_eq!(scene.replies(changed), ["demo: new words"]);
    assert!(scene.service.record(&gone.to_string()).is_none());
}

/// An edit that does not name its author is its author's all the same.
#[test]
fn an_edit_that_names_nobody_reaches_the_run_of_its_author() {
    let scene = Scene::start("", "");
    let ann = scene.ask("ann", "first words\n!wait-steer 20000");
    scene.service.running(&ann.to_string());
    scene.fake.edit_unsigned(ann, &format!("{} better words", scene.fake.mention()));
    let replies = scene.replies(ann);
    assert!(replies.len() == 1 && replies[0].contains("(edited) better words"), "{replies:?}");
    assert_eq!(scene.fake.replies_to(ann)[0].pings.people, [scene.fake.people("ann")]);
}

/// A limit and a lost answer cost a command nothing, and one whose call hangs is given up in time.
#[test]
fn slash_commands_keep_to_limits_and_give_up_in_time() {
    let mut scene = Scene::prepare("", "");
    let short = std::time::Duration::from_millis(300);
    for fault in [Fault::RateLimited(short), Fault::Status(502)] {
        scene.fake.fault(Calls::of("PUT", "/commands"), fault);
    }
    scene.service.launch();
    scene.connected();
    until("commands", || (scene.stands()["commands"] == "synced").then_some(()));
    let status = || scene.fake.slash(scene.general, scene.fake.people("ann"), &["clankie", "status"], &[]);
    let told = |asked| {
        until("the words", || {
            Some(scene.fake.answers(asked)).filter(|all| all.iter().any(|one| one.content.contains("running")))
        })
    };
    let limited = Fault::RateLimited(short);
    for (first, words) in [(limited.clone(), limited), (Fault::CutAfter, Fault::CutBefore)] {
        scene.fake.fault(Calls::of("POST", "/callback"), first.clone());
        scene.fake.fault(Calls::of("PATCH", "/webhooks"), words);
        let answers = told(status());
        assert!(answers.iter().all(|answer| answer.ephemeral), "{first:?}: {answers:?}");
    }
    let gate = Gate::new();
    scene.fake.fault(Calls::of("POST", "/callback"), Fault::HeldBefore(gate.clone()));
    let hangs = status();
    // Two commands are answered beside each other: the second is to come once the first one hangs.
    until("the first to hang", || gate.holds().then_some(()));
    told(status());
    until("the one that hangs to be given up", || {
        scene.service.log().contains("nobody knows whether a command is awaited").then_some(())
    });
    assert_eq!(scene.fake.answers(hangs).len(), 0);
    gate.open();
}
