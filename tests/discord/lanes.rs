//! A channel of which much comes, or of which something cannot be known, and what it does to others.

use std::time::Duration;

use clankie_actors::store::{Store, Txn, Write};
use uuid::Uuid;

use crate::fake::{Calls, Channel, Close, Fault, Gate, Happening, Message};
use crate::scene::{ONE_AT_A_TIME, Scene};
use crate::service::until;

/// More messages than one lane holds, many times over.
const MANY: usize = 600;

fn reads_of(channel: Channel) -> impl Fn(&Happening) -> bool {
    let start = format!("GET /channels/{channel}/messages");
    move |what| matches!(what, Happening::Called { call } if call.starts_with(&start))
}

/// A channel that cannot be read holds up only itself; what its lane refused is read back.
#[test]
fn a_full_channel_holds_up_no_other_and_loses_nothing() {
    let mut scene = Scene::start("", "");
    let home = scene.fake.guild("home");
    let others: Vec<Channel> = (0..20).map(|n| scene.fake.channel(home, &format!("other-{n}"))).collect();
    scene.over(scene.ask("ann", "before"));
    scene.service.stop();
    let away = scene.ask("ann", "away");
    let (gate, path) = (Gate::new(), vec!["channels".to_owned(), scene.general.to_string(), "messages".to_owned()]);
    let reads = Calls::which(move |call| call.method == "GET" && call.path == path);
    scene.fake.fault(reads.always(), Fault::HeldAfter(gate.clone()));
    scene.service.launch();
    scene.connected();
    scene.fake.wait("the first read", |log| log.iter().any(|entry| reads_of(scene.general)(&entry.what)).then_some(()));
    let (ben, cat) = (scene.fake.people("ben"), scene.fake.people("cat"));
    for n in 0..MANY {
        scene.fake.say(scene.general, ben, &format!("talk {n}"));
    }
    let last = scene.ask("ben", "last");
    let asked: Vec<Message> = others.iter().map(|other| scene.fake.ask(*other, cat, "hello")).collect();
    for message in asked {
        assert_eq!(scene.replies(message), ["demo: hello"]);
    }
    assert!(scene.service.record(&last.to_string()).is_none());
    assert!(scene.service.log().contains("a channel has more than its lane holds"));
    scene.fake.heal();
    gate.open();
    assert_eq!((scene.replies(last), scene.replies(away)), (vec!["demo: last".into()], vec!["demo: away".into()]));
    // From then on it hears as before.
    let after = scene.ask("cat", "after");
    assert_eq!(scene.replies(after), ["demo: after"]);
    assert_eq!(scene.fake.replies(scene.general).len(), 4);
}

/// A deletion and an edit that a full lane refused reach the handoffs that wait.
#[test]
fn what_a_full_channel_refused_about_words_that_wait_still_counts() {
    let scene = Scene::start("", ONE_AT_A_TIME);
    let (_, gone, changed) = scene.two_wait();
    let (gate, path) = (Gate::new(), vec!["channels".to_owned(), scene.general.to_string(), "messages".to_owned()]);
    let reads = Calls::which(move |call| call.method == "GET" && call.path == path);
    // Nobody may look at a message at once, as every new session would.
    let looks = Calls::which(|call| call.method == "GET" && call.path.len() == 4 && call.path[2] == "messages");
    scene.fake.fault(looks.times(2), Fault::Status(403));
    scene.fake.fault(reads.always(), Fault::HeldAfter(gate.clone()));
    let before = scene.fake.count(reads_of(scene.general));
    scene.reconnect(Close::Invalid);
    until("a read that hangs", || (scene.fake.count(reads_of(scene.general)) > before).then_some(()));
    for n in 0..MANY {
        scene.fake.say(scene.general, scene.fake.people("ben"), &format!("talk {n}"));
    }
    until("a full lane", || scene.service.log().contains("a channel has more than its lane holds").then_some(()));
    scene.fake.delete(gone);
    scene.fake.edit(changed, &format!("{} new words", scene.fake.mention()));
    // What comes in goes through one line: behind this both were refused.
    let side = scene.fake.channel(scene.fake.guild("home"), "side");
    let behind = scene.fake.ask(side, scene.fake.people("cat"), "behind");
    until("the next to be taken in", || scene.service.record(&behind.to_string()));
    gate.open();
    assert_eq!(scene.over(gone)["result"]["kind"], "cancelled");
    until("the new words", || (scene.service.record(&changed.to_string())?["request"] == "new words").then_some(()));
    scene.ask("ann", "go on");
    assert_eq!(scene.replies(changed), ["demo: new words"]);
}

/// Who is not heard directly costs no call to Discord.
#[test]
fn a_strangers_direct_message_costs_no_call() {
    let mut scene = Scene::prepare("", "");
    let (ann, ben) = (scene.fake.people("ann"), scene.fake.people("ben"));
    scene.configure("", &format!("[grants]\nowners = [\"discord:user:{ann}\"]"));
    scene.service.launch();
    scene.connected();
    for n in 0..5 {
        scene.fake.dm(ben, &format!("hello {n}"));
    }
    let owner = scene.fake.dm(ann, "hello");
    assert_eq!(scene.replies(owner), ["demo: hello"]);
    assert_eq!(scene.fake.count(reads_of(scene.fake.direct(ben))), 0);
    assert!(scene.fake.count(reads_of(scene.fake.direct(ann))) > 0, "an owner's is caught up with");
}

/// Nobody says whose thread it is: its message waits, and is answered once that is known.
#[test]
fn a_thread_that_cannot_be_looked_up_is_heard_once_it_can() {
    let mut scene = Scene::prepare("", "");
    let ann = scene.fake.people("ann");
    scene.configure(&format!("channels = [\"{}\"]\nthreads_inherit = true", scene.general), "");
    // Discord lists no archived threads at the start.
    let thread = scene.fake.thread(scene.general, ann, "side");
    scene.fake.archive(thread);
    scene.service.launch();
    scene.connected();
    let path = vec!["channels".to_owned(), thread.to_string()];
    scene.fake.fault(Calls::which(move |call| call.method == "GET" && call.path == path), Fault::Status(500));
    let asked = scene.fake.ask(thread, ann, "hello");
    assert_eq!(scene.replies(asked), ["demo: hello"]);
    assert_eq!(scene.fake.count(|what| matches!(what, Happening::Faulted { .. })), 1);
}

/// A channel of which nothing was seen for months is forgotten, and its old messages stay behind.
#[test]
fn marks_of_channels_that_are_gone_are_dropped_and_bring_nothing_back() {
    let mut scene = Scene::start("", "");
    scene.over(scene.ask("ann", "before"));
    scene.service.stop();
    let quiet = scene.fake.channel(scene.fake.guild("home"), "quiet");
    let asked = format!("{} of old", scene.fake.mention());
    let age = Duration::from_secs(100 * 86_400);
    let old = scene.fake.said_before(quiet, scene.fake.people("ann"), &asked, age);
    let open = |scene: &Scene| Store::open(&scene.service.state_dir(), Uuid::now_v7()).unwrap();
    let store = open(&scene);
    let mark = |name: String, value: u64| Write::Bookmark { name, value: value.to_string() };
    let marks = [
        mark("discord:born".into(), 5),
        mark("discord:seen:7".into(), 6),
        mark(format!("discord:seen:{quiet}"), old.0 - 1),
    ];
    store.commit_now(marks.into_iter().fold(Txn::changes([]), Txn::and)).unwrap();
    store.close();
    scene.service.launch();
    scene.connected();
    scene.over(scene.ask("ann", "after"));
    assert!(scene.service.record(&old.to_string()).is_none());
    scene.service.stop();
    let store = open(&scene);
    let kept = store.snapshot().unwrap().bookmarks("discord:seen:").unwrap();
    let of = |channel: Channel| kept.iter().find(|(name, _)| *name == channel.to_string());
    assert!(of(scene.general).is_some() && !kept.iter().any(|(name, _)| name == "7"), "{kept:?}");
    assert!(of(quiet).is_none_or(|(_, seen)| seen.parse::<u64>().unwrap() >= old.0), "{kept:?}");
    store.close();
}
