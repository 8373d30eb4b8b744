//! What the actors' answers mean in a room: which sign a message gets, and whether a stop stopped.
//!
//! A sign stands for a fact and for nothing else: only what was cancelled, or is being stopped, is shown so.

use clankie_domain::admission::BusyFacts;
use clankie_domain::admission::room::Answer;
use clankie_domain::grant::Revoked;
use clankie_domain::handoff::StateName;
use clankie_domain::ids::HandoffId;
use clankie_domain::result::TurnResult;

/// What somebody's words, or their edit, came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard<'a> {
    /// A handoff that is not over carries them.
    Taken(HandoffId, StateName),
    /// There was no room for them, and no record of them.
    Busy(&'a BusyFacts),
    /// They must come again.
    Later,
    /// Nobody there is heard.
    Refused(Revoked),
    /// The same message came before with other words.
    Differs,
    /// Whatever they asked for was dealt with, and no sign goes with it.
    Quiet,
}

/// What a wish to stop a run came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stopped {
    /// An abort is on its way.
    Stopping,
    /// It ended as cancelled.
    Cancelled,
    /// It had ended in another way.
    OverBefore,
    /// Nothing was done.
    Nothing,
    /// The wish must come again.
    Later,
}

/// What an answer to words says.
pub(super) fn heard(answer: &Answer) -> Heard<'_> {
    match answer {
        Answer::Accepted { handoff, state } => Heard::Taken(*handoff, *state),
        Answer::Busy(facts) => Heard::Busy(facts),
        Answer::ShuttingDown => Heard::Later,
        Answer::Refused(why) => Heard::Refused(*why),
        Answer::Conflict { .. } | Answer::ConflictInFlight => Heard::Differs,
        Answer::Settled { .. }
        | Answer::Forgotten
        | Answer::Cancelling { .. }
        | Answer::NotFound
        | Answer::NotYours
        | Answer::Posted(_)
        | Answer::NoSuchStep
        | Answer::Outdated => Heard::Quiet,
    }
}

/// What an answer to a wish to stop a run says. The run was alive when the wish was made.
pub(super) fn stopped(answer: &Answer) -> Stopped {
    match answer {
        Answer::Cancelling { .. } => Stopped::Stopping,
        Answer::Settled { result: TurnResult::Cancelled { .. }, .. } | Answer::Forgotten => Stopped::Cancelled,
        Answer::Settled {
            result:
                TurnResult::Settled { .. }
                | TurnResult::Silent
                | TurnResult::Absorbed { .. }
                | TurnResult::WaitingUser { .. }
                | TurnResult::Failed { .. },
            ..
        }
        | Answer::NotFound => Stopped::OverBefore,
        Answer::ShuttingDown => Stopped::Later,
        Answer::Accepted { .. }
        | Answer::Busy(_)
        | Answer::Conflict { .. }
        | Answer::ConflictInFlight
        | Answer::Refused(_)
        | Answer::NotYours
        | Answer::Posted(_)
        | Answer::NoSuchStep
        | Answer::Outdated => Stopped::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use clankie_domain::delivery::RoomDelivery;
    use clankie_domain::result::By;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn only_what_was_cancelled_or_is_being_stopped_counts_as_stopped() {
        let handoff = HandoffId(Uuid::from_u128(1));
        let cancelled = TurnResult::Cancelled { by: By::service() };
        let settled = |result| Answer::Settled { handoff, result };
        for (answer, meant) in [
            (Answer::Cancelling { handoff }, Stopped::Stopping),
            (settled(cancelled), Stopped::Cancelled),
            (Answer::Forgotten, Stopped::Cancelled),
            (settled(TurnResult::Silent), Stopped::OverBefore),
            (Answer::NotFound, Stopped::OverBefore),
            (Answer::NotYours, Stopped::Nothing),
            (Answer::ShuttingDown, Stopped::Later),
            (Answer::Accepted { handoff, state: StateName::Running }, Stopped::Nothing),
            (Answer::Posted(RoomDelivery::default()), Stopped::Nothing),
            (Answer::Outdated, Stopped::Nothing),
        ] {
            assert_eq!(stopped(&answer), meant, "{answer:?}");
        }
    }
}
