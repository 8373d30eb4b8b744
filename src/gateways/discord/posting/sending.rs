//! One part that is durably being sent, until its outcome is known or cannot be.
//!
//! What never left is no outcome: the part is next again. Once a request may have had its effect, only
//! Discord's memory of nonces and a search to the end of the room say that it did not.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clankie_domain::delivery::PostingStep;
use clankie_domain::time::Timestamp;

use super::parts::Part;
use super::search::{Found, Sought};
use super::{FIRST_REST, LONGEST_REST, Reply};
use crate::gateways::discord::limits::CallError;
use crate::gateways::discord::rest::{Draft, Ping, Posted, Upload};

/// How long Discord is trusted to remember a nonce: it says "a few minutes".
const NONCE_WINDOW: Duration = Duration::from_secs(3 * 60);
/// How long a part is looked for, at least, where that window was over before anybody could look.
const LOOK_AT_LEAST: Duration = Duration::from_secs(60);
/// Unclear tries with a file after which the words go without it: some break off a long upload.
const TRIES_WITH_FILE: u32 = 4;

/// Whether a request with this part may have had its effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// None has left since the sending began.
    None,
    /// One may have, in this process or in one before.
    Possible,
}

/// A part on its way.
#[derive(Debug)]
pub(super) struct Sending<'a> {
    pub(super) reply: &'a Reply<'a>,
    /// Counted from zero.
    pub(super) part: u32,
    pub(super) piece: &'a Part,
    pub(super) nonce: &'a str,
    pub(super) sought: Sought<'a>,
    /// When the sending began.
    pub(super) since: Timestamp,
    pub(super) effect: Effect,
}

impl Sending<'_> {
    /// Goes on until it is known what became of the part, or that nobody can say.
    pub(super) async fn settle(mut self) -> PostingStep {
        // An earlier try may stand in the room, and Discord would not know its nonce any more.
        if !self.within_window(self.reply.ended)
            && let Some(known) = self.look_first().await
        {
            return known;
        }
        if let Some(known) = self.try_while_known().await {
            return known;
        }
        match self.look().await {
            Ok(Found::Here(id)) => self.arrived(id),
            Ok(Found::Nowhere | Found::Unclear) | Err(_) => self.lost(),
        }
    }

    /// Posts, and again while it is unclear and Discord remembers the nonce.
    async fn try_while_known(&mut self) -> Option<PostingStep> {
        let upload = self.upload().await;
        let mut rest = FIRST_REST;
        let mut unclear = 0;
        let is_first = self.effect == Effect::None;
        // The same nonce with and without the file: whichever arrived first is the one that stands.
        let mut with_file = upload.is_some();
        while let Some(left) = self.left_of_window(self.since) {
            match self.post(upload.as_ref().filter(|_| with_file), left).await {
                Posted::Stands(id) => {
                    // What an earlier process posted under this nonce may be the words alone.
                    self.reply.files_there.fetch_add(usize::from(with_file && is_first), Ordering::AcqRel);
                    return Some(self.arrived(id));
                }
                Posted::Refused(why) if with_file => {
                    tracing::warn!(handoff = %self.reply.handoff, why, "a file was refused; its words go without it");
                    with_file = false;
                    continue;
                }
                Posted::Refused(why) => return Some(self.refused(why).await),
                Posted::NotSent => match self.effect {
                    Effect::None => return Some(PostingStep::Unsent { part: self.part }),
                    Effect::Possible => {}
                },
                Posted::Unclear => {
                    tracing::info!(handoff = %self.reply.handoff, "a post is unclear; it is repeated");
                    self.effect = Effect::Possible;
                    unclear += 1;
                    with_file &= unclear < TRIES_WITH_FILE;
                }
            }
            tokio::time::sleep(rest).await;
            rest = (rest * 2).min(LONGEST_REST);
        }
        None
    }

    /// Posts once, and not after the window: a rate limit may be waited out only until then.
    async fn post(&self, file: Option<&Upload>, left: Duration) -> Posted {
        let (channel, answers, asker) = (self.reply.channel, self.reply.answers, self.reply.asker);
        let ping = if self.part == 0 { Ping::Asker } else { Ping::Nobody };
        let text = if file.is_some() { &self.piece.text } else { &self.piece.instead };
        let draft = Draft { channel, answers, text, nonce: self.nonce, asker, ping, file };
        self.reply.shared.rest.post_within(&draft, left).await
    }

    /// A refusal says nothing about a try before it whose outcome was unclear.
    async fn refused(&self, why: String) -> PostingStep {
        tracing::warn!(handoff = %self.reply.handoff, why, "a reply was refused");
        match self.effect {
            Effect::None => return PostingStep::Refused { part: self.part, why },
            Effect::Possible => {}
        }
        match self.look().await {
            Ok(Found::Here(id)) => self.arrived(id),
            Ok(Found::Nowhere) => PostingStep::Refused { part: self.part, why },
            Ok(Found::Unclear) | Err(_) => self.lost(),
        }
    }

    /// Looks for a part before it is posted, also after a start that came later than the window.
    /// `None`: it does not stand in the room.
    async fn look_first(&self) -> Option<PostingStep> {
        let mut rest = FIRST_REST;
        let until = Instant::now() + LOOK_AT_LEAST;
        while self.within_window(self.since) || Instant::now() < until {
            match self.look().await {
                Ok(Found::Here(id)) => return Some(self.arrived(id)),
                Ok(Found::Nowhere) => return None,
                Ok(Found::Unclear) => return Some(self.lost()),
                // Where nothing can be read nothing can be posted either: that says so with its own reason.
                Err(CallError::Refused { .. }) => return None,
                Err(CallError::NotSent(_)) if self.effect == Effect::None => {
                    return Some(PostingStep::Unsent { part: self.part });
                }
                Err(CallError::Unclear(_) | CallError::NotSent(_)) => {}
            }
            tokio::time::sleep(rest).await;
            rest = (rest * 2).min(LONGEST_REST);
        }
        Some(self.lost())
    }

    /// Looks through the room; where the part may stand there, as soon as Discord can be asked at all.
    async fn look(&self) -> Result<Found, CallError> {
        let mut rest = FIRST_REST;
        loop {
            match self.sought.find(self.reply.shared).await {
                Err(CallError::NotSent(why)) if self.effect == Effect::Possible => {
                    tracing::debug!(handoff = %self.reply.handoff, why, "a room cannot be looked through yet");
                }
                known => return known,
            }
            tokio::time::sleep(rest).await;
            rest = (rest * 2).min(LONGEST_REST);
        }
    }

    fn lost(&self) -> PostingStep {
        tracing::warn!(handoff = %self.reply.handoff, part = self.part, "nobody can say whether a part arrived");
        PostingStep::Lost { part: self.part }
    }

    fn arrived(&self, id: u64) -> PostingStep {
        self.reply.arrived(self.part, id)
    }

    /// The part's file, unless it is gone.
    async fn upload(&self) -> Option<Upload> {
        let media = self.piece.file.as_ref()?;
        let name = media.file.as_ref()?.name.clone();
        let bytes = self.reply.shared.settings.files.read(self.reply.handoff, media).await?;
        Some(Upload { name, bytes })
    }

    fn within_window(&self, since: Timestamp) -> bool {
        self.left_of_window(since).is_some()
    }

    /// How much of the window is left.
    fn left_of_window(&self, since: Timestamp) -> Option<Duration> {
        let past = Duration::from_millis(self.reply.shared.clock.now().since(since));
        NONCE_WINDOW.checked_sub(past).filter(|left| !left.is_zero())
    }
}
