//! Tells owners by direct message that something waits. Discord never answers: what a person says
//! back there is an ordinary message like any other.
//!
//! A message mentions nobody, shows no preview of a link, and has a nonce of its own, so that a
//! repeat of an unclear post makes no second one.

use serenity::all::{ChannelId, CreateAllowedMentions, CreateMessage, MessageFlags, Nonce};
use serenity::http::{LightMethod, Request, Route};
use serenity::model::channel::{Message, PrivateChannel};
use std::time::Duration;
use tokio::time::Instant;

use super::Discord;
use super::identity::{Owners, user_of};
use super::limits::CallError;
use super::posting::nonce;
use super::rest::{Rest, posts_in};

/// How long telling one owner may take, waiting for a rate limit included.
const DEADLINE: Duration = Duration::from_secs(60);

/// What an owner is told.
#[derive(Debug, Clone)]
pub struct Note {
    /// The same when the same thing is told again.
    pub id: String,
    /// One line.
    pub title: String,
    /// Kind and age.
    pub facts: String,
    /// The first words, where they may be shown. They are an agent's or a person's: data.
    pub words: Option<String>,
    /// The command that shows it.
    pub command: String,
}

/// An owner was not told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotTold {
    /// Discord takes no such message.
    #[error("Discord refused a direct message to an owner (status {status}, code {code})")]
    Refused {
        /// The status.
        status: u16,
        /// Discord's own code.
        code: i64,
    },
    /// It may have arrived; telling it again soon is harmless.
    #[error("Discord did not answer a direct message to an owner")]
    Unclear,
}

impl Owners {
    /// The numbers of those who are people on Discord.
    pub fn people(&self) -> Vec<u64> {
        self.all().iter().filter_map(user_of).collect()
    }
}

impl Discord {
    /// Tells one person, by number. The caller has made sure that it is an owner.
    pub async fn tell(&self, person: u64, note: &Note) -> Result<(), NotTold> {
        let rest = &self.0.rest;
        let until = Instant::now() + DEADLINE;
        let telling = async {
            let channel = rest.open_direct(person, until).await?;
            let nonce = nonce(&format!("direct/{person}/{}", note.id));
            rest.post_direct(channel, &message(note, nonce), until).await
        };
        match telling.await {
            Ok(()) => Ok(()),
            Err(CallError::Refused { status, code }) => Err(NotTold::Refused { status, code }),
            Err(CallError::Unclear(why) | CallError::NotSent(why)) => {
                tracing::debug!(why, "an owner may not have been told by a direct message");
                Err(NotTold::Unclear)
            }
        }
    }
}

impl Rest {
    /// The direct conversation with this person; Discord gives the same one every time.
    async fn open_direct(&self, person: u64, until: Instant) -> Result<ChannelId, CallError> {
        let body = serde_json::json!({ "recipient_id": person.to_string() }).to_string();
        let request = Request::new(Route::UserMeDmChannels, LightMethod::Post).body(Some(body.into_bytes()));
        let channel: PrivateChannel = self.call("direct", request, until).await?;
        Ok(channel.id)
    }

    async fn post_direct(
        &self,
        channel_id: ChannelId,
        message: &CreateMessage,
        until: Instant,
    ) -> Result<(), CallError> {
        let body = serde_json::to_vec(message).map_err(|error| CallError::Unclear(error.to_string()))?;
        let request = Request::new(Route::ChannelMessages { channel_id }, LightMethod::Post).body(Some(body));
        let _stands: Message = self.call(&posts_in(channel_id.get()), request, until).await?;
        Ok(())
    }
}

fn message(note: &Note, nonce: String) -> CreateMessage {
    CreateMessage::new()
        .content(text(note))
        .nonce(Nonce::String(nonce))
        .enforce_nonce(true)
        .flags(MessageFlags::SUPPRESS_EMBEDS)
        .allowed_mentions(CreateAllowedMentions::new())
}

fn text(note: &Note) -> String {
    let words = note.words.as_ref().map(|words| format!("> {}\n", plain(words))).unwrap_or_default();
    format!("**{}**\n{}\n{words}`{}`", plain(&note.title), plain(&note.facts), note.command)
}

/// The text as it was written: nothing in it formats, mentions, or hides an address behind a word.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '*' | '_' | '~' | '`' | '|' | '>' | '<' | '[' | ']' | '(' | ')' | '#' | '@') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_others_format_mention_and_hide_nothing() {
        let note = Note {
            id: "1".into(),
            title: "A decision waits for you".into(),
            facts: "decision · asked just now".into(),
            words: Some("see [the bank](https://evil.example) @everyone **now**".into()),
            command: "clankie asks show 01a22f0d".into(),
        };
        assert_eq!(
            text(&note),
            "**A decision waits for you**\ndecision · asked just now\n> see \\[the bank\\]\\(https://evil.example\\) \\@everyone \\*\\*now\\*\\*\n`clankie asks show 01a22f0d`"
        );
    }
}
