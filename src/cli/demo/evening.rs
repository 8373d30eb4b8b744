//! The evening itself, act by act. Nothing in it waits for time: each step waits for a fact.

use anyhow::Result;

use super::api::Words;
use super::ledger::has_ended;
use super::mail;
use super::service::WAITING;
use super::stage::{Said, Stage, absorbed_by, failed, replied};
use crate::owner::wire::{BusyBody, ByBody, CountsBody, ResultBody};

/// What tells the demo agent to go on only when its speaker says more.
const HOLD: &str = "!wait-steer 60000";
/// How many may run, and how many of them in one room, where nothing else is configured.
const RUNNING: usize = 4;

/// What the middle of the evening leaves behind for its end.
#[derive(Debug)]
pub(super) struct Open {
    /// Over, each with its result.
    pub(super) over: Vec<Said>,
    /// Running or read by what runs: the power cut interrupts them.
    pub(super) running: Vec<Said>,
    /// Waiting, in order: they run afterwards.
    pub(super) waiting: Vec<Said>,
    /// Over, and the owner was asked: the ask waits.
    pub(super) asking: Said,
}

/// The first three quarters: everything up to the power cut.
pub(super) async fn before_the_cut(stage: &mut Stage) -> Result<Open> {
    let over = burst(stage).await?;
    let asking = mail::asked(stage).await?;
    let mut open = full_room(stage, asking).await?;
    open.over.extend(over);
    full_queue(stage, &mut open).await?;
    same_words_twice(stage, &open.over).await?;
    let (running, waiting) = (RUNNING, open.waiting.len());
    let fact = |counts: &CountsBody| (counts.running, counts.waiting) == (running, waiting);
    let what = format!("{running} run and {waiting} wait");
    stage.seen.until(&what, |ledger| ledger.counts.as_ref().is_some_and(fact)).await?;
    stage.output.act(&format!("The power goes: SIGKILL, while {what}"));
    Ok(open)
}

/// One person's burst is one thread; another person in the same room is another.
async fn burst(stage: &mut Stage) -> Result<Vec<Said>> {
    stage.output.act("Ann speaks in bursts, and Ben at the same time");
    let (ann, ben) = (stage.cast.ann.clone(), stage.cast.ben.clone());
    let dinner = stage.say(&ann, "lobby", &format!("What shall we cook?\n{HOLD}")).await?;
    let update = "!update Looking at the list.";
    let music = stage.say(&ben, "lobby", &format!("Who brings the music?\n{update}\n{HOLD}")).await?;
    stage.until(&[&dinner, &music], "running").await?;
    let six = stage.say(&ann, "lobby", &format!("For six people.\n{HOLD}")).await?;
    stage.until_read(&six).await?;
    let speaker = stage.say(&ben, "lobby", "And the good speaker.").await?;
    let meat = stage.say(&ann, "lobby", &format!("Two eat no meat.\n{HOLD}")).await?;
    stage.until_read(&meat).await?;
    let eight = stage.say(&ann, "lobby", "Ready by eight.").await?;
    stage.until(&[&dinner, &music], "completed").await?;
    stage.until(&[&six, &meat, &eight, &speaker], "absorbed").await?;

    let lines = ["demo: What shall we cook?", "For six people.", "Two eat no meat.", "Ready by eight."];
    stage.check_end(&dinner, replied(&lines))?;
    stage.check_end(&music, replied(&["demo: Who brings the music?", "And the good speaker."]))?;
    for joiner in [&six, &meat, &eight] {
        stage.check_end(joiner, absorbed_by(&dinner))?;
    }
    stage.check_end(&speaker, absorbed_by(&music))?;
    let said = stage.api.messages(&ben, "lobby").await?.messages;
    let updates: Vec<&str> = said
        .iter()
        .filter(|said| said.kind == "update" && said.handoff_id == music.handoff)
        .map(|said| said.text.as_str())
        .collect();
    stage.output.said("lobby", ben.name, &format!("heard on the way: {}", updates.join(" · ")));
    stage.check("Ben hears a word on the way", updates, vec!["Looking at the list."]);
    Ok(vec![dinner, six, music])
}

/// A full room makes its own people wait, and nobody else.
async fn full_room(stage: &mut Stage, asking: Said) -> Result<Open> {
    stage.output.act("The kitchen is full, the garden is not");
    let cast = stage.cast.clone();
    let oven = stage.say(&cast.chloe, "kitchen", &format!("Keep an eye on the oven.\n{HOLD}")).await?;
    let plates = stage.say(&cast.dev, "kitchen", &format!("Count the plates.\n{HOLD}")).await?;
    stage.until(&[&oven, &plates], "running").await?;
    let salt = stage.say(&cast.eva, "kitchen", &format!("Is there salt?\n{HOLD}\n!sleep 150")).await?;
    let wine = stage.say(&cast.finn, "kitchen", &format!("Open the wine.\n{HOLD}")).await?;
    stage.until(&[&salt, &wine], "pending").await?;
    let pepper = stage.say(&cast.eva, "kitchen", "And pepper?").await?;
    let lemon = stage.say(&cast.eva, "kitchen", "And a lemon?").await?;
    stage.until(&[&pepper, &lemon], "joined").await?;
    let lanterns = stage.say(&cast.gus, "garden", &format!("Light the lanterns.\n{HOLD}")).await?;
    let cat = stage.say(&cast.hana, "garden", &format!("Feed the cat.\n{HOLD}")).await?;
    stage.until(&[&lanterns, &cat], "running").await?;
    let red = stage.say(&cast.gus, "garden", &format!("The red ones first.\n{HOLD}")).await?;
    stage.until_read(&red).await?;

    let counts = stage.seen.now().counts.map(|counts| (counts.running, counts.waiting));
    stage.check("four run and two wait", counts, Some((RUNNING, 2)));
    let over = dev_changes_his_mind(stage, plates, salt, [pepper, lemon]).await?;
    stage.until(&[&wine], "running").await?;
    Ok(Open { over, running: vec![oven, wine, lanterns, red, cat], waiting: vec![], asking })
}

/// A speaker may stop their own run and nobody else's; the place goes to whoever waited longest.
async fn dev_changes_his_mind(stage: &mut Stage, plates: Said, salt: Said, joiners: [Said; 2]) -> Result<Vec<Said>> {
    stage.output.act("Dev changes his mind");
    let (chloe, dev) = (stage.cast.chloe.clone(), stage.cast.dev.clone());
    let heard = stage.api.cancel(&chloe, plates.room, &plates.delivery).await?;
    stage.output.speaks("kitchen", chloe.name, "tries to stop Dev's run, and may not").await;
    stage.check_problem("Chloe may not stop Dev's run", &heard, 403);
    stage.output.speaks("kitchen", dev.name, "stops his own run").await;
    stage.api.cancel(&dev, plates.room, &plates.delivery).await?;
    stage.until(&[&plates], "cancelled").await?;
    let by = ByBody { kind: "speaker".to_owned(), id: dev.actor() };
    stage.check_end(&plates, ResultBody::Cancelled { by })?;
    stage.until(&[&salt], "completed").await?;
    stage.check_end(&salt, replied(&["demo: Is there salt?", "And pepper?", "And a lemon?"]))?;
    for joiner in &joiners {
        stage.until(&[joiner], "absorbed").await?;
        stage.check_end(joiner, absorbed_by(&salt))?;
    }
    Ok(vec![plates, salt])
}

/// Past the last waiting place the answer is busy, with facts, and leaves no record.
async fn full_queue(stage: &mut Stage, open: &mut Open) -> Result<()> {
    stage.output.act("The queue is full");
    let cast = stage.cast.clone();
    for (who, room, words) in [
        (&cast.ivy, "garden", "Move the table."),
        (&cast.jo, "garden", "Find six chairs."),
        (&cast.kim, "garden", "Fill the jug."),
        (&cast.leo, "garden", "Check the weather."),
        (&cast.dev, "kitchen", "Fold the napkins."),
        (&cast.eva, "kitchen", "Slice the bread."),
    ] {
        let text = format!("{words}\n!sleep 100");
        open.waiting.push(stage.say(who, room, &text).await?);
    }
    let all: Vec<&Said> = open.waiting.iter().collect();
    stage.until(&all, "pending").await?;
    let text = "Put the flowers out.";
    let (delivery, facts) = stage.say_too_much(&cast.mia, "kitchen", text).await?;
    let oldest_wait_ms = facts.oldest_wait_ms;
    let limit = "waiting".to_owned();
    let wanted = BusyBody { limit, position: WAITING + 1, running: RUNNING, waiting: WAITING, oldest_wait_ms };
    stage.check("the facts of a busy answer", facts, wanted);
    let refused = stage.seen.now().state(&cast.mia.room("kitchen"), &delivery).map(str::to_owned);
    stage.check("a busy answer leaves no record", refused, None);

    let last = open.waiting.remove(WAITING - 1);
    stage.output.speaks(last.room, last.who.name, "takes it back").await;
    stage.api.cancel(&last.who, last.room, &last.delivery).await?;
    stage.until(&[&last], "cancelled").await?;
    open.over.push(last);
    let words = Words { room: "kitchen", delivery: &delivery, text };
    open.waiting.push(stage.try_again(&cast.mia, words, "kitchen").await?);
    Ok(())
}

/// A repeated delivery gets what it got, and other words under its id get nothing.
async fn same_words_twice(stage: &mut Stage, over: &[Said]) -> Result<()> {
    stage.output.act("A bad connection: everything is sent twice");
    for said in over {
        stage.repeat(said).await?;
    }
    let Some(first) = over.first() else { return Ok(()) };
    let words = Words { room: first.room, delivery: &first.delivery, text: "Something else." };
    let heard = stage.api.say(&first.who, words).await?;
    stage.output.said(first.room, first.who.name, "sends other words under an id that was used");
    stage.check_problem("other words under the same delivery id conflict", &heard, 409);
    Ok(())
}

/// The last quarter: what ran was interrupted and says so, what waited runs, what was over stays.
pub(super) async fn after_the_cut(stage: &mut Stage, open: &Open) -> Result<()> {
    stage.output.act("The lights are on again");
    let running: Vec<&Said> = open.running.iter().collect();
    stage.until(&running, "failed").await?;
    for said in running {
        stage.check_end(said, failed("interrupted"))?;
    }
    let waiting: Vec<&Said> = open.waiting.iter().collect();
    stage.until(&waiting, "completed").await?;
    for said in waiting {
        let words = said.text.lines().next().unwrap_or_default();
        stage.check_end(said, replied(&[&format!("demo: {words}")]))?;
    }
    mail::answered(stage, &open.asking).await?;
    stage.output.act("Everything is sent once more");
    for said in open.over.iter().chain(&open.running).chain([&open.asking]) {
        stage.repeat(said).await?;
    }
    let idle = |counts: &CountsBody| (counts.running, counts.waiting, counts.owed) == (0, 0, 0);
    let ledger = stage.seen.until("nothing runs or waits", |ledger| ledger.counts.as_ref().is_some_and(idle)).await?;
    let live = ledger.records().filter(|record| !has_ended(record)).count();
    stage.check("nothing is left open", live, 0);
    stage.check("nobody was overtaken", ledger.overtakers(), vec![]);
    let of_people = ledger.records().filter(|record| record.source != "continuation").count();
    stage.check("every admitted delivery has its record", of_people, stage.heards.admitted);
    Ok(())
}
