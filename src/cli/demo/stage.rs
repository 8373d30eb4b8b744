//! The stage: people speak on it, facts are waited for on it, and what was promised is checked.

use std::fmt::Debug;
use std::time::Duration;

use anyhow::{Result, bail};
use tokio::time::Instant;

use super::api::{Api, Heard, Words};
use super::ledger::Ledger;
use super::lines::{Output, quoted};
use super::people::{Cast, Person};
use super::sampler::Seen;
use crate::owner::wire::{BusyBody, EntryBody, HandoffBody, ProblemBody, ResultBody, TurnAnswer};

/// How often a transcript is looked at; it is written five times a second.
const LOOK_EVERY: Duration = Duration::from_millis(25);
/// How long a steer may take to be read.
const READ_MAX: Duration = Duration::from_secs(20);

/// Something that somebody said and that was admitted.
#[derive(Debug, Clone)]
pub(super) struct Said {
    /// By whom.
    pub(super) who: Person,
    /// The short name of the room.
    pub(super) room: &'static str,
    /// The delivery.
    pub(super) delivery: String,
    /// The words.
    pub(super) text: String,
    /// The handoff that it became.
    pub(super) handoff: String,
}

/// How often something was heard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Heards {
    /// Deliveries that were admitted.
    pub(super) admitted: usize,
    /// Busy answers.
    pub(super) busy: usize,
    /// Repeats that got their saved result.
    pub(super) replayed: usize,
    /// Asks that the owner answered.
    pub(super) answered: usize,
    /// Updates that the owner read.
    pub(super) updates_read: usize,
}

/// The stage.
#[derive(Debug)]
pub(super) struct Stage {
    /// The service.
    pub(super) api: Api,
    /// What was seen of it.
    pub(super) seen: Seen,
    /// Where lines go.
    pub(super) output: Output,
    /// Everybody.
    pub(super) cast: Cast,
    /// Tells this evening's deliveries from another's in the same directory.
    pub(super) tag: String,
    /// What was heard.
    pub(super) heards: Heards,
    /// What was off.
    pub(super) violations: Vec<String>,
}

impl Stage {
    /// Says something that must be admitted.
    pub(super) async fn say(&mut self, who: &Person, room: &'static str, text: &str) -> Result<Said> {
        let delivery = format!("{}-{}-{}", who.id, self.heards.admitted + 1, self.tag);
        self.output.speaks(room, who.name, &format!("says {}", quoted(text))).await;
        match self.api.say(who, Words { room, delivery: &delivery, text }).await? {
            Heard::Turn(turn) => Ok(self.admitted(who, room, text, turn)),
            other @ (Heard::Busy { .. } | Heard::Problem(_)) => {
                bail!("{} was not admitted in {room}: {other:?}", who.name)
            }
        }
    }

    /// Says something that must be told busy, and returns its delivery and the facts.
    pub(super) async fn say_too_much(
        &mut self,
        who: &Person,
        room: &'static str,
        text: &str,
    ) -> Result<(String, BusyBody)> {
        let delivery = format!("{}-busy-{}", who.id, self.tag);
        self.output.speaks(room, who.name, &format!("says {}", quoted(text))).await;
        match self.api.say(who, Words { room, delivery: &delivery, text }).await? {
            Heard::Busy { facts, retry_after } => {
                self.heards.busy += 1;
                self.check("a busy answer says when to try again", retry_after.is_some(), true);
                let BusyBody { limit, position, running, waiting, .. } = &facts;
                let line = format!("busy: limit {limit}, would be number {position}, {running} run, {waiting} wait");
                self.output.said(room, who.name, &line);
                Ok((delivery, facts))
            }
            other @ (Heard::Turn(_) | Heard::Problem(_)) => {
                bail!("{} was not told busy in {room}: {other:?}", who.name)
            }
        }
    }

    /// Tries a delivery that was told busy once more; now it must be admitted.
    pub(super) async fn try_again(&mut self, who: &Person, words: Words<'_>, room: &'static str) -> Result<Said> {
        self.output.speaks(room, who.name, "tries the same delivery again").await;
        match self.api.say(who, words).await? {
            Heard::Turn(turn) => Ok(self.admitted(who, room, words.text, turn)),
            other @ (Heard::Busy { .. } | Heard::Problem(_)) => {
                bail!("{} was not admitted in {room}: {other:?}", who.name)
            }
        }
    }

    fn admitted(&mut self, who: &Person, room: &'static str, text: &str, turn: TurnAnswer) -> Said {
        self.heards.admitted += 1;
        self.check("the room of an answer", turn.room, who.room(room));
        let (delivery, handoff) = (turn.delivery_id, turn.handoff_id);
        Said { who: who.clone(), room, delivery, text: text.to_owned(), handoff }
    }

    /// Sends a delivery that is over once more: it must get the saved result, of the same handoff.
    pub(super) async fn repeat(&mut self, said: &Said) -> Result<()> {
        let saved = self.record(said)?;
        let words = Words { room: said.room, delivery: &said.delivery, text: &said.text };
        let heard = self.api.say(&said.who, words).await?;
        let wanted = Heard::Turn(TurnAnswer {
            handoff_id: saved.id,
            state: saved.state,
            room: saved.room,
            delivery_id: saved.delivery_id,
            result: saved.result,
        });
        if heard == wanted {
            self.heards.replayed += 1;
            let line = format!("sends {} again: its saved result", quoted(&said.text));
            self.output.said(said.room, said.who.name, &line);
        }
        self.check(&format!("the saved result of {}", said.delivery), heard, wanted);
        Ok(())
    }

    /// Notes a violation unless the two are the same.
    pub(super) fn check<T: PartialEq + Debug>(&mut self, what: &str, found: T, wanted: T) {
        if found != wanted {
            self.off(format!("{what}: {found:?} instead of {wanted:?}"));
        }
    }

    /// Notes a violation.
    pub(super) fn off(&mut self, what: String) {
        self.output.line(&format!("  !! {what}"));
        self.violations.push(what);
    }

    /// Checks that an answer is a problem of that status.
    pub(super) fn check_problem(&mut self, what: &str, heard: &Heard, status: u16) {
        let found = match heard {
            Heard::Problem(ProblemBody { status, .. }) => Some(*status),
            Heard::Turn(_) | Heard::Busy { .. } => None,
        };
        self.check(what, found, Some(status));
    }

    /// Returns when each of these has that state.
    pub(super) async fn until(&self, said: &[&Said], state: &str) -> Result<Ledger> {
        let all = |ledger: &Ledger| said.iter().all(|said| find(ledger, said).is_some_and(|it| it.state == state));
        let names: Vec<&str> = said.iter().map(|said| said.delivery.as_str()).collect();
        self.seen.until(&format!("{} {state}", names.join(", ")), all).await
    }

    /// Returns when the run that `said` joined has read it.
    pub(super) async fn until_read(&self, said: &Said) -> Result<()> {
        let target = self.until(&[said], "joined").await?;
        let Some(target) = find(&target, said).and_then(|record| record.joined.clone()) else {
            bail!("{} names no handoff that it joined", said.delivery)
        };
        let end = Instant::now() + READ_MAX;
        while Instant::now() < end {
            let transcript = self.api.transcript(&target).await?;
            let read = |entry: &EntryBody| matches!(entry, EntryBody::Steer { handoff_id, mark } if *handoff_id == said.handoff && mark == "read");
            if transcript.entries.iter().any(|line| read(&line.entry)) {
                return Ok(());
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        bail!("{} was not read within {} s", said.delivery, READ_MAX.as_secs())
    }

    /// The record of what was said, as it was last seen.
    pub(super) fn record(&self, said: &Said) -> Result<HandoffBody> {
        match find(&self.seen.now(), said) {
            Some(record) => Ok(record.clone()),
            None => bail!("{} was admitted and has no record", said.delivery),
        }
    }

    /// Checks how something ended.
    pub(super) fn check_end(&mut self, said: &Said, wanted: ResultBody) -> Result<()> {
        let found = self.record(said)?.result;
        self.check(&format!("the end of {}", said.delivery), found, Some(wanted));
        Ok(())
    }
}

/// The record of what was said.
fn find<'a>(ledger: &'a Ledger, said: &Said) -> Option<&'a HandoffBody> {
    ledger.of(&said.who.room(said.room), &said.delivery)
}

/// A reply of these lines.
pub(super) fn replied(lines: &[&str]) -> ResultBody {
    ResultBody::Settled { text: lines.join("\n"), media: vec![] }
}

/// Read by the run of `target`.
pub(super) fn absorbed_by(target: &Said) -> ResultBody {
    let (reply_delivery_id, joined_handoff_id) = (target.delivery.clone(), target.handoff.clone());
    ResultBody::Absorbed { reply_delivery_id, joined_handoff_id }
}

/// Failed with that code.
pub(super) fn failed(code: &str) -> ResultBody {
    ResultBody::Failed { code: code.to_owned() }
}
