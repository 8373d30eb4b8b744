//! What arrives for each kind of ask, and how often.

use super::*;

/// B123: an ask arrives once, with what it is, how old it is and where it can be seen, and an update,
/// where they are wanted, arrives with another sound.
#[test]
fn b123_an_ask_and_an_update_arrive_with_a_sound_of_their_own() {
    let scene = Scene::start("updates = true");
    let id = scene.ask("m1", &[decision("Left or right?")]).remove(0);
    scene.told("ntfy", 1);
    let told = scene.ntfy.told().remove(0);
    assert_eq!((told.path.as_str(), told.header("authorization")), ("/", format!("Bearer {TOKEN}").as_str()));
    let message = format!("Left or right?\ndecision · asked just now\nclankie asks show {id}");
    let wanted = json!({
        "topic": "owner", "title": "A decision waits for you", "message": message, "priority": 4,
        "tags": ["question", "decision"],
    });
    assert_eq!(told.json(), wanted);

    let mail = json!({"title": "Tests are green", "body": "All 12 of them."});
    scene.service.settle(&turn("r", "m2", "ann", &format!("!mail {mail}")));
    scene.told("ntfy", 2);
    let told = scene.ntfy.told().remove(1).json();
    assert_eq!((&told["title"], &told["priority"]), (&json!("Tests are green"), &json!(3)));
    assert!(told["message"].as_str().unwrap().starts_with("All 12 of them.\nupdate · sent just now\n"), "{told}");
}

/// B68, B75: of an approval and of an ask with a private answer nothing but its kind is told outside,
/// and a room hears nothing of any of them but what the agent itself replies.
#[test]
fn b75_the_words_of_an_approval_and_of_a_private_ask_are_told_nowhere() {
    let scene = Scene::start("");
    let drafts = [approval("git push canary-command"), secret("The canary-code of the bank?")];
    let ids = scene.ask("m1", &drafts);
    for sink in ["ntfy", "webhook"] {
        scene.told(sink, 2);
    }
    let told: Vec<Told> = scene.ntfy.told().into_iter().chain(scene.webhook.told()).collect();
    assert_eq!(told.len(), 4);
    for one in &told {
        assert!(!one.body.contains("canary") && !one.body.contains("look it up"), "{one:?}");
        assert!(ids.iter().any(|id| one.body.contains(id.as_str())), "{one:?}");
    }
    let titles: Vec<_> = scene.ntfy.told().iter().map(|one| one.json()["title"].clone()).collect();
    assert_eq!(titles, ["An approval waits for you", "A step that only you can do waits for you"]);
    let said = format!("{:?}", scene.service.said("r"));
    assert!(!said.contains("canary") && !ids.iter().any(|id| said.contains(id.as_str())), "{said}");
}

/// B124: an ask that is answered before the delay is over is not announced.
#[test]
fn b124_an_ask_that_is_answered_in_time_makes_no_phone_buzz() {
    let scene = Scene::start("delay = \"2s\"");
    let answered = scene.ask("m1", &[decision("Now?")]).remove(0);
    assert_eq!(scene.answer(&answered)["status"], "resolved");
    let waits = scene.ask("m2", &[decision("Later?")]).remove(0);
    scene.told("ntfy", 1);
    scene.told("webhook", 1);
    for place in [&scene.ntfy, &scene.webhook] {
        let told = place.told();
        assert_eq!(told.len(), 1);
        assert!(told[0].body.contains(&waits) && !told[0].body.contains(&answered), "{told:?}");
    }
}

/// A burst becomes one message with its count; every ask is told of exactly once.
#[test]
fn a_burst_of_asks_is_a_few_messages_that_count_them_all() {
    let scene = Scene::start("");
    let drafts: Vec<Value> = (0..20).map(|n| decision(&format!("Question {n}?"))).collect();
    scene.ask("m1", &drafts);
    let counted = |told: &Told| told.json()["data"]["asks"].as_u64().unwrap_or(1);
    until("twenty asks to be told of", || (scene.webhook.told().iter().map(counted).sum::<u64>() == 20).then_some(()));
    assert!(scene.webhook.told().len() <= 5, "{}", scene.webhook.told().len());
}

/// More than is held at once waited before there was anybody to tell: all of it is told, old and new,
/// and the updates with it.
#[test]
fn what_waited_before_there_was_a_sink_is_told_whole() {
    let mut scene = Scene::prepare("updates = true");
    scene.service.configure("demo", "");
    scene.service.launch();
    let asks = 270;
    for room in 0..9 {
        let drafts: Vec<String> = (0..30).map(|n| format!("!ask {}", decision(&format!("{room}/{n}?")))).collect();
        scene.service.settle(&turn(&format!("r{room}"), &format!("m{room}"), "ann", &drafts.join("\n")));
    }
    let mail = |n: usize| format!("!mail {}", json!({"title": format!("News {n}"), "body": "All is well."}));
    scene.service.settle(&turn("news", "n1", "ann", &(0..5).map(mail).collect::<Vec<_>>().join("\n")));
    assert_eq!(scene.service.stop(), Some(0));
    scene.configure("updates = true");
    scene.service.launch();
    let count = |told: &Told| {
        let event = told.json();
        let (data, one) = (event["data"].clone(), u64::from(event["type"] == "dev.clankie.ask.opened.v1"));
        (data["asks"].as_u64().unwrap_or(one), data["updates"].as_u64().unwrap_or(1 - one))
    };
    until("everything to be told", || {
        let told = scene.webhook.told();
        let (found, news): (Vec<u64>, Vec<u64>) = told.iter().map(count).unzip();
        let sums = (found.iter().sum::<u64>(), news.iter().sum::<u64>());
        assert!(sums.0 <= asks && sums.1 <= 5, "something was told twice: {sums:?}");
        (sums == (asks, 5)).then_some(())
    });
    // What comes from now on is told of as ever.
    let fresh = "fresh, after all of that?";
    scene.service.settle(&turn("r0", "later", "ann", &format!("!ask {}", decision(fresh))));
    until("the fresh ask to be told", || scene.webhook.told().iter().any(|one| one.body.contains(fresh)).then_some(()));
}

/// A restart neither loses an ask nor tells of one twice.
#[test]
fn a_restart_goes_on_where_each_sink_was() {
    let mut scene = Scene::start("");
    scene.ask("m1", &[decision("First?")]);
    scene.told("ntfy", 1);
    scene.told("webhook", 1);
    scene.service.kill();
    scene.service.launch();
    let second = scene.ask("m2", &[decision("Second?")]).remove(0);
    scene.told("webhook", 1);
    let told = scene.webhook.told();
    assert!(told.last().unwrap().body.contains(&second));
    assert!((2..=3).contains(&told.len()), "the one that was told when it died may come again: {}", told.len());
    let ids: std::collections::BTreeSet<_> = told.iter().map(|one| one.header("webhook-id").to_owned()).collect();
    assert_eq!(ids.len(), 2, "{ids:?}");
}
