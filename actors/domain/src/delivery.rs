//! Whether a computed reply reached its room: a fact of its own, apart from the result.
//!
//! `sending` is committed before a part is posted, so a crash leaves a part that may stand in the
//! room; such a part is looked for and never assumed. Invariant I7 includes these moves:
//! `uncertain` never becomes `confirmed` by itself.

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
        /// What the transport deduplicates by.
        nonce: String,
    },
    /// The part being sent stands in the room under this id.
    Arrived {
        /// The room's own id.
        id: String,
        /// How many parts there are.
        parts: u32,
    },
    /// The part being sent was definitely refused.
    Refused {
        /// Why, as a sentence.
        why: String,
    },
    /// Nobody can say whether the part arrived.
    Lost,
    /// It must not be posted.
    Suppress {
        /// Why, as a code.
        why: String,
    },
    /// The owner wants what did not arrive, or may not have, to be posted once more.
    Repost,
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

    /// The posting after `step`, or why there is no such move.
    pub fn advance(&self, step: PostingStep, now: Timestamp) -> Result<Self, IllegalPosting> {
        let mut next = self.clone();
        next.state = match (&self.state, step) {
            (Posting::Pending { part }, PostingStep::Send { nonce }) => {
                Posting::Sending { part: *part, nonce, at: now }
            }
            (Posting::Sending { part, nonce, at }, PostingStep::Send { nonce: again }) if *nonce == again => {
                Posting::Sending { part: *part, nonce: again, at: *at }
            }
            (Posting::Sending { part, .. }, PostingStep::Arrived { id, parts }) => {
                next.confirmed.push(id);
                if part + 1 >= parts { Posting::Confirmed } else { Posting::Pending { part: part + 1 } }
            }
            (Posting::Sending { .. }, PostingStep::Refused { why }) => Posting::Failed { why },
            (Posting::Sending { .. }, PostingStep::Lost) => Posting::Uncertain,
            (Posting::Pending { .. } | Posting::Sending { .. }, PostingStep::Suppress { why }) => {
                Posting::Suppressed { why }
            }
            (Posting::Pending { .. }, PostingStep::Refused { why }) => Posting::Failed { why },
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
                _,
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

    fn send(nonce: &str) -> PostingStep {
        PostingStep::Send { nonce: nonce.into() }
    }

    fn arrived(id: &str) -> PostingStep {
        PostingStep::Arrived { id: id.into(), parts: 2 }
    }

    #[test]
    fn parts_arrive_in_order_and_keep_their_ids() {
        let done = walk(vec![send("a"), arrived("1"), send("b"), arrived("2")]);
        assert_eq!(done, Ok(RoomDelivery { state: Posting::Confirmed, confirmed: vec!["1".into(), "2".into()] }));
    }

    #[test]
    fn i7_uncertain_never_becomes_success_by_itself() {
        let lost = vec![send("a"), PostingStep::Lost];
        for step in [send("a"), arrived("1"), PostingStep::Lost] {
            // Only the owner's explicit wish posts again, from the first part that is not confirmed.
            assert_eq!(walk([lost.clone(), vec![step]].concat()), Err(IllegalPosting));
        }
    }

    #[test]
    fn a_repeat_keeps_the_nonce_it_began_with() {
        assert!(walk(vec![send("a"), send("a")]).is_ok());
        assert_eq!(walk(vec![send("a"), send("b")]), Err(IllegalPosting));
    }
}
