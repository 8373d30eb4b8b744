//! The owner's mailbox in the play: an agent asks and leaves word before the power goes, and the
//! owner answers when the lights are on again.

use anyhow::{Context, Result, bail};
use serde_json::json;

use super::stage::{Said, Stage, replied};
use crate::owner::wire::{
    AnswerBody, HandoffBody, InputAnswer, InputList, InputResult, Operation, OwnerUpdateFound, OwnerUpdateId,
    OwnerUpdateList, OwnerUpdates, QuestionBody, Questions,
};

/// What the owner is asked.
const PROMPT: &str = "May the guests light a fire in the garden?";
/// What the owner chooses; the agent recommends the other.
const CHOSEN: &str = "In the bowl only";
/// What the owner is told.
const NEWS: &str = "The grill is out of coal";

/// An agent asks the owner and leaves an update; its own run ends, and nobody waits for the owner.
pub(super) async fn asked(stage: &mut Stage) -> Result<Said> {
    stage.output.act("An agent asks the owner, who is out");
    let draft = json!({
        "purpose": "decision", "kind": "choice", "prompt": PROMPT, "recommendation": "Yes",
        "options": [{"label": "Yes"}, {"label": CHOSEN}], "waiting_on": "the fire",
    });
    let news = json!({"title": NEWS, "body": "Somebody may bring a bag."});
    let chloe = stage.cast.chloe.clone();
    let text = format!("May we light a fire?\n!ask {draft}\n!mail {news}\n!say I asked the owner.");
    let said = stage.say(&chloe, "garden", &text).await?;
    stage.until(&[&said], "completed").await?;
    stage.check_end(&said, replied(&["demo: May we light a fire?", "I asked the owner."]))?;
    Ok(said)
}

/// The ask survived the power cut: the owner answers it, and its room hears the answer once.
pub(super) async fn answered(stage: &mut Stage, said: &Said) -> Result<()> {
    stage.output.act("The owner looks into the mailbox");
    let question = waiting(stage, said).await?;
    stage.output.speaks("mailbox", "owner", &format!("reads {PROMPT:?} and chooses {CHOSEN:?}")).await;
    let result: InputResult = stage.api.owner(Operation::InputAnswer(with(&question)?)).await?;
    stage.check("an answer is taken", result.status.as_str(), "resolved");
    let by = result.question.as_ref().and_then(|question| question.resolved_by.clone());
    stage.check("an answer names who gave it", by.map(|by| by.kind), Some("operator".to_owned()));
    if result.status == "resolved" {
        stage.heards.answered += 1;
    }
    heard(stage, said, &question.request_id).await?;
    news(stage, &question.conversation_id).await
}

/// One continuation carries the answer, and its room hears it once.
async fn heard(stage: &mut Stage, said: &Said, request: &str) -> Result<()> {
    let woken = format!("demo: answered: {CHOSEN}");
    let carries = |record: &HandoffBody| record.delivery_id.contains(request);
    let over = |record: &HandoffBody| carries(record) && record.state == "completed";
    let ledger = stage.seen.until("the answer wakes its room", |ledger| ledger.records().any(over)).await?;
    let ends: Vec<_> = ledger.records().filter(|one| carries(one)).map(|one| one.result.clone()).collect();
    stage.check("the one continuation of an answer", ends, vec![Some(replied(&[&woken]))]);
    let messages = stage.api.messages(&said.who, said.room).await?.messages;
    let heard = messages.iter().filter(|message| message.text == woken).count();
    stage.output.said(said.room, said.who.name, &format!("hears “{woken}”"));
    stage.check("the room hears the answer once", heard, 1);
    Ok(())
}

/// The ask that the run of `said` raised.
async fn waiting(stage: &Stage, said: &Said) -> Result<QuestionBody> {
    let list = InputList { status: Some("pending".to_owned()), ..InputList::default() };
    let page: Questions = stage.api.owner(Operation::InputList(list)).await?;
    let raised = page.questions.into_iter().find(|question| question.origin.handoff_id == said.handoff);
    match raised {
        Some(question) if question.prompt == PROMPT => Ok(question),
        Some(question) => bail!("the ask says {:?}", question.prompt),
        None => bail!("the ask is not in the mailbox"),
    }
}

fn with(question: &QuestionBody) -> Result<InputAnswer> {
    let chosen = question.options.iter().find(|option| option.label == CHOSEN);
    let option_id = chosen.context("the ask lost its options")?.option_id.clone();
    Ok(InputAnswer {
        conversation_id: question.conversation_id.clone(),
        request_id: question.request_id.clone(),
        incarnation_id: question.incarnation_id.clone(),
        expected_revision: question.revision,
        answer: AnswerBody::Choice { option_id },
    })
}

/// The update of that conversation is there, unread until it is read.
async fn news(stage: &mut Stage, conversation: &str) -> Result<()> {
    let list = OwnerUpdateList { conversation_id: Some(conversation.to_owned()), state: Some("unread".to_owned()) };
    let unread: OwnerUpdates = stage.api.owner(Operation::OwnerUpdateList(list)).await?;
    let titles: Vec<&str> = unread.updates.iter().map(|update| update.title.as_str()).collect();
    stage.check("the unread updates", titles, vec![NEWS]);
    for update in unread.updates {
        stage.output.said("mailbox", "owner", &format!("reads the update {:?}", update.title));
        let which = Operation::OwnerUpdateRead(OwnerUpdateId { id: update.id });
        let read: OwnerUpdateFound = stage.api.owner(which).await?;
        stage.check("an update that was read", read.update.state.as_str(), "read");
        stage.heards.updates_read += 1;
    }
    Ok(())
}
