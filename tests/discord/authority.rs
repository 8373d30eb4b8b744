//! Who may reach what: threads beside their channels, strangers during a run, and interactions.

use serde_json::{Value, json};

use crate::fake::{Channel, Message};
use crate::scene::{Scene, posting};
use crate::service::until;

/// Everything that a handoff's transcript holds, as text.
fn transcript(scene: &Scene, record: &Value) -> String {
    scene.service.transcript(record["id"].as_str().unwrap()).iter().map(Value::to_string).collect()
}

/// B96: a thread on a message is a room of its own: the starter message is answered in the channel,
/// what is said in the thread there; neither hears of the other.
#[test]
fn b96_a_thread_on_a_message_inherits_neither_words_nor_replies_of_its_parent() {
    let scene = Scene::start("", "");
    let (ann, home) = (scene.fake.people("ann"), scene.fake.guild("home"));
    let starter = scene.ask("ann", "secret plans");
    assert_eq!(scene.replies(starter), ["demo: secret plans"]);
    let thread = scene.fake.thread_on(starter, ann, "side");
    let inside = scene.fake.ask(thread, ann, "what was said\n!tool room_history");
    assert_eq!(scene.replies(inside), ["demo: what was said"]);
    let record = scene.over(inside);
    assert_eq!(record["room"], format!("discord:text:{home}:{thread}"));
    let heard = transcript(&scene, &record);
    assert!(heard.contains("room_history") && !heard.contains("secret plans"), "{heard}");
    assert_eq!((scene.fake.replies(thread).len(), scene.fake.replies(scene.general).len()), (1, 1));
}

/// B96: a channel's grant is not its threads', not even where they inherit who is heard.
#[test]
fn b96_the_grant_of_a_channel_is_not_its_threads() {
    let mut scene = Scene::prepare("", "");
    let (home, ann) = (scene.fake.guild("home"), scene.fake.people("ann"));
    let room = |channel: Channel| format!("discord:text:{home}:{channel}");
    let discord = format!("channels = [\"{}\"]\nthreads_inherit = true", scene.general);
    scene.configure(&discord, &format!("[grants]\nmachine_rooms = [\"{}\"]", room(scene.general)));
    scene.service.launch();
    scene.connected();
    let thread = scene.fake.thread(scene.general, ann, "side");
    let plan = |message: Message| scene.over(message)["grant"]["plan"].clone();
    assert_eq!(plan(scene.ask("ann", "in the channel")), "machine");
    let inside = scene.fake.ask(thread, ann, "in the thread");
    assert_eq!((plan(inside), scene.over(inside)["room"].clone()), (json!("social"), json!(room(thread))));
}

/// B96: an archived thread comes back with the reply; a deleted one is a visible end, and nothing
/// is posted into its parent in its place.
#[test]
fn b96_an_archived_thread_gets_its_reply_and_a_deleted_one_ends_visibly() {
    let scene = Scene::start("", "");
    let ann = scene.fake.people("ann");
    let threads = ["archived", "deleted"].map(|name| scene.fake.thread(scene.general, ann, name));
    let gate = scene.holds_posts(2);
    let asked = threads.map(|thread| scene.fake.ask(thread, ann, "hello"));
    scene.posts_are_held(2);
    scene.fake.archive(threads[0]);
    scene.fake.delete_channel(threads[1]);
    gate.open();
    let ends = asked.map(|message| posting(&scene.over(message)).to_owned());
    assert_eq!(ends, ["confirmed", "failed"]);
    assert_eq!(scene.over(asked[1])["room_delivery"]["why"], "The channel or thread was deleted.");
    assert_eq!((scene.fake.replies(threads[0]).len(), scene.fake.replies(scene.general).len()), (1, 0));
}

/// B79: what strangers post during a run is no steer, no context, and gets no reply: not in a
/// channel that is not listed, not by direct message, and not beside the run without a mention.
#[test]
fn b79_a_strangers_words_reach_no_run() {
    let mut scene = Scene::prepare("", "");
    let (home, general) = (scene.fake.guild("home"), scene.general);
    let attic = scene.fake.channel(home, "attic");
    scene.configure(&format!("channels = [\"{general}\"]"), "");
    scene.service.launch();
    scene.connected();
    let run = scene.ask("ann", "begin\n!wait-steer 30000\n!tool room_history\n!tool list_handoffs");
    scene.service.running(&run.to_string());
    let (ann, ben) = (scene.fake.people("ann"), scene.fake.people("ben"));
    let strange = [
        scene.fake.ask(attic, ben, "intruder one"),
        scene.fake.ask(attic, ann, "intruder two"),
        scene.fake.dm(ben, "intruder three"),
        scene.fake.say(general, ben, "intruder four"),
        scene.fake.say(general, ben, "stop"),
    ];
    let more = scene.ask("ann", "and this");
    assert_eq!(scene.replies(run), ["demo: begin\nand this"]);
    let record = scene.over(run);
    assert_eq!((&record["joiner_count"], &scene.over(more)["result"]["kind"]), (&json!(1), &json!("absorbed")));
    let heard = transcript(&scene, &record);
    assert!(heard.contains("and this") && !heard.contains("intruder"), "{heard}");
    for message in strange {
        assert!(scene.service.record(&message.to_string()).is_none(), "{message}");
        assert_eq!(scene.fake.replies_to(message).len(), 0, "{message}");
    }
}

/// B78: whatever somebody else does with the commands, one's run, and what is asked of the owner,
/// stays as it is; and only who used a command sees its answer.
#[test]
fn b78_an_interaction_of_somebody_else_changes_nothing() {
    let mut scene = Scene::prepare("", "");
    let (home, general) = (scene.fake.guild("home"), scene.general);
    let attic = scene.fake.channel(home, "attic");
    scene.configure(&format!("channels = [\"{general}\"]"), "");
    scene.service.launch();
    scene.connected();
    until("commands", || (scene.stands()["commands"] == "synced").then_some(()));
    let waits = scene.ask("ann", "!approval may I delete it?");
    let waiting = scene.over(waits);
    assert_eq!(waiting["state"], "waiting_user");
    let run = scene.ask("ann", "slow\n!sleep 60000");
    let before = scene.service.running(&run.to_string());
    let ben = scene.fake.people("ben");
    for (place, sub) in
        [(general, "status"), (general, "handoffs"), (general, "cancel"), (general, "help"), (attic, "cancel")]
    {
        let asked = scene.fake.slash(place, ben, &["clankie", sub], &[]);
        let answers = until("an answer", || Some(scene.fake.answers(asked)).filter(|answers| answers.len() == 2));
        assert!(answers.iter().all(|answer| answer.ephemeral), "{sub}: {answers:?}");
        assert!(!answers[1].content.contains("slow"), "{sub}: {answers:?}");
    }
    assert_eq!(scene.service.record(&run.to_string()), Some(before));
    assert_eq!(scene.service.record(&waits.to_string()), Some(waiting));
}
