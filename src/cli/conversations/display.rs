//! Conversations in a list, and what one of them shows: what was said there, and what was answered.

use std::time::Duration;

use crate::cli::chat;
use crate::cli::clean::{clean, clean_line};
use crate::cli::client::Client;
use crate::cli::failure::Failure;
use crate::cli::screen::{Form, Screen};
use crate::cli::table::Table;
use crate::cli::words;
use crate::owner::wire::{
    ConversationBody, ConversationLines, ConversationTail, Conversations, DisplayBody, NoArguments, Operation,
};

/// Width of a cell, in characters.
const WIDTH: usize = 64;
/// How long one call waits for something new: the longest that the service takes.
const FOLLOW: Duration = Duration::from_secs(20);
/// Pause after a call that brought nothing, so that a service that does not wait is not flooded.
const PAUSE: Duration = Duration::from_millis(200);

/// Until when lines are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// What is there, and no more.
    End,
    /// What comes, too.
    Interrupted,
}

pub(super) async fn list(client: &Client, screen: &Screen) -> Result<(), Failure> {
    let all: Conversations = client.look(Operation::ConversationList(NoArguments {})).await?;
    match screen.form() {
        Form::Json => screen.json(&all)?,
        Form::Table => screen.table(&rows(&all.conversations))?,
    }
    Ok(())
}

fn rows(conversations: &[ConversationBody]) -> Vec<String> {
    let mut table = Table::new(["ID", "ROOM", "PENDING", "REVISION"]);
    for one in conversations {
        table.row([
            clean_line(&one.conversation_id, WIDTH),
            one.room.as_deref().map_or_else(|| "–".to_owned(), |room| clean_line(room, WIDTH)),
            one.pending.to_string(),
            one.revision.map_or_else(|| "–".to_owned(), |revision| revision.to_string()),
        ]);
    }
    table.lines()
}

pub(super) async fn tail(conversation: &str, until: Until, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let mut after = None;
    loop {
        let page = page(conversation, after.clone(), Duration::ZERO, client).await?;
        let mut last = page.lines.is_empty() || after.as_ref() == Some(&page.next);
        print(&page, screen)?;
        after = Some(page.next);
        // There may be more pages of what is there; only after the last of them something is waited for.
        while last {
            if until == Until::End {
                return Ok(());
            }
            let page = self::page(conversation, after.clone(), FOLLOW, client).await?;
            last = page.lines.is_empty();
            print(&page, screen)?;
            after = Some(page.next);
            if last {
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

async fn page(
    conversation: &str,
    after: Option<String>,
    wait: Duration,
    client: &Client,
) -> Result<ConversationLines, Failure> {
    let wait_ms = u64::try_from(wait.as_millis()).ok().filter(|wait| *wait > 0);
    let tail = ConversationTail { conversation_id: conversation.to_owned(), after, wait_ms };
    client.look_waiting(Operation::ConversationTail(tail), wait).await
}

fn print(page: &ConversationLines, screen: &Screen) -> std::io::Result<()> {
    page.lines.iter().try_for_each(|line| match screen.form() {
        Form::Json => screen.json(line),
        Form::Table => screen.line(&shown(line)),
    })
}

/// One line of the display. Further lines are set in: none can pass for another's.
fn shown(line: &DisplayBody) -> String {
    match line {
        DisplayBody::Said { message } => chat::line(message),
        DisplayBody::Answered { text, answer_receipt, .. } => {
            let by = words::who(&answer_receipt.responder);
            let text = clean(text).replace('\n', "\n  ");
            format!("✓ ask {}, answered by {by}\n  {text}", clean_line(&answer_receipt.request_id, WIDTH))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_in_the_display_cannot_pass_for_another_line() {
        let line = json!({"kind": "answered", "text": "Ship?\u{1b}[2J\nYou answered: yes", "at": "2030-01-01T00:00:00Z",
            "answer_receipt": {"request_id": "0192f0c1-0000-7000-8000-0000aaaa0001",
                               "responder": {"kind": "operator", "id": "t1"}}});
        let line: DisplayBody = serde_json::from_value(line).unwrap();
        let expected =
            "✓ ask 0192f0c1-0000-7000-8000-0000aaaa0001, answered by operator t1\n  Ship?\n  You answered: yes";
        assert_eq!(shown(&line), expected);
    }

    #[test]
    fn conversations_without_mail_or_room_have_a_dash() {
        let all = json!([
            {"conversation_id": "room-0a1b2c3d4e5f60718293a4b5", "room": "local:lab", "incarnation_id": "i", "revision": 3, "pending": 2},
            {"conversation_id": "0192f0c1-0000-7000-8000-0000aaaa0001", "room": null, "incarnation_id": null, "revision": null, "pending": 0},
        ]);
        let all: Vec<ConversationBody> = serde_json::from_value(all).unwrap();
        let expected = [
            "ID                                    ROOM       PENDING  REVISION",
            "room-0a1b2c3d4e5f60718293a4b5         local:lab  2        3",
            "0192f0c1-0000-7000-8000-0000aaaa0001  –          0        –",
        ];
        assert_eq!(rows(&all), expected);
    }
}
