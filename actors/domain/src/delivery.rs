//! Whether a computed reply reached its room: a fact of its own, apart from the result.
//!
//! `sending` is committed before a part is posted, so a crash leaves a part that may stand in the
//! room; such a part is looked for and never assumed. Invariant I7 includes these moves:
//! `uncertain` never becomes `confirmed` by itself. Two may post one reply for a while, because a room
//! begun anew cannot call back who posted before: so each step about a part names it, and one about
//! another part than the next, or the one being sent, is no move.

use crate::mutant::{self, Mutant};
use crate::time::Timestamp;

/// Where the posting of a reply stands. Ids of parts that arrived are kept under any state.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoomDelivery {
    /// The step.
    pub state: Posting,
    /// The room's own ids of the parts that arrived, in order.
    pub confirmed: Vec<String>,
}

/// The step of a posting.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Posting {
    /// Nothing to post.
    #[default]
    None,
    /// This part is next.
    Pending {
        /// Counted from zero.
        part: u32,
    },
    /// This part may stand in the room already.
    Sending {
        /// Counted from zero.
        part: u32,
        /// What the transport deduplicates by.
        nonce: String,
        /// When it was first tried.
        at: Timestamp,
    },
    /// Every part stands in the room.
    Confirmed,
    /// A part was definitely refused.
    Failed {
        /// Why, as a sentence.
        why: String,
    },
    /// A part may or may not stand in the room.
    Uncertain,
    /// It was decided not to post it.
    Suppressed {
        /// Why, as a code.
        why: String,
    },
}

/// What happened to a posting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PostingStep {
    /// The next part is about to be posted.
    Send {
        /// Which part; counted from zero, as in every step.
        part: u32,
        /// What the transport deduplicates by.
        nonce: String,
    },
    /// The part being sent stands in the room under this id.
    Arrived {
        /// Which part.
        part: u32,
        /// The room's own id.
        id: String,
        /// How many parts there are.
        parts: u32,
    },
    /// The part being sent was definitely refused.
    Refused {
        /// Which part.
        part: u32,
        /// Why, as a sentence.
        why: String,
    },
    /// Nobody can say whether the part arrived.
    Lost {
        /// Which part.
        part: u32,
    },
    /// Nothing of the part ever left: it is next again.
    Unsent {
        /// Which part.
        part: u32,
    },
    /// It must not be posted.
    Suppress {
        /// Why, as a code.
        why: String,
    },
    /// The owner wants what did not arrive, or may not have, to be posted once more.
    Repost,
}

impl PostingStep {
    /// The part that it is about, where it is about one.
    fn part(&self) -> Option<u32> {
        match self {
            Self::Send { part, .. }
            | Self::Arrived { part, .. }
            | Self::Refused { part, .. }
            | Self::Lost { part }
            | Self::Unsent { part } => Some(*part),
            Self::Suppress { .. } | Self::Repost => None,
        }
    }
}

/// A move that no arrow allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the posting cannot make that move from where it stands")]
pub struct IllegalPosting;

impl RoomDelivery {
    /// A reply that has parts to post.
    pub fn pending() -> Self {
        Self { state: Posting::Pending { part: 0 }, confirmed: Vec::new() }
    }

    /// A reply that stands in the room by the same commit, under this id.
    pub fn in_store(id: String) -> Self {
        Self { state: Posting::Confirmed, confirmed: vec![id] }
    }

    /// Whether something is still to be posted.
    pub fn is_open(&self) -> bool {
        match self.state {
            Posting::Pending { .. } | Posting::Sending { .. } => true,
            Posting::None
            | Posting::Confirmed
            | Posting::Failed { .. }
            | Posting::Uncertain
            | Posting::Suppressed { .. } => false,
        }
    }

    /// The part that is next, or being sent.
    fn part(&self) -> Option<u32> {
        match self.state {
            Posting::Pending { part } | Posting::Sending { part, .. } => Some(part),
            Posting::None
            | Posting::Confirmed
            | Posting::Failed { .. }
            | Posting::Uncertain
            | Posting::Suppressed { .. } => None,
        }
    }

    /// The posting after `step`, or why there is no such move.
    pub fn advance(&self, step: PostingStep, now: Timestamp) -> Result<Self, IllegalPosting> {
        if step.part().is_some_and(|part| self.part() != Some(part)) {
            return Err(IllegalPosting);
        }
        let mut next = self.clone();
        next.state = match (&self.state, step) {
            (Posting::Pending { part }, PostingStep::Send { nonce, .. }) => {
                Posting::Sending { part: *part, nonce, at: now }
            }
            (Posting::Sending { part, nonce, at }, PostingStep::Send { nonce: again, .. }) if *nonce == again => {
                Posting::Sending { part: *part, nonce: again, at: *at }
            }
            (Posting::Sending { part, .. }, PostingStep::Arrived { id, parts, .. }) => {
                next.confirmed.push(id);
                if part + 1 >= parts { Posting::Confirmed } else { Posting::Pending { part: part + 1 } }
            }
            (Posting::Sending { .. }, PostingStep::Refused { why, .. }) => Posting::Failed { why },
            (Posting::Sending { .. }, PostingStep::Lost { .. }) if mutant::on(Mutant::I7LostCountsAsArrived) => {
                Posting::Confirmed
            }
            (Posting::Sending { .. }, PostingStep::Lost { .. }) => Posting::Uncertain,
            (Posting::Sending { part, .. }, PostingStep::Unsent { .. }) => Posting::Pending { part: *part },
            (Posting::Pending { .. } | Posting::Sending { .. }, PostingStep::Suppress { why }) => {
                Posting::Suppressed { why }
            }
            (Posting::Pending { .. }, PostingStep::Refused { why, .. }) => Posting::Failed { why },
            (Posting::Failed { .. } | Posting::Uncertain, PostingStep::Repost) => {
                Posting::Pending { part: u32::try_from(self.confirmed.len()).unwrap_or(u32::MAX) }
            }
            (
                Posting::None
                | Posting::Pending { .. }
                | Posting::Sending { .. }
                | Posting::Confirmed
                | Posting::Failed { .. }
                | Posting::Uncertain
                | Posting::Suppressed { .. },
                PostingStep::Send { .. }
                | PostingStep::Arrived { .. }
                | PostingStep::Refused { .. }
                | PostingStep::Lost { .. }
                | PostingStep::Unsent { .. }
                | PostingStep::Suppress { .. }
                | PostingStep::Repost,
            ) => return Err(IllegalPosting),
        };
        Ok(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(5);

    fn walk(steps: Vec<PostingStep>) -> Result<RoomDelivery, IllegalPosting> {
        steps.into_iter().try_fold(RoomDelivery::pending(), |at, step| at.advance(step, NOW))
    }

    fn send(part: u32, nonce: &str) -> PostingStep {
        PostingStep::Send { part, nonce: nonce.into() }
    }

    fn arrived(part: u32, id: &str) -> PostingStep {
        PostingStep::Arrived { part, id: id.into(), parts: 2 }
    }

    #[test]
    fn parts_arrive_in_order_and_keep_their_ids() {
        let done = walk(vec![send(0, "a"), arrived(0, "1"), send(1, "b"), arrived(1, "2")]);
        assert_eq!(done, Ok(RoomDelivery { state: Posting::Confirmed, confirmed: vec!["1".into(), "2".into()] }));
    }

    #[test]
    fn i7_uncertain_never_becomes_success_by_itself() {
        let lost = vec![send(0, "a"), PostingStep::Lost { part: 0 }];
        for step in [send(0, "a"), arrived(0, "1"), PostingStep::Lost { part: 0 }, PostingStep::Unsent { part: 0 }] {
            // Only the owner's explicit wish posts again, from the first part that is not confirmed.
            assert_eq!(walk([lost.clone(), vec![step]].concat()), Err(IllegalPosting));
        }
    }

    #[test]
    fn what_never_left_is_next_again_and_its_time_begins_anew() {
        let again = walk(vec![send(0, "a"), PostingStep::Unsent { part: 0 }]).unwrap();
        assert_eq!(again, RoomDelivery::pending());
        let later = again.advance(send(0, "a"), Timestamp(9)).unwrap();
        assert_eq!(later.state, Posting::Sending { part: 0, nonce: "a".into(), at: Timestamp(9) });
        assert_eq!(RoomDelivery::pending().advance(PostingStep::Unsent { part: 0 }, NOW), Err(IllegalPosting));
    }

    #[test]
    fn a_repeat_keeps_the_nonce_it_began_with() {
        assert!(walk(vec![send(0, "a"), send(0, "a")]).is_ok());
        assert_eq!(walk(vec![send(0, "a"), send(0, "b")]), Err(IllegalPosting));
    }

    /// I7: who posted before a room was begun anew may come late, with an answer about a part that is over.
    #[test]
    fn i7_a_step_about_another_part_than_the_one_in_flight_is_no_move() {
        let first_is_over = vec![send(0, "a"), arrived(0, "1")];
        let refused = PostingStep::Refused { part: 0, why: "late".into() };
        let late =
            [send(0, "a"), arrived(0, "1"), refused, PostingStep::Lost { part: 0 }, PostingStep::Unsent { part: 0 }];
        for step in late {
            let next = [first_is_over.clone(), vec![step.clone()]].concat();
            assert_eq!(walk(next), Err(IllegalPosting), "while the second is next: {step:?}");
            let in_flight = [first_is_over.clone(), vec![send(1, "b"), step.clone()]].concat();
            assert_eq!(walk(in_flight), Err(IllegalPosting), "while the second is sent: {step:?}");
        }
    }
}
