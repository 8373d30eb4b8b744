//! The feed: durable events as readers outside take them, each at its own pace.
//!
//! A reader holds a place and reads snapshots from there; nothing is queued for it, so a slow one
//! costs no memory and keeps no writer waiting. What it can no longer read without a gap is said.

use std::fmt;
use std::time::Duration;

use clankie_domain::event::Event;
use clankie_domain::ids::{ConversationId, RoomId};
use clankie_domain::message::{AnswerLine, RoomMessage};
use tokio::time::timeout;
use uuid::Uuid;

use super::mail::DisplayLine;
use super::{Clankie, Failure};

/// A place in the feed, written `<store epoch>-<sequence number>`. A store that was restored has
/// another epoch, so that a reader does not go on in numbers that mean something else there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeedPlace {
    /// Identity of the store.
    pub epoch: Uuid,
    /// The last event before this place; zero before any.
    pub seq: u64,
}

impl fmt::Display for FeedPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.epoch, self.seq)
    }
}

impl FeedPlace {
    /// Reads what [`fmt::Display`] writes, and nothing else.
    pub fn parse(text: &str) -> Option<Self> {
        let (epoch, seq) = text.rsplit_once('-')?;
        let place = Self { epoch: Uuid::try_parse(epoch).ok()?, seq: seq.parse().ok()? };
        (place.to_string() == text).then_some(place)
    }
}

/// What a reader finds after its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Feed {
    /// Events with their sequence numbers, oldest first; perhaps none.
    Events(Vec<(u64, Event)>),
    /// Some events in between are gone, or the place is one of another store. The reader reads
    /// everything anew and goes on from this place.
    Reset(FeedPlace),
}

/// Whether a reader whose last event was `after` has missed some, by what is kept.
fn has_gap(after: u64, first_kept: Option<u64>, last: u64) -> bool {
    let next_is_gone = after < last && first_kept.is_none_or(|first| first > after + 1);
    after > last || next_is_gone
}

/// A place in a conversation's display: how far what was said was read, and how far the answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DisplayPlace {
    /// The last message's place in its room.
    pub said: u64,
    /// The last answer's place in the conversation.
    pub answered: u64,
}

/// Which conversation's display: answers by the conversation, words by its room.
#[derive(Debug, Clone)]
pub struct Display {
    /// The conversation.
    pub conversation: ConversationId,
    /// Its room, for a room conversation.
    pub room: Option<RoomId>,
}

/// One line of a display with the sequence number that a message has in its room; zero for answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedLine {
    /// Its place in its own order.
    pub seq: u64,
    /// The line.
    pub line: DisplayLine,
}

/// Lines in the order of their moments, and where to read on. Each of the two orders is kept, so a
/// line whose moment is earlier than what was read already still comes.
fn merge(
    said: Vec<(u64, RoomMessage)>,
    answered: Vec<(u64, AnswerLine)>,
    after: DisplayPlace,
    limit: usize,
) -> (Vec<PlacedLine>, DisplayPlace) {
    let (mut place, mut lines) = (after, Vec::new());
    let mut said = said.into_iter().peekable();
    let mut answered = answered.into_iter().peekable();
    while lines.len() < limit {
        let said_first = match (said.peek(), answered.peek()) {
            (None, None) => break,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (Some((_, message)), Some((_, answer))) => message.at <= answer.at,
        };
        let next = if said_first {
            said.next().inspect(|(seq, _)| place.said = *seq).map(|(seq, line)| (seq, DisplayLine::Said(line)))
        } else {
            answered
                .next()
                .inspect(|(seq, _)| place.answered = *seq)
                .map(|(seq, line)| (seq, DisplayLine::Answered(line)))
        };
        lines.extend(next.map(|(seq, line)| PlacedLine { seq, line }));
    }
    (lines, place)
}

impl Clankie {
    /// The place after the last durable event. What is read later holds everything before it.
    pub fn feed_place(&self) -> Result<FeedPlace, Failure> {
        let snapshot = self.store.snapshot()?;
        Ok(FeedPlace { epoch: snapshot.epoch(), seq: snapshot.last_event()? })
    }

    /// At most `limit` events after `place`, of one snapshot.
    pub fn events_after(&self, place: FeedPlace, limit: usize) -> Result<Feed, Failure> {
        let snapshot = self.store.snapshot()?;
        let now = FeedPlace { epoch: snapshot.epoch(), seq: snapshot.last_event()? };
        if place.epoch != now.epoch || has_gap(place.seq, snapshot.first_event()?, now.seq) {
            return Ok(Feed::Reset(now));
        }
        Ok(Feed::Events(snapshot.events_after(place.seq, limit)?))
    }

    /// Returns when there is an event after `seq`, or after `wait`.
    pub async fn wait_event(&self, seq: u64, wait: Duration) {
        let mut changes = self.store.changes();
        // Nothing having happened in time is an ordinary outcome.
        let _ = timeout(wait, changes.wait_for(|last| *last > seq)).await;
    }

    /// Lines of a display after `after`, at most `limit`, and where to read on.
    pub fn display_after(
        &self,
        display: &Display,
        after: DisplayPlace,
        limit: usize,
    ) -> Result<(Vec<PlacedLine>, DisplayPlace), Failure> {
        let said = match &display.room {
            Some(room) => self.messages(room, after.said, limit)?,
            None => Vec::new(),
        };
        let answered = self.answers_shown(&display.conversation, after.answered, limit)?;
        Ok(merge(said, answered, after, limit))
    }

    /// Returns when that display has a line after `after`, or after `wait`.
    pub async fn wait_display(&self, display: &Display, after: DisplayPlace, wait: Duration) {
        let mut changes = self.store.changes();
        let more = || self.display_after(display, after, 1).map_or(true, |(lines, _)| !lines.is_empty());
        let until_more = async { while !more() && changes.changed().await.is_ok() {} };
        // Nothing having come in time is an ordinary outcome.
        let _ = timeout(wait, until_more).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_missed_nothing_goes_on() {
        for (after, first, last) in [(0, None, 0), (0, Some(1), 3), (3, Some(1), 3), (3, Some(4), 9), (9, None, 9)] {
            assert!(!has_gap(after, first, last), "{after} {first:?} {last}");
        }
    }

    #[test]
    fn a_reader_that_missed_something_is_told() {
        for (after, first, last) in [(0, Some(2), 3), (2, Some(4), 9), (0, None, 5), (10, Some(1), 9), (1, None, 0)] {
            assert!(has_gap(after, first, last), "{after} {first:?} {last}");
        }
    }

    #[test]
    fn only_what_is_written_is_a_place() {
        let place = FeedPlace { epoch: Uuid::from_u128(0x1234), seq: 42 };
        assert_eq!(FeedPlace::parse(&place.to_string()), Some(place));
        let epoch = place.epoch;
        let wrong = [
            String::new(),
            "42".into(),
            epoch.to_string(),
            format!("{epoch}-"),
            format!("{epoch}-+42"),
            format!("{epoch}-042"),
            format!("{}-42", epoch.simple()),
            format!("{}-42", epoch.to_string().to_uppercase().replace("1234", "ABCD")),
            format!("{epoch}-18446744073709551616"),
            format!(" {epoch}-42"),
        ];
        for text in wrong {
            assert_eq!(FeedPlace::parse(&text), None, "{text:?}");
        }
    }

    mod display {
        use clankie_domain::ids::{ConversationId, HandoffId, RequestId};
        use clankie_domain::message::MessageKind;
        use clankie_domain::result::By;
        use clankie_domain::time::Timestamp;

        use super::*;

        fn said(seq: u64, at: i64) -> (u64, RoomMessage) {
            let message = RoomMessage {
                room: RoomId::local("lab").unwrap(),
                id: seq.to_string(),
                kind: MessageKind::Reply,
                author: None,
                author_name: "Clankie".into(),
                text: format!("said {seq}"),
                reply_to: None,
                handoff: HandoffId(Uuid::nil()),
                at: Timestamp(at),
            };
            (seq, message)
        }

        fn answered(seq: u64, at: i64) -> (u64, AnswerLine) {
            let answer = AnswerLine {
                conversation: ConversationId::parse(&Uuid::nil().to_string()).unwrap(),
                request: RequestId(Uuid::nil()),
                by: By::service(),
                text: format!("answered {seq}"),
                at: Timestamp(at),
            };
            (seq, answer)
        }

        fn words(lines: &[PlacedLine]) -> Vec<&str> {
            let text = |line: &PlacedLine| match &line.line {
                DisplayLine::Said(message) => message.text.clone(),
                DisplayLine::Answered(answer) => answer.text.clone(),
            };
            lines.iter().map(text).map(|text| &*text.leak()).collect()
        }

        #[test]
        fn words_and_answers_come_in_the_order_of_their_moments() {
            let start = DisplayPlace::default();
            let (lines, place) = merge(vec![said(1, 10), said(2, 30)], vec![answered(1, 20)], start, 10);
            assert_eq!(words(&lines), ["said 1", "answered 1", "said 2"]);
            assert_eq!(place, DisplayPlace { said: 2, answered: 1 });
        }

        #[test]
        fn page_by_page_every_line_comes_once() {
            let words_said: Vec<_> = (1..=5).map(|n| said(n, 100 - i64::try_from(n).unwrap())).collect();
            let answers: Vec<_> = (1..=4).map(|n| answered(n, 97)).collect();
            let (mut place, mut seen) = (DisplayPlace::default(), Vec::new());
            loop {
                let left = words_said.iter().filter(|(seq, _)| *seq > place.said).cloned().collect();
                let more = answers.iter().filter(|(seq, _)| *seq > place.answered).cloned().collect();
                let (lines, next) = merge(left, more, place, 2);
                if lines.is_empty() {
                    break;
                }
                seen.extend(words(&lines).iter().map(|text| (*text).to_owned()));
                place = next;
            }
            seen.sort();
            let mut all: Vec<_> = (1..=5).map(|n| format!("said {n}")).collect();
            all.extend((1..=4).map(|n| format!("answered {n}")));
            all.sort();
            assert_eq!(seen, all);
        }
    }
}
